/*
 * Dispatch of calls.
 *
 * No rank decides alone whether a schedule runs. The ranks agree on a communicator when it is initialized
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
#include "mpi/operations/contiguous.h"
#include "mpi/operations/device.h"
#include "mpi/reports/log.h"
#include "mpi/selection/roots.h"
#include "mpi/settings/job_settings.h"
#include "schedule/collective.h"

/* ---- Arguments of a call ----------------------------------------------------------------------------------------- */

/* Whether a type is predefined. The drop-in leaves derived types to the MPI library, because only their layout is sure
 * to be equal on all ranks, not the type. */
static bool is_predefined(MPI_Datatype datatype)
{
    int integers, addresses, datatypes, combiner = MPI_UNDEFINED;
    return PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

/* Whether elements end with padding, as MPI_DOUBLE_INT and MPI_LONG_DOUBLE_INT do. */
static bool ends_with_padding(MPI_Datatype datatype)
{
    MPI_Count lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    return PMPI_Type_get_extent_x(datatype, &lower, &extent) == MPI_SUCCESS &&
           PMPI_Type_get_true_extent_x(datatype, &true_lower, &true_extent) == MPI_SUCCESS &&
           true_lower + true_extent < lower + extent;
}

/* Why the drop-in leaves a reduction to the MPI library although schedules support it; NULL: it does not. The reason is
 * the same on all ranks. */
static const char *reason_of_drop_in(const trv_mpi_reduction_t *reduction)
{
    if (!is_predefined(reduction->datatype))
        return "a derived type";
    /* Other collectives of Open MPI call the component's MPI_Reduce with buffers that end before the last padding. */
    if (trv_mpi_is_component() && reduction->collective == TRV_REDUCE && ends_with_padding(reduction->datatype))
        return "pairs that end with padding, in the component's MPI_Reduce";
    return NULL;
}

/* The buffers of a call on one rank. *input may be MPI_IN_PLACE; a buffer that the rank does not have is NULL. */
static void buffers_of(const trv_mpi_call_t *call, int rank, const void **input, void **output)
{
    if (call->movement) {
        trv_mpi_movement_buffers(call->movement, rank, input, output);
        return;
    }
    const trv_mpi_reduction_t *reduction = call->reduction;
    *input = reduction->input;
    *output = reduction->collective != TRV_REDUCE || rank == reduction->root ? reduction->output : NULL;
}

/* Checks buffers as buffers_of returns them, of a rank with this input and output. `may_be_null`: whether their
 * addresses may be NULL nevertheless. */
static int check_buffers(const trv_mpi_arguments_t *arguments, int rank, int ranks, const void *input,
                         const void *output, bool may_be_null)
{
    const trv_collective_shape_t *shape = trv_collective_shape(arguments->collective);
    const bool has_output = shape->after != TRV_ROOT || trv_mpi_is_root(arguments, rank);
    const bool sends = trv_mpi_input_bytes(arguments, rank, ranks) > 0;
    const bool receives = trv_mpi_output_bytes(arguments, rank, ranks) > 0;
    if (output == MPI_IN_PLACE)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "the receive buffer is MPI_IN_PLACE; only the send buffer may be MPI_IN_PLACE (of MPI_Scatter "
                        "the root's receive buffer)"),
               MPI_ERR_BUFFER;
    if (input == MPI_IN_PLACE && !has_output)
        return trv_fail(TRV_ERR_ARGUMENT, "the send buffer is MPI_IN_PLACE; in this collective only that of the root "
                                          "may be MPI_IN_PLACE"),
               MPI_ERR_BUFFER;
    if (!may_be_null && ((sends && (input == MPI_IN_PLACE ? !output : !input)) || (receives && !output)))
        return trv_fail(TRV_ERR_ARGUMENT, "a buffer is NULL although the count is not 0"), MPI_ERR_BUFFER;
    return MPI_SUCCESS;
}

/* Sets the blocks of a Reduce-Scatter with a count per rank. MPI_SUCCESS or an error class. */
static int read_counts(const trv_mpi_counts_t *counts, int ranks, trv_mpi_arguments_t *arguments)
{
    trv_mpi_blocks_t *blocks;
    int code = trv_mpi_blocks_create(&blocks, counts, ranks, 1, 1, arguments->elements.size);
    if (code == MPI_SUCCESS)
        trv_mpi_arguments_set_blocks(arguments, blocks, ranks);
    return code;
}

static int read_reduction(const trv_mpi_call_t *call, int rank, int ranks, trv_mpi_arguments_t *arguments)
{
    const trv_mpi_reduction_t *reduction = call->reduction;
    const void *input;
    void *output;
    int code = trv_mpi_arguments(reduction, arguments);
    if (code == MPI_SUCCESS && call->counts)
        code = read_counts(call->counts, ranks, arguments);
    const bool is_local = code == MPI_SUCCESS && arguments->elements.reducer == TRV_MPI_LOCAL;
    const char *reason = is_local && trv_mpi_is_drop_in() ? reason_of_drop_in(reduction) : NULL;
    if (reason) {
        arguments->elements.reducer = TRV_MPI_LIBRARY;
        arguments->elements.reason = reason;
    }
    if (code != MPI_SUCCESS || arguments->count == 0)
        return code;
    buffers_of(call, rank, &input, &output);
    const bool may_be_null = arguments->elements.reducer == TRV_MPI_LIBRARY; /* a type may have absolute addresses */
    return check_buffers(arguments, rank, ranks, input, output, may_be_null);
}

/* Reads the arguments of an AllGather with a count per rank. A rank whose blocks are not in sequence packs them, and
 * also one with a buffer on a GPU, if blocks have different sizes. */
static int read_blocks(const trv_mpi_movement_t *movement, int rank, int ranks, trv_mpi_arguments_t *arguments,
                       bool *contiguous)
{
    trv_mpi_blocks_t *blocks;
    int code = trv_mpi_movement_measure_blocks(movement, rank, ranks, &blocks, contiguous);
    *arguments = trv_mpi_byte_arguments(TRV_ALLGATHER, 0, 0);
    if (!blocks)
        return code;
    const bool in_sequence = blocks->in_sequence;
    trv_mpi_arguments_set_blocks(arguments, blocks, ranks);
    if (arguments->unequal && *contiguous)
        *contiguous = !trv_mpi_on_device(movement->sendbuf, movement->recvbuf);
    else if (!arguments->unequal)
        *contiguous = *contiguous && in_sequence;
    if (arguments->unequal && !*contiguous)
        arguments->blocks->displacement = NULL; /* of the packed blocks */
    return code;
}

static int read_movement(const trv_mpi_call_t *call, int rank, int ranks, trv_mpi_arguments_t *arguments,
                         bool *contiguous)
{
    const trv_mpi_movement_t *movement = call->movement;
    const void *input;
    void *output;
    size_t bytes = 0;
    int code = movement->counts ? read_blocks(movement, rank, ranks, arguments, contiguous)
                                : trv_mpi_movement_measure(movement, rank, &bytes, contiguous);
    if (!movement->counts)
        *arguments = trv_mpi_byte_arguments(movement->collective, movement->root, bytes);
    if (code != MPI_SUCCESS)
        return code;
    arguments->uncommitted = !trv_mpi_movement_is_committed(movement, rank);
    bytes = arguments->blocks ? arguments->blocks->largest : arguments->count;
    if (bytes > INT_MAX && trv_mpi_is_drop_in()) {
        arguments->elements.reducer = TRV_MPI_LIBRARY;
        arguments->elements.reason = trv_collective_has_blocks(movement->collective) ? "blocks of more than 2 GiB"
                                                                                     : "vectors of more than 2 GiB";
    }
    buffers_of(call, rank, &input, &output);
    return check_buffers(arguments, rank, ranks, input, output, !*contiguous);
}

/* Converts the arguments of a call; arguments->elements.reducer is TRV_MPI_LIBRARY if no schedule can execute it.
 * *contiguous is false if this rank's types of a collective that moves data have gaps. Returns MPI_SUCCESS, or the
 * error class of invalid arguments with the message in trv_last_error(); MPI_ERR_NO_MEM: no memory for block sizes. The
 * caller clears the arguments. */
static int read_call(const trv_mpi_call_t *call, int rank, int ranks, trv_mpi_arguments_t *arguments, bool *contiguous)
{
    *arguments = trv_mpi_byte_arguments(trv_mpi_call_collective(call), 0, 0);
    *contiguous = true;
    int code = trv_mpi_root_check(trv_mpi_call_collective(call),
                                  call->movement ? call->movement->root : call->reduction->root, ranks);
    if (code != MPI_SUCCESS)
        return code;
    return call->movement ? read_movement(call, rank, ranks, arguments, contiguous)
                          : read_reduction(call, rank, ranks, arguments);
}

/* MPI_SUCCESS, or MPI_ERR_TYPE if a type of this rank is not committed. */
static int check_committed(const trv_mpi_arguments_t *arguments)
{
    return arguments->uncommitted ? trv_mpi_fail_uncommitted() : MPI_SUCCESS;
}

/* ---- Decisions --------------------------------------------------------------------------------------------------- */

bool trv_mpi_dispatches(const trv_mpi_state_t *state)
{
    return state && !state->abandoned && !state->config.left_to_library;
}

static void state_abandon(trv_mpi_state_t *state)
{
    trv_mpi_log_fallback(state->rank, "%s", trv_last_error());
    state->abandoned = true;
}

trv_mpi_decision_t *trv_mpi_get_decision(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, bool on_device,
                                         int *code)
{
    trv_mpi_decision_t *decision = NULL;
    trv_vote_result_t verdict = trv_mpi_decide(state, arguments, on_device, &decision);
    *code = MPI_SUCCESS;
    if (decision)
        return decision;
    if (atomic_load_explicit(&state->broken, memory_order_relaxed))
        *code = trv_mpi_class(trv_mpi_state_broken());
    else if (trv_mpi_is_drop_in() && verdict == TRV_DIFFER)
        trv_mpi_log_warning("a call falls back to the MPI library: %s",
                            trv_last_error()); /* MPI handles the mismatch */
    else if (trv_mpi_is_drop_in())
        state_abandon(state);
    else
        *code = verdict == TRV_UNABLE ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
    return NULL;
}

static bool is_on_device(const void *input, const void *output)
{
    return trv_mpi_on_device(input, output) || (trv_mpi_is_drop_in() && trv_device_present() && trv_device_unknown());
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static int run_schedule(trv_mpi_decision_t *decision, const trv_mpi_call_t *call, trv_mpi_state_t *state, size_t count,
                        trv_mpi_blocks_t *blocks, MPI_Datatype datatype, MPI_Op op, bool contiguous)
{
    const void *input;
    void *output;
    decision = trv_mpi_decision_at_root(decision, state, trv_mpi_call_root(call));
    trv_mpi_operation_t *operation = decision ? trv_mpi_decision_take(decision, state, count, blocks, datatype, op)
                                              : NULL;
    if (!operation)
        return trv_mpi_class(trv_mpi_state_fail_memory(state));
    operation->tally = trv_mpi_log_row(operation->tally);
    buffers_of(call, state->rank, &input, &output);
    int code = trv_mpi_operation_begin(operation, contiguous ? NULL : call->movement, input, output);
    if (code == TRV_OK)
        code = trv_mpi_operation_wait(operation);
    code = trv_mpi_operation_end(operation, code);
    const trv_mpi_alias_t alias = operation->buffers.alias;
    trv_mpi_decision_give(operation);
    return trv_mpi_operation_class(code, alias);
}

/* Finds or makes the decision for a call with valid arguments, and runs it. */
static bool dispatch_arguments(const trv_mpi_call_t *call, trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments,
                               bool contiguous, int *code)
{
    const void *input;
    void *output;
    buffers_of(call, state->rank, &input, &output);
    trv_mpi_decision_t *decision = trv_mpi_get_decision(state, arguments, is_on_device(input, output), code);
    if (!decision)
        return *code != MPI_SUCCESS;
    if (!decision->base.schedule) {
        trv_mpi_operation_t fallback = decision->mpi; /* a copy: other threads and duplicates use the original */
        fallback.state = state;
        fallback.tally = trv_mpi_log_row(fallback.tally);
        fallback.arguments.count = arguments->count;
        fallback.arguments.blocks = arguments->blocks;
        trv_mpi_operation_count(&fallback);
        return false;
    }
    *code = run_schedule(decision, call, state, arguments->count, arguments->blocks, arguments->datatype, arguments->op,
                         contiguous);
    if (*code == MPI_SUCCESS)
        *code = check_committed(arguments);
    return true;
}

/* The slow path: validates the arguments, and finds or makes the decision. Return value and *code are those of
 * trv_mpi_dispatch. */
static bool dispatch_checked(const trv_mpi_call_t *call, trv_mpi_state_t *state, int *code)
{
    trv_mpi_arguments_t arguments;
    bool contiguous, executed;
    const void *input;
    void *output;
    *code = read_call(call, state->rank, state->ranks, &arguments, &contiguous);
    buffers_of(call, state->rank, &input, &output);
    const bool compared = trv_mpi_settings()->check, no_memory = *code == MPI_ERR_NO_MEM;
    if (compared && *code == MPI_SUCCESS)
        *code = check_committed(&arguments);
    if (compared && *code == MPI_SUCCESS && contiguous && arguments.elements.reducer != TRV_MPI_LIBRARY)
        *code = trv_mpi_alias_class(trv_mpi_alias(&arguments, state->rank, state->ranks, input, output));
    if (compared)
        *code = trv_mpi_compare_calls(state, &arguments, *code);
    if (no_memory && !compared) /* the other ranks may run a schedule */
        trv_mpi_state_fail_memory(state);
    if (*code != MPI_SUCCESS) /* drop-in: the MPI library reports invalid arguments by the program's error handler */
        executed = !trv_mpi_is_drop_in() || compared || no_memory;
    else if (arguments.count == 0)
        executed = !trv_mpi_is_drop_in();
    else
        executed = dispatch_arguments(call, state, &arguments, contiguous, code);
    trv_mpi_arguments_clear(&arguments);
    return executed;
}

/* Whether the root and the buffers of a reduction are valid. If not, the slow path reports it. */
static bool has_buffers(const trv_mpi_reduction_t *reduction, const trv_mpi_state_t *state)
{
    if (reduction->collective != TRV_REDUCE || reduction->root == state->rank)
        return reduction->input && reduction->output && reduction->output != MPI_IN_PLACE;
    return reduction->input && reduction->input != MPI_IN_PLACE && reduction->root >= 0 &&
           reduction->root < state->ranks;
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
    if (reduction && has_buffers(reduction, state) && !call->counts && !trv_mpi_settings()->check)
        decision = trv_mpi_decision_find_by_handles(state, reduction);
    if (!decision || !decision->base.schedule)
        return dispatch_checked(call, state, code);
    *code = run_schedule(decision, call, state, (size_t)reduction->count, NULL, reduction->datatype, reduction->op,
                         true);
    return true;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

bool trv_mpi_make_request_spec(const trv_mpi_call_t *call, int rank, int ranks, trv_mpi_request_spec_t *spec, int *code)
{
    bool contiguous;
    *spec = (trv_mpi_request_spec_t){.input = NULL};
    *code = read_call(call, rank, ranks, &spec->arguments, &contiguous);
    if (*code == MPI_SUCCESS)
        *code = check_committed(&spec->arguments);
    buffers_of(call, rank, &spec->input, &spec->output);
    spec->packed = contiguous ? NULL : call->movement;
    spec->is_barrier = call->is_barrier;
    return *code == MPI_SUCCESS && spec->arguments.count > 0;
}

static trv_mpi_decision_t *find_schedule(trv_mpi_state_t *state, const trv_mpi_request_spec_t *spec, bool persistent)
{
    trv_mpi_decision_t *decision = trv_mpi_decision_find(state, &spec->arguments);
    return decision && decision->base.schedule && !(persistent && state->config.node) ? decision : NULL;
}

bool trv_mpi_has_schedule(trv_mpi_state_t *state, const trv_mpi_request_spec_t *spec, bool persistent)
{
    return find_schedule(state, spec, persistent) && (!persistent || trv_mpi_state_has_persistent(state));
}

int trv_mpi_make_request(trv_mpi_request_t **request, trv_mpi_state_t *state, trv_mpi_request_spec_t *spec,
                         bool persistent)
{
    trv_mpi_context_ids_t *context_ids = NULL;
    int tag = 0;
    *request = NULL;
    if (atomic_load_explicit(&state->broken, memory_order_relaxed))
        return trv_mpi_state_broken();
    trv_mpi_decision_t *decision = find_schedule(state, spec, persistent);
    if (!decision || (persistent && !trv_mpi_state_allocate_persistent(state, &context_ids, &tag)))
        return TRV_OK;
    decision = trv_mpi_decision_at_root(decision, state, spec->arguments.root);
    if (!decision) {
        trv_mpi_context_ids_release(context_ids);
        return trv_mpi_state_fail_memory(state);
    }
    int code = trv_mpi_request_create(request, state, decision, spec, context_ids, tag);
    if (code < 0)
        trv_mpi_context_ids_release(context_ids);
    else
        spec->arguments.blocks = NULL; /* the request owns them */
    return code;
}

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

const char *trv_mpi_undecided_reason(bool persistent)
{
    return persistent ? "no blocking call of this kind and size class came first, or the communicator has the maximum "
                        "number of persistent requests"
                      : "no blocking call of this kind and size class came first";
}

/* Why a hint or an earlier decision leaves such calls to the MPI library. NULL: neither does. *requested: whether a
 * hint or a setting requests that. */
static const char *decided_reason(const trv_mpi_call_t *call, MPI_Comm comm, bool *requested)
{
    int invalid;
    trv_mpi_state_t *state;
    trv_mpi_request_spec_t spec;
    *requested = false;
    if (!trv_mpi_state_known(comm, &state))
        return NULL;
    if (state->config.left_to_library) {
        *requested = true;
        return TRV_MPI_HINT_REASON;
    }
    if (!call)
        return NULL;
    const bool has_elements = trv_mpi_make_request_spec(call, state->rank, state->ranks, &spec, &invalid);
    const trv_mpi_decision_t *decision = has_elements ? trv_mpi_decision_peek(state, &spec.arguments) : NULL;
    trv_mpi_arguments_clear(&spec.arguments);
    if (!decision || decision->base.schedule)
        return NULL;
    *requested = decision->requested;
    return decision->base.reason;
}

void trv_mpi_log_fallback_of(const char *name, const trv_mpi_call_t *call, const char *reason, MPI_Comm comm)
{
    int rank = 0;
    bool requested;
    if (!atomic_load_explicit(&trv_mpi_observes, memory_order_relaxed) || comm == MPI_COMM_NULL ||
        PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
        return;
    const char *decided = decided_reason(call, comm, &requested);
    trv_mpi_log_call_fallback(rank, name, decided ? decided : reason, requested);
}
