/*
 * The guarantees that both front ends give: MPI programs (preloaded, with the component or with the functions TRV_) and
 * libtrivance_net. The same scenarios run on each (front.h); list.txt names the scenarios of every guarantee.
 *
 *     mpirun -n RANKS guarantees SCENARIO…      launch.sh RANKS guarantees_net SCENARIO…
 *
 * The exit status is 0 if all expectations of all ranks hold, and 77 if a scenario was skipped.
 */
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"
#if !defined FRONT_DROP_IN
#include <trivance/algorithms.h>
#endif

static front_comm_t *world; /* a communicator of all ranks, fresh in every scenario */
static int rank, ranks;
static bool skipped; /* a scenario that the MPI library does not support */

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* The collectives `first` to `last` in the forms up to `last_form`, with this count, in place and not, with a sample of
 * the roots. */
static void run_some(front_comm_t *comm, int first, int last, size_t count, form_t last_form)
{
    const int size = front_size(comm);
    for (int c = first; c <= last; c++)
        for (form_t form = BLOCKING; form <= last_form; form++)
            for (int root = 0; root < (is_rooted((trv_collective_t)c) ? size : 1); root += 1 + size / 3)
                for (int in_place = 0; in_place < 2; in_place++)
                    work_run(comm, (trv_collective_t)c, form, count, root, in_place);
}

static void run_all(front_comm_t *comm, size_t count, form_t last_form)
{
    run_some(comm, 0, COLLECTIVES - 1, count, last_form);
}

/* Exact results; blocks of 0 elements, of fewer elements than ranks, and of several fragments. */
static void results(void)
{
    static const size_t count[] = {0, 1, 2, 5, 4097, 70001};
    front_comm_t *back = front_split(world, 0, -rank);
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
        run_all(world, count[i], BLOCKING);
    run_all(world, 100, REUSED);
    run_all(back, 7, REUSED);
    front_free(back);
}

/* Named algorithms on a ring, on a line, where roots are not equivalent, and on a mesh. An algorithm that does not
 * support a collective of its class leaves the choice to the planner. */
static void algorithms(void)
{
    static const char *const moves[] = {"binomial", "disjoint-trees", "scatter-allgather", "linear", "pairwise"};
    static const char *const mesh[] = {[4] = "2mx2m", [9] = "3mx3", [16] = "4x4m"};
    char ring[16], line[16];
    snprintf(ring, sizeof ring, "%d", ranks);
    snprintf(line, sizeof line, "%dm", ranks);
    const char *const torus[] = {ring, line, ranks <= 16 && mesh[ranks % 17] ? mesh[ranks] : line};
    for (int t = 0; t < 3 && front_limits.can_set_algorithm && ranks > 1; t++) {
        expect(front_set(world, torus[t], "") == 0);
        run_all(world, 300, BLOCKING);
        for (size_t a = 0; a < sizeof moves / sizeof moves[0]; a++) {
            expect(front_set(world, torus[t], moves[a]) == 0);
            run_some(world, TRV_BROADCAST, TRV_ALLTOALL, 300, BLOCKING);
        }
        expect(front_set(world, torus[t], "trivance-b") == 0);
        run_some(world, TRV_ALLREDUCE, TRV_ALLGATHER, 300, BLOCKING);
    }
}

/* ---- Identical bits ---------------------------------------------------------------------------------------------- */

/* Magnitudes that differ so that every other order of a sum has other bits. Returns a hash of the sums. */
static uint64_t add_reals(front_comm_t *comm, size_t count)
{
    double *input = malloc(count * sizeof *input), *sum[2];
    for (size_t i = 0; i < count; i++)
        input[i] = ldexp(1.0 + (double)((i * 7919 + (size_t)rank * 104729) % 100003) / 3.0,
                         (int)((i + (size_t)rank) % 40));
    for (int run = 0; run < 2; run++) {
        front_task_t *task;
        sum[run] = malloc(count * sizeof *sum[run]);
        const call_t call = {TRV_ALLREDUCE, BLOCKING, TRV_DOUBLE, TRV_SUM, input, sum[run], count, 0};
        expect(front_create(&task, comm, &call) == 0 && front_start(task) == 0 && front_destroy(task) == 0);
    }
    expect(work_same(comm, sum[0], count * sizeof *input));
    expect(memcmp(sum[0], sum[1], count * sizeof *input) == 0);
    const uint64_t hash = work_hash(sum[0], count * sizeof *input);
    free(input);
    free(sum[0]);
    free(sum[1]);
    return hash;
}

/* Rank 0 prints a hash, by which same.sh compares runs. */
static void identical(void)
{
    static const size_t count[] = {1, 10, 1000, 40000};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
        hash = 31 * hash + add_reals(world, count[i]);
#if !defined FRONT_DROP_IN
    trv_torus_t ring;
    trv_torus_init(&ring, 1, &ranks);
    for (int a = 0; a < trv_algorithms_count() && ranks > 1; a++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(a);
        if (trv_algorithm_consistent(algorithm) && trv_algorithm_exactness(algorithm) == TRV_EXACT &&
            trv_algorithm_supports(algorithm, &ring, TRV_ALLREDUCE) == TRV_OK &&
            front_set(world, "", trv_algorithm_name(algorithm)) == 0)
            hash = 31 * hash + add_reals(world, 1000);
    }
#endif
    if (rank == 0)
        printf("identical: %016" PRIx64 "\n", hash);
}

/* ---- Several calls at a time ------------------------------------------------------------------------------------- */

enum { MANY = 24 };

/* Completes calls that were started; each rank begins with another one. */
static void complete(work_t *work, int works, bool by_test)
{
    bool done[MANY] = {false};
    for (int left = works, turn = 7 * rank; left > 0; turn++) {
        const int w = turn % works;
        if (done[w])
            continue;
        done[w] = true;
        expect((by_test ? front_test(work[w].task, &done[w]) : front_wait(work[w].task)) == 0);
        left -= done[w];
    }
    for (int w = 0; w < works; w++) {
        work_check(&work[w]);
        work_free(&work[w]);
    }
}

/* Requests of all collectives, on communicators that overlap, and blocking calls between them; in the first round
 * without a decision for any of them. */
static void outstanding(void)
{
    front_comm_t *part = front_split(world, rank % 2, 0), *back = front_split(world, 0, -rank);
    front_comm_t *const comm[] = {world, part, back};
    for (int round = 0; round < 6; round++) {
        work_t work[MANY];
        for (int i = 0; i < 3 && round == 1; i++)
            run_all(comm[i], 600, BLOCKING); /* makes decisions, without which MPI libraries execute requests */
        for (int w = 0; w < MANY; w++) {
            front_comm_t *on = comm[w / 8 % 3];
            work[w] = work_create(on, (trv_collective_t)(w % COLLECTIVES), NONBLOCKING, 700 - 100 * (size_t)(w % 3),
                                  (round + w) % front_size(on), w % 2);
            work_start(&work[w], w);
            if (w % 5 == 4)
                work_run(on, TRV_ALLREDUCE, BLOCKING, 600, 0, true);
        }
        complete(work, MANY, round % 2);
    }
    front_free(part);
    front_free(back);
}

/* Posting a call does not wait for other ranks: each rank posts, then lets the next one post. */
static void posting(void)
{
    for (int run = 0; run < 2; run++) {
        work_t work = work_create(world, TRV_ALLREDUCE, NONBLOCKING, 1, 0, false);
        if (rank > 0)
            front_receive(world, rank - 1);
        work_start(&work, 0);
        if (rank + 1 < ranks)
            front_send(world, rank + 1);
        complete(&work, 1, false);
    }
}

/* A call with a new signature, whose decision needs all ranks, which first wait for an earlier request. */
static void orders(void)
{
    work_run(world, TRV_ALLREDUCE, BLOCKING, 700, 0, false);
    work_t work = work_create(world, TRV_ALLREDUCE, NONBLOCKING, 700, 0, false);
    work_start(&work, 0);
    if (rank != 0)
        expect(front_wait(work.task) == 0);
    work_run(world, TRV_ALLTOALL, BLOCKING, 3, 0, false);
    expect(rank != 0 || front_wait(work.task) == 0);
    work_check(&work);
    work_free(&work);
}

/* Persistent calls, or plans, that every rank starts and completes in another order. */
static void reused(void)
{
    work_t work[2 * COLLECTIVES];
    run_all(world, 500, BLOCKING); /* makes the decisions, without which MPI libraries execute persistent calls */
    for (int w = 0; w < 2 * COLLECTIVES; w++)
        work[w] = work_create(world, (trv_collective_t)(w % COLLECTIVES), REUSED, 500, ranks - 1, false);
    for (int run = 0; run < (front_limits.can_restart ? 20 : 1); run++) {
        for (int w = 0; w < 2 * COLLECTIVES; w++)
            work_start(&work[(w + rank + run) % (2 * COLLECTIVES)], run);
        if (front_limits.checks_arguments) {
            expect(front_start(work[0].task) != 0 && *front_reason());
            expect(front_destroy(work[0].task) != 0 && *front_reason());
        }
        for (int w = 0; w < 2 * COLLECTIVES; w++)
            expect(front_wait(work[(w + rank) % (2 * COLLECTIVES)].task) == 0);
        for (int w = 0; w < 2 * COLLECTIVES; w++)
            work_check(&work[w]);
    }
    for (int w = 0; w < 2 * COLLECTIVES; w++)
        work_free(&work[w]);
}

/* Active requests are not affected when the algorithm of their communicator is changed. */
static void changes(void)
{
    static const char *const name[] = {"trivance-b", "trivance-l-grouped", "", "ring"};
    work_t work[8];
    for (int w = 0; w < 8; w++) {
        expect(front_set(world, "", name[w % 4]) == 0 || ranks == 1);
        work[w] = work_create(world, TRV_ALLREDUCE, NONBLOCKING, 2000, 0, true);
        work_start(&work[w], w);
    }
    complete(work, 8, false);
}

static void *run_thread(void *context)
{
    for (int i = 0; i < 30; i++)
        work_run(context, (trv_collective_t)(i % COLLECTIVES), i % 2 ? NONBLOCKING : BLOCKING, 700, i % ranks, false);
    return NULL;
}

/* Threads use different communicators at the same time. */
static void threads(void)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    front_comm_t *comm[THREADS];
    skipped = !front_limits.has_threads;
    if (skipped) {
        fprintf(stderr, "threads: skipped, because the MPI library does not provide MPI_THREAD_MULTIPLE\n");
        return;
    }
    for (int t = 0; t < THREADS; t++)
        comm[t] = front_split(world, 0, rank);
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, run_thread, comm[t]);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++)
        front_free(comm[t]);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* The bytes that are allocated. They do not change under AddressSanitizer, which has another allocator, and detects
 * leaks itself. */
static size_t memory_bytes(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Splits the communicator of all ranks, or duplicates it. */
static front_comm_t *comm_create(int i) { return i % 2 ? front_duplicate(world) : front_split(world, 0, rank); }

/* Many communicators at once, and many more one after another; each is used, and their memory is freed. */
static void communicators(void)
{
    enum { AT_ONCE = 300, IN_TURN = 1000, MORE_BYTES = 64 * IN_TURN };
    static front_comm_t *comm[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        comm[i] = comm_create(i);
        work_run(comm[i], TRV_ALLREDUCE, BLOCKING, 1, 0, false);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        work_run(comm[i], TRV_ALLREDUCE, BLOCKING, 1, 0, false);
        front_free(comm[i]);
    }
    const size_t before = memory_bytes();
    for (int i = 0; i < IN_TURN; i++) {
        front_comm_t *one = comm_create(i);
        work_run(one, TRV_ALLREDUCE, BLOCKING, 1, 0, false);
        front_free(one);
    }
    expect(memory_bytes() < before + MORE_BYTES);
}

enum { SIGNATURES = 8 * 3 * 14, LARGEST = 65536 /* bytes */ };

/* A call of AllReduce with signature `number`, of 8 types, 3 operations and 14 classes of sizes. One rank contributes
 * bytes from 0 to 126, and the others 0, so that these bytes are the result for every type and operation. */
static void run_signature(int number, form_t form)
{
    static const trv_type_t type[] = {TRV_INT8,  TRV_INT16,  TRV_INT32,  TRV_INT64,
                                      TRV_UINT8, TRV_UINT16, TRV_UINT32, TRV_UINT64};
    static const trv_op_t op[] = {TRV_SUM, TRV_MAX, TRV_BXOR};
    static const size_t element_bytes[] = {1, 2, 4, 8};
    static unsigned char send[LARGEST], receive[LARGEST];
    const size_t bytes = (size_t)8 << number / 24;
    front_task_t *task;
    for (size_t i = 0; i < bytes; i++) {
        send[i] = number % ranks == rank ? (unsigned char)((i + (size_t)number) % 127) : 0;
        receive[i] = 255;
    }
    const call_t call = {TRV_ALLREDUCE,
                         form,
                         type[number % 8],
                         op[number / 8 % 3],
                         send,
                         receive,
                         bytes / element_bytes[number % 4],
                         0};
    expect(front_create(&task, world, &call) == 0 && front_start(task) == 0 && front_wait(task) == 0 &&
           front_destroy(task) == 0);
    for (size_t i = 0; i < bytes; i++)
        expect(receive[i] == (i + (size_t)number) % 127);
}

/* More signatures than a communicator keeps decisions for. Then requests with the same signatures, the latest first: if
 * the decision is not kept, the request is left to the MPI library, or libtrivance_net decides again. The test expects
 * the number of these requests in the log (CMakeLists.txt). */
static void decisions(void)
{
    for (int number = 0; number < SIGNATURES; number++)
        run_signature(number, BLOCKING);
    for (int number = SIGNATURES - 1; number >= 0; number--)
        run_signature(number, NONBLOCKING);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Runs a call that all ranks know to be invalid. */
static int run_invalid(front_comm_t *comm, const call_t *call)
{
    front_task_t *task;
    int code = front_create(&task, comm, call);
    if (code == 0)
        code = front_start(task);
    if (code == 0)
        code = front_wait(task);
    free(task);
    return code;
}

/* Invalid arguments are an error with a reason, nothing is sent, and the next call works. */
static void invalid(void)
{
    int64_t in[64] = {0}, out[64];
    const call_t call[] = {{TRV_BROADCAST, BLOCKING, TRV_INT64, TRV_SUM, in, in, 1, ranks},
                           {TRV_REDUCE, BLOCKING, TRV_INT64, TRV_SUM, in, out, 1, -1},
                           {TRV_GATHER, NONBLOCKING, TRV_INT64, TRV_SUM, in, out, 1, ranks},
                           {TRV_SCATTER, REUSED, TRV_INT64, TRV_SUM, in, out, 1, ranks},
                           {TRV_ALLREDUCE, BLOCKING, TRV_DOUBLE, TRV_BXOR, in, out, 1, 0},
                           {TRV_ALLREDUCE, BLOCKING, TRV_INT64, TRV_SUM, NULL, out, 1, 0},
                           {TRV_ALLGATHER, NONBLOCKING, TRV_INT64, TRV_SUM, in, NULL, 1, 0}};
    for (size_t i = 0; i < (front_limits.checks_arguments ? sizeof call / sizeof call[0] : 3); i++) {
        expect(run_invalid(world, &call[i]) != 0 && (!front_limits.checks_arguments || *front_reason()));
        work_run(world, TRV_ALLREDUCE, BLOCKING, 5, 0, false);
    }
}

/* The last rank passes other arguments in the first call with a signature: all ranks have the same error, before
 * anything is written. A rank may have that error already when it creates the communicator for the call. */
static void differing(void)
{
    enum { CASES = 5 };
    static char reason[CASES][512];
    for (int i = 0; i < CASES && front_limits.compares_ranks && ranks > 1; i++) {
        int64_t in[640] = {0}, out[640];
        for (int e = 0; e < 640; e++)
            out[e] = -1;
        call_t call = {i == 3 ? TRV_REDUCE : TRV_ALLREDUCE, BLOCKING, TRV_INT64, TRV_SUM, in, out, 9, 0};
        if (rank == ranks - 1) {
            call.count += i == 0;
            call.type = i == 1 ? TRV_DOUBLE : TRV_INT64;
            call.op = i == 2 ? TRV_MAX : TRV_SUM;
            call.root = i == 3;
            call.collective = i == 4 ? TRV_ALLTOALL : call.collective;
        }
        expect(!world || run_invalid(world, &call) != 0);
        snprintf(reason[i], sizeof reason[i], "%s", front_reason());
        expect(*reason[i]);
        for (int e = 0; e < 640; e++)
            expect(out[e] == -1);
        front_free(world);
        world = front_fresh(true);
    }
    expect(world && work_same(world, reason, sizeof reason));
}

int main(int argc, char **argv)
{
    static const struct scenario {
        const char *name;
        void (*run)(void);
    } scenario[] = {{"results", results},     {"algorithms", algorithms},
                    {"identical", identical}, {"outstanding", outstanding},
                    {"posting", posting},     {"orders", orders},
                    {"reused", reused},       {"changes", changes},
                    {"threads", threads},     {"communicators", communicators},
                    {"decisions", decisions}, {"invalid", invalid},
                    {"differing", differing}};
    enum { SCENARIOS = sizeof scenario / sizeof scenario[0] };
    front_begin(&argc, &argv);
#if !defined FRONT_DROP_IN
    expect(!trv_collective_name((trv_collective_t)COLLECTIVES)); /* every collective has scenarios */
#endif
    for (int i = 1; i < argc; i++) {
        int s = 0;
        while (s < SCENARIOS && strcmp(scenario[s].name, argv[i]) != 0)
            s++;
        world = front_fresh(false);
        expect(world != NULL);
        rank = front_rank(world);
        ranks = front_size(world);
        if (rank == 0)
            fprintf(stderr, "%s\n", argv[i]); /* names the scenario in which a job hangs */
        expect(s < SCENARIOS);
        scenario[s].run();
        expect(front_barrier(world) == 0);
        front_free(world);
    }
    front_end();
    return skipped ? 77 : 0;
}
