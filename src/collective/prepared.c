/*
 * Prepared decisions; prepared.h describes them.
 */
#include "collective/prepared.h"

#include "collective/memory.h"
#include "execute/run/plan.h"
#include "schedule/collective.h"
#include "torus/rows.h"

enum { ROOTS_MAX = 128 }; /* per communicator, over all decisions */

bool trv_any_root(const trv_network_t *network, trv_collective_t collective)
{
    return trv_collective_has_root(collective) && trv_network_is_uniform(network);
}

/* ---- Creation and release ---------------------------------------------------------------------------------------- */

void trv_prepared_init(trv_prepared_t *prepared, trv_collective_t collective, int root, int instances_max,
                       void (*destroy)(trv_cached_t *object))
{
    trv_cached_init(&prepared->cached, destroy);
    trv_pool_init(&prepared->pool, instances_max);
    prepared->collective = collective;
    prepared->root = root;
}

void trv_prepared_reset(trv_prepared_t *prepared, void (*instance_destroy)(trv_pooled_t *instance))
{
    trv_pooled_t *instance;
    while ((instance = trv_pool_take(&prepared->pool)) != NULL)
        instance_destroy(instance);
    trv_memory_count(-(int64_t)trv_prepared_memory_bytes(prepared));
    trv_plan_destroy(prepared->model);
    trv_schedule_destroy(prepared->created);
    prepared->model = NULL;
    prepared->schedule = prepared->created = NULL;
}

void trv_prepared_clear(trv_prepared_t *prepared, void (*instance_destroy)(trv_pooled_t *instance))
{
    trv_prepared_reset(prepared, instance_destroy);
    trv_pool_clear(&prepared->pool);
    if (prepared->origin)
        trv_cached_release(&prepared->origin->cached);
}

/* ---- Schedule and program ---------------------------------------------------------------------------------------- */

static const trv_prepared_t *decision_of(const trv_prepared_t *prepared)
{
    return prepared->origin ? prepared->origin : prepared;
}

int trv_prepared_create_schedule(trv_prepared_t *prepared, const trv_network_t *network, int root)
{
    const int rc = trv_schedule_create_on(&prepared->created, network, decision_of(prepared)->full_name,
                                          prepared->collective, root);
    prepared->schedule = prepared->created;
    return rc;
}

const char *trv_prepared_algorithm(const trv_prepared_t *prepared)
{
    const char *algorithm = decision_of(prepared)->algorithm;
    return *algorithm ? algorithm : trv_schedule_name(prepared->schedule);
}

static int model_open(void *context, int requests, int tags, int *base)
{
    (void)context, (void)requests, (void)tags;
    *base = 0;
    return TRV_OK;
}

static void model_close(void *context, int base) { (void)context, (void)base; }

int trv_prepared_compile(trv_prepared_t *prepared, int coordinate, size_t count, const trv_elements_t *elements,
                         const trv_plan_options_t *options)
{
    static const trv_transport_t nothing = {TRV_TRANSPORT, .open = model_open, .close = model_close};
    const int rc = trv_plan_create(&prepared->model, prepared->schedule, coordinate, count, elements, &nothing,
                                   options);
    trv_memory_count((int64_t)trv_prepared_memory_bytes(prepared));
    return rc;
}

int trv_prepared_create_plan(const trv_prepared_t *prepared, trv_plan_t **plan, const trv_elements_t *elements,
                             const trv_transport_t *transport, void *scratch_context)
{
    return trv_plan_create_with(plan, prepared->model, elements, transport, scratch_context);
}

size_t trv_prepared_memory_bytes(const trv_prepared_t *prepared)
{
    return prepared->model ? trv_plan_memory_bytes(prepared->model) : 0;
}

/* ---- Roots ------------------------------------------------------------------------------------------------------- */

void trv_prepared_set_origin(trv_prepared_t *prepared, trv_prepared_t *origin)
{
    trv_cached_hold(&origin->cached);
    prepared->origin = origin;
}

trv_prepared_t *trv_prepared_at_root(trv_prepared_t *origin, trv_cache_t *roots, int root,
                                     trv_prepared_t *(*create)(void *context, trv_prepared_t *origin, int root),
                                     void *context)
{
    for (trv_cache_entry_t **link = &roots->first; *link; link = &(*link)->next) {
        const trv_prepared_t *prepared = (const trv_prepared_t *)(void *)(*link)->object;
        if (prepared->origin == origin && prepared->root == root)
            return (trv_prepared_t *)(void *)trv_cache_use(roots, link);
    }
    trv_prepared_t *prepared = create(context, origin, root);
    if (prepared)
        trv_cache_add(roots, &prepared->cached, trv_memory_exceeds_limit() ? 1 : ROOTS_MAX);
    return prepared;
}
