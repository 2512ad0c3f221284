/*
 * Creates domains and allocates their blocks of context ids.
 */
#include "mpi/communicator/domain.h"

#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "mpi/communicator/exchange.h"
#include "mpi/communicator/job_fabric.h"
#include "transport/mpi/mpi_error.h"

#define BLOCKS_MAX 65536 /* 8 KiB of bits */

static _Atomic(trv_mpi_domain_t *) job;

trv_mpi_domain_t *trv_mpi_job_domain(void) { return atomic_load_explicit(&job, memory_order_acquire); }

void trv_mpi_job_domain_set(trv_mpi_domain_t *domain) { atomic_store_explicit(&job, domain, memory_order_release); }

/* ---- Creation and release ---------------------------------------------------------------------------------------- */

/* The number of blocks that MPI has tags for. MPI_TAG_UB is guaranteed to be an attribute of MPI_COMM_WORLD only. */
static int count_blocks(void)
{
    int *upper = NULL, found = 0;
    if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &found) != MPI_SUCCESS || !found)
        return 32767 / TRV_MPI_CONTEXT_TAGS / TRV_MPI_BLOCK_IDS; /* the minimum that MPI guarantees */
    int blocks = *upper / TRV_MPI_CONTEXT_TAGS / TRV_MPI_BLOCK_IDS;
    return blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX;
}

static int64_t new_id(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t id = trv_hash(TRV_HASH_SEED, &now, sizeof now);
    long process = (long)getpid(), host = gethostid();
    id = trv_hash(trv_hash(id, &process, sizeof process), &host, sizeof host);
    return (int64_t)(id & TRV_WORD_MAX) | 1;
}

/* Creates the domain's communicator. Collective: a rank calls it even if it has no memory for the rest. */
static int domain_create_comm(trv_mpi_domain_t *domain, MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    int code = PMPI_Comm_split(comm, 0, rank, &domain->comm); /* MPI_Comm_dup would run other libraries' callbacks */
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_errhandler(domain->comm, MPI_ERRORS_RETURN);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("creating Trivance's internal communicator", code);
    PMPI_Comm_rank(domain->comm, &domain->rank);
    PMPI_Comm_size(domain->comm, &domain->ranks);
    domain->blocks = count_blocks();
    domain->id = rank == 0 ? new_id() : 0;
    return TRV_OK;
}

static int domain_discard(trv_mpi_domain_t **created)
{
    trv_mpi_domain_release(*created);
    *created = NULL;
    return MPI_ERR_OTHER;
}

int trv_mpi_domain_create(trv_mpi_domain_t **created, MPI_Comm comm)
{
    trv_mpi_domain_t created_comm = {.comm = MPI_COMM_NULL}, *domain = calloc(1, sizeof *domain);
    int code = domain_create_comm(&created_comm, comm);
    uint64_t *reserved = calloc(BLOCKS_MAX / 64, sizeof *reserved);
    int64_t word[] = {code < 0 || !domain || !reserved, created_comm.id};
    if (code == TRV_OK && (!domain || !reserved))
        trv_fail_memory();
    int exchanged = trv_mpi_allreduce_max(comm, word, 2, "create Trivance's internal communicator");
    if (exchanged == MPI_SUCCESS && word[0] == 0) {
        *domain = created_comm;
        domain->id = word[1];
        domain->reserved = reserved;
        domain->reserved[0] = 1;
        atomic_init(&domain->references, 1);
        atomic_init(&domain->poisoned, false);
        pthread_mutex_init(&domain->lock, NULL);
        *created = domain;
        return trv_mpi_job_fabric_open(domain->comm, domain->rank, domain->ranks) < 0 ? domain_discard(created)
                                                                                      : MPI_SUCCESS;
    }
    if (code == TRV_OK && domain && reserved)
        trv_fail(TRV_ERR_MEMORY, "another rank could not create Trivance's internal communicator");
    if (created_comm.comm != MPI_COMM_NULL)
        PMPI_Comm_free(&created_comm.comm);
    free(domain);
    free(reserved);
    *created = NULL;
    return MPI_ERR_NO_MEM;
}

void trv_mpi_domain_hold(trv_mpi_domain_t *domain)
{
    atomic_fetch_add_explicit(&domain->references, 1, memory_order_relaxed);
}

void trv_mpi_domain_release(trv_mpi_domain_t *domain)
{
    if (!domain || atomic_fetch_sub_explicit(&domain->references, 1, memory_order_acq_rel) > 1)
        return;
    trv_mpi_job_fabric_leave(domain->comm);
    if (!atomic_load(&domain->poisoned))
        PMPI_Comm_free(&domain->comm);
    pthread_mutex_destroy(&domain->lock);
    free(domain->reserved);
    free(domain);
}

/* ---- Context ids ------------------------------------------------------------------------------------------------- */

int trv_mpi_block_propose(trv_mpi_domain_t *domain, int above)
{
    int block = above + 1;
    pthread_mutex_lock(&domain->lock);
    while (block < domain->blocks && domain->reserved[block / 64] >> (block % 64) & 1)
        block++;
    if (block < domain->blocks)
        domain->reserved[block / 64] |= (uint64_t)1 << (block % 64);
    pthread_mutex_unlock(&domain->lock);
    return block < domain->blocks ? block : domain->blocks;
}

bool trv_mpi_block_reserve(trv_mpi_domain_t *domain, int block)
{
    pthread_mutex_lock(&domain->lock);
    bool free_here = block < domain->blocks && !(domain->reserved[block / 64] >> (block % 64) & 1);
    if (free_here)
        domain->reserved[block / 64] |= (uint64_t)1 << (block % 64);
    pthread_mutex_unlock(&domain->lock);
    return free_here;
}

void trv_mpi_block_release(trv_mpi_domain_t *domain, int block)
{
    if (block >= domain->blocks)
        return;
    pthread_mutex_lock(&domain->lock);
    domain->reserved[block / 64] &= ~((uint64_t)1 << (block % 64));
    pthread_mutex_unlock(&domain->lock);
}
