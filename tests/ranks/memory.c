/*
 * On rank 1 only (or the rank RANKS_FAILING) the first, the second, … allocation fails in the life of a communicator,
 * until none fails any more. This life consists of its initialization, a duplicate, calls of three sizes, a persistent
 * and a non-blocking call, and its release. No rank may hang or crash, and every call that succeeds must have the right
 * result. If an allocation fails after the ranks' vote, the job ends: by MPI's default error handler, or in this
 * program if functions of Trivance return the error. The file `allocation` has the number of the latest allocation, so
 * that another job can continue with the next one.
 *
 *     mpirun -n 3 memory each     [FIRST [STRIDE]]
 *     mpirun -n 3 memory requests [FIRST [STRIDE]] with non-blocking and persistent calls
 *     mpirun -n 3 memory stays [FIRST [STRIDE]]    all later ones fail, too, until the communicator is freed
 *     mpirun -n 3 memory first [FIRST [STRIDE]]    without an earlier communicator on which nothing fails, so that
 *                                                  allocations of the process fail, too; if it cannot read its
 *                                                  settings, all calls fail, except requests
 *     mpirun -n 3 memory init                      an allocation in MPI_Init fails: FAILING_MEMORY selects it
 *
 * failing_memory.c is preloaded.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"

#define COUNT_MAX  40000
#define NUMBER_MAX 2000
#define SECONDS    20 /* the maximum duration of a round */

static int rank, ranks, failing = 1;
static long wrong, errors, correct, number;
static bool all_later_fail; /* after the first failure all allocations fail */
static bool requests;       /* non-blocking and persistent calls, too: a rank that has no memory for one ends the job */
static int *in, *out;

static void on_alarm(int signal)
{
    static char text[64];
    (void)signal;
    int length = snprintf(text, sizeof text, "rank %d: timeout in round %ld\n", rank, number);
    if (write(STDERR_FILENO, text, (size_t)length) > 0 && !getenv("RANKS_STAY"))
        _exit(3);
    alarm(SECONDS);
}

static void count_result(bool is_correct, int code, const char *what)
{
    correct += is_correct;
    errors += code != MPI_SUCCESS;
    if (code != MPI_SUCCESS || is_correct)
        return;
    if (wrong++ < 10)
        fprintf(stderr, "rank %d, round %ld: %s succeeds with a wrong result\n", rank, number, what);
}

static void end_job(const char *what)
{
    fprintf(stderr, "rank %d, round %ld: %s fails after the vote: %s\n", rank, number, what, call_reason());
    fflush(stderr);
    usleep(200000); /* launchers lose recent output */
    MPI_Abort(MPI_COMM_WORLD, 4);
}

/* Checks that all ranks have this rank's error; then all ranks call this function. */
static void check_all_failed(MPI_Comm comm, int code, const char *what)
{
    int one = 1, sum;
    if (code != MPI_SUCCESS && CALL(Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS &&
        strstr(call_reason(), "can no longer be used"))
        end_job(what);
}

static void reduce(MPI_Comm comm, int count)
{
    bool same = true;
    for (int i = 0; i < count; i++)
        in[i] = rank + i, out[i] = -1;
    int code = CALL(Allreduce)(in, out, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++)
        same = same && out[i] == ranks * (ranks - 1) / 2 + ranks * i;
    count_result(same && code == MPI_SUCCESS, code, "AllReduce");
    check_all_failed(comm, code, "AllReduce");
}

static void gather(MPI_Comm comm, int count)
{
    bool same = true;
    for (int i = 0; i < count; i++)
        in[i] = rank + i;
    int code = CALL(Allgather)(in, count, MPI_INT, out, count, MPI_INT, comm);
    for (int i = 0; i < ranks * count; i++)
        same = same && out[i] == i / count + i % count;
    count_result(same && code == MPI_SUCCESS, code, "AllGather");
    check_all_failed(comm, code, "AllGather");
}

static void reduce_later(MPI_Comm comm, int count)
{
    request_t request[2];
    int code[2];
    bool same = true;
    for (int i = 0; i < 2 * count; i++)
        in[i] = rank + i, out[i] = -1;
    for (int i = 0; i < 2; i++) {
        code[i] = CALL(Iallreduce)(in + i * count, out + i * count, count, MPI_INT, MPI_SUM, comm, &request[i]);
        if (code[i] != MPI_SUCCESS)
            end_job("a non-blocking AllReduce");
    }
    for (int i = 0; i < 2; i++) {
        code[i] = request_wait(&request[i]);
        if (code[i] != MPI_SUCCESS)
            end_job("a non-blocking AllReduce");
    }
    for (int i = 0; i < 2; i++) {
        for (int j = i * count; j < (i + 1) * count; j++)
            same = same && out[j] == ranks * (ranks - 1) / 2 + ranks * j;
        count_result(same && code[i] == MPI_SUCCESS, code[i], "a non-blocking AllReduce");
    }
}

/* The failing rank starts a persistent request before a blocking call with the same operation signature, the others
 * after it. MPI allows that; the call must therefore not wait for the resources of the request. */
static void reduce_across(MPI_Comm comm, int count)
{
#if defined(RANKS_API)
    TRV_Request request;
    static int mine[COUNT_MAX], sum[COUNT_MAX];
    bool same = true;
    long before = errors;
    reduce(comm, count);
    int failed = errors > before, any = 0;
    PMPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, comm);
    if (any) /* the request would fall back, and the other ranks would not notice that one rank has none */
        return;
    for (int i = 0; i < count; i++)
        mine[i] = rank + i, sum[i] = -1;
    int made = TRV_Allreduce_init(mine, sum, count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request), code = made;
    if (made != MPI_SUCCESS)
        end_job("making a persistent AllReduce");
    if (rank == failing)
        code = TRV_Start(&request);
    reduce(comm, count);
    if (rank != failing)
        code = TRV_Start(&request);
    if (code == MPI_SUCCESS)
        code = TRV_Wait(&request);
    if (code != MPI_SUCCESS)
        end_job("a persistent AllReduce");
    for (int i = 0; i < count; i++)
        same = same && sum[i] == ranks * (ranks - 1) / 2 + ranks * i;
    count_result(same && code == MPI_SUCCESS, code, "a persistent AllReduce");
    TRV_Request_free(&request);
#else
    reduce(comm, count);
#endif
}

/* The life of a communicator. */
static void communicator_life(MPI_Comm comm)
{
    MPI_Comm copy = MPI_COMM_NULL;
    static const int count[] = {1, 1000, COUNT_MAX};
    for (int i = 0; i < 3; i++)
        reduce(comm, count[i]);
    if (requests) {
        reduce_across(comm, 1000);
        reduce_later(comm, 1000);
    }
    gather(comm, 500);
    if (MPI_Comm_dup(comm, &copy) == MPI_SUCCESS && copy != MPI_COMM_NULL) {
        reduce(copy, 1000);
        reduce(copy, 7000);
        if (requests)
            reduce_later(copy, 1000);
        MPI_Comm_free(&copy);
    } else {
        errors++;
    }
    reduce(comm, 2);
}

static void store_number(void)
{
    FILE *file = fopen("allocation", "w");
    if (!file || fprintf(file, "%ld\n", number) < 0 || fclose(file) != 0)
        exit(2);
}

/* A round in which the `number`-th allocation fails, or none if it is 0. Returns whether one failed. */
static bool round_fails(bool (*arm)(long, bool))
{
    MPI_Comm comm;
    int any = 0;
    PMPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    if (rank == failing)
        store_number();
    arm(rank == failing ? number : 0, all_later_fail);
    alarm(SECONDS);
    communicator_life(comm);
    MPI_Comm_free(&comm);
    int one = arm(0, false);
    PMPI_Allreduce(&one, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any != 0;
}

/* The `at`-th argument of the program, or the default value `otherwise`. */
static long argument(int argc, char **argv, int at, long otherwise)
{
    return argc > at ? strtol(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    bool (*arm)(long, bool);
    bool init = argc > 1 && strcmp(argv[1], "init") == 0;
    all_later_fail = argc > 1 && strcmp(argv[1], "stays") == 0;
    bool first = argc > 1 && strcmp(argv[1], "first") == 0;
    requests = first || (argc > 1 && strcmp(argv[1], "requests") == 0);
    long stride = argument(argc, argv, 3, 1), last = init ? 1 : NUMBER_MAX, rounds = 0;
    if (getenv("RANKS_FAILING"))
        failing = atoi(getenv("RANKS_FAILING"));
    *(void **)&arm = dlsym(RTLD_DEFAULT, "failing_memory_arm");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    in = malloc(2 * COUNT_MAX * sizeof *in);
    out = malloc(2 * COUNT_MAX * sizeof *out);
    if (!arm || !in || !out)
        return fprintf(stderr, "memory: failing_memory is not preloaded\n"), 2;
    if (init && rank == failing)
        printf("%s in MPI_Init\n", arm(0, false) ? "an allocation failed" : "no allocation failed");
    signal(SIGALRM, on_alarm);
    if (!first)
        round_fails(arm);
    for (number = init ? 0 : argument(argc, argv, 2, 1); number <= last && round_fails(arm); number += stride)
        rounds++;
    long mine[] = {wrong, errors, correct}, all[3];
    PMPI_Allreduce(mine, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld allocations failed on rank %d; %ld results are right, %ld errors, %ld wrong\n", rounds, failing,
               all[2], all[1], all[0]);
    MPI_Finalize();
    return all[0] > 0 || all[2] == 0;
}
