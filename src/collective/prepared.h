/*
 * A decision prepared on a rank for calls with one root: its schedule, the compiled program, which its instances share,
 * and a pool of instances, each of which is used by one run at a time.
 *
 * On a torus without lines and slow links all roots are equivalent, so that one decision determines the algorithm for
 * all of them. Each root has a schedule, a program and instances of its own. They are prepared on first use, without
 * communication, and a communicator keeps those of the most recently used roots.
 */
#ifndef TRIVANCE_COLLECTIVE_PREPARED_H
#define TRIVANCE_COLLECTIVE_PREPARED_H

#include <trivance/execute.h>

#include "collective/cache.h"
#include "collective/decision.h"
#include "collective/pool.h"

typedef struct trv_prepared {
    trv_cached_t cached; /* must be first: the pointers of caches are cast */
    trv_collective_t collective;
    int root;                      /* 0 if the collective has none */
    bool any_root;                 /* the decision applies to calls with other roots, too */
    uint64_t bytes_min, bytes_max; /* the sizes of vectors that it applies to */
    struct trv_prepared *origin; /* prepared for another root: the decision that all ranks made, with a reference; else
                                    NULL */
    char algorithm[TRV_ALGORITHM_NAME_MAX];
    char full_name[TRV_FULL_NAME_MAX];  /* for trv_schedule_create_on */
    char reason[TRV_CHOICE_REASON_MAX]; /* why the algorithm was chosen, or why there is none */
    const trv_schedule_t *schedule;     /* `created`, or the user's; NULL: none */
    trv_schedule_t *created;            /* by trv_prepared_create_schedule */
    trv_plan_t *model;                  /* a plan that never runs, whose program the instances share; or NULL */
    trv_pool_t pool;                    /* of instances that no run uses */
} trv_prepared_t;

/* Whether decisions about a collective on a network apply to all roots. */
bool trv_any_root(const trv_network_t *network, trv_collective_t collective);

/* Initializes an object whose bytes are all 0, with a pool of at most `instances_max` instances. The caller holds a
 * reference; `destroy` frees the object after the last one is released, and calls trv_prepared_clear. */
void trv_prepared_init(trv_prepared_t *prepared, trv_collective_t collective, int root, int instances_max,
                       void (*destroy)(trv_cached_t *object));
/* Frees instances, program and schedule, by which the object returns to its state after the initialization. */
void trv_prepared_reset(trv_prepared_t *prepared, void (*instance_destroy)(trv_pooled_t *instance));
void trv_prepared_clear(trv_prepared_t *prepared, void (*instance_destroy)(trv_pooled_t *instance));

/* Creates the schedule of the decision; root: the coordinate of the root. TRV_OK or a code. */
int trv_prepared_create_schedule(trv_prepared_t *prepared, const trv_network_t *network, int root);
/* Compiles the schedule for the rank at a coordinate, as trv_plan_create does. The program is counted as kept
 * memory. */
int trv_prepared_compile(trv_prepared_t *prepared, int coordinate, size_t count, const trv_elements_t *elements,
                         const trv_plan_options_t *options);
/* Creates a plan of the program for other elements of the same kind and a transport; scratch_context replaces that of
 * the options. */
int trv_prepared_create_plan(const trv_prepared_t *prepared, trv_plan_t **plan, const trv_elements_t *elements,
                             const trv_transport_t *transport, void *scratch_context);
/* The name of the algorithm of the schedule. */
const char *trv_prepared_algorithm(const trv_prepared_t *prepared);
/* The bytes of the program. */
size_t trv_prepared_memory_bytes(const trv_prepared_t *prepared);

/* The object has the decision `origin`, for its own root; it does not have the texts, nor the range of sizes. */
void trv_prepared_set_origin(trv_prepared_t *prepared, trv_prepared_t *origin);
/* The decision `origin` prepared for calls with another root: from the cache of other roots, or created by `create`,
 * which calls trv_prepared_set_origin. Valid until the next call on the communicator. NULL: `create` has failed. */
trv_prepared_t *trv_prepared_at_root(trv_prepared_t *origin, trv_cache_t *roots, int root,
                                     trv_prepared_t *(*create)(void *context, trv_prepared_t *origin, int root),
                                     void *context);

#endif
