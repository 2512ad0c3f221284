/*
 * The network of a communicator by the environment and MPI: the torus that its ranks form within the network of
 * TRIVANCE_TOPOLOGY_FILE or TRIVANCE_TORUS, their set of nodes if they form no torus, or the dimensions of a Cartesian
 * communicator.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_WIRING_H
#define TRIVANCE_MPI_COMMUNICATOR_WIRING_H

#include <stdbool.h>

#include "mpi/communicator/fit.h"
#include "mpi/communicator/members.h"
#include "mpi/node/node.h"

#define TRV_MPI_REASON_MAX 640

typedef enum trv_mpi_wiring_status {
    TRV_MPI_WIRING_TORUS,   /* the torus is known */
    TRV_MPI_WIRING_NODES,   /* the nodes are known and form no torus: the fit is a set of nodes */
    TRV_MPI_WIRING_MISFIT,  /* a network is set that the communicator does not fit, for example because its coordinates
                              have different numbers of ranks */
    TRV_MPI_WIRING_UNKNOWN, /* no network is set */
    TRV_MPI_WIRING_INVALID, /* the setting is invalid, or does not fit MPI_COMM_WORLD */
    TRV_MPI_WIRING_FAILED   /* no memory on this rank or on its node; ranks of other nodes may have another result */
} trv_mpi_wiring_status_t;

typedef struct trv_mpi_wiring {
    trv_mpi_wiring_status_t status;
    char reason[TRV_MPI_REASON_MAX]; /* the source, or the reason why no torus is known */
    trv_mpi_fit_t fit;               /* valid for TRV_MPI_WIRING_TORUS and TRV_MPI_WIRING_NODES */
    int coordinate;                  /* the coordinate of this rank */
    bool in_order;                   /* rank r has coordinate r */
    bool grid;                       /* a mesh, and only a Cartesian communicator defines it */
    bool shared;                     /* several ranks share a coordinate; the same on all ranks, whatever `status` is */
    trv_mpi_node_t *node;            /* if several ranks share every coordinate; else NULL */
    int *member;                     /* the rank in the domain at every coordinate; NULL: the same number */
} trv_mpi_wiring_t;

/* The topology record that each rank of a communicator sends during the initialization. */
typedef struct trv_mpi_topology_record {
    int32_t rank;       /* in the domain */
    int32_t coordinate; /* the coordinate in the network of the job; valid if code > 0 */
    int32_t code;       /* trv_mpi_world()->code, or TRV_ERR_STATE if the network is not known yet */
    int32_t taken;      /* whether the proposed block of context ids is taken */
    uint64_t digest;    /* trv_mpi_world()->digest */
} trv_mpi_topology_record_t;

/* Finds the network of a communicator. `record`: the topology record of every rank. All inputs are the same on all
 * ranks, and so is the result, except TRV_MPI_WIRING_FAILED. The ranks that share a coordinate create their shared
 * memory together, by messages with the tag `tag`; the rest of the function is local. */
void trv_mpi_wiring_init(trv_mpi_wiring_t *wiring, const trv_mpi_members_t *members,
                         const trv_mpi_topology_record_t *record, MPI_Comm user, int tag);

static inline bool trv_mpi_wiring_has_fit(const trv_mpi_wiring_t *wiring)
{
    return wiring->status == TRV_MPI_WIRING_TORUS || wiring->status == TRV_MPI_WIRING_NODES;
}

/* ---- Members, which own their wiring ----------------------------------------------------------------------------- */

/* Allocates members with one reference; `of` has an entry for every rank, to be filled. NULL: no memory, with the
 * message in trv_last_error(). */
trv_mpi_members_t *trv_mpi_members_create(int rank, int ranks);
void trv_mpi_members_hold(trv_mpi_members_t *members);
void trv_mpi_members_release(trv_mpi_members_t *members);

#endif
