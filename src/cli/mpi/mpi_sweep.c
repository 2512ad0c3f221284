/*
 * trivance-mpi sweep: the grid of `trivance sweep` on many ranks.
 *
 * Rank 0 reads the command line and owns the file. It broadcasts the lists of the grid, assigns points by their index
 * to each rank that requests some, and appends the rows that it receives. A second thread of rank 0, which never calls
 * MPI, simulates as the other ranks do:
 *
 *     rank r                               rank 0
 *     ASK              ------------------>
 *                      <------------------ POINTS  indices; an empty list ends the loop
 *     ROW              ------------------> appended
 *     ROW              ------------------> appended
 *     ASK …            ------------------>
 *     FAILED           ------------------> the error message, in place of the next ASK
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

enum { TAG_ASK = 1, TAG_POINTS, TAG_ROW, TAG_FAILED };
enum { STOPPED = 1 }; /* result of a callback that ends a run without an error of its own */

#define BATCH_MAX      64   /* points assigned in one message */
#define BATCHES_A_RANK 4    /* batches per rank into which the rest of the grid is divided */
#define SENTENCE_MAX   1024 /* maximum length of trv_last_error */

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); }

/* Polls with pauses instead of waiting inside MPI, because ranks may share cores with ranks that are simulating. */
static void wait_for(MPI_Request *request)
{
    int done = 0;
    for (;;) {
        PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nap();
    }
}

/* ---- Rank 0 ------------------------------------------------------------------------------------------------------ */

typedef struct server {
    cli_sweep_t *sweep;
    MPI_Comm comm;
    int ranks, asking; /* number of ranks that will send ASK again */
    pthread_mutex_t lock;
    int rc; /* the first failure of any rank, and its error message */
    char sentence[SENTENCE_MAX];
    atomic_bool stopped, idle; /* a failure occurred; the thread has no more points */
    int verdict;
    bool told; /* the broadcast of the verdict has started */
    MPI_Request telling;
} server_t;

static void fail(server_t *server, int rc, const char *sentence)
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
static size_t take(server_t *server, uint64_t index[BATCH_MAX])
{
    unsigned shares = (unsigned)server->ranks * BATCHES_A_RANK;
    return atomic_load(&server->stopped) ? 0 : cli_sweep_take(server->sweep, index, BATCH_MAX, shares);
}

static int add(server_t *server, const cli_sweep_result_t *result)
{
    int rc = cli_sweep_add(server->sweep, result);
    cli_progress_step(&server->sweep->progress, result->share);
    if (rc)
        fail(server, rc, trv_last_error());
    return rc;
}

static int add_own(void *context, size_t i, const cli_sweep_result_t *result)
{
    server_t *server = context;
    (void)i;
    return atomic_load(&server->stopped) ? STOPPED : add(server, result);
}

static void *simulate_own(void *context)
{
    server_t *server = context;
    uint64_t index[BATCH_MAX];
    size_t points;
    int rc = TRV_OK;
    while (!rc && (points = take(server, index)) > 0) {
        rc = cli_sweep_simulate(&server->sweep->grid, index, points, server->sweep->workers, add_own, server);
        if (rc < 0)
            fail(server, rc, trv_last_error());
    }
    atomic_store(&server->idle, true);
    return NULL;
}

static void answer(server_t *server, const MPI_Status *status)
{
    union {
        cli_sweep_result_t result;
        uint64_t index[BATCH_MAX];
        char sentence[SENTENCE_MAX];
    } message;
    int rank = status->MPI_SOURCE;
    PMPI_Recv(&message, sizeof message, MPI_BYTE, rank, status->MPI_TAG, server->comm, MPI_STATUS_IGNORE);
    if (status->MPI_TAG == TAG_ROW) {
        add(server, &message.result);
    } else if (status->MPI_TAG == TAG_FAILED) {
        fail(server, TRV_ERR_ARGUMENT, message.sentence);
        server->asking--;
    } else {
        size_t points = take(server, message.index);
        server->asking -= points == 0;
        PMPI_Send(message.index, (int)points, MPI_UINT64_T, rank, TAG_POINTS, server->comm);
    }
}

static void tell(server_t *server)
{
    server->verdict = atomic_load(&server->stopped) ? CLI_BAD : cli_sweep_verdict(server->sweep);
    PMPI_Ibcast(&server->verdict, 1, MPI_INT, 0, server->comm, &server->telling);
    server->told = true;
}

static int serve(cli_sweep_t *sweep, MPI_Comm comm, int ranks)
{
    server_t server = {.sweep = sweep, .comm = comm, .ranks = ranks, .asking = ranks - 1};
    pthread_t thread;
    pthread_mutex_init(&server.lock, NULL);
    bool own = pthread_create(&thread, NULL, simulate_own, &server) == 0;
    if (!own)
        fail(&server, TRV_ERR_MEMORY, "no thread could be started");
    while (server.asking > 0 || (own && !atomic_load(&server.idle))) {
        MPI_Status status;
        int there = 0;
        if (atomic_load(&server.stopped) && !server.told)
            tell(&server);
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, &status);
        if (there)
            answer(&server, &status);
        else
            nap();
    }
    if (own)
        pthread_join(thread, NULL);
    if (!server.told)
        tell(&server);
    wait_for(&server.telling);
    pthread_mutex_destroy(&server.lock);
    return server.rc ? trv_fail(server.rc, "%s", server.sentence) : TRV_OK;
}

/* ---- The other ranks --------------------------------------------------------------------------------------------- */

typedef struct helper {
    cli_sweep_grid_t grid;
    MPI_Comm comm;
    int verdict;
    MPI_Request hearing;
} helper_t;

static bool told_to_stop(helper_t *helper)
{
    int told = 0;
    PMPI_Request_get_status(helper->hearing, &told, MPI_STATUS_IGNORE);
    return told;
}

static int send_row(void *context, size_t i, const cli_sweep_result_t *result)
{
    helper_t *helper = context;
    (void)i;
    if (told_to_stop(helper))
        return STOPPED;
    PMPI_Send(result, sizeof *result, MPI_BYTE, 0, TAG_ROW, helper->comm);
    return TRV_OK;
}

static size_t ask(helper_t *helper, uint64_t index[BATCH_MAX])
{
    MPI_Request answer;
    MPI_Status status;
    int points = 0, done = 0;
    PMPI_Irecv(index, BATCH_MAX, MPI_UINT64_T, 0, TAG_POINTS, helper->comm, &answer);
    PMPI_Send(NULL, 0, MPI_BYTE, 0, TAG_ASK, helper->comm);
    while (PMPI_Test(&answer, &done, &status), !done)
        nap();
    PMPI_Get_count(&status, MPI_UINT64_T, &points);
    return (size_t)points;
}

static int help(const char *lists, int workers, MPI_Comm comm)
{
    helper_t helper = {.comm = comm};
    uint64_t index[BATCH_MAX];
    size_t points;
    trv_json_t json = {.root = NULL};
    PMPI_Ibcast(&helper.verdict, 1, MPI_INT, 0, comm, &helper.hearing);
    int rc = trv_json_parse(&json, "the lists of rank 0", lists, strlen(lists));
    if (!rc)
        rc = cli_sweep_grid_load(&helper.grid, &json);
    if (!rc)
        rc = cli_sweep_grid_finish(&helper.grid);
    while (rc >= 0 && (points = ask(&helper, index)) > 0)
        rc = cli_sweep_simulate(&helper.grid, index, points, workers, send_row, &helper);
    if (rc < 0)
        PMPI_Send(trv_last_error(), (int)strlen(trv_last_error()) + 1, MPI_CHAR, 0, TAG_FAILED, comm);
    wait_for(&helper.hearing);
    cli_sweep_grid_clear(&helper.grid);
    trv_json_close(&json);
    return helper.verdict;
}

/* ---- The whole program ------------------------------------------------------------------------------------------- */

/* The first broadcast of rank 0: the result of reading the command line. The lists follow it. */
typedef struct opening {
    int code, workers;
    int size; /* of the lists as JSON, the terminating 0 included */
} opening_t;

static int run_first(int argc, char **argv, int threads, MPI_Comm comm, int ranks)
{
    static cli_sweep_t sweep;
    opening_t opening = {.code = cli_sweep_begin(&sweep, argc, argv)};
    char *lists = opening.code ? NULL : cli_sweep_grid_dump(&sweep.grid);
    if (!opening.code && !lists)
        opening.code = cli_bad(argv[0], "out of memory");
    if (sweep.workers == 0 || threads < MPI_THREAD_SERIALIZED)
        sweep.workers = 1; /* ranks share the cores of their machine */
    opening.workers = sweep.workers;
    opening.size = lists ? (int)strlen(lists) + 1 : 0;
    PMPI_Bcast(&opening, sizeof opening, MPI_BYTE, 0, comm);
    int rc = TRV_OK;
    if (!opening.code) {
        PMPI_Bcast(lists, opening.size, MPI_CHAR, 0, comm);
        rc = serve(&sweep, comm, ranks);
    }
    free(lists);
    int end = cli_sweep_end(&sweep, rc);
    return opening.code == 1 ? CLI_OK : opening.code ? opening.code : end;
}

static int run_other(MPI_Comm comm)
{
    opening_t opening;
    PMPI_Bcast(&opening, sizeof opening, MPI_BYTE, 0, comm);
    if (opening.code)
        return opening.code == 1 ? CLI_OK : opening.code;
    char *lists = malloc((size_t)opening.size);
    if (!lists) {
        cli_bad("sweep", "out of memory");
        PMPI_Abort(comm, CLI_BAD);
    }
    PMPI_Bcast(lists, opening.size, MPI_CHAR, 0, comm);
    int code = help(lists, opening.workers, comm);
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
    int code = rank == 0 ? run_first(argc, argv, threads, comm, ranks) : run_other(comm);
    PMPI_Comm_free(&comm);
    return code;
}
