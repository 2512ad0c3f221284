/*
 * Ranks for which other ranks wait. hang.sh runs this program and reads the log.
 *
 *     goes-on   rank 1 calls late, is stopped, and calls late in a request; then rank 0 receives SIGUSR1 while it waits
 *     aborts    rank 1 never calls
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <trivance/trivance_mpi.h>

#include "harness.h"

#define LATE_MS 1200

static void sleep_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        continue;
}

static void sum(MPI_Comm comm, const char *what)
{
    int in[1000], out[1000], wrong = 0;
    for (int i = 0; i < 1000; i++)
        in[i] = test_rank + i;
    expect_class(TRV_Allreduce(in, out, 1000, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL, what);
    for (int i = 0; i < 1000; i++)
        wrong += out[i] != test_ranks * (test_ranks - 1) / 2 + test_ranks * i;
    expect(wrong == 0, "%s: %d elements are wrong", what, wrong);
}

/* Stops this process; a child process continues it after `ms` milliseconds. */
static void stop(long ms)
{
    pid_t self = getpid(), child = fork();
    if (child == 0) {
        sleep_ms(ms);
        kill(self, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    waitpid(child, NULL, 0);
}

static void request(MPI_Comm comm)
{
    int value = 1, total = 0;
    TRV_Request request;
    if (test_rank == 1)
        sleep_ms(LATE_MS);
    expect_class(TRV_Iallreduce(&value, &total, 1, MPI_INT, MPI_SUM, comm, &request), MPI_SUCCESS, NULL, "a request");
    expect_class(TRV_Wait(&request), MPI_SUCCESS, NULL, "waiting for it");
    expect(total == test_ranks, "a request: %d", total);
}

static volatile sig_atomic_t signals;

static void count(int signal)
{
    (void)signal;
    signals++;
}

static void signalled(MPI_Comm comm)
{
    int process = (int)getpid();
    MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (test_rank == 1) {
        sleep_ms(LATE_MS); /* long enough for rank 0 to begin waiting, even on a busy machine */
        kill((pid_t)process, SIGUSR1);
        sleep_ms(LATE_MS / 2);
    }
    sum(comm, "after a signal");
    expect(signals == (test_rank == 0), "the program's own handler was called %d times", (int)signals);
}

/* Calls MPI_Finalize late; the others wait for this rank in it. */
static int finalize_late(MPI_Comm comm)
{
    sum(comm, "the only call");
    if (test_rank == 1)
        sleep_ms(LATE_MS);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    signal(SIGUSR1, count); /* before the library installs its handler */
    test_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    bool aborts = argc > 1 && strcmp(argv[1], "aborts") == 0;
    if (argc > 1 && strcmp(argv[1], "finalizes") == 0)
        return finalize_late(comm);
    if (test_rank == 1)
        sleep_ms(LATE_MS);
    sum(comm, "the first call");
    int one = 1, ones = 0;
    TRV_Allreduce(&one, &ones, 1, MPI_INT, MPI_SUM, comm); /* so such requests are dispatched */
    for (int i = 1; i < 300; i++)
        sum(comm, "before");
    if (test_rank == 1 && aborts)
        sleep_ms(200000);
    if (test_rank == 1)
        stop(LATE_MS);
    sum(comm, "after a stop");
    request(comm);
    signalled(comm);
    MPI_Comm_free(&comm);
    return test_end();
}
