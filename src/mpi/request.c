/*
 * Requests: their turns, and the progress of all of them.
 *
 * `lock` is held for instants only, over the list; `moving` by the one thread that makes progress, which alone takes
 * requests out. MPI may call back while a request is tested (its own progress calls ours, in the component): the second
 * time `moving` is taken, and nothing happens.
 */
#include "mpi/request.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "mpi/buffers.h"
#include "mpi/report.h"
#include "mpi/reports/watch.h"

#define REASON_MAX 256

typedef enum phase { IDLE, QUEUED, RUNNING } phase_t;

struct trv_mpi_request {
    trv_mpi_state_t *state;
    trv_mpi_operation_t *operation;
    trv_mpi_job_t job;
    trv_mpi_gather_t gather; /* what job.packed points to */
    bool persistent;
    int position;
    unsigned long turn; /* requests at this position before this one */
    atomic_int phase;
    trv_mpi_want_t lent; /* the operation's want before this request ran it */
    trv_mpi_buffers_t buffers;
    trv_mpi_watch_t watch;
    int code;
    char reason[REASON_MAX]; /* of a failure; errors are told in the thread that asks */
    struct trv_mpi_request *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static pthread_mutex_t moving = PTHREAD_MUTEX_INITIALIZER;
static trv_mpi_request_t *first, **end = &first; /* active ones, in the order of their starts */
static atomic_int active;

/* ---- Making ------------------------------------------------------------------------------------------------------ */

bool trv_mpi_request_possible(const trv_mpi_state_t *state, bool persistent)
{
    if (!persistent)
        return true;
    int position = 1 + TRV_MPI_TURNS + state->turns.persistent;
    return !state->node && position < trv_mpi_tags_positions(&state->tags);
}

int trv_mpi_request_create(trv_mpi_request_t **created, trv_mpi_state_t *state, trv_mpi_operation_t *kept,
                           const trv_mpi_job_t *job, bool persistent)
{
    trv_mpi_request_t *request = calloc(1, sizeof *request);
    if (!request)
        return trv_fail_memory();
    request->state = state;
    request->job = *job;
    if (job->packed) {
        request->gather = *job->packed;
        request->job.packed = &request->gather;
    }
    request->persistent = persistent;
    request->operation = trv_mpi_cache_borrow(state, kept);
    if (persistent) {
        request->position = 1 + TRV_MPI_TURNS + state->turns.persistent++;
    } else {
        unsigned long number = state->turns.posted++;
        request->position = 1 + (int)(number % TRV_MPI_TURNS);
        request->turn = number / TRV_MPI_TURNS;
    }
    trv_mpi_state_hold(state);
    *created = request;
    return TRV_OK;
}

void trv_mpi_request_free(trv_mpi_request_t *request)
{
    trv_mpi_cache_give_back(request->state, request->operation);
    trv_mpi_state_release(request->state);
    free(request);
}

bool trv_mpi_request_active(const trv_mpi_request_t *request)
{
    return atomic_load_explicit(&request->phase, memory_order_acquire) != IDLE;
}

int trv_mpi_request_outcome(const trv_mpi_request_t *request)
{
    return request->code < 0 ? trv_fail(request->code, "%s", request->reason) : TRV_OK;
}

bool trv_mpi_request_overlapped(const trv_mpi_request_t *request)
{
    return request->buffers.overlapped;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static int begin_buffers(trv_mpi_request_t *request)
{
    const trv_mpi_job_t *job = &request->job;
    const trv_mpi_want_t *want = &job->want;
    if (job->packed)
        return trv_mpi_buffers_begin_packed(&request->buffers, request->state, job->packed,
                                            want->count * want->elements.size);
    return trv_mpi_buffers_begin(&request->buffers, request->state, want, job->input, job->output);
}

static trv_mpi_waiting_t waiting(const trv_mpi_request_t *request)
{
    bool runs = atomic_load_explicit(&request->phase, memory_order_relaxed) == RUNNING;
    return (trv_mpi_waiting_t){runs ? trv_mpi_report_running : trv_mpi_report_queued, request->operation,
                               request->state->recorder};
}

static void complete(trv_mpi_request_t *request, int code)
{
    trv_mpi_operation_t *operation = request->operation;
    const trv_mpi_waiting_t waited = waiting(request);
    trv_mpi_watch_end(&request->watch, &waited);
    code = trv_mpi_buffers_end(&request->buffers, request->state, code);
    if (code < 0)
        snprintf(request->reason, sizeof request->reason, "%s", trv_last_error());
    request->code = code;
    operation->failed = operation->failed || code < 0;
    trv_mpi_operation_handles(operation, &request->lent);
    operation->busy = false;
    atomic_fetch_sub_explicit(&operation->users, 1, memory_order_release);
    if (!request->persistent)
        atomic_fetch_add(&request->state->turns.done[request->position - 1], 1);
    void (*done)(void *, int) = request->job.done;
    void *context = request->job.context;
    atomic_store_explicit(&request->phase, IDLE, memory_order_release); /* its owner may free it from here on */
    if (done)
        done(context, code);
}

static bool may_run(const trv_mpi_request_t *request)
{
    const trv_mpi_turns_t *turns = &request->state->turns;
    return !request->operation->busy &&
           (request->persistent || atomic_load(&turns->done[request->position - 1]) == request->turn);
}

/* One step: 1 when the request is complete. */
static int move(trv_mpi_request_t *request, int *code)
{
    trv_mpi_operation_t *operation = request->operation;
    if (atomic_load(&request->phase) == QUEUED) {
        if (!may_run(request))
            return 0;
        operation->busy = true;
        request->lent = operation->want;
        trv_mpi_operation_handles(operation, &request->job.want);
        trv_mpi_operation_place(operation, request->position);
        atomic_store(&request->phase, RUNNING);
        *code = begin_buffers(request);
        if (*code == TRV_OK)
            *code = trv_mpi_operation_start(operation, request->buffers.input, request->buffers.output);
        if (*code < 0)
            return 1;
    }
    int state = trv_mpi_operation_test(operation);
    *code = state < 0 ? state : TRV_OK;
    return state != 0;
}

static void take_out(trv_mpi_request_t **place)
{
    trv_mpi_request_t *gone = *place;
    *place = gone->next;
    if (!*place)
        end = place;
}

int trv_mpi_requests_progress(void)
{
    static unsigned rounds; /* under `moving` */
    int completed = 0;
    if (atomic_load_explicit(&active, memory_order_relaxed) == 0 || pthread_mutex_trylock(&moving) != 0)
        return 0;
    rounds++;
    pthread_mutex_lock(&lock);
    for (trv_mpi_request_t **place = &first; *place;) {
        trv_mpi_request_t *request = *place;
        int code = TRV_OK;
        pthread_mutex_unlock(&lock);
        int over = move(request, &code);
        if (!over) {
            const trv_mpi_waiting_t still = waiting(request);
            trv_mpi_watch_poll(&request->watch, &still, rounds);
        }
        pthread_mutex_lock(&lock);
        if (!over) {
            place = &request->next;
            continue;
        }
        take_out(place);
        atomic_fetch_sub(&active, 1);
        pthread_mutex_unlock(&lock);
        complete(request, code);
        completed++;
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&moving);
    return completed;
}

void trv_mpi_request_start(trv_mpi_request_t *request)
{
    trv_mpi_report_call(request->operation, request->state);
    request->next = NULL;
    request->code = TRV_OK;
    request->watch = (trv_mpi_watch_t){0};
    atomic_store(&request->phase, QUEUED);
    atomic_fetch_add(&request->operation->users, 1);
    pthread_mutex_lock(&lock);
    *end = request;
    end = &request->next;
    atomic_fetch_add(&active, 1);
    pthread_mutex_unlock(&lock);
    trv_mpi_requests_progress();
}
