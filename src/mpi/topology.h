/*
 * What is known of how the ranks of MPI_COMM_WORLD are wired: TRIVANCE_TOPOLOGY_FILE, else TRIVANCE_TORUS.
 *
 * The file is read by rank 0 of the first communicator that is used, and given to its other ranks; every process keeps
 * it. A torus with fewer coordinates than there are ranks is one of nodes, each the ranks that share memory, in the
 * order of their lowest ranks; they are told apart by the first collective on MPI_COMM_WORLD (or a communicator as
 * large).
 */
#ifndef TRIVANCE_MPI_TOPOLOGY_H
#define TRIVANCE_MPI_TOPOLOGY_H

#include <stdbool.h>

#include <mpi.h>

#include <trivance/torus.h>

typedef struct trv_mpi_places {
    const char *source; /* the variable that says so */
    trv_torus_t torus;
    unsigned one_way, shared_port;
    int *place; /* in `torus`, of every rank of the communicator; the caller frees it */
} trv_mpi_places_t;

/* Where the ranks of a communicator are: 1; 0 where nothing is set. TRV_ERR_STATE where nodes are not told apart yet,
 * TRV_ERR_UNSUPPORTED for ranks of several worlds, another negative code where what is set is wrong or does not fit
 * MPI_COMM_WORLD. Collective where anything is set, and the same answer on all ranks. */
int trv_mpi_places(MPI_Comm comm, trv_mpi_places_t *places);

/* Finds the first torus of TRIVANCE_TORUS, a comma-separated list, that has `ranks` ranks. */
bool trv_mpi_torus_from_list(const char *list, int ranks, trv_torus_t *torus);

#endif
