/*
 * Calls with known results, on the world, a part of it and a duplicate, while something differs between the ranks.
 *
 * Every argument is a situation, with separate communicators and a line of results:
 *
 *     mpirun -n N program [calls]         all calls
 *                         hints=RANK:A:B  on communicators with the hint A on this rank and B on the others; either may
 *                                         be empty, for no hint
 *                         counts          rank 2 passes another count, in the first call with an operation signature
 *                         counts-none     rank 2 passes 0
 *                         counts-later    the same in a later call
 *                         counts-unequal   MPI_Reduce_scatter, with equal counts on all ranks except rank 2; then with
 *                                         two different lists of unequal counts; then with one list of unequal counts,
 *                                         with 0 and no buffer for the last rank
 *                         length          the same, and AllGather, without TRIVANCE_CHECK: a rank receives a message of
 *                                         the wrong length, and the job ends
 *                         duplicate       a communicator is configured, then duplicated, then used
 *                         callbacks       an attribute's copy callback duplicates another communicator
 *
 * A call succeeds on all ranks with the right result, or it fails on all, except in `length`. With RANKS_STOP a rank
 * whose call fails exits with status 4.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"

#define COUNT_MAX 20000

static int rank, ranks, in[COUNT_MAX], out[16 * COUNT_MAX];
static long correct, wrong, errors;

/* Counts the result of a call. `is_correct`: the result is right if the call has succeeded. */
static void count_result(MPI_Comm comm, int code, bool is_correct, bool same_on_all, const char *what)
{
    int failed[2] = {code != MPI_SUCCESS, code == MPI_SUCCESS}, any[2];
    PMPI_Allreduce(failed, any, 2, MPI_INT, MPI_MAX, comm);
    errors += failed[0];
    correct += !failed[0] && is_correct;
    if (failed[0] && *call_reason())
        fprintf(stderr, "rank %d: %s fails: %s\n", rank, what, call_reason());
    bool differs = same_on_all && any[0] && any[1];
    wrong += differs || (!failed[0] && !is_correct);
    if (differs || (!failed[0] && !is_correct))
        fprintf(stderr, "rank %d: %s %s\n", rank, what, differs ? "fails on some ranks only" : "has a wrong result");
    if (failed[0] && getenv("RANKS_STOP"))
        exit(4);
}

static void fill(int count)
{
    for (int i = 0; i < count; i++)
        in[i] = rank + i;
    memset(out, -1, sizeof out);
}

static void reduce(MPI_Comm comm, int count)
{
    bool is_correct = true;
    int own, sum = 0, size;
    MPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &own);
    fill(count);
    PMPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    int code = CALL(Allreduce)(in, out, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++)
        is_correct = is_correct && out[i] == sum + size * i;
    count_result(comm, code, is_correct, true, "AllReduce");
    int block = count / size;
    fill(block * size);
    code = CALL(Reduce_scatter_block)(in, out, block, MPI_INT, MPI_SUM, comm);
    is_correct = true;
    for (int i = 0; i < block; i++)
        is_correct = is_correct && out[i] == sum + size * (own * block + i);
    count_result(comm, code, is_correct, true, "Reduce-Scatter");
}

static void gather(int count)
{
    bool is_correct = true;
    fill(count);
    int code = CALL(Allgather)(in, count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks * count; i++)
        is_correct = is_correct && out[i] == i / count + i % count;
    count_result(MPI_COMM_WORLD, code, is_correct, true, "AllGather");
}

static void all_calls(void)
{
    MPI_Comm half, copy;
    static const int count[] = {4, 1000, COUNT_MAX};
    for (int i = 0; i < 3; i++)
        reduce(MPI_COMM_WORLD, count[i]);
    gather(100);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    reduce(half, 1000);
    reduce(copy, 1000);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
}

/* Sets hints by both functions of MPI; without a hint the info does not have the key. */
static void hints(const char *text)
{
    char *end, word[64];
    bool other = strtol(text, &end, 10) == rank;
    snprintf(word, sizeof word, "%s", end + 1);
    char *colon = strchr(word, ':');
    *colon = '\0';
    const char *hint = other ? word : colon + 1;
    for (int by_info = 0; by_info < 2; by_info++) {
        MPI_Comm comm;
        MPI_Info info;
        MPI_Info_create(&info);
        if (*hint)
            MPI_Info_set(info, "trivance_algorithm", hint);
        if (by_info == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        else
            MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
#if defined(RANKS_API)
        int code = TRV_Comm_set(comm, NULL, *hint ? hint : NULL);
        count_result(comm, code, true, true, "TRV_Comm_set");
#else
        if (by_info == 0)
            MPI_Comm_set_info(comm, info);
#endif
        MPI_Info_free(&info);
        for (int count = 1; count < COUNT_MAX; count *= 20)
            reduce(comm, count);
        MPI_Comm_free(&comm);
    }
}

static void counts(int other, bool later)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (later)
        reduce(comm, 1000);
    fill(1010);
    int code = CALL(Allreduce)(in, out, rank == 2 ? other : 1000, MPI_INT, MPI_SUM, comm);
    count_result(comm, code, true, true, "AllReduce of counts that differ");
}

static void scatter(MPI_Comm comm, const int *counts, bool same_on_all, const char *what)
{
    bool is_correct = true;
    int first = 0;
    fill(1010);
    int code = MPI_Reduce_scatter(in, counts[rank] ? out : NULL, counts, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < rank; i++)
        first += counts[i];
    for (int i = 0; i < counts[rank] && same_on_all; i++)
        is_correct = is_correct && out[i] == ranks * (ranks - 1) / 2 + ranks * (first + i);
    count_result(comm, code, is_correct, true, what);
}

static void counts_unequal(void)
{
    MPI_Comm comm;
    int list[16];
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < ranks; i++)
            list[i] = round == 2 && i == ranks - 1 ? 0 : 10 + (round > 0 ? i : 0) + (rank == 2 && i == 1 && round < 2);
        scatter(comm, list, round == 2, "MPI_Reduce_scatter");
    }
}

static void end_job(int code, const char *what)
{
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "rank %d: %s fails: %s\n", rank, what, call_reason());
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 4);
}

/* The error handler of the communicator is MPI's default. */
static void length(void)
{
    static const int count[][2] = {{1000, 990}, {16000, 16001}};
    for (int gathers = 0; gathers < 2; gathers++)
        for (int i = 0; i < 2; i++) {
            MPI_Comm comm;
            const int own = count[i][rank == 2];
            MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
            fill(COUNT_MAX);
            if (gathers) {
                end_job(CALL(Allgather)(in, count[i][0], MPI_INT, out, count[i][0], MPI_INT, comm), "AllGather");
                end_job(CALL(Allgather)(in, own, MPI_INT, out, own, MPI_INT, comm), "AllGather");
            } else {
                end_job(CALL(Allreduce)(in, out, count[i][0], MPI_INT, MPI_SUM, comm), "AllReduce");
                end_job(CALL(Allreduce)(in, out, own, MPI_INT, MPI_SUM, comm), "AllReduce");
            }
            correct++;
            PMPI_Barrier(comm);
        }
}

static void duplicate(void)
{
    MPI_Comm comm, copy;
    MPI_Info info;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
#if defined(RANKS_API)
    count_result(comm, TRV_Comm_set(comm, NULL, NULL), true, true, "TRV_Comm_set");
#endif
    MPI_Info_create(&info);
    MPI_Info_set(info, "trivance_algorithm", "default");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    MPI_Comm_dup(comm, &copy);
    reduce(copy, 1000);
    reduce(comm, 1000);
    MPI_Comm_free(&copy);
}

static MPI_Comm private;

static int copy_private(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)value;
    MPI_Comm made;
    int code = MPI_Comm_dup(private, &made);
    MPI_Comm_free(&made);
    *(void **)copy = NULL;
    *flag = 1;
    return code;
}

/* On some ranks the library creates its attribute key before this program, on others after it. */
static void callbacks(void)
{
    MPI_Comm comm, copy;
    int key, other;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &private);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    for (int i = 0; i < 7 * rank; i++)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other, NULL);
    MPI_Comm_create_keyval(copy_private, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    reduce(comm, 1000);
    MPI_Comm_set_attr(comm, key, NULL);
    MPI_Comm_dup(comm, &copy);
    reduce(copy, 1000);
    MPI_Comm_free(&copy);
}

static void run_situation(const char *what)
{
    correct = errors = wrong = 0;
    if (strncmp(what, "hints=", 6) == 0)
        hints(what + 6);
    else if (strcmp(what, "counts-unequal") == 0)
        counts_unequal();
    else if (strcmp(what, "length") == 0)
        length();
    else if (strcmp(what, "duplicate") == 0)
        duplicate();
    else if (strcmp(what, "callbacks") == 0)
        callbacks();
    else if (strncmp(what, "counts", 6) == 0)
        counts(strcmp(what, "counts-none") == 0 ? 0 : 990, strcmp(what, "counts-later") == 0);
    else
        all_calls();
}

int main(int argc, char **argv)
{
    static char *all_calls_alone[] = {"calls"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char **situation = argc > 1 ? argv + 1 : all_calls_alone;
    bool is_correct = true;
    for (int i = 0; i < (argc > 1 ? argc - 1 : 1); i++) {
        run_situation(situation[i]);
        long mine[] = {correct, errors, wrong}, all[3];
        PMPI_Allreduce(mine, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s: %ld right, %ld errors, %ld wrong\n", situation[i], all[0], all[1], all[2]);
        is_correct = is_correct && all[2] == 0 && all[0] + all[1] > 0;
    }
    MPI_Finalize();
    return !is_correct;
}
