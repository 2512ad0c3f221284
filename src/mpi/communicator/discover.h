/*
 * Discovery of the network in an MPI program, from what Slurm, Fujitsu MPI or PMIx report to its ranks
 * (topology/sources). One exchange: the ranks send their records to rank 0, which answers each with the network and the
 * coordinate of the rank.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_DISCOVER_H
#define TRIVANCE_MPI_COMMUNICATOR_DISCOVER_H

#include <stdbool.h>

#include <mpi.h>

#include "topology/sources/record.h"

/* Whether a source of coordinates is present on this rank. Local. */
bool trv_mpi_discovery_has_source(void);

/* The memory for the exchange. It is allocated before, because allocation can fail on a single rank. */
typedef struct trv_mpi_discovery {
    trv_rank_record_t *record;         /* of every rank; only on rank 0 */
    struct trv_mpi_location *location; /* the answer for every rank; only on rank 0 */
} trv_mpi_discovery_t;

/* Allocates memory. Local. False: no memory. */
bool trv_mpi_discovery_begin(trv_mpi_discovery_t *discovery, MPI_Comm comm);

/* The network that rank 0 has found. */
typedef struct trv_mpi_discovered {
    const char *source;
    trv_torus_t torus;
    int coordinate; /* of this rank */
    bool separate;  /* as in trv_found_t (topology/sources/sources.h) */
} trv_mpi_discovered_t;

/* Performs the exchange. Rank 0 logs the result, and sources that are not usable. Collective. Returns 1 if rank 0 has
 * found a network, 0 if not, the same on all ranks; or a negative code with the message in trv_last_error(). */
int trv_mpi_discovery_exchange(trv_mpi_discovery_t *discovery, MPI_Comm comm, trv_mpi_discovered_t *discovered);
void trv_mpi_discovery_end(trv_mpi_discovery_t *discovery);

/* On rank 0, after the exchange: the sentence about the network that was found, and those about sources that are not
 * usable, a line each. "" if there are none. */
#define TRV_MPI_UNUSABLE_MAX 2048
const char *trv_mpi_discovery_found(void);
const char *trv_mpi_discovery_unusable(void);

#endif
