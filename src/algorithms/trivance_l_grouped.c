/*
 * Trivance L, grouped: a latency-optimal AllReduce whose floating-point result is the same on every rank.
 *
 * The windows of Trivance L add in a different order on every rank. Here the ranks of a ring exchange inside groups
 * instead: a = q_0 * q_1 * … , in level k the q_k ranks that differ in digit k alone give each other their partial
 * sums, and each adds them in the order of the digit. All q_k = 3:
 *
 *   ring of 9, level 0   groups {0 1 2} {3 4 5} {6 7 8}     0 -> 1, 0 => 2 (two hops); 1 -> 0, 1 -> 2; …
 *              level 1   groups {0 3 6} {1 4 7} {2 5 8}     0 -> 3, 0 -> 6 the other way round: the group closes the
 * ring
 *
 * The end members of a group send two messages by one port, so a level of stride g costs congestion 2g, the last one g.
 * Sizes: any. a = (threes and at most two twos, smallest stride first) * p; the last factor p is *gathered*: each rank
 * collects the p partial sums in ceil(log3 p) steps (gather.h) and adds them in digit order. Among the factorisations
 * that need ceil(log3 a) steps in all, the one with the least load on the links is taken.
 * Registers: 1 + i holds the partial sum of the group's member i.
 * On a torus stream i works on dimension (i + t) mod D in step t if every factor takes a single step; else it finishes
 * dimension i, then i + 1, …
 * Steps: sum of ceil(log3 a).   Exact: yes.   Consistent: yes.   Symmetry: translation by a / p in each dimension.
 */
#include <limits.h>
#include <stdlib.h>

#include "algorithms/gather.h"
#include "algorithms/stage.h"
#include "common/radix.h"
#include "algorithms/table.h"
#include "algorithms/visit.h"
#include "common/error.h"
#include "torus/torus.h"

#define SLOTS 1 /* the register of a group's member 0 */
#define FACTORS_MAX 24

/* One ring's factors; the last one is gathered around the ring, the others are groups of 2 or 3 on a line. */
typedef struct factors {
    int count, factor[FACTORS_MAX];
    long long load; /* vectors times hops on the busiest link, all levels together */
} factors_t;

typedef struct groups {
    trv_stage_t base;
    trv_lattice_t lattice;
    int levels[TRV_DIMS_MAX];
    factors_t factors[TRV_DIMS_MAX];
    trv_visit_t visit;
} groups_t;

/* What one rank's step is made of. */
typedef struct view {
    const trv_schedule_t *schedule;
    const trv_blocks_t *blocks;
    trv_step_t *out;
    int rank, stride; /* of the lattice */
} view_t;

/* ---- Factorisation ----------------------------------------------------------------------------------------------- */

static long long gather_load(int p, int stride)
{
    long long load = 0;
    for (int k = 0; k < trv_log_ceil(3, p); k++) {
        trv_window_t w = trv_gather_window(p, k);
        load += (long long)w.from_right * w.from_right * stride;
    }
    return load;
}

/* Tries every sequence of groups that starts with those in `tried`; keeps the best in `best`. */
static void search(int rest, int stride, int steps, int twos, factors_t *tried, factors_t *best)
{
    if (trv_log_ceil(3, rest) == steps) {
        factors_t whole = *tried;
        whole.factor[whole.count++] = rest;
        whole.load += gather_load(rest, stride);
        if (whole.load < best->load)
            *best = whole;
    }
    for (int q = 3; q >= 2; q--) {
        if (rest % q != 0 || rest == q || steps < 2 || (q == 2 && twos == 2))
            continue;
        factors_t longer = *tried;
        longer.factor[longer.count++] = q;
        longer.load += q == 3 ? 2LL * stride : stride;
        search(rest / q, stride * q, steps - 1, twos + (q == 2), &longer, best);
    }
}

static factors_t factorise(int size)
{
    factors_t none = {0}, best = {.load = LLONG_MAX};
    search(size, 1, trv_log_ceil(3, size), 0, &none, &best);
    return best;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* A rank's place in its group in one level: digit `digit` of `p`, members `stride` apart; `level` of the gathering. */
typedef struct group {
    int p, stride, digit, level;
    bool last; /* the factor that closes around the ring */
} group_t;

static group_t find_group(const factors_t *factors, int coordinate, int level)
{
    group_t group = {.stride = 1};
    int f = 0;
    for (; f < factors->count - 1 && level > 0; f++, level--)
        group.stride *= factors->factor[f];
    group.p = factors->factor[f];
    group.last = f == factors->count - 1;
    group.level = level;
    group.digit = coordinate / group.stride % group.p;
    return group;
}

static int compare_parts(const void *a, const void *b)
{
    const int x = ((const trv_part_t *)a)->reg, y = ((const trv_part_t *)b)->reg;
    return (x > y) - (x < y);
}

/* Adds a message with the partial sums of some members of the group, a part for each. A single one, the sender's own,
 * comes from its register 0. */
static int add_message(const view_t *view, const group_t *group, const trv_gather_message_t *message)
{
    const int delta = message->delta * group->stride * view->stride;
    const int peer = trv_torus_shift(&view->schedule->torus, view->rank, view->out->dimension, delta);
    const int port = trv_port(view->out->dimension, message->sign);
    trv_part_t *part = (message->send ? trv_step_send : trv_step_receive)(view->out, peer, port, message->count);
    if (!part)
        return TRV_ERR_MEMORY;
    for (int i = 0; i < message->count; i++) {
        const int member = ((message->first + i) % group->p + group->p) % group->p;
        part[i].reg = group->level == 0 && message->send ? 0 : SLOTS + member;
        part[i].blocks = *view->blocks;
    }
    qsort(part, (size_t)message->count, sizeof *part, compare_parts); /* the run may go around the ring */
    return TRV_OK;
}

/* A group of 2 or 3 on a line: everybody sends its partial sum to everybody else. */
static int line_messages(const group_t *group, trv_gather_message_t *message)
{
    int messages = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int other = 0; other < group->p; other++) {
            int delta = other - group->digit;
            bool send = pass == 0;
            if (delta != 0)
                message[messages++] = (trv_gather_message_t){send, delta, (delta > 0) == send ? 1 : -1,
                                                             send ? group->digit : other, 1};
        }
    return messages;
}

/* After the group's last step: register 0 := the members' partial sums in digit order. */
static int add_up(const view_t *view, const group_t *group)
{
    if (group->p > 3)
        return trv_step_combine(view->out, 0, group->p, NULL, SLOTS, view->blocks);
    int source[3];
    for (int i = 0; i < group->p; i++)
        source[i] = i == group->digit ? 0 : SLOTS + i;
    return trv_step_combine(view->out, 0, group->p, source, 0, view->blocks);
}

static int groups_step(const trv_stage_t *stage, const trv_schedule_t *schedule, int rank, int stream, int step,
                       const trv_blocks_t *blocks, trv_step_t *out)
{
    const groups_t *groups = (const groups_t *)stage;
    const trv_turn_t place = trv_visit_turn(groups->visit, groups->lattice.active, groups->levels, stream, step);
    const view_t view = {schedule, blocks, out, rank, groups->lattice.stride[place.turn]};
    out->dimension = groups->lattice.dimension[place.turn];
    const int coordinate = trv_torus_coordinate(&schedule->torus, rank, out->dimension) / view.stride;
    const group_t group = find_group(&groups->factors[place.turn], coordinate, place.level);
    int rc = trv_step_reserve(out, 2, 2, 2);
    trv_gather_message_t message[TRV_GATHER_MESSAGES_MAX];
    int messages = group.last ? trv_gather_messages(group.p, group.level, group.digit, message)
                              : line_messages(&group, message);
    for (int i = 0; i < messages && !rc; i++)
        rc = add_message(&view, &group, &message[i]);
    if (!rc && group.p > 3 && group.level == 0) /* several steps follow: the own partial sum goes to its slot */
        rc = trv_step_combine(out, SLOTS + group.digit, 1, NULL, 0, blocks);
    if (!rc && group.level == trv_log_ceil(3, group.p) - 1)
        rc = add_up(&view, &group);
    return rc;
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static void destroy(trv_stage_t *stage)
{
    free(stage);
}

trv_stage_t *trv_groups_stage(const trv_lattice_t *lattice)
{
    groups_t *groups = calloc(1, sizeof *groups);
    if (!groups) {
        trv_fail_memory();
        return NULL;
    }
    groups->lattice = *lattice;
    groups->visit = TRV_INTERLEAVED;
    groups->base = (trv_stage_t){.messages_per_port = 2, .step = groups_step, .destroy = destroy};
    int slots = 3;
    for (int i = 0; i < lattice->active; i++) {
        factors_t *factors = &groups->factors[i];
        *factors = factorise(lattice->size[i]);
        int p = factors->factor[factors->count - 1];
        slots = p > slots ? p : slots;
        if (p > 3)
            groups->visit = TRV_SEQUENTIAL;
        groups->levels[i] = trv_log_ceil(3, lattice->size[i]);
        groups->base.period[i] = p == lattice->size[i] ? 1 : lattice->stride[i] * (lattice->size[i] / p);
        groups->base.steps += groups->levels[i];
    }
    groups->base.registers = SLOTS + slots;
    return &groups->base;
}

static int create(trv_schedule_t *schedule)
{
    const trv_lattice_t lattice = trv_lattice_whole(&schedule->torus);
    return trv_stage_create(schedule, trv_groups_stage(&lattice));
}

const trv_algorithm_t trv_trivance_l_grouped = {
    .name = "trivance-l-grouped", .family = "trivance-l-grouped",
    .title = "Trivance L, grouped: the same bits on every rank",
    .source = "after Juerss, Addanki, Schmid: Trivance; k-ary butterflies",
    .sizes = "any torus", .steps_formula = "sum of ceil(log3 a)",
    .bytes_formula = "2m per step on 3^s; more where gathered", .latency_optimal = true,
    .symmetry = TRV_SYMMETRY_NONE, .exactness = TRV_EXACT, .consistent = true, .create = create,
};
