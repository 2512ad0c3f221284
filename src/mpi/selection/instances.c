/*
 * Prepared decisions, their pools of instances, and the search for the decision of a call.
 */
#include "mpi/selection/instances.h"

#include <stdlib.h>

#include "base/error.h"
#include "schedule/collective.h"

enum { INSTANCES_MAX = 16 }; /* in the pool of a decision, beside the first */

#define FOUND_COUNT_MAX ((MPI_Count)1 << 32) /* the size in bytes of 2^32 elements does not overflow */

/* ---- Instances --------------------------------------------------------------------------------------------------- */

/* NULL if there is no memory, with the message in trv_last_error(). */
static trv_mpi_operation_t *instance_make(trv_mpi_decision_t *decision, trv_mpi_state_t *state)
{
    trv_mpi_operation_t *operation = calloc(1, sizeof *operation);
    if (!operation) {
        trv_fail_memory();
        return NULL;
    }
    if (trv_mpi_operation_init(operation, state, &decision->signature, &decision->base, &decision->places, true, 0) <
        0) {
        free(operation);
        return NULL;
    }
    operation->decision = decision;
    return operation;
}

static void instance_destroy(trv_pooled_t *pooled)
{
    trv_mpi_operation_t *operation = (trv_mpi_operation_t *)(void *)pooled;
    trv_mpi_operation_clear(operation);
    free(operation);
}

trv_mpi_operation_t *trv_mpi_decision_take(trv_mpi_decision_t *decision, trv_mpi_state_t *state, size_t count,
                                           trv_mpi_blocks_t *blocks, MPI_Datatype datatype, MPI_Op op)
{
    trv_mpi_operation_t *operation = (trv_mpi_operation_t *)(void *)trv_pool_take(&decision->base.pool);
    operation = operation ? operation : instance_make(decision, state);
    if (!operation)
        return NULL;
    operation->state = state;
    operation->tally = decision->tally;
    trv_mpi_operation_set_call(operation, count, blocks, datatype, op);
    trv_mpi_operation_set_position(operation, 0);
    return operation;
}

void trv_mpi_decision_give(trv_mpi_operation_t *operation)
{
    if (operation->failed || !trv_pool_give(&operation->decision->base.pool, &operation->pooled))
        instance_destroy(&operation->pooled);
}

/* ---- Creation and release ---------------------------------------------------------------------------------------- */

void trv_mpi_decision_hold(trv_mpi_decision_t *decision) { trv_cached_hold(&decision->base.cached); }

void trv_mpi_decision_release(trv_mpi_decision_t *decision) { trv_cached_release(&decision->base.cached); }

void trv_mpi_decision_leave_to_library(trv_mpi_decision_t *decision)
{
    trv_prepared_reset(&decision->base, instance_destroy);
    trv_mpi_layout_clear(&decision->layout);
    decision->places = (trv_mpi_places_t){.node = NULL};
}

static void decision_destroy(trv_cached_t *cached)
{
    trv_mpi_decision_t *decision = (trv_mpi_decision_t *)(void *)cached;
    trv_prepared_clear(&decision->base, instance_destroy);
    trv_mpi_layout_clear(&decision->layout);
    free(decision);
}

trv_mpi_decision_t *trv_mpi_decision_create(const trv_mpi_arguments_t *arguments, int root)
{
    trv_mpi_decision_t *decision = calloc(1, sizeof *decision);
    if (!decision) {
        trv_fail_memory();
        return NULL;
    }
    trv_prepared_init(&decision->base, arguments->collective, root, INSTANCES_MAX, decision_destroy);
    decision->signature = *arguments;
    decision->signature.blocks = NULL;
    decision->signature.root = root;
    decision->mpi = (trv_mpi_operation_t){.arguments = decision->signature, .algorithm = "mpi"};
    return decision;
}

int trv_mpi_decision_prepare(trv_mpi_decision_t *decision, trv_mpi_state_t *state)
{
    int code = trv_mpi_operation_compile(&decision->base, &decision->signature, &decision->places);
    if (code < 0)
        return code;
    trv_mpi_operation_t *operation = instance_make(decision, state);
    if (!operation)
        return TRV_ERR_MEMORY;
    trv_mpi_decision_give(operation);
    return TRV_OK;
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

trv_mpi_decision_t *trv_mpi_decision_find_by_handles(trv_mpi_state_t *state, const trv_mpi_reduction_t *call)
{
    trv_cache_t *cache = &state->decisions;
    if (call->count <= 0 || call->count > FOUND_COUNT_MAX)
        return NULL;
    for (trv_cache_entry_t **link = &cache->first; *link; link = &(*link)->next) {
        const trv_mpi_decision_t *decision = (const trv_mpi_decision_t *)(void *)(*link)->object;
        const trv_mpi_arguments_t *signature = &decision->signature;
        if (signature->datatype != call->datatype || signature->op != call->op ||
            signature->collective != call->collective || signature->unequal || !signature->elements.predefined ||
            (signature->root != call->root && !decision->base.any_root))
            continue;
        const size_t blocks = trv_collective_blocks(signature->collective, state->ranks);
        const size_t bytes = blocks * (size_t)call->count * signature->elements.size;
        if (bytes >= decision->base.bytes_min && bytes <= decision->base.bytes_max)
            return (trv_mpi_decision_t *)(void *)trv_cache_use(cache, link);
    }
    return NULL;
}

/* Whether a decision applies to a call with vectors of `bytes`. */
static bool applies(const trv_mpi_decision_t *decision, const trv_mpi_arguments_t *arguments, size_t bytes)
{
    return bytes >= decision->base.bytes_min && bytes <= decision->base.bytes_max &&
           (decision->signature.root == arguments->root || decision->base.any_root) &&
           trv_mpi_same_signature(&decision->signature, arguments);
}

/* The list entry of the decision for a call; NULL: there is none. */
static trv_cache_entry_t **find_link(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments)
{
    const size_t bytes = trv_mpi_vector_bytes(arguments, state->ranks);
    for (trv_cache_entry_t **link = &state->decisions.first; *link; link = &(*link)->next)
        if (applies((const trv_mpi_decision_t *)(void *)(*link)->object, arguments, bytes))
            return link;
    return NULL;
}

trv_mpi_decision_t *trv_mpi_decision_find(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments)
{
    trv_cache_entry_t **link = find_link(state, arguments);
    return link ? (trv_mpi_decision_t *)(void *)trv_cache_use(&state->decisions, link) : NULL;
}

const trv_mpi_decision_t *trv_mpi_decision_peek(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments)
{
    trv_cache_entry_t **link = find_link(state, arguments);
    return link ? (const trv_mpi_decision_t *)(void *)(*link)->object : NULL;
}
