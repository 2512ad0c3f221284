/*
 * Rows of a network that are lines: a message between two ranks of such a row has only one direction.
 *
 * The rows of a line dimension are lines that begin at coordinate 0. A row of a ring that a cut has opened is a line
 * that begins behind the cut, and then all other rows of that dimension are used as lines, too. A row without a cut
 * begins where the first opened row of its dimension begins.
 */
#ifndef TRIVANCE_TORUS_ROWS_H
#define TRIVANCE_TORUS_ROWS_H

#include <stdbool.h>

#include <trivance/network.h>

#include "torus/torus.h"

typedef struct trv_row {
    int dimension, row; /* the row is identified by its rank with coordinate 0 */
    int start;
    unsigned cut; /* mask of cut directions: up is 1, down is 2 */
} trv_row_t;

typedef struct trv_rows {
    trv_torus_t torus;
    unsigned lines;          /* bit d: the rows of dimension d are lines */
    unsigned uneven;         /* bit d: the lines of dimension d do not all begin at the same coordinate */
    int start[TRV_DIMS_MAX]; /* first coordinate of the rows that are not in `opened` */
    int open;                /* number of rows that a cut has opened; `opened` is sorted by dimension and row */
    trv_row_t *opened;
} trv_rows_t;

/* True if no dimension is a line and no link is slow or cut: a translation of a schedule is then as fast as the
 * schedule. */
static inline bool trv_network_is_uniform(const trv_network_t *network)
{
    return network->torus.lines == 0 && network->slow_links == 0;
}

/* TRV_ERR_ARGUMENT if the torus does not have the link, or its factor is out of range. */
TRV_API int trv_link_check(const trv_torus_t *torus, const trv_slow_link_t *link);

/* Links that are slower than normal by a factor of `avoid` or more count as cut (with INFINITY: only links that are
 * down). Returns TRV_ERR_ARGUMENT, with a message, for links that do not exist and factors out of range. For a row that
 * is cut in two the error is TRV_ERR_UNSUPPORTED, or TRV_ERR_ARGUMENT if `avoid` is finite. */
int trv_rows_create(trv_rows_t **rows, const trv_network_t *network, double avoid);
/* The same for any network. Messages in a row that is cut in two may pass a cut: such a row of a ring is used as a line
 * that begins behind one of its cuts, and such a row of a line dimension as if it had no cut. */
int trv_rows_create_any(trv_rows_t **rows, const trv_network_t *network);
void trv_rows_destroy(trv_rows_t *rows); /* may be NULL */

/* The coordinate at which the row of `rank` along `dimension` begins. */
int trv_row_start(const trv_rows_t *rows, int rank, int dimension);

/* The position of `rank` on its row, counted from the beginning of the row; and the rank at a position of that row. */
int trv_row_position(const trv_rows_t *rows, int rank, int dimension);
int trv_row_rank(const trv_rows_t *rows, int rank, int dimension, int position);

/* The port through which a message to `to` leaves `from` where routes are fixed (trivance/network.h). `rows` must have
 * been created from the links that are down, without a factor to avoid. */
int trv_row_first_port(const trv_rows_t *rows, int from, int to);

static inline bool trv_rows_are_lines(const trv_rows_t *rows, int dimension)
{
    return rows && rows->lines >> dimension & 1;
}

/* The link in the opposite direction, which is as slow. */
static inline trv_slow_link_t trv_link_opposite(const trv_torus_t *torus, const trv_slow_link_t *link)
{
    const int d = trv_port_dimension(link->port), sign = trv_port_sign(link->port);
    return (trv_slow_link_t){trv_torus_shift(torus, link->rank, d, sign), trv_port(d, -sign), link->factor};
}

#endif
