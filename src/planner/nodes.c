/*
 * Choices for any set of nodes: a schedule for a line or a ring of ranks is embedded along the nodes in several orders
 * and simulated on the machine.
 *
 * The prospects (node_prospects.c) come from two lists, from which they are taken alternately: the choices that the
 * planner finds for a ring of this many ranks without the machine around it, and the candidates of algorithms made for
 * lines, in the order of their modelled times. If the nodes form a torus or mesh (a *box*, torus/box.h), the planner's
 * choices for it are prospects, too (box_choices.h); they need no simulation if no message leaves the box or passes a
 * slow or cut link. All algorithms of the table are last. Prospects are simulated until the work that one call may take
 * is done; on up to LISTED_NODES_MAX nodes algorithms of the table are left out only if a lower bound excludes them. A
 * schedule with as many steps as nodes sends a number of messages that grows with the square of the nodes; with some
 * hundreds of nodes it exceeds that work and is left out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/algorithms.h>
#include <trivance/network.h>
#include <trivance/planner.h>

#include "base/error.h"
#include "planner/constraints.h"
#include "planner/node_search.h"
#include "planner/timing.h"
#include "schedule/collective.h"
#include "schedule/per_port.h"
#include "simulate/simulator.h"
#include "torus/reach.h"
#include "torus/torus.h"

#define WORK                1.5e6 /* maximum work of one call, in packet-hops and messages read: about half a second */
#define HOPS_MAX            1e5   /* maximum packet-hops in one simulation on the machine */
#define IDLE_STEP           0.1   /* work of an idle node in a step: most nodes of a large machine */
#define SAMPLED             8     /* number of sampled nodes besides the one in the middle */
#define SAMPLED_WORK_FACTOR 10    /* a schedule whose sampled work exceeds this many times WORK is left out */
#define SINGLE_WORK         5e5   /* maximum work of the simulation of a named algorithm */
#define LISTED_NODES_MAX    128
#define LISTED_WORK         2e5 /* maximum work of an algorithm of the table when no other work is left */

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

const trv_candidates_t *trv_node_candidates(const trv_node_search_t *search, trv_node_shape_t shape)
{
    return shape == TRV_NODE_BOX    ? &search->box.planner->list
           : shape == TRV_NODE_LINE ? &search->line
                                    : &search->ring->list;
}

static const trv_torus_t *torus_of(const trv_node_search_t *search, trv_node_shape_t shape)
{
    return &trv_node_candidates(search, shape)->network.torus;
}

/* The time beyond which a prospect need not be timed. */
static double cutoff_ns(const trv_node_search_t *search)
{
    if (search->entries < search->capacity)
        return INFINITY;
    const trv_node_entry_t *last = &search->entry[search->capacity - 1];
    return last->time_ns * (last->exact ? 1 : TRV_CONFIRMED_NEAR);
}

/* Whether two entries are the same schedule. Of several schedules with exactly the same time by enlarged packets, which
 * are alike on a ring and a line for example, one is kept, because the best entries are simulated again. */
static bool is_same(const trv_node_search_t *search, const trv_node_entry_t *a, const trv_node_entry_t *b)
{
    const bool same_time = !a->exact && !b->exact && a->time_ns == b->time_ns;
    return same_time || (a->order == b->order && strcmp(a->prospect.name, b->prospect.name) == 0 &&
                         trv_torus_equal(torus_of(search, a->prospect.shape), torus_of(search, b->prospect.shape)));
}

void trv_node_entry_insert(trv_node_search_t *search, const trv_node_entry_t *entry)
{
    for (int i = 0; i < search->entries; i++)
        if (is_same(search, &search->entry[i], entry))
            return;
    if (search->entries == search->kept && entry->time_ns >= search->entry[search->kept - 1].time_ns)
        return;
    int at = search->entries < search->kept ? search->entries++ : search->entries - 1;
    for (; at > 0 && search->entry[at - 1].time_ns > entry->time_ns; at--)
        search->entry[at] = search->entry[at - 1];
    search->entry[at] = *entry;
}

/* ---- On the machine ---------------------------------------------------------------------------------------------- */

/* The work of a step in which no node of the machine sends. Embedding a schedule takes the same work. */
static double idle_work(const trv_node_search_t *search) { return IDLE_STEP * search->machine->ranks; }

static trv_network_t machine_network(const trv_node_search_t *search)
{
    return (trv_network_t){TRV_NETWORK, .torus = *search->machine, .slow_links = search->network.slow_links,
                           .slow_link = search->network.slow_link, .routes = search->network.routes};
}

static int embed(const trv_node_search_t *search, const trv_torus_t *torus, const char *name, trv_schedule_t **embedded)
{
    trv_schedule_t *schedule;
    const trv_network_t network = machine_network(search);
    *embedded = NULL;
    const trv_network_t own = {TRV_NETWORK, .torus = *torus};
    int rc = trv_schedule_create_on(&schedule, &own, name, search->collective,
                                    trv_position_of(search->node, search->nodes, search->root_node));
    return rc ? rc : trv_schedule_embed(embedded, schedule, &network, search->node);
}

/* The work of reading and simulating these messages, multiplied by `times`. */
static double traffic_work(const trv_timing_traffic_t *traffic, double times)
{
    return times * traffic->messages +
           fmax(times * traffic->message_hops, fmin(times * traffic->packet_hops, HOPS_MAX));
}

/* Estimates the work of simulating the schedule and a lower bound on its time, as if all nodes sent what the node in
 * the middle sends. */
static int sample_middle(const trv_node_search_t *search, const trv_schedule_t *embedded, double *work,
                         double *bound_ns)
{
    const trv_simulate_options_t *network = &search->network;
    const double steps = trv_schedule_steps(embedded);
    trv_timing_traffic_t traffic = {0};
    int rc = trv_timing_add_traffic(embedded, search->node[search->nodes / 2], network, search->vector_bytes, &traffic);
    *work = traffic_work(&traffic, search->nodes) + steps * trv_schedule_streams(embedded) * idle_work(search);
    *bound_ns = trv_timing_bound_ns(network, &traffic);
    return rc;
}

/* Repeats the estimate with other nodes, whose paths may be longer: sets *too_much if it exceeds SAMPLED_WORK_FACTOR
 * * WORK. */
static int sample_others(const trv_node_search_t *search, const trv_schedule_t *embedded, bool *too_much)
{
    trv_timing_traffic_t traffic = {0};
    int rc = TRV_OK;
    for (int i = 0; i < SAMPLED && !rc; i++) {
        const int64_t at = (2 * i + 1) * (int64_t)search->nodes / (2 * SAMPLED);
        rc = trv_timing_add_traffic(embedded, search->node[at], &search->network, search->vector_bytes, &traffic);
    }
    *too_much = traffic_work(&traffic, (double)search->nodes / SAMPLED) > SAMPLED_WORK_FACTOR * WORK;
    return rc;
}

/* Whether an embedded schedule has at most the network's messages per port: a node has other ports than a rank of the
 * line, ring or box. The constraints are properties that a schedule keeps when it is embedded. */
static bool is_allowed(const trv_node_search_t *search, const trv_simulator_t *simulator)
{
    const int limit = (int)search->network.messages_per_port;
    return limit == 0 || trv_messages_per_port(search->machine, trv_simulator_simultaneous(simulator)) <= limit;
}

/* Simulates an embedded schedule, unless it cannot be faster than `cutoff_ns` or has too many messages per port. The
 * time is then INFINITY, and also if a message passes a cut link; the error of the first such schedule becomes
 * search->error. `named`: its messages per port are not limited. `empty_ns`: NULL, or set to the time of a vector of
 * one byte; with a cutoff of 0 only that is simulated. */
static int simulate_embedded(trv_node_search_t *search, const trv_schedule_t *embedded, bool named, double hops_max,
                             double cutoff, trv_entry_t *timed, double *empty_ns)
{
    trv_candidate_t candidate = {0};
    trv_entry_t empty;
    double bound_ns = 0;
    *timed = (trv_entry_t){.time_ns = INFINITY};
    int rc = trv_simulator_create(&candidate.simulator, embedded);
    if (rc)
        return rc;
    trv_simulate_options_t network = search->network;
    rc = trv_simulator_drop_links(candidate.simulator, &network);
    if (!rc)
        rc = trv_simulate_bound_ns(candidate.simulator, &network, search->vector_bytes, &bound_ns);
    if (!rc && bound_ns <= cutoff && (named || is_allowed(search, candidate.simulator)))
        rc = trv_candidate_simulate(&candidate, &network, search->vector_bytes, hops_max, (trv_span_t){0}, cutoff,
                                    timed);
    if (!rc && empty_ns) {
        rc = trv_candidate_simulate(&candidate, &network, 1, HOPS_MAX, (trv_span_t){0}, INFINITY, &empty);
        *empty_ns = empty.time_ns;
    }
    trv_simulator_destroy(candidate.simulator);
    if (rc == TRV_ERR_UNSUPPORTED && !*search->error)
        snprintf(search->error, sizeof search->error, "%s", trv_last_error());
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* Whether this much work is left, or may be done for an algorithm of the table. */
static bool may_work(const trv_node_search_t *search, const trv_node_prospect_t *prospect, double work)
{
    return work <= search->work || (prospect->listed && search->nodes <= LISTED_NODES_MAX && work <= LISTED_WORK);
}

/* Tries one prospect on the nodes in their present order, if enough work is left. */
static int try_prospect(trv_node_search_t *search, trv_order_t order, const trv_node_prospect_t *prospect)
{
    const trv_candidates_t *list = trv_node_candidates(search, prospect->shape);
    trv_candidate_t candidate = {.by_name = true};
    trv_schedule_t *embedded;
    trv_entry_t timed = {.time_ns = INFINITY};
    double work = 0, bound_ns = 0;
    bool allowed = false, exceeds_sampled = false;
    /* Lower bound on the work: every node sends at least one message over one link. */
    if (!may_work(search, prospect, idle_work(search) + 2.0 * search->nodes)) {
        search->too_much = true;
        return TRV_OK;
    }
    search->work = fmax(0, search->work - idle_work(search));
    memcpy(candidate.name, prospect->name, sizeof candidate.name);
    int rc = embed(search, &list->network.torus, prospect->name, &embedded);
    if (!rc)
        rc = sample_middle(search, embedded, &work, &bound_ns);
    const bool too_much = !rc && !may_work(search, prospect, work);
    if (!rc && !too_much && bound_ns <= cutoff_ns(search))
        rc = trv_constraints_allow(&search->ring->constraints, list, &candidate, search->vector_bytes, true, &allowed);
    if (!rc && allowed)
        rc = sample_others(search, embedded, &exceeds_sampled);
    search->too_much = search->too_much || too_much || exceeds_sampled;
    if (!rc && allowed && !exceeds_sampled) {
        search->work = fmax(0, search->work - work);
        rc = simulate_embedded(search, embedded, false, HOPS_MAX, cutoff_ns(search), &timed, NULL);
    }
    trv_schedule_destroy(embedded);
    if (isfinite(timed.time_ns))
        trv_node_entry_insert(search, &(trv_node_entry_t){.prospect = *prospect,
                                                          .order = order,
                                                          .time_ns = timed.time_ns,
                                                          .exact = timed.exact,
                                                          .approximate = timed.enlarged});
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static int embed_entry(trv_node_search_t *search, const trv_node_entry_t *entry, trv_schedule_t **embedded)
{
    search->node = search->ordered[entry->order];
    return embed(search, torus_of(search, entry->prospect.shape), entry->prospect.name, embedded);
}

/* Simulates the best entries with the packets of trv_simulate, and inserts them again. */
static int confirm(trv_node_search_t *search)
{
    int rc = TRV_OK;
    for (int i = 0; i < TRV_CONFIRMED_MAX && i < search->entries && !rc &&
                    search->entry[i].time_ns <= TRV_CONFIRMED_NEAR * search->entry[0].time_ns;) {
        trv_node_entry_t entry = search->entry[i];
        trv_schedule_t *embedded;
        trv_entry_t timed;
        if (entry.exact) {
            i++;
            continue;
        }
        rc = embed_entry(search, &entry, &embedded);
        if (!rc)
            rc = simulate_embedded(search, embedded, true, TRV_SIMULATE_HOPS_MAX, INFINITY, &timed, NULL);
        trv_schedule_destroy(embedded);
        if (rc)
            return rc;
        entry.time_ns = timed.time_ns;
        entry.approximate = timed.enlarged;
        entry.exact = true;
        search->entries--;
        memmove(search->entry + i, search->entry + i + 1, (size_t)(search->entries - i) * sizeof entry);
        trv_node_entry_insert(search, &entry);
        i = 0;
    }
    return rc;
}

static int make_choice(trv_node_search_t *search, const trv_node_entry_t *entry, trv_planner_node_choice_t *choice)
{
    trv_schedule_t *embedded;
    trv_entry_t ignored;
    double empty_ns = 0;
    *choice = (trv_planner_node_choice_t){.order = entry->order,
                                          .torus = *torus_of(search, entry->prospect.shape),
                                          .choice = entry->known};
    if (entry->known.steps > 0)
        return TRV_OK;
    int rc = embed_entry(search, entry, &embedded);
    if (rc)
        return rc;
    memcpy(choice->choice.algorithm, entry->prospect.name, sizeof choice->choice.algorithm);
    choice->choice.steps = trv_schedule_steps(embedded);
    choice->choice.consistent = trv_schedule_consistent(embedded);
    choice->choice.approximate = entry->approximate;
    rc = simulate_embedded(search, embedded, true, HOPS_MAX, 0, &ignored, &empty_ns);
    trv_planner_split_time(&choice->choice, entry->time_ns, choice->choice.steps * search->network.alpha_ns, empty_ns);
    trv_schedule_destroy(embedded);
    return rc;
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

static int search_begin(trv_node_search_t *search, const trv_torus_t *machine, int nodes, const int *node,
                        const trv_simulate_options_t *network)
{
    int rc = trv_check_size(network->size, sizeof *network, "TRV_SIMULATE_DEFAULTS");
    if (rc)
        return rc;
    search->machine = machine;
    search->nodes = nodes;
    search->network = trv_timing_network(network);
    search->progress = (trv_span_t){network->progress, network->progress_context, 0, 1};
    search->node = node;
    return TRV_OK;
}

static int order_nodes(trv_node_search_t *search)
{
    const trv_network_t network = machine_network(search);
    int rc = TRV_OK;
    for (int order = 0; order <= TRV_ORDER_ROWS && !rc; order++) {
        int *ordered = search->ordered[order] = malloc((size_t)search->nodes * sizeof *ordered);
        if (!ordered)
            return trv_fail_memory();
        memcpy(ordered, search->node, (size_t)search->nodes * sizeof *ordered);
        rc = trv_order_nodes(&network, (trv_order_t)order, search->nodes, ordered);
    }
    search->node = search->ordered[TRV_ORDER_SNAKE];
    return rc;
}

static int simulate_prospects(trv_node_search_t *search)
{
    int rc = TRV_OK;
    for (int i = 0; i < search->prospects && !rc; i++)
        for (int order = 0; order <= TRV_ORDER_ROWS && !rc; order++) {
            const bool is_box = search->prospect[i].shape == TRV_NODE_BOX;
            if (is_box ? order != (int)search->box.order : order == TRV_ORDER_ROWS)
                continue;
            search->node = search->ordered[order];
            rc = trv_span_report(search->progress, (2.0 * i + order % 2) / (2.0 * search->prospects));
            if (!rc)
                rc = try_prospect(search, (trv_order_t)order, &search->prospect[i]);
        }
    return rc;
}

static int search_fail(const trv_node_search_t *search)
{
    char text[TRV_TORUS_TEXT_MAX];
    const trv_network_t network = machine_network(search);
    trv_torus_format(search->machine, text, sizeof text);
    const int rc = *search->error ? trv_network_check_routes(&network, search->nodes, search->node) : TRV_OK;
    if (rc)
        return rc;
    if (*search->error)
        return trv_fail(TRV_ERR_UNSUPPORTED, "none of the schedules that were tried can run on the %d nodes of %s: %s",
                        search->nodes, text, search->error);
    if (search->too_much)
        return trv_fail(TRV_ERR_UNSUPPORTED, "%d nodes of %s are too many to simulate", search->nodes, text);
    return trv_constraints_fail_all(&search->ring->constraints, &search->ring->list, search->vector_bytes);
}

int trv_planner_nodes(const trv_torus_t *machine, int nodes, const int *node, trv_collective_t collective, int root,
                      uint64_t vector_bytes, const trv_simulate_options_t *network,
                      const trv_planner_constraints_t *constraints, int capacity, trv_planner_node_choice_t *choice)
{
    if (capacity < 1 || nodes < 1)
        return trv_fail(TRV_ERR_ARGUMENT, "%d nodes and a capacity of %d choices: both must be at least 1", nodes,
                        capacity);
    int rc = trv_collective_check(collective, root, nodes);
    if (rc)
        return rc;
    trv_node_search_t *search = calloc(1, sizeof *search);
    if (!search)
        return trv_fail_memory();
    search->collective = collective;
    search->root_node = trv_collective_has_root(collective) ? node[root] : -1;
    search->vector_bytes = vector_bytes;
    search->work = WORK;
    search->capacity = capacity;
    search->kept = capacity > TRV_NODE_ENTRIES_MIN ? capacity : TRV_NODE_ENTRIES_MIN;
    search->entry = malloc((size_t)search->kept * sizeof *search->entry);
    rc = search->entry ? search_begin(search, machine, nodes, node, network) : trv_fail_memory();
    if (!rc)
        rc = order_nodes(search);
    if (!rc)
        rc = trv_node_prospects_find(search, constraints);
    if (!rc)
        rc = simulate_prospects(search);
    if (!rc)
        rc = confirm(search);
    const int choices = search->entries < capacity ? search->entries : capacity;
    for (int i = 0; i < choices && !rc; i++)
        rc = make_choice(search, &search->entry[i], &choice[i]);
    if (!rc)
        rc = choices > 0 ? choices : search_fail(search);
    trv_candidates_clear(&search->line);
    trv_box_choices_clear(&search->box);
    trv_planner_destroy(search->ring);
    for (int order = 0; order <= TRV_ORDER_ROWS; order++)
        free(search->ordered[order]);
    free(search->entry);
    free(search);
    return rc;
}

/* Simulates one algorithm. Sets *is_bound if simulating it is too much work; the time is then a lower bound. A time of
 * INFINITY means that a message would pass a cut link. */
static int time_algorithm(trv_node_search_t *search, const char *algorithm, double *time_ns, bool *is_bound)
{
    trv_torus_t ring;
    trv_schedule_t *embedded = NULL;
    double work = 0;
    int rc = trv_torus_init(&ring, 1, &search->nodes);
    if (!rc)
        rc = embed(search, &ring, algorithm, &embedded);
    if (!rc)
        rc = sample_middle(search, embedded, &work, time_ns);
    *is_bound = work > SINGLE_WORK;
    if (!rc && !*is_bound)
        rc = sample_others(search, embedded, is_bound);
    if (!rc && !*is_bound) {
        trv_entry_t timed;
        rc = simulate_embedded(search, embedded, true, HOPS_MAX, INFINITY, &timed, NULL);
        *time_ns = timed.time_ns;
    }
    trv_schedule_destroy(embedded);
    return rc;
}

int trv_planner_nodes_time(const trv_torus_t *machine, int nodes, const int *node, trv_collective_t collective,
                           int root, uint64_t vector_bytes, const trv_simulate_options_t *network,
                           const char *algorithm, double *time_ns, bool *is_bound)
{
    trv_node_search_t search = {.collective = collective, .root_node = -1, .vector_bytes = vector_bytes};
    trv_slow_link_t *remaining = NULL;
    *time_ns = 0;
    int rc = trv_collective_check(collective, root, nodes);
    if (!rc && trv_collective_has_root(collective))
        search.root_node = node[root];
    if (!rc)
        rc = search_begin(&search, machine, nodes, node, network);
    if (!rc)
        rc = time_algorithm(&search, algorithm, time_ns, is_bound);
    if (!rc && isinf(*time_ns)) {
        remaining = malloc((size_t)network->slow_links * sizeof *remaining);
        search.network.slow_links = 0;
        search.network.slow_link = remaining;
        for (int i = 0; remaining && i < network->slow_links; i++)
            if (isfinite(network->slow_link[i].factor))
                remaining[search.network.slow_links++] = network->slow_link[i];
        rc = remaining ? time_algorithm(&search, algorithm, time_ns, is_bound) : trv_fail_memory();
        *is_bound = true;
    }
    free(remaining);
    return rc;
}
