/*
 * Collects candidates from the table of algorithms: first every algorithm that is a single schedule, then the
 * candidates that each algorithm with parameters offers, and finally those algorithms under their plain names.
 *
 * The choice must not be slower than any single schedule, so all of these are simulated, unless a lower bound shows
 * that they cannot win. The exceptions are schedules of which more than DISTINCT_RANKS_MAX ranks would have to be
 * simulated, because they have no symmetry on a large torus. research/bench/planner shows that these never win.
 *
 * Algorithms with a number of ports send by all, or by one, under their plain names. Where messages have overheads, any
 * other number can be faster; all numbers are then considered like single schedules.
 *
 * Of several candidates with the same time, the planner chooses the one that was added first. Single schedules are
 * therefore added first. The algorithms with parameters follow from the end of the table to its start, because the more
 * specialized ones are at the end.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/algorithm.h"
#include "algorithms/name.h"
#include "planner/candidates.h"
#include "torus/rows.h"
#include "torus/torus.h"

#define DISTINCT_RANKS_MAX 64  /* ranks to simulate for a single schedule */
#define FEW_MESSAGES_MAX   512 /* ranks to simulate for a latency-optimal algorithm with a number of ports */

/* Adds a candidate that is always considered, if it exists on the network and at most `distinct_max` of its ranks must
 * be simulated. */
static int add_named(trv_candidates_t *list, const char *name, int distinct_max)
{
    trv_candidate_t candidate = {.always = true};
    snprintf(candidate.name, sizeof candidate.name, "%s", name);
    int rc = trv_candidate_properties(list, &candidate);
    if (rc == TRV_ERR_UNSUPPORTED)
        return TRV_OK;
    return !rc && candidate.properties.distinct_ranks <= distinct_max ? trv_candidates_add(list, &candidate) : rc;
}

/* Adds a candidate that is always considered, unless simulating it is too much work because it has no symmetry. On
 * networks with lines, slow or cut links no schedule has a symmetry, so that none is left out for this reason. */
static int simulated_max(const trv_candidates_t *list)
{
    return trv_network_is_uniform(&list->network) ? DISTINCT_RANKS_MAX : list->network.torus.ranks;
}

static int add_measured(trv_candidates_t *list, const char *name) { return add_named(list, name, simulated_max(list)); }

static int add_single(trv_candidates_t *list, const trv_algorithm_t *algorithm)
{
    const bool too_many = algorithm->symmetry == TRV_SYMMETRY_NONE && list->network.torus.ranks > simulated_max(list);
    if (algorithm->relays || too_many)
        return TRV_OK;
    int rc = trv_algorithm_supports(algorithm, &list->network.torus, list->collective);
    if (rc == TRV_ERR_UNSUPPORTED) /* the only error that excludes an algorithm; others are returned */
        return TRV_OK;
    return rc ? rc : add_measured(list, trv_algorithm_name(algorithm));
}

static int add_offered(void *list, const char *name, const trv_model_t *model, bool always)
{
    if (!model)
        return add_measured(list, name);
    trv_candidate_t candidate = {.model = *model, .always = always};
    snprintf(candidate.name, sizeof candidate.name, "%s", name);
    return trv_candidates_add(list, &candidate);
}

/* Whether an algorithm with parameters offers candidates for the collective. */
static bool offers(const trv_candidates_t *list, const trv_algorithm_t *algorithm)
{
    return algorithm->candidates && trv_algorithm_has_collective(algorithm, list->collective);
}

/* Adds a candidate on a network that does not forward, unless its model, or the schedule, has messages over several
 * links. */
static int add_one_hop(void *context, const char *name, const trv_model_t *model, bool always)
{
    trv_candidates_t *list = context;
    trv_candidate_t candidate = {.always = always};
    if (model && model->steps > 0)
        candidate.model = *model;
    if (candidate.model.hops > candidate.model.steps || trv_candidates_find(list, name) >= 0)
        return TRV_OK;
    snprintf(candidate.name, sizeof candidate.name, "%s", name);
    const int rc = candidate.model.steps > 0 ? TRV_OK : trv_candidate_properties(list, &candidate);
    if (rc == TRV_ERR_UNSUPPORTED)
        return TRV_OK;
    return rc || candidate.properties.multi_hop ? rc : trv_candidates_add(list, &candidate);
}

/* Adds an algorithm with every number of ports, where messages have overheads. The maximum number of ranks that must be
 * simulated is `few_max` for latency-optimal algorithms. */
static int add_ports(trv_candidates_t *list, const trv_algorithm_t *algorithm, int few_max)
{
    const trv_torus_t *torus = &list->network.torus;
    int dimension[TRV_DIMS_MAX], rc = TRV_OK;
    if (algorithm->field[0].limit != trv_name_ports_max || !list->has_message_overheads ||
        trv_algorithm_supports(algorithm, torus, list->collective) == TRV_ERR_UNSUPPORTED)
        return TRV_OK;
    for (int ports = 1; ports <= 2 * trv_torus_active(torus, dimension) && !rc; ports++) {
        char name[TRV_ALGORITHM_NAME_MAX];
        trv_name_of_numbers(algorithm, &ports, name);
        rc = list->network.no_forwarding
                 ? add_one_hop(list, name, NULL, true)
                 : add_named(list, name, algorithm->latency_optimal ? few_max : DISTINCT_RANKS_MAX);
    }
    return rc;
}

/* The maximum number of messages in a step that differs from lower ones: of a rank's ports to all others, or of half
 * the largest dimension from each side. */
static int messages_max(const trv_torus_t *torus, const trv_algorithm_t *algorithm)
{
    int largest = 1;
    for (int d = 0; d < torus->dims; d++)
        largest = torus->size[d] > largest ? torus->size[d] : largest;
    return algorithm->messages == TRV_MESSAGES_PER_SIDE ? largest / 2 : torus->ranks - 1;
}

/* Adds an algorithm with several messages in a step, up to as many as the network allows, or until a step can hold all.
 * Of large numbers each is twice the one before it. */
static int add_messages(trv_candidates_t *list, const trv_algorithm_t *algorithm, int distinct_max)
{
    const trv_torus_t *torus = &list->network.torus;
    const int all = messages_max(torus, algorithm);
    int allowed = list->network.messages_per_port, rc = TRV_OK;
    if (algorithm->messages == TRV_MESSAGES_PER_SIDE)
        allowed = allowed * trv_torus_ports(torus) / 2; /* all ports of the rank may serve the two sides */
    int most = algorithm->messages ? algorithm->field[0].max : 1;
    most = allowed > 0 && allowed < most ? allowed : most;
    most = all < most ? all : most;
    for (int messages = 2; messages <= most && !rc;) {
        char name[TRV_ALGORITHM_NAME_MAX];
        trv_name_of_numbers(algorithm, &messages, name);
        rc = add_named(list, name, distinct_max);
        const int next = messages < 8 ? messages + 1 : 2 * messages;
        messages = next <= most || messages == most ? next : most;
    }
    return rc;
}

static trv_collector_t collector_of(trv_candidates_t *list, const trv_torus_t *torus, bool consistent,
                                    int (*add)(void *list, const char *name, const trv_model_t *model, bool always))
{
    return (trv_collector_t){.torus = torus,
                             .network = &list->network,
                             .collective = list->collective,
                             .root = list->root,
                             .consistent = consistent,
                             .has_message_overheads = list->has_message_overheads,
                             .add = add,
                             .list = list};
}

/* Removes the candidates that are the same schedules as algorithms under their plain names, and gives their models to
 * these. */
static int merge_with_plain(trv_candidates_t *list)
{
    trv_candidate_t *candidate = list->candidate;
    int rc = TRV_OK;
    for (int plain = 0; plain < list->count && !rc; plain++) {
        char full[TRV_FULL_NAME_MAX];
        if (candidate[plain].model.steps > 0 || strchr(candidate[plain].name, ':'))
            continue;
        rc = trv_schedule_full_name_on(&list->network, candidate[plain].name, list->collective, list->root, full,
                                       sizeof full);
        for (int i = plain + 1; i < list->count && !rc; i++)
            if (strcmp(candidate[i].name, full) == 0) {
                candidate[plain].model = candidate[i].model;
                list->count--;
                memmove(&candidate[i], &candidate[i + 1], (size_t)(list->count - i) * sizeof *candidate);
                break;
            }
    }
    return rc;
}

int trv_candidates_collect_one_hop(trv_candidates_t *list, bool consistent)
{
    trv_torus_t torus = list->network.torus;
    trv_rows_t *rows;
    int rc = trv_rows_create(&rows, &list->network, INFINITY);
    const bool divided = rc == TRV_ERR_UNSUPPORTED; /* a row is in two parts */
    if (!rc)
        torus.lines = rows->lines;
    trv_rows_destroy(rows);
    rc = divided ? TRV_OK : rc;
    const trv_collector_t collector = collector_of(list, &torus, consistent, add_one_hop);
    for (int i = 0; i < trv_algorithms_count() && !rc; i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (!algorithm->relays && trv_algorithm_has_collective(algorithm, list->collective))
            rc = add_one_hop(list, trv_algorithm_name(algorithm), NULL, true);
        rc = rc ? rc : add_ports(list, algorithm, INT_MAX);
        rc = rc ? rc : add_messages(list, algorithm, INT_MAX);
    }
    for (int i = trv_algorithms_count() - 1; i >= 0 && !rc; i--)
        if (offers(list, trv_algorithm_at(i)) && (trv_algorithm_at(i)->any_network || !divided))
            rc = trv_algorithm_at(i)->candidates(&collector);
    return rc ? rc : merge_with_plain(list);
}

int trv_candidates_collect(trv_candidates_t *list, bool consistent)
{
    const trv_collector_t collector = collector_of(list, &list->network.torus, consistent, add_offered);
    int rc = TRV_OK;
    for (int i = 0; i < trv_algorithms_count() && !rc; i++)
        if (!trv_algorithm_at(i)->candidates)
            rc = add_single(list, trv_algorithm_at(i));
    for (int i = trv_algorithms_count() - 1; i >= 0 && !rc; i--)
        if (offers(list, trv_algorithm_at(i)) && !trv_algorithm_at(i)->any_network)
            rc = trv_algorithm_at(i)->candidates(&collector);
    for (int i = 0; i < trv_algorithms_count() && !rc; i++)
        if (trv_algorithm_at(i)->candidates && trv_candidates_find(list, trv_algorithm_name(trv_algorithm_at(i))) < 0)
            rc = add_single(list, trv_algorithm_at(i));
    for (int i = 0; i < trv_algorithms_count() && !rc; i++)
        rc = add_ports(list, trv_algorithm_at(i), FEW_MESSAGES_MAX);
    for (int i = 0; i < trv_algorithms_count() && !rc; i++)
        rc = add_messages(list, trv_algorithm_at(i), FEW_MESSAGES_MAX);
    return rc;
}

int trv_candidates_collect_lines(trv_candidates_t *list, unsigned lines, bool consistent)
{
    trv_torus_t mesh = list->network.torus;
    mesh.lines |= lines;
    const trv_collector_t collector = collector_of(list, &mesh, consistent, add_offered);
    int rc = TRV_OK;
    for (int i = 0; i < trv_algorithms_count() && !rc; i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (!algorithm->candidates)
            rc = add_single(list, algorithm);
        if (!rc)
            rc = add_messages(list, algorithm, INT_MAX);
        if (!rc && algorithm->lines && offers(list, algorithm))
            rc = algorithm->candidates(&collector);
    }
    return rc;
}

int trv_candidates_collect_trees(trv_candidates_t *list)
{
    const trv_collector_t collector = collector_of(list, &list->network.torus, false, add_offered);
    int rc = TRV_OK;
    for (int i = 0; i < trv_algorithms_count() && !rc; i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (algorithm->relays)
            continue;
        rc = add_named(list, trv_algorithm_name(algorithm), INT_MAX);
        if (!rc && algorithm->any_network && offers(list, algorithm))
            rc = algorithm->candidates(&collector);
        rc = rc ? rc : add_ports(list, algorithm, INT_MAX);
        rc = rc ? rc : add_messages(list, algorithm, INT_MAX);
    }
    return rc ? rc : merge_with_plain(list);
}
