/*
 * Choices for any set of nodes: a schedule for a line or a ring of ranks is embedded along the nodes in several orders
 * and simulated on the machine.
 *
 * The prospects come from two lists, from which they are taken alternately: the choices that the planner finds for a
 * ring of this many ranks without the machine around it, and the candidates of algorithms made for lines, in the order
 * of their modelled times. If the nodes form a torus or mesh (a *box*, torus/box.h), the planner's choices for it are
 * prospects, too (box_choices.h); they need no simulation if no message leaves the box or passes a slow or cut link.
 * The baselines are last. Prospects are simulated until the work that one call may take is done. A schedule with as
 * many steps as nodes sends a number of messages that grows with the square of the nodes; with some hundreds of nodes
 * it exceeds that work and is left out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/algorithms.h>
#include <trivance/network.h>
#include <trivance/planner.h>

#include "algorithms/algorithm.h"
#include "base/error.h"
#include "planner/box_choices.h"
#include "planner/constraints.h"
#include "planner/ranking.h"
#include "planner/timing.h"
#include "schedule/collective.h"
#include "schedule/per_port.h"
#include "simulate/simulator.h"
#include "torus/reach.h"
#include "torus/torus.h"

#define PROSPECTS_MAX       64
#define RING_CHOICES        8     /* number of choices for the ring */
#define PRIORITY_STEP       100   /* difference in prospect_t.priority between two successive prospects of a list */
#define COLLECT_MAX         512   /* nodes; above this, collecting candidates for lines takes longer than simulating */
#define LINES_MAX           8     /* number of candidates of algorithms made for lines */
#define WORK                1.5e6 /* maximum work of one call, in packet-hops and messages read: about half a second */
#define HOPS_MAX            1e5   /* maximum packet-hops in one simulation on the machine */
#define RING_HOPS_MAX       3e4   /* the same for the ring's planner, whose work does not count towards WORK */
#define IDLE_STEP           0.1   /* work of an idle node in a step: most nodes of a large machine */
#define SAMPLED             8     /* number of sampled nodes besides the one in the middle */
#define SAMPLED_WORK_FACTOR 10    /* a schedule whose sampled work exceeds this many times WORK is left out */
#define SINGLE_WORK         5e5   /* maximum work of the simulation of a named algorithm */

/* The shape of the schedule: a ring or a line along the nodes, or the torus or mesh that they form. */
typedef enum shape { SHAPE_RING, SHAPE_LINE, SHAPE_BOX } shape_t;

typedef struct prospect {
    char name[TRV_ALGORITHM_NAME_MAX];
    shape_t shape;
    int priority; /* prospects are tried in ascending order of this number; each is different */
} prospect_t;

typedef struct search {
    const trv_torus_t *machine;
    int nodes, *node; /* the set, in the order that is being tried */
    trv_collective_t collective;
    int root_node; /* of a rooted collective; -1: it has no root */
    uint64_t vector_bytes;
    trv_simulate_options_t network;
    trv_span_t progress;   /* part of the caller's progress */
    trv_planner_t *ring;   /* for a ring of this many ranks, without the machine */
    trv_box_choices_t box; /* for the torus or mesh that the nodes form, if they do */
    trv_candidates_t line; /* for a line of this many ranks; unused if there is only one node */
    double work;           /* remaining work */
    bool too_much;         /* some prospect exceeded the remaining work */
    char error[200];       /* error of the first prospect that cannot run on the machine; "": all can */
    int prospects;
    prospect_t prospect[PROSPECTS_MAX];
    int capacity, choices;
    trv_planner_node_choice_t *choice; /* the best choices so far, fastest first */
} search_t;

/* ---- Prospects --------------------------------------------------------------------------------------------------- */

static void add_prospect(search_t *search, const char *name, shape_t shape, int priority)
{
    for (int i = 0; i < search->prospects; i++)
        if (search->prospect[i].shape == shape && strcmp(search->prospect[i].name, name) == 0)
            return;
    if (search->prospects == PROSPECTS_MAX)
        return;
    prospect_t *prospect = &search->prospect[search->prospects++];
    snprintf(prospect->name, sizeof prospect->name, "%s", name);
    prospect->shape = shape;
    prospect->priority = priority;
}

static int by_priority(const void *a, const void *b)
{
    return ((const prospect_t *)a)->priority - ((const prospect_t *)b)->priority;
}

/* Adds the fastest choices for the ring without the machine and, to be tried last, all baselines. */
static int add_ring(search_t *search)
{
    trv_planner_choice_t ring_choice[RING_CHOICES];
    search->ring->hops_max = RING_HOPS_MAX;
    const int found = trv_planner_rank_within(search->ring, search->vector_bytes, RING_CHOICES, INFINITY, ring_choice);
    for (int i = 0; i < found; i++)
        add_prospect(search, ring_choice[i].algorithm, SHAPE_RING, PRIORITY_STEP * i);
    for (int i = 0; i < trv_algorithms_count(); i++)
        if (trv_algorithm_baseline(trv_algorithm_at(i)))
            add_prospect(search, trv_algorithm_name(trv_algorithm_at(i)), SHAPE_RING,
                         PRIORITY_STEP * PROSPECTS_MAX + i);
    return found < 0 && found != TRV_ERR_UNSUPPORTED ? found : TRV_OK;
}

typedef struct estimate {
    trv_candidate_t *candidate;
    double ns;
} estimate_t;

static int by_estimate(const void *a, const void *b)
{
    const estimate_t *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return strcmp(x->candidate->name, y->candidate->name);
}

/* Whether the first or the middle rank of a line has more messages per port than the network allows. On the machine the
 * others are checked, too. */
static int exceeds_on_line(const search_t *search, const trv_candidate_t *candidate, bool *exceeds)
{
    const trv_candidates_t *list = &search->line;
    trv_timing_traffic_t traffic = {0};
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, &list->network, candidate->name, list->collective, list->root);
    for (int i = 0; i < 2 && !rc; i++)
        rc = trv_timing_add_traffic(schedule, i * search->nodes / 2, &search->network, search->vector_bytes, &traffic);
    trv_schedule_destroy(schedule);
    const int limit = list->network.messages_per_port;
    *exceeds = limit > 0 && trv_messages_per_port(&list->network.torus, traffic.simultaneous) > limit;
    return rc;
}

static int add_lines(search_t *search)
{
    trv_candidates_t *list = &search->line;
    if (search->nodes <= COLLECT_MAX) {
        int rc = trv_candidates_collect_lines(list, 1, search->ring->constraints.consistent);
        if (rc)
            return rc;
    }
    estimate_t *estimate = malloc(((size_t)list->count + 1) * sizeof *estimate);
    int count = 0;
    if (!estimate)
        return trv_fail_memory();
    for (int i = 0; i < trv_algorithms_count(); i++)
        if (trv_algorithm_at(i)->lines && !trv_algorithm_at(i)->relays)
            add_prospect(search, trv_algorithm_name(trv_algorithm_at(i)), SHAPE_LINE, PRIORITY_STEP - 1 - i);
    for (int i = 0; i < list->count; i++)
        if (list->candidate[i].model.steps > 0)
            estimate[count++] = (estimate_t){&list->candidate[i],
                                             trv_planner_estimate(search->ring, &list->candidate[i].model,
                                                                  search->vector_bytes)};
    qsort(estimate, (size_t)count, sizeof *estimate, by_estimate);
    int rc = TRV_OK;
    for (int i = 0, added = 0; i < count && added < LINES_MAX && !rc; i++) {
        bool exceeds;
        rc = exceeds_on_line(search, estimate[i].candidate, &exceeds);
        if (!rc && !exceeds)
            add_prospect(search, estimate[i].candidate->name, SHAPE_LINE, PRIORITY_STEP * added++ + 1);
    }
    free(estimate);
    return rc;
}

static double cutoff_ns(const search_t *search)
{
    return search->choices < search->capacity ? INFINITY : search->choice[search->choices - 1].choice.time_ns;
}

/* Inserts a choice that is fast enough, unless the list contains it: a box of one dimension is also a line or a
 * ring. */
static void insert_choice(search_t *search, const trv_planner_node_choice_t *choice)
{
    for (int i = 0; i < search->choices; i++)
        if (search->choice[i].order == choice->order && trv_torus_equal(&search->choice[i].torus, &choice->torus) &&
            strcmp(search->choice[i].choice.algorithm, choice->choice.algorithm) == 0)
            return;
    int at = search->choices < search->capacity ? search->choices++ : search->choices - 1;
    for (; at > 0 && search->choice[at - 1].choice.time_ns > choice->choice.time_ns; at--)
        search->choice[at] = search->choice[at - 1];
    search->choice[at] = *choice;
}

/* Adds choice `i` for the box: to the list of choices if its time is known, otherwise as a prospect that precedes the
 * others of equal rank. */
static void add_box(search_t *search, int i)
{
    const trv_box_choices_t *box = &search->box;
    const trv_planner_node_choice_t choice = {.order = box->order, .torus = box->torus, .choice = box->choice[i]};
    if (!box->exact)
        add_prospect(search, box->choice[i].algorithm, SHAPE_BOX, PRIORITY_STEP * i - 1);
    else if (choice.choice.time_ns < cutoff_ns(search))
        insert_choice(search, &choice);
}

/* Slow and cut links and shared paths belong to the machine; the line or ring for which candidates are found has
 * equal links. */
static int find_prospects(search_t *search, const trv_planner_constraints_t *constraints)
{
    trv_torus_t torus;
    trv_simulate_options_t ring_network = trv_timing_network(&search->network);
    ring_network.slow_links = 0;
    ring_network.slow_link = NULL;
    ring_network.shared_paths = ring_network.shared_paths !=
                                0; /* the ring's only dimension has a shared path if any of the machine's has */
    int rc = trv_torus_init(&torus, 1, &search->nodes);
    if (!rc)
        rc = trv_planner_create(&search->ring, &torus, search->collective, 0, &ring_network, constraints);
    if (!rc && search->nodes > 1)
        rc = trv_torus_set_lines(&torus, 1);
    search->line = (trv_candidates_t){.network = {TRV_NETWORK, .torus = torus, .routes = ring_network.routes,
                                                  .no_forwarding = ring_network.no_forwarding},
                                      .collective = search->collective};
    search->line.network.messages_per_port = (int)ring_network.messages_per_port;
    if (!rc)
        rc = add_ring(search);
    if (!rc && search->nodes > 1)
        rc = add_lines(search);
    if (!rc)
        rc = trv_box_choices_find(&search->box, search->machine, search->nodes, search->node, search->collective,
                                  search->root_node, search->vector_bytes, &search->network, constraints);
    for (int i = 0; i < search->box.count && !rc; i++)
        add_box(search, i);
    qsort(search->prospect, (size_t)search->prospects, sizeof *search->prospect, by_priority);
    return rc;
}

/* ---- On the machine ---------------------------------------------------------------------------------------------- */

/* The work of a step in which no node of the machine sends. Embedding a schedule takes the same work. */
static double idle_work(const search_t *search) { return IDLE_STEP * search->machine->ranks; }

static trv_network_t machine_network(const search_t *search)
{
    return (trv_network_t){TRV_NETWORK, .torus = *search->machine, .slow_links = search->network.slow_links,
                           .slow_link = search->network.slow_link, .routes = search->network.routes};
}

static int embed(const search_t *search, const trv_torus_t *torus, const char *name, trv_schedule_t **embedded)
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
static int sample_middle(const search_t *search, const trv_schedule_t *embedded, double *work, double *bound_ns)
{
    const trv_simulate_options_t *network = &search->network;
    const double steps = trv_schedule_steps(embedded);
    trv_timing_traffic_t traffic = {0};
    int rc = trv_timing_add_traffic(embedded, search->node[search->nodes / 2], network, search->vector_bytes, &traffic);
    *work = traffic_work(&traffic, search->nodes) + steps * trv_schedule_streams(embedded) * idle_work(search);
    *bound_ns = fmax(traffic.steps * network->alpha_ns, 8e9 * traffic.port_bytes / network->bandwidth_bps);
    return rc;
}

/* Repeats the estimate with other nodes, whose paths may be longer: sets *too_much if it exceeds SAMPLED_WORK_FACTOR
 * * WORK. */
static int sample_others(const search_t *search, const trv_schedule_t *embedded, bool *too_much)
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
static bool is_allowed(const search_t *search, const trv_simulator_t *simulator)
{
    const int limit = (int)search->network.messages_per_port;
    return limit == 0 || trv_messages_per_port(search->machine, trv_simulator_simultaneous(simulator)) <= limit;
}

/* Simulates an embedded schedule and inserts it into the choices if it is fast enough. A schedule with a message that
 * passes a cut link is left out; the error of the first such schedule becomes search->error. `named`: its messages per
 * port are not limited. */
static int time_embedded(search_t *search, const trv_schedule_t *embedded, bool named,
                         trv_planner_node_choice_t *choice)
{
    trv_simulator_t *simulator;
    trv_simulation_t result, empty;
    double bound_ns = 0;
    int rc = trv_simulator_create(&simulator, embedded);
    if (rc)
        return rc;
    trv_simulate_options_t network = search->network;
    rc = trv_simulator_drop_links(simulator, &network);
    if (!rc)
        rc = trv_simulate_bound_ns(simulator, &network, search->vector_bytes, &bound_ns);
    const bool hopeless = !rc && (bound_ns > cutoff_ns(search) || (!named && !is_allowed(search, simulator)));
    if (!rc && !hopeless)
        rc = trv_simulate_until(simulator, &network, search->vector_bytes, HOPS_MAX, (trv_span_t){0}, 0, &result);
    const bool wins = !rc && !hopeless && result.time_ns < cutoff_ns(search);
    if (wins)
        rc = trv_simulate_until(simulator, &network, 1, HOPS_MAX, (trv_span_t){0}, 0, &empty);
    trv_simulator_destroy(simulator);
    if (rc == TRV_ERR_UNSUPPORTED && !*search->error)
        snprintf(search->error, sizeof search->error, "%s", trv_last_error());
    if (rc || !wins)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    trv_planner_split_time(&choice->choice, result.time_ns, choice->choice.steps * search->network.alpha_ns,
                           empty.time_ns);
    insert_choice(search, choice);
    return TRV_OK;
}

/* Tries one prospect on the nodes in their present order, if enough work is left. */
static int try_prospect(search_t *search, trv_order_t order, const prospect_t *prospect)
{
    const trv_candidates_t *list = prospect->shape == SHAPE_BOX    ? &search->box.planner->list
                                   : prospect->shape == SHAPE_LINE ? &search->line
                                                                   : &search->ring->list;
    const trv_torus_t *torus = &list->network.torus;
    trv_candidate_t candidate = {.by_name = true};
    trv_schedule_t *embedded;
    double work = 0, bound_ns = 0;
    bool allowed = false, exceeds_sampled = false;
    /* Lower bound on the work: every node sends at least one message over one link. */
    if (idle_work(search) + 2.0 * search->nodes > search->work) {
        search->too_much = true;
        return TRV_OK;
    }
    search->work -= idle_work(search);
    memcpy(candidate.name, prospect->name, sizeof candidate.name);
    int rc = embed(search, torus, prospect->name, &embedded);
    if (!rc)
        rc = sample_middle(search, embedded, &work, &bound_ns);
    search->too_much = search->too_much || (!rc && work > search->work);
    if (!rc && work <= search->work && bound_ns <= cutoff_ns(search))
        rc = trv_constraints_allow(&search->ring->constraints, list, &candidate, search->vector_bytes, true, &allowed);
    if (!rc && allowed)
        rc = sample_others(search, embedded, &exceeds_sampled);
    search->too_much = search->too_much || exceeds_sampled;
    if (!rc && allowed && !exceeds_sampled) {
        trv_planner_node_choice_t choice = {.order = order, .torus = *torus};
        memcpy(choice.choice.algorithm, prospect->name, sizeof choice.choice.algorithm);
        choice.choice.steps = trv_schedule_steps(embedded);
        choice.choice.consistent = trv_schedule_consistent(embedded);
        search->work -= work;
        rc = time_embedded(search, embedded, false, &choice);
    }
    trv_schedule_destroy(embedded);
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

static int search_begin(search_t *search, const trv_torus_t *machine, int nodes, const int *node,
                        const trv_simulate_options_t *network)
{
    int rc = trv_check_size(network->size, sizeof *network, "TRV_SIMULATE_DEFAULTS");
    if (rc)
        return rc;
    search->machine = machine;
    search->nodes = nodes;
    search->network = trv_timing_network(network);
    search->progress = (trv_span_t){network->progress, network->progress_context, 0, 1};
    search->node = malloc((size_t)nodes * sizeof *search->node);
    if (!search->node)
        return trv_fail_memory();
    memcpy(search->node, node, (size_t)nodes * sizeof *node);
    return TRV_OK;
}

static int simulate_prospects(search_t *search)
{
    const trv_network_t network = machine_network(search);
    int rc = TRV_OK, *original = search->node, *ordered[TRV_ORDER_ROWS + 1] = {NULL};
    for (int order = 0; order <= TRV_ORDER_ROWS && !rc; order++) {
        ordered[order] = malloc((size_t)search->nodes * sizeof **ordered);
        if (!ordered[order])
            rc = trv_fail_memory();
        else
            rc = trv_order_nodes(&network, (trv_order_t)order, search->nodes,
                                 memcpy(ordered[order], original, (size_t)search->nodes * sizeof **ordered));
    }
    for (int i = 0; i < search->prospects && !rc; i++)
        for (int order = 0; order <= TRV_ORDER_ROWS && !rc; order++) {
            const bool is_box = search->prospect[i].shape == SHAPE_BOX;
            if (is_box ? order != (int)search->box.order : order == TRV_ORDER_ROWS)
                continue;
            search->node = ordered[order];
            rc = trv_span_report(search->progress, (2.0 * i + order % 2) / (2.0 * search->prospects));
            if (!rc)
                rc = try_prospect(search, (trv_order_t)order, &search->prospect[i]);
        }
    search->node = original;
    for (int order = 0; order <= TRV_ORDER_ROWS; order++)
        free(ordered[order]);
    return rc;
}

static int search_fail(const search_t *search)
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
    search_t *search = calloc(1, sizeof *search);
    if (!search)
        return trv_fail_memory();
    search->collective = collective;
    search->root_node = trv_collective_has_root(collective) ? node[root] : -1;
    search->vector_bytes = vector_bytes;
    search->work = WORK;
    search->capacity = capacity;
    search->choice = choice;
    rc = search_begin(search, machine, nodes, node, network);
    if (!rc) {
        const trv_network_t machine_net = machine_network(search);
        rc = trv_order_nodes(&machine_net, TRV_ORDER_SNAKE, nodes, search->node);
    }
    if (!rc)
        rc = find_prospects(search, constraints);
    if (!rc)
        rc = simulate_prospects(search);
    if (!rc)
        rc = search->choices > 0 ? search->choices : search_fail(search);
    trv_candidates_clear(&search->line);
    trv_box_choices_clear(&search->box);
    trv_planner_destroy(search->ring);
    free(search->node);
    free(search);
    return rc;
}

/* Simulates one algorithm. Sets *is_bound if simulating it is too much work; the time is then a lower bound. A time of
 * INFINITY means that a message would pass a cut link. */
static int time_algorithm(search_t *search, const char *algorithm, double *time_ns, bool *is_bound)
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
        trv_planner_node_choice_t choice = {.order = TRV_ORDER_SNAKE};
        search->capacity = 1;
        search->choices = 0;
        search->choice = &choice;
        rc = time_embedded(search, embedded, true, &choice);
        *time_ns = search->choices > 0 ? choice.choice.time_ns : INFINITY;
    }
    trv_schedule_destroy(embedded);
    return rc;
}

int trv_planner_nodes_time(const trv_torus_t *machine, int nodes, const int *node, trv_collective_t collective,
                           int root, uint64_t vector_bytes, const trv_simulate_options_t *network,
                           const char *algorithm, double *time_ns, bool *is_bound)
{
    search_t search = {.collective = collective, .root_node = -1, .vector_bytes = vector_bytes};
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
    free(search.node);
    return rc;
}
