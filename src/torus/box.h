/*
 * Sets of nodes that form a box: a torus or mesh within a larger one.
 */
#ifndef TRIVANCE_TORUS_BOX_H
#define TRIVANCE_TORUS_BOX_H

#include <stdbool.h>

#include <trivance/torus.h>

typedef struct trv_box {
    trv_torus_t torus;           /* its dimensions are those of the machine along which the set has several nodes */
    int dimension[TRV_DIMS_MAX]; /* the machine's dimension of each dimension of `torus` */
    int first[TRV_DIMS_MAX]; /* the machine's coordinate at which a line begins; 0 for rings and lines of the machine */
    bool enclosed;           /* the machine's routes between its nodes are those of the box */
} trv_box_t;

/* Returns 1 if the set contains every combination of the coordinates that occur in it, 0 if it does not, or
 * TRV_ERR_MEMORY. A dimension of the box is a ring if its coordinates surround
 * one of the machine (0, 2, 4 and 6 of 8), and a line otherwise (0 to 3 of 8).
 * Ranks of the box are nodes in the order TRV_ORDER_ROWS. The nodes exist and differ. */
int trv_box_find(trv_box_t *box, const trv_torus_t *machine, int nodes, const int *node);

#endif
