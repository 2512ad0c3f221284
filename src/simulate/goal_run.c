/*
 * The network driver for GOAL programs: a group of operations begins when its dependencies are complete.
 *
 * Timers: id o is the end of calculation o, or the time at which send o leaves after its overhead; id ops + g is the
 * begin of group g, if it does not begin at once. Groups that become ready while an event is handled are queued and
 * begun directly after it, so chains of any length need no recursion.
 */
#include "simulate/goal_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "simulate/goal_program.h"
#include "simulate/network.h"
#include "torus/reach.h"
#include "torus/rows.h"
#include "torus/torus.h"

typedef struct slot { /* a message of a channel */
    uint32_t send, receive;
    bool arrived;
} slot_t;

typedef struct run {
    goal_program_t program;
    const trv_torus_t *torus;
    trv_rows_t *rows; /* rows of dimensions with cut links, which messages avoid */
    trv_packets_t *net;
    bool no_forwarding;
    int64_t alpha, overhead;
    double *slowness;     /* per rank */
    int64_t *cpu_free_at; /* per rank: the end of the overheads of the sends that have begun, fs */
    slot_t *slot;
    uint32_t *slot_of; /* per send and receive; TRV_GOAL_NONE before it begins */
    bool *complete;    /* per operation */
    uint32_t *ready;   /* queue of groups; every group enters it once */
    uint32_t ready_first, ready_end;
    uint32_t done; /* number of complete operations */
    int64_t end;
} run_t;

static const trv_goal_op_t *op_of(const run_t *run, uint32_t op) { return &run->program.goal->op[op]; }

/* ---- Dependencies ------------------------------------------------------------------------------------------------ */

/* Records that an operation has started (`start`) or is complete, and queues the groups that waited only for that. */
static void notify_groups(run_t *run, uint32_t op, bool start)
{
    goal_program_t *program = &run->program;
    for (uint32_t e = program->first_edge[op]; e < program->first_edge[op + 1]; e++)
        if (program->edge[e].start == start && --program->group[program->edge[e].group].missing == 0)
            run->ready[run->ready_end++] = program->edge[e].group;
}

static void op_complete(run_t *run, uint32_t op)
{
    run->complete[op] = true;
    run->done++;
    run->end = trv_packets_now(run->net);
    notify_groups(run, op, false);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static int check_sizes(const run_t *run, const slot_t *slot)
{
    const trv_goal_op_t *send = op_of(run, slot->send), *receive = op_of(run, slot->receive);
    if (send->amount == receive->amount)
        return TRV_OK;
    return trv_fail(TRV_ERR_INVALID,
                    "%.200s, line %u: rank %d receives %llu bytes, but rank %d sends %llu bytes in line %u",
                    run->program.goal->name, receive->line, receive->rank, (unsigned long long)receive->amount,
                    send->rank, (unsigned long long)send->amount, send->line);
}

/* Assigns a send or receive that begins to a slot of its channel. */
static int match(run_t *run, uint32_t op)
{
    goal_channel_t *channel = &run->program.channel[run->program.channel_of[op]];
    bool send = op_of(run, op)->kind == TRV_GOAL_SEND;
    uint32_t number = channel->first + (send ? channel->sends++ : channel->receives++);
    slot_t *slot = &run->slot[number];
    run->slot_of[op] = number;
    *(send ? &slot->send : &slot->receive) = op;
    return slot->send != TRV_GOAL_NONE && slot->receive != TRV_GOAL_NONE ? check_sizes(run, slot) : TRV_OK;
}

/* The distance from `rank` to the coordinate of `peer`, along a row that is a line: positive in direction +. */
static int row_distance(const run_t *run, int rank, int peer, int d)
{
    const int target = trv_torus_move(run->torus, rank, d, trv_torus_coordinate(run->torus, peer, d));
    return trv_row_position(run->rows, target, d) - trv_row_position(run->rows, rank, d);
}

/* Whether a shortest path between these ranks may begin with `port`. */
static bool port_is_shortest(const run_t *run, int rank, int peer, int port)
{
    const trv_torus_t *torus = run->torus;
    const int d = trv_port_dimension(port), size = d < torus->dims ? torus->size[d] : 0;
    if (size == 0 || trv_torus_coordinate(torus, rank, d) == trv_torus_coordinate(torus, peer, d))
        return false;
    if (trv_rows_are_lines(run->rows, d))
        return row_distance(run, rank, peer, d) * trv_port_sign(port) > 0;
    int up = (trv_torus_coordinate(torus, peer, d) - trv_torus_coordinate(torus, rank, d) + size) % size;
    return trv_port_sign(port) > 0 ? 2 * up <= size : 2 * up >= size;
}

/* The port of dimension-order routing, or `wanted` if a shortest path begins with it. */
static int port_of(const run_t *run, int rank, int peer, int requested)
{
    int port = 0;
    if (requested >= 0 && port_is_shortest(run, rank, peer, requested))
        return requested;
    while (!port_is_shortest(run, rank, peer, port))
        port++;
    return port;
}

/* The route: the dimension of that port first. In rows that are lines, messages take the only path there is. */
static trv_legs_t legs_of(const run_t *run, int rank, int peer, int requested)
{
    trv_legs_t legs = trv_legs(run->torus, rank, peer, port_of(run, rank, peer, requested), false);
    for (int l = 0; l < legs.count; l++) {
        const int d = trv_port_dimension((int)legs.leg[l].port);
        if (trv_rows_are_lines(run->rows, d)) {
            const int hops = row_distance(run, rank, peer, d);
            legs.leg[l] = (trv_leg_t){(uint32_t)trv_port(d, hops), (uint32_t)abs(hops)};
        }
        rank = trv_torus_move(run->torus, rank, d, trv_torus_coordinate(run->torus, peer, d));
    }
    return legs;
}

static int send_now(run_t *run, uint32_t op)
{
    const trv_goal_op_t *o = op_of(run, op);
    trv_legs_t legs = {.count = 0};
    int ports = trv_port_count(run->torus), interface = -1, rc = match(run, op);
    if (rc)
        return rc;
    notify_groups(run, op, true);
    if (o->nic >= ports && o->nic < ports * (ports + 1))
        interface = o->nic / ports - 1;
    if (o->peer != o->rank)
        legs = legs_of(run, o->rank, o->peer, o->nic < 0 ? -1 : o->nic % ports);
    rc = trv_check_hops(run->no_forwarding, o->rank, o->peer, trv_legs_length(&legs));
    if (rc)
        return rc;
    return trv_packets_send(run->net, o->rank, interface, &legs, o->amount > 0 ? o->amount : 1, op);
}

static int receive_start(run_t *run, uint32_t op)
{
    int rc = match(run, op);
    notify_groups(run, op, true);
    if (!rc && run->slot[run->slot_of[op]].arrived)
        op_complete(run, op);
    return rc;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static double slowness(const run_t *run, int rank) { return run->slowness ? run->slowness[rank] : 1.0; }

static int calculation_start(run_t *run, uint32_t op)
{
    const trv_goal_op_t *o = op_of(run, op);
    int64_t time;
    int rc = trv_packets_fs((double)o->amount * slowness(run, o->rank), &time);
    notify_groups(run, op, true);
    if (!rc && time > 0)
        return trv_packets_timer(run->net, trv_packets_now(run->net) + time, op);
    if (!rc)
        op_complete(run, op);
    return rc;
}

/* Sends when the overhead is paid. A rank pays the overheads of its sends one after another, in the order in which they
 * begin. */
static int send_start(run_t *run, uint32_t op)
{
    if (run->overhead == 0)
        return send_now(run, op);
    int rank = op_of(run, op)->rank;
    int64_t now = trv_packets_now(run->net), *cpu_free_at = &run->cpu_free_at[rank];
    *cpu_free_at = (now > *cpu_free_at ? now : *cpu_free_at) +
                   (int64_t)((double)run->overhead * slowness(run, rank) + 0.5);
    return *cpu_free_at > TRV_HORIZON_FS ? trv_packets_fail_horizon() : trv_packets_timer(run->net, *cpu_free_at, op);
}

/* Begins all operations of a group. */
static int group_begin(run_t *run, uint32_t group)
{
    int rc = TRV_OK;
    for (uint32_t op = run->program.group[group].first; op != TRV_GOAL_NONE && !rc;
         op = run->program.next_in_group[op]) {
        switch (op_of(run, op)->kind) {
        case TRV_GOAL_CALC: rc = calculation_start(run, op); break;
        case TRV_GOAL_RECV: rc = receive_start(run, op); break;
        case TRV_GOAL_SEND: rc = send_start(run, op); break;
        }
    }
    return rc;
}

static int begin_ready_groups(run_t *run)
{
    int rc = TRV_OK;
    while (run->ready_first < run->ready_end && !rc) {
        uint32_t g = run->ready[run->ready_first++];
        const goal_group_t *group = &run->program.group[g];
        int64_t pause = group->after_messages ? TRV_STEP_GAP_FS : 0;
        if (group->messages)
            pause += (int64_t)((double)run->alpha * slowness(run, op_of(run, group->first)->rank) + 0.5);
        if (pause > 0)
            rc = trv_packets_timer(run->net, trv_packets_now(run->net) + pause, run->program.goal->ops + g);
        else
            rc = group_begin(run, g);
    }
    return rc;
}

/* ---- Callbacks of the network ------------------------------------------------------------------------------------ */

static int on_timer(void *context, uint32_t id)
{
    run_t *run = context;
    uint32_t ops = run->program.goal->ops;
    int rc = TRV_OK;
    if (id >= ops)
        rc = group_begin(run, id - ops);
    else if (op_of(run, id)->kind == TRV_GOAL_SEND)
        rc = send_now(run, id);
    else
        op_complete(run, id);
    return rc ? rc : begin_ready_groups(run);
}

static int on_sent(void *context, uint32_t op)
{
    op_complete(context, op);
    return begin_ready_groups(context);
}

static int on_arrived(void *context, uint32_t op)
{
    run_t *run = context;
    slot_t *slot = &run->slot[run->slot_of[op]];
    slot->arrived = true;
    if (slot->receive != TRV_GOAL_NONE)
        op_complete(run, slot->receive);
    return begin_ready_groups(run);
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

static int run_prepare(run_t *run, const trv_goal_t *goal, const trv_simulate_options_t *options)
{
    size_t ops = (size_t)goal->ops + 1;
    int rc = trv_goal_program_create(&run->program, goal);
    if (rc)
        return rc;
    run->alpha = trv_fs(options->alpha_ns);
    run->overhead = trv_fs(options->message_overhead_ns);
    rc = trv_packets_slowness(options, goal->ranks, &run->slowness);
    if (rc)
        return rc;
    run->cpu_free_at = calloc((size_t)goal->ranks, sizeof *run->cpu_free_at);
    run->slot = malloc(ops * sizeof *run->slot);
    run->slot_of = malloc(ops * sizeof *run->slot_of);
    run->complete = calloc(ops, sizeof *run->complete);
    run->ready = malloc(ops * sizeof *run->ready);
    if (!run->cpu_free_at || !run->slot || !run->slot_of || !run->complete || !run->ready)
        return trv_fail_memory();
    for (size_t i = 0; i < ops; i++) {
        run->slot[i] = (slot_t){TRV_GOAL_NONE, TRV_GOAL_NONE, false};
        run->slot_of[i] = TRV_GOAL_NONE;
    }
    return TRV_OK;
}

/* An operation that an incomplete operation waits for: for a receive that has begun, a send that has not; for others,
 * one of those they require. */
static uint32_t blocker(const run_t *run, uint32_t op)
{
    const trv_goal_t *goal = run->program.goal;
    if (run->slot_of[op] == TRV_GOAL_NONE) {
        for (uint32_t i = 0; i < goal->dependencies; i++)
            if (goal->dependency[i].op == op && !run->complete[goal->dependency[i].on])
                return goal->dependency[i].on;
    } else {
        for (uint32_t i = 0; i < goal->ops; i++)
            if (goal->op[i].kind == TRV_GOAL_SEND && run->program.channel_of[i] == run->program.channel_of[op] &&
                run->slot_of[i] == TRV_GOAL_NONE)
                return i;
    }
    return op;
}

/* Reports a deadlock: follows blockers from any incomplete operation until it is within the cycle. */
static int fail_deadlock(const run_t *run)
{
    const trv_goal_t *goal = run->program.goal;
    uint32_t op = 0;
    while (run->complete[op])
        op++;
    for (int i = 0; i < 64; i++)
        op = blocker(run, op);
    const trv_goal_op_t *o = op_of(run, op), *other = op_of(run, blocker(run, op));
    return trv_fail(TRV_ERR_INVALID,
                    "%.200s: operations wait for each other in a cycle, for example the operation of rank %d in "
                    "line %u for the operation of rank %d in line %u",
                    goal->name, o->rank, o->line, other->rank, other->line);
}

static int run_start(run_t *run, const trv_simulate_options_t *options)
{
    trv_driver_t driver = {run, on_timer, on_sent, on_arrived};
    int rc = trv_packets_create(&run->net, run->torus, options, &driver);
    if (rc)
        return rc;
    for (uint32_t g = 0; g < run->program.groups; g++)
        if (run->program.group[g].missing == 0)
            run->ready[run->ready_end++] = g;
    rc = begin_ready_groups(run);
    if (!rc)
        rc = trv_packets_run(run->net);
    return rc || run->done == run->program.goal->ops ? rc : fail_deadlock(run);
}

static int check_ranks(const trv_goal_t *goal, const trv_torus_t *torus)
{
    char text[TRV_TORUS_TEXT_MAX];
    if (goal->ranks == torus->ranks)
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT, "%.200s is a program for %d ranks, but the torus %s has %d", goal->name,
                    goal->ranks, trv_torus_format(torus, text, sizeof text), torus->ranks);
}

int trv_goal_simulate(const trv_goal_t *goal, const trv_torus_t *torus, const trv_simulate_options_t *options,
                      trv_simulation_t *result)
{
    run_t run = {.torus = torus, .no_forwarding = options->no_forwarding};
    memset(result, 0, sizeof *result);
    const trv_network_t network = {TRV_NETWORK, .torus = *torus, .slow_links = options->slow_links,
                                   .slow_link = options->slow_link};
    int rc = check_ranks(goal, torus);
    if (!rc)
        rc = trv_simulate_check(options, torus);
    if (!rc)
        rc = trv_rows_create(&run.rows, &network, INFINITY);
    if (!rc)
        rc = run_prepare(&run, goal, options);
    if (!rc)
        rc = run_start(&run, options);
    if (!rc) {
        result->time_fs = (uint64_t)run.end;
        result->time_ns = (double)run.end / 1e6;
        result->simulated_ranks = torus->ranks;
        rc = trv_packets_results(run.net, result);
    }
    trv_packets_destroy(run.net);
    trv_rows_destroy(run.rows);
    trv_goal_program_clear(&run.program);
    free(run.slowness);
    free(run.cpu_free_at);
    free(run.slot);
    free(run.slot_of);
    free(run.complete);
    free(run.ready);
    return rc;
}
