/*
 * Plans for any set of nodes: a schedule for a line or a ring of ranks is embedded along the nodes in several orders
 * and simulated on the machine.
 *
 * The prospects come from two lists, from which they are taken alternately: the plans that the planner finds for a ring
 * of this many ranks without the machine around it, and the candidates of algorithms made for lines, best model first.
 * Nodes that form a torus or mesh also have the planner's choices for that (box_choices.h), which need no simulation where the
 * machine's routes are those of the box.
 * The baselines come last. Prospects are simulated until the work that one answer may take is done. A schedule with as
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
#include "simulate/simulator.h"
#include "torus/reach.h"
#include "torus/torus.h"

#define PROSPECTS_MAX 64
#define BEST          8     /* number of plans for the ring */
#define TURNS         100   /* difference in prospect_t.turn between two successive prospects of a list */
#define COLLECT_MAX   512   /* nodes; above this, collecting candidates for lines takes longer than simulating */
#define LINES_MAX     8     /* number of candidates of algorithms made for lines */
#define WORK          1.5e6 /* maximum work of one answer, in packet-hops and messages read: about half a second */
#define HOPS_MAX      1e5   /* maximum packet-hops in one simulation on the machine */
#define NEAR_HOPS_MAX 3e4   /* the same for a simulation by the ring's planner; this smaller work is not part of WORK */
#define IDLE_STEP     0.1   /* work per node of a step in which nothing is sent, as on most nodes of a large machine */
#define SAMPLED       8     /* number of sampled nodes besides the one in the middle */
#define TIMES_WORK    10    /* a schedule whose sampled work exceeds this many times WORK is left out */
#define ALONE_WORK    5e5   /* maximum work of the simulation of a named algorithm */

/* The shape of the schedule: a ring or a line along the nodes, or the torus or mesh that they form. */
typedef enum shape { SHAPE_RING, SHAPE_LINE, SHAPE_BOX } shape_t;

typedef struct prospect {
    char name[TRV_ALGORITHM_NAME_MAX];
    shape_t shape;
    int turn; /* prospects are tried in ascending order of this number; each is different */
} prospect_t;

typedef struct question {
    const trv_torus_t *machine;
    int nodes, *node; /* in the order that is being tried */
    trv_collective_t collective;
    uint64_t vector_bytes;
    trv_simulate_options_t network;
    trv_span_t part;       /* part of the caller's progress */
    trv_planner_t *ring;   /* for a ring of this many ranks, without the machine */
    trv_box_choices_t box; /* for the torus or mesh that the nodes form, if they do */
    trv_candidates_t line; /* for a line of this many ranks; has no ranks if there is only one node */
    double work;           /* remaining work */
    bool too_much;         /* some prospect exceeded the remaining work */
    char refusal[200];     /* error of the first prospect that cannot run on the machine; "": all can */
    int prospects;
    prospect_t prospect[PROSPECTS_MAX];
    int capacity, plans;
    trv_planner_node_choice_t *plan; /* the best plans so far, fastest first */
} question_t;

/* ---- Prospects --------------------------------------------------------------------------------------------------- */

static void add_prospect(question_t *question, const char *name, shape_t shape, int turn)
{
    for (int i = 0; i < question->prospects; i++)
        if (question->prospect[i].shape == shape && strcmp(question->prospect[i].name, name) == 0)
            return;
    if (question->prospects == PROSPECTS_MAX)
        return;
    prospect_t *prospect = &question->prospect[question->prospects++];
    snprintf(prospect->name, sizeof prospect->name, "%s", name);
    prospect->shape = shape;
    prospect->turn = turn;
}

static int by_turn(const void *a, const void *b)
{
    return ((const prospect_t *)a)->turn - ((const prospect_t *)b)->turn;
}

/* Adds the fastest plans for the ring without the machine and, to be tried last, all baselines. */
static int add_ring(question_t *question)
{
    trv_planner_choice_t best[BEST];
    question->ring->hops_max = NEAR_HOPS_MAX;
    const int found = trv_planner_rank(question->ring, question->vector_bytes, BEST, best);
    for (int i = 0; i < found; i++)
        add_prospect(question, best[i].algorithm, SHAPE_RING, TURNS * i);
    for (int i = 0; i < trv_algorithms_count(); i++)
        if (trv_algorithm_baseline(trv_algorithm_at(i)))
            add_prospect(question, trv_algorithm_name(trv_algorithm_at(i)), SHAPE_RING, TURNS * PROSPECTS_MAX + i);
    return found < 0 && found != TRV_ERR_UNSUPPORTED ? found : TRV_OK;
}

typedef struct estimate {
    const trv_candidate_t *candidate;
    double ns;
} estimate_t;

static int by_estimate(const void *a, const void *b)
{
    const estimate_t *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return strcmp(x->candidate->name, y->candidate->name);
}

static int add_lines(question_t *question)
{
    trv_candidates_t *list = &question->line;
    if (question->nodes <= COLLECT_MAX) {
        int rc = trv_candidates_collect_lines(list, 1, question->ring->constraints.consistent);
        if (rc)
            return rc;
    }
    estimate_t *made = malloc(((size_t)list->count + 1) * sizeof *made);
    int count = 0;
    if (!made)
        return trv_fail_memory();
    for (int i = 0; i < trv_algorithms_count(); i++)
        if (trv_algorithm_at(i)->lines)
            add_prospect(question, trv_algorithm_name(trv_algorithm_at(i)), SHAPE_LINE, TURNS - 1 - i);
    for (int i = 0; i < list->count; i++)
        if (list->candidate[i].model.steps > 0)
            made[count++] = (estimate_t){&list->candidate[i],
                                         trv_planner_estimate(question->ring, &list->candidate[i].model,
                                                              question->vector_bytes)};
    qsort(made, (size_t)count, sizeof *made, by_estimate);
    for (int i = 0; i < count && i < LINES_MAX; i++)
        add_prospect(question, made[i].candidate->name, SHAPE_LINE, TURNS * i + 1);
    free(made);
    return TRV_OK;
}

static double enough_ns(const question_t *question)
{
    return question->plans < question->capacity ? INFINITY : question->plan[question->plans - 1].choice.time_ns;
}

/* Adds a plan that is fast enough, unless the list contains it: a box of one dimension is also a line or a ring. */
static void insert(question_t *question, const trv_planner_node_choice_t *plan)
{
    for (int i = 0; i < question->plans; i++)
        if (question->plan[i].order == plan->order && trv_torus_equal(&question->plan[i].torus, &plan->torus) &&
            strcmp(question->plan[i].choice.algorithm, plan->choice.algorithm) == 0)
            return;
    int at = question->plans < question->capacity ? question->plans++ : question->plans - 1;
    for (; at > 0 && question->plan[at - 1].choice.time_ns > plan->choice.time_ns; at--)
        question->plan[at] = question->plan[at - 1];
    question->plan[at] = *plan;
}

/* Adds choice `i` for the box: as a plan if its time is known, else as a prospect that precedes the others of its turn. */
static void add_box(question_t *question, int i)
{
    const trv_box_choices_t *box = &question->box;
    const trv_planner_node_choice_t plan = {.order = box->order, .torus = box->torus, .choice = box->choice[i]};
    if (!box->exact)
        add_prospect(question, box->choice[i].algorithm, SHAPE_BOX, TURNS * i - 1);
    else if (plan.choice.time_ns < enough_ns(question))
        insert(question, &plan);
}

/* Slow and cut links and shared paths belong to the machine; the line or ring for which candidates are found has equal links. */
static int find_prospects(question_t *question, const trv_planner_constraints_t *constraints)
{
    trv_torus_t torus;
    trv_simulate_options_t alone = trv_timing_network(&question->network);
    alone.slow_links = 0;
    alone.slow_link = NULL;
    alone.shared_paths = alone.shared_paths !=
                         0; /* the ring's only dimension has a shared path if any of the machine's has */
    int rc = trv_torus_init(&torus, 1, &question->nodes);
    if (!rc)
        rc = trv_planner_create(&question->ring, &torus, question->collective, 0, &alone, constraints);
    if (!rc && question->nodes > 1)
        rc = trv_torus_set_lines(&torus, 1);
    question->line = (trv_candidates_t){.network = {TRV_NETWORK, .torus = torus, .routes = alone.routes},
                                        .collective = question->collective};
    if (!rc)
        rc = add_ring(question);
    if (!rc && question->nodes > 1)
        rc = add_lines(question);
    if (!rc)
        rc = trv_box_choices_find(&question->box, question->machine, question->nodes, question->node,
                                  question->collective, question->vector_bytes, &question->network, constraints);
    for (int i = 0; i < question->box.count && !rc; i++)
        add_box(question, i);
    qsort(question->prospect, (size_t)question->prospects, sizeof *question->prospect, by_turn);
    return rc;
}

/* ---- On the machine ---------------------------------------------------------------------------------------------- */

/* The work of a step in which no node of the machine sends. Placing a schedule on the machine takes the same work. */
static double idle_work(const question_t *question) { return IDLE_STEP * question->machine->ranks; }

static trv_network_t machine_network(const question_t *question)
{
    return (trv_network_t){TRV_NETWORK, .torus = *question->machine, .slow_links = question->network.slow_links,
                           .slow_link = question->network.slow_link, .routes = question->network.routes};
}

static int place(const question_t *question, const trv_torus_t *torus, const char *name, trv_schedule_t **placed)
{
    trv_schedule_t *schedule;
    const trv_network_t network = machine_network(question);
    *placed = NULL;
    int rc = trv_schedule_create(&schedule, torus, name, question->collective);
    return rc ? rc : trv_schedule_embed(placed, schedule, &network, question->node);
}

/* The work of these messages, `times` times: messages read and packet-hops. */
static double sends_work(const trv_timing_sends_t *sends, double times)
{
    return times * sends->messages + fmax(times * sends->hops[1], fmin(times * sends->hops[0], HOPS_MAX));
}

/* Estimates the work of simulating the schedule and a lower bound on its time, as if all nodes sent what the node in
 * the middle sends. */
static int look_at(const question_t *question, const trv_schedule_t *placed, double *work, double *least_ns)
{
    const trv_simulate_options_t *n = &question->network;
    const double steps = trv_schedule_steps(placed);
    trv_timing_sends_t sends = {0};
    int rc = trv_timing_sends(placed, question->node[question->nodes / 2], n, question->vector_bytes, &sends);
    *work = sends_work(&sends, question->nodes) + steps * trv_schedule_streams(placed) * idle_work(question);
    *least_ns = fmax(steps * n->alpha_ns, 8e9 * sends.port_bytes / n->bandwidth_bps);
    return rc;
}

/* Repeats the estimate with other nodes, whose paths may be longer: sets *too_much if it exceeds TIMES_WORK * WORK. */
static int look_at_others(const question_t *question, const trv_schedule_t *placed, bool *too_much)
{
    trv_timing_sends_t sends = {0};
    int rc = TRV_OK;
    for (int i = 0; i < SAMPLED && !rc; i++) {
        const int64_t at = (2 * i + 1) * (int64_t)question->nodes / (2 * SAMPLED);
        rc = trv_timing_sends(placed, question->node[at], &question->network, question->vector_bytes, &sends);
    }
    *too_much = sends_work(&sends, (double)question->nodes / SAMPLED) > TIMES_WORK * WORK;
    return rc;
}

/* Simulates a placed schedule and keeps it if it is fast enough. One whose messages pass a cut link is left out, and
 * its error becomes question->refusal if it is the first. */
static int time_placed(question_t *question, const trv_schedule_t *placed, trv_planner_node_choice_t *plan)
{
    trv_simulator_t *simulator;
    trv_simulation_t result, empty;
    double bound_ns = 0;
    int rc = trv_simulator_create(&simulator, placed);
    if (rc)
        return rc;
    const trv_simulate_options_t network = trv_timing_packets(simulator, &question->network, question->vector_bytes,
                                                              HOPS_MAX);
    rc = trv_simulate_bound_ns(simulator, &network, question->vector_bytes, &bound_ns);
    const bool hopeless = !rc && bound_ns > enough_ns(question);
    if (!rc && !hopeless)
        rc = trv_simulate_dropped(simulator, &network, question->vector_bytes, (trv_span_t){0}, 0, &result);
    const bool wins = !rc && !hopeless && result.time_ns < enough_ns(question);
    if (wins)
        rc = trv_simulate_dropped(simulator, &network, 1, (trv_span_t){0}, 0, &empty);
    trv_simulator_destroy(simulator);
    if (rc == TRV_ERR_UNSUPPORTED && !*question->refusal)
        snprintf(question->refusal, sizeof question->refusal, "%s", trv_last_error());
    if (rc || !wins)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    trv_planner_divide(&plan->choice, result.time_ns, plan->choice.steps * question->network.alpha_ns, empty.time_ns);
    insert(question, plan);
    return TRV_OK;
}

/* Tries one prospect on the nodes in their present order, if enough work is left. */
static int try_plan(question_t *question, trv_order_t order, const prospect_t *prospect)
{
    const trv_candidates_t *list = prospect->shape == SHAPE_BOX    ? &question->box.planner->list
                                   : prospect->shape == SHAPE_LINE ? &question->line
                                                                   : &question->ring->list;
    const trv_torus_t *torus = &list->network.torus;
    trv_candidate_t guest = {.guest = true};
    trv_schedule_t *placed;
    double work = 0, least_ns = 0;
    bool keeps = false, far_too_much = false;
    /* Lower bound on the work: every node sends at least one message over one link. */
    if (idle_work(question) + 2.0 * question->nodes > question->work) {
        question->too_much = true;
        return TRV_OK;
    }
    question->work -= idle_work(question);
    memcpy(guest.name, prospect->name, sizeof guest.name);
    int rc = place(question, torus, prospect->name, &placed);
    if (!rc)
        rc = look_at(question, placed, &work, &least_ns);
    question->too_much = question->too_much || (!rc && work > question->work);
    if (!rc && work <= question->work && least_ns <= enough_ns(question))
        rc = trv_constraints_keep(&question->ring->constraints, list, &guest, question->vector_bytes, &keeps);
    if (!rc && keeps)
        rc = look_at_others(question, placed, &far_too_much);
    question->too_much = question->too_much || far_too_much;
    if (!rc && keeps && !far_too_much) {
        trv_planner_node_choice_t plan = {.order = order, .torus = *torus};
        memcpy(plan.choice.algorithm, prospect->name, sizeof plan.choice.algorithm);
        plan.choice.steps = trv_schedule_steps(placed);
        plan.choice.consistent = trv_schedule_consistent(placed);
        question->work -= work;
        rc = time_placed(question, placed, &plan);
    }
    trv_schedule_destroy(placed);
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static int begin(question_t *question, const trv_torus_t *machine, int nodes, const int *node,
                 const trv_simulate_options_t *network)
{
    int rc = trv_check_size(network->size, sizeof *network, "TRV_SIMULATE_DEFAULTS");
    if (rc)
        return rc;
    question->machine = machine;
    question->nodes = nodes;
    question->network = trv_timing_network(network);
    question->part = (trv_span_t){network->progress, network->progress_context, 0, 1};
    question->node = malloc((size_t)nodes * sizeof *question->node);
    if (!question->node)
        return trv_fail_memory();
    memcpy(question->node, node, (size_t)nodes * sizeof *node);
    return TRV_OK;
}

static int try_orders(question_t *question)
{
    const trv_network_t network = machine_network(question);
    int rc = TRV_OK, *given = question->node, *ordered[TRV_ORDER_ROWS + 1] = {NULL};
    for (int order = 0; order <= TRV_ORDER_ROWS && !rc; order++) {
        ordered[order] = malloc((size_t)question->nodes * sizeof **ordered);
        if (!ordered[order])
            rc = trv_fail_memory();
        else
            rc = trv_order_nodes(&network, (trv_order_t)order, question->nodes,
                                 memcpy(ordered[order], given, (size_t)question->nodes * sizeof **ordered));
    }
    for (int i = 0; i < question->prospects && !rc; i++)
        for (int order = 0; order <= TRV_ORDER_ROWS && !rc; order++) {
            const bool in_box = question->prospect[i].shape == SHAPE_BOX;
            if (in_box ? order != (int)question->box.order : order == TRV_ORDER_ROWS)
                continue;
            question->node = ordered[order];
            rc = trv_span_report(question->part, (2.0 * i + order % 2) / (2.0 * question->prospects));
            if (!rc)
                rc = try_plan(question, (trv_order_t)order, &question->prospect[i]);
        }
    question->node = given;
    for (int order = 0; order <= TRV_ORDER_ROWS; order++)
        free(ordered[order]);
    return rc;
}

static int refuse(const question_t *question)
{
    char text[TRV_TORUS_TEXT_MAX];
    const trv_network_t network = machine_network(question);
    int other;
    trv_torus_format(question->machine, text, sizeof text);
    const int divided = *question->refusal ? trv_network_divided(&network, question->node[0], &other) : 0;
    if (divided < 0)
        return divided;
    for (int i = 0; divided && i < question->nodes; i++)
        if (question->node[i] == other)
            return trv_fail(TRV_ERR_UNSUPPORTED, "the cut links of %s leave no route between the nodes %d and %d", text,
                            question->node[0], other);
    if (*question->refusal)
        return trv_fail(TRV_ERR_UNSUPPORTED, "none of the schedules that were tried serves the %d nodes of %s: %s",
                        question->nodes, text, question->refusal);
    if (question->too_much)
        return trv_fail(TRV_ERR_UNSUPPORTED, "%d nodes of %s are too many to simulate", question->nodes, text);
    return trv_constraints_refuse_all(&question->ring->constraints, &question->ring->list, question->vector_bytes);
}

int trv_planner_nodes(const trv_torus_t *machine, int nodes, const int *node, trv_collective_t collective, int root,
                      uint64_t vector_bytes, const trv_simulate_options_t *network,
                      const trv_planner_constraints_t *constraints, int capacity, trv_planner_node_choice_t *plan)
{
    if (capacity < 1 || nodes < 1)
        return trv_fail(TRV_ERR_ARGUMENT, "a plan for %d nodes, %d of them: it takes one at least of either", nodes,
                        capacity);
    int code = trv_collective_check(collective, root);
    if (code)
        return code;
    question_t *question = calloc(1, sizeof *question);
    if (!question)
        return trv_fail_memory();
    question->collective = collective;
    question->vector_bytes = vector_bytes;
    question->work = WORK;
    question->capacity = capacity;
    question->plan = plan;
    int rc = begin(question, machine, nodes, node, network);
    if (!rc) {
        const trv_network_t on = machine_network(question);
        rc = trv_order_nodes(&on, TRV_ORDER_SNAKE, nodes, question->node);
    }
    if (!rc)
        rc = find_prospects(question, constraints);
    if (!rc)
        rc = try_orders(question);
    if (!rc)
        rc = question->plans > 0 ? question->plans : refuse(question);
    trv_candidates_clear(&question->line);
    trv_box_choices_clear(&question->box);
    trv_planner_destroy(question->ring);
    free(question->node);
    free(question);
    return rc;
}

/* Simulates one algorithm. *least: simulating it is too much work, and the time is a lower bound. A time of INFINITY
 * means that a message would pass a cut link. */
static int time_alone(question_t *question, const char *algorithm, double *time_ns, bool *least)
{
    trv_torus_t ring;
    trv_schedule_t *placed = NULL;
    double work = 0;
    int rc = trv_torus_init(&ring, 1, &question->nodes);
    if (!rc)
        rc = place(question, &ring, algorithm, &placed);
    if (!rc)
        rc = look_at(question, placed, &work, time_ns);
    *least = work > ALONE_WORK;
    if (!rc && !*least)
        rc = look_at_others(question, placed, least);
    if (!rc && !*least) {
        trv_planner_node_choice_t plan = {.order = TRV_ORDER_SNAKE};
        question->capacity = 1;
        question->plans = 0;
        question->plan = &plan;
        rc = time_placed(question, placed, &plan);
        *time_ns = question->plans > 0 ? plan.choice.time_ns : INFINITY;
    }
    trv_schedule_destroy(placed);
    return rc;
}

int trv_planner_nodes_time(const trv_torus_t *machine, int nodes, const int *node, trv_collective_t collective,
                           int root, uint64_t vector_bytes, const trv_simulate_options_t *network,
                           const char *algorithm, double *time_ns, bool *least)
{
    question_t question = {.collective = collective, .vector_bytes = vector_bytes};
    trv_slow_link_t *left = NULL;
    *time_ns = 0;
    int rc = trv_collective_check(collective, root);
    if (!rc)
        rc = begin(&question, machine, nodes, node, network);
    if (!rc)
        rc = time_alone(&question, algorithm, time_ns, least);
    if (!rc && isinf(*time_ns)) {
        left = malloc((size_t)network->slow_links * sizeof *left);
        question.network.slow_links = 0;
        question.network.slow_link = left;
        for (int i = 0; left && i < network->slow_links; i++)
            if (isfinite(network->slow_link[i].factor))
                left[question.network.slow_links++] = network->slow_link[i];
        rc = left ? time_alone(&question, algorithm, time_ns, least) : trv_fail_memory();
        *least = true;
    }
    free(left);
    free(question.node);
    return rc;
}
