/*
 * Selects the schedules that are worth a simulation on a network with lines, slow or cut links. The sources are the
 * choices for the uniform torus (prospects.h), made by a second planner; the models of algorithms that are made for
 * lines; and the messages of some ranks.
 */
#include "planner/prospects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/algorithm.h"
#include "base/error.h"

#define UNIFORM_MAX       32  /* number of choices for the uniform torus … */
#define UNIFORM_HOPS_MAX  3e4 /* … and maximum packet-hops to simulate one of them */
#define PER_ALGORITHM_MAX 4   /* maximum number of these choices of one algorithm */
#define STOP_FACTOR       8   /* a candidate's simulation is stopped at this multiple of the best choice's time */
#define LINES_MAX         48  /* number of candidates of algorithms that are made for lines */
#define LINES_SLOWER      2   /* time on a line relative to a ring, both without the start of steps (alpha) */
#define TREE_RANKS_MAX    1e5 /* on more ranks the search for the trees of an algorithm takes seconds */
#define CHEAP_RANKS       256 /* a schedule with fewer messages is cheap, on up to this number of ranks, … */
#define CHEAP_MESSAGES    1e5
#define CHEAP_PART        0.05 /* … or with fewer than this part of hops_max, on more */

typedef struct search {
    const trv_planner_t *planner;
    uint64_t vector_bytes;
    trv_prospects_t *found;
    double uniform_ns; /* time of the best choice for the uniform torus; INFINITY: there is none */
} search_t;

int trv_prospect_sample(const trv_planner_t *planner, uint64_t vector_bytes, trv_prospect_t *prospect)
{
    if (prospect->is_sampled)
        return prospect->sample_error;
    int rc = trv_sample_schedule(planner, prospect->name, vector_bytes, &prospect->sample);
    prospect->is_sampled = true;
    prospect->sample_error = rc;
    return rc;
}

bool trv_prospect_is_cheap(const trv_planner_t *planner, const trv_sample_t *sample)
{
    const int ranks = planner->list.network.torus.ranks;
    const double most = ranks <= CHEAP_RANKS ? CHEAP_MESSAGES : CHEAP_PART * planner->hops_max;
    return sample->hops <= planner->hops_max && sample->messages <= most;
}

bool trv_prospect_is_costly(const trv_planner_t *planner, const trv_model_t *model)
{
    const trv_torus_t *torus = &planner->list.network.torus;
    double messages = model->messages;
    for (int d = 0; d < torus->dims; d++) /* ranks along a line differ */
        messages *= torus->lines >> d & 1 ? torus->size[d] : 1;
    return TRV_SAMPLE_MESSAGE_WORK * messages > TRV_PROSPECT_WORK * planner->hops_max;
}

const trv_model_t *trv_prospect_model(const trv_planner_t *planner, const char *name)
{
    const int i = trv_candidates_find(&planner->list, name);
    return i >= 0 && planner->list.candidate[i].model.steps > 0 ? &planner->list.candidate[i].model : NULL;
}

/* The time by that model; 0 if there is none. */
static double model_ns(const trv_planner_t *planner, const char *name, uint64_t vector_bytes)
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
    *prospect = (trv_prospect_t){.bound_ns = INFINITY};
    snprintf(prospect->name, sizeof prospect->name, "%s", name);
    return prospect;
}

/* Samples a prospect, which is the last one if it is new, and removes a new one that the network does not support or
 * that has more messages per port than it allows. That no rank has more is checked before it is simulated. */
static int keep_if_allowed(search_t *search, trv_prospect_t *prospect, bool *allowed)
{
    const int limit = search->planner->list.network.messages_per_port;
    const bool is_new = isinf(prospect->bound_ns);
    const int rc = trv_prospect_sample(search->planner, search->vector_bytes, prospect);
    *allowed = !rc && (limit == 0 || prospect->sample.per_port <= limit);
    if (!*allowed && is_new)
        search->found->count--;
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

static void prospect_update(trv_prospect_t *prospect, double bound_ns, double likely_ns)
{
    prospect->bound_ns = fmin(prospect->bound_ns, bound_ns);
    prospect->likely_ns = fmax(prospect->likely_ns, likely_ns);
}

/* A likely time on the network of a choice for the uniform torus: a line has half as many links as a ring, and the
 * paths along it are up to twice as long. */
static double nonuniform_ns(const search_t *search, const trv_planner_choice_t *choice)
{
    const trv_network_t *network = &search->planner->list.network;
    bool cut = network->torus.lines != 0;
    for (int i = 0; i < network->slow_links; i++)
        cut = cut || isinf(network->slow_link[i].factor);
    return cut ? choice->alpha_ns + LINES_SLOWER * (choice->time_ns - choice->alpha_ns) : choice->time_ns;
}

static int count_of_algorithm(const trv_prospects_t *found, const char *name)
{
    int of_algorithm = 0;
    for (int i = 0; i < found->count; i++)
        of_algorithm += trv_planner_same_algorithm(found->prospect[i].name, name);
    return of_algorithm;
}

/* Adds the choices that are fastest on the uniform torus. Only the best of them needs an exact time; the others are
 * simulated with larger packets, and not confirmed. */
static int add_uniform(search_t *search)
{
    const trv_planner_t *planner = search->planner;
    trv_planner_t *uniform = planner->uniform;
    const double hops_max = uniform->hops_max;
    trv_planner_choice_t uniform_choice[UNIFORM_MAX + 1];
    int rc = TRV_OK, first = trv_planner_rank(uniform, search->vector_bytes, 1, uniform_choice);
    if (first < 0)
        return first == TRV_ERR_UNSUPPORTED ? TRV_OK : first;
    search->uniform_ns = uniform_choice[0].time_ns;
    uniform->hops_max = UNIFORM_HOPS_MAX;
    int choices = trv_planner_rank_within(uniform, search->vector_bytes, UNIFORM_MAX, STOP_FACTOR * search->uniform_ns,
                                          uniform_choice + 1);
    uniform->hops_max = hops_max;
    for (int i = 0; i <= choices && !rc; i++) {
        bool allowed;
        if (count_of_algorithm(search->found, uniform_choice[i].algorithm) == PER_ALGORITHM_MAX)
            continue;
        trv_prospect_t *prospect = find_or_add(search->found, uniform_choice[i].algorithm);
        rc = keep_if_allowed(search, prospect, &allowed);
        if (rc || !allowed)
            continue;
        const double likely_ns = fmax(prospect->sample.likely_ns,
                                      model_ns(planner, prospect->name, search->vector_bytes));
        prospect_update(prospect, uniform_choice[i].time_ns,
                        fmax(nonuniform_ns(search, &uniform_choice[i]), likely_ns));
        prospect->from_uniform = true;
    }
    return choices < 0 ? choices : rc;
}

/* Sets choice->time_ns to the time on the uniform torus, or to 0 if the algorithm is not a candidate of its planner,
 * because it does not support that torus or has no symmetry there. The simulation of a candidate that takes
 * STOP_FACTOR times as long as the best is stopped. */
static int time_on_uniform(const search_t *search, const char *name, trv_planner_choice_t *choice)
{
    trv_planner_t *uniform = search->planner->uniform;
    const double hops_max = uniform->hops_max, cutoff_ns = STOP_FACTOR * search->uniform_ns;
    int rc = TRV_ERR_UNSUPPORTED;
    uniform->hops_max = UNIFORM_HOPS_MAX;
    if (trv_candidates_find(&uniform->list, name) >= 0)
        rc = trv_planner_time_within(uniform, search->vector_bytes, name, cutoff_ns, choice);
    uniform->hops_max = hops_max;
    if (rc)
        *choice = (trv_planner_choice_t){.time_ns = 0};
    else if (isinf(choice->time_ns))
        choice->time_ns = cutoff_ns;
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* Adds an algorithm under its plain name. Its lower bound follows from its steps and from what a rank sends. If
 * simulating it is not cheap, its time on the uniform torus is taken as a lower bound too. */
static int add_single(search_t *search, const char *name)
{
    const trv_planner_t *planner = search->planner;
    trv_prospect_t *prospect = find_or_add(search->found, name);
    trv_planner_choice_t choice;
    bool allowed;
    int rc = prospect ? keep_if_allowed(search, prospect, &allowed) : TRV_OK;
    if (!prospect || rc || !allowed)
        return rc;
    rc = time_on_uniform(search, name, &choice);
    if (rc)
        return rc;
    const trv_sample_t *sample = &prospect->sample;
    prospect_update(prospect,
                    trv_prospect_is_cheap(planner, sample) ? sample->bound_ns : fmax(sample->bound_ns, choice.time_ns),
                    fmax(sample->likely_ns, nonuniform_ns(search, &choice)));
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
        if (!list->candidate[i].by_name && list->candidate[i].model.steps > 0 &&
            !trv_prospect_is_costly(search->planner, &list->candidate[i].model)) {
            memcpy(line[lines].name, list->candidate[i].name, sizeof line->name);
            line[lines++].likely_ns = trv_planner_estimate(search->planner, &list->candidate[i].model,
                                                           search->vector_bytes);
        }
    qsort(line, (size_t)lines, sizeof *line, trv_prospect_order);
    for (int i = 0; i < lines && added < LINES_MAX && !rc; i++) {
        bool allowed = false; /* false also if rows of one dimension begin at different coordinates */
        trv_prospect_t *prospect = find_or_add(search->found, line[i].name);
        if (prospect)
            rc = keep_if_allowed(search, prospect, &allowed);
        if (allowed)
            prospect_update(prospect, trv_planner_least_ns(search->planner, line[i].likely_ns), line[i].likely_ns);
        added += allowed;
    }
    free(line);
    return rc;
}

int trv_prospects_find(const trv_planner_t *planner, uint64_t vector_bytes, trv_prospects_t *prospects)
{
    const trv_candidates_t *list = &planner->list;
    search_t search = {.planner = planner, .vector_bytes = vector_bytes, .found = prospects, .uniform_ns = INFINITY};
    prospects->count = 0;
    int rc = add_uniform(&search);
    if (!rc)
        rc = add_lines(&search);
    for (int i = 0; i < list->count && !rc; i++)
        if (!list->candidate[i].by_name && list->candidate[i].model.steps <= 0)
            rc = add_single(&search, list->candidate[i].name);
    for (int i = 0; i < trv_algorithms_count() && !rc; i++)
        if (!trv_algorithm_at(i)->relays &&
            !(trv_algorithm_at(i)->any_network && list->network.torus.ranks > TREE_RANKS_MAX))
            rc = add_single(&search, trv_algorithm_name(trv_algorithm_at(i)));
    return rc;
}
