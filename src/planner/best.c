/*
 * The cache of trv_planner_best. It holds choices, so that a repeated call costs one table lookup, and the planners
 * that were used last, so that another size on the same torus and network does not collect the candidates again.
 *
 * One mutex guards both tables, and is not held while a choice is computed: a thread takes the planner out of the
 * cache, and puts it back when it has finished. Threads that ask the same question at the same time compute the same
 * choice. Both tables are bounded. A new choice replaces the one with the same hash; a new planner replaces the least
 * recently used one.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "parameters/parameters.h"
#include "planner/ranking.h"
#include "schedule/collective.h"

#define ANSWERS_MAX  1024 /* a power of two */
#define PLANNERS_MAX 4
#define SETS_MAX     64 /* sets of slow and cut links; adding one more empties the whole cache */

/* Everything on which a choice depends, except for the size. It is compared and hashed as bytes, so key_fill clears
 * it. */
typedef struct cache_key {
    int collective, root, dims, size[TRV_DIMS_MAX];
    uint32_t lines, links; /* links: the identifier of the set of slow and cut links, see cache_identify_links */
    uint64_t memory_bytes;
    uint32_t consistent, idempotent;
    unsigned char network[TRV_PARAMETERS_KEY_MAX];
} cache_key_t;

static struct {
    pthread_mutex_t mutex;
    struct {
        bool used;
        cache_key_t key;
        uint64_t vector_bytes;
        trv_planner_choice_t choice;
    } answer[ANSWERS_MAX]; /* indexed by the hash of key and size */
    struct {
        trv_planner_t *planner;
        cache_key_t key;
    } planner[PLANNERS_MAX]; /* most recently used first */
    struct {
        int links;
        trv_slow_link_t *link;
    } set[SETS_MAX]; /* sets of slow and cut links, to which keys refer by identifier */
    uint32_t sets;
} cache = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void key_fill(cache_key_t *key, const trv_torus_t *torus, trv_collective_t collective, int root,
                     const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints)
{
    memset(key, 0, sizeof *key);
    key->collective = (int)collective;
    key->root = root;
    key->dims = torus->dims;
    memcpy(key->size, torus->size, sizeof key->size);
    key->lines = torus->lines;
    key->consistent = constraints->consistent;
    key->idempotent = constraints->idempotent;
    key->memory_bytes = constraints->memory_bytes;
    trv_parameters_key(network, key->network);
}

static bool key_equal(const cache_key_t *a, const cache_key_t *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* NOLINT(bugprone-suspicious-memory-comparison): intended */
}

/* Empties the cache. */
static void cache_clear(void)
{
    for (int i = 0; i < PLANNERS_MAX; i++) {
        trv_planner_destroy(cache.planner[i].planner);
        cache.planner[i].planner = NULL;
    }
    for (int i = 0; i < ANSWERS_MAX; i++)
        cache.answer[i].used = false;
    for (uint32_t i = 0; i < cache.sets; i++)
        free(cache.set[i].link);
    cache.sets = 0;
}

/* Returns in *id the identifier of the network's set of slow and cut links: 0 for no links, otherwise from 1. A set
 * that is not in the table is copied and added, which may empty the cache. */
static int cache_identify_links(const trv_simulate_options_t *network, uint32_t *id)
{
    const int links = network->slow_links;
    const size_t bytes = (size_t)links * sizeof *network->slow_link;
    *id = 0;
    if (links == 0)
        return TRV_OK;
    for (uint32_t i = 0; i < cache.sets; i++)
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): intended */
        if (cache.set[i].links == links && memcmp(cache.set[i].link, network->slow_link, bytes) == 0) {
            *id = i + 1;
            return TRV_OK;
        }
    if (cache.sets == SETS_MAX)
        cache_clear();
    trv_slow_link_t *copy = malloc(bytes);
    if (!copy)
        return trv_fail_memory();
    memcpy(copy, network->slow_link, bytes);
    cache.set[cache.sets].links = links;
    cache.set[cache.sets].link = copy;
    *id = ++cache.sets;
    return TRV_OK;
}

static size_t cache_slot(const cache_key_t *key, uint64_t vector_bytes)
{
    return (size_t)(trv_hash(TRV_HASH_SEED ^ vector_bytes, key, sizeof *key) >> 32) % ANSWERS_MAX;
}

/* Copies to *choice the choice for this key and size, if the cache has it. */
static bool cache_get_choice(const cache_key_t *key, uint64_t vector_bytes, trv_planner_choice_t *choice)
{
    const size_t slot = cache_slot(key, vector_bytes);
    if (!cache.answer[slot].used || cache.answer[slot].vector_bytes != vector_bytes ||
        !key_equal(&cache.answer[slot].key, key))
        return false;
    *choice = cache.answer[slot].choice;
    return true;
}

static void cache_put_choice(const cache_key_t *key, uint64_t vector_bytes, const trv_planner_choice_t *choice)
{
    const size_t slot = cache_slot(key, vector_bytes);
    cache.answer[slot].used = true;
    cache.answer[slot].key = *key;
    cache.answer[slot].vector_bytes = vector_bytes;
    cache.answer[slot].choice = *choice;
}

/* Takes a planner with this key out of the cache, or returns NULL. */
static trv_planner_t *cache_take_planner(const cache_key_t *key)
{
    for (int i = 0; i < PLANNERS_MAX && cache.planner[i].planner; i++) {
        trv_planner_t *planner = cache.planner[i].planner;
        if (!key_equal(&cache.planner[i].key, key))
            continue;
        memmove(&cache.planner[i], &cache.planner[i + 1], (size_t)(PLANNERS_MAX - 1 - i) * sizeof cache.planner[0]);
        cache.planner[PLANNERS_MAX - 1].planner = NULL;
        return planner;
    }
    return NULL;
}

/* Puts a planner into the cache as the most recently used one. */
static void cache_put_planner(const cache_key_t *key, trv_planner_t *planner)
{
    trv_planner_destroy(cache.planner[PLANNERS_MAX - 1].planner);
    memmove(&cache.planner[1], &cache.planner[0], (PLANNERS_MAX - 1) * sizeof cache.planner[0]);
    cache.planner[0].planner = planner;
    cache.planner[0].key = *key;
}

int trv_planner_best(const trv_torus_t *torus, trv_collective_t collective, int root, uint64_t vector_bytes,
                     const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints,
                     trv_planner_choice_t *choice)
{
    static const trv_planner_constraints_t none = {TRV_PLANNER_CONSTRAINTS};
    cache_key_t key;
    trv_planner_choice_t best;
    trv_planner_t *planner = NULL;
    int rc = trv_collective_check(collective, root, torus->ranks);
    if (rc)
        return rc;
    key_fill(&key, torus, collective, root, network, constraints ? constraints : &none);
    pthread_mutex_lock(&cache.mutex);
    rc = cache_identify_links(network, &key.links);
    const bool cached = !rc && cache_get_choice(&key, vector_bytes, choice);
    if (!rc && !cached)
        planner = cache_take_planner(&key);
    pthread_mutex_unlock(&cache.mutex);
    if (rc || cached)
        return rc;

    if (!planner)
        rc = trv_planner_create(&planner, torus, collective, root, network, constraints);
    if (rc)
        return rc;
    trv_planner_set_progress(planner, network);
    const int count = trv_planner_rank(planner, vector_bytes, 1, &best);

    pthread_mutex_lock(&cache.mutex);
    rc = cache_identify_links(network, &key.links); /* anew: another thread may have emptied the cache */
    if (rc)
        trv_planner_destroy(planner);
    else
        cache_put_planner(&key, planner);
    if (!rc && count == 1)
        cache_put_choice(&key, vector_bytes, &best);
    pthread_mutex_unlock(&cache.mutex);
    if (count == 1)
        *choice = best;
    return count == 1 ? TRV_OK : count;
}
