/*
 * trivance sweep on one machine; under an MPI launcher it executes the program of that MPI.
 *
 * A separate thread waits for SIGINT and SIGTERM, and ends the process between two rows.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/subcommands.h"
#include "cli/shared/tool.h"
#include "cli/host/handover.h"
#include "cli/sweep/sweep.h"
#include "base/error.h"

#define CHUNK 4096 /* points in memory at a time */

/* ---- Interruption ------------------------------------------------------------------------------------------------ */

static sigset_t interruptions(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

static void *end_when_interrupted(void *context)
{
    cli_sweep_t *sweep = context;
    sigset_t set = interruptions();
    struct timespec soon;
    int signal = 0;
    sigwait(&set, &signal);
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec++;
    /* A thread that holds the lock for longer than a second is blocked by a reader of the output that does not read. */
    if (pthread_mutex_timedlock(&sweep->lock, &soon) == 0) {
        uint64_t all = cli_sweep_points(&sweep->grid), pending = cli_sweep_pending(sweep);
        cli_progress_end(&sweep->progress);
        cli_sweep_rows_close(&sweep->rows);
        if (sweep->path)
            cli_bad(sweep->command,
                    "interrupted after %" PRIu64 " of %" PRIu64
                    " points; the same command continues after the last row of '%s'",
                    all - pending, all, sweep->path);
        else
            cli_bad(sweep->command,
                    "interrupted after %" PRIu64 " of %" PRIu64
                    " points; with -o FILE.csv rows are kept, and the same command continues after the last one",
                    all - pending, all);
    }
    _exit(128 + signal);
}

/* Blocks the signals in all threads and starts the thread that waits for them. */
static void watch_signals(cli_sweep_t *sweep)
{
    pthread_t thread;
    sigset_t set = interruptions();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pthread_create(&thread, NULL, end_when_interrupted, sweep) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

typedef struct chunk {
    cli_sweep_t *sweep;
    cli_sweep_result_t *kept; /* results for a table, which is printed in the order of the grid; otherwise NULL */
} chunk_t;

static int done(void *context, size_t i, const cli_sweep_result_t *result)
{
    chunk_t *chunk = context;
    cli_progress_step(&chunk->sweep->progress, result->share);
    if (!chunk->kept)
        return cli_sweep_add(chunk->sweep, result);
    chunk->kept[i] = *result;
    return TRV_OK;
}

static int run(cli_sweep_t *sweep)
{
    chunk_t chunk = {.sweep = sweep};
    uint64_t *index = malloc(CHUNK * sizeof *index);
    size_t points;
    if (sweep->format == CLI_FORMAT_TABLE)
        chunk.kept = malloc(CHUNK * sizeof *chunk.kept);
    int rc = index && (chunk.kept || sweep->format != CLI_FORMAT_TABLE) ? TRV_OK : trv_fail_memory();
    while (!rc && (points = cli_sweep_take(sweep, index, CHUNK, 1)) > 0) {
        rc = cli_sweep_simulate(&sweep->grid, index, points, sweep->workers, done, &chunk);
        for (size_t i = 0; chunk.kept && i < points && !rc; i++)
            rc = cli_sweep_add(sweep, &chunk.kept[i]);
    }
    free(chunk.kept);
    free(index);
    return rc;
}

int cli_sweep(int argc, char **argv)
{
    static cli_sweep_t sweep;
    const char *mpi = cli_launcher();
    if (mpi)
        return cli_hand_over(mpi, argv);
    int code = cli_sweep_begin(&sweep, argc, argv), rc = TRV_OK;
    if (code == 0) {
        watch_signals(&sweep);
        rc = run(&sweep);
        pthread_mutex_lock(&sweep.lock); /* from here on no interruption */
    }
    int end = cli_sweep_end(&sweep, rc);
    return code == 1 ? CLI_OK : code ? code : end;
}
