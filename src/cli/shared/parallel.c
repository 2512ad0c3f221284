/*
 * A team of threads that run one function; the function itself takes items from a shared list.
 */
#include "cli/shared/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct team {
    void (*work)(void *context, bool first);
    void *context;
} team_t;

int cli_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static void *thread_main(void *context)
{
    const team_t *team = context;
    team->work(team->context, false);
    return NULL;
}

void cli_parallel_run(size_t threads, void (*work)(void *context, bool first), void *context)
{
    team_t team = {work, context};
    pthread_t *thread = threads > 1 ? malloc((threads - 1) * sizeof *thread) : NULL;
    size_t helpers = 0;
    while (thread && helpers < threads - 1 && pthread_create(&thread[helpers], NULL, thread_main, &team) == 0)
        helpers++;
    work(context, true);
    for (size_t i = 0; i < helpers; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}
