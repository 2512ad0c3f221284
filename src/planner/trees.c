/*
 * The ranking of schedules along trees, see trees.h.
 */
#include "planner/trees.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/constraints.h"
#include "planner/timing.h"
#include "schedule/collective.h"

#define PARTS_BLOCKS_MAX 1.6e7 /* blocks of all ranks in an allgather that is tried */
#define PARTS_MAX        2     /* schedules of an allgather or reduce-scatter that are tried after the best tree */
/* Candidates with a model that are tried: on most networks; where messages have overheads, because the models are less
 * exact there; and on a network that does not forward, where the candidates are of many algorithms. */
#define MODELLED           2
#define MODELLED_OVERHEADS 8
#define ONE_HOP            32
/* No more candidates are tried when the simulated ones have MODELLED_WORK messages together, nor, after the eighth, one
 * whose estimate exceeds the best time by NEAR_FACTOR. */
#define MODELLED_WORK 1e6
#define NEAR_FACTOR   1.6
#define IDLE_STEP     0.2 /* work of reading a step of one rank without messages, relative to a message */
#define FEW_MESSAGES  5e4 /* algorithms of the table with fewer messages are simulated first */

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

static bool is_timed(const trv_ranking_t *ranking, int candidate)
{
    for (int i = 0; i < ranking->timed; i++)
        if (ranking->best[i].candidate == candidate)
            return true;
    return false;
}

/* From the messages of the root and of two other ranks: estimates the messages of a schedule, and finds a lower bound
 * on its time. The estimate is at least IDLE_STEP per rank and step, because steps without messages are read, too. */
static int sample_messages(const trv_ranking_t *ranking, const char *name, double *messages, double *bound_ns)
{
    const trv_candidates_t *list = &ranking->planner->list;
    const trv_simulate_options_t *network = &ranking->planner->network;
    const int ranks = list->network.torus.ranks;
    trv_timing_traffic_t root = {0}, others = {0};
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, &list->network, name, list->collective, list->root);
    if (rc)
        return rc;
    rc = trv_timing_add_traffic(schedule, list->root, network, ranking->vector_bytes, &root);
    for (int i = 1; i <= 2 && !rc; i++)
        rc = trv_timing_add_traffic(schedule, (list->root + i * ranks / 3) % ranks, network, ranking->vector_bytes,
                                    &others);
    const double steps = (double)trv_schedule_streams(schedule) * trv_schedule_steps(schedule);
    trv_schedule_destroy(schedule);
    *messages = fmax(root.messages + ranks * others.messages / 2, IDLE_STEP * ranks * steps);
    *bound_ns = fmax(trv_timing_bound_ns(network, &root), trv_timing_bound_ns(network, &others));
    return rc;
}

/* Whether the candidate is considered only if its model is among the best: it is not an algorithm's plain name. */
static bool is_only_modelled(const trv_candidate_t *candidate)
{
    return candidate->model.steps > 0 && !candidate->always;
}

/* Times a candidate. If it has more than `messages_max` messages it is left out, unless that is TRV_TREE_MESSAGES_MAX,
 * the candidate has a plain name, and no other was timed yet. `messages`: those of all ranks, or 0 if they are not
 * known. Returns the messages that were simulated, 0 if it was left out, or an error. */
static int examine(trv_ranking_t *ranking, int candidate, double messages, double messages_max)
{
    trv_planner_t *planner = ranking->planner;
    trv_entry_t entry = {.candidate = candidate};
    double bound_ns = 0;
    bool allowed;
    if (is_timed(ranking, candidate))
        return 0;
    int rc = trv_candidate_properties(&planner->list, &planner->list.candidate[candidate]);
    if (!rc && messages <= 0)
        rc = sample_messages(ranking, planner->list.candidate[candidate].name, &messages, &bound_ns);
    if (rc)
        return rc == TRV_ERR_UNSUPPORTED ? 0 : rc;
    if (bound_ns > trv_ranking_cutoff_ns(ranking)) { /* its constraints are not examined */
        ranking->allowed++;
        return 0;
    }
    if (planner->list.network.slow_links == 0) /* then the ranks that are equal by symmetry are simulated as one */
        messages *= (double)planner->list.candidate[candidate].properties.distinct_ranks /
                    planner->list.network.torus.ranks;
    const bool is_last_resort = messages_max >= TRV_TREE_MESSAGES_MAX && ranking->timed == 0 &&
                                !is_only_modelled(&planner->list.candidate[candidate]);
    if (messages > messages_max && !is_last_resort)
        return 0;
    rc = trv_constraints_allow(&planner->constraints, &planner->list, &planner->list.candidate[candidate],
                               ranking->vector_bytes, false, &allowed);
    if (rc || !allowed)
        return rc == TRV_ERR_UNSUPPORTED ? 0 : rc;
    ranking->allowed++;
    rc = trv_ranking_examine(ranking, &entry, trv_ranking_cutoff_ns(ranking));
    return rc ? rc : (int)fmin(messages, TRV_TREE_MESSAGES_MAX);
}

static int examine_name(trv_ranking_t *ranking, const char *name)
{
    const int candidate = trv_candidates_find_or_add(&ranking->planner->list, name);
    return candidate >= 0                     ? examine(ranking, candidate, 0, TRV_TREE_MESSAGES_MAX)
           : candidate == TRV_ERR_UNSUPPORTED ? 0
                                              : candidate;
}

/* ---- Scatter and allgather --------------------------------------------------------------------------------------- */

/* The fastest tree for the scatter or gather. */
static int best_tree(const trv_ranking_t *ranking, const char **best)
{
    static const char *const forwarded[] = {"star-tree", "trivance-tree", "binomial", NULL};
    static const char *const one_hop[] = {"neighbour", "balanced-paths", NULL};
    const trv_planner_t *planner = ranking->planner;
    const char *const *tree = planner->list.network.no_forwarding ? one_hop : forwarded;
    double best_ns = INFINITY;
    int rc = TRV_OK;
    for (int i = 0; tree[i] && !rc; i++) {
        trv_schedule_t *schedule;
        double time_ns;
        bool approximate;
        rc = trv_schedule_create_on(&schedule, &planner->list.network, tree[i],
                                    planner->list.collective == TRV_BROADCAST ? TRV_SCATTER : TRV_GATHER,
                                    planner->list.root);
        if (!rc) {
            rc = trv_timing_find(schedule, &planner->network, ranking->vector_bytes, &time_ns, &approximate);
            trv_schedule_destroy(schedule);
        }
        if (!rc && time_ns < best_ns) {
            best_ns = time_ns;
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
    const double ranks = planner->list.network.torus.ranks;
    const char *tree = NULL;
    int rc = planner->parts && ranks * ranks <= PARTS_BLOCKS_MAX ? best_tree(ranking, &tree) : TRV_OK;
    if (rc || !tree)
        return rc;
    const int parts = trv_planner_rank_within(planner->parts, ranking->vector_bytes, PARTS_MAX, INFINITY, part);
    for (int i = 0; i < parts && !rc; i++) {
        char name[2 * TRV_ALGORITHM_NAME_MAX];
        /* `:together` at the end of a part's name applies to the whole schedule */
        const int length = snprintf(name, sizeof name, "scatter-allgather:%s+%s", tree, part[i].algorithm);
        if (length < TRV_ALGORITHM_NAME_MAX)
            rc = examine_name(ranking, name);
        rc = rc > 0 ? TRV_OK : rc;
    }
    return rc ? rc : parts == TRV_ERR_UNSUPPORTED ? TRV_OK : parts < 0 ? parts : TRV_OK;
}

/* ---- Candidates with a model ------------------------------------------------------------------------------------- */

static int by_estimate(const void *a, const void *b)
{
    const trv_entry_t *x = a, *y = b;
    return x->estimate_ns != y->estimate_ns ? (x->estimate_ns < y->estimate_ns ? -1 : 1) : x->candidate - y->candidate;
}

/* Examines the candidates that are best by their models. */
static int examine_modelled(trv_ranking_t *ranking, int listed)
{
    const trv_planner_t *planner = ranking->planner;
    const trv_candidate_t *candidate = planner->list.candidate;
    const int count_max = planner->list.network.no_forwarding   ? ONE_HOP
                          : planner->list.has_message_overheads ? MODELLED_OVERHEADS
                                                                : MODELLED;
    const double ranks = planner->list.network.torus.ranks;
    /* Otherwise one rank may represent all. */
    const bool all_differ = trv_collective_has_root(planner->list.collective) || planner->list.network.slow_links > 0;
    int count = 0, examined = 0, rc = TRV_OK;
    double work = 0;
    for (int i = 0; i < listed; i++)
        if (!candidate[i].by_name && candidate[i].model.steps > 0 &&
            candidate[i].model.messages * (all_differ ? ranks : 1) <= TRV_TREE_MESSAGES_MAX)
            ranking->entry[count++] = (trv_entry_t){.candidate = i,
                                                    .estimate_ns = trv_planner_estimate(planner, &candidate[i].model,
                                                                                        ranking->vector_bytes)};
    qsort(ranking->entry, (size_t)count, sizeof *ranking->entry, by_estimate);
    for (int i = 0; i < count && examined < count_max && work < MODELLED_WORK && !rc; i++) {
        const trv_entry_t *entry = &ranking->entry[i];
        if (trv_planner_least_ns(planner, entry->estimate_ns) > trv_ranking_cutoff_ns(ranking))
            break;
        if (examined >= MODELLED_OVERHEADS && ranking->timed > 0 &&
            entry->estimate_ns > NEAR_FACTOR * ranking->best[0].time_ns)
            break;
        rc = examine(ranking, entry->candidate, planner->list.candidate[entry->candidate].model.messages * ranks,
                     TRV_TREE_MESSAGES_MAX);
        examined += rc > 0;
        work += fmax(rc, 0);
        rc = rc > 0 ? TRV_OK : rc;
    }
    return rc;
}

/* ---- The ranking ------------------------------------------------------------------------------------------------- */

/* Examines the algorithms of the table that have at most this number of messages. */
static int examine_listed(trv_ranking_t *ranking, int listed, double messages_max)
{
    const trv_candidates_t *list = &ranking->planner->list;
    int rc = TRV_OK;
    for (int i = 0; i < listed && rc >= 0; i++)
        if (!list->candidate[i].by_name && !is_only_modelled(&list->candidate[i]))
            rc = examine(ranking, i, 0, messages_max);
    return rc > 0 ? TRV_OK : rc;
}

int trv_tree_rank(trv_ranking_t *ranking)
{
    const int listed = ranking->planner->list.count;
    int rc = examine_listed(ranking, listed, FEW_MESSAGES);
    if (!rc)
        rc = examine_modelled(ranking, listed);
    if (!rc && has_parts(ranking->planner))
        rc = examine_parts(ranking);
    return rc ? rc : examine_listed(ranking, listed, TRV_TREE_MESSAGES_MAX);
}
