/*
 * Networks whose ranks are not alike: where a slow link is used no rank stands for others, and on lines those of a line
 * differ, so that simulations are dear.
 *
 * What is worth one is said by the torus without lines and links, for which a planner of its own plans as usual, by the
 * models of what is made for lines, and by what some ranks send. What is likely to be fastest is simulated first, until
 * nothing that is left can win, or the work is done that is allowed: each as it is and, for some of the factors by which
 * links are slow, with the links left alone that are so slow or slower (NAME@F). What passes a cut link is dropped.
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

#include "common/advance.h"
#include "common/error.h"
#include "planner/constraints.h"
#include "planner/factors.h"
#include "planner/look.h"
#include "planner/timing.h"
#include "simulate/simulator.h"

#define NEAR           32   /* plans for the torus without lines and links … */
#define NEAR_HOPS_MAX  3e4  /* … simulated in so many packet-hops at most, … */
#define ALIKE          4    /* … of one algorithm at most so many */
#define LINES_MAX      48   /* candidates of algorithms that are made for lines, … */
#define MODEL_SLACK    0.7  /* … whose times may be so much of what their models say */
#define LINES_SLOWER   2    /* times as long as on a ring, but for the starts of steps */
#define PROSPECTS_MAX  256  /* with the algorithms that are single schedules */
#define WORK           10   /* of one plan: simulations of the planner's hops_max, reading included */
#define PROSPECTS_PART 0.25 /* finding the prospects is about so much of all the time */
#define CHEAP_MESSAGES 0.05 /* of the planner's hops_max */
#define MARGIN         1.25 /* so many times its model's time may take what is not simulated, … */
#define MARGIN_KNOWN   1.15 /* … or where others of its algorithm were */
#define PASSED_MAX     1e9  /* links, by the messages of one schedule: half a minute's simulation */
#define KEPT_MAX       2e5  /* messages of a simulator that is kept for the next size */

typedef struct prospect {
    char name[TRV_ALGORITHM_NAME_MAX];
    double least_ns, likely_ns; /* what it takes at least, and about */
    bool listed;                /* an algorithm of the table, than which no plan should be slower */
    bool near;                  /* only from the torus without lines and links is it known what is likely */
    bool dear;                  /* comes after the others, or is not simulated */
    bool examined;
    double simulated_ns; /* its time, or what that is above; 0: it was not */
} prospect_t;

typedef struct prospects {
    trv_ranking_t *ranking;
    int count, factors, modelled;
    double factor[TRV_FACTORS_MAX];
    double work;     /* that is left … */
    double reserved; /* … of which the first of them needs so much */
    prospect_t prospect[PROSPECTS_MAX];
    trv_entry_t model[PROSPECTS_MAX]; /* of those that were too much work, with their models' times */
} prospects_t;

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

static void add_prospect(prospects_t *p, const char *name, double least_ns, double likely_ns, bool listed)
{
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->prospect[i].name, name) == 0) {
            p->prospect[i].least_ns = fmin(p->prospect[i].least_ns, least_ns);
            p->prospect[i].likely_ns = fmax(p->prospect[i].likely_ns, likely_ns);
            p->prospect[i].listed = p->prospect[i].listed || listed;
            return;
        }
    if (p->count == PROSPECTS_MAX)
        return;
    prospect_t *prospect = &p->prospect[p->count++];
    *prospect = (prospect_t){.least_ns = least_ns, .likely_ns = likely_ns, .listed = listed};
    snprintf(prospect->name, sizeof prospect->name, "%s", name);
}

/* What is likely of a schedule's time on the torus without lines and links: a line has half a ring's links, and the ways
 * along it are up to twice as long. */
static double slower(const prospects_t *p, const trv_planned_t *plan)
{
    const trv_network_t *network = &p->ranking->planner->list.network;
    bool cut = network->torus.lines != 0;
    for (int i = 0; i < network->slow_links; i++)
        cut = cut || isinf(network->slow_link[i].factor);
    return cut ? plan->alpha_ns + LINES_SLOWER * (plan->time_ns - plan->alpha_ns) : plan->time_ns;
}

static int count_alike(const prospects_t *p, const char *name)
{
    int alike = 0;
    for (int i = 0; i < p->count; i++)
        alike += trv_planner_is_alike(p->prospect[i].name, name);
    return alike;
}

/* Of what is made for lines; NULL where there is none. */
static const trv_model_t *find_model(const prospects_t *p, const char *name)
{
    const trv_candidates_t *list = &p->ranking->planner->list;
    for (int i = 0; i < list->count; i++)
        if (list->candidate[i].model.steps > 0 && strcmp(list->candidate[i].name, name) == 0)
            return &list->candidate[i].model;
    return NULL;
}

/* 0 where there is none. */
static double model_ns(const prospects_t *p, const char *name)
{
    const trv_model_t *model = find_model(p, name);
    return model ? trv_planner_estimate(p->ranking->planner, model, p->ranking->vector_bytes) : 0;
}

/* Those that are fastest on the torus without lines and links; the first is what a plan must not be slower than. Larger
 * packets than there will do for the others. */
static int add_near(prospects_t *p)
{
    trv_planner_t *whole = p->ranking->planner->whole;
    const double hops_max = whole->hops_max;
    trv_planned_t near[NEAR + 1];
    int rc = TRV_OK, first = trv_planner_rank(whole, p->ranking->vector_bytes, 1, near);
    if (first < 0)
        return first == TRV_ERR_UNSUPPORTED ? TRV_OK : first;
    whole->hops_max = NEAR_HOPS_MAX;
    int plans = trv_planner_rank(whole, p->ranking->vector_bytes, NEAR, near + 1);
    whole->hops_max = hops_max;
    for (int i = 0; i <= plans && !rc; i++) {
        trv_look_t look = {0};
        if (count_alike(p, near[i].algorithm) == ALIKE)
            continue;
        rc = trv_look_at(p->ranking->planner, near[i].algorithm, p->ranking->vector_bytes, &look);
        const double likely_ns = fmax(look.likely_ns, model_ns(p, near[i].algorithm));
        add_prospect(p, near[i].algorithm, near[i].time_ns, fmax(slower(p, &near[i]), likely_ns), false);
        p->prospect[p->count - 1].near = true; /* the first of them is among the others again */
        rc = rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    }
    return plans < 0 ? plans : rc;
}

/* On some hundreds of nodes: there nothing that is listed is left out but for a true bound. */
static bool is_cheap(const trv_planner_t *planner, const trv_look_t *look)
{
    return look->hops <= planner->hops_max && look->messages <= CHEAP_MESSAGES * planner->hops_max;
}

/* A single schedule takes at least its steps, and what a rank sends. Where simulating all of these is too much, it is
 * expected to take as long as on the torus without lines and links, if it is there and has a symmetry. */
static int add_single(prospects_t *p, const char *name)
{
    trv_planner_t *planner = p->ranking->planner, *whole = planner->whole;
    double estimate_ns = 0, likely_ns = 0;
    trv_look_t look = {0};
    int rc = trv_look_at(planner, name, p->ranking->vector_bytes, &look);
    if (rc)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    for (int i = 0; i < whole->list.count; i++)
        if (strcmp(whole->list.candidate[i].name, name) == 0) {
            const double hops_max = whole->hops_max;
            trv_planned_t plan;
            whole->hops_max = NEAR_HOPS_MAX;
            rc = trv_planner_time(whole, p->ranking->vector_bytes, name, &plan);
            whole->hops_max = hops_max;
            if (rc && rc != TRV_ERR_UNSUPPORTED)
                return rc;
            if (!rc) {
                estimate_ns = plan.time_ns;
                likely_ns = slower(p, &plan);
            }
            break;
        }
    const double least_ns = is_cheap(planner, &look) ? look.least_ns : fmax(look.least_ns, estimate_ns);
    add_prospect(p, name, least_ns, fmax(look.likely_ns, likely_ns), true);
    return TRV_OK;
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
            add_prospect(p, line[i].name, MODEL_SLACK * line[i].likely_ns, line[i].likely_ns, false);
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
    if (!rc)
        rc = add_lines(p);
    for (int i = 0; i < list->count && !rc; i++)
        if (!list->candidate[i].guest && list->candidate[i].model.steps <= 0)
            rc = add_single(p, list->candidate[i].name);
    for (int i = 0; i < trv_algorithms_count() && !rc; i++)
        rc = add_single(p, trv_algorithm_name(trv_algorithm_at(i)));
    return rc;
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

/* What is too much work has the time of its model, if there is one: that of its form without slow links. */
static bool keep_model(prospects_t *p, const prospect_t *prospect, const char *name, int index)
{
    const trv_candidates_t *list = &p->ranking->planner->list;
    const double time_ns = trv_look_uses_slow(&list->network, name) ? 0 : model_ns(p, prospect->name);
    if (time_ns <= 0 || p->modelled == PROSPECTS_MAX)
        return false;
    p->model[p->modelled++] = (trv_entry_t){.candidate = index,
                                            .steps = list->candidate[index].facts.steps,
                                            .time_ns = time_ns,
                                            .modelled = true};
    return true;
}

/* Simulates one form of a prospect: where it may be slower than the slowest that is asked for, not at all, and until it
 * is. `must`: also where it is too much work. A listed one that is cheap is simulated even when the work is done. */
static int examine(prospects_t *p, const prospect_t *prospect, const char *name, bool must, double *time_ns)
{
    trv_ranking_t *ranking = p->ranking;
    trv_planner_t *planner = ranking->planner;
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
    const double enough_ns = ranking->timed >= ranking->room ? ranking->best[ranking->room - 1].time_ns : INFINITY;
    if (prospect->dear && strcmp(name, prospect->name) == 0 && keep_model(p, prospect, name, index))
        return TRV_OK;
    rc = trv_look_at(planner, name, ranking->vector_bytes, &look);
    const double work = look.reading + look.simulating;
    if (rc || look.least_ns > enough_ns)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    const bool listed = prospect->listed && strcmp(name, prospect->name) == 0;
    if (work > p->work - p->reserved && !(listed && is_cheap(planner, &look)) &&
        (keep_model(p, prospect, name, index) || !must))
        return TRV_OK;
    const trv_advance_t all = begin_work(p, work);
    trv_entry_t entry = {.candidate = index};
    rc = trv_ranking_examine(ranking, &entry, enough_ns);
    trv_advance_end(all);
    *time_ns = entry.hops > 0 ? fmin(entry.time_ns, enough_ns) : INFINITY;
    /* What passes a cut link, or cannot win, was only read, or simulated until that was known. */
    p->work = fmax(0, p->work - look.reading - look.simulating * fmin(1, entry.hops / fmax(1, look.hops)));
    trv_candidate_t *candidate = &planner->list.candidate[index];
    const bool best = ranking->timed > 0 && ranking->best[0].candidate == index;
    if (!best && candidate->simulator && (double)candidate->simulator->sendings > KEPT_MAX) {
        trv_simulator_destroy(candidate->simulator);
        candidate->simulator = NULL;
    }
    return rc;
}

/* Where one of an algorithm's takes longer than was likely, so do the others. */
static void learn(prospects_t *p, const prospect_t *examined, double time_ns)
{
    const double slower_by = time_ns / examined->likely_ns;
    for (int i = 0; i < p->count && examined->near && slower_by > 1; i++)
        if (p->prospect[i].near && trv_planner_is_alike(p->prospect[i].name, examined->name))
            p->prospect[i].likely_ns *= slower_by;
}

static int examine_forms(prospects_t *p, prospect_t *prospect, bool must)
{
    double best_ns, time_ns = INFINITY;
    int rc = examine(p, prospect, prospect->name, must, &best_ns);
    for (int i = 0; i < p->factors && !rc; i++) {
        char name[TRV_ALGORITHM_NAME_MAX];
        int length = snprintf(name, sizeof name, "%s@%.10g", prospect->name, p->factor[i]);
        if (length < (int)sizeof name)
            rc = examine(p, prospect, name, must, &time_ns);
        best_ns = fmin(best_ns, time_ns);
    }
    if (!rc && isfinite(best_ns)) {
        learn(p, prospect, best_ns);
        prospect->simulated_ns = best_ns;
    }
    return rc;
}

/* What is likely to be fastest, of what is dear or not; NULL: all are examined. */
static prospect_t *find_next(prospects_t *p, bool dear)
{
    prospect_t *next = NULL;
    for (prospect_t *prospect = p->prospect; prospect < p->prospect + p->count; prospect++)
        if (!prospect->examined && prospect->dear == dear && (!next || by_likely(prospect, next) < 0))
            next = prospect;
    return next;
}

/* More than all the work that is allowed. */
static int find_dear(const prospects_t *p, prospect_t *prospect)
{
    const trv_torus_t *torus = &p->ranking->planner->list.network.torus;
    const trv_model_t *model = find_model(p, prospect->name);
    double messages = model ? model->messages : 0;
    trv_look_t look = {0};
    for (int d = 0; d < torus->dims; d++) /* ranks along a line differ */
        messages *= torus->lines >> d & 1 ? torus->size[d] : 1;
    prospect->dear = TRV_LOOK_MESSAGE * messages > WORK * p->ranking->planner->hops_max;
    if (prospect->dear)
        return TRV_OK;
    int rc = trv_look_at(p->ranking->planner, prospect->name, p->ranking->vector_bytes, &look);
    prospect->dear = !rc && look.reading + look.simulating > WORK * p->ranking->planner->hops_max;
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* In the order of likelihood; what is dear after the rest. */
static int examine_all(prospects_t *p)
{
    trv_ranking_t *ranking = p->ranking;
    int rc = TRV_OK;
    for (int dear = 0; dear < 2; dear++)
        for (prospect_t *next; !rc && (next = find_next(p, dear)) != NULL;) {
            const bool full = ranking->timed >= ranking->room, first = next == p->prospect;
            const bool loses = full && next->least_ns > ranking->best[ranking->room - 1].time_ns;
            if (!dear && !loses)
                rc = find_dear(p, next);
            if (rc || (next->dear && !dear))
                continue;
            next->examined = true;
            if (first)
                p->reserved = 0;
            if (!loses)
                rc = examine_forms(p, next, first || (dear && ranking->timed + p->modelled == 0));
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
static double find_excess(const prospects_t *p, const char *name)
{
    double excess = INFINITY;
    for (int i = 0; i < p->count; i++) {
        const prospect_t *prospect = &p->prospect[i];
        const bool known = prospect->simulated_ns > 0 && is_akin(prospect->name, name);
        const double time_ns = known ? model_ns(p, prospect->name) : 0;
        excess = time_ns > 0 ? fmin(excess, prospect->simulated_ns / time_ns) : excess;
    }
    return excess;
}

/* What was not simulated is taken where its model is that much better than all that was; better at all, if what that was
 * has the same model, by as much too low. */
static void add_modelled(prospects_t *p)
{
    trv_ranking_t *ranking = p->ranking;
    const trv_candidates_t *list = &ranking->planner->list;
    const double best_ns = ranking->timed > 0 ? ranking->best[0].time_ns : INFINITY;
    char best[TRV_ALGORITHM_NAME_MAX] = "";
    if (ranking->timed > 0)
        memcpy(best, list->candidate[ranking->best[0].candidate].name, sizeof best);
    for (int i = 0; i < p->modelled && ranking->timed < TRV_UNEVEN_ENTRIES; i++) {
        trv_entry_t *entry = &p->model[i];
        const char *name = list->candidate[entry->candidate].name;
        const double excess = find_excess(p, name);
        entry->time_ns *= isfinite(excess) ? fmax(excess, 1) : 1;
        const double margin = is_akin(name, best) ? 1 : isfinite(excess) ? MARGIN_KNOWN : MARGIN;
        if (margin * entry->time_ns < best_ns)
            trv_ranking_insert(ranking, entry);
    }
}

/* The first is examined in its turn, when the others may have done the work. */
static int reserve_first(prospects_t *p)
{
    trv_look_t look = {0};
    if (p->count == 0)
        return TRV_OK;
    int rc = trv_look_at(p->ranking->planner, p->prospect[0].name, p->ranking->vector_bytes, &look);
    const double work = look.reading + look.simulating;
    p->reserved = !rc && work < p->work ? work : 0;
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

int trv_uneven_rank(trv_ranking_t *ranking)
{
    prospects_t *p = calloc(1, sizeof *p);
    if (!p)
        return trv_fail_memory();
    p->ranking = ranking;
    p->work = ranking->planner->hops_max * WORK;
    int rc = trv_factors_find(&ranking->planner->list.network, p->factor, &p->factors);
    const trv_advance_t all = trv_advance_begin(0, PROSPECTS_PART);
    if (!rc)
        rc = add_prospects(p);
    trv_advance_end(all);
    if (!rc)
        rc = reserve_first(p);
    if (!rc)
        rc = examine_all(p);
    if (!rc)
        add_modelled(p);
    free(p);
    return rc;
}
