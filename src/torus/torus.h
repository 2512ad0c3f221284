/*
 * Coordinates for the modules that build schedules: single coordinates and moves along one dimension.
 */
#ifndef TRIVANCE_TORUS_TORUS_H
#define TRIVANCE_TORUS_TORUS_H

#include <stdbool.h>
#include <string.h>

#include <trivance/torus.h>

static inline bool trv_torus_equal(const trv_torus_t *a, const trv_torus_t *b)
{
    return a->dims == b->dims && a->lines == b->lines &&
           memcmp(a->size, b->size, (size_t)a->dims * sizeof a->size[0]) == 0;
}

static inline bool trv_torus_is_line(const trv_torus_t *torus, int dimension) { return torus->lines >> dimension & 1; }

/* The coordinate of `rank` in `dimension`. */
TRV_API int trv_torus_coordinate(const trv_torus_t *torus, int rank, int dimension);

/* The rank whose coordinate in `dimension` is `coordinate` and whose other coordinates are those of `rank`. */
int trv_torus_move(const trv_torus_t *torus, int rank, int dimension, int coordinate);

/* The rank that is `delta` coordinates (of any sign and size) up from `rank` along `dimension`, around the ring. */
TRV_API int trv_torus_shift(const trv_torus_t *torus, int rank, int dimension, int delta);

/* The rank to which `port` of `rank` leads; -1 if there is no link: at the end of a line, or in a dimension of one
 * rank. */
TRV_API int trv_torus_neighbour(const trv_torus_t *torus, int rank, int port);

/* The port of the first hop of the dimension-order route from one rank to another: in the first dimension in which they
 * differ the shorter way, + if both are equally long; along a line the only way. The result has no meaning for equal
 * ranks. */
TRV_API int trv_torus_route_port(const trv_torus_t *torus, int from, int to);

/* The rank at the coordinates of `rank` plus `sign` times those of rank `displacement`, around the torus. */
int trv_torus_displace(const trv_torus_t *torus, int rank, int displacement, int sign);

/* The number of a rank's ports, as trv_schedule_messages_per_port counts them. */
int trv_torus_ports(const trv_torus_t *torus);

/* The dimensions with more than one rank, ascending (up to TRV_DIMS_MAX); returns how many there are. Inline, because
 * libtrivance_formats uses it and the core library does not export it. */
static inline int trv_torus_active(const trv_torus_t *torus, int *active)
{
    int count = 0;
    for (int d = 0; d < torus->dims; d++)
        if (torus->size[d] > 1)
            active[count++] = d;
    return count;
}

#endif
