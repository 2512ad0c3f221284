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

#include <trivance/planner.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/size_class.h"
#include "mpi/communicator/world.h"
#include "mpi/selection/chooser.h"

#define CACHED_MAX 1024 /* results; a new one replaces the oldest */
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

static struct {
    pthread_mutex_t mutex;
    uint64_t key[CACHED_MAX]; /* 0: none */
    result_t result[CACHED_MAX];
    int next;
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

/* The key of the cache: a hash of the inputs of the planner that may change within a process. Never 0. */
static uint64_t key_of(const query_t *query)
{
    const uint64_t words[] = {(uint64_t)query->nodes,        query->bytes,
                              query->constraints.consistent, query->constraints.idempotent,
                              query->network.shared_paths,   query->network.one_path};
    const uint64_t key = trv_hash(TRV_HASH_SEED, words, sizeof words);
    return trv_hash(key, query->node, (size_t)query->nodes * sizeof *query->node) | 1;
}

/* Looks up a choice, or calls the planner and caches its choice. A thread that calls this while another thread calls
 * the planner waits until that is finished. */
static int choose_cached(const query_t *query, result_t *result)
{
    const uint64_t key = key_of(query);
    int code = TRV_OK, at = 0;
    pthread_mutex_lock(&cache.mutex);
    while (at < CACHED_MAX && cache.key[at] != key)
        at++;
    if (at < CACHED_MAX) {
        *result = cache.result[at];
    } else if ((code = choose(query, result)) == TRV_OK) {
        cache.key[cache.next] = key;
        cache.result[cache.next] = *result;
        cache.next = (cache.next + 1) % CACHED_MAX;
    }
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
