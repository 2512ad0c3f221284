/*
 * Creates and runs operations.
 */
#include "mpi/operations/operation.h"

#include <stdio.h>

#include "mpi/node/node.h"
#include "collective/scratch.h"
#include "mpi/settings/job_settings.h"
#include "mpi/reports/log.h"
#include "mpi/reports/watch.h"
#include "schedule/collective.h"
#include "transport/mpi/channel.h"
#include "transport/mpi/waiting.h"

/* ---- Creating ---------------------------------------------------------------------------------------------------- */

static trv_elements_t elements_of(trv_mpi_operation_t *operation)
{
    const trv_mpi_elements_t *elements = &operation->arguments.elements;
    trv_elements_t result = {.type = elements->type, .op = elements->op, .element_size = elements->size};
    if (elements->reducer == TRV_MPI_LOCAL) {
        result.reduce = trv_mpi_local_reduce;
        result.reduce_context = &operation->local;
    }
    return result;
}

static const trv_plan_options_t plan_options = {TRV_PLAN_OPTIONS, .scratch_allocate = trv_scratch_take,
                                                .scratch_free = trv_scratch_give};

static int make_plan(trv_mpi_operation_t *operation, const trv_prepared_t *prepared, const trv_mpi_places_t *places,
                     bool shared, int tag)
{
    const trv_mpi_arguments_t *arguments = &operation->arguments;
    const trv_mpi_state_t *state = operation->state;
    trv_mpi_node_t *node = places->node;
    trv_elements_t elements = elements_of(operation);
    int code = trv_mpi_channel_create(&operation->channel, state->members->domain->comm, places->fragment_bytes);
    if (code == TRV_OK && arguments->elements.reducer == TRV_MPI_LOCAL)
        code = trv_mpi_local_init(&operation->local, &arguments->elements, arguments->datatype, arguments->op);
    if (code < 0)
        return code;
    trv_mpi_channel_set_members(operation->channel, places->member);
    trv_mpi_channel_set_tag(operation->channel, shared ? trv_mpi_state_tag(state, 0) : tag);
    const trv_transport_t *transport = trv_mpi_channel_transport(operation->channel);
    if (!node || trv_mpi_node_leads(node))
        code = prepared->model ? trv_prepared_create_plan(prepared, &operation->plan, &elements, transport, NULL)
                               : trv_plan_create(&operation->plan, prepared->schedule, places->coordinate,
                                                 arguments->count, &elements, transport, &plan_options);
    if (code == TRV_OK && node)
        code = trv_mpi_node_run_create(&operation->run, node,
                                       &(trv_mpi_node_call_t){.collective = arguments->collective,
                                                              .root = arguments->root,
                                                              .elements = elements,
                                                              .plan = operation->plan,
                                                              .options = &plan_options,
                                                              .shared = shared});
    return code;
}

int trv_mpi_operation_init(trv_mpi_operation_t *operation, trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments,
                           const trv_prepared_t *prepared, const trv_mpi_places_t *places, bool shared, int tag)
{
    *operation = (trv_mpi_operation_t){.arguments = *arguments,
                                       .state = state,
                                       .algorithm = trv_prepared_algorithm(prepared),
                                       .comm_rank = places->comm_rank,
                                       .torus = *trv_schedule_torus(prepared->schedule),
                                       .steps = trv_schedule_steps(prepared->schedule)};
    const int code = make_plan(operation, prepared, places, shared, tag);
    if (code < 0)
        trv_mpi_operation_clear(operation);
    return code;
}

void trv_mpi_operation_clear(trv_mpi_operation_t *operation)
{
    trv_mpi_node_run_destroy(operation->run);
    trv_plan_destroy(operation->plan);
    trv_mpi_channel_destroy(operation->channel);
    trv_mpi_local_clear(&operation->local);
    operation->run = NULL;
    operation->plan = NULL;
    operation->channel = NULL;
}

size_t trv_mpi_node_bytes(const trv_mpi_arguments_t *arguments, const trv_mpi_places_t *places)
{
    return places->node ? trv_mpi_node_scratch_bytes(places->node, arguments->collective, arguments->count,
                                                     arguments->elements.size)
                        : 0;
}

int trv_mpi_operation_compile(trv_prepared_t *prepared, const trv_mpi_arguments_t *arguments,
                              const trv_mpi_places_t *places)
{
    trv_elements_t elements = {.type = arguments->elements.type,
                               .op = arguments->elements.op,
                               .element_size = arguments->elements.size};
    if (arguments->elements.reducer == TRV_MPI_LOCAL)
        elements.reduce = trv_mpi_local_reduce;
    return places->node && !trv_mpi_node_leads(places->node)
               ? TRV_OK
               : trv_prepared_compile(prepared, places->coordinate, arguments->count, &elements, &plan_options);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

bool trv_mpi_operation_has_schedule(const trv_mpi_operation_t *operation) { return operation->plan || operation->run; }

/* Ends a run with `code`: records it, and breaks the communicator if the run failed. Returns `code`. */
static int operation_stop(trv_mpi_operation_t *operation, int code)
{
    if (operation->call > 0)
        trv_record_end(operation->state->recorder, operation->call, code < 0 ? code : TRV_OK);
    if (code < 0) {
        operation->failed = true;
        trv_mpi_state_break(operation->state);
    }
    return code;
}

static int operation_start(trv_mpi_operation_t *operation, const void *input, void *output)
{
    int code = TRV_OK;
    if (atomic_load_explicit(&operation->state->broken, memory_order_relaxed))
        code = trv_mpi_state_broken();
    else if (operation->run)
        code = trv_mpi_node_run_start(operation->run, operation->arguments.count, input, output);
    else if (operation->arguments.blocks)
        code = trv_plan_start_blocks(operation->plan, operation->arguments.blocks->count,
                                     operation->arguments.blocks->displacement, input, output);
    else
        code = trv_plan_start_count(operation->plan, operation->arguments.count, input, output);
    return code < 0 ? operation_stop(operation, code) : TRV_OK;
}

int trv_mpi_operation_begin(trv_mpi_operation_t *operation, const trv_mpi_movement_t *packed, const void *input,
                            void *output)
{
    const trv_mpi_arguments_t *arguments = &operation->arguments;
    trv_mpi_buffers_t *buffers = &operation->buffers;
    trv_mpi_operation_count(operation);
    const int code = packed ? trv_mpi_buffers_begin_packed(buffers, operation->state, packed,
                                                           arguments->count * arguments->elements.size)
                            : trv_mpi_buffers_begin(buffers, operation->state, arguments, input, output);
    return code < 0 ? operation_stop(operation, code) : operation_start(operation, buffers->input, buffers->output);
}

int trv_mpi_operation_test(trv_mpi_operation_t *operation)
{
    int state = operation->run ? trv_mpi_node_run_test(operation->run) : trv_plan_test(operation->plan);
    return state != 0 ? operation_stop(operation, state) : 0;
}

int trv_mpi_operation_wait(trv_mpi_operation_t *operation)
{
    const trv_mpi_waiting_t waiting = {trv_mpi_operation_describe, operation, operation->state->recorder};
    trv_watch_t watch = {0};
    int code;
    for (unsigned polls = 1; (code = trv_mpi_operation_test(operation)) == 0; polls++) {
        trv_mpi_watch_poll(&watch, &waiting, polls);
        trv_mpi_pause(polls);
    }
    trv_mpi_watch_end(&watch, &waiting);
    return code < 0 ? code : TRV_OK;
}

void trv_mpi_operation_set_position(trv_mpi_operation_t *operation, int position)
{
    trv_mpi_channel_set_tag(operation->channel, trv_mpi_state_tag(operation->state, position));
    if (operation->run)
        trv_mpi_node_run_set_position(operation->run, position);
}

int trv_mpi_operation_end(trv_mpi_operation_t *operation, int code)
{
    return trv_mpi_buffers_end(&operation->buffers, operation->state, code);
}

/* ---- Reporting --------------------------------------------------------------------------------------------------- */

void trv_mpi_operation_report(trv_mpi_operation_t *operation)
{
    char label[TRV_MPI_LABEL_MAX];
    const trv_mpi_arguments_t *arguments = &operation->arguments;
    trv_mpi_state_t *state = operation->state;
    size_t bytes = trv_mpi_vector_bytes(arguments, state->ranks);
    if (trv_recording)
        operation->call = trv_record_begin(state->recorder, trv_collective_shape(arguments->collective)->name, bytes,
                                           operation->algorithm, !trv_mpi_operation_has_schedule(operation));
    if (!operation->tally)
        return;
    trv_mpi_log_call(operation->tally, bytes);
    if (trv_mpi_log_enabled(TRV_DEBUG_TRACE, state->rank))
        trv_mpi_log_line("%s, %s of %zu bytes: %s", trv_mpi_state_label(state, label),
                         trv_collective_shape(arguments->collective)->name, bytes, operation->algorithm);
}

static void describe_progress(const trv_mpi_operation_t *operation, char *text, size_t size)
{
    if (operation->run)
        trv_mpi_node_run_describe(operation->run, operation->comm_rank, text, size);
    else
        trv_plan_describe_as(operation->plan, operation->comm_rank, text, size);
}

void trv_mpi_operation_describe(const void *context, char *text, size_t size)
{
    const trv_mpi_operation_t *operation = context;
    char label[TRV_MPI_LABEL_MAX], what[512];
    describe_progress(operation, what, sizeof what);
    snprintf(text, size, "%s, call %lu: %s of %zu bytes, by %s; %s", trv_mpi_state_label(operation->state, label),
             operation->call, trv_collective_shape(operation->arguments.collective)->name,
             trv_mpi_vector_bytes(&operation->arguments, operation->state->ranks), operation->algorithm, what);
}
