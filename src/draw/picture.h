/*
 * The contents of pictures, independent of their form (text or SVG): the arrows of every step, cut into straight
 * segments on tracks, and the links that are cut or slow.
 *
 * A message's route is one segment per dimension that it travels. Segments of the same line of the torus and the same
 * direction that share a link are on different tracks, so the number of tracks beside a link is its congestion.
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
    int from; /* the rank at its beginning */
    int hops;
    int track; /* 0 is nearest to the line of ranks */
    bool last; /* the message arrives at its end */
} trv_segment_t;

/* Consecutive steps in which the same ranks send to the same ranks are one panel. */
typedef struct trv_panel {
    int first_step, last_step;
    int arrows, segments;
    trv_arrow_t *arrow;
    trv_segment_t *segment;
    int tracks[TRV_DIMS_MAX][2]; /* per dimension; [0] in direction +, [1] in direction - */
    int messages;                /* on the busiest link, sum over all streams */
    int64_t units_min, units_max;
} trv_panel_t;

/* A link that is cut or slow, in one direction or in both. */
typedef struct trv_mark {
    int rank, dimension; /* the link from `rank` to its neighbour up the dimension */
    double factor[2];    /* as in trv_slow_link_t; [0] in direction +, [1] in direction - */
} trv_mark_t;

typedef struct trv_picture {
    const trv_torus_t *torus;
    const trv_schedule_t *schedule;
    int panels, marks;
    trv_panel_t *panel;
    trv_mark_t *mark;
} trv_picture_t;

/* Collects the messages that `rank` sends (-1: all ranks) in `stream` (-1: all). `network`: a network on which the
 * schedule can run; its cut and slow links are marked; NULL: there are none. `cost`: the schedule's cost, which has
 * the congestion. */
int trv_picture_create(trv_picture_t *picture, const trv_schedule_t *schedule, const trv_network_t *network,
                       const trv_cost_t *cost, int rank, int stream);
void trv_picture_clear(trv_picture_t *picture);

/* The parts of a picture: the marks alone, of a picture that is {0} and has no schedule; the panel of one step, without
 * `messages`; and the tracks of its segments. */
int trv_picture_mark(trv_picture_t *picture, const trv_torus_t *torus, const trv_network_t *network);
int trv_panel_create(trv_panel_t *panel, const trv_schedule_t *schedule, int step, int rank, int stream);
int trv_panel_assign_tracks(trv_panel_t *panel, const trv_torus_t *torus);
void trv_panel_clear(trv_panel_t *panel);

/* The rank in the middle, whose messages cross the edges of a picture least often. */
int trv_middle_rank(const trv_torus_t *torus);

/* The dimension of a ring or line; 0 for a single rank. */
int trv_ring_dimension(const trv_torus_t *torus);

bool trv_mark_is_cut(const trv_mark_t *mark);    /* in one direction at least */
bool trv_mark_is_broken(const trv_mark_t *mark); /* cut in both */
/* The rank at its other end; and whether that is the first of the row, so that the link wraps around. */
int trv_mark_neighbour(const trv_picture_t *picture, const trv_mark_t *mark);
bool trv_mark_goes_round(const trv_picture_t *picture, const trv_mark_t *mark);
/* Writes "cut" or "4x", "+0 cut" if only one direction is marked, "+0 cut, -0 4x" if they differ. Returns `text`. */
#define TRV_MARK_TEXT_MAX 64
char *trv_mark_describe(const trv_mark_t *mark, char text[TRV_MARK_TEXT_MAX]);

/* Writes "distance 3", "distance 1 to 2", or "dimension 0, distance 3" if the torus has more than one dimension and
 * the panel uses only one; "" if nothing is sent. */
void trv_panel_describe(const trv_picture_t *picture, const trv_panel_t *panel, char *text, int text_size);

#endif
