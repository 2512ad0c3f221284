/*
 * The requests of the MPI layer (collective/requests.h): their order by positions, their buffers and operations.
 *
 * While a request is tested, MPI may call trv_mpi_requests_progress again (in the component, MPI's progress function
 * calls it); this nested call does nothing.
 */
#include "mpi/front/request.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "collective/requests.h"
#include "mpi/reports/watch.h"
#include "mpi/settings/job_settings.h"
#include "transport/mpi/channel.h"
#include "transport/mpi/waiting.h"

struct trv_mpi_request {
    trv_request_t base; /* the first member, so that pointers to both can be converted */
    trv_mpi_state_t *state;
    trv_mpi_decision_t *decision;
    trv_mpi_tally_t *tally;         /* the row in which its runs are counted; NULL: they are not counted */
    trv_mpi_operation_t *operation; /* taken from the pool while it runs; a persistent request keeps it */
    trv_mpi_request_spec_t spec;
    trv_mpi_movement_t movement;        /* spec.packed points to it */
    trv_mpi_counts_t counts;            /* movement.counts points to it */
    unsigned char barrier[2];           /* input and output of a Barrier */
    trv_mpi_context_ids_t *context_ids; /* for a persistent request the block that its tags are from; else NULL */
    int tag, position;
    unsigned long sequence; /* the number of earlier requests at this position */
    bool running;           /* its operation has been started; false while it waits for its turn */
    trv_mpi_alias_t alias;  /* of the buffers of the latest run */
};

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static void request_describe(const void *context, char *text, size_t size)
{
    const trv_mpi_request_t *request = context;
    if (request->operation)
        trv_mpi_operation_describe(request->operation, text, size);
    else
        snprintf(text, size, "a communicator of %d ranks; waits for earlier requests to be complete",
                 request->state->ranks);
}

static void request_expire(trv_request_t *base, const char *text)
{
    const trv_mpi_request_t *request = (const trv_mpi_request_t *)(const void *)base;
    trv_mpi_watch_report(&base->watch, text, request->state->recorder);
}

static int request_end(trv_request_t *base, int code)
{
    trv_mpi_request_t *request = (trv_mpi_request_t *)(void *)base;
    const trv_mpi_waiting_t waiting = {request_describe, base, request->state->recorder};
    trv_mpi_watch_end(&base->watch, &waiting);
    if (request->operation) {
        code = trv_mpi_operation_end(request->operation, code);
        request->alias = request->operation->buffers.alias;
    }
    base->status = trv_mpi_operation_class(code, request->alias);
    if (!request->context_ids) {
        if (request->operation)
            trv_mpi_decision_give(request->operation);
        request->operation = NULL;
        atomic_fetch_add(&request->state->ids.requests.done[request->position - 1], 1);
    }
    return code;
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
    request->running = true;
    return trv_mpi_operation_begin(operation, request->spec.packed, request->spec.input, request->spec.output);
}

static trv_mpi_operation_t *request_take(trv_mpi_decision_t *decision, trv_mpi_state_t *state,
                                         const trv_mpi_arguments_t *arguments)
{
    return trv_mpi_decision_take(decision, state, arguments->count, arguments->blocks, arguments->datatype,
                                 arguments->op);
}

static int request_advance(trv_request_t *base)
{
    trv_mpi_request_t *request = (trv_mpi_request_t *)(void *)base;
    if (!request->running) {
        if (!request_may_begin(request))
            return 0;
        if (!request->operation)
            request->operation = request_take(request->decision, request->state, &request->spec.arguments);
        const int code = request->operation ? request_begin(request) : trv_mpi_state_fail_memory(request->state);
        if (code < 0)
            return code;
    }
    return trv_mpi_operation_test(request->operation);
}

static const trv_request_kind_t request_kind = {.advance = request_advance,
                                                .end = request_end,
                                                .describe = request_describe};

static trv_requests_t requests; /* active ones of the process */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void requests_init(void)
{
    static const trv_requests_transport_t transport = {.expire = request_expire};
    trv_requests_init(&requests, &transport, NULL);
    requests.timeout_ms = trv_mpi_settings()->timeout_ns / 1e6;
    trv_mpi_set_progress_hook(trv_mpi_requests_progress);
}

int trv_mpi_requests_progress(void) { return trv_requests_progress(&requests); }

/* ---- Creating ---------------------------------------------------------------------------------------------------- */

int trv_mpi_request_create(trv_mpi_request_t **created, trv_mpi_state_t *state, trv_mpi_decision_t *decision,
                           const trv_mpi_request_spec_t *spec, trv_mpi_context_ids_t *context_ids, int tag)
{
    const unsigned long number = context_ids ? 0 : state->ids.requests.posted++;
    trv_mpi_request_t *request = calloc(1, sizeof *request);
    if (request && context_ids)
        request->operation = request_take(decision, state, &spec->arguments);
    if (!request || (context_ids && !request->operation)) {
        free(request);
        return trv_mpi_state_fail_memory(state);
    }
    pthread_once(&once, requests_init);
    trv_request_init(&request->base, &requests, &request_kind);
    request->base.notify = spec->done;
    request->base.context = spec->context;
    request->state = state;
    request->decision = decision;
    request->tally = trv_mpi_log_row(decision->tally);
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
    request->position = 1 + (int)(number % TRV_MPI_REQUEST_POSITIONS);
    request->sequence = number / TRV_MPI_REQUEST_POSITIONS;
    trv_mpi_state_hold(state);
    trv_mpi_decision_hold(decision);
    *created = request;
    return TRV_OK;
}

void trv_mpi_request_free(trv_mpi_request_t *request)
{
    trv_mpi_state_t *state = request->state;
    if (request->operation)
        trv_mpi_decision_give(request->operation);
    trv_mpi_decision_release(request->decision);
    trv_mpi_context_ids_release(request->context_ids);
    trv_mpi_arguments_clear(&request->spec.arguments);
    trv_request_clear(&request->base);
    free(request);
    trv_mpi_state_release(state);
}

bool trv_mpi_request_active(trv_mpi_request_t *request) { return trv_request_is_active(&request->base); }

int trv_mpi_request_outcome(const trv_mpi_request_t *request)
{
    return trv_mpi_operation_class(trv_request_outcome(&request->base), request->alias);
}

void trv_mpi_request_start(trv_mpi_request_t *request)
{
    request->running = false;
    trv_request_begin(&request->base);
    trv_mpi_requests_progress();
}
