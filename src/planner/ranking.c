/*
 * Times of candidates, and the list of the best ones.
 */
#include "planner/ranking.h"

#include <math.h>
#include <string.h>

#include "planner/timing.h"
#include "simulate/simulator.h"

/* Maximum steps of all ranks and streams, and messages, of a simulator that is kept; of those together that are kept
 * for the confirmation; and of those together that are kept for the next call. Each takes about 50 bytes. */
#define KEPT_MAX       5e5
#define KEPT_FOR_EXACT 3e6
#define KEPT_FOR_CALLS 3e6
/* The minimum time of a candidate, as a part of its model's estimate; the second where messages have overheads, because
 * the models are less exact there. */
#define LEAST             0.7
#define LEAST_OVERHEADS   0.5
#define EXACT_PER_MESSAGE 4 /* packets are not enlarged below this number per message: that would save little work */

bool trv_planner_same_algorithm(const char *name, const char *other)
{
    const size_t length = strcspn(name, ":");
    return strcspn(other, ":") == length && strncmp(other, name, length) == 0;
}

int trv_candidate_simulate(const trv_candidate_t *candidate, const trv_simulate_options_t *network,
                           uint64_t vector_bytes, double hops_max, trv_span_t progress, double cutoff_ns,
                           trv_entry_t *entry)
{
    const trv_simulator_t *simulator = candidate->simulator;
    trv_simulate_options_t used = *network;
    trv_simulation_t result;
    (void)trv_simulator_drop_links(simulator, &used); /* if memory is short, unused links are kept */
    hops_max = fmin(fmax(hops_max, EXACT_PER_MESSAGE * trv_simulate_hops(simulator, &used, 0)), TRV_SIMULATE_HOPS_MAX);
    const uint32_t exact = trv_simulate_packets(simulator, &used, vector_bytes, TRV_SIMULATE_HOPS_MAX).packet_bytes;
    int rc = trv_simulate_until(simulator, &used, vector_bytes, hops_max, progress, cutoff_ns, &result);
    entry->enlarged = !rc && result.packet_bytes > network->packet_bytes;
    entry->exact = !rc && result.packet_bytes == exact;
    entry->time_ns = rc ? INFINITY : result.time_ns;
    entry->hops = rc ? 0 : (double)result.simulated_hops;
    return rc;
}

int trv_planner_find_time(const trv_planner_t *planner, trv_candidate_t *candidate, uint64_t vector_bytes,
                          double cutoff_ns, trv_entry_t *entry)
{
    double bound_ns;
    entry->time_ns = INFINITY;
    int rc = trv_candidate_prepare(&planner->list, candidate);
    if (rc)
        return rc;
    rc = trv_simulate_bound_ns(candidate->simulator, &planner->network, vector_bytes, &bound_ns);
    if (rc || bound_ns > cutoff_ns)
        return rc;
    return trv_candidate_simulate(candidate, &planner->network, vector_bytes, planner->hops_max, planner->progress,
                                  cutoff_ns, entry);
}

/* The time of a vector of one byte with this alpha: that of its steps and hops. If simulating it is too much work, the
 * lower bound is taken instead. */
static int find_empty_time(const trv_planner_t *planner, trv_candidate_t *candidate, double alpha_ns, double *empty_ns)
{
    trv_simulate_options_t network = planner->network;
    network.alpha_ns = alpha_ns;
    int rc = trv_candidate_prepare(&planner->list, candidate);
    if (rc)
        return rc;
    (void)trv_simulator_drop_links(candidate->simulator, &network);
    if (trv_simulate_hops(candidate->simulator, &network, 1) > planner->hops_max)
        return trv_simulate_bound_ns(candidate->simulator, &network, 1, empty_ns);
    trv_entry_t entry;
    rc = trv_candidate_simulate(candidate, &network, 1, planner->hops_max, (trv_span_t){0}, INFINITY, &entry);
    *empty_ns = entry.time_ns;
    return rc;
}

void trv_planner_split_time(trv_planner_choice_t *choice, double time_ns, double alpha_ns, double empty_ns)
{
    const double latency_ns = fmin(empty_ns, time_ns); /* 0 bytes take less time than 1 byte, which is also reduced */
    choice->time_ns = time_ns;
    choice->alpha_ns = fmin(alpha_ns, latency_ns); /* ranks and streams may be idle in some steps */
    choice->hops_ns = latency_ns - choice->alpha_ns;
    choice->transmission_ns = time_ns - latency_ns;
}

int trv_planner_make_choice(const trv_planner_t *planner, trv_candidate_t *candidate, const trv_entry_t *entry,
                            trv_planner_choice_t *choice)
{
    const double step_ns = planner->network.alpha_ns;
    double empty_ns, hops_ns = 0;
    int rc = find_empty_time(planner, candidate, step_ns, &empty_ns);
    const bool idle = !rc && candidate->properties.steps * step_ns >= empty_ns; /* ranks are, in some steps */
    if (idle && step_ns > 0)
        rc = find_empty_time(planner, candidate, 0, &hops_ns);
    if (rc)
        return rc;
    *choice = (trv_planner_choice_t){.steps = candidate->properties.steps,
                                     .consistent = candidate->properties.consistent,
                                     .approximate = entry->enlarged};
    memcpy(choice->algorithm, candidate->name, sizeof choice->algorithm);
    trv_planner_split_time(choice, entry->time_ns,
                           idle ? fmax(0, empty_ns - hops_ns) : candidate->properties.steps * step_ns, empty_ns);
    return TRV_OK;
}

/* The 8-norm of two times: the longer one if it dominates, 1.09 times it if both are equal. The exponent is fitted to
 * simulations. */
static double add_in_part(double a, double b)
{
    const double ratio = fmin(a, b) / fmax(fmax(a, b), 1), square = ratio * ratio, fourth = square * square;
    return fmax(a, b) * sqrt(sqrt(sqrt(1 + fourth * fourth)));
}

/* The time of the reductions of one stream. Their sizes are taken as equal. */
static double estimate_reductions(const trv_simulate_options_t *network, const trv_model_t *model,
                                  uint64_t vector_bytes)
{
    if (model->reductions <= 0)
        return 0;
    const double bytes = model->reduced / model->reductions / model->streams * (double)vector_bytes;
    return model->reductions * trv_reduction_ns(network, bytes, model->streams);
}

double trv_planner_estimate(const trv_planner_t *planner, const trv_model_t *model, uint64_t vector_bytes)
{
    const trv_simulate_options_t *network = &planner->network;
    double vector_ns = (double)vector_bytes * 8e9 /
                       trv_timing_payload_bps(network, model->message * (double)vector_bytes);
    if (network->injection_bps > 0 &&
        model->hops <= model->steps) /* a message crosses one link, which is then no faster than an interface */
        vector_ns = fmax(vector_ns, (double)vector_bytes * 8e9 / network->injection_bps);
    double router_ns = network->router_in_ns + network->router_out_ns; /* a path of h hops passes h + 1 routers */
    double transmission_ns = model->load * vector_ns;
    if (network->injection_bps > 0)
        transmission_ns = fmax(transmission_ns, model->injected * (double)vector_bytes * 8e9 / network->injection_bps);
    double network_ns = model->steps * (network->alpha_ns + 2 * network->host_latency_ns + router_ns) +
                        model->hops * (network->link_latency_ns + router_ns) + transmission_ns +
                        estimate_reductions(network, model, vector_bytes);
    const double busy_ns = model->busy * vector_ns;
    const double parts_ns = model->messages > 0 ? model->parts / model->messages * network->part_overhead_ns : 0;
    const double message_ns = network->message_overhead_ns + parts_ns; /* on average */
    return fmax((model->queues ? add_in_part(network_ns, busy_ns) : fmax(network_ns, busy_ns)) +
                    model->waits * message_ns,
                model->messages * message_ns);
}

double trv_planner_least_ns(const trv_planner_t *planner, double estimate_ns)
{
    return (planner->list.has_message_overheads ? LEAST_OVERHEADS : LEAST) * estimate_ns;
}

/* Orders entries by time, then by steps, then by their order in the list. The order in the list of
 * candidates with `by_name` set depends on earlier calls, so these are last and ordered by name. */
static bool is_better(const trv_candidate_t *list, const trv_entry_t *a, const trv_entry_t *b)
{
    const trv_candidate_t *x = &list[a->candidate], *y = &list[b->candidate];
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->steps != b->steps)
        return a->steps < b->steps;
    return x->by_name && y->by_name ? strcmp(x->name, y->name) < 0 : a->candidate < b->candidate;
}

double trv_ranking_cutoff_ns(const trv_ranking_t *ranking)
{
    if (ranking->timed < ranking->capacity)
        return ranking->cutoff_ns;
    const trv_entry_t *last = &ranking->best[ranking->capacity - 1];
    return fmin(ranking->cutoff_ns, last->time_ns * (last->exact ? 1 : TRV_CONFIRMED_NEAR));
}

void trv_ranking_insert(trv_ranking_t *ranking, const trv_entry_t *entry)
{
    const trv_candidate_t *list = ranking->planner->list.candidate;
    int at = ranking->timed++;
    for (; at > 0 && is_better(list, entry, &ranking->best[at - 1]); at--)
        ranking->best[at] = ranking->best[at - 1];
    ranking->best[at] = *entry;
}

/* The number of the best entries that are simulated with exact packets. */
static int count_to_confirm(const trv_ranking_t *ranking)
{
    int count = 0;
    while (count < TRV_CONFIRMED_MAX && count < ranking->timed &&
           ranking->best[count].time_ns <= TRV_CONFIRMED_NEAR * ranking->best[0].time_ns)
        count++;
    return count;
}

/* The size of a simulator; 0 if there is none, or if it belongs to a schedule of the caller. */
static double size_of(const trv_candidate_t *candidate)
{
    const trv_simulator_t *s = candidate->own ? NULL : candidate->simulator;
    return s ? (double)s->fold.ranks * s->streams * s->steps + (double)s->sends : 0;
}

static void drop(trv_candidate_t *candidate)
{
    trv_simulator_destroy(candidate->simulator);
    candidate->simulator = NULL;
}

void trv_ranking_drop_large(const trv_ranking_t *ranking, int examined)
{
    trv_candidate_t *candidate = ranking->planner->list.candidate;
    const int confirmed = count_to_confirm(ranking);
    bool is_kept = false;
    double kept = 0;
    for (int i = 0; i < ranking->timed; i++) {
        const trv_entry_t *entry = &ranking->best[i];
        const double memory = size_of(&candidate[entry->candidate]);
        const bool keep = i == 0 || (i < confirmed && !entry->exact && kept + memory <= KEPT_FOR_EXACT);
        kept += keep ? memory : 0;
        is_kept = is_kept || (keep && entry->candidate == examined);
        if (!keep && memory > KEPT_MAX)
            drop(&candidate[entry->candidate]);
    }
    if (!is_kept && size_of(&candidate[examined]) > KEPT_MAX)
        drop(&candidate[examined]);
}

void trv_ranking_drop_excess(trv_candidates_t *list)
{
    double kept = 0;
    for (int i = 0; i < list->count; i++) {
        const double size = size_of(&list->candidate[i]);
        if (kept + size > KEPT_FOR_CALLS)
            drop(&list->candidate[i]);
        else
            kept += size;
    }
}

int trv_ranking_examine(trv_ranking_t *ranking, trv_entry_t *entry, double cutoff_ns)
{
    trv_candidate_t *candidate = &ranking->planner->list.candidate[entry->candidate];
    int rc = trv_planner_find_time(ranking->planner, candidate, ranking->vector_bytes, cutoff_ns, entry);
    entry->steps = candidate->properties.steps;
    if (!rc && !isinf(entry->time_ns))
        trv_ranking_insert(ranking, entry);
    trv_ranking_drop_large(ranking, entry->candidate);
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* ---- Confirmation ------------------------------------------------------------------------------------------------ */

int trv_planner_confirm(const trv_planner_t *planner, trv_candidate_t *candidate, uint64_t vector_bytes,
                        trv_entry_t *entry)
{
    trv_entry_t timed = *entry;
    if (entry->exact || isinf(entry->time_ns))
        return TRV_OK;
    int rc = trv_candidate_prepare(&planner->list, candidate);
    if (!rc)
        rc = trv_candidate_simulate(candidate, &planner->network, vector_bytes, TRV_SIMULATE_HOPS_MAX,
                                    trv_span(planner->progress, 1, 0), INFINITY, &timed);
    if (!rc)
        *entry = timed;
    return rc;
}

/* Until the best entries are exact: confirms the first that is not, and inserts it again, because it may have become
 * slower than others. */
int trv_ranking_confirm(trv_ranking_t *ranking)
{
    int rc = TRV_OK;
    for (int i = 0; i < count_to_confirm(ranking) && !rc;) {
        trv_entry_t entry = ranking->best[i];
        if (entry.exact) {
            i++;
            continue;
        }
        rc = trv_planner_confirm(ranking->planner, &ranking->planner->list.candidate[entry.candidate],
                                 ranking->vector_bytes, &entry);
        ranking->timed--;
        memmove(ranking->best + i, ranking->best + i + 1, (size_t)(ranking->timed - i) * sizeof entry);
        trv_ranking_insert(ranking, &entry);
        trv_ranking_drop_large(ranking, entry.candidate);
        i = 0;
    }
    return rc;
}
