/*
 * A planner ranks its candidates by a model of their time and decides among the best with the packet simulator.
 *
 * It simulates, in the order of their estimates, the candidates whose estimate is near the best one, and then all
 * algorithms of the table. A candidate is skipped if a lower bound on its time (trv_simulate_bound_ns) shows that it
 * cannot win. Therefore no algorithm of the table with at most the network's messages per port is ever faster than the
 * choice. NAME:together can be, where messages or parts have overheads (docs/planner.md).
 *
 * Links are simulated with one queue each (TRV_FIFO), whatever model the network asks for. The symmetry of a schedule
 * then lets a few ranks represent all, and a simulation takes less than a millisecond on any torus. Slow ranks, jitter
 * and finite buffers would make ranks differ and are ignored. Lines, slow and cut links also make ranks differ;
 * nonuniform.c plans for networks that have them.
 *
 * If two channels per link (TRV_DATELINE) are asked for, the best candidates are simulated again with them, and these
 * times decide their order: two channels slow schedules whose streams share links, by up to a half, unless all streams
 * are in one. No symmetry helps in these simulations, so they take up to seconds on thousands of ranks.
 *
 * On networks that do not forward, candidates are the schedules whose messages all cross one link (trees.h).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/family.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "planner/constraints.h"
#include "planner/nonuniform.h"
#include "planner/ranking.h"
#include "planner/sample.h"
#include "planner/timing.h"
#include "planner/trees.h"
#include "schedule/collective.h"
#include "simulate/simulator.h"

#define NEAR_FACTOR 1.6 /* a candidate whose estimate exceeds the best one times this is not simulated */
/* The maximum number of candidates that are simulated for their estimate, unless more are requested; the second where
 * messages have overheads, because the models are less exact there. */
#define NEAR_MAX           64
#define NEAR_MAX_OVERHEADS 256
/* With two channels per link, the candidates are simulated that take at most DATELINE_NEAR times as long as the best
 * with one queue: at most DATELINE_MAX of them, at most DATELINE_PER_ALGORITHM of one algorithm. */
#define DATELINE_NEAR          1.5
#define DATELINE_PER_ALGORITHM 2
#define DATELINE_MAX           6
#define DATELINE_CAPACITY      48 /* ranked with one queue; up to half of these may be weighted hybrids */

/* Messages of schedules for a dimension travel along a large part of it, and are simulated link by link. */
#define DIMENSION_MAX (1 << 20)

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* Plans ignore slow ranks, so these are not checked. */
static int check_network(const trv_simulate_options_t *asked, const trv_torus_t *torus)
{
    trv_simulate_options_t network = *asked;
    network.slow_ranks = 0;
    return trv_simulate_check(&network, torus);
}

static int check_dimensions(const trv_torus_t *torus)
{
    for (int d = 0; d < torus->dims; d++)
        if (torus->size[d] > DIMENSION_MAX)
            return trv_fail(TRV_ERR_UNSUPPORTED,
                            "a dimension of %d ranks is too long for the planner, which simulates messages link by "
                            "link; the limit is %d ranks along a dimension, for example 10000x10000",
                            torus->size[d], DIMENSION_MAX);
    return TRV_OK;
}

/* Copies the links, so that the caller's array need not outlive the call. */
static int keep_links(trv_planner_t *planner, const trv_torus_t *torus)
{
    const size_t links = (size_t)planner->network.slow_links;
    planner->link = malloc((links + 1) * sizeof *planner->link);
    if (!planner->link)
        return trv_fail_memory();
    if (links > 0)
        memcpy(planner->link, planner->network.slow_link, links * sizeof *planner->link);
    planner->network.slow_link = planner->link;
    planner->list.network = trv_simulate_network(torus, &planner->network);
    return TRV_OK;
}

int trv_planner_create(trv_planner_t **created, const trv_torus_t *torus, trv_collective_t collective, int root,
                       const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints)
{
    static const trv_planner_constraints_t none = {TRV_PLANNER_CONSTRAINTS};
    *created = NULL;
    int rc = trv_collective_check(collective, root, torus->ranks);
    if (!rc)
        rc = trv_check_size(network->size, sizeof *network, "TRV_SIMULATE_DEFAULTS");
    if (!rc)
        rc = check_dimensions(torus);
    if (!rc && constraints)
        rc = trv_check_size(constraints->size, sizeof *constraints, "TRV_PLANNER_CONSTRAINTS");
    if (rc)
        return rc;
    trv_planner_t *planner = calloc(1, sizeof *planner);
    if (!planner)
        return trv_fail_memory();
    planner->network = trv_timing_network(network);
    trv_planner_set_progress(planner, network);
    planner->dateline = network->model == TRV_DATELINE;
    planner->constraints = constraints ? *constraints : none;
    planner->hops_max = trv_timing_hops_max(torus, network);
    planner->list.collective = collective;
    planner->list.root = root;
    planner->list.has_message_overheads = network->message_overhead_ns > 0 || network->part_overhead_ns > 0;
    rc = keep_links(planner, torus);
    planner->trees = trv_collective_has_root(collective) || network->no_forwarding ||
                     trv_network_check(&planner->list.network) == TRV_ERR_UNSUPPORTED;
    if (!rc)
        rc = check_network(network, torus);
    if (!rc)
        rc = planner->trees ? trv_tree_planner_create(planner, network)
             : trv_timing_is_nonuniform(torus, network)
                 ? trv_nonuniform_create(planner, network)
                 : trv_candidates_collect(&planner->list, planner->constraints.consistent);
    if (rc)
        trv_planner_destroy(planner);
    else
        *created = planner;
    return rc;
}

void trv_planner_destroy(trv_planner_t *planner)
{
    if (!planner)
        return;
    trv_planner_destroy(planner->uniform);
    trv_planner_destroy(planner->parts);
    trv_candidates_clear(&planner->list);
    free(planner->link);
    free(planner);
}

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

void trv_planner_set_progress(trv_planner_t *planner, const trv_simulate_options_t *network)
{
    planner->caller = (trv_span_t){network->progress, network->progress_context, 0, 1};
}

/* Estimates of the remaining work may be wrong, but the reported fraction never decreases. */
static int planner_report(void *context, double fraction)
{
    trv_planner_t *planner = context;
    planner->done = fmax(planner->done, fraction);
    return trv_span_report(planner->caller, planner->done);
}

static void planner_begin_call(trv_planner_t *planner)
{
    planner->done = 0;
    planner->progress = (trv_span_t){planner->caller.callback ? planner_report : NULL, planner, 0, 1};
}

static void replace_network(trv_planner_t *planner, const trv_simulate_options_t *network)
{
    trv_simulate_options_t changed = trv_timing_network(network);
    changed.model = planner->network.model;
    changed.slow_links = planner->network.slow_links;
    changed.slow_link = planner->network.slow_link;
    planner->network = changed;
}

int trv_planner_set_network(trv_planner_t *planner, const trv_simulate_options_t *network)
{
    int rc = check_network(network, &planner->list.network.torus);
    if (rc)
        return rc;
    trv_planner_set_progress(planner, network);
    replace_network(planner, network);
    if (planner->uniform)
        replace_network(planner->uniform, network);
    return TRV_OK;
}

/* ---- One candidate ----------------------------------------------------------------------------------------------- */

static int find_candidate(trv_planner_t *planner, const char *name, trv_candidate_t **candidate)
{
    const int index = trv_candidates_find_or_add(&planner->list, name);
    *candidate = index < 0 ? NULL : &planner->list.candidate[index];
    return index < 0 ? index : TRV_OK;
}

/* Simulates a candidate on the whole torus with two channels per link. Its simulator must exist. */
static int find_dateline_time(const trv_planner_t *planner, const trv_candidate_t *candidate, uint64_t vector_bytes,
                              trv_entry_t *entry)
{
    trv_simulate_options_t network = planner->network;
    network.model = TRV_DATELINE;
    return trv_candidate_simulate(candidate, &network, vector_bytes, TRV_SIMULATE_HOPS_MAX, planner->progress, INFINITY,
                                  entry);
}

/* ---- The ranking ------------------------------------------------------------------------------------------------- */

/* For qsort: by the model's estimate; candidates that are always considered come last, in the order of the list. */
static int by_estimate(const void *a, const void *b)
{
    const trv_entry_t *x = a, *y = b;
    if (x->always != y->always)
        return x->always ? 1 : -1;
    if (x->estimate_ns != y->estimate_ns)
        return x->estimate_ns < y->estimate_ns ? -1 : 1;
    return x->candidate - y->candidate;
}

/* Examines the candidates that satisfy the constraints and whose estimate is near the best, and those that are always
 * considered. */
static int examine_all(trv_ranking_t *ranking, int entries)
{
    trv_planner_t *planner = ranking->planner;
    const trv_span_t all = planner->progress;
    const int limit = planner->list.has_message_overheads ? NEAR_MAX_OVERHEADS : NEAR_MAX;
    const int near_max = ranking->capacity > limit ? ranking->capacity : limit;
    int near = 0, rc = TRV_OK;
    double near_ns = INFINITY;
    for (int i = 0; i < entries && !rc; i++) {
        trv_entry_t *entry = &ranking->entry[i];
        bool allowed;
        if (!entry->always && (near == near_max || entry->estimate_ns > near_ns))
            continue;
        rc = trv_constraints_allow(&planner->constraints, &planner->list, &planner->list.candidate[entry->candidate],
                                   ranking->vector_bytes, false, &allowed);
        if (rc || !allowed)
            continue;
        if (!entry->always && near++ == 0)
            near_ns = NEAR_FACTOR * entry->estimate_ns;
        ranking->allowed++;
        planner->progress = trv_span(all, (double)i / entries, 1.0 / entries);
        rc = trv_ranking_examine(ranking, entry, trv_ranking_cutoff_ns(ranking));
        if (!rc)
            rc = trv_span_report(planner->progress, 1);
    }
    planner->progress = all;
    return rc;
}

/* ---- Two channels per link --------------------------------------------------------------------------------------- */

static bool same_algorithm(const trv_ranking_t *ranking, const trv_entry_t *a, const trv_entry_t *b)
{
    const trv_candidate_t *candidate = ranking->planner->list.candidate;
    return trv_planner_same_algorithm(candidate[a->candidate].name, candidate[b->candidate].name);
}

/* Whether entry i of the best is near the first, with fewer than DATELINE_PER_ALGORITHM entries of its algorithm
 * before it. */
static bool is_dateline_candidate(const trv_ranking_t *ranking, int i)
{
    int of_algorithm = 0;
    for (int k = 0; k < i; k++)
        of_algorithm += same_algorithm(ranking, &ranking->best[k], &ranking->best[i]);
    return of_algorithm < DATELINE_PER_ALGORITHM &&
           ranking->best[i].time_ns <= DATELINE_NEAR * ranking->best[0].time_ns;
}

/* Simulates an entry's schedule with all streams in one, with two channels per link, and inserts it. */
static int examine_together(trv_ranking_t *ranking, const trv_entry_t *entry)
{
    trv_planner_t *planner = ranking->planner;
    trv_candidate_t *candidate = &planner->list.candidate[entry->candidate];
    trv_entry_t together = *entry;
    char name[2 * TRV_ALGORITHM_NAME_MAX];
    const char *at = strchr(candidate->name, '@');
    bool allowed;
    snprintf(name, sizeof name, "%.*s" TRV_TOGETHER "%s", (int)strcspn(candidate->name, "@"), candidate->name,
             at ? at : "");
    if (candidate->own || !candidate->simulator || candidate->simulator->streams == 1 ||
        strlen(name) >= TRV_ALGORITHM_NAME_MAX)
        return TRV_OK;
    int rc = find_candidate(planner, name, &candidate);
    if (!rc)
        rc = trv_constraints_allow(&planner->constraints, &planner->list, candidate, ranking->vector_bytes, false,
                                   &allowed);
    if (!rc && allowed)
        rc = trv_candidate_prepare(&planner->list, candidate);
    if (rc || !allowed)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    together.candidate = (int)(candidate - planner->list.candidate);
    rc = find_dateline_time(planner, candidate, ranking->vector_bytes, &together);
    if (!rc)
        trv_ranking_insert(ranking, &together);
    trv_ranking_drop_large(ranking, together.candidate);
    return rc;
}

/* Simulates the best entries again, with two channels per link, and keeps only these, in their new order. With all
 * streams in one they take about as long as with one queue, so that is tried where this time is less than the best. */
static int rank_by_dateline(trv_ranking_t *ranking)
{
    trv_planner_t *planner = ranking->planner;
    const trv_span_t all = planner->progress;
    trv_entry_t one_queue[DATELINE_MAX], retimed[DATELINE_MAX];
    int count = 0, rc = TRV_OK;
    for (int i = 0; i < ranking->timed && count < DATELINE_MAX && !rc; i++)
        if (is_dateline_candidate(ranking, i)) {
            planner->progress = trv_span(all, 0.1 + 0.45 * count / DATELINE_MAX, 0.45 / DATELINE_MAX);
            one_queue[count] = retimed[count] = ranking->best[i];
            rc = find_dateline_time(planner, &planner->list.candidate[retimed[count].candidate], ranking->vector_bytes,
                                    &retimed[count]);
            count++;
        }
    ranking->timed = 0;
    for (int i = 0; i < count && !rc; i++)
        trv_ranking_insert(ranking, &retimed[i]);
    for (int i = 0; i < count && !rc; i++) {
        planner->progress = trv_span(all, 0.55 + 0.45 * i / DATELINE_MAX, 0.45 / DATELINE_MAX);
        if (one_queue[i].time_ns < ranking->best[0].time_ns)
            rc = examine_together(ranking, &one_queue[i]);
    }
    planner->progress = all;
    return rc;
}

static int rank_uniform(trv_ranking_t *ranking)
{
    trv_planner_t *planner = ranking->planner;
    int entries = 0;
    for (int i = 0; i < planner->list.count; i++) {
        const trv_candidate_t *candidate = &planner->list.candidate[i];
        if (!candidate->by_name)
            ranking->entry[entries++] = (trv_entry_t){.candidate = i,
                                                      .always = candidate->always,
                                                      .estimate_ns = trv_planner_estimate(planner, &candidate->model,
                                                                                          ranking->vector_bytes)};
    }
    qsort(ranking->entry, (size_t)entries, sizeof *ranking->entry, by_estimate);
    /* The simulations with one queue per link take little time compared with those with two channels. */
    const trv_span_t all = planner->progress;
    planner->progress = trv_span(all, 0, planner->dateline ? 0.1 : 1);
    int rc = examine_all(ranking, entries);
    planner->progress = all;
    return !rc && ranking->timed > 0 && planner->dateline ? rank_by_dateline(ranking) : rc;
}

static int rank_trees(trv_ranking_t *ranking)
{
    const int rc = trv_tree_rank(ranking);
    return !rc && ranking->timed > 0 && ranking->planner->dateline ? rank_by_dateline(ranking) : rc;
}

/* Times the users' schedules that satisfy the constraints. */
static int rank_own(trv_ranking_t *ranking)
{
    trv_planner_t *planner = ranking->planner;
    int rc = TRV_OK;
    for (int i = 0; i < planner->list.count && !rc; i++) {
        trv_candidate_t *candidate = &planner->list.candidate[i];
        trv_entry_t entry = {.candidate = i, .steps = candidate->properties.steps};
        bool allowed = false;
        if (candidate->own)
            rc = trv_constraints_allow(&planner->constraints, &planner->list, candidate, ranking->vector_bytes, false,
                                       &allowed);
        if (rc || !allowed)
            continue;
        ranking->allowed++;
        rc = trv_planner_find_time(planner, candidate, ranking->vector_bytes,
                                   planner->dateline ? INFINITY : trv_ranking_cutoff_ns(ranking), &entry);
        if (!rc && planner->dateline)
            rc = find_dateline_time(planner, candidate, ranking->vector_bytes, &entry);
        if (!rc && isfinite(entry.time_ns))
            trv_ranking_insert(ranking, &entry);
        rc = rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    }
    return rc;
}

static int rank_all(trv_ranking_t *ranking)
{
    const trv_planner_t *planner = ranking->planner;
    int rc = planner->dateline ? TRV_OK : rank_own(ranking); /* two channels are simulated after one queue */
    if (!rc)
        rc = planner->trees     ? rank_trees(ranking)
             : planner->uniform ? trv_nonuniform_rank(ranking)
                                : rank_uniform(ranking);
    if (!rc && planner->dateline)
        rc = rank_own(ranking);
    if (!rc && ranking->allowed > 0 && ranking->timed == 0)
        return TRV_ERR_UNSUPPORTED; /* the error message is that of the last candidate that could not be simulated */
    if (!rc && ranking->timed == 0)
        return trv_constraints_fail_all(&planner->constraints, &planner->list, ranking->vector_bytes);
    return rc;
}

/* `confirmed`: the best have the times of trv_simulate. */
static int planner_rank(trv_planner_t *planner, uint64_t vector_bytes, int capacity, double cutoff_ns, bool confirmed,
                        trv_planner_choice_t *choice)
{
    if (capacity < 1)
        return trv_fail(TRV_ERR_ARGUMENT, "capacity of %d choices: expected at least 1", capacity);
    const size_t added = planner->uniform ? TRV_NONUNIFORM_ENTRIES : TRV_TREE_ADDED_MAX;
    const size_t entries = (size_t)planner->list.count + added;
    trv_entry_t *memory = malloc(2 * entries * sizeof *memory);
    if (!memory)
        return trv_fail_memory();
    trv_ranking_t ranking = {.planner = planner,
                             .vector_bytes = vector_bytes,
                             .cutoff_ns = cutoff_ns,
                             .entry = memory,
                             .best = memory + entries};
    ranking.capacity = planner->dateline && capacity < DATELINE_CAPACITY ? DATELINE_CAPACITY : capacity;
    planner_begin_call(planner);
    int rc = rank_all(&ranking);
    if (!rc && confirmed)
        rc = trv_ranking_confirm(&ranking);
    const int choices = ranking.timed < capacity ? ranking.timed : capacity;
    for (int i = 0; i < choices && !rc; i++) {
        rc = trv_planner_make_choice(planner, &planner->list.candidate[ranking.best[i].candidate], &ranking.best[i],
                                     &choice[i]);
        trv_ranking_drop_large(&ranking, ranking.best[i].candidate);
    }
    trv_ranking_drop_excess(&planner->list);
    free(memory);
    return rc ? rc : choices;
}

int trv_planner_rank(trv_planner_t *planner, uint64_t vector_bytes, int capacity, trv_planner_choice_t *choice)
{
    return planner_rank(planner, vector_bytes, capacity, INFINITY, true, choice);
}

int trv_planner_rank_within(trv_planner_t *planner, uint64_t vector_bytes, int capacity, double cutoff_ns,
                            trv_planner_choice_t *choice)
{
    return planner_rank(planner, vector_bytes, capacity, cutoff_ns, false, choice);
}

/* Finds the candidate with this name and its time, which is INFINITY if it exceeds `cutoff_ns`. `confirmed`: as in
 * planner_rank. */
static int time_named(trv_planner_t *planner, uint64_t vector_bytes, const char *algorithm, double cutoff_ns,
                      bool confirmed, trv_candidate_t **candidate, trv_entry_t *entry)
{
    bool allowed;
    *entry = (trv_entry_t){.time_ns = INFINITY};
    planner_begin_call(planner);
    const trv_span_t all = planner->progress;
    int rc = find_candidate(planner, algorithm, candidate);
    if (!rc)
        rc = trv_constraints_allow(&planner->constraints, &planner->list, *candidate, vector_bytes, true, &allowed);
    if (!rc && !allowed)
        rc = trv_constraints_fail(&planner->constraints, &planner->list, *candidate, vector_bytes, true);
    planner->progress = trv_span(all, 0, planner->dateline ? 0.1 : 1);
    if (!rc && !(*candidate)->simulator && isfinite(cutoff_ns)) { /* reading some ranks may suffice */
        trv_sample_t sample;
        rc = trv_sample_schedule(planner, algorithm, vector_bytes, &sample);
        if (!rc && sample.bound_ns > cutoff_ns)
            return TRV_OK;
    }
    if (!rc)
        rc = trv_planner_find_time(planner, *candidate, vector_bytes, cutoff_ns, entry);
    if (!rc && confirmed && !planner->dateline)
        rc = trv_planner_confirm(planner, *candidate, vector_bytes, entry);
    planner->progress = trv_span(all, 0.1, 0.9);
    if (!rc && isfinite(entry->time_ns) && planner->dateline)
        rc = find_dateline_time(planner, *candidate, vector_bytes, entry);
    return rc;
}

static int time_choice(trv_planner_t *planner, uint64_t vector_bytes, const char *algorithm, double cutoff_ns,
                       bool confirmed, trv_planner_choice_t *choice)
{
    trv_candidate_t *candidate = NULL;
    trv_entry_t entry;
    int rc = time_named(planner, vector_bytes, algorithm, cutoff_ns, confirmed, &candidate, &entry);
    if (!rc && isinf(entry.time_ns)) {
        *choice = (trv_planner_choice_t){.time_ns = INFINITY};
        return TRV_OK;
    }
    if (!rc)
        rc = trv_planner_make_choice(planner, candidate, &entry, choice);
    trv_ranking_drop_excess(&planner->list);
    return rc;
}

int trv_planner_time(trv_planner_t *planner, uint64_t vector_bytes, const char *algorithm, trv_planner_choice_t *choice)
{
    return time_choice(planner, vector_bytes, algorithm, INFINITY, true, choice);
}

int trv_planner_time_within(trv_planner_t *planner, uint64_t vector_bytes, const char *algorithm, double cutoff_ns,
                            trv_planner_choice_t *choice)
{
    return time_choice(planner, vector_bytes, algorithm, cutoff_ns, false, choice);
}

int trv_planner_time_family(trv_planner_t *planner, uint64_t vector_bytes, const char *family, double cutoff_ns,
                            trv_planner_choice_t *choice)
{
    const trv_algorithm_t *member[TRV_FAMILY_MAX];
    int found = TRV_ERR_UNSUPPORTED, members = trv_family_members(family, member);
    for (int i = 0; i < members; i++) {
        trv_planner_choice_t timed;
        const int rc = time_choice(planner, vector_bytes, trv_algorithm_name(member[i]), cutoff_ns, true, &timed);
        if (rc && rc != TRV_ERR_UNSUPPORTED)
            return rc;
        if (!rc && (found || timed.time_ns < choice->time_ns)) {
            *choice = timed;
            found = TRV_OK;
            if (!planner->dateline) /* with two channels the first simulation is no bound of the time */
                cutoff_ns = fmin(cutoff_ns, timed.time_ns);
        }
    }
    return found;
}

int trv_planner_named_ns(trv_planner_t *planner, uint64_t vector_bytes, const char *algorithm, double cutoff_ns,
                         double *time_ns)
{
    trv_candidate_t *candidate = NULL;
    trv_entry_t entry;
    int rc = time_named(planner, vector_bytes, algorithm, cutoff_ns, true, &candidate, &entry);
    *time_ns = entry.time_ns;
    trv_ranking_drop_excess(&planner->list);
    return rc;
}
