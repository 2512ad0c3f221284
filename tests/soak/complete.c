/*
 * Completes requests by MPI_Wait one at a time, MPI_Test in turns, MPI_Waitall, MPI_Waitany or MPI_Testsome, or by four
 * threads that wait and test. Of these Trivance has TRV_Wait and TRV_Test.
 */
#include "complete.h"

#include <pthread.h>

#define REQUESTS_MAX 64
#define THREADS      4

/* The part of the requests that one thread completes: every fourth. */
typedef struct share {
    request_t *request;
    int count, first;
} share_t;

static void *wait_for_share(void *context)
{
    const share_t *share = context;
    for (int i = share->first; i < share->count; i += THREADS) {
        int done = 0;
        while (share->first % 2 && !done)
            request_test(&share->request[i], &done);
        request_wait(&share->request[i]); /* no effect on a completed request */
    }
    return NULL;
}

static bool complete_beside(request_t *request, int count, MPI_Comm home)
{
    pthread_t thread[THREADS];
    share_t share[THREADS];
    MPI_Comm copy;
    int one = 1, sum = 0, ranks;
    for (int i = 0; i < THREADS; i++) {
        share[i] = (share_t){request, count, i};
        pthread_create(&thread[i], NULL, wait_for_share, &share[i]);
    }
    MPI_Comm_dup(home, &copy);
    MPI_Comm_size(copy, &ranks);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
    MPI_Comm_free(&copy);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return sum == ranks;
}

static void test_in_turns(request_t *request, int count)
{
    for (int left = 1; left > 0;) {
        left = 0;
        for (int i = 0; i < count; i++) {
            int done;
            request_test(&request[i], &done);
            left += !done;
        }
    }
}

static void wait_in_turns(request_t *request, int count)
{
    for (int i = 0; i < count; i++)
        request_wait(&request[i]);
}

#ifndef SOAK_TRV

static void wait_all(request_t *request, int count)
{
    MPI_Status status[REQUESTS_MAX];
    MPI_Waitall(count, request, status);
}

static void wait_any(request_t *request, int count)
{
    for (int left = count, at; left > 0; left--)
        MPI_Waitany(count, request, &at, MPI_STATUS_IGNORE);
}

static void test_some(request_t *request, int count)
{
    int at[REQUESTS_MAX], done;
    MPI_Status status[REQUESTS_MAX];
    for (int left = count; left > 0; left -= done)
        MPI_Testsome(count, request, &done, at, status);
}

#endif

bool complete(request_t **request, int count, int way, draw_t *draw, MPI_Comm home)
{
    request_t shuffled[REQUESTS_MAX];
    int order[REQUESTS_MAX];
    bool good = true;
    for (int i = 0; i < count; i++) {
        int at = draw_below(draw, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (int i = 0; i < count; i++)
        shuffled[i] = *request[order[i]];
    switch (way) {
    case 0: wait_in_turns(shuffled, count); break;
    case COMPLETE_BESIDE: good = complete_beside(shuffled, count, home); break;
#ifndef SOAK_TRV
    case 2: wait_all(shuffled, count); break;
    case 3: wait_any(shuffled, count); break;
    case 4: test_some(shuffled, count); break;
#endif
    default: test_in_turns(shuffled, count);
    }
    /* MPICH 4.0 may report a persistent request repeatedly, so MPI_Waitany and MPI_Testsome may have left some
     * incomplete. */
    wait_in_turns(shuffled, count);
    for (int i = 0; i < count; i++)
        *request[order[i]] = shuffled[i];
    return good;
}
