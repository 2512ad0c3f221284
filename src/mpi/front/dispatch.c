/*
 * Dispatch of calls.
 *
 * No rank decides alone whether a schedule runs. The ranks agree on a communicator when it is initialised
 * (communicator/) and on a decision at the first call of each operation signature (selection/). Later calls depend only
 * on properties that MPI requires to be the same on all ranks: the communicator, the order of its calls, count, type
 * and operation. A failure of one rank after that (no memory for a copy, a message of the wrong length) breaks the
 * communicator on that rank: all later calls there return an error, including those that would fall back to the MPI
 * library.
 */
#include "mpi/front/dispatch.h"

#include <limits.h>

#include "base/error.h"
#include "mpi/communicator/attribute.h"
#include "mpi/operations/buffers.h"
#include "mpi/operations/device.h"
#include "mpi/reports/log.h"
#include "mpi/settings/job_settings.h"

/* ---- Arguments of a call ----------------------------------------------------------------------------------------- */

/* Whether a type is predefined. The drop-in leaves derived types to the MPI library, because only their layout is sure
 * to be equal on all ranks, not the type. */
static bool is_named(MPI_Datatype datatype)
{
    int integers, addresses, datatypes, combiner = MPI_UNDEFINED;
    return PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

static int check_output(const void *output)
{
    if (output != MPI_IN_PLACE)
        return MPI_SUCCESS;
    return trv_fail(TRV_ERR_ARGUMENT, "the receive buffer is MPI_IN_PLACE, which stands for the send buffer only"),
           MPI_ERR_BUFFER;
}

static int read_reduction(const trv_mpi_reduction_t *call, trv_mpi_arguments_t *arguments)
{
    int code = trv_mpi_arguments(call, arguments);
    if (code == MPI_SUCCESS && arguments->elements.way == TRV_MPI_LOCAL && trv_mpi_is_drop_in() &&
        !is_named(call->datatype)) {
        arguments->elements.way = TRV_MPI_LIBRARY;
        arguments->elements.reason = "a derived type";
    }
    if (code == MPI_SUCCESS && arguments->elements.way != TRV_MPI_LIBRARY && arguments->count > 0 &&
        (!call->input || !call->output))
        return trv_fail(TRV_ERR_ARGUMENT, "a buffer is NULL, and the count is not 0"), MPI_ERR_BUFFER;
    return code == MPI_SUCCESS && arguments->count > 0 ? check_output(call->output) : code;
}

static int read_gather(const trv_mpi_gather_t *call, trv_mpi_arguments_t *arguments, bool *plain)
{
    size_t bytes = 0;
    int code = trv_mpi_gather_measure(call, &bytes, plain);
    *arguments = trv_mpi_byte_arguments(bytes);
    if (code == MPI_SUCCESS && bytes > 0 && *plain && (!call->sendbuf || !call->recvbuf))
        return trv_fail(TRV_ERR_ARGUMENT, "a buffer is NULL, and the count is not 0"), MPI_ERR_BUFFER;
    if (code == MPI_SUCCESS && bytes > INT_MAX && trv_mpi_is_drop_in()) {
        arguments->elements.way = TRV_MPI_LIBRARY;
        arguments->elements.reason = "blocks of more than 2 GiB";
    }
    return code == MPI_SUCCESS && bytes > 0 ? check_output(call->recvbuf) : code;
}

/* Converts the arguments of a call; arguments->elements.way is TRV_MPI_LIBRARY if no schedule can execute it. *plain is
 * false for an AllGather of types with gaps. Returns MPI_SUCCESS, or the error class of invalid arguments with the
 * message in trv_last_error(). */
static int read_call(const trv_mpi_call_t *call, trv_mpi_arguments_t *arguments, bool *plain)
{
    *plain = true;
    return call->gather ? read_gather(call->gather, arguments, plain) : read_reduction(call->reduction, arguments);
}

static void buffers_of(const trv_mpi_call_t *call, const void **input, void **output)
{
    *input = call->gather ? call->gather->sendbuf : call->reduction->input;
    *output = call->gather ? call->gather->recvbuf : call->reduction->output;
}

/* ---- Decisions --------------------------------------------------------------------------------------------------- */

bool trv_mpi_dispatches(const trv_mpi_state_t *state) { return state && !state->abandoned && !state->config.left; }

static void abandon(trv_mpi_state_t *state)
{
    trv_mpi_log_fallback(state->rank, "%s", trv_last_error());
    state->abandoned = true;
}

trv_mpi_decision_t *trv_mpi_find_decision(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, bool on_device,
                                          int *code)
{
    trv_mpi_decision_t *decision = NULL;
    trv_mpi_verdict_t verdict = trv_mpi_decide(state, arguments, on_device, &decision);
    *code = MPI_SUCCESS;
    if (decision)
        return decision;
    if (atomic_load_explicit(&state->broken, memory_order_relaxed))
        *code = trv_mpi_class(trv_mpi_state_broken());
    else if (trv_mpi_is_drop_in() && verdict == TRV_MPI_DIFFER)
        trv_mpi_log_warning("a call is left to the MPI library: %s", trv_last_error()); /* MPI handles the mismatch */
    else if (trv_mpi_is_drop_in())
        abandon(state);
    else
        *code = verdict == TRV_MPI_UNABLE ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
    return NULL;
}

static bool lies_on_device(const void *input, const void *output)
{
    return trv_mpi_on_device(input, output) || (trv_mpi_is_drop_in() && trv_device_present() && trv_device_unknown());
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static int begin_buffers(trv_mpi_buffers_t *buffers, const trv_mpi_call_t *call, const trv_mpi_state_t *state,
                         const trv_mpi_arguments_t *arguments, bool plain)
{
    const void *input;
    void *output;
    buffers_of(call, &input, &output);
    return plain ? trv_mpi_buffers_begin(buffers, state, arguments, input, output)
                 : trv_mpi_buffers_begin_packed(buffers, state, call->gather,
                                                arguments->count * arguments->elements.size);
}

static int run(trv_mpi_decision_t *decision, const trv_mpi_call_t *call, trv_mpi_state_t *state, size_t count,
               MPI_Datatype datatype, MPI_Op op, bool plain)
{
    trv_mpi_buffers_t buffers;
    trv_mpi_operation_t *operation = trv_mpi_decision_take(decision, state, count, datatype, op);
    if (!operation)
        return trv_mpi_class(trv_mpi_state_fail_memory(state));
    trv_mpi_operation_count(operation);
    int code = begin_buffers(&buffers, call, state, &operation->arguments, plain);
    if (code == TRV_OK)
        code = trv_mpi_buffers_end(&buffers, state, trv_mpi_operation_run(operation, buffers.input, buffers.output));
    else
        code = trv_mpi_operation_fail(operation, code);
    trv_mpi_decision_give(operation);
    return code < 0 ? trv_mpi_class(code) : trv_mpi_alias_class(plain ? buffers.alias : TRV_MPI_APART);
}

/* The slow path: validates the arguments, and finds or makes the decision. Return value and *code are those of
 * trv_mpi_dispatch. */
static bool dispatch_checked(const trv_mpi_call_t *call, trv_mpi_state_t *state, int *code)
{
    trv_mpi_arguments_t arguments = {.collective = call->gather ? TRV_ALLGATHER : call->reduction->collective};
    bool plain = true;
    const void *input;
    void *output;
    *code = read_call(call, &arguments, &plain);
    buffers_of(call, &input, &output);
    if (trv_mpi_settings()->check && *code == MPI_SUCCESS && plain && !call->uneven &&
        arguments.elements.way != TRV_MPI_LIBRARY)
        *code = trv_mpi_alias_class(trv_mpi_alias(&arguments, state->rank, state->ranks, input, output));
    if (trv_mpi_settings()->check)
        *code = trv_mpi_compare_calls(state, &arguments, call->uneven, *code);
    if (*code != MPI_SUCCESS) /* drop-in: the MPI library reports invalid arguments by the program's error handler */
        return !trv_mpi_is_drop_in() || trv_mpi_settings()->check;
    if (call->uneven)
        return false;
    if (arguments.count == 0)
        return !trv_mpi_is_drop_in();
    trv_mpi_decision_t *decision = trv_mpi_find_decision(state, &arguments, lies_on_device(input, output), code);
    if (!decision)
        return *code != MPI_SUCCESS;
    if (!decision->spec.schedule) {
        trv_mpi_operation_t passed = decision->mpi; /* a copy, since duplicates and other threads share the original */
        passed.state = state;
        passed.arguments.count = arguments.count;
        trv_mpi_operation_count(&passed);
        return false;
    }
    *code = run(decision, call, state, arguments.count, arguments.datatype, arguments.op, plain);
    return true;
}

bool trv_mpi_dispatch(const trv_mpi_call_t *call, MPI_Comm comm, int *code)
{
    trv_mpi_state_t *state;
    *code = trv_mpi_state_find(comm, &state);
    if (*code != MPI_SUCCESS || !trv_mpi_dispatches(state))
        return *code != MPI_SUCCESS;
    if (atomic_load_explicit(&state->broken, memory_order_relaxed)) {
        *code = trv_mpi_class(trv_mpi_state_broken());
        return true;
    }
    const trv_mpi_reduction_t *reduction = call->reduction;
    trv_mpi_decision_t *decision = NULL;
    if (reduction && reduction->input && reduction->output && reduction->output != MPI_IN_PLACE && !call->uneven &&
        !trv_mpi_settings()->check)
        decision = trv_mpi_decision_find(state, reduction);
    if (!decision || !decision->spec.schedule)
        return dispatch_checked(call, state, code);
    *code = run(decision, call, state, (size_t)reduction->count, reduction->datatype, reduction->op, true);
    return true;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

bool trv_mpi_make_job(const trv_mpi_call_t *call, trv_mpi_job_t *job, int *code)
{
    bool plain = true;
    *job = (trv_mpi_job_t){.input = NULL};
    *code = read_call(call, &job->arguments, &plain);
    buffers_of(call, &job->input, &job->output);
    job->packed = plain ? NULL : call->gather;
    return *code == MPI_SUCCESS && job->arguments.count > 0;
}

static trv_mpi_decision_t *find_schedule(trv_mpi_state_t *state, const trv_mpi_job_t *job, bool persistent)
{
    trv_mpi_decision_t *decision = trv_mpi_decision_look(state, &job->arguments);
    return decision && decision->spec.schedule && !(persistent && state->config.node) ? decision : NULL;
}

bool trv_mpi_has_schedule(trv_mpi_state_t *state, const trv_mpi_job_t *job, bool persistent)
{
    return find_schedule(state, job, persistent) && (!persistent || trv_mpi_state_has_persistent(state));
}

int trv_mpi_make_request(trv_mpi_request_t **request, trv_mpi_state_t *state, const trv_mpi_job_t *job, bool persistent)
{
    trv_mpi_context_ids_t *context_ids = NULL;
    int tag = 0;
    *request = NULL;
    if (atomic_load_explicit(&state->broken, memory_order_relaxed))
        return trv_mpi_state_broken();
    trv_mpi_decision_t *decision = find_schedule(state, job, persistent);
    if (!decision || (persistent && !trv_mpi_state_persistent(state, &context_ids, &tag)))
        return TRV_OK;
    const trv_mpi_instances_t instances = trv_mpi_decision_instances(decision);
    int code = trv_mpi_request_create(request, state, &instances, job, context_ids, tag);
    if (code < 0) {
        instances.release(instances.source);
        trv_mpi_context_ids_release(context_ids);
    }
    return code;
}
