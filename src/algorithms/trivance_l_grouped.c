/*
 * Trivance L, grouped: a latency-optimal AllReduce whose floating-point result is bitwise identical on every rank.
 *
 * The windows of Trivance L add in a different order on every rank. Here a = q_0 * q_1 * …, and the steps proceed from
 * large distances to small ones: first the q_0 ranks that are a / q_0 apart exchange their values, and each adds them
 * in the order of their coordinates. The ranks of such a *coset* then hold identical sums, so any one of them can
 * represent the coset: the ring is one of a / q_0 cosets, in which neighbours are adjacent ranks. With all q_k = 3:
 *
 *   ring of 9, step 0   … 6 <-3-> 0 <-3-> 3 <-3-> 6 …     0, 3 and 6 hold 0 + 3 + 6
 *              step 1   … 8 <-1-> 0 <-1-> 1 <-1-> 2 …     all add (036) + (147) + (258), in this order
 *
 * These are the messages of Trivance L in the opposite order: on 3^s ranks identical results have no cost. On other
 * sizes a factor larger than 3 is *gathered*: each rank collects its q partial sums in ceil(log3 q) steps (gather.h).
 * Of the factorisations that need ceil(log3 a) steps in all, the one with the lowest load on the links is used.
 * Sizes: any.   Registers: 1 + i holds the partial sum of the coset's member i.
 * On a torus stream i works on dimension (i + t) mod D in step t if every factor takes a single step; otherwise it
 * completes dimension i, then i + 1, …
 * Steps: sum of ceil(log3 a).   Exact: yes.   Consistent: yes.   Symmetry: translation (of the messages).
 */
#include <limits.h>
#include <stdlib.h>

#include "algorithms/builders/gather.h"
#include "algorithms/builders/stage.h"
#include "base/radix.h"
#include "algorithms/registry.h"
#include "algorithms/builders/visit.h"
#include "base/error.h"
#include "torus/torus.h"

#define SLOTS       1 /* the register of member 0 of a coset */
#define FACTORS_MAX 24

/* The factors of one ring, that of the largest distance first. */
typedef struct factors {
    int count, factor[FACTORS_MAX];
    long long load; /* vectors times hops on the busiest link, all levels together */
} factors_t;

typedef struct groups {
    trv_stage_t base;
    trv_stage_lattice_t lattice;
    int levels[TRV_DIMS_MAX];
    factors_t factors[TRV_DIMS_MAX];
    trv_visit_t visit;
} groups_t;

/* The data of one rank's step. */
typedef struct view {
    const trv_schedule_t *schedule;
    const trv_blocks_t *blocks;
    trv_step_t *out;
    int rank, stride; /* rank and strides of the lattice */
} view_t;

/* ---- Factorisation ----------------------------------------------------------------------------------------------- */

/* The load of the links when `q` partial sums that are `stride` apart are gathered. */
static long long gather_load(int q, int stride)
{
    long long load = 0;
    for (int k = 0; k < trv_log_ceil(3, q); k++) {
        trv_window_t w = trv_gather_window(q, k);
        load += (long long)w.from_right * w.from_right * stride;
    }
    return load;
}

/* Tries every sequence of factors that starts with those in `tried`, and keeps the best in `best`. */
static void factors_search(int rest, int steps, const factors_t *tried, factors_t *best)
{
    if (rest == 1 && tried->load < best->load)
        *best = *tried;
    for (int q = 2; q <= rest; q++) {
        if (rest % q != 0 || trv_log_ceil(3, q) + trv_log_ceil(3, rest / q) > steps)
            continue;
        factors_t longer = *tried;
        longer.factor[longer.count++] = q;
        longer.load += gather_load(q, rest / q);
        if (longer.load < best->load)
            factors_search(rest / q, steps - trv_log_ceil(3, q), &longer, best);
    }
}

static factors_t factorise(int size)
{
    factors_t none = {0}, best = {.load = LLONG_MAX};
    factors_search(size, trv_log_ceil(3, size), &none, &best);
    return best;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* A rank's role in one step: it is member `digit` of the `q` members whose partial sums are gathered, of which
 * neighbours are `stride` apart; `level` is the step of the gathering. */
typedef struct group {
    int q, stride, digit, level;
} group_t;

static group_t group_find(const factors_t *factors, int size, int coordinate, int step)
{
    group_t group = {.stride = size, .level = step};
    for (int f = 0;; f++) {
        group.q = factors->factor[f];
        group.stride /= group.q;
        if (group.level < trv_log_ceil(3, group.q))
            break;
        group.level -= trv_log_ceil(3, group.q);
    }
    group.digit = coordinate / group.stride % group.q;
    return group;
}

static int compare_parts(const void *a, const void *b)
{
    const int x = ((const trv_part_t *)a)->reg, y = ((const trv_part_t *)b)->reg;
    return (x > y) - (x < y);
}

/* Adds a message with the partial sums of some members, one part for each. The sender's own sum is in its register
 * 0. */
static int group_add_message(const view_t *view, const group_t *group, const trv_gather_message_t *message)
{
    const int delta = message->delta * group->stride * view->stride;
    const int peer = trv_torus_shift(&view->schedule->torus, view->rank, view->out->dimension, delta);
    const int port = trv_port(view->out->dimension, message->sign);
    trv_part_t *part = (message->send ? trv_step_send : trv_step_receive)(view->out, peer, port, message->count);
    if (!part)
        return TRV_ERR_MEMORY;
    for (int i = 0; i < message->count; i++) {
        const int member = ((message->first + i) % group->q + group->q) % group->q;
        part[i].reg = group->level == 0 && message->send ? 0 : SLOTS + member;
        part[i].blocks = *view->blocks;
    }
    qsort(part, (size_t)message->count, sizeof *part, compare_parts); /* the range may wrap around the ring */
    return TRV_OK;
}

/* Adds the combine after the last step of a gathering: register 0 := the members' partial sums in the order of their
 * digits. */
static int group_add_up(const view_t *view, const group_t *group)
{
    if (group->q > 3)
        return trv_step_combine(view->out, 0, group->q, NULL, SLOTS, view->blocks);
    int source[3];
    for (int i = 0; i < group->q; i++)
        source[i] = i == group->digit ? 0 : SLOTS + i;
    return trv_step_combine(view->out, 0, group->q, source, 0, view->blocks);
}

static int groups_step(const trv_stage_t *stage, const trv_schedule_t *schedule, int rank, int stream, int step,
                       const trv_blocks_t *blocks, trv_step_t *out)
{
    const groups_t *groups = (const groups_t *)stage;
    const trv_turn_t turn = trv_visit_turn(groups->visit, groups->lattice.active, groups->levels, stream, step);
    const view_t view = {schedule, blocks, out, rank, groups->lattice.stride[turn.index]};
    out->dimension = groups->lattice.dimension[turn.index];
    const int coordinate = trv_torus_coordinate(&schedule->torus, rank, out->dimension) / view.stride;
    const group_t group = group_find(&groups->factors[turn.index], groups->lattice.size[turn.index], coordinate,
                                     turn.level);
    int rc = trv_step_reserve(out, 2, 2, 2);
    trv_gather_message_t message[TRV_GATHER_MESSAGES_MAX];
    const int messages = trv_gather_messages(group.q, group.level, group.digit, message);
    for (int i = 0; i < messages && !rc; i++)
        rc = group_add_message(&view, &group, &message[i]);
    /* several steps follow: the rank's own partial sum is copied to its register */
    if (!rc && group.q > 3 && group.level == 0)
        rc = trv_step_combine(out, SLOTS + group.digit, 1, NULL, 0, blocks);
    if (!rc && group.level == trv_log_ceil(3, group.q) - 1)
        rc = group_add_up(&view, &group);
    return rc;
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static void groups_destroy(trv_stage_t *stage) { free(stage); }

trv_stage_t *trv_groups_stage(const trv_stage_lattice_t *lattice)
{
    groups_t *groups = calloc(1, sizeof *groups);
    if (!groups) {
        trv_fail_memory();
        return NULL;
    }
    groups->lattice = *lattice;
    groups->visit = TRV_INTERLEAVED;
    groups->base = (trv_stage_t){.step = groups_step, .destroy = groups_destroy};
    int slots = 3;
    for (int i = 0; i < lattice->active; i++) {
        factors_t *factors = &groups->factors[i];
        *factors = factorise(lattice->size[i]);
        for (int f = 0; f < factors->count; f++) {
            slots = factors->factor[f] > slots ? factors->factor[f] : slots;
            if (factors->factor[f] > 3)
                groups->visit = TRV_SEQUENTIAL;
        }
        groups->levels[i] = trv_log_ceil(3, lattice->size[i]);
        groups->base.steps += groups->levels[i];
    }
    groups->base.registers = SLOTS + slots;
    return &groups->base;
}

static int grouped_create(trv_schedule_t *schedule)
{
    const trv_stage_lattice_t lattice = trv_stage_lattice_whole(&schedule->torus);
    return trv_stage_create(schedule, trv_groups_stage(&lattice));
}

const trv_algorithm_t trv_trivance_l_grouped = {
    .name = "trivance-l-grouped",
    .family = "trivance-l-grouped",
    .title = "Trivance L, grouped: the same bits on every rank",
    .use = "short vectors, floating point: the same bits on every rank",
    .source = "after Juerss, Addanki, Schmid: Trivance; k-ary butterflies",
    .sizes = "any torus or mesh",
    .steps_formula = "sum of ceil(log3 a)",
    .bytes_formula = "2m per step on 3^s; more where gathered",
    .latency_optimal = true,
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = grouped_create,
};
