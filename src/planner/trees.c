/*
 * The ranking of schedules along trees, see trees.h.
 */
#include "planner/trees.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "planner/constraints.h"
#include "planner/timing.h"

#define PARTS_MAX 2 /* schedules of an allgather or reduce-scatter that are tried after the best tree */
/* Candidates with a model that are tried: on most networks; where messages have overheads, because the models are less
 * exact there; and on a network that does not forward, where the candidates are of many algorithms. */
#define MODELLED           2
#define MODELLED_OVERHEADS 8
#define ONE_HOP            32
/* No more candidates are tried when the simulated ones have MODELLED_WORK messages together, nor, after the eighth, one
 * whose estimate exceeds the best time by NEAR_FACTOR. */
#define MODELLED_WORK 1e6
#define NEAR_FACTOR   1.6

static bool has_parts(const trv_planner_t *planner)
{
    return planner->list.collective == TRV_BROADCAST || planner->list.collective == TRV_REDUCE;
}

int trv_tree_planner_create(trv_planner_t *planner, const trv_simulate_options_t *network)
{
    trv_candidates_t *list = &planner->list;
    int rc = list->network.no_forwarding ? trv_candidates_collect_one_hop(list, planner->constraints.consistent)
                                         : trv_candidates_collect_trees(list);
    if (!rc && list->count == 0 && (rc = trv_network_check(&list->network)) == TRV_OK)
        rc = TRV_ERR_UNSUPPORTED;
    if (rc || !has_parts(planner))
        return rc;
    trv_simulate_options_t reporting = *network; /* to the call on `planner` that uses the parts */
    reporting.progress = trv_span_callback;
    reporting.progress_context = &planner->progress;
    rc = trv_planner_create(&planner->parts, &list->network.torus,
                            list->collective == TRV_BROADCAST ? TRV_ALLGATHER : TRV_REDUCE_SCATTER, 0, &reporting,
                            &planner->constraints);
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* ---- One candidate ----------------------------------------------------------------------------------------------- */

/* Finds the candidate with this name, or adds it. Returns its index, or an error. */
static int find_or_add(trv_candidates_t *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->candidate[i].name, name) == 0)
            return i;
    trv_candidate_t added = {.by_name = true};
    if (strlen(name) >= sizeof added.name)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the name of the algorithm '%s' is too long", name);
    memcpy(added.name, name, strlen(name) + 1);
    const int rc = trv_candidates_add(list, &added);
    return rc ? rc : list->count - 1;
}

static bool is_timed(const trv_ranking_t *ranking, int candidate)
{
    for (int i = 0; i < ranking->timed; i++)
        if (ranking->best[i].candidate == candidate)
            return true;
    return false;
}

/* Estimates the messages of a schedule by those of the root and of two other ranks. */
static int count_messages(const trv_ranking_t *ranking, const char *name, double *messages)
{
    const trv_candidates_t *list = &ranking->planner->list;
    const int ranks = list->network.torus.ranks;
    trv_timing_traffic_t root = {0}, others = {0};
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, &list->network, name, list->collective, list->root);
    if (rc)
        return rc;
    rc = trv_timing_add_traffic(schedule, list->root, &ranking->planner->network, ranking->vector_bytes, &root);
    for (int i = 1; i <= 2 && !rc; i++)
        rc = trv_timing_add_traffic(schedule, (list->root + i * ranks / 3) % ranks, &ranking->planner->network,
                                    ranking->vector_bytes, &others);
    trv_schedule_destroy(schedule);
    *messages = root.messages + ranks * others.messages / 2;
    return rc;
}

/* Times a candidate, by a simulation or, if it has too many messages, by the estimate; without one (NAN) it is then
 * left out, unless there is no other candidate yet. `messages`: their number, or 0 if it is not known. */
static int examine(trv_ranking_t *ranking, int candidate, double messages, double estimate_ns)
{
    trv_planner_t *planner = ranking->planner;
    trv_entry_t entry = {.candidate = candidate, .estimate_ns = estimate_ns};
    bool allowed;
    if (is_timed(ranking, candidate))
        return TRV_OK;
    int rc = trv_constraints_allow(&planner->constraints, &planner->list, &planner->list.candidate[candidate],
                                   ranking->vector_bytes, &allowed);
    if (rc || !allowed)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    ranking->allowed++;
    const double steps_ns = planner->list.candidate[candidate].properties.steps * planner->network.alpha_ns;
    if (steps_ns > trv_ranking_cutoff_ns(ranking))
        return TRV_OK;
    if (messages <= 0)
        rc = count_messages(ranking, planner->list.candidate[candidate].name, &messages);
    if (rc)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    if (planner->list.network.slow_links == 0) /* then the ranks that are equal by symmetry are simulated as one */
        messages *= (double)planner->list.candidate[candidate].properties.distinct_ranks /
                    planner->list.network.torus.ranks;
    if (messages <= TRV_TREE_MESSAGES_MAX || (isnan(estimate_ns) && ranking->timed == 0))
        return trv_ranking_examine(ranking, &entry, trv_ranking_cutoff_ns(ranking));
    if (isnan(estimate_ns) || estimate_ns > trv_ranking_cutoff_ns(ranking))
        return TRV_OK;
    rc = trv_candidate_properties(&planner->list, &planner->list.candidate[candidate]);
    entry.time_ns = estimate_ns;
    entry.modelled = true;
    entry.steps = planner->list.candidate[candidate].properties.steps;
    if (!rc)
        trv_ranking_insert(ranking, &entry);
    return rc;
}

static int examine_name(trv_ranking_t *ranking, const char *name, double messages, double estimate_ns)
{
    const int candidate = find_or_add(&ranking->planner->list, name);
    return candidate < 0 ? candidate : examine(ranking, candidate, messages, estimate_ns);
}

/* ---- Scatter and allgather --------------------------------------------------------------------------------------- */

/* The fastest tree for the scatter or gather, and its time. */
static int best_tree(const trv_ranking_t *ranking, const char **best, double *best_ns)
{
    static const char *const forwarded[] = {"star-tree", "trivance-tree", "binomial", NULL};
    static const char *const one_hop[] = {"neighbour", "balanced-paths", NULL};
    const trv_planner_t *planner = ranking->planner;
    const char *const *tree = planner->list.network.no_forwarding ? one_hop : forwarded;
    int rc = TRV_OK;
    *best_ns = INFINITY;
    for (int i = 0; tree[i] && !rc; i++) {
        trv_schedule_t *schedule;
        double time_ns;
        rc = trv_schedule_create_on(&schedule, &planner->list.network, tree[i],
                                    planner->list.collective == TRV_BROADCAST ? TRV_SCATTER : TRV_GATHER,
                                    planner->list.root);
        if (!rc) {
            rc = trv_timing_find(schedule, &planner->network, ranking->vector_bytes, &time_ns);
            trv_schedule_destroy(schedule);
        }
        if (!rc && time_ns < *best_ns) {
            *best_ns = time_ns;
            *best = tree[i];
        }
        rc = rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    }
    return rc;
}

static int examine_parts(trv_ranking_t *ranking)
{
    trv_planner_t *planner = ranking->planner;
    trv_planner_choice_t part[PARTS_MAX];
    const char *tree = NULL;
    double tree_ns;
    int rc = planner->parts ? best_tree(ranking, &tree, &tree_ns) : TRV_OK;
    if (rc || !tree)
        return rc;
    const int parts = trv_planner_rank(planner->parts, ranking->vector_bytes, PARTS_MAX, part);
    for (int i = 0; i < parts && !rc; i++) {
        char name[2 * TRV_ALGORITHM_NAME_MAX];
        const int length = snprintf(name, sizeof name, "scatter-allgather:%s+%s", tree, part[i].algorithm);
        if (length < TRV_ALGORITHM_NAME_MAX)
            rc = examine_name(ranking, name, 0, tree_ns + part[i].time_ns);
    }
    return rc ? rc : parts == TRV_ERR_UNSUPPORTED ? TRV_OK : parts < 0 ? parts : TRV_OK;
}

/* ---- Candidates with a model ------------------------------------------------------------------------------------- */

/* Examines the candidates that are best by their models. */
static int examine_modelled(trv_ranking_t *ranking, int listed)
{
    const trv_planner_t *planner = ranking->planner;
    const trv_candidate_t *candidate = planner->list.candidate;
    const int count_max = planner->list.network.no_forwarding   ? ONE_HOP
                          : planner->list.has_message_overheads ? MODELLED_OVERHEADS
                                                                : MODELLED;
    int best[ONE_HOP + 1], count = 0, rc = TRV_OK;
    double estimate_ns[ONE_HOP + 1], work = 0;
    for (int i = 0; i < listed; i++) {
        if (candidate[i].by_name || candidate[i].model.steps <= 0)
            continue;
        const double added_ns = trv_planner_estimate(planner, &candidate[i].model, ranking->vector_bytes);
        int at = count;
        for (; at > 0 && added_ns < estimate_ns[at - 1]; at--) {
            best[at] = best[at - 1];
            estimate_ns[at] = estimate_ns[at - 1];
        }
        best[at] = i;
        estimate_ns[at] = added_ns;
        count += count < count_max;
    }
    for (int i = 0; i < count && !rc && work < MODELLED_WORK; i++) {
        const double messages = candidate[best[i]].model.messages * planner->list.network.torus.ranks;
        if (i >= MODELLED_OVERHEADS && ranking->timed > 0 && estimate_ns[i] > NEAR_FACTOR * ranking->best[0].time_ns)
            break;
        rc = examine(ranking, best[i], messages, estimate_ns[i]);
        work += messages <= TRV_TREE_MESSAGES_MAX ? messages : 0;
    }
    return rc;
}

/* ---- The ranking ------------------------------------------------------------------------------------------------- */

/* Candidates that depend on the size of the vector keep no simulator, which may be large. */
static void drop_simulators(trv_candidates_t *list)
{
    for (int i = 0; i < list->count; i++)
        if (!list->candidate[i].own && (list->candidate[i].by_name || list->candidate[i].model.steps > 0)) {
            trv_simulator_destroy(list->candidate[i].simulator);
            list->candidate[i].simulator = NULL;
        }
}

int trv_tree_rank(trv_ranking_t *ranking)
{
    trv_candidates_t *list = &ranking->planner->list;
    const int listed = list->count;
    int rc = TRV_OK;
    drop_simulators(list);
    for (int i = 0; i < listed && !rc; i++)
        if (!list->candidate[i].by_name && list->candidate[i].model.steps <= 0)
            rc = examine(ranking, i, 0, NAN);
    if (!rc && has_parts(ranking->planner))
        rc = examine_parts(ranking);
    if (!rc)
        rc = examine_modelled(ranking, listed);
    return rc ? rc : trv_ranking_confirm(ranking);
}
