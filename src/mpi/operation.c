/*
 * Operations and the plans that the blocking calls keep.
 *
 * The kept plans never run at the same time and share their tags, so it does not matter whether the ranks keep the same
 * ones. How many are kept is bounded in number and in bytes of their vectors.
 */
#include "mpi/operation.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "mpi/node.h"
#include "mpi/report.h"
#include "mpi/wait.h"

#define KEPT_MAX 64
#define KEPT_BYTES_MAX ((size_t)1 << 30)

struct trv_mpi_entry {
    trv_mpi_operation_t operation;
    struct trv_mpi_entry *next;
};

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
    int code = trv_mpi_channel_create(&operation->channel, state->comm, &state->tags, shared, 0);
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
        code = trv_mpi_node_run_create(&operation->run, node, &elements, want->count, operation->plan, shared);
    return code;
}

int trv_mpi_operation_init(trv_mpi_operation_t *operation, trv_mpi_state_t *state, const trv_mpi_want_t *want,
                           bool shared)
{
    *operation = (trv_mpi_operation_t){.want = *want, .algorithm = "mpi"};
    const trv_schedule_t *schedule = want->schedule;
    const char *why = "the caller's own schedule";
    int code = TRV_OK;
    if (!schedule) {
        trv_mpi_schedule_t *entry = NULL;
        code = trv_mpi_choose(state, want, &entry, &why);
        schedule = code == TRV_OK && entry ? entry->schedule : NULL;
    }
    if (schedule && !want->schedule && state->node && !shared && !trv_mpi_node_has_room(state->node)) {
        schedule = NULL;
        why = "the memory that the ranks of a node share has no room for another plan";
    }
    if (schedule) {
        operation->algorithm = trv_schedule_name(schedule);
        operation->steps = trv_schedule_steps(schedule);
        operation->torus = *trv_schedule_torus(schedule);
        code = make_plan(operation, state, schedule, shared);
    }
    if (code < 0)
        trv_mpi_operation_clear(operation);
    else
        trv_mpi_report_choice(operation, state, why);
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
    return operation->run ? trv_mpi_node_run_start(operation->run, input, output)
                          : trv_plan_start(operation->plan, input, output);
}

int trv_mpi_operation_test(trv_mpi_operation_t *operation)
{
    return operation->run ? trv_mpi_node_run_test(operation->run) : trv_plan_test(operation->plan);
}

int trv_mpi_operation_wait(trv_mpi_operation_t *operation)
{
    int code;
    for (unsigned polls = 1; (code = trv_mpi_operation_test(operation)) == 0; polls++)
        trv_mpi_pause(polls);
    return code < 0 ? code : TRV_OK;
}

int trv_mpi_operation_run(trv_mpi_operation_t *operation, const void *input, void *output)
{
    int code = trv_mpi_operation_start(operation, input, output);
    return code < 0 ? code : trv_mpi_operation_wait(operation);
}

void trv_mpi_operation_describe(const trv_mpi_operation_t *operation, char *text, size_t size)
{
    if (operation->run)
        trv_mpi_node_run_describe(operation->run, text, size);
    else
        trv_plan_describe(operation->plan, text, size);
}

/* ---- The kept ones ----------------------------------------------------------------------------------------------- */

/* What is the same on all ranks is the key, so that they keep the same operations: a kernel's type rather than its
 * handle (MPI_INT here may be MPI_INTEGER there). Handles of user-defined types and operations may be freed and given
 * out again; there the shape is the key. The kept operation is told the present handles. */
static bool serves(const trv_mpi_want_t *kept, const trv_mpi_want_t *want)
{
    const trv_mpi_elements_t *a = &kept->elements, *b = &want->elements;
    if (kept->collective != want->collective || kept->count != want->count || a->way != b->way || a->size != b->size ||
        a->predefined != b->predefined || a->commutative != b->commutative || a->reason != b->reason)
        return false;
    if (a->way == TRV_MPI_KERNEL)
        return a->type == b->type && a->op == b->op;
    return !a->predefined || (kept->datatype == want->datatype && kept->op == want->op);
}

static void to_front(trv_mpi_state_t *state, struct trv_mpi_entry **place)
{
    struct trv_mpi_entry *entry = *place;
    *place = entry->next;
    entry->next = state->cache;
    state->cache = entry;
}

/* Drops what is beyond the bounds; the first one always stays. */
static void trim(trv_mpi_state_t *state)
{
    size_t bytes = 0;
    int kept = 0;
    struct trv_mpi_entry **place = &state->cache;
    while (*place) {
        bytes += trv_mpi_vector_bytes(state, &(*place)->operation.want);
        if (kept++ == 0 || (kept <= KEPT_MAX && bytes <= KEPT_BYTES_MAX)) {
            place = &(*place)->next;
            continue;
        }
        struct trv_mpi_entry *gone = *place;
        *place = gone->next;
        trv_mpi_operation_clear(&gone->operation);
        free(gone);
    }
}

trv_mpi_operation_t *trv_mpi_cache_look(trv_mpi_state_t *state, const trv_mpi_want_t *want)
{
    for (struct trv_mpi_entry **place = &state->cache; *place; place = &(*place)->next)
        if (serves(&(*place)->operation.want, want)) {
            to_front(state, place);
            trv_mpi_operation_t *operation = &state->cache->operation;
            operation->want.datatype = operation->local.datatype = want->datatype;
            operation->want.op = operation->local.op = want->op;
            return operation;
        }
    return NULL;
}

int trv_mpi_cache_make(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_operation_t **operation)
{
    struct trv_mpi_entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return trv_fail_memory();
    int code = trv_mpi_operation_init(&entry->operation, state, want, true);
    if (code < 0) {
        free(entry);
        return code;
    }
    entry->next = state->cache;
    state->cache = entry;
    trim(state);
    *operation = &entry->operation;
    return TRV_OK;
}

int trv_mpi_cache_get(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_operation_t **operation)
{
    *operation = trv_mpi_cache_look(state, want);
    return *operation ? TRV_OK : trv_mpi_cache_make(state, want, operation);
}

trv_mpi_operation_t *trv_mpi_cache_find(trv_mpi_state_t *state, trv_collective_t collective, size_t count,
                                        MPI_Datatype datatype, MPI_Op op)
{
    for (struct trv_mpi_entry **place = &state->cache; *place; place = &(*place)->next) {
        const trv_mpi_want_t *want = &(*place)->operation.want;
        if (want->count == count && want->datatype == datatype && want->op == op && want->collective == collective &&
            want->elements.predefined) {
            to_front(state, place);
            return &state->cache->operation;
        }
    }
    return NULL;
}

void trv_mpi_cache_clear(trv_mpi_state_t *state)
{
    while (state->cache) {
        struct trv_mpi_entry *gone = state->cache;
        state->cache = gone->next;
        trv_mpi_operation_clear(&gone->operation);
        free(gone);
    }
}
