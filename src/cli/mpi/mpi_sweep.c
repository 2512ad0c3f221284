/*
 * trivance-mpi sweep: the grid of `trivance sweep` on many ranks.
 *
 * Rank 0 reads the command line and owns the file. It broadcasts the lists of the grid, assigns points by their index
 * to each rank that requests some, and appends the rows that it receives. A second thread of rank 0, which never calls
 * MPI, simulates as the other ranks do:
 *
 *     rank r                               rank 0
 *     REQUEST          ------------------>
 *                      <------------------ POINTS  indices; an empty list ends the loop
 *     ROW              ------------------> appended
 *     ROW              ------------------> appended
 *     REQUEST …        ------------------>
 *     FAILED           ------------------> the error message, in place of the next REQUEST
 *
 * All ranks post one broadcast at the start. Rank 0 sends its verdict by it at the end, or as soon as something fails;
 * a rank that receives it early stops after its current point.
 */
#include "cli/mpi/mpi_sweep.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

#include "cli/shared/tool.h"
#include "json/json.h"
#include "cli/sweep/sweep.h"
#include "base/error.h"

enum { TAG_REQUEST = 1, TAG_POINTS, TAG_ROW, TAG_FAILED };
enum { STOPPED = 1 }; /* result of a callback that ends a run without an error of its own */

#define BATCH_MAX      64   /* points assigned in one message */
#define BATCHES_A_RANK 4    /* batches per rank into which the rest of the grid is divided */
#define SENTENCE_MAX   1024 /* maximum length of trv_last_error */

static void poll_pause(void) { nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); }

/* Polls with pauses instead of waiting inside MPI, because ranks may share cores with ranks that are simulating. */
static void request_wait(MPI_Request *request)
{
    int done = 0;
    for (;;) {
        PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        poll_pause();
    }
}

/* ---- Rank 0 ------------------------------------------------------------------------------------------------------ */

typedef struct server {
    cli_sweep_t *sweep;
    MPI_Comm comm;
    int ranks, requesting; /* number of ranks that will send REQUEST again */
    pthread_mutex_t lock;
    int rc; /* the first failure of any rank, and its error message */
    char sentence[SENTENCE_MAX];
    atomic_bool stopped, idle; /* a failure occurred; the thread has no more points */
    int verdict;
    bool verdict_sent; /* the broadcast of the verdict has started */
    MPI_Request verdict_request;
} server_t;

static void server_fail(server_t *server, int rc, const char *sentence)
{
    pthread_mutex_lock(&server->lock);
    if (!server->rc) {
        server->rc = rc;
        snprintf(server->sentence, sizeof server->sentence, "%s", sentence);
    }
    pthread_mutex_unlock(&server->lock);
    atomic_store(&server->stopped, true);
}

/* Takes the next points for one rank. Batches shrink, so that all ranks finish at about the same time. */
static size_t server_take(server_t *server, uint64_t index[BATCH_MAX])
{
    unsigned shares = (unsigned)server->ranks * BATCHES_A_RANK;
    return atomic_load(&server->stopped) ? 0 : cli_sweep_take(server->sweep, index, BATCH_MAX, shares);
}

static int server_add(server_t *server, const cli_sweep_result_t *result)
{
    int rc = cli_sweep_add(server->sweep, result);
    cli_progress_step(&server->sweep->progress, result->share);
    if (rc)
        server_fail(server, rc, trv_last_error());
    return rc;
}

static int server_add_own(void *context, size_t i, const cli_sweep_result_t *result)
{
    server_t *server = context;
    (void)i;
    return atomic_load(&server->stopped) ? STOPPED : server_add(server, result);
}

static void *server_simulate(void *context)
{
    server_t *server = context;
    uint64_t index[BATCH_MAX];
    size_t points;
    int rc = TRV_OK;
    while (!rc && (points = server_take(server, index)) > 0) {
        rc = cli_sweep_simulate(&server->sweep->grid, index, points, server->sweep->workers, server_add_own, server);
        if (rc < 0)
            server_fail(server, rc, trv_last_error());
    }
    atomic_store(&server->idle, true);
    return NULL;
}

static void server_answer(server_t *server, const MPI_Status *status)
{
    union {
        cli_sweep_result_t result;
        uint64_t index[BATCH_MAX];
        char sentence[SENTENCE_MAX];
    } message;
    int rank = status->MPI_SOURCE;
    PMPI_Recv(&message, sizeof message, MPI_BYTE, rank, status->MPI_TAG, server->comm, MPI_STATUS_IGNORE);
    if (status->MPI_TAG == TAG_ROW) {
        server_add(server, &message.result);
    } else if (status->MPI_TAG == TAG_FAILED) {
        server_fail(server, TRV_ERR_ARGUMENT, message.sentence);
        server->requesting--;
    } else {
        size_t points = server_take(server, message.index);
        server->requesting -= points == 0;
        PMPI_Send(message.index, (int)points, MPI_UINT64_T, rank, TAG_POINTS, server->comm);
    }
}

static void server_send_verdict(server_t *server)
{
    server->verdict = atomic_load(&server->stopped) ? CLI_BAD : cli_sweep_verdict(server->sweep);
    PMPI_Ibcast(&server->verdict, 1, MPI_INT, 0, server->comm, &server->verdict_request);
    server->verdict_sent = true;
}

static int server_run(cli_sweep_t *sweep, MPI_Comm comm, int ranks)
{
    server_t server = {.sweep = sweep, .comm = comm, .ranks = ranks, .requesting = ranks - 1};
    pthread_t thread;
    pthread_mutex_init(&server.lock, NULL);
    bool own = pthread_create(&thread, NULL, server_simulate, &server) == 0;
    if (!own)
        server_fail(&server, TRV_ERR_MEMORY, "the system cannot create a thread");
    while (server.requesting > 0 || (own && !atomic_load(&server.idle))) {
        MPI_Status status;
        int available = 0;
        if (atomic_load(&server.stopped) && !server.verdict_sent)
            server_send_verdict(&server);
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &available, &status);
        if (available)
            server_answer(&server, &status);
        else
            poll_pause();
    }
    if (own)
        pthread_join(thread, NULL);
    if (!server.verdict_sent)
        server_send_verdict(&server);
    request_wait(&server.verdict_request);
    pthread_mutex_destroy(&server.lock);
    return server.rc ? trv_fail(server.rc, "%s", server.sentence) : TRV_OK;
}

/* ---- The other ranks --------------------------------------------------------------------------------------------- */

typedef struct worker {
    cli_sweep_grid_t grid;
    MPI_Comm comm;
    int verdict;
    MPI_Request verdict_request;
} worker_t;

static bool verdict_arrived(worker_t *worker)
{
    int arrived = 0;
    PMPI_Request_get_status(worker->verdict_request, &arrived, MPI_STATUS_IGNORE);
    return arrived;
}

static int worker_send_row(void *context, size_t i, const cli_sweep_result_t *result)
{
    worker_t *worker = context;
    (void)i;
    if (verdict_arrived(worker))
        return STOPPED;
    PMPI_Send(result, sizeof *result, MPI_BYTE, 0, TAG_ROW, worker->comm);
    return TRV_OK;
}

static size_t worker_request_points(worker_t *worker, uint64_t index[BATCH_MAX])
{
    MPI_Request reply;
    MPI_Status status;
    int points = 0, done = 0;
    PMPI_Irecv(index, BATCH_MAX, MPI_UINT64_T, 0, TAG_POINTS, worker->comm, &reply);
    PMPI_Send(NULL, 0, MPI_BYTE, 0, TAG_REQUEST, worker->comm);
    while (PMPI_Test(&reply, &done, &status), !done)
        poll_pause();
    PMPI_Get_count(&status, MPI_UINT64_T, &points);
    return (size_t)points;
}

static int worker_run(const char *lists, int workers, MPI_Comm comm)
{
    worker_t worker = {.comm = comm};
    uint64_t index[BATCH_MAX];
    size_t points;
    trv_json_t json = {.root = NULL};
    PMPI_Ibcast(&worker.verdict, 1, MPI_INT, 0, comm, &worker.verdict_request);
    int rc = trv_json_parse(&json, "the lists of rank 0", lists, strlen(lists));
    if (!rc)
        rc = cli_sweep_grid_load(&worker.grid, &json);
    if (!rc)
        rc = cli_sweep_grid_finish(&worker.grid);
    while (rc >= 0 && (points = worker_request_points(&worker, index)) > 0)
        rc = cli_sweep_simulate(&worker.grid, index, points, workers, worker_send_row, &worker);
    if (rc < 0)
        PMPI_Send(trv_last_error(), (int)strlen(trv_last_error()) + 1, MPI_CHAR, 0, TAG_FAILED, comm);
    request_wait(&worker.verdict_request);
    cli_sweep_grid_clear(&worker.grid);
    trv_json_close(&json);
    return worker.verdict;
}

/* ---- The whole program ------------------------------------------------------------------------------------------- */

/* The first broadcast of rank 0: the result of reading the command line. The lists follow it. */
typedef struct sweep_start {
    int code, workers;
    int size; /* of the lists as JSON, the terminating 0 included */
} sweep_start_t;

static int run_rank_0(int argc, char **argv, int threads, MPI_Comm comm, int ranks)
{
    static cli_sweep_t sweep;
    sweep_start_t start = {.code = cli_sweep_begin(&sweep, argc, argv)};
    char *lists = start.code ? NULL : cli_sweep_grid_dump(&sweep.grid);
    if (!start.code && !lists)
        start.code = cli_bad(argv[0], "out of memory");
    if (sweep.workers == 0 || threads < MPI_THREAD_SERIALIZED)
        sweep.workers = 1; /* ranks share the cores of their machine */
    start.workers = sweep.workers;
    start.size = lists ? (int)strlen(lists) + 1 : 0;
    PMPI_Bcast(&start, sizeof start, MPI_BYTE, 0, comm);
    int rc = TRV_OK;
    if (!start.code) {
        PMPI_Bcast(lists, start.size, MPI_CHAR, 0, comm);
        rc = server_run(&sweep, comm, ranks);
    }
    free(lists);
    int end = cli_sweep_end(&sweep, rc);
    return start.code == 1 ? CLI_OK : start.code ? start.code : end;
}

static int run_other(MPI_Comm comm)
{
    sweep_start_t start;
    PMPI_Bcast(&start, sizeof start, MPI_BYTE, 0, comm);
    if (start.code)
        return start.code == 1 ? CLI_OK : start.code;
    char *lists = malloc((size_t)start.size);
    if (!lists) {
        cli_bad("sweep", "out of memory");
        PMPI_Abort(comm, CLI_BAD);
    }
    PMPI_Bcast(lists, start.size, MPI_CHAR, 0, comm);
    int code = worker_run(lists, start.workers, comm);
    free(lists);
    return code;
}

int sweep_main(int argc, char **argv, int threads)
{
    MPI_Comm comm;
    int rank = 0, ranks = 1;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    int code = rank == 0 ? run_rank_0(argc, argv, threads, comm, ranks) : run_other(comm);
    PMPI_Comm_free(&comm);
    return code;
}
