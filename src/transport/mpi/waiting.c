/*
 * How to wait for messages.
 *
 * sched_yield alone does not do where ranks outnumber cores: schedulers since Linux 6.6 hand the core back to a task
 * that yields until its share of time is used up, for milliseconds, while the rank that it waits for is not running. A
 * sleep of a microsecond (some 50 in effect) takes it out of the queue: 9 ranks on 2 cores become three times as fast
 * with MPICH. Ranks that have a core each never sleep. Who shares cores is known from the launcher's environment.
 */
#include "transport/mpi/waiting.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SPINS          200 /* polls before the first yield, … */
#define SPINS_CROWDED  16  /* … and where ranks outnumber cores */
#define YIELDS_A_SLEEP 128 /* where ranks outnumber cores */

static bool crowded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_neighbours(void)
{
    static const char *const variable[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    for (size_t i = 0; i < sizeof variable / sizeof variable[0]; i++) {
        const char *ranks = getenv(variable[i]);
        crowded = crowded || (ranks && strtol(ranks, NULL, 10) > cores);
    }
}

static int (*_Atomic meanwhile)(void);

void trv_mpi_wait_meanwhile(int (*progress)(void))
{
    atomic_store_explicit(&meanwhile, progress, memory_order_relaxed);
}

void trv_mpi_pause(unsigned polls)
{
    int (*progress)(void) = atomic_load_explicit(&meanwhile, memory_order_relaxed);
    if (progress)
        progress();
    if (polls <= SPINS_CROWDED)
        return;
    pthread_once(&once, count_neighbours);
    if (!crowded && polls <= SPINS)
        return;
    if (crowded && polls % YIELDS_A_SLEEP == 0)
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
