/*
 * Boxes: sets of nodes that have every combination of some coordinates of each dimension, and so form a torus or mesh
 * within the larger one of the machine.
 */
#ifndef TRIVANCE_TORUS_BOX_H
#define TRIVANCE_TORUS_BOX_H

#include <stdbool.h>

#include <trivance/torus.h>

typedef struct trv_box {
    trv_torus_t torus;           /* its dimensions are those of the machine along which the set has several nodes */
    int dimension[TRV_DIMS_MAX]; /* the machine's dimension of each dimension of `torus` */
    int first[TRV_DIMS_MAX]; /* the machine's coordinate at which a line begins; 0 for rings and lines of the machine */
    bool enclosed;           /* the machine's routes between nodes of the box use only links of the box */
} trv_box_t;

/* Finds the box that distinct nodes of the machine form. Returns 1 if they form one, 0 if not, or TRV_ERR_MEMORY. A
 * dimension of the box is a ring if its coordinates go around a ring of the machine (0, 2, 4 and 6 of 8), and a line
 * otherwise (0 to 3 of 8). Rank r of the box is the r-th node in the order TRV_ORDER_ROWS. */
TRV_API int trv_box_find(trv_box_t *box, const trv_torus_t *machine, int nodes, const int *node);

#endif
