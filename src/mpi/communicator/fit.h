/*
 * The network that some coordinates of a larger network form: all of it, a row, a plane, every second column and the
 * like.
 *
 * The coordinates must be a product: a set of positions in each dimension, and every combination of these. Each such
 * set, in its order, is a ring. Its neighbours may be several hops apart. As long as every gap between neighbours is
 * the shorter of the two paths around the ring, paths of different neighbours share no link, as in a ring of that size.
 * A set with a larger gap, for example 0 … 3 of 8, does not close: that dimension is a line, which begins after its
 * widest gap (6, 7, 0, 1 of 8 begin at 6). A hop between neighbours is as slow as the slowest link on its path.
 *
 *     2x4, coordinates 0,1 0,3 1,1 1,3        . o . o        a torus 2x2, two hops along dimension 1
 *                                             . o . o
 *
 * Coordinates that are no product, that failed links separate, or that are in several tori, are a set of nodes: a ring
 * in the order of their lowest ranks. A plan later determines the order in which the ring visits them
 * (selection/node_sets.h).
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_FIT_H
#define TRIVANCE_MPI_COMMUNICATOR_FIT_H

#include <stdbool.h>

#include <trivance/network.h>

typedef struct trv_mpi_fit {
    trv_network_t network;
    trv_slow_link_t *slow_link; /* owned; network.slow_link points to it */
    unsigned shared_port;       /* bit d: both directions of dimension d share one port */
    int ranks_per_coordinate;
    int *member;       /* the lowest rank at every coordinate; network.torus.ranks entries */
    int *rank_at;      /* several ranks per coordinate: all ranks, by coordinate and then ascending; else NULL */
    int *machine_node; /* for a set of nodes: the coordinate of every node in the larger network; else NULL */
    char reason[200];  /* for a set of nodes: the reason why it is no torus */
} trv_mpi_fit_t;

/* `base`: the larger network, with its slow links. separate: its dimension 0 numbers tori between which no links are
 * known. coordinate[r]: that of rank r in `base`. TRV_OK, TRV_ERR_MEMORY, or
 * TRV_ERR_UNSUPPORTED with the message in trv_last_error() if coordinates have different numbers of ranks. */
int trv_mpi_fit_init(trv_mpi_fit_t *fit, const trv_network_t *base, unsigned shared_port, bool separate,
                     const int *coordinate, int ranks);
void trv_mpi_fit_clear(trv_mpi_fit_t *fit);

#endif
