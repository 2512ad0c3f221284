/*
 * Networks whose ranks are not alike. No symmetry makes a few ranks stand for all there, so that every simulation is of
 * the whole network, and dear.
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

#include "common/error.h"
#include "planner/constraints.h"
#include "planner/timing.h"
#include "simulate/simulator.h"

#define NEAR          32  /* plans for the torus without lines and links … */
#define NEAR_HOPS_MAX 3e4 /* … simulated in so many packet-hops at most, … */
#define ALIKE         4   /* … of one algorithm at most so many */
#define LINES_MAX     24  /* candidates of algorithms that are made for lines */
#define PROSPECTS_MAX 128 /* with the algorithms that are single schedules */
#define FACTORS_MAX   3
#define FACTOR_LEAST  1.5 /* times as slow: what is less is not worth an opened row */
#define WORK          10  /* of one plan: simulations of the planner's hops_max, reading included */
#define KEPT_MAX      2e5 /* messages of a simulator that is kept for the next size */

typedef struct prospect {
    char name[TRV_ALGORITHM_NAME_MAX];
    double estimate_ns;
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
        rc = trv_planner_create(&planner->whole, &torus, planner->list.collective, &plain, &planner->constraints);
    return rc ? rc
              : trv_candidates_collect_lines(&planner->list, find_lines(&planner->list.network),
                                             planner->constraints.consistent);
}

/* ---- Prospects --------------------------------------------------------------------------------------------------- */

static void add_prospect(prospects_t *p, const char *name, double estimate_ns)
{
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->prospect[i].name, name) == 0)
            return;
    if (p->count == PROSPECTS_MAX)
        return;
    snprintf(p->prospect[p->count].name, sizeof p->prospect[0].name, "%s", name);
    p->prospect[p->count++].estimate_ns = estimate_ns;
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
            add_prospect(p, near[i].algorithm, near[i].time_ns);
    return plans < 0 ? plans : TRV_OK;
}

/* What the rank in the middle sends: messages, packet-hops for packets of two sizes, and bytes by its busiest port. */
typedef struct sends {
    double messages, hops[2], port_bytes;
} sends_t;

static int add_sends(const trv_planner_t *planner, const trv_schedule_t *schedule, uint64_t vector_bytes,
                     sends_t *sends)
{
    double by_port[TRV_PORTS_MAX] = {0};
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    const double packet_bytes[2] = {planner->network.packet_bytes, 1 << 20};
    trv_step_t step = TRV_STEP_INIT;
    int middle[TRV_DIMS_MAX], rc = TRV_OK;
    for (int d = 0; d < torus->dims; d++)
        middle[d] = torus->size[d] / 2;
    const int rank = trv_torus_rank(torus, middle);
    for (int stream = 0; stream < trv_schedule_streams(schedule) && !rc; stream++)
        for (int k = 0; k < trv_schedule_steps(schedule) && !rc; k++) {
            rc = trv_schedule_step(schedule, rank, stream, k, &step);
            for (int i = 0; i < step.sends && !rc; i++) {
                const double bytes = (double)trv_message_bytes(schedule, stream, &step.send[i], vector_bytes);
                trv_route_t route;
                trv_route_begin(&route, torus, rank, step.send[i].peer, step.send[i].port,
                                trv_schedule_mirrored(schedule, stream));
                for (int size = 0; size < 2; size++)
                    sends->hops[size] += ceil(bytes / packet_bytes[size]) * trv_route_length(&route);
                by_port[step.send[i].port] += bytes;
                sends->port_bytes = fmax(sends->port_bytes, by_port[step.send[i].port]);
                sends->messages++;
            }
        }
    trv_step_clear(&step);
    return rc;
}

/* About the work of a simulation, reading included, before anything but one rank is read, and the least time. */
static int look_at(const trv_planner_t *planner, const char *name, uint64_t vector_bytes, double *work,
                   double *least_ns)
{
    sends_t sends = {0};
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, &planner->list.network, name, planner->list.collective);
    if (!rc)
        rc = add_sends(planner, schedule, vector_bytes, &sends);
    const double ranks = planner->list.network.torus.ranks;
    *work = ranks * sends.messages + fmax(ranks * sends.hops[1], fmin(ranks * sends.hops[0], planner->hops_max));
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
    double estimate_ns = NAN, work;
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
        rc = look_at(p->ranking->planner, candidate->name, p->ranking->vector_bytes, &work, &estimate_ns);
    if (!rc)
        add_prospect(p, candidate->name, estimate_ns);
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

static int by_estimate(const void *a, const void *b)
{
    const prospect_t *x = a, *y = b;
    if (x->estimate_ns != y->estimate_ns)
        return x->estimate_ns < y->estimate_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Of those that are made for lines the best by their models. */
static int add_lines(prospects_t *p)
{
    const trv_planner_t *planner = p->ranking->planner;
    const trv_candidates_t *list = &planner->list;
    prospect_t *line = malloc(((size_t)list->count + 1) * sizeof *line);
    int lines = 0;
    if (!line)
        return trv_fail_memory();
    for (int i = 0; i < list->count; i++)
        if (!list->candidate[i].guest && list->candidate[i].model.steps > 0) {
            memcpy(line[lines].name, list->candidate[i].name, sizeof line->name);
            line[lines++].estimate_ns = trv_planner_estimate(planner, &list->candidate[i].model,
                                                             p->ranking->vector_bytes);
        }
    qsort(line, (size_t)lines, sizeof *line, by_estimate);
    for (int i = 0; i < lines && i < LINES_MAX; i++)
        add_prospect(p, line[i].name, line[i].estimate_ns);
    free(line);
    return TRV_OK;
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
    qsort(p->prospect + first, (size_t)(p->count - first), sizeof *p->prospect, by_estimate);
    return rc;
}

/* The factors of slow links, rounded down so that a name can have them; of many the largest, the least and one between
 * them. */
static int find_factors(prospects_t *p)
{
    const trv_network_t *network = &p->ranking->planner->list.network;
    double *all = malloc(((size_t)network->slow_links + 1) * sizeof *all);
    int count = 0;
    if (!all)
        return trv_fail_memory();
    for (int i = 0; i < network->slow_links; i++) {
        const double factor = floor(100 * network->slow_link[i].factor) / 100;
        int at = 0;
        while (at < count && all[at] > factor)
            at++;
        if (!isfinite(factor) || factor < FACTOR_LEAST || (at < count && all[at] <= factor))
            continue;
        memmove(&all[at + 1], &all[at], (size_t)(count++ - at) * sizeof *all);
        all[at] = factor;
    }
    for (int i = 0; i < count && i < FACTORS_MAX; i++)
        p->factor[p->factors++] = all[count <= FACTORS_MAX ? i : i * (count - 1) / (FACTORS_MAX - 1)];
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
    int rc = trv_candidate_facts(list, &candidate, false);
    if (rc) {
        *index = -1;
        return rc == TRV_ERR_MEMORY ? rc : TRV_OK;
    }
    return trv_candidates_add(list, &candidate);
}

/* Simulates one form of a prospect: where it may be slower than the slowest that is asked for, not at all. `must`: also
 * where it is too much work. */
static int examine(prospects_t *p, const char *name, bool must)
{
    trv_ranking_t *ranking = p->ranking;
    trv_planner_t *planner = ranking->planner;
    bool keeps;
    int index;
    double work = 0, least_ns = 0;
    int rc = find_candidate(&planner->list, name, &index);
    if (rc || index < 0 || ranking->timed == TRV_UNEVEN_ENTRIES)
        return rc;
    rc = trv_constraints_keep(&planner->constraints, &planner->list, &planner->list.candidate[index],
                              ranking->vector_bytes, &keeps);
    if (rc || !keeps)
        return rc;
    ranking->kept++;
    const double enough_ns = ranking->timed >= ranking->room ? ranking->best[ranking->room - 1].time_ns : INFINITY;
    rc = look_at(planner, name, ranking->vector_bytes, &work, &least_ns);
    if (rc || least_ns > enough_ns || (work > p->work && !must))
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    p->work -= work;
    trv_entry_t entry = {.candidate = index};
    rc = trv_ranking_examine(ranking, &entry, enough_ns);
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
    if (!rc)
        rc = add_prospects(p);
    for (int i = 0; i < p->count && !rc; i++) {
        const bool full = ranking->timed >= ranking->room;
        if (full && p->prospect[i].estimate_ns > ranking->best[ranking->room - 1].time_ns)
            continue;
        rc = examine_forms(p, &p->prospect[i], ranking->timed == 0);
    }
    free(p);
    return rc;
}
