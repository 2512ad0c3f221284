/*
 * Selects the schedules that are worth a simulation on a network with lines, slow or cut links. The sources are the
 * plans for the even torus (prospects.h), made by a second planner; the models of algorithms that are made for lines;
 * and the messages of some ranks.
 */
#include "planner/prospects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define NEAR           32   /* number of plans for the even torus … */
#define NEAR_HOPS_MAX  3e4  /* … and maximum packet-hops to simulate one of them */
#define ALIKE          4    /* maximum number of these plans of one algorithm */
#define FAR            8    /* a candidate's simulation is stopped at this multiple of the best plan's time */
#define LINES_MAX      48   /* number of candidates of algorithms that are made for lines */
#define MODEL_SLACK    0.7  /* lower bound on the time of these, as a fraction of their model's estimate */
#define LINES_SLOWER   2    /* time on a line relative to a ring, both without the start of steps (alpha) */
#define CHEAP_MESSAGES 0.05 /* a schedule with fewer messages than this part of hops_max is cheap */

typedef struct search {
    const trv_planner_t *planner;
    uint64_t vector_bytes;
    trv_prospects_t *found;
    double near_ns; /* time of the best plan for the even torus; INFINITY: there is none */
} search_t;

int trv_prospect_look(const trv_planner_t *planner, uint64_t vector_bytes, trv_prospect_t *prospect)
{
    if (prospect->looked)
        return prospect->refusal;
    int rc = trv_look_at(planner, prospect->name, vector_bytes, &prospect->look);
    prospect->looked = true;
    prospect->refusal = rc;
    return rc;
}

bool trv_prospect_is_cheap(const trv_planner_t *planner, const trv_look_t *look)
{
    return look->hops <= planner->hops_max && look->messages <= CHEAP_MESSAGES * planner->hops_max;
}

const trv_model_t *trv_prospect_model(const trv_planner_t *planner, const char *name)
{
    const trv_candidates_t *list = &planner->list;
    for (int i = 0; i < list->count; i++)
        if (list->candidate[i].model.steps > 0 && strcmp(list->candidate[i].name, name) == 0)
            return &list->candidate[i].model;
    return NULL;
}

double trv_prospect_model_ns(const trv_planner_t *planner, const char *name, uint64_t vector_bytes)
{
    const trv_model_t *model = trv_prospect_model(planner, name);
    return model ? trv_planner_estimate(planner, model, vector_bytes) : 0;
}

int trv_prospect_order(const void *a, const void *b)
{
    const trv_prospect_t *x = a, *y = b;
    if (x->likely_ns != y->likely_ns)
        return x->likely_ns < y->likely_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Finds or adds the prospect with this name; NULL if the list is full. */
static trv_prospect_t *find_or_add(trv_prospects_t *found, const char *name)
{
    for (int i = 0; i < found->count; i++)
        if (strcmp(found->prospect[i].name, name) == 0)
            return &found->prospect[i];
    if (found->count == TRV_PROSPECTS_MAX)
        return NULL;
    trv_prospect_t *prospect = &found->prospect[found->count++];
    *prospect = (trv_prospect_t){.least_ns = INFINITY};
    snprintf(prospect->name, sizeof prospect->name, "%s", name);
    return prospect;
}

static void expect(trv_prospect_t *prospect, double least_ns, double likely_ns)
{
    prospect->least_ns = fmin(prospect->least_ns, least_ns);
    prospect->likely_ns = fmax(prospect->likely_ns, likely_ns);
}

/* A likely time on the network of a plan for the even torus: a line has half as many links as a ring, and the paths
 * along it are up to twice as long. */
static double slower(const search_t *search, const trv_planner_choice_t *plan)
{
    const trv_network_t *network = &search->planner->list.network;
    bool cut = network->torus.lines != 0;
    for (int i = 0; i < network->slow_links; i++)
        cut = cut || isinf(network->slow_link[i].factor);
    return cut ? plan->alpha_ns + LINES_SLOWER * (plan->time_ns - plan->alpha_ns) : plan->time_ns;
}

static int count_alike(const trv_prospects_t *found, const char *name)
{
    int alike = 0;
    for (int i = 0; i < found->count; i++)
        alike += trv_planner_is_alike(found->prospect[i].name, name);
    return alike;
}

/* Adds the plans that are fastest on the even torus. Only the best of them needs an exact time; the others are
 * simulated with larger packets. */
static int add_near(search_t *search)
{
    const trv_planner_t *planner = search->planner;
    trv_planner_t *whole = planner->whole;
    const double hops_max = whole->hops_max;
    trv_planner_choice_t near[NEAR + 1];
    int rc = TRV_OK, first = trv_planner_rank(whole, search->vector_bytes, 1, near);
    if (first < 0)
        return first == TRV_ERR_UNSUPPORTED ? TRV_OK : first;
    search->near_ns = near[0].time_ns;
    whole->hops_max = NEAR_HOPS_MAX;
    int plans = trv_planner_rank_within(whole, search->vector_bytes, NEAR, FAR * search->near_ns, near + 1);
    whole->hops_max = hops_max;
    for (int i = 0; i <= plans && !rc; i++) {
        if (count_alike(search->found, near[i].algorithm) == ALIKE)
            continue;
        trv_prospect_t *prospect = find_or_add(search->found, near[i].algorithm);
        rc = trv_prospect_look(planner, search->vector_bytes, prospect);
        rc = rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
        const double likely_ns = fmax(prospect->look.likely_ns,
                                      trv_prospect_model_ns(planner, prospect->name, search->vector_bytes));
        expect(prospect, near[i].time_ns, fmax(slower(search, &near[i]), likely_ns));
        prospect->near = true;
    }
    return plans < 0 ? plans : rc;
}

/* Sets plan->time_ns to the time on the even torus, or to 0 if the algorithm is not a candidate of its planner, because
 * it does not support that torus or has no symmetry there. The simulation of a candidate that takes FAR times as long
 * as the best is stopped. */
static int time_whole(const search_t *search, const char *name, trv_planner_choice_t *plan)
{
    trv_planner_t *whole = search->planner->whole;
    const double hops_max = whole->hops_max, enough_ns = FAR * search->near_ns;
    int rc = TRV_ERR_UNSUPPORTED;
    whole->hops_max = NEAR_HOPS_MAX;
    for (int i = 0; i < whole->list.count && rc; i++)
        if (strcmp(whole->list.candidate[i].name, name) == 0)
            rc = trv_planner_time_within(whole, search->vector_bytes, name, enough_ns, plan);
    whole->hops_max = hops_max;
    if (rc)
        *plan = (trv_planner_choice_t){.time_ns = 0};
    else if (isinf(plan->time_ns))
        plan->time_ns = enough_ns;
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* Adds an algorithm under its plain name. Its lower bound follows from its steps and from what a rank sends. If
 * simulating it is not cheap, its time on the even torus is taken as a lower bound too. */
static int add_single(search_t *search, const char *name)
{
    const trv_planner_t *planner = search->planner;
    trv_prospect_t *prospect = find_or_add(search->found, name);
    trv_planner_choice_t plan;
    if (!prospect)
        return TRV_OK;
    int rc = trv_prospect_look(planner, search->vector_bytes, prospect);
    if (rc == TRV_ERR_UNSUPPORTED && isinf(prospect->least_ns))
        search->found->count--; /* remove the prospect: it was added above */
    if (!rc)
        rc = time_whole(search, name, &plan);
    if (rc)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    const trv_look_t *look = &prospect->look;
    expect(prospect, trv_prospect_is_cheap(planner, look) ? look->least_ns : fmax(look->least_ns, plan.time_ns),
           fmax(look->likely_ns, slower(search, &plan)));
    prospect->listed = true;
    return TRV_OK;
}

/* Adds the best candidates, by their models, that are made for lines and exist on this network. */
static int add_lines(search_t *search)
{
    const trv_candidates_t *list = &search->planner->list;
    trv_prospect_t *line = malloc(((size_t)list->count + 1) * sizeof *line);
    int lines = 0, added = 0, rc = TRV_OK;
    if (!line)
        return trv_fail_memory();
    for (int i = 0; i < list->count; i++)
        if (!list->candidate[i].guest && list->candidate[i].model.steps > 0) {
            memcpy(line[lines].name, list->candidate[i].name, sizeof line->name);
            line[lines++].likely_ns = trv_planner_estimate(search->planner, &list->candidate[i].model,
                                                           search->vector_bytes);
        }
    qsort(line, (size_t)lines, sizeof *line, trv_prospect_order);
    for (int i = 0; i < lines && added < LINES_MAX && !rc; i++) {
        trv_candidate_t candidate = {0};
        memcpy(candidate.name, line[i].name, sizeof candidate.name);
        rc = trv_candidate_facts(list, &candidate);
        trv_prospect_t *prospect = rc ? NULL : find_or_add(search->found, line[i].name);
        if (prospect)
            expect(prospect, MODEL_SLACK * line[i].likely_ns, line[i].likely_ns);
        added += !rc;
        /* UNSUPPORTED: rows of one dimension begin at different coordinates */
        rc = rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    }
    free(line);
    return rc;
}

int trv_prospects_find(const trv_planner_t *planner, uint64_t vector_bytes, trv_prospects_t *prospects)
{
    const trv_candidates_t *list = &planner->list;
    search_t search = {.planner = planner, .vector_bytes = vector_bytes, .found = prospects, .near_ns = INFINITY};
    prospects->count = 0;
    int rc = add_near(&search);
    if (!rc)
        rc = add_lines(&search);
    for (int i = 0; i < list->count && !rc; i++)
        if (!list->candidate[i].guest && list->candidate[i].model.steps <= 0)
            rc = add_single(&search, list->candidate[i].name);
    for (int i = 0; i < trv_algorithms_count() && !rc; i++)
        rc = add_single(&search, trv_algorithm_name(trv_algorithm_at(i)));
    return rc;
}
