/*
 * Domains: the communicators of our own, on which all messages of schedules travel.
 *
 * One serves the whole job: it is made in MPI_Init (in the API: by the first call on a communicator of all ranks), and
 * no other is made later, because making one inside a program's collective waits for ranks in an order that the program
 * never chose. The program's communicators are told apart by numbers in the tags. Only where the API is used on a
 * communicator before there is one for all has that communicator, with its duplicates, a domain to itself.
 *
 *     tag = number * TRV_MPI_NUMBER_TAGS + position * TRV_MPI_POSITION_TAGS + the plan's own
 *
 * Numbers are given out in blocks: the first of a block is the communicator's that the members agreed on, the others
 * are for its duplicates, in the order in which they are made, and for its persistent requests. Block 0 is the domain's
 * own.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_DOMAIN_H
#define TRIVANCE_MPI_COMMUNICATOR_DOMAIN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include "transport/mpi/channel.h"

#define TRV_MPI_NUMBER_TAGS (TRV_MPI_POSITIONS * TRV_MPI_POSITION_TAGS)
#define TRV_MPI_BLOCK       8 /* numbers */

typedef struct trv_mpi_domain {
    MPI_Comm comm; /* errors are returned */
    int rank, ranks;
    int64_t id; /* the same on all its ranks, and no other domain's */
    atomic_int references;
    pthread_mutex_t lock; /* of the two below */
    int blocks;
    uint64_t *taken;   /* a bit for each block */
    atomic_bool burnt; /* messages may be left that nobody receives */
} trv_mpi_domain_t;

/* Collective over `comm`, whose ranks it is made for. MPI_SUCCESS, or an error class, on all ranks alike, with the
 * sentence. It is held once. */
int trv_mpi_domain_create(trv_mpi_domain_t **domain, MPI_Comm comm);
void trv_mpi_domain_hold(trv_mpi_domain_t *domain);
/* The last one frees its communicator (collective in MPI's books, local in both libraries). One that is burnt
 * stays: MPICH gives its number to the next communicator, which would receive what is left. */
void trv_mpi_domain_release(trv_mpi_domain_t *domain);

/* The job's domain, or NULL. It is held until the end. */
trv_mpi_domain_t *trv_mpi_job(void);
void trv_mpi_job_set(trv_mpi_domain_t *domain);

/* Takes the lowest free block above `above` for this process, and returns it; domain->blocks where none is left. */
int trv_mpi_block_propose(trv_mpi_domain_t *domain, int above);
/* Takes this block, false: it is taken. Any thread. */
bool trv_mpi_block_take(trv_mpi_domain_t *domain, int block);
void trv_mpi_block_give_back(trv_mpi_domain_t *domain, int block);

#endif
