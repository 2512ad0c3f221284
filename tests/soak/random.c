/*
 * Random programs. They draw all calls that MPI allows and that Trivance may execute. Every result is compared with one
 * that is computed locally, and results that all ranks have are compared bit by bit between ranks. An ordinary MPI
 * program: run it with a preload library or a component of the MPI library. If it is compiled with SOAK_TRV, it calls
 * the TRV_ functions instead.
 *
 *     mpirun -n 4 random [--seed N] [--calls N] [--threads N] [--no-hints]
 *
 * All ranks draw the same numbers, so they make the same calls in the same order, each on the communicators of which it
 * is a member. A circular wait is therefore impossible in whatever order an MPI library works. With --threads, each
 * thread has a program and communicators of its own. `window` calls follow one another directly; then each rank
 * completes the requests in its own order, and all results are checked.
 *
 * A call is counted once, whatever the number of its ranks. The exit code is 1, and the first few differences are
 * described, if a result was wrong, nothing was compared, or nothing was completed for PATIENCE seconds.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "complete.h"

#define WINDOW      16
#define THREADS_MAX 8
#define PATIENCE    60

/* Legal actions that fail without Trivance, too. Open MPI 4.1 crashes in requests whose communicator is freed. It
 * also sometimes hangs when several threads create communicators at the same time, even those of all ranks, so there
 * all communicators are created before the threads start, and kept. MPICH 4.0 loses references, and gathers the
 * previous data again, when a persistent collective is started for the second time. */
#ifdef OPEN_MPI
static const bool may_outlive = false, may_restart = true, may_make_parts = false;
#else
static const bool may_outlive = true, may_restart = false, may_make_parts = true;
#endif

/* Record of a call that a rank sends to rank 0: empty (member = 0) if the rank is not a member of the communicator. */
typedef struct record {
    uint64_t member, hash; /* member: 1 + the leader of the communicator */
    double entered, left;
} record_t;

typedef struct worker {
    int id;
    pthread_t thread;
    comms_t comms;
    call_t call[WINDOW];
    bool pending[WINDOW];
    record_t record[WINDOW];
    int position, window;
    draw_t private; /* differs between ranks */
    long compared, wrong;
    atomic_long number; /* of the latest call */
} worker_t;

static worker_t worker[THREADS_MAX];
static int world_rank, world_size, threads = 1;
static long calls = 300;
static uint64_t seed = 1;

static void complain(worker_t *w, const char *text)
{
    static atomic_int said;
    w->wrong++;
    if (atomic_fetch_add(&said, 1) < 5)
        fprintf(stderr, "rank %d, seed %llu, thread %d, before call %ld: %s\n", world_rank, (unsigned long long)seed,
                w->id, atomic_load(&w->number), text);
}

static void on_alarm(int signal)
{
    (void)signal;
    char text[256];
    int length = snprintf(text, sizeof text, "rank %d, seed %llu: no call was completed for %d s, in call", world_rank,
                          (unsigned long long)seed, PATIENCE);
    for (int t = 0; t < threads; t++)
        length += snprintf(text + length, sizeof text - (size_t)length, " %ld of thread %d;",
                           atomic_load(&worker[t].number), t);
    text[length - 1] = '\n';
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(2);
    _exit(1);
}

/* ---- Completion of calls ----------------------------------------------------------------------------------------- */

static void expect_success(worker_t *w, int at, int code)
{
    char text[500];
    if (code == MPI_SUCCESS)
        return;
    call_describe(&w->call[at], text, sizeof text, "the function returned an error");
    complain(w, text);
}

static void check(worker_t *w, int at)
{
    char text[500];
    if (call_check(&w->call[at], text, sizeof text))
        complain(w, text);
}

static void retire(worker_t *w, int at)
{
    call_t *call = &w->call[at];
    w->record[at] = (record_t){1 + (uint64_t)call->leader, call->hash, call->entered, call->left};
    w->compared += call->leader == world_rank;
    if (call->form == PERSISTENT)
        CALL(Request_free)(&call->request);
    call_free(call);
    w->pending[at] = false;
}

/* Called before the communicator is freed: completes persistent calls, and leaves others outstanding where that is
 * allowed. */
static void detach(worker_t *w, const comm_t *comm)
{
    for (int i = 0; i < w->position; i++) {
        call_t *call = &w->call[i];
        if (!w->pending[i] || call->comm != comm)
            continue;
        call->comm = NULL;
        if (call->form == BLOCKING || (call->form == NONBLOCKING && may_outlive))
            continue;
        expect_success(w, i, request_wait(&call->request));
        check(w, i);
        retire(w, i);
    }
}

/* Rank 0 compares the records of all ranks. */
static void compare_ranks(worker_t *w)
{
    int bytes = w->position * (int)sizeof(record_t);
    record_t *all = world_rank == 0 ? malloc((size_t)world_size * (size_t)bytes) : NULL;
    PMPI_Gather(w->record, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, w->comms.home);
    for (int i = 0; all && i < w->position; i++)
        for (int a = 0; a < world_size; a++)
            for (int b = 0; b < world_size; b++) {
                const record_t *one = &all[a * w->position + i], *other = &all[b * w->position + i];
                if (one->member == 0 || one->member != other->member)
                    continue;
                if (a < b && one->hash != other->hash)
                    complain(w, "not the same bits on all ranks of a communicator");
                if (one->left < other->entered)
                    complain(w, "a rank left a barrier before another rank entered it");
            }
    free(all);
}

static void complete_all(worker_t *w, bool persistent_only, int way)
{
    request_t *request[WINDOW];
    int count = 0;
    for (int i = 0; i < w->position; i++)
        if (w->pending[i] && w->call[i].form != BLOCKING && (!persistent_only || w->call[i].form == PERSISTENT))
            request[count++] = &w->call[i].request;
    if (!complete(request, count, way, &w->private, w->comms.home))
        complain(w, "a communicator that was created while requests were completed has a wrong sum");
}

/* Starts persistent calls once more, with other values. */
static void run_again(worker_t *w, int way)
{
    int again = 0;
    for (int i = 0; i < w->position; i++) {
        call_t *call = &w->call[i];
        if (!w->pending[i] || call->form != PERSISTENT)
            continue;
        call->round++;
        call_fill(call);
        expect_success(w, i, CALL(Start)(&call->request));
        again++;
    }
    if (again == 0 && way < COMPLETE_BESIDE)
        return;
    complete_all(w, true, way);
    for (int i = 0; i < w->position; i++)
        if (w->pending[i] && w->call[i].form == PERSISTENT)
            check(w, i);
}

static void settle(worker_t *w, draw_t *draw)
{
    int ways = threads > 1 && !w->comms.whole ? COMPLETE_WAYS : COMPLETE_BESIDE;
    bool again = draw_once_in(draw, 2) && may_restart;
    int way = draw_below(draw, ways), second_way = draw_below(draw, ways);
    complete_all(w, false, way);
    for (int i = 0; i < w->position; i++)
        if (w->pending[i])
            check(w, i);
    if (again)
        run_again(w, second_way);
    for (int i = 0; i < w->position; i++)
        if (w->pending[i])
            retire(w, i);
    compare_ranks(w);
    memset(w->record, 0, sizeof w->record);
    w->position = 0;
    w->window = 1 + draw_below(draw, WINDOW);
    alarm(PATIENCE);
}

/* ---- A program --------------------------------------------------------------------------------------------------- */

static void renew(worker_t *w, int slot, draw_t *draw)
{
    detach(w, &w->comms.slot[slot]);
    comms_drop(&w->comms, slot);
    comms_make(&w->comms, slot, draw);
}

static void one_call(worker_t *w, draw_t *draw)
{
    const comm_t *on = &w->comms.slot[draw_below(draw, SLOTS)];
    int at = w->position++;
    if (on->comm == MPI_COMM_NULL)
        return;
    w->call[at] = call_draw(draw, on);
    w->pending[at] = true;
    expect_success(w, at, call_post(&w->call[at]));
    if (w->call[at].form == PERSISTENT)
        expect_success(w, at, CALL(Start)(&w->call[at].request));
}

static void *run_worker(void *context)
{
    worker_t *w = context;
    w->private = draw_begin(seed, (uint64_t)w->id, (uint64_t)world_rank);
    w->window = 1;
    for (long n = 0; n < calls; n++) {
        draw_t draw = draw_begin(seed, (uint64_t)w->id, (uint64_t)n),
               end = draw_begin(seed, 2000 + (uint64_t)w->id, (uint64_t)n);
        atomic_store(&w->number, n);
        if (draw_once_in(&draw, 8) && !w->comms.whole)
            renew(w, draw_below(&draw, SLOTS), &end);
        one_call(w, &draw);
        if (w->position == w->window || n + 1 == calls)
            settle(w, &end);
    }
    return NULL;
}

static void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(value, NULL, 10);
        if (strcmp(argv[i], "--calls") == 0)
            calls = strtol(value, NULL, 10);
        if (strcmp(argv[i], "--threads") == 0)
            threads = atoi(value) < 1 ? 1 : atoi(value) > THREADS_MAX ? THREADS_MAX : atoi(value);
        for (int t = 0; t < THREADS_MAX; t++)
            worker[t].comms.plain = worker[t].comms.plain || strcmp(argv[i], "--no-hints") == 0;
    }
}

static void run_workers(void)
{
    for (int t = 0; t < threads; t++) {
        worker[t].id = t;
        comms_begin(&worker[t].comms);
        draw_t draw = draw_begin(seed, 1000 + (uint64_t)t, 0);
        for (int i = 0; i < SLOTS; i++)
            comms_make(&worker[t].comms, i, &draw);
        worker[t].comms.whole = threads > 1 && !may_make_parts;
    }
    if (threads == 1)
        run_worker(&worker[0]);
    for (int t = 0; threads > 1 && t < threads; t++)
        pthread_create(&worker[t].thread, NULL, run_worker, &worker[t]);
    for (int t = 0; threads > 1 && t < threads; t++)
        pthread_join(worker[t].thread, NULL);
    for (int t = 0; t < threads; t++)
        comms_end(&worker[t].comms);
}

/* Avoids defects of MPICH 4.0, which plain programs meet as well. A Reduce in place of some thousand bytes crashes in
 * the algorithms for shared memory. A large Allgatherv fails if the extents of the receive type differ between ranks,
 * unless whole blocks are sent; a large Reduce_scatter in place copies between overlapping buffers, unless it halves
 * recursively. */
static void avoid_defects_of_mpich(void)
{
    setenv("MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE", "0", 1);
    setenv("MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE", "-1", 1);
    setenv("MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM", "recursive_halving", 1);
    setenv("MPIR_CVAR_IREDUCE_SCATTER_INTRA_ALGORITHM", "sched_recursive_halving", 1);
}

int main(int argc, char **argv)
{
    int provided;
    long mine[3] = {0}, all[3];
    read_options(argc, argv);
    avoid_defects_of_mpich();
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (threads > 1 && provided < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "random: the MPI library provides thread level %d, not MPI_THREAD_MULTIPLE\n", provided);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    signal(SIGALRM, on_alarm);
    alarm(PATIENCE);
    values_begin();
    run_workers();
    for (int t = 0; t < threads; t++) {
        mine[0] += worker[t].compared;
        mine[1] += worker[t].wrong;
        mine[2] += worker[t].comms.made;
    }
    PMPI_Reduce(mine, all, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Bcast(all, 3, MPI_LONG, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("seed %llu, %d ranks, %d threads, %ld communicators: %ld calls compared, %ld differ\n",
               (unsigned long long)seed, world_size, threads, mine[2], all[0], all[1]);
    MPI_Finalize();
    return all[1] > 0 || all[0] == 0;
}
