/*
 * What is known of how the ranks of MPI_COMM_WORLD are wired: TRIVANCE_TOPOLOGY_FILE, else TRIVANCE_TORUS; and what
 * stands in TRIVANCE_RULES_FILE.
 *
 * Files are read by rank 0 of the first communicator of all (under the drop-in MPI_COMM_WORLD, in MPI_Init), which tells
 * every other rank what it needs: the network, its own place, the rules. A torus with fewer coordinates than there are
 * ranks is one of nodes, each the ranks that share memory, in the order of their lowest ranks; a communicator of all
 * ranks tells them apart.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_PLACES_H
#define TRIVANCE_MPI_COMMUNICATOR_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include <trivance/network.h>

typedef struct trv_mpi_world {
    int code; /* 1: the torus is known; 0: nothing says; negative: what is said is wrong, `fault` says why */
    char fault[800];
    const char *source; /* the variable that says so */
    uint64_t digest;    /* of the file, or of the torus */
    trv_network_t network;
    trv_slow_link_t *slow_link; /* of the network */
    unsigned shared_port;
    int place; /* this rank's */
} trv_mpi_world_t;

/* What this process knows; NULL: it was not told yet. Never changes. */
const trv_mpi_world_t *trv_mpi_world(void);

/* Collective: the ranks of `comm` learn what they can. MPI_SUCCESS, or an error class on all of them, with the sentence.
 * They may know nothing afterwards, where only a communicator of all ranks can tell. */
int trv_mpi_world_learn(MPI_Comm comm);

#endif
