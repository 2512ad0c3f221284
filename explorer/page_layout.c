/*
 * The explorer's drawing of a network. Paths are those of SVG:
 *
 *     at       [x, y, size of the number] for each rank
 *     links    [rank, port, neighbour, x, y, path]         x, y: its middle; the path of a cut link is empty
 *     marks    [is cut, path, path of the cross (empty if the link is not cut), path of the line to the label, label x,
 *              label y, anchor, label]
 */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/number.h"
#include "explorer/explore.h"
#include "formats/names.h"
#include "torus/torus.h"

#define RANKS_MAX   4096
#define TRACKS      1   /* that have their full distance; more are closer together */
#define TRACKS_WIDE 6   /* in one dimension */
#define SIDE        3.2 /* of a link, from the line between its ranks: both directions are visible */

int explore_lay_out(const explore_ask_t *ask, trv_picture_t *picture, trv_layout_t *layout)
{
    const trv_network_t network = cli_network_on(ask->torus, &ask->network.options);
    trv_form_t form[2];
    const int forms = trv_forms(ask->torus, form);
    *picture = (trv_picture_t){0};
    if (ask->torus->ranks > RANKS_MAX || forms == 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the explorer draws up to three dimensions and %d ranks", RANKS_MAX);
    const trv_form_t chosen = forms > 1 && ask->form == (int)form[1] ? form[1] : form[0];
    const int rc = trv_picture_mark(picture, ask->torus, &network);
    if (rc) {
        trv_picture_clear(picture);
        return rc;
    }
    const bool wide = chosen == TRV_FORM_RING || chosen == TRV_FORM_ROW;
    trv_layout_init(layout, ask->torus, chosen, wide ? TRACKS_WIDE : TRACKS, picture->marks > 0);
    return TRV_OK;
}

static bool is_cut(const trv_picture_t *picture, int rank, int port, int next)
{
    const int low = trv_port_sign(port) > 0 ? rank : next;
    for (int i = 0; i < picture->marks; i++)
        if (picture->mark[i].rank == low && picture->mark[i].dimension == trv_port_dimension(port))
            return isinf(picture->mark[i].factor[trv_port_sign(port) < 0]);
    return false;
}

static void put_links(const trv_picture_t *picture, const trv_layout_t *layout)
{
    int written = 0;
    fputs("],\n\"links\": [", stdout);
    for (int rank = 0; rank < layout->torus->ranks; rank++)
        for (int port = 0; port < trv_port_count(layout->torus); port++) {
            const int next = trv_torus_neighbour(layout->torus, rank, port);
            if (next < 0)
                continue;
            const double side = layout->node > 2 * SIDE ? SIDE : layout->node / 2;
            const trv_point_t middle = trv_layout_middle(layout, rank, port, side);
            trv_fprintf(stdout, "%s[%d,%d,%d,%.1f,%.1f,\"", written++ ? "," : "", rank, port, next, middle.x, middle.y);
            if (!is_cut(picture, rank, port, next))
                trv_layout_link(layout, rank, port, side, stdout);
            fputs("\"]", stdout);
        }
}

static void put_mark(const trv_picture_t *picture, const trv_layout_t *layout, const trv_mark_t *mark,
                     const char *comma)
{
    trv_mark_place_t place[2];
    char text[TRV_MARK_TEXT_MAX];
    const int places = trv_layout_mark(layout, picture, mark, place);
    for (int i = 0; i < places; i++) {
        printf("%s[%s,\"", i ? "," : comma, trv_mark_is_cut(mark) ? "true" : "false");
        trv_layout_link(layout, place[i].rank, place[i].port, 0, stdout);
        fputs("\",\"", stdout);
        if (trv_mark_is_cut(mark))
            trv_layout_cross(&place[i], stdout);
        trv_fprintf(stdout, "\",\"M%.1f %.1fL%.1f %.1f\",%.1f,%.1f,\"%s\",\"%s\"]", place[i].at.x, place[i].at.y,
                    place[i].leader.x, place[i].leader.y, place[i].label.x, place[i].label.y, place[i].anchor,
                    trv_mark_describe(mark, text));
    }
}

static int write_layout(const explore_ask_t *ask, const trv_schedule_t *schedule)
{
    trv_picture_t picture;
    trv_layout_t layout;
    trv_form_t form[2];
    (void)schedule;
    int rc = explore_lay_out(ask, &picture, &layout);
    if (rc)
        return rc;
    const trv_network_t network = cli_network_on(ask->torus, &ask->network.options);
    printf("{\"noun\": \"%s\", \"form\": \"%s\", \"forms\": [", trv_shape_noun(&network), trv_form_word[layout.form]);
    for (int i = 0, forms = trv_forms(ask->torus, form); i < forms; i++)
        printf("%s\"%s\"", i ? ", " : "", trv_form_word[form[i]]);
    fputs("], \"size\": [", stdout);
    for (int d = 0; d < ask->torus->dims; d++)
        printf("%s%d", d ? ", " : "", ask->torus->size[d]);
    trv_fprintf(stdout,
                "], \"lines\": %u, \"ranks\": %d, \"middle\": %d, \"width\": %.1f, \"height\": %.1f, \"node\": %.1f, "
                "\"gap\": %.1f,\n\"at\": [",
                ask->torus->lines, ask->torus->ranks, trv_middle_rank(ask->torus), layout.width, layout.height,
                layout.node, layout.gap);
    for (int rank = 0; rank < ask->torus->ranks; rank++) {
        const trv_point_t p = trv_layout_along(&layout, rank, 0, 0, 0, 0);
        trv_fprintf(stdout, "%s[%.1f,%.1f,%.1f]", rank ? "," : "", p.x, p.y, trv_layout_number(&layout, rank));
    }
    put_links(&picture, &layout);
    fputs("],\n\"marks\": [", stdout);
    for (int i = 0; i < picture.marks; i++)
        put_mark(&picture, &layout, &picture.mark[i], i ? "," : "");
    puts("]}");
    trv_picture_clear(&picture);
    return TRV_OK;
}

int explore_layout(int argc, char **argv) { return explore_answer(argc, argv, write_layout); }
