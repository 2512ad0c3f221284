/*
 * Draws a line of ranks as a row, a torus or mesh of two dimensions as a grid, and one of three dimensions as layers of
 * grids. Messages run on tracks beside the line of ranks that they follow: direction + above or to the right of it,
 * direction - below or to the left; where a route bends, its two tracks meet. A message that leaves at one edge enters
 * at the opposite one. Messages to another layer are short slanted arrows, which point up to higher layers. A link that
 * is cut is a gap with a cross; a slow link has another colour, with a label between the tracks.
 */
#include "draw/svg.h"

#include <math.h>
#include <string.h>

#include "torus/torus.h"

#define NODE       8.0
#define TRACK      4.2
#define LINE_TRACK 6.0
#define LAYER_GAP  30.0
#define EDGE       6.0 /* from the point where messages leave at the edge to the end of the layer */
#define CAPTION    12.0
#define LABEL      26.0 /* between ranks whose links may have labels; less on a line */
#define REACH      8.0  /* length of a link that wraps around, from the rank */
#define STUB       14.0 /* the same with a label, which needs a margin */
#define MARGIN     28.0
#define SLANT      0.7071

typedef struct grid {
    const trv_torus_t *torus;
    int active[TRV_DIMS_MAX], dims;
    int horizontal, vertical;                               /* dimensions; vertical is -1 on a line */
    int layers, rows, columns, across;                      /* across: layers beside each other */
    double node, track, pitch_x, pitch_y, margin, margin_x; /* margin_x: beside a layer */
    double x, y;
} grid_t;

static int tracks_max(const trv_picture_t *picture, int dimension)
{
    int tracks = 0;
    for (int i = 0; i < picture->panels && dimension >= 0; i++)
        for (int sign = 0; sign < 2; sign++)
            if (picture->panel[i].tracks[dimension][sign] > tracks)
                tracks = picture->panel[i].tracks[dimension][sign];
    return tracks;
}

/* The width and height of an arrow to another layer: its head is clear of the tracks next to the rank. */
static double slant(const grid_t *grid) { return grid->node + 4; }

/* Returns the distance between ranks, and sets their size. */
static double choose_pitch(grid_t *grid)
{
    if (grid->dims < 2) {
        grid->node = grid->columns <= 16 ? 10 : grid->columns <= 32 ? 8.5 : grid->columns <= 81 ? 7 : 3;
        return grid->columns <= 16 ? 44 : grid->columns <= 81 ? 2 * grid->node + 7 : 8;
    }
    /* Small tori are drawn larger, because the network matters more than the matrices below. */
    double pitch = grid->torus->ranks > 125 ? 20 : fmax(44, fmin(72, 300 / fmax(grid->rows, grid->columns)));
    grid->node = grid->torus->ranks > 125 ? 3.5 : pitch < 60 ? NODE : 10;
    return pitch;
}

static grid_t measure(const trv_picture_t *picture)
{
    grid_t grid = {.torus = trv_schedule_torus(picture->schedule), .layers = 1, .rows = 1, .vertical = -1};
    grid.dims = trv_torus_active(grid.torus, grid.active);
    int x = grid.horizontal = grid.active[grid.dims - 1];
    int y = grid.vertical = grid.dims > 1 ? grid.active[grid.dims - 2] : -1;
    grid.columns = grid.torus->size[x];
    grid.rows = y < 0 ? 1 : grid.torus->size[y];
    grid.layers = grid.dims > 2 ? grid.torus->size[grid.active[0]] : 1;
    double pitch = choose_pitch(&grid);
    grid.track = grid.dims < 2 ? LINE_TRACK : TRACK;
    if (picture->marks)
        pitch = fmax(pitch, 2 * grid.node + (y < 0 ? LABEL / 2 : LABEL));
    /* Rows of ranks carry the messages of the last dimension, columns those of the one before. */
    grid.pitch_y = fmax(pitch, 2 * (grid.node + grid.track * (tracks_max(picture, x) + 0.7)) + 14);
    grid.pitch_x = y < 0 ? pitch : fmax(pitch, 2 * (grid.node + grid.track * (tracks_max(picture, y) + 0.7)) + 14);
    /* The tracks beside the outermost ranks, and all arrows to other layers, are within the margin. */
    double beside = grid.track * fmax(tracks_max(picture, x), tracks_max(picture, y)) + EDGE + 1.3;
    double slanted = grid.dims > 2 ? slant(&grid) + grid.track * tracks_max(picture, grid.active[0]) : 0;
    grid.margin = fmax(picture->marks ? MARGIN : 20, fmax(beside, slanted));
    grid.margin_x = y < 0 ? MARGIN : grid.margin; /* no link wraps around at the ends of a line */
    grid.across = grid.layers;
    while (grid.across > 1 && grid.across * (grid.columns * grid.pitch_x + LAYER_GAP) > 900)
        grid.across = (grid.across + 1) / 2;
    return grid;
}

static double layer_width(const grid_t *grid)
{
    return (grid->columns - 1) * grid->pitch_x + 2 * grid->node + 2 * grid->margin_x;
}
static double layer_height(const grid_t *grid)
{
    return (grid->rows - 1) * grid->pitch_y + 2 * grid->node + 2 * grid->margin;
}

trv_svg_size_t trv_svg_grid_size(const trv_picture_t *picture)
{
    grid_t grid = measure(picture);
    int down = (grid.layers + grid.across - 1) / grid.across;
    double caption = grid.layers > 1 ? CAPTION : 0;
    return (trv_svg_size_t){grid.across * layer_width(&grid), down * (layer_height(&grid) + caption)};
}

static void place(const grid_t *grid, int rank, double *x, double *y)
{
    int at[TRV_DIMS_MAX];
    trv_torus_coordinates(grid->torus, rank, at);
    int layer = grid->dims > 2 ? at[grid->active[0]] : 0;
    *x = grid->x + layer % grid->across * layer_width(grid) + grid->margin_x + grid->node +
         at[grid->horizontal] * grid->pitch_x;
    *y = grid->y + layer / grid->across * (layer_height(grid) + CAPTION) + (grid->layers > 1 ? CAPTION : 0) +
         grid->margin + grid->node + (grid->vertical < 0 ? 0 : at[grid->vertical] * grid->pitch_y);
}

typedef struct pen {
    FILE *out;
    const char *colour;
    bool dashed;
} pen_t;

/* A piece of a segment from `a` to `b` along one axis, at the other axis's value `line`. */
static void draw_piece(const pen_t *pen, bool horizontal, double line, double a, double b, bool dot, bool head)
{
    double sign = b > a ? 1 : -1, end = head ? b - sign * 4 : b;
    trv_svg_line(pen->out, horizontal ? a : line, horizontal ? line : a, horizontal ? end : line,
                 horizontal ? line : end, pen->colour, 1.5, pen->dashed);
    if (dot)
        trv_svg_dot(pen->out, horizontal ? a : line, horizontal ? line : a, 1.7, pen->colour);
    if (head)
        trv_svg_head(pen->out, horizontal ? b : line, horizontal ? line : b, horizontal ? sign : 0,
                     horizontal ? 0 : sign, pen->colour, 6);
}

static bool is_slanted(const grid_t *grid, const trv_segment_t *segment)
{
    return grid->dims > 2 && segment->dimension == grid->active[0];
}

static bool is_horizontal(const grid_t *grid, const trv_segment_t *segment)
{
    return segment->dimension == grid->horizontal;
}

/* The offset of a segment's track from its line of ranks, positive to the right or down. */
static double offset_of(const grid_t *grid, const trv_segment_t *segment)
{
    double offset = grid->node + 1 + (segment->track + 0.6) * grid->track;
    return (is_horizontal(grid, segment) ? -segment->sign : segment->sign) * offset;
}

/* Draws a segment within a layer: one piece, or several if it wraps around. `before` and `after` are the segments of
 * the same message in this layer before and after it, or NULL. */
static void draw_flat(const pen_t *pen, const grid_t *grid, const trv_segment_t *segment, const trv_segment_t *before,
                      const trv_segment_t *after, bool starts)
{
    bool horizontal = is_horizontal(grid, segment);
    int size = horizontal ? grid->columns : grid->rows, at[TRV_DIMS_MAX], left = segment->hops;
    double pitch = horizontal ? grid->pitch_x : grid->pitch_y, sign = segment->sign, x, y;
    trv_torus_coordinates(grid->torus, segment->from, at);
    int c = at[segment->dimension];
    place(grid, segment->from, &x, &y);
    double origin = (horizontal ? x : y) - c * pitch, line = (horizontal ? y : x) + offset_of(grid, segment);
    double begin = origin + c * pitch + (before ? offset_of(grid, before) : starts ? sign * 2 : 0);
    double short_of = after ? offset_of(grid, after) : -sign * 3.5; /* its end relative to the last rank */
    double beyond = grid->node + grid->margin - EDGE;               /* where it leaves at the edge */
    while (left > 0) {
        int to_edge = segment->sign > 0 ? size - 1 - c : c;
        bool ends = left <= to_edge;
        int hops = ends ? left : to_edge;
        double end = origin + (c + segment->sign * hops) * pitch;
        draw_piece(pen, horizontal, line, begin, ends ? end + short_of : end + sign * beyond, starts,
                   ends && segment->last);
        starts = false;
        left -= hops + 1;
        c = segment->sign > 0 ? 0 : size - 1;
        begin = origin + c * pitch - sign * beyond;
        if (!ends && left == 0) { /* one more hop leads to the first rank beyond the edge */
            draw_piece(pen, horizontal, line, begin, origin + c * pitch + short_of, false, segment->last);
        } else if (ends) {
            break;
        }
    }
}

/* Draws a message along the first of three dimensions: a short arrow that points up, to higher layers, or down. */
static void draw_slanted(const pen_t *pen, const grid_t *grid, const trv_segment_t *segment)
{
    double x, y, sign = segment->sign, shift = segment->track * grid->track;
    place(grid, segment->from, &x, &y);
    double x0 = x + sign * grid->node * 0.75 + shift, y0 = y - sign * grid->node * 0.75;
    double x1 = x0 + sign * slant(grid), y1 = y0 - sign * slant(grid);
    trv_svg_line(pen->out, x0, y0, x1 - sign * 3, y1 + sign * 3, pen->colour, 1.5, pen->dashed);
    trv_svg_head(pen->out, x1, y1, sign, -sign, pen->colour, 6);
}

/* The length of a row's links beyond its ends. */
static double reach(const grid_t *grid, int dimension)
{
    return trv_torus_is_line(grid->torus, dimension) ? 0 : grid->node + REACH;
}

static void draw_links(FILE *out, const grid_t *grid)
{
    for (int rank = 0; rank < grid->torus->ranks; rank++) {
        int at[TRV_DIMS_MAX];
        double x, y;
        trv_torus_coordinates(grid->torus, rank, at);
        place(grid, rank, &x, &y);
        int c = at[grid->horizontal], r = grid->vertical < 0 ? 0 : at[grid->vertical];
        if (c == 0) {
            const double beyond = reach(grid, grid->horizontal);
            trv_svg_line(out, x - beyond, y, x + (grid->columns - 1) * grid->pitch_x + beyond, y, SVG_FAINT, 1.6,
                         false);
        }
        if (r == 0 && grid->vertical >= 0) {
            const double beyond = reach(grid, grid->vertical);
            trv_svg_line(out, x, y - beyond, x, y + (grid->rows - 1) * grid->pitch_y + beyond, SVG_FAINT, 1.6, false);
        }
        if (r == 0 && c == 0 && grid->layers > 1) {
            char text[32];
            snprintf(text, sizeof text, "layer %d", at[grid->active[0]]);
            trv_svg_text(out, x - grid->node, y - grid->node - grid->margin - 1, 10, "start", SVG_MUTED, text);
        }
    }
}

/* The drawing of a cut or slow link: the whole link, or one end of a link that wraps around. */
typedef struct marked {
    double x0, y0, x1, y1, x, y; /* the line; position of its cross and label */
    bool whole;
} marked_t;

static void draw_marked(FILE *out, const trv_mark_t *mark, const marked_t *at)
{
    const bool cut = trv_mark_is_cut(mark), upright = at->whole && at->x0 == at->x1;
    const char *colour = cut ? SVG_CUT : SVG_SLOW;
    char text[TRV_MARK_TEXT_MAX];
    const double half = 2.3 * (double)strlen(trv_mark_describe(mark, text)); /* half of the label's width */
    if (!cut)
        trv_svg_line(out, at->x0, at->y0, at->x1, at->y1, SVG_SLOW, 2.4, false);
    else if (at->whole && trv_mark_is_broken(mark))
        trv_svg_line(out, at->x0, at->y0, at->x1, at->y1, SVG_PAPER, 2.4, false);
    else
        trv_svg_line(out, at->x0, at->y0, at->x1, at->y1, SVG_FAINT, 1.6, false);
    if (cut)
        trv_svg_cross(out, at->x, at->y);
    if (upright && !cut) { /* in a gap of the line */
        trv_svg_line(out, at->x - half, at->y, at->x + half, at->y, SVG_PAPER, 9, false);
        trv_svg_text(out, at->x, at->y + 2.7, 7.5, "middle", colour, text);
    } else {
        const bool below = upright || (!at->whole && at->y1 > at->y0);
        trv_svg_text(out, at->x, at->y + (below ? 10.5 : -5), 7.5, "middle", colour, text);
    }
}

/* Draws the end of a link at a rank, in the direction (step_x, step_y). */
static void draw_end(FILE *out, const grid_t *grid, const trv_mark_t *mark, int rank, double step_x, double step_y)
{
    const double offset = grid->node + STUB;
    double x, y;
    place(grid, rank, &x, &y);
    draw_marked(out, mark,
                &(marked_t){x, y, x + step_x * offset, y + step_y * offset, x + step_x * offset, y + step_y * offset,
                            false});
}

static void draw_mark(FILE *out, const grid_t *grid, const trv_picture_t *picture, const trv_mark_t *mark)
{
    const int neighbour = trv_mark_neighbour(picture, mark);
    const bool slanted = grid->dims > 2 && mark->dimension == grid->active[0];
    const double step_x = slanted ? SLANT : mark->dimension == grid->horizontal;
    const double step_y = slanted ? -SLANT : mark->dimension == grid->vertical;
    if (slanted || trv_mark_goes_round(picture, mark)) {
        draw_end(out, grid, mark, mark->rank, step_x, step_y);
        draw_end(out, grid, mark, neighbour, -step_x, -step_y);
    } else {
        marked_t at = {.whole = true};
        place(grid, mark->rank, &at.x0, &at.y0);
        place(grid, neighbour, &at.x1, &at.y1);
        at.x = (at.x0 + at.x1) / 2;
        at.y = (at.y0 + at.y1) / 2;
        draw_marked(out, mark, &at);
    }
}

/* Draws thin lines from the ranks of a line to its tracks. */
static void draw_spokes(FILE *out, const grid_t *grid, const trv_panel_t *panel)
{
    const int *tracks = panel->tracks[grid->horizontal];
    for (int rank = 0; rank < grid->columns && grid->columns <= 81; rank++) {
        double x, y;
        place(grid, rank, &x, &y);
        trv_svg_line(out, x, y - grid->node - 1 - tracks[0] * grid->track, x,
                     y + grid->node + 1 + tracks[1] * grid->track, SVG_FAINT, 0.8, false);
    }
}

/* Returns the neighbour of a segment in its message if it exists and is in the same layer, otherwise NULL. */
static const trv_segment_t *bent_with(const grid_t *grid, const trv_panel_t *panel, int segment, int other)
{
    if (other < 0 || other >= panel->segments || panel->segment[other].arrow != panel->segment[segment].arrow ||
        is_slanted(grid, &panel->segment[other]))
        return NULL;
    return &panel->segment[other];
}

void trv_svg_grid(FILE *out, const trv_picture_t *picture, const trv_panel_t *panel, int rank, double x, double y)
{
    grid_t grid = measure(picture);
    grid.x = x;
    grid.y = y;
    draw_links(out, &grid);
    if (grid.vertical < 0)
        draw_spokes(out, &grid, panel);
    for (int i = 0; i < picture->marks; i++)
        draw_mark(out, &grid, picture, &picture->mark[i]);
    for (int i = 0; i < panel->segments; i++) {
        const trv_segment_t *segment = &panel->segment[i];
        int stream = panel->arrow[segment->arrow].stream;
        pen_t pen = {out, trv_svg_colour(stream), trv_schedule_mirrored(picture->schedule, stream)};
        if (is_slanted(&grid, segment))
            draw_slanted(&pen, &grid, segment);
        else
            draw_flat(&pen, &grid, segment, bent_with(&grid, panel, i, i - 1), bent_with(&grid, panel, i, i + 1),
                      i == 0 || panel->segment[i - 1].arrow != segment->arrow);
    }
    for (int r = 0; r < grid.torus->ranks; r++) {
        double nx, ny;
        place(&grid, r, &nx, &ny);
        trv_svg_rank(out, nx, ny, grid.node, r, r == rank);
    }
}
