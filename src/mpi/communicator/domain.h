/*
 * Domains: the library's internal communicators, on which all messages of schedules are sent.
 *
 * The job has one domain. It is created in MPI_Init (with the API: by the first call on a communicator of all ranks).
 * No domain is created later: its creation is collective, and inside a collective of the program ranks would wait for
 * each other in an order that the program did not choose. There is one exception: if the API is used on a communicator
 * before the job has a domain, this communicator and its duplicates have a separate one. The context id in its tag
 * assigns a message to one of the program's communicators:
 *
 *     tag = context id * TRV_MPI_CONTEXT_TAGS + position * TRV_MPI_POSITION_TAGS + tag within the plan
 *
 * Context ids are allocated in blocks. The ranks of a communicator agree on a block; its first context id is the
 * communicator's, and the others are for its duplicates, in the order of their creation, and for its persistent
 * requests. Block 0 is reserved for the domain.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_DOMAIN_H
#define TRIVANCE_MPI_COMMUNICATOR_DOMAIN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include "transport/mpi/channel.h"

#define TRV_MPI_CONTEXT_TAGS (TRV_MPI_POSITIONS * TRV_MPI_POSITION_TAGS)
#define TRV_MPI_BLOCK_IDS    8 /* context ids per block */

typedef struct trv_mpi_domain {
    MPI_Comm comm; /* errors are returned */
    int rank, ranks;
    int64_t id; /* the same on all its ranks, and different from that of other domains */
    atomic_int references;
    pthread_mutex_t lock; /* protects `reserved` */
    int blocks;           /* number of blocks; constant */
    uint64_t *reserved;   /* a bit for each block */
    atomic_bool poisoned; /* messages may be left that no rank receives */
} trv_mpi_domain_t;

/* Creates a domain for the ranks of `comm`, with one reference. Collective over `comm`. MPI_SUCCESS on all ranks, or an
 * error class on all ranks with the message in trv_last_error(). */
int trv_mpi_domain_create(trv_mpi_domain_t **domain, MPI_Comm comm);
void trv_mpi_domain_hold(trv_mpi_domain_t *domain);
/* Releases a reference. With the last one the communicator is freed, which is collective by the MPI standard but local
 * in both MPI libraries. A poisoned communicator is not freed: MPICH would reuse its context id for the next
 * communicator, which would then receive the messages that are left. */
void trv_mpi_domain_release(trv_mpi_domain_t *domain);

/* The job's domain, or NULL. It exists until MPI_Finalize. */
trv_mpi_domain_t *trv_mpi_job_domain(void);
void trv_mpi_job_domain_set(trv_mpi_domain_t *domain);

/* Reserves the lowest block above `above` that is free in this process, and returns it; domain->blocks if none is
 * left. */
int trv_mpi_block_propose(trv_mpi_domain_t *domain, int above);
/* Reserves this block; false if it is taken. All threads may call this function and the next one. */
bool trv_mpi_block_reserve(trv_mpi_domain_t *domain, int block);
void trv_mpi_block_release(trv_mpi_domain_t *domain, int block);

#endif
