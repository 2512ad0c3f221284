/*
 * Choices for networks whose ranks differ. Where a slow link is used no rank represents others, and the ranks along a
 * line differ from each other, so simulations are expensive.
 *
 * Prospects (prospects.c) are simulated in the order of their likely times, until none of the remaining ones can win or
 * the work that one choice may take is done. Each is simulated as it is and, for some of the factors by which links are
 * slow, in a form that avoids all links with this or a larger factor (NAME@F). Schedules that pass a cut link are
 * dropped.
 *
 * The choice for the uniform torus (prospects.h) is among them, so no choice is slower than that one, and on some
 * hundreds of nodes none is slower than an algorithm of the table: there an algorithm is left out only if a lower bound
 * shows that it cannot win. Both hold for schedules with at most the network's messages per port.
 *
 * A prospect whose simulation alone would be too much work is left out, unless there is no other.
 */
#include "planner/nonuniform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "planner/constraints.h"
#include "planner/factors.h"
#include "planner/prospects.h"
#include "simulate/simulator.h"

#define PROSPECTS_FRACTION 0.25 /* fraction of the time that finding the prospects takes, for the progress report */
#define LINKS_PASSED_MAX   1e9  /* maximum links that the messages of one schedule pass: half a minute's simulation */

typedef struct examination {
    trv_ranking_t *ranking;
    trv_prospects_t prospects;
    int factors;
    double factor[TRV_FACTORS_MAX];
    double work;     /* remaining work … */
    double reserved; /* … and the part of it that the first prospect needs */
} examination_t;

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* The dimensions that have lines, or whose rows become lines when slow links are avoided, as a bit mask. */
static unsigned find_lines(const trv_network_t *network)
{
    unsigned lines = network->torus.lines;
    for (int i = 0; i < network->slow_links; i++)
        if (network->slow_link[i].factor >= TRV_FACTOR_MIN)
            lines |= 1u << trv_port_dimension(network->slow_link[i].port);
    return lines;
}

/* Reports links that do not exist or that split a row in two. */
static int check_links(const trv_network_t *network)
{
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, network, trv_algorithm_name(trv_algorithm_at(0)), TRV_ALLREDUCE, 0);
    trv_schedule_destroy(schedule);
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* Rejects a torus that is too large to simulate. The links that the messages of a schedule pass are estimated as if
 * every rank sent one message along each whole dimension. */
static int check_work(const trv_torus_t *torus)
{
    double hops = 0;
    for (int d = 0; d < torus->dims; d++)
        hops += (double)torus->ranks * (torus->size[d] - 1);
    char text[TRV_TORUS_TEXT_MAX];
    return hops <= LINKS_PASSED_MAX
               ? TRV_OK
               : trv_fail(TRV_ERR_UNSUPPORTED,
                          "%s is too large for the planner: its lines, slow or cut links make ranks differ, so all are "
                          "simulated, and the messages of one schedule pass about %.2g links; the limit is %.2g",
                          trv_torus_format(torus, text, sizeof text), hops, LINKS_PASSED_MAX);
}

int trv_nonuniform_create(trv_planner_t *planner, const trv_simulate_options_t *asked)
{
    trv_torus_t torus = planner->list.network.torus;
    trv_simulate_options_t uniform = planner->network;
    planner->network.model = asked->model;
    planner->dateline = false; /* all simulations use the model that was asked for */
    torus.lines = 0;
    uniform.slow_links = 0;
    uniform.slow_link = NULL;
    uniform.progress = trv_span_callback;
    uniform.progress_context = &planner->progress;
    int rc = check_links(&planner->list.network);
    if (!rc)
        rc = check_work(&planner->list.network.torus);
    if (!rc)
        rc = trv_planner_create(&planner->uniform, &torus, planner->list.collective, 0, &uniform,
                                &planner->constraints);
    return rc ? rc
              : trv_candidates_collect_lines(&planner->list, find_lines(&planner->list.network),
                                             planner->constraints.consistent);
}

/* ---- Simulating -------------------------------------------------------------------------------------------------- */

/* Finds the index of the candidate with this name, or adds it. The index is negative if there is no such schedule on
 * this network. */
static int find_candidate(trv_candidates_t *list, const char *name, int *index)
{
    *index = trv_candidates_find_or_add(list, name);
    return *index == TRV_ERR_MEMORY ? *index : TRV_OK;
}

/* The part of the planner's progress that the next work of this amount represents. */
static trv_span_t progress_of_work(const examination_t *e, double work)
{
    const double limit = e->ranking->planner->hops_max * TRV_PROSPECT_WORK;
    return trv_span(e->ranking->planner->progress,
                    PROSPECTS_FRACTION + (1 - PROSPECTS_FRACTION) * (1 - e->work / limit),
                    (1 - PROSPECTS_FRACTION) * fmin(work / limit, 1));
}

/* Simulates one form of a prospect, unless a bound shows that it is slower than the slowest choice of a full list;
 * the simulation is stopped when it becomes slower. `forced`: simulate even if it is too much work. A listed
 * prospect that is cheap is simulated even when no work is left. */
static int examine(examination_t *e, trv_prospect_t *prospect, const char *name, bool forced, double *time_ns)
{
    trv_ranking_t *ranking = e->ranking;
    trv_planner_t *planner = ranking->planner;
    const bool is_plain = strcmp(name, prospect->name) == 0; /* not a form that avoids slow links */
    bool allowed;
    int index;
    trv_sample_t sample = {0};
    *time_ns = INFINITY;
    int rc = find_candidate(&planner->list, name, &index);
    if (rc || index < 0 || ranking->timed == TRV_NONUNIFORM_ENTRIES)
        return rc;
    const double cutoff_ns = trv_ranking_cutoff_ns(ranking);
    if (is_plain) {
        rc = trv_prospect_sample(planner, ranking->vector_bytes, prospect);
        sample = prospect->sample;
    } else
        rc = trv_sample_schedule(planner, name, ranking->vector_bytes, &sample);
    const double work = sample.reading + sample.simulating;
    const bool too_much = work > e->work - e->reserved && !forced &&
                          !(is_plain && prospect->listed && trv_prospect_is_cheap(planner, &sample));
    if (!rc && (sample.bound_ns > cutoff_ns || too_much)) {
        ranking->allowed++; /* as far as it is known */
        return TRV_OK;
    }
    if (!rc)
        rc = trv_constraints_allow(&planner->constraints, &planner->list, &planner->list.candidate[index],
                                   ranking->vector_bytes, false, &allowed);
    if (rc || !allowed)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    ranking->allowed++;
    const trv_span_t all = planner->progress;
    planner->progress = progress_of_work(e, work);
    trv_entry_t entry = {.candidate = index};
    rc = trv_ranking_examine(ranking, &entry, cutoff_ns);
    if (!rc)
        rc = trv_span_report(planner->progress, 1);
    planner->progress = all;
    *time_ns = entry.hops > 0 ? fmin(entry.time_ns, cutoff_ns) : INFINITY;
    /* A schedule that passes a cut link or cannot win was read, but simulated only until that was known. */
    e->work = fmax(0, e->work - sample.reading - sample.simulating * fmin(1, entry.hops / fmax(1, sample.hops)));
    return rc;
}

/* If the simulation of a choice for the uniform torus took longer than expected, the likely times of the other such
 * choices of the same algorithm are increased by the same factor. */
static void raise_likely_times(examination_t *e, const trv_prospect_t *examined, double time_ns)
{
    const double slower_by = time_ns / examined->likely_ns;
    for (int i = 0; i < e->prospects.count && examined->from_uniform && slower_by > 1; i++)
        if (e->prospects.prospect[i].from_uniform &&
            trv_planner_same_algorithm(e->prospects.prospect[i].name, examined->name))
            e->prospects.prospect[i].likely_ns *= slower_by;
}

static int examine_forms(examination_t *e, trv_prospect_t *prospect, bool forced)
{
    double best_ns, time_ns = INFINITY;
    int rc = examine(e, prospect, prospect->name, forced, &best_ns);
    for (int i = 0; i < e->factors && !rc; i++) {
        char name[TRV_ALGORITHM_NAME_MAX];
        int length = trv_snprintf(name, sizeof name, "%s@%.10g", prospect->name, e->factor[i]);
        if (length < (int)sizeof name)
            rc = examine(e, prospect, name, forced, &time_ns);
        best_ns = fmin(best_ns, time_ns);
    }
    if (!rc && isfinite(best_ns))
        raise_likely_times(e, prospect, best_ns);
    return rc;
}

/* The prospect with the smallest likely time that was not examined, among those with or without `costly` set;
 * NULL if all were examined. */
static trv_prospect_t *find_next(examination_t *e, bool costly)
{
    trv_prospect_t *next = NULL;
    for (int i = 0; i < e->prospects.count; i++) {
        trv_prospect_t *prospect = &e->prospects.prospect[i];
        if (!prospect->examined && prospect->costly == costly && (!next || trv_prospect_order(prospect, next) < 0))
            next = prospect;
    }
    return next;
}

/* Sets prospect->costly: simulating it takes more work than a whole choice may take. */
static int mark_costly(const examination_t *e, trv_prospect_t *prospect)
{
    const trv_model_t *model = trv_prospect_model(e->ranking->planner, prospect->name);
    prospect->costly = model && trv_prospect_is_costly(e->ranking->planner, model);
    if (prospect->costly)
        return TRV_OK;
    int rc = trv_prospect_sample(e->ranking->planner, e->ranking->vector_bytes, prospect);
    const trv_sample_t *sample = &prospect->sample;
    prospect->costly = !rc && sample->reading + sample->simulating > TRV_PROSPECT_WORK * e->ranking->planner->hops_max;
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* Examines the prospects in the order of their likely times; those with `costly` set come last. */
static int examine_all(examination_t *e)
{
    trv_ranking_t *ranking = e->ranking;
    int rc = TRV_OK;
    for (int costly = 0; costly < 2; costly++)
        for (trv_prospect_t *next; !rc && (next = find_next(e, costly)) != NULL;) {
            const bool first = next == e->prospects.prospect;
            const bool loses = next->bound_ns > trv_ranking_cutoff_ns(ranking);
            if (!costly && !loses)
                rc = mark_costly(e, next);
            if (rc || (next->costly && !costly))
                continue;
            next->examined = true;
            if (first)
                e->reserved = 0;
            if (!loses)
                rc = examine_forms(e, next, ranking->timed == 0);
        }
    return rc;
}

/* Reserves the work of the first prospect: when it is examined in its turn, the others may have used all other work. */
static int reserve_first(examination_t *e)
{
    trv_prospect_t *first = e->prospects.prospect;
    if (e->prospects.count == 0)
        return TRV_OK;
    int rc = trv_prospect_sample(e->ranking->planner, e->ranking->vector_bytes, first);
    const double work = first->sample.reading + first->sample.simulating;
    e->reserved = !rc && work < e->work ? work : 0;
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

int trv_nonuniform_rank(trv_ranking_t *ranking)
{
    examination_t *e = calloc(1, sizeof *e);
    if (!e)
        return trv_fail_memory();
    e->ranking = ranking;
    e->work = ranking->planner->hops_max * TRV_PROSPECT_WORK;
    int rc = trv_factors_find(&ranking->planner->list.network, e->factor, &e->factors);
    const trv_span_t all = ranking->planner->progress;
    ranking->planner->progress = trv_span(all, 0, PROSPECTS_FRACTION);
    if (!rc)
        rc = trv_prospects_find(ranking->planner, ranking->vector_bytes, &e->prospects);
    ranking->planner->progress = all;
    if (!rc)
        rc = reserve_first(e);
    if (!rc)
        rc = examine_all(e);
    free(e);
    return rc;
}
