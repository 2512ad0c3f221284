/*
 * Rows that are lines: where on a network messages between two ranks of a row can go one way only.
 *
 * A line dimension's rows are lines that begin at coordinate 0. A row of a ring that a cut has opened is a line that
 * begins behind the cut, and all other rows of that dimension are used as lines, too; where the network does not say,
 * they begin where the others of their dimension do.
 */
#ifndef TRIVANCE_TORUS_ROWS_H
#define TRIVANCE_TORUS_ROWS_H

#include <stdbool.h>

#include <trivance/network.h>

typedef struct trv_row {
    int dimension, row; /* the row's rank of coordinate 0 */
    int start;
    unsigned cut; /* the way up: 1; the way down: 2 */
} trv_row_t;

typedef struct trv_rows {
    trv_torus_t torus;
    unsigned lines;          /* bit d: the rows of dimension d are lines, … */
    unsigned uneven;         /* … which do not all begin at one coordinate */
    int start[TRV_DIMS_MAX]; /* where rows begin that are not in the list */
    int open;                /* rows that a cut has opened, by dimension and row */
    trv_row_t *opened;
} trv_rows_t;

/* Links that are `avoid` times or more as slow as they should be count as cut (INFINITY: only those that are). With the
 * sentence TRV_ERR_ARGUMENT for links that do not exist, factors below 1 and a row that is cut in two. */
int trv_rows_create(trv_rows_t **rows, const trv_network_t *network, double avoid);
void trv_rows_destroy(trv_rows_t *rows); /* may be NULL */

/* The coordinate at which the row of `rank` along `dimension` begins. */
int trv_row_start(const trv_rows_t *rows, int rank, int dimension);

/* Where on its row, counted from the beginning, `rank` is, and who is at another place of the same row. */
int trv_row_place(const trv_rows_t *rows, int rank, int dimension);
int trv_row_rank(const trv_rows_t *rows, int rank, int dimension, int place);

/* The port by which a message leaves `from` where routes are fixed (trivance/network.h); `rows` of cut links alone. */
int trv_row_way(const trv_rows_t *rows, int from, int to);

static inline bool trv_rows_are_lines(const trv_rows_t *rows, int dimension)
{
    return rows && rows->lines >> dimension & 1;
}

#endif
