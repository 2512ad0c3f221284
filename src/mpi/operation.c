/*
 * Operations: making and running them.
 */
#include "mpi/operation.h"

#include "common/error.h"
#include "mpi/choose.h"
#include "mpi/node/node.h"
#include "mpi/report.h"
#include "mpi/request.h"
#include "mpi/settings.h"
#include "mpi/wait.h"
#include "mpi/watch.h"

size_t trv_mpi_vector_bytes(const trv_mpi_state_t *state, const trv_mpi_want_t *want)
{
    size_t blocks = want->collective == TRV_ALLREDUCE ? 1 : (size_t)state->ranks;
    return blocks * want->count * want->elements.size;
}

/* A schedule of the caller's own numbers the ranks as the communicator does, one at every place. */
static int make_plan(trv_mpi_operation_t *operation, trv_mpi_state_t *state, const trv_schedule_t *schedule,
                     bool shared)
{
    const trv_mpi_want_t *want = &operation->want;
    trv_mpi_node_t *node = want->schedule ? NULL : state->node;
    int place = want->schedule ? state->rank : state->place;
    trv_elements_t elements = {
        .type = want->elements.type, .op = want->elements.op, .element_size = want->elements.size};
    int code = trv_mpi_channel_create(&operation->channel, state->comm, &state->tags, shared,
                                      trv_mpi_settings()->piece_bytes);
    if (code == TRV_OK && want->elements.way == TRV_MPI_LOCAL) {
        code = trv_mpi_local_init(&operation->local, &want->elements, want->datatype, want->op);
        elements.reduce = trv_mpi_local_reduce;
        elements.reduce_context = &operation->local;
    }
    if (code == TRV_OK && !want->schedule)
        trv_mpi_channel_map(operation->channel, state->member);
    if (code == TRV_OK && (!node || trv_mpi_node_leads(node)))
        code = trv_plan_create(&operation->plan, schedule, place, want->count, &elements,
                               trv_mpi_channel_transport(operation->channel), NULL);
    if (code == TRV_OK && node)
        code = trv_mpi_node_run_create(&operation->run, node, &elements, operation->plan, shared);
    return code;
}

int trv_mpi_operation_init(trv_mpi_operation_t *operation, trv_mpi_state_t *state, const trv_mpi_want_t *want,
                           bool shared)
{
    *operation = (trv_mpi_operation_t){.want = *want, .state = state, .algorithm = "mpi"};
    trv_mpi_choice_t choice = {.schedule = want->schedule, .why = "the caller's own schedule"};
    int code = want->schedule ? TRV_OK : trv_mpi_choose(state, want, &choice);
    if (choice.schedule && !want->schedule && state->node && !shared && !trv_mpi_node_has_room(state->node))
        choice = (trv_mpi_choice_t){.why = "the memory that the ranks of a node share has no room for another plan"};
    const trv_schedule_t *schedule = code == TRV_OK ? choice.schedule : NULL;
    if (schedule) {
        operation->algorithm = trv_schedule_name(schedule);
        operation->steps = trv_schedule_steps(schedule);
        operation->torus = *trv_schedule_torus(schedule);
        code = make_plan(operation, state, schedule, shared);
    }
    if (code < 0)
        trv_mpi_operation_clear(operation);
    else
        trv_mpi_report_choice(operation, state, &choice);
    return code;
}

void trv_mpi_operation_clear(trv_mpi_operation_t *operation)
{
    trv_mpi_node_run_destroy(operation->run);
    trv_plan_destroy(operation->plan);
    operation->run = NULL;
    trv_mpi_channel_destroy(operation->channel);
    trv_mpi_local_clear(&operation->local);
    operation->plan = NULL;
    operation->channel = NULL;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

bool trv_mpi_operation_serves(const trv_mpi_operation_t *operation)
{
    return operation->plan || operation->run;
}

int trv_mpi_operation_start(trv_mpi_operation_t *operation, const void *input, void *output)
{
    return operation->run ? trv_mpi_node_run_start(operation->run, operation->want.count, input, output)
                          : trv_plan_start(operation->plan, input, output);
}

int trv_mpi_operation_test(trv_mpi_operation_t *operation)
{
    int state = operation->run ? trv_mpi_node_run_test(operation->run) : trv_plan_test(operation->plan);
    if (state != 0)
        trv_mpi_record_end(operation, state);
    return state;
}

int trv_mpi_operation_wait(trv_mpi_operation_t *operation)
{
    trv_mpi_watch_t watch = {0};
    int code;
    for (unsigned polls = 1; (code = trv_mpi_operation_test(operation)) == 0; polls++) {
        trv_mpi_requests_progress();
        trv_mpi_watch_poll(&watch, operation, true, polls);
        trv_mpi_pause(polls);
    }
    trv_mpi_watch_end(&watch, operation);
    return code < 0 ? code : TRV_OK;
}

void trv_mpi_operation_place(trv_mpi_operation_t *operation, int position)
{
    trv_mpi_channel_place(operation->channel, position);
    if (operation->run)
        trv_mpi_node_run_place(operation->run, position);
}

void trv_mpi_operation_handles(trv_mpi_operation_t *operation, const trv_mpi_want_t *want)
{
    operation->want.datatype = operation->local.datatype = want->datatype;
    operation->want.op = operation->local.op = want->op;
}

void trv_mpi_operation_await(const trv_mpi_operation_t *operation)
{
    for (unsigned polls = 1; atomic_load_explicit(&operation->users, memory_order_acquire) > 0; polls++) {
        trv_mpi_requests_progress();
        trv_mpi_pause(polls);
    }
}

int trv_mpi_operation_run(trv_mpi_operation_t *operation, const void *input, void *output)
{
    trv_mpi_operation_await(operation);
    trv_mpi_operation_place(operation, 0);
    int code = trv_mpi_operation_start(operation, input, output);
    return code < 0 ? code : trv_mpi_operation_wait(operation);
}

void trv_mpi_operation_describe(const trv_mpi_operation_t *operation, char *text, size_t size)
{
    if (operation->run)
        trv_mpi_node_run_describe(operation->run, trv_mpi_channel_members(operation->channel), text, size);
    else
        trv_plan_describe_as(operation->plan, trv_mpi_channel_members(operation->channel), text, size);
}
