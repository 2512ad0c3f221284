/*
 * Networks whose ranks are not alike: where a slow link is used no rank stands for others, and on lines those of a line
 * differ, so that simulations are dear.
 *
 * Of what is worth one (prospects.c) what is likely to be fastest is simulated first, until nothing that is left can win,
 * or the work is done that is allowed: each as it is and, for some of the factors by which links are slow, with the links
 * left alone that are so slow or slower (NAME@F). What passes a cut link is dropped.
 *
 * Among them is the plan for the torus without lines and links: so no plan is slower than that. Nor is one slower than an
 * algorithm of the table, on some hundreds of nodes: there only a true bound leaves one of them out.
 *
 * What is too much work even by itself counts with its model's time, made longer by as much as simulated ones of its
 * algorithm take longer than their models at least, where that is much better than all that was simulated.
 */
#include "planner/uneven.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "planner/constraints.h"
#include "planner/factors.h"
#include "planner/prospects.h"
#include "simulate/simulator.h"

#define WORK           10   /* of one plan: simulations of the planner's hops_max, reading included */
#define PROSPECTS_PART 0.25 /* finding the prospects is about so much of all the time */
#define MARGIN         1.25 /* so many times its model's time may take what is not simulated, … */
#define MARGIN_KNOWN   1.15 /* … or where others of its algorithm were */
#define PASSED_MAX     1e9  /* links, by the messages of one schedule: half a minute's simulation */
#define KEPT_MAX       2e5  /* messages of a simulator that is kept for the next size */

typedef struct examination {
    trv_ranking_t *ranking;
    trv_prospects_t prospects;
    int factors, modelled;
    double factor[TRV_FACTORS_MAX];
    double work;                          /* that is left … */
    double reserved;                      /* … of which the first of them needs so much */
    trv_entry_t model[TRV_PROSPECTS_MAX]; /* of those that were too much work, with their models' times */
} examination_t;

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* The dimensions that have lines, or may have if slow links are left alone. */
static unsigned find_lines(const trv_network_t *network)
{
    unsigned lines = network->torus.lines;
    for (int i = 0; i < network->slow_links; i++)
        if (network->slow_link[i].factor >= TRV_FACTOR_LEAST)
            lines |= 1u << trv_port_dimension(network->slow_link[i].port);
    return lines;
}

/* The sentence for links that do not exist or leave a row in two parts. */
static int check_links(const trv_network_t *network)
{
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, network, trv_algorithm_name(trv_algorithm_at(0)), TRV_ALLREDUCE);
    trv_schedule_destroy(schedule);
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* The messages of one schedule pass about as many links as a rank's would if it sent one along each dimension. */
static int check_work(const trv_torus_t *torus)
{
    double hops = 0;
    for (int d = 0; d < torus->dims; d++)
        hops += (double)torus->ranks * (torus->size[d] - 1);
    char text[TRV_TORUS_TEXT_MAX];
    return hops <= PASSED_MAX
               ? TRV_OK
               : trv_fail(TRV_ERR_UNSUPPORTED,
                          "%s is too large for a plan: where lines or links make ranks differ all are simulated, and "
                          "the messages of one schedule pass about %.2g links there, of at most %.2g",
                          trv_torus_format(torus, text, sizeof text), hops, PASSED_MAX);
}

int trv_uneven_create(trv_planner_t *planner, const trv_simulate_options_t *asked)
{
    trv_torus_t torus = planner->list.network.torus;
    trv_simulate_options_t plain = planner->network;
    planner->network.model = asked->model;
    planner->dateline = false; /* what is simulated is the model that was asked for */
    torus.lines = 0;
    plain.slow_links = 0;
    plain.slow_link = NULL;
    plain.progress = trv_span_callback;
    plain.progress_context = &planner->part;
    int rc = check_links(&planner->list.network);
    if (!rc)
        rc = check_work(&planner->list.network.torus);
    if (!rc)
        rc = trv_planner_create(&planner->whole, &torus, planner->list.collective, &plain, &planner->constraints);
    return rc ? rc
              : trv_candidates_collect_lines(&planner->list, find_lines(&planner->list.network),
                                             planner->constraints.consistent);
}

/* ---- Simulating -------------------------------------------------------------------------------------------------- */

/* The number of the candidate of that name in the list, which gets it if it has none; -1 where there is no such schedule
 * on this network. */
static int find_candidate(trv_candidates_t *list, const char *name, int *index)
{
    trv_candidate_t candidate = {.guest = true};
    for (*index = 0; *index < list->count; ++*index)
        if (strcmp(list->candidate[*index].name, name) == 0)
            return TRV_OK;
    snprintf(candidate.name, sizeof candidate.name, "%s", name);
    int rc = trv_candidate_facts(list, &candidate);
    if (rc) {
        *index = -1;
        return rc == TRV_ERR_MEMORY ? rc : TRV_OK;
    }
    return trv_candidates_add(list, &candidate);
}

/* The part of all the time that so much of the work that is left is. */
static trv_span_t part_of_work(const examination_t *e, double work)
{
    const double limit = e->ranking->planner->hops_max * WORK;
    return trv_span(e->ranking->planner->part, PROSPECTS_PART + (1 - PROSPECTS_PART) * (1 - e->work / limit),
                    (1 - PROSPECTS_PART) * fmin(work / limit, 1));
}

/* 0 where there is none. */
static double model_ns(const examination_t *e, const char *name)
{
    return trv_prospect_model_ns(e->ranking->planner, name, e->ranking->vector_bytes);
}

/* What is too much work has the time of its model, if there is one: that of its form without slow links. Models know
 * nothing of what reductions take, nor of paths that two ports share. */
static bool keep_model(examination_t *e, const trv_prospect_t *prospect, const char *name, int index)
{
    const trv_candidates_t *list = &e->ranking->planner->list;
    const trv_simulate_options_t *network = &e->ranking->planner->network;
    const bool unknown = network->gamma_ns > 0 || network->narrow != 0 || trv_look_uses_slow(&list->network, name);
    const double time_ns = unknown ? 0 : model_ns(e, prospect->name);
    if (time_ns <= 0 || e->modelled == TRV_PROSPECTS_MAX)
        return false;
    e->model[e->modelled++] = (trv_entry_t){.candidate = index,
                                            .steps = list->candidate[index].facts.steps,
                                            .time_ns = time_ns,
                                            .modelled = true};
    return true;
}

/* Simulates one form of a prospect: where it may be slower than the slowest that is asked for, not at all, and until it
 * is. `must`: also where it is too much work. A listed one that is cheap is simulated even when the work is done. */
static int examine(examination_t *e, trv_prospect_t *prospect, const char *name, bool must, double *time_ns)
{
    trv_ranking_t *ranking = e->ranking;
    trv_planner_t *planner = ranking->planner;
    const bool own = strcmp(name, prospect->name) == 0; /* not a form that leaves slow links alone */
    bool keeps;
    int index;
    trv_look_t look = {0};
    *time_ns = INFINITY;
    int rc = find_candidate(&planner->list, name, &index);
    if (rc || index < 0 || ranking->timed == TRV_UNEVEN_ENTRIES)
        return rc;
    rc = trv_constraints_keep(&planner->constraints, &planner->list, &planner->list.candidate[index],
                              ranking->vector_bytes, &keeps);
    if (rc || !keeps)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    ranking->kept++;
    const double enough_ns = trv_ranking_enough_ns(ranking);
    if (prospect->dear && own && keep_model(e, prospect, name, index))
        return TRV_OK;
    if (own) {
        rc = trv_prospect_look(planner, ranking->vector_bytes, prospect);
        look = prospect->look;
    } else
        rc = trv_look_at(planner, name, ranking->vector_bytes, &look);
    const double work = look.reading + look.simulating;
    if (rc || look.least_ns > enough_ns)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    if (work > e->work - e->reserved && !(own && prospect->listed && trv_prospect_is_cheap(planner, &look)) &&
        (keep_model(e, prospect, name, index) || !must))
        return TRV_OK;
    const trv_span_t all = planner->part;
    planner->part = part_of_work(e, work);
    trv_entry_t entry = {.candidate = index};
    rc = trv_ranking_examine(ranking, &entry, enough_ns);
    if (!rc)
        rc = trv_span_report(planner->part, 1);
    planner->part = all;
    *time_ns = entry.hops > 0 ? fmin(entry.time_ns, enough_ns) : INFINITY;
    /* What passes a cut link, or cannot win, was only read, or simulated until that was known. */
    e->work = fmax(0, e->work - look.reading - look.simulating * fmin(1, entry.hops / fmax(1, look.hops)));
    trv_candidate_t *candidate = &planner->list.candidate[index];
    const bool best = ranking->timed > 0 && ranking->best[0].candidate == index;
    if (!best && candidate->simulator && (double)candidate->simulator->sendings > KEPT_MAX) {
        trv_simulator_destroy(candidate->simulator);
        candidate->simulator = NULL;
    }
    return rc;
}

/* Where one of an algorithm's takes longer than was likely, so do the others. */
static void learn(examination_t *e, const trv_prospect_t *examined, double time_ns)
{
    const double slower_by = time_ns / examined->likely_ns;
    for (int i = 0; i < e->prospects.count && examined->near && slower_by > 1; i++)
        if (e->prospects.prospect[i].near && trv_planner_is_alike(e->prospects.prospect[i].name, examined->name))
            e->prospects.prospect[i].likely_ns *= slower_by;
}

static int examine_forms(examination_t *e, trv_prospect_t *prospect, bool must)
{
    double best_ns, time_ns = INFINITY;
    int rc = examine(e, prospect, prospect->name, must, &best_ns);
    for (int i = 0; i < e->factors && !rc; i++) {
        char name[TRV_ALGORITHM_NAME_MAX];
        int length = snprintf(name, sizeof name, "%s@%.10g", prospect->name, e->factor[i]);
        if (length < (int)sizeof name)
            rc = examine(e, prospect, name, must, &time_ns);
        best_ns = fmin(best_ns, time_ns);
    }
    if (!rc && isfinite(best_ns)) {
        learn(e, prospect, best_ns);
        prospect->simulated_ns = best_ns;
    }
    return rc;
}

/* What is likely to be fastest, of what is dear or not; NULL: all are examined. */
static trv_prospect_t *find_next(examination_t *e, bool dear)
{
    trv_prospect_t *next = NULL;
    for (int i = 0; i < e->prospects.count; i++) {
        trv_prospect_t *prospect = &e->prospects.prospect[i];
        if (!prospect->examined && prospect->dear == dear && (!next || trv_prospect_order(prospect, next) < 0))
            next = prospect;
    }
    return next;
}

/* More than all the work that is allowed. */
static int find_dear(const examination_t *e, trv_prospect_t *prospect)
{
    const trv_torus_t *torus = &e->ranking->planner->list.network.torus;
    const trv_model_t *model = trv_prospect_model(e->ranking->planner, prospect->name);
    double messages = model ? model->messages : 0;
    for (int d = 0; d < torus->dims; d++) /* ranks along a line differ */
        messages *= torus->lines >> d & 1 ? torus->size[d] : 1;
    prospect->dear = TRV_LOOK_MESSAGE * messages > WORK * e->ranking->planner->hops_max;
    if (prospect->dear)
        return TRV_OK;
    int rc = trv_prospect_look(e->ranking->planner, e->ranking->vector_bytes, prospect);
    const trv_look_t *look = &prospect->look;
    prospect->dear = !rc && look->reading + look->simulating > WORK * e->ranking->planner->hops_max;
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* In the order of likelihood; what is dear after the rest. */
static int examine_all(examination_t *e)
{
    trv_ranking_t *ranking = e->ranking;
    int rc = TRV_OK;
    for (int dear = 0; dear < 2; dear++)
        for (trv_prospect_t *next; !rc && (next = find_next(e, dear)) != NULL;) {
            const bool first = next == e->prospects.prospect;
            const bool loses = next->least_ns > trv_ranking_enough_ns(ranking);
            if (!dear && !loses)
                rc = find_dear(e, next);
            if (rc || (next->dear && !dear))
                continue;
            next->examined = true;
            if (first)
                e->reserved = 0;
            if (!loses)
                rc = examine_forms(e, next, first || (dear && ranking->timed + e->modelled == 0));
        }
    return rc;
}

/* Whether two names differ in their numbers alone. */
static bool is_akin(const char *name, const char *other)
{
    static const char numbers[] = "0123456789/x";
    for (;;) {
        name += strspn(name, numbers);
        other += strspn(other, numbers);
        if (*name != *other || *name == '\0')
            return *name == *other;
        name++;
        other++;
    }
}

/* By how much the models of an algorithm's schedules of one form are too low at least, by those that were simulated;
 * INFINITY where none was. */
static double find_excess(const examination_t *e, const char *name)
{
    double excess = INFINITY;
    for (int i = 0; i < e->prospects.count; i++) {
        const trv_prospect_t *prospect = &e->prospects.prospect[i];
        const bool known = prospect->simulated_ns > 0 && is_akin(prospect->name, name);
        const double time_ns = known ? model_ns(e, prospect->name) : 0;
        excess = time_ns > 0 ? fmin(excess, prospect->simulated_ns / time_ns) : excess;
    }
    return excess;
}

/* What was not simulated is taken where its model is that much better than all that was; better at all, if what that was
 * has the same model, by as much too low. */
static void add_modelled(examination_t *e)
{
    trv_ranking_t *ranking = e->ranking;
    const trv_candidates_t *list = &ranking->planner->list;
    const double best_ns = ranking->timed > 0 ? ranking->best[0].time_ns : INFINITY;
    char best[TRV_ALGORITHM_NAME_MAX] = "";
    if (ranking->timed > 0)
        memcpy(best, list->candidate[ranking->best[0].candidate].name, sizeof best);
    for (int i = 0; i < e->modelled && ranking->timed < TRV_UNEVEN_ENTRIES; i++) {
        trv_entry_t *entry = &e->model[i];
        const char *name = list->candidate[entry->candidate].name;
        const double excess = find_excess(e, name);
        entry->time_ns *= isfinite(excess) ? fmax(excess, 1) : 1;
        const double margin = is_akin(name, best) ? 1 : isfinite(excess) ? MARGIN_KNOWN : MARGIN;
        if (margin * entry->time_ns < best_ns)
            trv_ranking_insert(ranking, entry);
    }
}

/* The first is examined in its turn, when the others may have done the work. */
static int reserve_first(examination_t *e)
{
    trv_prospect_t *first = e->prospects.prospect;
    if (e->prospects.count == 0)
        return TRV_OK;
    int rc = trv_prospect_look(e->ranking->planner, e->ranking->vector_bytes, first);
    const double work = first->look.reading + first->look.simulating;
    e->reserved = !rc && work < e->work ? work : 0;
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

int trv_uneven_rank(trv_ranking_t *ranking)
{
    examination_t *e = calloc(1, sizeof *e);
    if (!e)
        return trv_fail_memory();
    e->ranking = ranking;
    e->work = ranking->planner->hops_max * WORK;
    int rc = trv_factors_find(&ranking->planner->list.network, e->factor, &e->factors);
    const trv_span_t all = ranking->planner->part;
    ranking->planner->part = trv_span(all, 0, PROSPECTS_PART);
    if (!rc)
        rc = trv_prospects_find(ranking->planner, ranking->vector_bytes, &e->prospects);
    ranking->planner->part = all;
    if (!rc)
        rc = reserve_first(e);
    if (!rc)
        rc = examine_all(e);
    if (!rc)
        add_modelled(e);
    free(e);
    return rc;
}
