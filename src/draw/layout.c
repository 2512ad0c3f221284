/*
 * Computes the positions of everything that a picture has.
 */
#include "draw/layout.h"

#include <math.h>

#include "base/number.h"
#include "torus/torus.h"

#define PI         3.14159265358979323846
#define OPEN_TURN  (1.7 * PI) /* of a line that is drawn as a circle */
#define TRACK      4.2
#define WIDE_TRACK 6.0 /* in one dimension */
#define RING_TRACK 8.0
#define ROOM_RING  110.0
#define REACH      8.0  /* length of a link that wraps around, from the edge of its rank */
#define BEYOND     14.0 /* the same of a message */
#define MARGIN     20.0 /* beside the outermost ranks */
#define WIDE       28.0 /* with labels, and beside a row */
#define LABEL      26.0 /* between ranks whose links may have labels; half of it in a row */
#define RING_LABEL 18.0
#define CROSS      2.6  /* from its middle to the sides */
#define ROW_MAX    256  /* ranks */
#define EDGE       6.0  /* between the outermost track, or the end of a message, and the edge of the picture */
#define ACUTE      2.2  /* oblique view: the distance of a corner from its rank, relative to that of a track */
#define FLAT       0.46 /* oblique view: the distance of its rows, relative to that of a grid */

const char *const trv_form_word[TRV_FORMS] = {"ring", "row", "grid", "iso"};

int trv_forms(const trv_torus_t *torus, trv_form_t form[2])
{
    int active[TRV_DIMS_MAX], dims = trv_torus_active(torus, active);
    const bool row = dims == 1 && trv_torus_is_line(torus, active[0]) && torus->ranks <= ROW_MAX;
    form[0] = row ? TRV_FORM_ROW : dims < 2 ? TRV_FORM_RING : dims == 2 ? TRV_FORM_GRID : TRV_FORM_ISO;
    form[1] = row ? TRV_FORM_RING : dims < 2 ? TRV_FORM_ROW : dims == 2 ? TRV_FORM_ISO : TRV_FORM_GRID;
    return dims > 3 ? 0 : dims < 2 && torus->ranks > 128 ? 1 : 2;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

static void lay_out_ring(trv_layout_t *layout, int dimension, int tracks, bool labels)
{
    const int ranks = layout->torus->ranks;
    const bool open = trv_torus_is_line(layout->torus, dimension), small = ranks <= 81;
    const double turn = open ? OPEN_TURN : 2 * PI;
    layout->node = ranks <= 16 ? 10 : ranks <= 32 ? 8.5 : small ? 7 : 3;
    layout->angle = turn / (ranks > 1 && open ? ranks - 1 : ranks);
    layout->start = open ? -turn / 2 : 0;
    layout->radius = fmax(small ? 84 : 180, (small ? 2 * layout->node + 5 : 8) / layout->angle);
    layout->gap = 2 * layout->radius * sin(fmin(layout->angle, PI / 2) / 2);
    layout->room = fmin(fmin(RING_TRACK * (tracks + 0.7), layout->radius - layout->node - 14), ROOM_RING);
    layout->track = RING_TRACK;
    const double outside = layout->node + layout->room + EDGE + (labels ? RING_LABEL : 0);
    layout->origin = (trv_point_t){layout->radius + outside, layout->radius + outside};
    layout->width = layout->height = 2 * (layout->radius + outside);
}

/* Chooses the size of ranks and the distance between them. */
static double choose_pitch(trv_layout_t *layout, const int *active, int dims, int tracks, bool labels)
{
    const int *size = layout->torus->size, last = size[active[dims > 0 ? dims - 1 : 0]];
    double pitch;
    layout->track = layout->form == TRV_FORM_ROW ? WIDE_TRACK : TRACK;
    if (layout->form == TRV_FORM_ROW) {
        layout->node = last <= 16 ? 10 : last <= 32 ? 8.5 : last <= 81 ? 7 : 3;
        pitch = last <= 16 ? 44 : last <= 81 ? 2 * layout->node + 7 : 8;
    } else { /* small tori are drawn larger, because the network matters more than the matrices below */
        pitch = fmax(44, fmin(72, 300.0 / (last > size[active[dims - 2]] ? last : size[active[dims - 2]])));
        layout->node = pitch < 60 ? 8 : 10;
    }
    layout->room = layout->track * (tracks + 0.7);
    if (labels)
        pitch = fmax(pitch, 2 * layout->node + (layout->form == TRV_FORM_ROW ? LABEL / 2 : LABEL));
    if (layout->form == TRV_FORM_ROW)
        return pitch;
    const double beside = 2 * (layout->node + layout->room) + 14; /* what the next row needs */
    pitch = fmax(pitch, layout->form == TRV_FORM_ISO ? beside / FLAT : beside);
    layout->room = fmax(layout->room, (layout->form == TRV_FORM_ISO ? FLAT * pitch : pitch) / 2 - layout->node - 7);
    return pitch;
}

static void lay_out_lattice(trv_layout_t *layout, const int *active, int dims, int tracks, bool labels)
{
    const double s = choose_pitch(layout, active, dims, tracks, labels);
    const int *size = layout->torus->size, *inner = active + (dims > 0 ? dims - 1 : 0); /* inner[-1] is around it */
    const bool iso = layout->form == TRV_FORM_ISO;
    if (dims > 0)
        layout->step[inner[0]] = (trv_point_t){s, iso ? 0.15 * s : 0};
    if (dims > 1)
        layout->step[inner[-1]] = (trv_point_t){iso ? -0.46 * s : 0, iso ? 0.4 * s : s};
    if (dims > 2) {
        const double layer = 0.4 * (size[inner[-1]] - 1) + 0.15 * (size[inner[0]] - 1) + 0.6;
        layout->step[inner[-2]] = iso ? (trv_point_t){0.2 * s, fmin(layer, 1.8) * s}
                                      : (trv_point_t){(size[inner[0]] + 1) * s, 0};
        layout->outermost = inner[-2];
    }
    layout->gap = s;
    const double corner = iso ? ACUTE * (layout->node + layout->room) : layout->node + layout->room;
    const double margin = fmax(layout->node + (labels ? WIDE : MARGIN), corner + EDGE);
    const double margin_x = dims < 2 ? fmax(margin, WIDE + layout->node) : margin;
    trv_point_t low = {0, 0}, high = {0, 0};
    for (int d = 0; d < layout->torus->dims; d++) {
        const double x = (size[d] - 1) * layout->step[d].x, y = (size[d] - 1) * layout->step[d].y;
        low = (trv_point_t){low.x + fmin(x, 0), low.y + fmin(y, 0)};
        high = (trv_point_t){high.x + fmax(x, 0), high.y + fmax(y, 0)};
    }
    layout->beyond = fmax(BEYOND, layout->room);
    layout->origin = (trv_point_t){margin_x - low.x, margin - low.y};
    layout->width = high.x - low.x + 2 * margin_x;
    layout->height = high.y - low.y + 2 * margin;
}

void trv_layout_init(trv_layout_t *layout, const trv_torus_t *torus, trv_form_t form, int tracks, bool labels)
{
    int active[TRV_DIMS_MAX] = {0}, dims = trv_torus_active(torus, active);
    *layout = (trv_layout_t){.torus = torus, .form = form, .outermost = -1};
    if (form == TRV_FORM_RING)
        lay_out_ring(layout, active[0], tracks, labels);
    else
        lay_out_lattice(layout, active, dims, tracks, labels);
}

int trv_layout_tracks(const trv_panel_t *panel)
{
    int tracks = 1;
    for (int d = 0; d < TRV_DIMS_MAX; d++)
        for (int sign = 0; sign < 2; sign++)
            tracks = panel->tracks[d][sign] > tracks ? panel->tracks[d][sign] : tracks;
    return tracks;
}

double trv_layout_width(const trv_layout_t *layout) { return fmax(0.8, fmin(1.6, 0.5 * layout->track)); }

double trv_layout_number(const trv_layout_t *layout, int rank)
{
    return layout->node * (rank < 10 ? 1.15 : rank < 100 ? 1.0 : 0.8);
}

void trv_layout_fit(trv_layout_t *layout, const trv_panel_t *panel)
{
    layout->track = fmin(layout->track, layout->room / (trv_layout_tracks(panel) + 0.7));
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static trv_point_t rank_at(const trv_layout_t *layout, int rank)
{
    int at[TRV_DIMS_MAX];
    trv_point_t p = layout->origin;
    trv_torus_coordinates(layout->torus, rank, at);
    for (int d = 0; d < layout->torus->dims; d++)
        p = (trv_point_t){p.x + at[d] * layout->step[d].x, p.y + at[d] * layout->step[d].y};
    return p;
}

trv_point_t trv_layout_along(const trv_layout_t *layout, int rank, int port, double hops, double further, double side)
{
    const double sign = trv_port_sign(port);
    if (layout->form == TRV_FORM_RING) { /* angles are clockwise from the top */
        const double radius = layout->radius + sign * side;
        const double angle = layout->start + (rank + sign * hops) * layout->angle + sign * further / radius;
        return (trv_point_t){layout->origin.x + radius * sin(angle), layout->origin.y - radius * cos(angle)};
    }
    const trv_point_t p = rank_at(layout, rank), e = layout->step[trv_port_dimension(port)];
    const double length = hypot(e.x, e.y), x = length > 0 ? sign * e.x / length : 0,
                 y = length > 0 ? sign * e.y / length : 0;
    const double along = hops * length + further;
    return (trv_point_t){p.x + along * x + side * y, p.y + along * y - side * x};
}

static bool wraps(const trv_layout_t *layout, int rank, int port)
{
    const int next = trv_torus_neighbour(layout->torus, rank, port);
    return layout->form != TRV_FORM_RING && next >= 0 && (next > rank) != (trv_port_sign(port) > 0);
}

trv_point_t trv_layout_middle(const trv_layout_t *layout, int rank, int port, double side)
{
    if (wraps(layout, rank, port))
        return trv_layout_along(layout, rank, port, 0, layout->node + REACH, side);
    return trv_layout_along(layout, rank, port, layout->outermost == trv_port_dimension(port) ? 0.3 : 0.5, 0, side);
}

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

static void put(FILE *out, char command, trv_point_t p) { trv_fprintf(out, "%c%.1f %.1f", command, p.x, p.y); }

/* Writes a line to `to` from the previous point: `hops` links along one dimension on the side `side`. */
static void put_line(const trv_layout_t *layout, int sign, double hops, double side, trv_point_t to, FILE *out)
{
    const double radius = layout->radius + sign * side;
    if (layout->form == TRV_FORM_RING)
        trv_fprintf(out, "A%.1f %.1f 0 %d %d %.1f %.1f", radius, radius, hops * layout->angle > PI, sign > 0, to.x,
                    to.y);
    else
        put(out, 'L', to);
}

void trv_layout_link(const trv_layout_t *layout, int rank, int port, double side, FILE *out)
{
    const bool stub = wraps(layout, rank, port);
    put(out, 'M', trv_layout_along(layout, rank, port, 0, 0, side));
    put_line(layout, trv_port_sign(port), 1, side,
             trv_layout_along(layout, rank, port, stub ? 0 : 1, stub ? layout->node + REACH : 0, side), out);
}

static double side_of(const trv_layout_t *layout, const trv_segment_t *segment)
{
    return layout->node + 1 + (segment->track + 0.6) * layout->track;
}

static int port_of(const trv_segment_t *segment) { return trv_port(segment->dimension, segment->sign); }

/* The point at which the tracks of two segments meet beside the rank at which a route bends. */
static trv_point_t corner(const trv_layout_t *layout, const trv_segment_t *before, const trv_segment_t *after)
{
    const trv_point_t p = rank_at(layout, after->from);
    const trv_point_t q = trv_layout_along(layout, after->from, port_of(before), 0, 0, side_of(layout, before));
    const trv_point_t r = trv_layout_along(layout, after->from, port_of(after), 0, 0, side_of(layout, after));
    const double ax = q.x - p.x, ay = q.y - p.y, bx = r.x - p.x, by = r.y - p.y, turn = ax * by - ay * bx;
    if (fabs(turn) < 1e-3 * hypot(ax, ay) * hypot(bx, by)) /* rows that are parallel */
        return q;
    const double a = (ax * ax + ay * ay) / turn, b = (bx * bx + by * by) / turn;
    return (trv_point_t){p.x + a * by - b * ay, p.y + b * ax - a * bx};
}

/* Writes a segment from the current point to the point before its end, or to `bend`; it leaves the picture where it
 * wraps around, and enters at the opposite edge. */
static void put_segment(const trv_layout_t *layout, const trv_segment_t *segment, double short_of,
                        const trv_point_t *bend, FILE *out)
{
    const int port = port_of(segment), d = segment->dimension, size = layout->torus->size[d];
    const double side = side_of(layout, segment), beyond = layout->node + layout->beyond;
    int rank = segment->from, left = segment->hops;
    while (layout->form != TRV_FORM_RING) {
        const int c = trv_torus_coordinate(layout->torus, rank, d), to_edge = segment->sign > 0 ? size - 1 - c : c;
        if (left <= to_edge)
            break;
        put(out, 'L', trv_layout_along(layout, rank, port, to_edge, beyond, side));
        rank = trv_torus_shift(layout->torus, rank, d, segment->sign * (to_edge + 1));
        left -= to_edge + 1;
        put(out, 'M', trv_layout_along(layout, rank, port, 0, -beyond, side));
    }
    put_line(layout, segment->sign, left, side,
             bend ? *bend : trv_layout_along(layout, rank, port, left, -short_of, side), out);
}

int trv_layout_message(const trv_layout_t *layout, const trv_panel_t *panel, int first, FILE *out,
                       trv_arrow_ends_t *ends)
{
    const trv_segment_t *segment = &panel->segment[first];
    const double tip = fmin(3.5, 0.15 * layout->gap), begin = fmin(2, 0.1 * layout->gap);
    int count = 0;
    ends->size = fmin(fmin(6, fmax(3.5, 1.4 * layout->track)), 0.4 * layout->gap);
    ends->begin = trv_layout_along(layout, segment->from, port_of(segment), 0, begin, side_of(layout, segment));
    put(out, 'M', ends->begin);
    for (; !segment->last; segment++, count++) {
        const trv_point_t bend = corner(layout, segment, segment + 1);
        put_segment(layout, segment, 0, &bend, out);
    }
    const int port = port_of(segment);
    const int to = panel->arrow[segment->arrow].to;
    put_segment(layout, segment, tip + 0.7 * ends->size, NULL, out);
    ends->neck = trv_layout_along(layout, to, port, 0, -tip - 0.7 * ends->size, side_of(layout, segment));
    ends->tip = trv_layout_along(layout, to, port, 0, -tip, side_of(layout, segment));
    return count + 1;
}

void trv_layout_head(const trv_arrow_ends_t *ends, FILE *out)
{
    const double length = hypot(ends->tip.x - ends->neck.x, ends->tip.y - ends->neck.y);
    const double x = (ends->tip.x - ends->neck.x) / length * ends->size;
    const double y = (ends->tip.y - ends->neck.y) / length * ends->size;
    put(out, 'M', ends->tip);
    put(out, 'L', (trv_point_t){ends->tip.x - x - 0.45 * y, ends->tip.y - y + 0.45 * x});
    put(out, 'L', (trv_point_t){ends->tip.x - x + 0.45 * y, ends->tip.y - y - 0.45 * x});
    fputc('Z', out);
}

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

static trv_mark_place_t place_mark(const trv_layout_t *layout, int rank, int port, bool cut)
{
    trv_mark_place_t place = {.rank = rank,
                              .port = port,
                              .at = trv_layout_middle(layout, rank, port, 0),
                              .anchor = "middle"};
    place.leader = place.at;
    if (layout->form == TRV_FORM_RING) { /* outside of all tracks */
        place.leader = trv_layout_along(layout, rank, port, 0.5, 0, layout->node + layout->room);
        const double beyond = layout->node + layout->room + 7;
        const trv_point_t end = trv_layout_along(layout, rank, port, 0.5, 0, beyond);
        const double across = (end.x - layout->origin.x) / (layout->radius + beyond);
        place.anchor = fabs(across) < 0.3 ? "middle" : across > 0 ? "start" : "end";
        place.label = (trv_point_t){end.x, end.y + 3};
        return place;
    }
    const trv_point_t e = layout->step[trv_port_dimension(port)];
    const bool upright = fabs(e.y) > fabs(e.x), stub = wraps(layout, rank, port);
    place.inside = upright && !cut && !stub;
    const double below = place.inside ? 2.7 : upright && trv_port_sign(port) > 0 ? 10.5 : -5;
    place.label = (trv_point_t){place.at.x, place.at.y + below};
    return place;
}

int trv_layout_mark(const trv_layout_t *layout, const trv_picture_t *picture, const trv_mark_t *mark,
                    trv_mark_place_t place[2])
{
    const int port = trv_port(mark->dimension, 1);
    const bool cut = trv_mark_is_cut(mark);
    place[0] = place_mark(layout, mark->rank, port, cut);
    if (!wraps(layout, mark->rank, port))
        return 1;
    place[1] = place_mark(layout, trv_mark_neighbour(picture, mark), trv_port_opposite(port), cut);
    return 2;
}

void trv_layout_cross(const trv_mark_place_t *place, FILE *out)
{
    const double left = place->at.x - CROSS, right = place->at.x + CROSS;
    const double top = place->at.y - CROSS, bottom = place->at.y + CROSS;
    trv_fprintf(out, "M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1f", left, top, right, bottom, left, bottom, right, top);
}
