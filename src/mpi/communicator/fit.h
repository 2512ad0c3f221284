/*
 * The network that some places of a larger one form: all of it, a row, a plane, every second column, …
 *
 * The places must be a product: a set of coordinates per dimension, and every combination of them. Each such set, in
 * its order, is a ring of its own. Its neighbours may be several hops apart; while every gap is the shorter way round,
 * the hops of neighbours share no link, as in a ring of that size. A set with a larger gap, 0 … 3 of 8 for example, has
 * no way round: that dimension is a line, which begins behind its widest gap (6, 7, 0, 1 of 8 at 6). A hop of neighbours
 * is as slow as the slowest link on its way.
 *
 *     2x4, coordinates 0,1 0,3 1,1 1,3        . o . o        a torus 2x2, two hops along dimension 1
 *                                             . o . o
 *
 * Places that are no product, or cut in two, are a set of nodes: they are numbered as a ring in the order of their lowest
 * ranks, and the plan determines the order in which the ring visits them (selection/node_sets.h).
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_FIT_H
#define TRIVANCE_MPI_COMMUNICATOR_FIT_H

#include <trivance/network.h>

typedef struct trv_mpi_fit {
    trv_network_t network;
    trv_slow_link_t *slow_link; /* of the network */
    unsigned shared_port;       /* bits of its dimensions, as in trv_mpi_state_t */
    int ranks_per_place;
    int *member;   /* of every place the lowest rank, network.torus.ranks of them */
    int *site;     /* of a set of nodes: every place's of the larger network; else NULL */
    char why[200]; /* it is one */
} trv_mpi_fit_t;

/* `base` is the larger network with its marks, place[r] where rank r of `ranks` is in it. TRV_ERR_UNSUPPORTED with a
 * sentence where the places have different numbers of ranks. */
int trv_mpi_fit_init(trv_mpi_fit_t *fit, const trv_network_t *base, unsigned shared_port, const int *place, int ranks);
void trv_mpi_fit_clear(trv_mpi_fit_t *fit);

#endif
