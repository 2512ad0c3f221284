/*
 * A communicator breaks where one rank passes another count than the others to a call whose algorithm is known already,
 * so that no rank compares the counts, or where a rank runs out of memory during a call. Every call returns on every rank;
 * a rank that returns MPI_SUCCESS has the right result; a rank that fails has a sentence; later calls on the communicator
 * return, too; and other communicators go on. The job does not end, although its error handler is fatal, because these
 * errors are not passed to MPI. The sample takes every fourth pair of counts, another one of each algorithm.
 *
 * An alarm ends a rank that hangs and prints the place.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "topics.h"
#include "../../exhaustive.h"
#include "mpi/transport/waiting.h"

enum { COUNT_MAX = 1 << 20, LATER = 3, SECONDS = 60, TWO_CHUNKS = 262145 /* one less is one chunk */ };

static int in[COUNT_MAX], out[COUNT_MAX];
static char where[200];
static bool no_scratch; /* this rank has no memory for a run's scratch */

void *__real_trv_mpi_scratch_take(void *, size_t);
void *__wrap_trv_mpi_scratch_take(void *, size_t);

void *__wrap_trv_mpi_scratch_take(void *context, size_t bytes)
{
    return no_scratch ? NULL : __real_trv_mpi_scratch_take(context, bytes);
}

static void too_late(int signal)
{
    static const char words[] = "hangs: ";
    (void)signal;
    ssize_t written = write(2, words, sizeof words - 1);
    written += write(2, where, strlen(where));
    written += write(2, "\n", 1);
    _exit(written > 0 ? 3 : 4);
}

static void fill(int count)
{
    for (int i = 0; i < count; i++)
        in[i] = (test_rank + 1) * (i % 1000 + 1);
}

static int wrong_ones(int count)
{
    int ranks = test_ranks * (test_ranks + 1) / 2, wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += out[i] != ranks * (i % 1000 + 1);
    return wrong;
}

/* One call. Whether it failed. */
static bool call(MPI_Comm comm, int count, const char *what)
{
    fill(count);
    memset(out, 0xee, (size_t)count * sizeof *out);
    int code = TRV_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
    if (code == MPI_SUCCESS) {
        int wrong = wrong_ones(count);
        expect(wrong == 0, "%s: %s: success with %d wrong elements", where, what, wrong);
    } else {
        expect(strlen(trv_last_error()) > 10, "%s: %s: class %d without a sentence", where, what, code);
    }
    return code != MPI_SUCCESS;
}

/* How many ranks it failed on. */
static int failures(bool failed)
{
    int mine = failed, all = 0;
    MPI_Request request;
    PMPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_SUM, test_comm, &request);
    trv_mpi_poll(&request);
    return all;
}

/* `count` on all ranks but `odd_rank`, which passes `other` or, if both are equal, has no scratch memory. */
static void try_one(MPI_Comm sound, const char *algorithm, int count, int other, int odd_rank)
{
    MPI_Comm comm, child;
    const bool odd = test_rank == odd_rank, scarce = count == other;
    MPI_Comm_dup(test_comm, &comm);
    snprintf(where, sizeof where, "rank %d of %d, %s, %d elements, %d on rank %d", test_rank, test_ranks, algorithm,
             count, other, odd_rank);
    alarm(SECONDS);
    expect_class(TRV_Comm_set(comm, NULL, algorithm), MPI_SUCCESS, NULL, algorithm);
    expect(!call(comm, count, "before") && !call(comm, count, "before"), "%s, before: %s", where, trv_last_error());
    MPI_Comm_dup(comm, &child);
    expect(!call(child, count, "a duplicate, before"), "%s, a duplicate before: %s", where, trv_last_error());
    no_scratch = odd && scarce;
    bool failed = call(comm, odd ? other : count, "the call"), broken = failed;
    no_scratch = false;
    int all = failures(failed);
    expect(all > 0 || scarce, "%s: all ranks succeed", where);
    expect(!scarce || !failed || !odd || strstr(trv_last_error(), "memory"), "%s: %s", where, trv_last_error());
    for (int again = 0; again < LATER; again++) {
        bool later = call(comm, count, "later");
        expect(!broken || later, "%s: a call succeeds after one that failed", where);
        broken = broken || later;
    }
    expect(!call(child, count, "a duplicate, after"), "%s: a duplicate breaks, too: %s", where, trv_last_error());
    expect(!call(sound, 1000, "another communicator"), "%s: another communicator breaks, too: %s", where,
           trv_last_error());
    MPI_Comm_free(&child);
    MPI_Comm_free(&comm);
    alarm(0);
}

void topic_broken(void)
{
    static const char *const algorithms[] = {"trivance-b", "trivance-l-grouped", "swing-b", "ring"};
    static const int counts[][2] = {{100, 101},       {101, 100},           {5000, 5001},
                                    {262144, 262143}, {262144, TWO_CHUNKS}, {262100, 262140},
                                    {262200, 262400}, {100, 100},           {262144, 262144}};
    MPI_Comm sound;
    signal(SIGALRM, too_late);
    if (getenv("TRIVANCE_TRANSPORT")) /* the job has one set of connections: nothing here may cost it those */
        expect(!call(test_comm, 100, "the first call"), "the first call: %s", trv_last_error());
    MPI_Comm_dup(test_comm, &sound);
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++)
        for (size_t c = exhaustive() ? 0 : a; c < sizeof counts / sizeof *counts; c += exhaustive() ? 1 : 4)
            if (test_ranks > 1 || counts[c][0] == counts[c][1])
                try_one(sound, algorithms[a], counts[c][0], counts[c][1], (int)(a + c) % test_ranks);
    MPI_Comm_free(&sound);
    signal(SIGALRM, SIG_DFL);
}
