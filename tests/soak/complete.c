/*
 * Completes requests by MPI_Wait one at a time, MPI_Test in turns, MPI_Waitall, MPI_Waitany or MPI_Testsome, or by four
 * threads that wait and test.
 */
#include "complete.h"

#include <pthread.h>

#define REQUESTS_MAX 64
#define THREADS      4

/* The part of the requests that one thread completes: every fourth. */
typedef struct share {
    MPI_Request *request;
    int count, first;
} share_t;

static void *wait_for_share(void *context)
{
    const share_t *share = context;
    for (int i = share->first; i < share->count; i += THREADS) {
        int done = 0;
        while (share->first % 2 && !done)
            MPI_Test(&share->request[i], &done, MPI_STATUS_IGNORE);
        MPI_Wait(&share->request[i], MPI_STATUS_IGNORE); /* no effect on a completed request */
    }
    return NULL;
}

static bool complete_beside(MPI_Request *request, int count, MPI_Comm home)
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

static void test_in_turns(MPI_Request *request, int count)
{
    for (int left = 1; left > 0;) {
        left = 0;
        for (int i = 0; i < count; i++) {
            int done;
            MPI_Test(&request[i], &done, MPI_STATUS_IGNORE);
            left += !done;
        }
    }
}

static void wait_any(MPI_Request *request, int count)
{
    for (int left = count, at; left > 0; left--)
        MPI_Waitany(count, request, &at, MPI_STATUS_IGNORE);
}

static void test_some(MPI_Request *request, int count)
{
    int at[REQUESTS_MAX], done;
    MPI_Status status[REQUESTS_MAX];
    for (int left = count; left > 0; left -= done)
        MPI_Testsome(count, request, &done, at, status);
}

bool complete(MPI_Request **request, int count, int way, draw_t *draw, MPI_Comm home)
{
    MPI_Request shuffled[REQUESTS_MAX];
    MPI_Status status[REQUESTS_MAX];
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
    case 0:
        for (int i = 0; i < count; i++)
            MPI_Wait(&shuffled[i], MPI_STATUS_IGNORE);
        break;
    case 1: test_in_turns(shuffled, count); break;
    case 2: MPI_Waitall(count, shuffled, status); break;
    case 3: wait_any(shuffled, count); break;
    case 4: test_some(shuffled, count); break;
    default: good = complete_beside(shuffled, count, home);
    }
    /* MPICH 4.0 may report a persistent request repeatedly, so MPI_Waitany and MPI_Testsome may have left some
     * incomplete. */
    MPI_Waitall(count, shuffled, status);
    for (int i = 0; i < count; i++)
        *request[order[i]] = shuffled[i];
    return good;
}
