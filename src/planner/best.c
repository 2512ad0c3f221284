/*
 * The cache behind trv_planner_best. It keeps answers, so that a repeated question costs a table lookup, and the
 * planners that were used last, so that another size on the same torus and network does not collect the candidates
 * again.
 *
 * One mutex guards both: a thread that asks while another thread's plan is being computed waits for it. Both tables are
 * bounded. A new answer replaces the one with the same hash; a new planner replaces the least recently used one.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "planner/ranking.h"
#include "schedule/collective.h"

#define ANSWERS_MAX  1024 /* a power of two */
#define PLANNERS_MAX 4
#define SETS_MAX     64 /* sets of slow and cut links; adding one more empties the whole cache */

/* Everything that a plan depends on, except for the size. It is compared and hashed as bytes, so fill_key clears it. */
typedef struct question {
    int collective, dims, size[TRV_DIMS_MAX];
    uint32_t lines, links; /* links: the identifier of the set of slow and cut links, see number_links */
    double bandwidth_bps, nic_bandwidth_bps, alpha_ns, link_latency_ns, host_latency_ns, router_in_ns, router_out_ns;
    double message_overhead_ns, gamma_ns;
    uint64_t memory_bytes;
    uint32_t dateline, delivery, packet_bytes;
    uint32_t consistent, idempotent, messages_per_port, shared_paths, one_path, gamma_per_stream, routes;
} question_t;

static struct {
    pthread_mutex_t mutex;
    struct {
        bool used;
        question_t key;
        uint64_t vector_bytes;
        trv_planner_choice_t plan;
    } answer[ANSWERS_MAX]; /* indexed by the hash of the question */
    struct {
        trv_planner_t *planner;
        question_t key;
    } planner[PLANNERS_MAX]; /* most recently used first */
    struct {
        int links;
        trv_slow_link_t *link;
    } set[SETS_MAX]; /* sets of slow and cut links, which keys refer to by number */
    uint32_t sets;
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void fill_key(question_t *key, const trv_torus_t *torus, trv_collective_t collective,
                     const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints)
{
    memset(key, 0, sizeof *key);
    key->collective = (int)collective;
    key->dims = torus->dims;
    memcpy(key->size, torus->size, sizeof key->size);
    key->lines = torus->lines;
    key->bandwidth_bps = network->bandwidth_bps;
    key->nic_bandwidth_bps = network->nic_bandwidth_bps;
    key->alpha_ns = network->alpha_ns;
    key->link_latency_ns = network->link_latency_ns;
    key->host_latency_ns = network->host_latency_ns;
    key->router_in_ns = network->router_in_ns;
    key->router_out_ns = network->router_out_ns;
    key->message_overhead_ns = network->message_overhead_ns;
    key->gamma_ns = network->gamma_ns;
    key->dateline = network->model == TRV_DATELINE;
    key->delivery = (uint32_t)network->delivery;
    key->packet_bytes = network->packet_bytes;
    key->consistent = constraints->consistent;
    key->idempotent = constraints->idempotent;
    key->memory_bytes = constraints->memory_bytes;
    key->messages_per_port = (uint32_t)constraints->messages_per_port;
    key->shared_paths = network->shared_paths;
    key->one_path = network->shared_paths && network->one_path;
    key->gamma_per_stream = network->gamma_ns > 0 && network->gamma_per_stream;
    key->routes = (uint32_t)network->routes;
}

static bool is_same(const question_t *a, const question_t *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* NOLINT(bugprone-suspicious-memory-comparison): intended */
}

/* Empties the cache. */
static void forget(void)
{
    for (int i = 0; i < PLANNERS_MAX; i++) {
        trv_planner_destroy(kept.planner[i].planner);
        kept.planner[i].planner = NULL;
    }
    for (int i = 0; i < ANSWERS_MAX; i++)
        kept.answer[i].used = false;
    for (uint32_t i = 0; i < kept.sets; i++)
        free(kept.set[i].link);
    kept.sets = 0;
}

/* Returns in *number the identifier of the network's set of slow and cut links: 0 for none, else from 1. A set that is
 * not known is copied and added, which may empty the cache. */
static int number_links(const trv_simulate_options_t *network, uint32_t *number)
{
    const int links = network->slow_links;
    const size_t bytes = (size_t)links * sizeof *network->slow_link;
    *number = 0;
    if (links == 0)
        return TRV_OK;
    for (uint32_t i = 0; i < kept.sets; i++)
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): intended */
        if (kept.set[i].links == links && memcmp(kept.set[i].link, network->slow_link, bytes) == 0) {
            *number = i + 1;
            return TRV_OK;
        }
    if (kept.sets == SETS_MAX)
        forget();
    trv_slow_link_t *copy = malloc(bytes);
    if (!copy)
        return trv_fail_memory();
    memcpy(copy, network->slow_link, bytes);
    kept.set[kept.sets].links = links;
    kept.set[kept.sets].link = copy;
    *number = ++kept.sets;
    return TRV_OK;
}

static size_t place_of(const question_t *key, uint64_t vector_bytes)
{
    return (size_t)(trv_hash(TRV_HASH_SEED ^ vector_bytes, key, sizeof *key) >> 32) % ANSWERS_MAX;
}

/* Moves the planner for this question to kept.planner[0]; creates it if there is none. */
static int find_planner(const question_t *key, const trv_torus_t *torus, trv_collective_t collective,
                        const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints)
{
    int found = 0;
    while (found < PLANNERS_MAX - 1 && kept.planner[found].planner && !is_same(&kept.planner[found].key, key))
        found++;
    trv_planner_t *planner = kept.planner[found].planner;
    if (!planner || !is_same(&kept.planner[found].key, key)) {
        int rc = trv_planner_create(&planner, torus, collective, 0, network, constraints);
        if (rc)
            return rc;
        trv_planner_destroy(kept.planner[found].planner);
    }
    memmove(&kept.planner[1], &kept.planner[0], (size_t)found * sizeof kept.planner[0]);
    kept.planner[0].planner = planner;
    kept.planner[0].key = *key;
    return TRV_OK;
}

int trv_planner_best(const trv_torus_t *torus, trv_collective_t collective, int root, uint64_t vector_bytes,
                     const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints,
                     trv_planner_choice_t *plan)
{
    static const trv_planner_constraints_t none = {TRV_PLANNER_CONSTRAINTS};
    question_t key;
    int rc = trv_collective_check(collective, root);
    if (rc)
        return rc;
    fill_key(&key, torus, collective, network, constraints ? constraints : &none);
    pthread_mutex_lock(&kept.mutex);
    rc = number_links(network, &key.links);
    size_t place = place_of(&key, vector_bytes);
    const bool known = !rc && kept.answer[place].used && kept.answer[place].vector_bytes == vector_bytes &&
                       is_same(&kept.answer[place].key, &key);
    if (!rc && !known) {
        trv_planner_choice_t made;
        rc = find_planner(&key, torus, collective, network, constraints);
        if (!rc) {
            trv_planner_report_to(kept.planner[0].planner, network);
            rc = trv_planner_rank(kept.planner[0].planner, vector_bytes, 1, &made);
        }
        if (rc == 1) {
            kept.answer[place].used = true;
            kept.answer[place].key = key;
            kept.answer[place].vector_bytes = vector_bytes;
            kept.answer[place].plan = made;
            rc = TRV_OK;
        }
    }
    if (!rc)
        *plan = kept.answer[place].plan;
    pthread_mutex_unlock(&kept.mutex);
    return rc;
}
