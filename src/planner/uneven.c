/*
 * Networks whose ranks are not alike: where a slow link is used no rank stands for others, and on lines those of a line
 * differ, so that simulations are dear.
 *
 * What is worth one is said by the torus without lines and links, for which a planner of its own plans as usual: what
 * is cut or slow makes nothing faster, so that a time there is about the least that it takes here. In this order the
 * candidates are simulated until the next one cannot win, or the work is done that is allowed: each as it is and, for
 * some of the factors by which links are slow, with the links left alone that are so slow or slower (NAME@F). What
 * passes a cut link is dropped. The plan for the torus without lines and links comes first, whatever its work: so no
 * plan is slower than that.
 */
#include "planner/uneven.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/advance.h"
#include "common/error.h"
#include "planner/constraints.h"
#include "planner/timing.h"
#include "simulate/simulator.h"

#define NEAR           32  /* plans for the torus without lines and links … */
#define NEAR_HOPS_MAX  3e4 /* … simulated in so many packet-hops at most, … */
#define ALIKE          4   /* … of one algorithm at most so many */
#define LINES_MAX      48  /* candidates of algorithms that are made for lines, … */
#define LINES_SLOWER   1.6 /* times as long as on the torus without lines, about, is what is not made for them */
#define MODEL_SLACK    0.8 /* … whose times may be so much of what their models say */
#define PROSPECTS_MAX  256 /* with the algorithms that are single schedules */
#define FACTORS_MAX    3
#define FACTOR_LEAST   1.5  /* times as slow: what is less is not worth an opened row */
#define WORK           10   /* of one plan: simulations of the planner's hops_max, reading included */
#define PROSPECTS_PART 0.25 /* finding the prospects is about so much of all the time */
#define PASSED_MAX     1e9  /* links, by the messages of one schedule: half a minute's simulation */
#define KEPT_MAX       2e5  /* messages of a simulator that is kept for the next size */

typedef struct prospect {
    char name[TRV_ALGORITHM_NAME_MAX];
    double least_ns, likely_ns; /* what it takes at least, and about */
} prospect_t;

typedef struct prospects {
    trv_ranking_t *ranking;
    int count, factors;
    double factor[FACTORS_MAX];
    double work; /* that is left */
    prospect_t prospect[PROSPECTS_MAX];
} prospects_t;

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* The dimensions that have lines, or may have if slow links are left alone. */
static unsigned find_lines(const trv_network_t *network)
{
    unsigned lines = network->torus.lines;
    for (int i = 0; i < network->slow_links; i++)
        if (network->slow_link[i].factor >= FACTOR_LEAST)
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
    int rc = check_links(&planner->list.network);
    if (!rc)
        rc = check_work(&planner->list.network.torus);
    if (!rc)
        rc = trv_planner_create(&planner->whole, &torus, planner->list.collective, &plain, &planner->constraints);
    return rc ? rc
              : trv_candidates_collect_lines(&planner->list, find_lines(&planner->list.network),
                                             planner->constraints.consistent);
}

/* ---- Prospects --------------------------------------------------------------------------------------------------- */

static void add_prospect(prospects_t *p, const char *name, double least_ns, double likely_ns)
{
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->prospect[i].name, name) == 0)
            return;
    if (p->count == PROSPECTS_MAX)
        return;
    snprintf(p->prospect[p->count].name, sizeof p->prospect[0].name, "%s", name);
    p->prospect[p->count].likely_ns = likely_ns;
    p->prospect[p->count++].least_ns = least_ns;
}

/* How many times as long a schedule is likely to take as on the torus without lines and links. */
static double slower(const prospects_t *p)
{
    const trv_network_t *network = &p->ranking->planner->list.network;
    bool cut = network->torus.lines != 0;
    for (int i = 0; i < network->slow_links; i++)
        cut = cut || isinf(network->slow_link[i].factor);
    return cut ? LINES_SLOWER : 1;
}

static int count_alike(const prospects_t *p, const char *name)
{
    const size_t length = strcspn(name, ":");
    int alike = 0;
    for (int i = 0; i < p->count; i++)
        alike += strcspn(p->prospect[i].name, ":") == length && strncmp(p->prospect[i].name, name, length) == 0;
    return alike;
}

/* Those that are fastest on the torus without lines and links; the first is what a plan must not be slower than. Larger
 * packets than there will do for the others. */
static int add_near(prospects_t *p)
{
    trv_planner_t *whole = p->ranking->planner->whole;
    const double hops_max = whole->hops_max;
    trv_planned_t near[NEAR + 1];
    int first = trv_planner_rank(whole, p->ranking->vector_bytes, 1, near);
    if (first < 0)
        return first == TRV_ERR_UNSUPPORTED ? TRV_OK : first;
    whole->hops_max = NEAR_HOPS_MAX;
    int plans = trv_planner_rank(whole, p->ranking->vector_bytes, NEAR, near + 1);
    whole->hops_max = hops_max;
    for (int i = 0; i <= plans; i++)
        if (count_alike(p, near[i].algorithm) < ALIKE)
            add_prospect(p, near[i].algorithm, near[i].time_ns, slower(p) * near[i].time_ns);
    return plans < 0 ? plans : TRV_OK;
}

/* Whether there are slow links that the schedule of this name may not leave alone. */
static bool uses_slow(const trv_network_t *network, const char *name)
{
    const char *at = strchr(name, '@');
    const double avoid = at && network->routes == TRV_ROUTES_CHOSEN ? strtod(at + 1, NULL) : INFINITY;
    for (int i = 0; i < network->slow_links; i++)
        if (network->slow_link[i].factor < avoid)
            return true;
    return false;
}

/* About the work of reading a schedule and of simulating it, before anything but one rank is read, and the least time. */
static int look_at(const trv_planner_t *planner, const char *name, uint64_t vector_bytes, double *reading,
                   double *simulating, double *least_ns)
{
    trv_timing_sends_t sends = {0};
    trv_schedule_t *schedule;
    const trv_torus_t *torus = &planner->list.network.torus;
    int middle[TRV_DIMS_MAX];
    for (int d = 0; d < torus->dims; d++)
        middle[d] = torus->size[d] / 2;
    int rc = trv_schedule_create_on(&schedule, &planner->list.network, name, planner->list.collective);
    if (!rc)
        rc = trv_timing_sends(schedule, trv_torus_rank(torus, middle), &planner->network, vector_bytes, &sends);
    double classes = rc ? 0 : 1;
    for (int d = 0; d < torus->dims && !rc; d++)
        classes *= trv_schedule_period(schedule, d);
    /* What is slow tells all ranks apart; what is cut is not passed. */
    const double ranks = uses_slow(&planner->list.network, name) ? torus->ranks : classes;
    *reading = classes * sends.messages;
    *simulating = fmax(ranks * sends.hops[1], fmin(ranks * sends.hops[0], planner->hops_max));
    *least_ns = 8e9 * sends.port_bytes / planner->network.bandwidth_bps;
    if (!rc)
        *least_ns = fmax(*least_ns, trv_schedule_steps(schedule) * planner->network.alpha_ns);
    trv_schedule_destroy(schedule);
    return rc;
}

/* A single schedule: as on the torus without lines and links, if it is there and has a symmetry; else at least its steps,
 * and what a rank sends. */
static int add_single(prospects_t *p, const trv_candidate_t *candidate)
{
    trv_planner_t *whole = p->ranking->planner->whole;
    double estimate_ns = NAN, reading, simulating;
    for (int i = 0; i < whole->list.count; i++)
        if (strcmp(whole->list.candidate[i].name, candidate->name) == 0) {
            const double hops_max = whole->hops_max;
            trv_planned_t plan;
            whole->hops_max = NEAR_HOPS_MAX;
            int rc = trv_planner_time(whole, p->ranking->vector_bytes, candidate->name, &plan);
            whole->hops_max = hops_max;
            if (rc && rc != TRV_ERR_UNSUPPORTED)
                return rc;
            if (!rc)
                estimate_ns = plan.time_ns;
            break;
        }
    int rc = TRV_OK;
    if (isnan(estimate_ns))
        rc = look_at(p->ranking->planner, candidate->name, p->ranking->vector_bytes, &reading, &simulating,
                     &estimate_ns);
    if (!rc)
        add_prospect(p, candidate->name, estimate_ns, slower(p) * estimate_ns);
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

static int by_likely(const void *a, const void *b)
{
    const prospect_t *x = a, *y = b;
    if (x->likely_ns != y->likely_ns)
        return x->likely_ns < y->likely_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Of those that are made for lines, and are there on this network, the best by their models. */
static int add_lines(prospects_t *p)
{
    const trv_planner_t *planner = p->ranking->planner;
    const trv_candidates_t *list = &planner->list;
    prospect_t *line = malloc(((size_t)list->count + 1) * sizeof *line);
    int lines = 0, added = 0, rc = TRV_OK;
    if (!line)
        return trv_fail_memory();
    for (int i = 0; i < list->count; i++)
        if (!list->candidate[i].guest && list->candidate[i].model.steps > 0) {
            memcpy(line[lines].name, list->candidate[i].name, sizeof line->name);
            line[lines++].likely_ns = trv_planner_estimate(planner, &list->candidate[i].model,
                                                           p->ranking->vector_bytes);
        }
    qsort(line, (size_t)lines, sizeof *line, by_likely);
    for (int i = 0; i < lines && added < LINES_MAX && !rc; i++) {
        trv_candidate_t candidate = {0};
        memcpy(candidate.name, line[i].name, sizeof candidate.name);
        rc = trv_candidate_facts(list, &candidate);
        if (!rc)
            add_prospect(p, line[i].name, MODEL_SLACK * line[i].likely_ns, line[i].likely_ns);
        added += !rc;
        rc = rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc; /* rows of a dimension that begin at different coordinates */
    }
    free(line);
    return rc;
}

static int add_prospects(prospects_t *p)
{
    const trv_candidates_t *list = &p->ranking->planner->list;
    int rc = add_near(p);
    const int first = p->count > 0;
    if (!rc)
        rc = add_lines(p);
    for (int i = 0; i < list->count && !rc; i++)
        if (!list->candidate[i].guest && list->candidate[i].model.steps <= 0)
            rc = add_single(p, &list->candidate[i]);
    qsort(p->prospect + first, (size_t)(p->count - first), sizeof *p->prospect, by_likely);
    return rc;
}

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Whether links that are so slow can be left alone: not where that would split a row. */
static bool can_avoid(const trv_network_t *network, double factor)
{
    char name[TRV_ALGORITHM_NAME_MAX];
    snprintf(name, sizeof name, "%s@%.10g", trv_algorithm_name(trv_algorithm_at(0)), factor);
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, network, name, TRV_ALLREDUCE);
    trv_schedule_destroy(schedule);
    return rc != TRV_ERR_ARGUMENT;
}

/* The factors of slow links, rounded down so that a name can have them; of many the largest, the least and one between
 * them. */
static int find_factors(prospects_t *p)
{
    const trv_network_t *network = &p->ranking->planner->list.network;
    double *all = malloc(((size_t)network->slow_links + 1) * sizeof *all);
    int factors = 0, count = 0;
    if (!all)
        return trv_fail_memory();
    for (int i = 0; i < network->slow_links; i++) {
        const double factor = floor(100 * network->slow_link[i].factor) / 100;
        if (isfinite(factor) && factor >= FACTOR_LEAST)
            all[factors++] = factor;
    }
    qsort(all, (size_t)factors, sizeof *all, descending);
    for (int i = 0; i < factors; i++)
        if (count == 0 || all[count - 1] != all[i])
            all[count++] = all[i];
    for (int i = 0; i < count && i < FACTORS_MAX; i++) {
        const double factor = all[count <= FACTORS_MAX ? i : i * (count - 1) / (FACTORS_MAX - 1)];
        if (can_avoid(network, factor))
            p->factor[p->factors++] = factor;
    }
    free(all);
    return TRV_OK;
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
static trv_advance_t begin_work(const prospects_t *p, double work)
{
    const double limit = p->ranking->planner->hops_max * WORK;
    return trv_advance_begin(PROSPECTS_PART + (1 - PROSPECTS_PART) * (1 - p->work / limit),
                             (1 - PROSPECTS_PART) * fmin(work / limit, 1));
}

/* Simulates one form of a prospect: where it may be slower than the slowest that is asked for, not at all. `must`: also
 * where it is too much work. */
static int examine(prospects_t *p, const char *name, bool must)
{
    trv_ranking_t *ranking = p->ranking;
    trv_planner_t *planner = ranking->planner;
    bool keeps;
    int index;
    double reading = 0, simulating = 0, least_ns = 0;
    int rc = find_candidate(&planner->list, name, &index);
    if (rc || index < 0 || ranking->timed == TRV_UNEVEN_ENTRIES)
        return rc;
    rc = trv_constraints_keep(&planner->constraints, &planner->list, &planner->list.candidate[index],
                              ranking->vector_bytes, &keeps);
    if (rc || !keeps)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    ranking->kept++;
    const double enough_ns = ranking->timed >= ranking->room ? ranking->best[ranking->room - 1].time_ns : INFINITY;
    rc = look_at(planner, name, ranking->vector_bytes, &reading, &simulating, &least_ns);
    if (rc || least_ns > enough_ns || (reading + simulating > p->work && !must))
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    const trv_advance_t all = begin_work(p, reading + simulating);
    trv_entry_t entry = {.candidate = index};
    rc = trv_ranking_examine(ranking, &entry, enough_ns);
    trv_advance_end(all);
    /* What passes a cut link, or cannot win, was only read. */
    p->work -= reading + (isfinite(entry.time_ns) ? simulating : 0);
    trv_candidate_t *candidate = &planner->list.candidate[index];
    const bool best = ranking->timed > 0 && ranking->best[0].candidate == index;
    if (!best && candidate->simulator && (double)candidate->simulator->sendings > KEPT_MAX) {
        trv_simulator_destroy(candidate->simulator);
        candidate->simulator = NULL;
    }
    return rc;
}

static int examine_forms(prospects_t *p, const prospect_t *prospect, bool must)
{
    int rc = examine(p, prospect->name, must);
    for (int i = 0; i < p->factors && !rc; i++) {
        char name[TRV_ALGORITHM_NAME_MAX];
        int length = snprintf(name, sizeof name, "%s@%.10g", prospect->name, p->factor[i]);
        if (length < (int)sizeof name)
            rc = examine(p, name, must);
    }
    return rc;
}

int trv_uneven_rank(trv_ranking_t *ranking)
{
    prospects_t *p = calloc(1, sizeof *p);
    if (!p)
        return trv_fail_memory();
    p->ranking = ranking;
    p->work = ranking->planner->hops_max * WORK;
    int rc = find_factors(p);
    const trv_advance_t all = trv_advance_begin(0, PROSPECTS_PART);
    if (!rc)
        rc = add_prospects(p);
    trv_advance_end(all);
    for (int i = 0; i < p->count && !rc; i++) {
        const bool full = ranking->timed >= ranking->room;
        if (full && p->prospect[i].least_ns > ranking->best[ranking->room - 1].time_ns)
            continue;
        rc = examine_forms(p, &p->prospect[i], ranking->timed == 0);
    }
    free(p);
    return rc;
}
