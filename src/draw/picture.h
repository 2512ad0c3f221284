/*
 * What the pictures show, before it is known whether they are text or SVG: the arrows of every step, cut into straight
 * segments that lie on tracks, and the links that are cut or slow.
 *
 * A message's route is one segment per dimension that it travels. Segments of the same line of the torus and the same
 * direction that share a link lie on different tracks, so what one sees beside a link is its congestion.
 */
#ifndef TRIVANCE_DRAW_PICTURE_H
#define TRIVANCE_DRAW_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/cost.h>
#include <trivance/network.h>
#include <trivance/schedule.h>

typedef struct trv_arrow {
    int from, to, stream, port;
    int64_t units;
} trv_arrow_t;

typedef struct trv_segment {
    int arrow; /* index of its message */
    int dimension, sign;
    int from; /* the rank where it begins */
    int hops;
    int track; /* 0 is the nearest to the line */
    bool last; /* the message arrives at its end */
} trv_segment_t;

/* Consecutive steps in which the same ranks send to the same ranks are one panel. */
typedef struct trv_panel {
    int first_step, last_step;
    int arrows, segments;
    trv_arrow_t *arrow;
    trv_segment_t *segment;
    int tracks[TRV_DIMS_MAX][2]; /* per dimension; [0] in direction +, [1] in direction - */
    int messages;                /* on the busiest link, all streams together */
    int64_t units_min, units_max;
} trv_panel_t;

/* A link that is not as it should be, in one direction or in both. */
typedef struct trv_mark {
    int rank, dimension; /* the link from `rank` to its neighbour up the dimension */
    double factor[2];    /* as in trv_slow_link_t; [0] in direction +, [1] in direction - */
} trv_mark_t;

typedef struct trv_picture {
    const trv_schedule_t *schedule;
    int panels, marks;
    trv_panel_t *panel;
    trv_mark_t *mark;
} trv_picture_t;

/* Collects the messages that `rank` sends (-1: all ranks) in `stream` (-1: all). `network`: one that serves the
 * schedule, whose cut and slow links are marked; NULL: there are none. `cost`: of the schedule, for the congestion. */
int trv_picture_create(trv_picture_t *picture, const trv_schedule_t *schedule, const trv_network_t *network,
                       const trv_cost_t *cost, int rank, int stream);
void trv_picture_clear(trv_picture_t *picture);

/* The dimensions of a torus that are larger than 1. Returns their number. */
int trv_active_dimensions(const trv_torus_t *torus, int active[TRV_DIMS_MAX]);
/* The rank in the middle, which has the least to send round the edges. */
int trv_middle_rank(const trv_torus_t *torus);

/* The dimension of a ring or line; 0 for a single rank. */
int trv_ring_dimension(const trv_torus_t *torus);

bool trv_mark_is_cut(const trv_mark_t *mark);    /* in one direction at least */
bool trv_mark_is_broken(const trv_mark_t *mark); /* cut in both */
/* The rank at its other end; and whether that is the first of the row, to which the link goes round. */
int trv_mark_neighbour(const trv_picture_t *picture, const trv_mark_t *mark);
bool trv_mark_goes_round(const trv_picture_t *picture, const trv_mark_t *mark);
/* "cut" or "4x", "+0 cut" where that is so in one direction only, "+0 cut, -0 4x" where they differ. Returns `text`. */
#define TRV_MARK_TEXT_MAX 64
char *trv_mark_describe(const trv_mark_t *mark, char text[TRV_MARK_TEXT_MAX]);

/* "distance 3", "distance 1 to 2", or "dimension 0, distance 3" where a torus has more than one and the panel uses one
 * of them; "" where nothing is sent. */
void trv_panel_describe(const trv_picture_t *picture, const trv_panel_t *panel, char *text, int text_size);

#endif
