/*
 * Waiting for messages.
 *
 * If there are more ranks than cores, sched_yield is not sufficient. Since Linux 6.6 the scheduler returns the core to
 * a task that yields until its time slice is used up, which takes milliseconds, while the rank that it waits for does
 * not run. A sleep of one microsecond (in effect about 50) removes the task from the run queue: with MPICH, 9 ranks on
 * 2 cores become three times as fast. If each rank has a core, ranks never sleep. The number of ranks on this machine
 * is read from the launcher's environment variables.
 */
#include "transport/mpi/waiting.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SPINS                200 /* polls before the first yield */
#define SPINS_OVERSUBSCRIBED 16  /* polls before the first yield if there are more ranks than cores */
#define YIELDS_A_SLEEP       128 /* polls per sleep if there are more ranks than cores */

static bool oversubscribed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void compare_ranks_with_cores(void)
{
    static const char *const variable[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    for (size_t i = 0; i < sizeof variable / sizeof variable[0]; i++) {
        const char *ranks = getenv(variable[i]);
        oversubscribed = oversubscribed || (ranks && strtol(ranks, NULL, 10) > cores);
    }
}

static int (*_Atomic progress_hook)(void);

void trv_mpi_set_progress_hook(int (*progress)(void))
{
    atomic_store_explicit(&progress_hook, progress, memory_order_relaxed);
}

void trv_mpi_pause(unsigned polls)
{
    int (*progress)(void) = atomic_load_explicit(&progress_hook, memory_order_relaxed);
    if (progress)
        progress();
    if (polls <= SPINS_OVERSUBSCRIBED)
        return;
    pthread_once(&once, compare_ranks_with_cores);
    if (!oversubscribed && polls <= SPINS)
        return;
    if (oversubscribed && polls % YIELDS_A_SLEEP == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    else
        sched_yield();
}

int trv_mpi_poll(MPI_Request *request)
{
    int done = 0, code = MPI_SUCCESS;
    for (unsigned polls = 1; code == MPI_SUCCESS && !done; polls++) {
        code = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            trv_mpi_pause(polls);
    }
    return code;
}
