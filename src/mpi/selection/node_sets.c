/*
 * Choices for sets of nodes, compared with the algorithms that an MPI library may use. Rank 0 of a communicator
 * calls the planner; its result is broadcast.
 *
 * Results are cached, so that a program that creates the same communicator repeatedly calls the planner once. The
 * planner's work is limited, not its time (trv_planner_nodes): the same calls yield the same choices in every run,
 * whatever the machine's load.
 */
#include "mpi/selection/node_sets.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/planner.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/size_class.h"
#include "collective/cache.h"
#include "mpi/communicator/world.h"
#include "mpi/selection/chooser.h"

#define CACHED_MAX 256 /* results; a new one replaces the least recently used */
/* Larger machines are not planned for: it would take seconds, too long within an MPI call. */
#define MACHINE_NODES_MAX 4096

/* Algorithms that an MPI library without knowledge of the network may use. */
static const char *const competitors[] = {"recdoub-l", "recdoub-b", "ring"};
enum { COMPETITORS = sizeof competitors / sizeof competitors[0] };

typedef struct result {
    int code;           /* TRV_OK or TRV_ERR_UNSUPPORTED */
    char sentence[256]; /* the reason for TRV_ERR_UNSUPPORTED */
    trv_planner_node_choice_t best;
    int competitor; /* index of the fastest competitor; -1: none supports the nodes */
    double competitor_ns;
    bool is_lower_bound; /* competitor_ns is a lower bound */
} result_t;

/* A result, and the inputs of the planner that may change within a process. */
typedef struct cached_result {
    trv_cached_t cached;
    result_t result;
    int words;
    int64_t key[];
} cached_result_t;

static struct {
    pthread_mutex_t mutex;
    trv_cache_t results;
} cache = {.mutex = PTHREAD_MUTEX_INITIALIZER};

typedef struct query {
    const trv_torus_t *machine;
    int nodes;
    const int *node;
    uint64_t bytes;
    trv_simulate_options_t network;
    trv_planner_constraints_t constraints;
} query_t;

/* ---- Choosing ---------------------------------------------------------------------------------------------------- */

static int time_competitors(const query_t *query, result_t *result)
{
    result->competitor = -1;
    for (int i = 0; i < COMPETITORS; i++) {
        double time_ns;
        bool is_lower_bound;
        int code = trv_planner_nodes_time(query->machine, query->nodes, query->node, TRV_ALLREDUCE, 0, query->bytes,
                                          &query->network, competitors[i], &time_ns, &is_lower_bound);
        if (code < 0 && code != TRV_ERR_UNSUPPORTED)
            return code;
        if (code == TRV_OK && (result->competitor < 0 || time_ns < result->competitor_ns)) {
            result->competitor = i;
            result->competitor_ns = time_ns;
            result->is_lower_bound = is_lower_bound;
        }
    }
    return TRV_OK;
}

static int choose(const query_t *query, result_t *result)
{
    *result = (result_t){.competitor = -1};
    int code = trv_planner_nodes(query->machine, query->nodes, query->node, TRV_ALLREDUCE, 0, query->bytes,
                                 &query->network, &query->constraints, 1, &result->best);
    if (code == TRV_ERR_UNSUPPORTED) {
        result->code = code;
        snprintf(result->sentence, sizeof result->sentence, "%s", trv_last_error());
        return TRV_OK;
    }
    return code < 0 ? code : time_competitors(query, result);
}

static void cached_destroy(trv_cached_t *object) { free(object); }

/* An entry for the query, without a result; NULL if memory is exhausted. */
static cached_result_t *cached_create(const query_t *query)
{
    const int64_t inputs[] = {(int64_t)query->bytes, query->constraints.consistent, query->constraints.idempotent,
                              query->network.shared_paths, query->network.one_path};
    const int count = sizeof inputs / sizeof inputs[0];
    cached_result_t *entry = malloc(sizeof *entry + (size_t)(count + query->nodes) * sizeof entry->key[0]);
    if (!entry) {
        trv_fail_memory();
        return NULL;
    }
    trv_cached_init(&entry->cached, cached_destroy);
    entry->words = count + query->nodes;
    memcpy(entry->key, inputs, sizeof inputs);
    for (int i = 0; i < query->nodes; i++)
        entry->key[count + i] = query->node[i];
    return entry;
}

static const cached_result_t *cached_find(const cached_result_t *wanted)
{
    for (trv_cache_entry_t **link = &cache.results.first; *link; link = &(*link)->next) {
        const cached_result_t *entry = (const cached_result_t *)(*link)->object;
        if (entry->words == wanted->words &&
            memcmp(entry->key, wanted->key, (size_t)wanted->words * sizeof wanted->key[0]) == 0)
            return (const cached_result_t *)trv_cache_use(&cache.results, link);
    }
    return NULL;
}

/* Looks up a choice, or calls the planner and caches its choice. A thread that calls this while another thread calls
 * the planner waits until that is finished. */
static int choose_cached(const query_t *query, result_t *result)
{
    cached_result_t *entry = cached_create(query);
    if (!entry)
        return TRV_ERR_MEMORY;
    pthread_mutex_lock(&cache.mutex);
    const cached_result_t *found = cached_find(entry);
    const int code = found ? TRV_OK : choose(query, &entry->result);
    *result = found ? found->result : entry->result;
    if (!found && code == TRV_OK)
        trv_cache_add(&cache.results, &entry->cached, CACHED_MAX);
    else
        free(entry);
    pthread_mutex_unlock(&cache.mutex);
    return code;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static void fall_back(const trv_mpi_state_t *state, const result_t *result, trv_choice_t *choice)
{
    const trv_planner_choice_t *best = &result->best.choice;
    trv_choice_append(choice, "%s%s", *choice->reason ? "; " : "", state->config.reason);
    if (result->code < 0)
        trv_choice_append(choice, "; %s", result->sentence);
    else
        trv_choice_append(choice, "; on its nodes %s takes %s%.4g us and the best plan, %s, %.4g us",
                          competitors[result->competitor], result->is_lower_bound ? "at least " : "",
                          result->competitor_ns / 1e3, best->algorithm, best->time_ns / 1e3);
}

static void use_choice(const trv_mpi_state_t *state, const query_t *query, const result_t *result, trv_choice_t *choice)
{
    char machine[TRV_TORUS_TEXT_MAX], torus[TRV_TORUS_TEXT_MAX];
    const trv_planner_node_choice_t *best = &result->best;
    choice->on_nodes = true;
    choice->order = best->order;
    choice->torus = best->torus;
    snprintf(choice->algorithm, sizeof choice->algorithm, "%s", best->choice.algorithm);
    const trv_time_unit_t *unit = trv_choice_append_times(choice, "planned", &best->choice);
    if (result->competitor >= 0)
        trv_choice_append(choice, "; %s would take %s%.4g %s", competitors[result->competitor],
                          result->is_lower_bound ? "at least " : "", result->competitor_ns / unit->ns, unit->name);
    trv_torus_format(query->machine, machine, sizeof machine);
    if (best->torus.dims > 1)
        trv_choice_append(choice, "; the %s %s of %d nodes of %s: %s", best->torus.lines ? "mesh" : "torus",
                          trv_torus_format(&best->torus, torus, sizeof torus), query->nodes, machine,
                          state->config.reason);
    else
        trv_choice_append(choice, "; a %s along %d nodes of %s, order %s: %s", best->torus.lines ? "line" : "ring",
                          query->nodes, machine, trv_order_name(best->order), state->config.reason);
}

int trv_mpi_choose_on_nodes(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, bool must_be_faster,
                            trv_choice_t *choice)
{
    const trv_network_t *machine = &trv_mpi_world()->network;
    const trv_chooser_t chooser = trv_mpi_chooser(state, machine, trv_mpi_world()->shared_port);
    const trv_signature_t signature = trv_mpi_signature(arguments);
    const query_t query = {.machine = &machine->torus,
                           .nodes = state->config.network.torus.ranks,
                           .node = state->config.machine_node,
                           .bytes = trv_size_class(trv_mpi_vector_bytes(arguments, state->ranks)),
                           .network = chooser.simulation,
                           .constraints = trv_signature_constraints(&signature, chooser.allow_inconsistent)};
    result_t result;
    const double began_s = trv_now_s();
    int code = TRV_OK;
    if (must_be_faster && machine->torus.ranks > MACHINE_NODES_MAX) {
        result = (result_t){.code = TRV_ERR_UNSUPPORTED};
        snprintf(result.sentence, sizeof result.sentence,
                 "the machine has more than %d nodes, so that planning for a subset of them would take seconds",
                 MACHINE_NODES_MAX);
    } else {
        code = choose_cached(&query, &result);
    }
    if (code < 0)
        return code;
    if (result.code < 0 ||
        (must_be_faster && result.competitor >= 0 && result.best.choice.time_ns >= result.competitor_ns))
        fall_back(state, &result, choice);
    else
        use_choice(state, &query, &result, choice);
    trv_choice_append_duration(choice, trv_now_s() - began_s);
    return TRV_OK;
}
