/*
 * The network of the job, from TRIVANCE_TOPOLOGY_FILE, or else TRIVANCE_TORUS, or else a source of coordinates
 * (discover.h), and the rules of TRIVANCE_RULES_FILE.
 *
 * Rank 0 of the first communicator that is initialized (under the drop-in MPI_COMM_WORLD, in MPI_Init) reads the files
 * and broadcasts their texts; it sends every rank the coordinate that a source reports. A torus with fewer coordinates
 * than ranks is a torus of nodes. A node consists of the ranks that share memory; nodes are numbered in the order of
 * their lowest ranks. Only a communicator of all ranks can find the nodes, or use a source of coordinates.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_WORLD_H
#define TRIVANCE_MPI_COMMUNICATOR_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include <trivance/network.h>

typedef struct trv_mpi_world {
    int code; /* 1: the torus is known; 0: none is set; negative: the setting is wrong, and `fault` has the message */
    char fault[800];
    const char *source; /* the name of the environment variable, or of the source of coordinates */
    uint64_t digest;    /* of the file, of TRIVANCE_TORUS, or of the torus that a source describes */
    trv_network_t network;
    trv_slow_link_t *slow_link; /* owned; network.slow_link points to it */
    unsigned shared_port;       /* bit d: both directions of dimension d share one port */
    int coordinate;             /* the coordinate of this rank, or of its node */
    bool separate;              /* dimension 0 numbers tori between which no links are known */
} trv_mpi_world_t;

/* The network of the job; NULL: it is not known to this process yet. Once known, it never changes. */
const trv_mpi_world_t *trv_mpi_world(void);

/* Finds the network of the job. Collective over `comm`. MPI_SUCCESS on all ranks, or an error class on all ranks with
 * the message in trv_last_error(). After MPI_SUCCESS trv_mpi_world() may still be NULL, if only a communicator of all
 * ranks can find the network. */
int trv_mpi_world_discover(MPI_Comm comm);

#endif
