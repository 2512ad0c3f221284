/*
 * TRV_Plan: an operation that the user owns, with its own tags. Either all ranks create a plan or none does.
 */
#include "mpi/front/plan.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "mpi/communicator/initialize.h"
#include "mpi/communicator/attribute.h"
#include "mpi/communicator/exchange.h"
#include "mpi/front/library.h"
#include "mpi/front/dispatch.h"
#include "mpi/operations/contiguous.h"
#include "mpi/operations/device.h"
#include "mpi/selection/roots.h"
#include "mpi/settings/job_settings.h"
#include "schedule/collective.h"
#include "transport/mpi/mpi_error.h"
#include "transport/mpi/waiting.h"

struct trv_mpi_plan {
    bool running;
    trv_mpi_state_t *state;             /* NULL for an intercommunicator */
    trv_mpi_decision_t *decision;       /* NULL for a schedule that the user passed */
    trv_mpi_context_ids_t *context_ids; /* the block of context ids that the plan's tags are taken from */
    MPI_Comm comm;                      /* owned; the MPI library's collective runs on it */
    trv_mpi_operation_t operation;
    MPI_Request request; /* of the MPI library's collective */
};

static int plan_check(TRV_Plan plan)
{
    if (!plan)
        return trv_fail(TRV_ERR_STATE,
                        "the plan is TRV_PLAN_NULL; create it with TRV_Allreduce_plan_create, for example"),
               MPI_ERR_REQUEST;
    return MPI_SUCCESS;
}

/* ---- Creating ---------------------------------------------------------------------------------------------------- */

static void plan_clear(TRV_Plan plan)
{
    trv_mpi_operation_clear(&plan->operation);
    trv_mpi_context_ids_release(plan->context_ids);
    if (plan->decision)
        trv_mpi_decision_release(plan->decision);
    if (plan->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&plan->comm);
    if (plan->state)
        trv_mpi_state_release(plan->state);
}

/* Creates the operation of a schedule, with its own tags. Collective. */
static int plan_create_operation(TRV_Plan plan, const trv_mpi_arguments_t *arguments, const trv_prepared_t *prepared,
                                 const trv_mpi_places_t *places)
{
    int tag = 0, code = trv_mpi_state_allocate_position(plan->state, &plan->context_ids, &tag);
    if (code != MPI_SUCCESS)
        return code;
    code = trv_mpi_operation_init(&plan->operation, plan->state, arguments, prepared, places, false, tag);
    plan->operation.tally = plan->decision ? plan->decision->tally : NULL;
    return code < 0 ? trv_mpi_class(code) : MPI_SUCCESS;
}

/* Creates a plan that runs the MPI library's collective, on a communicator that lives as long as the plan.
 * Collective. */
static int plan_create_library(TRV_Plan plan, const trv_mpi_arguments_t *arguments, MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    int code = PMPI_Comm_split(comm, 0, rank, &plan->comm); /* MPI_Comm_dup would copy Trivance's attribute */
    plan->operation = (trv_mpi_operation_t){.arguments = *arguments,
                                            .state = plan->state,
                                            .algorithm = "mpi",
                                            .tally = plan->decision ? plan->decision->tally : NULL};
    return code == MPI_SUCCESS ? MPI_SUCCESS : (trv_mpi_transport_error("MPI_Comm_split", code), MPI_ERR_OTHER);
}

static int plan_create_parts(TRV_Plan plan, const trv_mpi_arguments_t *arguments, MPI_Comm comm)
{
    int code = MPI_SUCCESS;
    trv_mpi_state_t *state = plan->state;
    if (!state || !trv_mpi_dispatches(state))
        return plan_create_library(plan, arguments, comm);
    if (arguments->schedule) {
        /* A schedule that the user passed has one rank per torus coordinate, numbered as in the communicator. */
        const trv_prepared_t prepared = {.schedule = arguments->schedule};
        const trv_mpi_places_t places = {.fragment_bytes = trv_mpi_settings()->piece_bytes,
                                         .coordinate = state->rank,
                                         .member = state->members->of};
        return plan_create_operation(plan, arguments, &prepared, &places);
    }
    trv_mpi_decision_t *decision = trv_mpi_get_decision(state, arguments, false, &code);
    if (!decision)
        return code;
    trv_mpi_decision_t *rooted = decision->base.schedule ? trv_mpi_decision_at_root(decision, state, arguments->root)
                                                         : decision;
    /* A rank without memory for the root's decision still takes part in the exchanges, because the others wait for
     * it. */
    plan->decision = rooted ? rooted : decision;
    trv_mpi_decision_hold(plan->decision);
    bool free_slot = !state->config.node || trv_mpi_node_has_free_slot(state->config.node); /* the same on all ranks */
    code = plan->decision->base.schedule && free_slot
               ? plan_create_operation(plan, arguments, &plan->decision->base, &plan->decision->places)
               : plan_create_library(plan, arguments, comm);
    return code == MPI_SUCCESS && !rooted ? trv_mpi_class(trv_fail_memory()) : code;
}

static const char CREATE_PLAN[] = "create a plan";

/* The maximum of the ranks' result codes. A communicator that is left to the MPI library has no out-of-band group. */
static int reduce_worst(const trv_mpi_state_t *state, MPI_Comm comm, int64_t *worst)
{
    if (!state->ids.context_ids)
        return trv_mpi_allreduce_max(comm, worst, 1, CREATE_PLAN);
    const trv_mpi_oob_t oob = trv_mpi_state_oob(state);
    return trv_mpi_oob_allreduce_max(&oob, worst, 1, CREATE_PLAN);
}

static int plan_create(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, MPI_Comm comm, TRV_Plan *created)
{
    TRV_Plan plan = calloc(1, sizeof *plan), on_stack = NULL;
    struct trv_mpi_plan scratch = {.state = state, .comm = MPI_COMM_NULL, .request = MPI_REQUEST_NULL};
    if (!plan)
        plan = on_stack = &scratch; /* this rank still takes part in the exchanges, because the others wait for it */
    *plan = scratch;
    if (state)
        trv_mpi_state_hold(state);
    int code = plan_create_parts(plan, arguments, comm);
    if (on_stack && code == MPI_SUCCESS)
        code = trv_mpi_class(trv_fail_memory());
    int64_t worst = code;
    int exchanged = state ? reduce_worst(state, comm, &worst)
                          : trv_mpi_allreduce_max_of_both(comm, &worst, CREATE_PLAN);
    if (code == MPI_SUCCESS && (exchanged != MPI_SUCCESS || worst != MPI_SUCCESS))
        code = (trv_fail(TRV_ERR_MEMORY, "another rank could not create the plan"), MPI_ERR_NO_MEM);
    if (code == MPI_SUCCESS) {
        *created = plan;
        return MPI_SUCCESS;
    }
    plan_clear(plan);
    if (!on_stack)
        free(plan);
    return code;
}

/* Creates the plan; with TRIVANCE_CHECK the ranks first compare their arguments. `fault`: MPI_SUCCESS, or the error
 * class of this rank's arguments. */
static int plan_create_checked(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, MPI_Comm comm, int fault,
                               TRV_Plan *plan)
{
    int code = state && trv_mpi_settings()->check ? trv_mpi_compare_calls(state, arguments, fault) : fault;
    return code == MPI_SUCCESS ? plan_create(state, arguments, comm, plan) : code;
}

static int movement_arguments(const trv_mpi_reduction_t *reduction, trv_mpi_arguments_t *arguments)
{
    size_t size = 0, bytes = 0;
    int code = trv_mpi_contiguous(reduction->datatype, &size);
    if (code == MPI_SUCCESS && !trv_mpi_is_committed(reduction->datatype))
        code = trv_mpi_fail_uncommitted();
    *arguments = trv_mpi_byte_arguments(reduction->collective, reduction->root, 0);
    if (code == MPI_SUCCESS)
        code = trv_mpi_count_bytes(reduction->count, size, &bytes);
    if (code != MPI_SUCCESS)
        return code;
    if (size == 0)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "a plan moves types without gaps only; TRV_Allgather, for example, takes any type"),
               MPI_ERR_TYPE;
    *arguments = trv_mpi_byte_arguments(reduction->collective, reduction->root, bytes);
    return MPI_SUCCESS;
}

/* Checks and converts the arguments of a plan. MPI_SUCCESS or an error class. */
static int plan_arguments(const trv_mpi_reduction_t *call, trv_mpi_arguments_t *arguments)
{
    return trv_collective_shape(call->collective)->reduces ? trv_mpi_arguments(call, arguments)
                                                           : movement_arguments(call, arguments);
}

/* The arguments are checked after the communicator's initialization, because plan_create_checked needs its state to
 * report invalid arguments to the other ranks. */
int trv_mpi_plan_create(const trv_mpi_reduction_t *call, MPI_Comm comm, TRV_Plan *plan)
{
    if (!plan)
        return trv_fail(TRV_ERR_ARGUMENT, "the plan argument is NULL; pass the address of a TRV_Plan"), MPI_ERR_ARG;
    *plan = TRV_PLAN_NULL;
    trv_mpi_state_t *state;
    trv_mpi_arguments_t arguments;
    int code = trv_mpi_state_find(comm, &state);
    if (code != MPI_SUCCESS)
        return code;
    code = plan_arguments(call, &arguments);
    if (code == MPI_SUCCESS && state)
        code = trv_mpi_root_check(call->collective, call->root, state->ranks);
    return plan_create_checked(state, &arguments, comm, code, plan);
}

/* Checks that a schedule that the user passed can execute this call. MPI_SUCCESS or an error class. */
static int check_schedule(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments)
{
    const trv_schedule_t *schedule = arguments->schedule;
    const int ranks = trv_schedule_torus(schedule)->ranks;
    if (!state)
        return trv_fail(TRV_ERR_UNSUPPORTED, "schedules run on intracommunicators only"), MPI_ERR_COMM;
    if (ranks != state->ranks)
        return trv_fail(TRV_ERR_ARGUMENT, "the schedule is for %d ranks, and the communicator has %d", ranks,
                        state->ranks),
               MPI_ERR_ARG;
    if (arguments->elements.reducer == TRV_MPI_LIBRARY)
        return trv_fail(TRV_ERR_UNSUPPORTED, "a schedule that is passed by the program cannot execute this call: %s",
                        arguments->elements.reason),
               MPI_ERR_TYPE;
    if (!arguments->elements.commutative)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the operation does not commute, and schedules change the order of its operands"),
               MPI_ERR_OP;
    if (trv_schedule_exactness(schedule) == TRV_COVERS && trv_collective_shape(arguments->collective)->reduces &&
        !arguments->elements.idempotent)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the schedule adds some contributions twice, which is correct for "
                                             "MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_BAND and MPI_BOR only"),
               MPI_ERR_OP;
    return MPI_SUCCESS;
}

int TRV_Plan_create(const trv_schedule_t *schedule, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                    TRV_Plan *plan)
{
    if (!plan || !schedule)
        return trv_fail(TRV_ERR_ARGUMENT, "the %s argument is NULL; pass %s", schedule ? "plan" : "schedule",
                        schedule ? "the address of a TRV_Plan" : "a schedule that trv_schedule_create has created"),
               MPI_ERR_ARG;
    *plan = TRV_PLAN_NULL;
    trv_mpi_state_t *state;
    trv_mpi_arguments_t arguments = {.collective = trv_schedule_collective(schedule)};
    const int root = trv_collective_has_root(arguments.collective) ? trv_schedule_root(schedule) : 0;
    const trv_mpi_reduction_t reduction = {arguments.collective, NULL, NULL, count, datatype, op, root};
    int code = trv_mpi_state_find(comm, &state);
    if (code != MPI_SUCCESS)
        return code;
    code = plan_arguments(&reduction, &arguments);
    arguments.schedule = schedule;
    if (code == MPI_SUCCESS)
        code = check_schedule(state, &arguments);
    return plan_create_checked(state, &arguments, comm, code, plan);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Converts the buffers of a plan to those of the MPI library's function, which has only one buffer for a Broadcast, and
 * MPI_IN_PLACE as the receive buffer of a Scatter's root in place. */
static int plan_convert_buffers(const struct trv_mpi_plan *plan, const void **sendbuf, void **recvbuf)
{
    const trv_mpi_arguments_t *arguments = &plan->operation.arguments;
    int rank = 0, code = PMPI_Comm_rank(plan->comm, &rank);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("MPI_Comm_rank", code), MPI_ERR_OTHER;
    if (!trv_mpi_is_root(arguments, rank))
        return MPI_SUCCESS;
    if (arguments->collective == TRV_BROADCAST && *sendbuf != MPI_IN_PLACE) {
        trv_device_present(); /* finds the GPU runtime that the copy uses */
        code = trv_device_copy(*recvbuf, *sendbuf, arguments->count * arguments->elements.size);
        if (code < 0)
            return trv_mpi_class(code);
    }
    if (arguments->collective == TRV_SCATTER && *sendbuf == MPI_IN_PLACE) {
        *sendbuf = *recvbuf;
        *recvbuf = MPI_IN_PLACE;
    }
    return MPI_SUCCESS;
}

static int plan_start_library(TRV_Plan plan, const void *sendbuf, void *recvbuf)
{
    const trv_mpi_arguments_t *arguments = &plan->operation.arguments;
    const int code = plan_convert_buffers(plan, &sendbuf, &recvbuf);
    if (code != MPI_SUCCESS)
        return code;
    size_t unit = !trv_collective_shape(arguments->collective)->reduces ? arguments->elements.size
                                                                        : 1; /* these collectives count bytes */
    const trv_mpi_reduction_t reduction =
        {arguments->collective, sendbuf,       recvbuf,        (MPI_Count)(arguments->count * unit),
         arguments->datatype,   arguments->op, arguments->root};
    if (plan->state)
        trv_mpi_operation_count(&plan->operation);
    return trv_mpi_library_start(&reduction, plan->comm, &plan->request);
}

static int plan_finish(TRV_Plan plan, int code)
{
    plan->running = false;
    if (plan->operation.failed && plan->context_ids)
        atomic_store(&plan->context_ids->poisoned, true);
    return code;
}

/* Ends a run whose operation returned `code`, a code of the core. */
static int plan_finish_schedule(TRV_Plan plan, int code)
{
    code = trv_mpi_operation_end(&plan->operation, code);
    return plan_finish(plan, trv_mpi_operation_class(code, plan->operation.buffers.alias));
}

static int plan_start_schedule(TRV_Plan plan, const void *sendbuf, void *recvbuf)
{
    const trv_mpi_arguments_t *arguments = &plan->operation.arguments;
    const bool sends = trv_mpi_input_bytes(arguments, plan->state->rank, plan->state->ranks) > 0;
    const bool receives = trv_mpi_output_bytes(arguments, plan->state->rank, plan->state->ranks) > 0;
    if ((sends && !sendbuf) || (receives && !recvbuf))
        return trv_fail(TRV_ERR_ARGUMENT, "a buffer is NULL, and the plan's count is not 0"), MPI_ERR_BUFFER;
    const int code = trv_mpi_operation_begin(&plan->operation, NULL, sendbuf, recvbuf);
    return code < 0 ? plan_finish_schedule(plan, code) : MPI_SUCCESS;
}

int TRV_Plan_start(TRV_Plan plan, const void *sendbuf, void *recvbuf)
{
    int code = plan_check(plan);
    if (code != MPI_SUCCESS)
        return code;
    if (plan->running)
        return trv_fail(TRV_ERR_STATE, "the plan is running; wait for it before it is started again"), MPI_ERR_REQUEST;
    bool has_schedule = trv_mpi_operation_has_schedule(&plan->operation);
    code = has_schedule ? plan_start_schedule(plan, sendbuf, recvbuf) : plan_start_library(plan, sendbuf, recvbuf);
    plan->running = code == MPI_SUCCESS;
    return code;
}

int TRV_Plan_test(TRV_Plan plan, int *flag)
{
    int code = plan_check(plan), done = 1;
    if (code == MPI_SUCCESS && !flag)
        code = (trv_fail(TRV_ERR_ARGUMENT, "the flag argument is NULL; pass the address of an int"), MPI_ERR_ARG);
    if (code != MPI_SUCCESS)
        return code;
    if (plan->running && trv_mpi_operation_has_schedule(&plan->operation)) {
        done = trv_mpi_operation_test(&plan->operation);
        *flag = done != 0;
        return done ? plan_finish_schedule(plan, done < 0 ? done : TRV_OK) : MPI_SUCCESS;
    }
    if (plan->running) {
        int test = PMPI_Test(&plan->request, &done, MPI_STATUS_IGNORE);
        code = test == MPI_SUCCESS ? MPI_SUCCESS : (trv_mpi_transport_error("MPI_Test", test), MPI_ERR_OTHER);
    }
    *flag = done != 0;
    return plan->running && done ? plan_finish(plan, code) : code;
}

int TRV_Plan_wait(TRV_Plan plan)
{
    int code = plan_check(plan);
    if (code != MPI_SUCCESS || !plan->running)
        return code;
    if (trv_mpi_operation_has_schedule(&plan->operation))
        return plan_finish_schedule(plan, trv_mpi_operation_wait(&plan->operation));
    code = trv_mpi_poll(&plan->request);
    return plan_finish(plan,
                       code == MPI_SUCCESS ? MPI_SUCCESS : (trv_mpi_transport_error("MPI_Test", code), MPI_ERR_OTHER));
}

int TRV_Plan_run(TRV_Plan plan, const void *sendbuf, void *recvbuf)
{
    int code = TRV_Plan_start(plan, sendbuf, recvbuf);
    return code == MPI_SUCCESS ? TRV_Plan_wait(plan) : code;
}

int TRV_Plan_free(TRV_Plan *plan)
{
    int code = plan_check(plan ? *plan : NULL);
    if (code != MPI_SUCCESS)
        return code;
    if ((*plan)->running)
        return trv_fail(TRV_ERR_STATE, "the plan is running; wait for it before it is freed"), MPI_ERR_REQUEST;
    plan_clear(*plan);
    free(*plan);
    *plan = TRV_PLAN_NULL;
    return MPI_SUCCESS;
}

int TRV_Plan_query(TRV_Plan plan, TRV_Plan_info *info)
{
    int code = plan_check(plan);
    if (code == MPI_SUCCESS && !info)
        code = trv_mpi_class(trv_fail(TRV_ERR_ARGUMENT, "info is NULL; pass the address of a TRV_Plan_info"));
    if (code == MPI_SUCCESS)
        code = trv_mpi_class(trv_check_size(info->size, sizeof *info, "TRV_PLAN_INFO"));
    if (code != MPI_SUCCESS)
        return code;
    const trv_mpi_operation_t *operation = &plan->operation;
    *info = (TRV_Plan_info){TRV_PLAN_INFO, .algorithm = operation->algorithm, .steps = operation->steps};
    if (trv_mpi_operation_has_schedule(operation))
        trv_torus_format(&operation->torus, info->torus, sizeof info->torus);
    if (operation->plan) {
        info->bytes_sent = trv_plan_bytes_sent(operation->plan);
        info->scratch_bytes = trv_plan_scratch_bytes(operation->plan);
    }
    return MPI_SUCCESS;
}
