/*
 * A schedule as drawings of characters: its messages, and the data that ranks hold.
 */
#include <stdio.h>

#include "base/error.h"
#include "draw/text.h"
#include "formats/front/draw.h"
#include "formats/names.h"
#include "torus/torus.h"

#define WIDTH_WORTH 256 /* columns; the required width is printed only up to this one */

typedef struct drawing {
    const trv_schedule_t *schedule;
    const trv_draw_options_t *options;
    const trv_cost_t *cost;
} drawing_t;

static void print_ring(const trv_text_style_t *style, const trv_picture_t *picture)
{
    for (int i = 0; i < picture->panels; i++) {
        const trv_panel_t *panel = &picture->panel[i];
        char text[64];
        trv_panel_describe(picture, panel, text, sizeof text);
        if (panel->first_step == panel->last_step)
            fprintf(style->out, "\nstep %d: ", panel->first_step);
        else
            fprintf(style->out, "\nsteps %d to %d: ", panel->first_step, panel->last_step);
        fprintf(style->out, "%s%scongestion %d\n", text, text[0] ? ", " : "", panel->messages);
        trv_text_ring(style, picture, panel);
    }
}

/* Whether all panels of a ring can be drawn with all messages. */
static bool all_fit(const trv_text_style_t *style, const trv_picture_t *picture)
{
    for (int i = 0; i < picture->panels; i++)
        if (!trv_text_ring_fits(style, picture, &picture->panel[i]))
            return false;
    return true;
}

/* Whether a drawing of `width` columns fits (0: it never does). If not, prints the required width, unless it is
 * unreasonably large. */
static bool fits(const trv_text_style_t *style, const char *what, int width)
{
    if (width > style->width_max && width <= WIDTH_WORTH)
        fprintf(style->out, "\n%s needs %d columns; the output has %d\n", what, width, style->width_max);
    return width > 0 && width <= style->width_max;
}

static int print_arrows(const drawing_t *drawing, const trv_text_style_t *style, trv_picture_t *picture, int rank)
{
    const trv_torus_t *torus = trv_schedule_torus(drawing->schedule);
    const trv_network_t network = trv_draw_network(drawing->schedule, drawing->options);
    int active[TRV_DIMS_MAX], dims = trv_torus_active(torus, active);
    char what[64];
    snprintf(what, sizeof what, "a picture of this %s", trv_shape_noun(&network));
    if (dims == 1) {
        if (!fits(style, what, trv_text_ring_width(torus)))
            return TRV_OK;
        if (!all_fit(style, picture)) { /* fall back to the messages of one rank */
            trv_picture_clear(picture);
            int rc = trv_picture_create(picture, drawing->schedule, &network, drawing->cost, rank,
                                        drawing->options->stream);
            if (rc || !all_fit(style, picture))
                return rc;
            fprintf(style->out, "\nthe messages of rank %d:\n", rank);
        }
        print_ring(style, picture);
    } else if (dims > 1 && fits(style, what, trv_text_grid_width(torus))) {
        int middle = drawing->options->rank >= 0 ? drawing->options->rank : trv_middle_rank(torus);
        fprintf(style->out, "\nthe messages of rank %d (dimension %d down, %d across)\n", middle, active[dims - 2],
                active[dims - 1]);
        trv_text_marks(style, picture);
        trv_text_grids(style, picture, middle);
    }
    return TRV_OK;
}

static void print_progress(const drawing_t *drawing, const trv_text_style_t *style, const trv_picture_t *picture)
{
    trv_progress_t progress;
    int stream = drawing->options->stream < 0 ? 0 : drawing->options->stream;
    if (trv_schedule_torus(drawing->schedule)->ranks > 27 || drawing->options->no_blocks ||
        trv_schedule_steps(drawing->schedule) == 0)
        return;
    if (trv_progress_create(&progress, drawing->schedule, stream))
        return;
    if (fits(style, "a matrix of the data held by each rank", trv_text_progress_width(&progress))) {
        if (progress.by_block)
            fprintf(style->out,
                    "\ndata that each rank (row) holds and will use, stream %d: contributions in each block (column), "
                    "%s all\n",
                    stream, style->utf8 ? "█" : "#");
        else
            fprintf(
                style->out,
                "\ncontributions (columns) that each rank (row) holds, stream %d: %s new in the step, %s held before\n",
                stream, style->utf8 ? "▓" : "+", style->utf8 ? "█" : "#");
        trv_text_progress(style, picture, &progress);
    }
    trv_progress_clear(&progress);
}

static int draw(const drawing_t *drawing, FILE *out)
{
    int rank = drawing->options->rank >= 0 ? drawing->options->rank : 0;
    trv_text_style_t style = {out, !drawing->options->ascii, drawing->options->columns};
    trv_picture_t picture;
    const trv_torus_t *torus = trv_schedule_torus(drawing->schedule);
    const trv_network_t network = trv_draw_network(drawing->schedule, drawing->options);
    int active[TRV_DIMS_MAX];
    const int dims = trv_torus_active(torus, active);
    int only = rank;
    if (torus->ranks > 4096)
        return TRV_OK;
    if (drawing->options->rank < 0 && dims > 1)
        only = trv_middle_rank(torus);
    else if (drawing->options->rank < 0 && dims == 1 && torus->ranks <= 81)
        only = -1; /* the messages of all ranks can be drawn */
    int rc = trv_picture_create(&picture, drawing->schedule, &network, drawing->cost, only, drawing->options->stream);
    if (!rc)
        rc = print_arrows(drawing, &style, &picture, rank);
    if (!rc)
        print_progress(drawing, &style, &picture);
    trv_picture_clear(&picture);
    return rc;
}

int trv_draw_text(const trv_schedule_t *schedule, const trv_draw_options_t *options, FILE *out)
{
    trv_cost_t cost;
    int rc = trv_draw_check(schedule, options);
    if (rc || options->cost)
        return rc ? rc : draw(&(drawing_t){schedule, options, options->cost}, out);
    rc = trv_cost_measure(schedule, &cost);
    if (rc)
        return rc;
    rc = draw(&(drawing_t){schedule, options, &cost}, out);
    trv_cost_clear(&cost);
    return rc;
}
