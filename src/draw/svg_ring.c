/*
 * Draws a ring as a circle of ranks. Messages in direction + run on concentric tracks outside, those in direction -
 * inside; each begins with a dot over its sender and ends with a head over its receiver. Messages on the same track
 * share no link, so the number of tracks beside a link is its congestion (or slightly more, where arcs do not tile the
 * ring). The label of a cut or slow link is outside of all tracks.
 */
#include "base/number.h"
#include "draw/svg.h"

#include <math.h>

#define PI    3.14159265358979323846
#define LABEL 18.0 /* beyond the tracks */

typedef struct ring {
    int ranks, dimension;
    double radius, node, gap; /* of the circle of ranks, of a rank, between tracks */
    double cx, cy;
} ring_t;

static ring_t measure(const trv_picture_t *picture, double *outside)
{
    const trv_torus_t *torus = trv_schedule_torus(picture->schedule);
    int outer = 1, inner = 1;
    ring_t ring = {.ranks = torus->ranks, .dimension = trv_ring_dimension(torus)};
    for (int i = 0; i < picture->panels; i++) {
        const int *tracks = picture->panel[i].tracks[ring.dimension];
        outer = tracks[0] > outer ? tracks[0] : outer;
        inner = tracks[1] > inner ? tracks[1] : inner;
    }
    ring.node = ring.ranks <= 16 ? 10 : ring.ranks <= 32 ? 8.5 : 7;
    ring.radius = fmax(84, ring.ranks * (2 * ring.node + 5) / (2 * PI));
    if (ring.ranks > 81) { /* one rank's messages only: small ranks */
        ring.node = 3;
        ring.radius = fmax(180, ring.ranks * 8 / (2 * PI));
    }
    ring.gap = fmin(fmin(8, (ring.radius - ring.node - 14) / (inner + 1)), 110.0 / outer);
    ring.gap = fmax(ring.gap, 2);
    *outside = ring.node + ring.gap * (outer + 1) + 6 + (picture->marks ? LABEL : 0);
    return ring;
}

trv_svg_size_t trv_svg_ring_size(const trv_picture_t *picture)
{
    double outside;
    ring_t ring = measure(picture, &outside);
    double side = 2 * (ring.radius + outside);
    return (trv_svg_size_t){side, side};
}

/* Computes a point of a circle; angles are clockwise from the top. */
static void at(const ring_t *ring, double radius, double angle, double *x, double *y)
{
    *x = ring->cx + radius * sin(angle);
    *y = ring->cy - radius * cos(angle);
}

static void draw_arc(FILE *out, const ring_t *ring, const trv_picture_t *picture, const trv_panel_t *panel,
                     const trv_segment_t *segment)
{
    int stream = panel->arrow[segment->arrow].stream;
    double step = 2 * PI / ring->ranks, sign = segment->sign;
    double radius = ring->radius + sign * (ring->node + 1 + (segment->track + 0.6) * ring->gap);
    double size = fmax(4, fmin(7, ring->gap * 1.1));
    /* Arcs end slightly before their receiver, to leave space for the next arc's dot. */
    double trim = fmin(0.28 * step, (size * 0.55) / radius);
    double from = segment->from * step + sign * fmin(0.1 * step, 1.6 / radius);
    double to = segment->from * step + sign * (segment->hops * step - trim);
    double neck = to - sign * (size * 0.8) / radius;
    double x0, y0, x1, y1, x2, y2;
    const char *colour = trv_svg_colour(stream);
    at(ring, radius, from, &x0, &y0);
    at(ring, radius, neck, &x1, &y1);
    at(ring, radius, to, &x2, &y2);
    trv_fprintf(out, "<path d=\"M%.1f %.1fA%.1f %.1f 0 %d %d %.1f %.1f\" stroke=\"%s\" stroke-width=\"%.2g\"%s/>\n", x0,
                y0, radius, radius, fabs(neck - from) > PI, sign > 0, x1, y1, colour, ring->gap < 4 ? 1.1 : 1.6,
                trv_schedule_mirrored(picture->schedule, stream) ? " stroke-dasharray=\"4 2.5\"" : "");
    trv_svg_head(out, x2, y2, x2 - x1, y2 - y1, colour, size);
    trv_svg_dot(out, x0, y0, fmin(2, ring->gap * 0.35), colour);
}

/* Draws a gap with a cross, or the link in another colour, and its label beyond the tracks, at the end of a thin
 * line. */
static void draw_mark(FILE *out, const ring_t *ring, const trv_mark_t *mark, int tracks)
{
    const double step = 2 * PI / ring->ranks, middle = (mark->rank + 0.5) * step;
    const double beyond = ring->radius + ring->node + 1 + (tracks + 1) * ring->gap;
    const bool cut = trv_mark_is_cut(mark);
    const char *colour = cut ? SVG_CUT : SVG_SLOW;
    const char *link = trv_mark_is_broken(mark) ? SVG_PAPER : cut ? SVG_FAINT : SVG_SLOW;
    char text[TRV_MARK_TEXT_MAX];
    double x0, y0, x1, y1;
    at(ring, ring->radius, mark->rank * step, &x0, &y0);
    at(ring, ring->radius, (mark->rank + 1) * step, &x1, &y1);
    trv_fprintf(out, "<path d=\"M%.1f %.1fA%.1f %.1f 0 0 1 %.1f %.1f\" stroke=\"%s\" stroke-width=\"3\"/>\n", x0, y0,
                ring->radius, ring->radius, x1, y1, link);
    at(ring, ring->radius, middle, &x0, &y0);
    at(ring, beyond, middle, &x1, &y1);
    trv_svg_line(out, x0, y0, x1, y1, colour, 0.6, false);
    if (cut)
        trv_svg_cross(out, x0, y0);
    at(ring, beyond + 7, middle, &x1, &y1);
    const char *anchor = fabs(sin(middle)) < 0.3 ? "middle" : sin(middle) > 0 ? "start" : "end";
    trv_svg_text(out, x1, y1 + 3, 8, anchor, colour, trv_mark_describe(mark, text));
}

void trv_svg_ring(FILE *out, const trv_picture_t *picture, const trv_panel_t *panel, int rank, double x, double y)
{
    double outside;
    ring_t ring = measure(picture, &outside);
    const int *tracks = panel->tracks[ring.dimension];
    ring.cx = x + ring.radius + outside;
    ring.cy = y + ring.radius + outside;
    trv_fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" stroke=\"" SVG_FAINT "\" stroke-width=\"2\"/>\n",
                ring.cx, ring.cy, ring.radius);
    for (int r = 0; r < ring.ranks && ring.ranks <= 81; r++) { /* faint spokes lead from a rank to its tracks */
        double x0, y0, x1, y1, angle = 2 * PI * r / ring.ranks;
        at(&ring, ring.radius - ring.node - 1 - tracks[1] * ring.gap, angle, &x0, &y0);
        at(&ring, ring.radius + ring.node + 1 + tracks[0] * ring.gap, angle, &x1, &y1);
        trv_svg_line(out, x0, y0, x1, y1, SVG_FAINT, 0.8, false);
    }
    for (int i = 0; i < picture->marks; i++)
        draw_mark(out, &ring, &picture->mark[i], tracks[0]);
    for (int i = 0; i < panel->segments; i++)
        draw_arc(out, &ring, picture, panel, &panel->segment[i]);
    for (int r = 0; r < ring.ranks; r++) {
        double nx, ny;
        at(&ring, ring.radius, 2 * PI * r / ring.ranks, &nx, &ny);
        trv_svg_rank(out, nx, ny, ring.node, r, r == rank);
    }
}
