/*
 * The fabrics of domains. All ranks of a domain's communicator open its fabric together; a list keeps it until
 * MPI_Finalize.
 */
#include "mpi/communicator/job_fabric.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "bootstrap/oob.h"
#include "base/error.h"
#include "mpi/communicator/exchange.h"
#include "mpi/communicator/world.h"
#include "mpi/reports/log.h"
#include "mpi/settings/job_settings.h"
#include "mpi/reports/watch.h"
#include "transport/mpi/fabric_channel.h"
#include "transport/mpi/waiting.h"

#ifdef TRIVANCE_LIBFABRIC

#include "transport/fabric/fabric.h"

/* The fabric of a domain. It stays open until MPI_Finalize, because until then other ranks may wait for messages that
 * are in flight. */
typedef struct job_fabric {
    MPI_Comm comm; /* the domain's; MPI_COMM_NULL after that was freed */
    MPI_Comm own;  /* of the same ranks, for the barrier in MPI_Finalize */
    trv_fabric_t *fabric;
    char reason[512];
    MPI_Request request;
    struct job_fabric *next;
} job_fabric_t;

static job_fabric_t *first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool paused;
static pthread_mutex_t reason_lock = PTHREAD_MUTEX_INITIALIZER; /* protects `reason` */

static trv_fabric_t *find(MPI_Comm comm)
{
    trv_fabric_t *found = NULL;
    pthread_mutex_lock(&lock);
    for (const job_fabric_t *at = first; at && !found && !paused; at = at->next)
        if (at->comm == comm)
            found = at->fabric;
    pthread_mutex_unlock(&lock);
    return found;
}

static void fail(void *context, const char *sentence)
{
    job_fabric_t *job = context;
    pthread_mutex_lock(&reason_lock);
    if (!*job->reason)
        snprintf(job->reason, sizeof job->reason, "%s", sentence);
    pthread_mutex_unlock(&reason_lock);
    trv_fabric_break(job->fabric);
}

static int give_reason(void *context)
{
    const job_fabric_t *job = context;
    pthread_mutex_lock(&reason_lock);
    const int code = trv_fail(TRV_ERR_TRANSPORT, "%s", job->reason);
    pthread_mutex_unlock(&reason_lock);
    return code;
}

/* ---- Out-of-band communication over the domain's communicator ---------------------------------------------------- */

static const char OPENING[] = "open libfabric";

static int oob_code(int code)
{
    return code == MPI_SUCCESS
               ? TRV_OK
               : trv_fail(TRV_ERR_TRANSPORT, "an MPI call failed while the ranks opened libfabric (error %d)", code);
}

static int oob_allreduce_max(void *context, int64_t *value)
{
    return oob_code(trv_mpi_allreduce_max(*(const MPI_Comm *)context, value, 1, OPENING));
}

static int oob_broadcast(void *context, void *data, size_t bytes, int root)
{
    return oob_code(trv_mpi_broadcast(*(const MPI_Comm *)context, data, bytes, root, OPENING));
}

static int oob_allgather(void *context, const void *mine, void *all, size_t bytes)
{
    return oob_code(trv_mpi_allgather(*(const MPI_Comm *)context, mine, all, bytes, OPENING));
}

static void clear(job_fabric_t *job)
{
    trv_fabric_close(job->fabric);
    if (job->own != MPI_COMM_NULL)
        PMPI_Comm_free(&job->own);
    free(job);
}

static void list_add(job_fabric_t *job)
{
    pthread_mutex_lock(&lock);
    job->next = first;
    first = job;
    pthread_mutex_unlock(&lock);
    trv_mpi_channel_set_fabric_lookup(find);
}

/* Opens the fabric of all ranks. Its ports are those of the world's torus, if that is known. */
static int open_fabric(job_fabric_t *job, const trv_oob_t *oob)
{
    const trv_mpi_world_t *world = trv_mpi_world();
    const trv_settings_t *settings = trv_mpi_settings();
    const bool has_coordinate = world && world->code == 1;
    const trv_fabric_options_t options = {.oob = *oob,
                                          .torus = has_coordinate ? world->network.torus : (trv_torus_t){0},
                                          .coordinate = has_coordinate ? world->coordinate : -1,
                                          .provider = settings->provider && *settings->provider ? settings->provider
                                                                                                : NULL,
                                          .ports = settings->ports && *settings->ports ? settings->ports : NULL,
                                          .fail = fail,
                                          .reason = give_reason,
                                          .context = job};
    int rc = trv_fabric_open(&job->fabric, &options);
    if (rc == TRV_OK && trv_mpi_log_enabled(TRV_DEBUG_INFO, oob->rank)) {
        char map[400];
        trv_fabric_describe(job->fabric, map, sizeof map);
        trv_mpi_log_line("TRIVANCE_TRANSPORT=ofi: rank %d sends %s (%s)", oob->rank, map,
                         trv_fabric_provider(job->fabric));
    }
    return rc;
}

static int open_job(MPI_Comm comm, int rank, int ranks)
{
    const trv_oob_t oob = {rank, ranks, oob_allreduce_max, oob_broadcast, oob_allgather, &comm};
    job_fabric_t *job = calloc(1, sizeof *job);
    int rc = trv_oob_agree(&oob, job ? TRV_OK : trv_fail_memory());
    if (rc < 0) {
        free(job);
        return rc;
    }
    job->comm = comm;
    job->own = MPI_COMM_NULL;
    rc = open_fabric(job, &oob);
    if (rc == TRV_OK) {
        const bool split = PMPI_Comm_split(comm, 0, rank, &job->own) == MPI_SUCCESS;
        rc = trv_oob_agree(&oob, split ? TRV_OK : trv_fail(TRV_ERR_TRANSPORT, "MPI has no communicator left"));
    }
    if (rc == TRV_OK)
        list_add(job);
    else
        clear(job);
    return rc;
}

int trv_mpi_job_fabric_open(MPI_Comm comm, int rank, int ranks)
{
    const int rc = trv_mpi_settings()->transport == TRV_TRANSPORT_OFI ? open_job(comm, rank, ranks) : TRV_OK;
    return rc < 0 ? trv_fail(rc, "TRIVANCE_TRANSPORT=ofi: %s", trv_last_error()) : TRV_OK;
}

unsigned trv_mpi_job_fabric_shared_paths(MPI_Comm comm, bool *one_path)
{
    const trv_fabric_t *fabric = find(comm);
    *one_path = false;
    return fabric ? trv_fabric_shared_paths(fabric, one_path) : 0;
}

void trv_mpi_job_fabric_pause(bool now)
{
    pthread_mutex_lock(&lock);
    paused = now;
    pthread_mutex_unlock(&lock);
}

void trv_mpi_job_fabric_leave(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    for (job_fabric_t *at = first; at; at = at->next)
        if (at->comm == comm)
            at->comm = MPI_COMM_NULL;
    pthread_mutex_unlock(&lock);
}

/* Makes progress on all fabrics; returns whether a rank has not entered the barrier of one yet. */
static bool poll_all(void)
{
    bool missing = false;
    for (job_fabric_t *at = first; at; at = at->next) {
        int there = 1;
        trv_fabric_poll(at->fabric);
        if (at->request != MPI_REQUEST_NULL && PMPI_Test(&at->request, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            at->request = MPI_REQUEST_NULL;
        missing = missing || at->request != MPI_REQUEST_NULL;
    }
    return missing;
}

static void describe_end(const void *context, char *text, size_t size)
{
    (void)context;
    snprintf(text, size, "MPI_Finalize; connections close when all ranks call it");
}

/* Makes progress on messages in flight until all ranks have entered the barriers, then closes the fabrics. */
void trv_mpi_job_fabric_end(void)
{
    const trv_mpi_waiting_t waiting = {.describe = describe_end};
    trv_watch_t watch = {0};
    trv_mpi_channel_set_fabric_lookup(NULL);
    for (job_fabric_t *at = first; at; at = at->next)
        if (PMPI_Ibarrier(at->own, &at->request) != MPI_SUCCESS)
            at->request = MPI_REQUEST_NULL;
    for (unsigned polls = 1; poll_all(); polls++) {
        trv_mpi_watch_poll(&watch, &waiting, polls);
        trv_mpi_pause(polls);
    }
    trv_mpi_watch_end(&watch, &waiting);
    while (first) {
        job_fabric_t *next = first->next;
        clear(first);
        first = next;
    }
}

#else

int trv_mpi_job_fabric_open(MPI_Comm comm, int rank, int ranks)
{
    (void)comm, (void)rank, (void)ranks;
    return trv_mpi_settings()->transport != TRV_TRANSPORT_OFI
               ? TRV_OK
               : trv_fail(TRV_ERR_UNSUPPORTED, "TRIVANCE_TRANSPORT=ofi: this Trivance was built without libfabric");
}

unsigned trv_mpi_job_fabric_shared_paths(MPI_Comm comm, bool *one_path)
{
    (void)comm;
    *one_path = false;
    return 0;
}

void trv_mpi_job_fabric_pause(bool now) { (void)now; }

void trv_mpi_job_fabric_leave(MPI_Comm comm) { (void)comm; }

void trv_mpi_job_fabric_end(void) {}

#endif
