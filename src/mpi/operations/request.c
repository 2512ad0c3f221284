/*
 * Requests: their order, and the progress of all active requests.
 *
 * `lock` protects the list and is never held while a request is tested. `progress_lock` is held by the one thread that
 * makes progress; only this thread removes requests from the list. While a request is tested, MPI may call
 * trv_mpi_requests_progress again (in the component, MPI's progress function calls it); this nested call finds
 * `progress_lock` locked and does nothing.
 */
#include "mpi/operations/request.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "mpi/operations/buffers.h"
#include "mpi/reports/watch.h"
#include "transport/mpi/channel.h"
#include "transport/mpi/waiting.h"

#define REASON_MAX 256

typedef enum phase { IDLE, QUEUED, RUNNING } phase_t;

struct trv_mpi_request {
    trv_mpi_state_t *state;
    trv_mpi_instances_t instances;
    trv_mpi_tally_t *tally;         /* the row in which its runs are counted; NULL: they are not counted */
    trv_mpi_operation_t *operation; /* taken from the pool while it runs; a persistent request keeps it */
    trv_mpi_request_spec_t spec;
    trv_mpi_movement_t movement;        /* spec.packed points to it */
    trv_mpi_counts_t counts;            /* movement.counts points to it */
    unsigned char barrier[2];           /* input and output of a Barrier */
    trv_mpi_context_ids_t *context_ids; /* for a persistent request the block that its tags are from; else NULL */
    int tag, position;
    unsigned long sequence; /* the number of earlier requests at this position */
    atomic_int phase;
    trv_mpi_buffers_t buffers;
    trv_mpi_watch_t watch;
    int code;
    char reason[REASON_MAX]; /* message of a failure; trv_mpi_request_outcome sets it as the caller's last error */
    struct trv_mpi_request *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list */
static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;
static trv_mpi_request_t *first, **end = &first; /* active ones, in the order of their starts */
static atomic_int active;

/* ---- Creating ---------------------------------------------------------------------------------------------------- */

static trv_mpi_request_t *request_allocate(trv_mpi_state_t *state, const trv_mpi_instances_t *instances,
                                           const trv_mpi_arguments_t *arguments, bool persistent)
{
    trv_mpi_request_t *request = calloc(1, sizeof *request);
    if (request && persistent) {
        request->operation = instances->take(instances->owner, state, arguments);
        if (!request->operation) {
            free(request);
            return NULL;
        }
    }
    return request;
}

int trv_mpi_request_create(trv_mpi_request_t **created, trv_mpi_state_t *state, const trv_mpi_instances_t *instances,
                           const trv_mpi_request_spec_t *spec, trv_mpi_context_ids_t *context_ids, int tag)
{
    trv_mpi_request_t *request = request_allocate(state, instances, &spec->arguments, context_ids != NULL);
    unsigned long number = context_ids ? 0 : state->ids.requests.posted++;
    int position = 1 + (int)(number % TRV_MPI_REQUEST_POSITIONS);
    if (!request)
        return trv_mpi_state_fail_memory(state);
    request->state = state;
    request->tally = trv_mpi_log_row(instances->tally);
    request->instances = *instances;
    request->spec = *spec;
    if (spec->packed) {
        request->movement = *spec->packed;
        if (spec->packed->counts) {
            request->counts = *spec->packed->counts;
            request->movement.counts = &request->counts;
        }
        request->spec.packed = &request->movement;
    }
    if (spec->is_barrier) {
        request->spec.input = &request->barrier[0];
        request->spec.output = &request->barrier[1];
    }
    request->context_ids = context_ids;
    request->tag = tag;
    request->position = position;
    request->sequence = number / TRV_MPI_REQUEST_POSITIONS;
    trv_mpi_state_hold(state);
    trv_mpi_set_progress_hook(trv_mpi_requests_progress);
    *created = request;
    return TRV_OK;
}

void trv_mpi_request_free(trv_mpi_request_t *request)
{
    trv_mpi_state_t *state = request->state;
    if (request->operation)
        request->instances.give(request->operation);
    request->instances.release(request->instances.owner);
    trv_mpi_context_ids_release(request->context_ids);
    trv_mpi_arguments_clear(&request->spec.arguments);
    free(request);
    trv_mpi_state_release(state);
}

bool trv_mpi_request_active(const trv_mpi_request_t *request)
{
    return atomic_load_explicit(&request->phase, memory_order_acquire) != IDLE;
}

int trv_mpi_request_outcome(const trv_mpi_request_t *request)
{
    return request->code < 0 ? trv_fail(request->code, "%s", request->reason) : TRV_OK;
}

trv_mpi_alias_t trv_mpi_request_alias(const trv_mpi_request_t *request) { return request->buffers.alias; }

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static int request_begin_buffers(trv_mpi_request_t *request)
{
    const trv_mpi_request_spec_t *spec = &request->spec;
    const trv_mpi_arguments_t *arguments = &spec->arguments;
    if (spec->packed)
        return trv_mpi_buffers_begin_packed(&request->buffers, request->state, spec->packed,
                                            arguments->count * arguments->elements.size);
    return trv_mpi_buffers_begin(&request->buffers, request->state, arguments, spec->input, spec->output);
}

static void request_describe(const void *context, char *text, size_t size)
{
    const trv_mpi_request_t *request = context;
    if (request->operation)
        trv_mpi_operation_describe(request->operation, text, size);
    else
        snprintf(text, size, "a communicator of %d ranks; waits for earlier requests to be complete",
                 request->state->ranks);
}

static void request_watch(trv_mpi_request_t *request, unsigned polls)
{
    const trv_mpi_waiting_t waiting = {request_describe, request, request->state->recorder};
    trv_mpi_watch_poll(&request->watch, &waiting, polls);
}

static void request_complete(trv_mpi_request_t *request, int code)
{
    const trv_mpi_waiting_t waiting = {request_describe, request, request->state->recorder};
    trv_mpi_watch_end(&request->watch, &waiting);
    code = trv_mpi_buffers_end(&request->buffers, request->state, code);
    if (code < 0)
        snprintf(request->reason, sizeof request->reason, "%s", trv_last_error());
    request->code = code;
    if (!request->context_ids) {
        if (request->operation)
            request->instances.give(request->operation);
        request->operation = NULL;
        atomic_fetch_add(&request->state->ids.requests.done[request->position - 1], 1);
    }
    void (*done)(void *, int) = request->spec.done;
    const int class = code < 0 ? trv_mpi_class(code) : trv_mpi_alias_class(request->buffers.alias);
    void *context = request->spec.context;
    atomic_store_explicit(&request->phase, IDLE, memory_order_release); /* now its owner may free it */
    if (done)
        done(context, class);
}

static bool request_may_begin(const trv_mpi_request_t *request)
{
    const trv_mpi_request_counts_t *turns = &request->state->ids.requests;
    return request->context_ids || atomic_load(&request->state->broken) ||
           atomic_load(&turns->done[request->position - 1]) == request->sequence;
}

static int request_begin(trv_mpi_request_t *request)
{
    trv_mpi_operation_t *operation = request->operation;
    if (request->context_ids)
        trv_mpi_channel_set_tag(operation->channel, request->tag);
    else
        trv_mpi_operation_set_position(operation, request->position);
    operation->tally = request->tally;
    trv_mpi_operation_count(operation);
    atomic_store(&request->phase, RUNNING);
    int code = request_begin_buffers(request);
    return code < 0 ? trv_mpi_operation_fail(operation, code)
                    : trv_mpi_operation_start(operation, request->buffers.input, request->buffers.output);
}

/* Makes progress on a request. Returns 1 when it is complete, with its result in *code, else 0. */
static int request_progress(trv_mpi_request_t *request, int *code)
{
    if (atomic_load(&request->phase) == QUEUED) {
        if (!request_may_begin(request))
            return 0;
        if (!request->operation)
            request->operation = request->instances.take(request->instances.owner, request->state,
                                                         &request->spec.arguments);
        *code = request->operation ? request_begin(request) : trv_mpi_state_fail_memory(request->state);
        if (*code < 0)
            return 1;
    }
    int state = trv_mpi_operation_test(request->operation);
    *code = state < 0 ? state : TRV_OK;
    return state != 0;
}

static void list_remove(trv_mpi_request_t **link)
{
    trv_mpi_request_t *removed = *link;
    *link = removed->next;
    if (!*link)
        end = link;
}

int trv_mpi_requests_progress(void)
{
    static unsigned rounds; /* protected by `progress_lock` */
    int completed = 0;
    if (atomic_load_explicit(&active, memory_order_relaxed) == 0 || pthread_mutex_trylock(&progress_lock) != 0)
        return 0;
    rounds++;
    pthread_mutex_lock(&lock);
    for (trv_mpi_request_t **link = &first; *link;) {
        trv_mpi_request_t *request = *link;
        int code = TRV_OK;
        pthread_mutex_unlock(&lock);
        int over = request_progress(request, &code);
        if (!over)
            request_watch(request, rounds);
        pthread_mutex_lock(&lock);
        if (!over) {
            link = &request->next;
            continue;
        }
        list_remove(link);
        atomic_fetch_sub(&active, 1);
        pthread_mutex_unlock(&lock);
        request_complete(request, code);
        completed++;
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&progress_lock);
    return completed;
}

void trv_mpi_request_start(trv_mpi_request_t *request)
{
    request->next = NULL;
    request->code = TRV_OK;
    request->watch = (trv_mpi_watch_t){0};
    atomic_store(&request->phase, QUEUED);
    pthread_mutex_lock(&lock);
    *end = request;
    end = &request->next;
    atomic_fetch_add(&active, 1);
    pthread_mutex_unlock(&lock);
    trv_mpi_requests_progress();
}
