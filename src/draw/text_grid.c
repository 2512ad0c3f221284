/*
 * Draws a torus or mesh of two or three dimensions as grids of ranks, with the routes of one rank's messages. Rank 12
 * of 5x5 in a step of distance 2:
 *
 *        .   .   .   .   .
 *        .   .   .   .   .
 *        o<------@------>o
 *        .   .   .   .   .
 *        .   .   .   .   .
 *
 * The first of three dimensions is drawn as layers side by side; a message to another layer is shown at its
 * destination. A link that is cut is an x, beside the link if it is cut in one direction only; a slow link has its
 * factor beside it.
 */
#include <stdlib.h>
#include <string.h>

#include "draw/text.h"
#include "torus/torus.h"

#define PITCH_X   4
#define LAYER_GAP 4
#define INDENT    2
#define CAPTION   26 /* columns of the longest heading */
#define ROWS_MAX  32

typedef struct grid {
    const trv_torus_t *torus;
    int active[TRV_DIMS_MAX], dims;
    int layers, rows, columns; /* the last three active dimensions; 1 where there are fewer */
} grid_t;

static grid_t grid_of(const trv_torus_t *torus)
{
    grid_t grid = {.torus = torus, .layers = 1};
    grid.dims = trv_torus_active(torus, grid.active);
    if (grid.dims < 2)
        return grid;
    grid.columns = torus->size[grid.active[grid.dims - 1]];
    grid.rows = torus->size[grid.active[grid.dims - 2]];
    grid.layers = grid.dims > 2 ? torus->size[grid.active[grid.dims - 3]] : 1;
    return grid;
}

static int layer_width(const grid_t *grid) { return (grid->columns + 1) * PITCH_X - 1; }
static int total_width(const grid_t *grid) { return grid->layers * layer_width(grid) + (grid->layers - 1) * LAYER_GAP; }

static int panel_width(const grid_t *grid) { return total_width(grid) > CAPTION ? total_width(grid) : CAPTION; }

int trv_text_grid_width(const trv_torus_t *torus)
{
    grid_t grid = grid_of(torus);
    return grid.dims >= 2 && grid.dims <= 3 && grid.rows <= ROWS_MAX ? INDENT + panel_width(&grid) : 0;
}

/* Computes the position of a rank; lines 0 and 1 contain the caption. */
static void place(const grid_t *grid, int rank, int *x, int *y)
{
    int at[TRV_DIMS_MAX];
    trv_torus_coordinates(grid->torus, rank, at);
    int layer = grid->dims > 2 ? at[grid->active[grid->dims - 3]] : 0;
    *x = PITCH_X / 2 + 1 + at[grid->active[grid->dims - 1]] * PITCH_X + layer * (layer_width(grid) + LAYER_GAP);
    *y = 3 + 2 * at[grid->active[grid->dims - 2]];
}

static void draw_horizontal(trv_canvas_t *canvas, const grid_t *grid, const trv_segment_t *segment, char line)
{
    int x, y, ring = grid->columns * PITCH_X;
    place(grid, segment->from, &x, &y);
    int left = x - (x - PITCH_X / 2 - 1) % (layer_width(grid) + LAYER_GAP); /* of the first column in this layer */
    for (int i = 1; i < segment->hops * PITCH_X; i++) {
        int at = ((x - left + segment->sign * i) % ring + ring) % ring;
        char character = i < segment->hops * PITCH_X - 1 || !segment->last ? line : segment->sign > 0 ? '>' : '<';
        trv_canvas_put(canvas, left + at, y, character);
        if (at >= ring - PITCH_X / 2) /* a link that wraps around is drawn on both sides */
            trv_canvas_put(canvas, left + at - ring, y, character);
    }
}

static void draw_vertical(trv_canvas_t *canvas, const grid_t *grid, const trv_segment_t *segment, char line)
{
    int x, y, ring = grid->rows * 2;
    place(grid, segment->from, &x, &y);
    for (int i = 1; i < segment->hops * 2; i++) {
        int at = ((y - 3 + segment->sign * i) % ring + ring) % ring;
        char character = i < segment->hops * 2 - 1 || !segment->last ? line : segment->sign > 0 ? 'v' : '^';
        trv_canvas_put(canvas, x, 3 + at, character);
        if (at == ring - 1)
            trv_canvas_put(canvas, x, 2, character);
    }
}

/* Writes a text beside a link, on the side where it fits. */
static void put_beside(trv_canvas_t *canvas, int x, int y, bool horizontal, const char *text)
{
    const int length = (int)strlen(text), side = horizontal ? -1 : 1;
    for (int i = 0; i < 2; i++) {
        const int way = i ? -side : side;
        const int at_x = horizontal ? x - length / 2 : way > 0 ? x + 1 : x - length;
        const int at_y = horizontal ? y + way : y;
        if (!trv_canvas_is_free(canvas, at_x, at_y, length))
            continue;
        trv_canvas_text(canvas, at_x, at_y, text);
        return;
    }
}

/* Marks a link. Links between layers are not drawn, and so not marked. */
static void draw_mark(trv_canvas_t *canvas, const grid_t *grid, const trv_picture_t *picture, const trv_mark_t *mark)
{
    const bool horizontal = mark->dimension == grid->active[grid->dims - 1];
    const int back = horizontal ? grid->columns * PITCH_X : 2 * grid->rows; /* to the other end of the row */
    const char *text;
    char words[TRV_MARK_TEXT_MAX];
    int x, y;
    if (!horizontal && mark->dimension != grid->active[grid->dims - 2])
        return;
    if (trv_mark_is_cut(mark))
        text = "x";
    else
        text = strlen(trv_mark_describe(mark, words)) < PITCH_X ? words : "~";
    place(grid, mark->rank, &x, &y);
    x += horizontal ? PITCH_X / 2 : 0;
    y += horizontal ? 0 : 1;
    for (int end = 0; end < (trv_mark_goes_round(picture, mark) ? 2 : 1); end++) { /* drawn at both ends */
        const int at_x = x - (horizontal ? end * back : 0), at_y = y - (horizontal ? 0 : end * back);
        if (trv_mark_is_broken(mark))
            trv_canvas_put(canvas, at_x, at_y, 'x');
        else
            put_beside(canvas, at_x, at_y, horizontal, text);
    }
}

static void draw_panel(trv_canvas_t *canvas, const grid_t *grid, const trv_picture_t *picture, const trv_panel_t *panel,
                       int rank)
{
    int x, y;
    for (int r = 0; r < grid->torus->ranks; r++) {
        place(grid, r, &x, &y);
        trv_canvas_put(canvas, x, y, '.');
    }
    for (int i = 0; i < panel->segments; i++) {
        const trv_segment_t *segment = &panel->segment[i];
        bool mirrored = trv_schedule_mirrored(picture->schedule, panel->arrow[segment->arrow].stream);
        if (panel->arrow[segment->arrow].from != rank)
            continue;
        if (segment->dimension == grid->active[grid->dims - 1])
            draw_horizontal(canvas, grid, segment, mirrored ? '=' : '-');
        else if (segment->dimension == grid->active[grid->dims - 2])
            draw_vertical(canvas, grid, segment, '|');
    }
    for (int i = 0; i < picture->marks; i++)
        draw_mark(canvas, grid, picture, &picture->mark[i]);
    for (int i = 0; i < panel->arrows; i++)
        if (panel->arrow[i].from == rank) {
            place(grid, panel->arrow[i].to, &x, &y);
            trv_canvas_put(canvas, x, y, 'o');
        }
    place(grid, rank, &x, &y);
    trv_canvas_put(canvas, x, y, '@');
}

void trv_text_marks(const trv_text_style_t *style, const trv_picture_t *picture)
{
    int column = fprintf(style->out, "%s", picture->marks ? "links:" : "");
    for (int i = 0; i < picture->marks; i++) {
        const trv_mark_t *mark = &picture->mark[i];
        char what[TRV_MARK_TEXT_MAX], text[TRV_MARK_TEXT_MAX + 32];
        int length = snprintf(text, sizeof text, "%d-%d %s%s", mark->rank, trv_mark_neighbour(picture, mark),
                              trv_mark_describe(mark, what), i + 1 < picture->marks ? ";" : "\n");
        if (column + 1 + length > style->width_max)
            column = fprintf(style->out, "\n%*s", INDENT, "") - 1;
        column += fprintf(style->out, " %s", text);
    }
}

void trv_text_grids(const trv_text_style_t *style, const trv_picture_t *picture, int rank)
{
    grid_t grid = grid_of(trv_schedule_torus(picture->schedule));
    trv_canvas_t *canvas = calloc((size_t)picture->panels + 1, sizeof *canvas);
    int count = 0;
    for (int i = 0; canvas && i < picture->panels; i++) {
        const trv_panel_t *panel = &picture->panel[i];
        char text[64];
        if (trv_canvas_create(&canvas[count], panel_width(&grid), 3 + 2 * grid.rows))
            break;
        if (panel->first_step == panel->last_step)
            snprintf(text, sizeof text, "step %d, congestion %d", panel->first_step, panel->messages);
        else
            snprintf(text, sizeof text, "steps %d-%d, congestion %d", panel->first_step, panel->last_step,
                     panel->messages);
        trv_canvas_text(&canvas[count], 1, 0, text);
        draw_panel(&canvas[count], &grid, picture, panel, rank);
        count++;
    }
    trv_canvas_print_all(style, canvas, count, INDENT, 4);
}
