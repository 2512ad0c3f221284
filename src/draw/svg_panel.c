/*
 * Draws one panel: links, marks, the arrows of a step, and ranks. A link that is cut is a gap with a cross; a slow link
 * has another colour, with a label.
 */
#include "base/number.h"
#include "draw/svg.h"

#include <string.h>

#include "torus/torus.h"

#define SPOKES_MAX 81

void trv_svg_layout(const trv_picture_t *picture, trv_layout_t *layout)
{
    int tracks = 1;
    trv_form_t form[2];
    trv_forms(picture->torus, form);
    for (int i = 0; i < picture->panels; i++) {
        const int needed = trv_layout_tracks(&picture->panel[i]);
        tracks = needed > tracks ? needed : tracks;
    }
    trv_layout_init(layout, picture->torus, form[0], tracks, picture->marks > 0);
}

static void put_link(FILE *out, const trv_layout_t *layout, int rank, int port, const char *colour, double width)
{
    fputs("<path d=\"", out);
    trv_layout_link(layout, rank, port, 0, out);
    trv_fprintf(out, "\" stroke=\"%s\" stroke-width=\"%.2g\"/>\n", colour, width);
}

static void draw_links(FILE *out, const trv_layout_t *layout)
{
    fputs("<path d=\"", out);
    for (int rank = 0; rank < layout->torus->ranks; rank++)
        for (int port = 0; port < trv_port_count(layout->torus); port++) {
            const int next = trv_torus_neighbour(layout->torus, rank, port);
            /* the other direction of a link is the same line, unless the link is a stub at both ends */
            if (next >= 0 && (trv_port_sign(port) > 0 || (layout->form != TRV_FORM_RING && next > rank)))
                trv_layout_link(layout, rank, port, 0, out);
        }
    fputs("\" stroke=\"" SVG_FAINT "\" stroke-width=\"1.6\"/>\n", out);
}

/* Draws thin lines from the ranks of a ring or line to its tracks. */
static void draw_spokes(FILE *out, const trv_layout_t *layout, const int tracks[2])
{
    const int port = trv_port(trv_ring_dimension(layout->torus), 1);
    for (int rank = 0; rank < layout->torus->ranks && layout->torus->ranks <= SPOKES_MAX; rank++) {
        const double left = layout->node + 1 + tracks[0] * layout->track;
        const double right = layout->node + 1 + tracks[1] * layout->track;
        const trv_point_t a = trv_layout_along(layout, rank, port, 0, 0, left);
        const trv_point_t b = trv_layout_along(layout, rank, port, 0, 0, -right);
        trv_svg_line(out, a.x, a.y, b.x, b.y, SVG_FAINT, 0.8, false);
    }
}

static void draw_mark(FILE *out, const trv_picture_t *picture, const trv_layout_t *layout, const trv_mark_t *mark)
{
    trv_mark_place_t place[2];
    char text[TRV_MARK_TEXT_MAX];
    trv_mark_describe(mark, text);
    const bool cut = trv_mark_is_cut(mark);
    const char *colour = cut ? SVG_CUT : SVG_SLOW;
    const int places = trv_layout_mark(layout, picture, mark, place);
    for (int i = 0; i < places; i++) {
        const trv_mark_place_t *at = &place[i];
        if (!cut)
            put_link(out, layout, at->rank, at->port, SVG_SLOW, 2.4);
        else if (places == 1 && trv_mark_is_broken(mark))
            put_link(out, layout, at->rank, at->port, SVG_PAPER, 2.4);
        if (layout->form == TRV_FORM_RING) {
            trv_svg_line(out, at->at.x, at->at.y, at->leader.x, at->leader.y, colour, 0.6, false);
        } else if (at->inside) {
            const double half = 2.3 * (double)strlen(text);
            trv_svg_line(out, at->at.x - half, at->at.y, at->at.x + half, at->at.y, SVG_PAPER, 9, false);
        }
        if (cut) {
            fputs("<path d=\"", out);
            trv_layout_cross(at, out);
            fputs("\" stroke=\"" SVG_CUT "\" stroke-width=\"1.6\"/>\n", out);
        }
        trv_svg_text(out, at->label.x, at->label.y, 7.5, at->anchor, colour, text);
    }
}

static void draw_arrows(FILE *out, const trv_picture_t *picture, const trv_panel_t *panel, const trv_layout_t *layout)
{
    trv_arrow_ends_t ends;
    for (int i = 0; i < panel->segments;) {
        const int stream = panel->arrow[panel->segment[i].arrow].stream;
        const char *colour = trv_svg_colour(stream);
        fputs("<path d=\"", out);
        i += trv_layout_message(layout, panel, i, out, &ends);
        trv_fprintf(out, "\" stroke=\"%s\" stroke-width=\"%.2g\"%s/>\n", colour, trv_layout_width(layout),
                    trv_schedule_mirrored(picture->schedule, stream) ? " stroke-dasharray=\"4 2.5\"" : "");
        trv_svg_head(out, &ends, colour);
        trv_fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" stroke=\"none\"/>\n", ends.begin.x,
                    ends.begin.y, 0.3 * ends.size, colour);
    }
}

void trv_svg_panel(FILE *out, const trv_picture_t *picture, const trv_panel_t *panel, const trv_layout_t *layout,
                   int rank, double x, double y)
{
    trv_layout_t here = *layout;
    here.origin = (trv_point_t){layout->origin.x + x, layout->origin.y + y};
    trv_layout_fit(&here, panel);
    draw_links(out, &here);
    if (here.form == TRV_FORM_RING || here.form == TRV_FORM_ROW)
        draw_spokes(out, &here, panel->tracks[trv_ring_dimension(here.torus)]);
    for (int i = 0; i < picture->marks; i++)
        draw_mark(out, picture, &here, &picture->mark[i]);
    draw_arrows(out, picture, panel, &here);
    for (int r = 0; r < here.torus->ranks; r++) {
        const trv_point_t p = trv_layout_along(&here, r, 0, 0, 0, 0);
        trv_svg_rank(out, &here, p, r, r == rank);
    }
}
