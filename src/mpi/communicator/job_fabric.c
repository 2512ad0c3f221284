/*
 * Opening a domain's fabric. The settings are the same on all ranks; which provider serves is rank 0's to say. Whatever
 * fails on one rank ends all ranks' attempt.
 */
#include "mpi/communicator/job_fabric.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "mpi/communicator/exchange.h"
#include "mpi/communicator/places.h"
#include "mpi/reports/log.h"
#include "mpi/reports/job_settings.h"
#include "mpi/reports/watch.h"
#include "mpi/transport/over_fabric.h"
#include "mpi/transport/waiting.h"

#ifdef TRIVANCE_LIBFABRIC

#include "net/fabric/fabric.h"

enum { SENTENCE_MAX = 512, PROVIDER_MAX = 64, HOST_MAX = 256, RECORD_MAX = 1 << 14 };

/* One of a domain. It lives until MPI_Finalize: until then other ranks may wait for what is under way. */
typedef struct job_fabric {
    MPI_Comm comm; /* the domain's, as long as that lives */
    MPI_Comm own;  /* the same ranks, for the end */
    trv_fabric_t *fabric;
    uint8_t *records; /* of all ranks, where the fabric looks addresses up */
    char host[HOST_MAX];
    bool placed; /* every rank knows its place on the network */
    char reason[512];
    MPI_Request request;
    struct job_fabric *next;
} job_fabric_t;

/* The domain it is made for. */
typedef struct place {
    MPI_Comm comm;
    int rank, ranks;
} place_t;

static job_fabric_t *first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool paused;

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
    if (!*job->reason)
        snprintf(job->reason, sizeof job->reason, "%s", sentence);
    trv_fabric_break(job->fabric);
}

static int give_reason(void *context)
{
    const job_fabric_t *job = context;
    return trv_fail(TRV_ERR_TRANSPORT, "%s", job->reason);
}

/* Whether all ranks can go on. The last error is that of the first rank that cannot, on all of them. */
static int all_can(const place_t *domain, int code)
{
    static const char what[] = "open libfabric";
    char sentence[SENTENCE_MAX] = "";
    int64_t word = code < 0 ? domain->ranks - domain->rank : 0;
    if (trv_mpi_greatest(domain->comm, &word, 1, what) != MPI_SUCCESS)
        return trv_fail(TRV_ERR_TRANSPORT, "the ranks cannot tell each other whether libfabric serves");
    if (word == 0)
        return TRV_OK;
    const int who = domain->ranks - (int)word;
    if (domain->rank == who)
        snprintf(sentence, sizeof sentence, "%s", trv_last_error());
    if (trv_mpi_tell(domain->comm, sentence, sizeof sentence, who, what) != MPI_SUCCESS)
        return trv_fail(TRV_ERR_TRANSPORT, "rank %d cannot, nor tell the others why", who);
    sentence[sizeof sentence - 1] = '\0';
    code = code < 0 ? code : TRV_ERR_TRANSPORT;
    return strncmp(sentence, "rank ", 5) == 0 ? trv_fail(code, "%s", sentence) /* it says whose */
                                              : trv_fail(code, "rank %d: %s", who, sentence);
}

static int open_here(job_fabric_t *job, const place_t *domain, const char *provider, const char *parameters)
{
    const char *ports = trv_mpi_settings()->ports;
    const trv_fabric_options_t options = {.rank = domain->rank,
                                          .ranks = domain->ranks,
                                          .provider = *provider ? provider : NULL,
                                          .parameters = parameters,
                                          .ports = ports && *ports ? ports : NULL,
                                          .remote = !*provider,
                                          .fail = fail,
                                          .reason = give_reason,
                                          .context = job};
    return domain->ranks > 1 << TRV_RANKS_BITS
               ? trv_fail(TRV_ERR_UNSUPPORTED, "a job has at most %d ranks", 1 << TRV_RANKS_BITS)
               : trv_fabric_open(&job->fabric, &options);
}

/* Rank 0 first, whose provider and parameters hold. */
static int open_all(job_fabric_t *job, const place_t *domain)
{
    struct {
        char provider[PROVIDER_MAX], parameters[TRV_PARAMETERS_MAX];
    } first = {.provider = ""};
    int rc = TRV_OK;
    if (domain->rank == 0) {
        const char *wanted = trv_mpi_settings()->provider;
        rc = open_here(job, domain, wanted ? wanted : "", NULL);
        snprintf(first.provider, sizeof first.provider, "%s", rc == TRV_OK ? trv_fabric_provider(job->fabric) : "");
        snprintf(first.parameters, sizeof first.parameters, "%s", trv_fabric_parameters(NULL));
    }
    if (trv_mpi_tell(domain->comm, &first, sizeof first, 0, "open libfabric") != MPI_SUCCESS)
        rc = trv_fail(TRV_ERR_TRANSPORT, "rank 0 cannot tell the others which provider of libfabric serves");
    if (domain->rank != 0 && *first.provider)
        rc = open_here(job, domain, first.provider, first.parameters);
    return all_can(domain, rc);
}

/* ---- Exchanges --------------------------------------------------------------------------------------------------- */

typedef int read_t(job_fabric_t *job, int rank, trv_reader_t *reader);

/* Hands every rank's record to `read`; the records stay with the job until the next. */
static int exchange(job_fabric_t *job, const place_t *domain, trv_writer_t *writer, int code, read_t *read)
{
    int64_t room = writer->failed || writer->used > RECORD_MAX ? RECORD_MAX : (int64_t)writer->used;
    int rc = trv_mpi_greatest(domain->comm, &room, 1, "open libfabric") == MPI_SUCCESS ? code : TRV_ERR_TRANSPORT;
    uint8_t *mine = calloc(1, (size_t)room + 1);
    free(job->records);
    job->records = malloc((size_t)room * (size_t)domain->ranks + 1);
    if (rc == TRV_OK && (!mine || !job->records || writer->failed || writer->used > (size_t)room))
        rc = trv_fail_memory();
    if (rc == TRV_OK)
        memcpy(mine, writer->data, writer->used);
    rc = all_can(domain, rc);
    if (rc == TRV_OK &&
        trv_mpi_collect(domain->comm, mine, job->records, (size_t)room, "open libfabric") != MPI_SUCCESS)
        rc = trv_fail(TRV_ERR_TRANSPORT, "the ranks cannot exchange their addresses");
    for (int r = 0; rc == TRV_OK && r < domain->ranks; r++) {
        trv_reader_t reader = trv_reader(job->records + (size_t)r * (size_t)room, (size_t)room);
        rc = read(job, r, &reader);
    }
    trv_writer_clear(writer);
    free(mine);
    return all_can(domain, rc);
}

static int hear(job_fabric_t *job, int rank, trv_reader_t *reader)
{
    char host[HOST_MAX];
    trv_read_text(reader, host, sizeof host);
    const int place = (int)trv_read_number(reader) - 1;
    if (trv_fabric_is_local(job->fabric) && strcmp(host, job->host) != 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, "libfabric's provider %s serves one host only, and rank %d is on %s",
                        trv_fabric_provider(job->fabric), rank, host);
    job->placed = job->placed && place >= 0;
    return trv_fabric_hear(job->fabric, rank, host, place < 0 ? rank : place, reader);
}

static int learn(job_fabric_t *job, int rank, trv_reader_t *reader)
{
    return trv_fabric_learn(job->fabric, rank, reader);
}

/* The torus of the world's network where all know their places on it; else a ring. */
static int survey(job_fabric_t *job, int ranks)
{
    const trv_mpi_world_t *world = trv_mpi_world();
    trv_torus_t torus;
    if (job->placed)
        torus = world->network.torus;
    else if (trv_torus_init(&torus, 1, &ranks) < 0)
        return TRV_ERR_ARGUMENT;
    return trv_fabric_survey(job->fabric, &torus);
}

/* Which interface leads which way, and who is where. */
static int find_ways(job_fabric_t *job, const place_t *domain)
{
    const trv_mpi_world_t *world = trv_mpi_world();
    trv_writer_t writer = {.data = NULL};
    gethostname(job->host, sizeof job->host - 1);
    job->placed = true;
    trv_write_text(&writer, job->host);
    trv_write_number(&writer, world && world->code == 1 ? (uint32_t)world->place + 1 : 0);
    trv_fabric_offer(job->fabric, &writer);
    int rc = exchange(job, domain, &writer, TRV_OK, hear);
    if (rc < 0)
        return rc;
    rc = survey(job, domain->ranks);
    if (rc == TRV_OK)
        trv_fabric_describe(job->fabric, &writer);
    rc = exchange(job, domain, &writer, rc, learn);
    rc = rc < 0 ? rc : all_can(domain, trv_fabric_settle(job->fabric));
    if (rc == TRV_OK && trv_mpi_heard(TRV_DEBUG_INFO, domain->rank)) {
        char map[400];
        trv_fabric_tell(job->fabric, map, sizeof map);
        trv_mpi_say("TRIVANCE_TRANSPORT=ofi: rank %d sends %s (%s)", domain->rank, map,
                    trv_fabric_provider(job->fabric));
    }
    return rc;
}

static void clear(job_fabric_t *job)
{
    trv_fabric_close(job->fabric);
    if (job->own != MPI_COMM_NULL)
        PMPI_Comm_free(&job->own);
    free(job->records);
    free(job);
}

static void enlist(job_fabric_t *job)
{
    pthread_mutex_lock(&lock);
    job->next = first;
    first = job;
    pthread_mutex_unlock(&lock);
    trv_mpi_find_fabric(find);
}

static int open_job(const place_t *domain)
{
    job_fabric_t *job = calloc(1, sizeof *job);
    int rc = all_can(domain, job ? TRV_OK : trv_fail_memory());
    if (rc < 0) {
        free(job);
        return rc;
    }
    job->comm = domain->comm;
    job->own = MPI_COMM_NULL;
    rc = open_all(job, domain);
    if (rc == TRV_OK)
        rc = find_ways(job, domain);
    if (rc == TRV_OK && PMPI_Comm_split(domain->comm, 0, domain->rank, &job->own) != MPI_SUCCESS)
        rc = trv_fail(TRV_ERR_TRANSPORT, "MPI has no communicator left");
    rc = all_can(domain, rc);
    if (rc == TRV_OK)
        enlist(job);
    else
        clear(job);
    return rc;
}

int trv_mpi_job_fabric_open(MPI_Comm comm, int rank, int ranks)
{
    const place_t domain = {comm, rank, ranks};
    const int rc = trv_mpi_settings()->transport == TRV_TRANSPORT_OFI ? open_job(&domain) : TRV_OK;
    return rc < 0 ? trv_fail(rc, "TRIVANCE_TRANSPORT=ofi: %s", trv_last_error()) : TRV_OK;
}

unsigned trv_mpi_job_fabric_narrow(MPI_Comm comm, bool *one)
{
    const trv_fabric_t *fabric = find(comm);
    *one = false;
    return fabric ? trv_fabric_narrow(fabric, one) : 0;
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

/* Makes all progress; whether somebody is still to come. */
static bool await(void)
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

/* What is under way moves while all ranks come. */
void trv_mpi_job_fabric_end(void)
{
    const trv_mpi_waiting_t waiting = {.describe = describe_end};
    trv_mpi_watch_t watch = {0};
    trv_mpi_find_fabric(NULL);
    for (job_fabric_t *at = first; at; at = at->next)
        if (PMPI_Ibarrier(at->own, &at->request) != MPI_SUCCESS)
            at->request = MPI_REQUEST_NULL;
    for (unsigned polls = 1; await(); polls++) {
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

unsigned trv_mpi_job_fabric_narrow(MPI_Comm comm, bool *one)
{
    (void)comm;
    *one = false;
    return 0;
}

void trv_mpi_job_fabric_pause(bool now) { (void)now; }

void trv_mpi_job_fabric_leave(MPI_Comm comm) { (void)comm; }

void trv_mpi_job_fabric_end(void) {}

#endif
