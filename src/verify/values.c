/*
 * Values: the contributions in every register of every rank, and the expression by which they were combined.
 *
 * Exhaustive: there is a bit per contributor, so a sum is a union of sets. A union of sets that are not disjoint marks
 * the cell as doubled (counts never decrease, so the mark remains valid). Random: each (rank, unit) contributes a
 * pseudo-random 64-bit value, and sums are compared modulo 2^64. Expressions: every contribution has a hash, and a
 * combine hashes its sources from left to right; the first two commute as they do in floating point. A joint combine of
 * three is another expression than two combines of two, because half-precision types round once per combine. Copies do
 * not change an expression.
 */
#include <string.h>

#include "schedule/collective.h"
#include "verify/verifier.h"

static uint64_t *cell_at(const trv_verifier_t *v, int rank, int reg) { return trv_values_at(v, rank, reg * v->count); }

static uint64_t random_value(int stream, int rank, int64_t unit)
{
    return trv_mix(trv_mix((uint64_t)rank << 20 | (uint64_t)stream) + (uint64_t)unit);
}

static uint64_t own_expression(int rank)
{
    return (trv_mix((uint64_t)rank + 1) & ~(uint64_t)TRV_CELL_FLAGS) | TRV_CELL_FILLED;
}

/* Puts the contribution of rank `rank` to one unit of the batch into its register, before the first step. */
static void set_own(trv_verifier_t *v, int stream, int rank, int64_t unit, int bit)
{
    uint64_t *cell = cell_at(v, rank, 0) + unit * v->stride;
    if (v->random) {
        cell[0] = random_value(stream, rank, v->first + unit);
        v->expected[unit] += cell[0];
    } else {
        cell[bit / 64] = (uint64_t)1 << bit % 64;
    }
    cell[v->words] = own_expression(rank);
}

void trv_values_start(trv_verifier_t *v, int stream)
{
    size_t cells = (size_t)v->ranks * (size_t)v->registers * (size_t)v->count;
    memset(v->cell, 0, cells * (size_t)v->stride * sizeof *v->cell);
    memset(v->expected, 0, (size_t)v->count * sizeof *v->expected);
    if (trv_schedule_shape(v->schedule)->before != TRV_EVERY_RANK) {
        for (int64_t u = 0; u < v->count; u++) {
            const int source = trv_schedule_source(v->schedule, 0, v->first + u);
            if (source >= 0)
                set_own(v, stream, source, u, 0);
        }
        return;
    }
    for (int rank = 0; rank < v->ranks; rank++)
        for (int64_t u = 0; u < v->count; u++)
            set_own(v, stream, rank, u, rank);
}

/* ---- Messages -------------------------------------------------------------------------------------------------- */

/* The context of the follower: the position in the schedule. */
typedef struct location {
    trv_verifier_t *v;
    int stream, step;
} location_t;

/* Reports an empty cell and returns false, unless empty cells are tolerated. */
static bool values_empty(const location_t *at, int rank, const char *verb, int64_t unit, int reg)
{
    char name[TRV_UNIT_NAME_MAX];
    if (at->v->tolerant)
        return true;
    trv_verifier_fault(at->v, at->step, at->stream, rank, unit,
                       "step %d of stream %d: rank %d %s %s of register %d, which is empty", at->step, at->stream, rank,
                       verb, trv_unit_name(at->v->schedule, unit, name), reg);
    return false;
}

static bool values_copy(void *context, int from, const uint32_t *source, int to, const uint32_t *target, int64_t shift,
                        size_t cells)
{
    const location_t *at = context;
    const trv_verifier_t *v = at->v;
    const uint64_t *sent = cell_at(v, from, 0);
    uint64_t *received = cell_at(v, to, 0);
    for (size_t i = 0; i < cells; i++) {
        const uint64_t *from_cell = sent + (size_t)source[i] * (size_t)v->stride;
        uint64_t *to_cell = received + ((int64_t)target[i] + shift) * v->stride;
        if (from_cell[v->words] == 0 &&
            !values_empty(at, from, "sends", v->first + source[i] % v->count, (int)(source[i] / v->count)))
            return false;
        for (int w = 0; w < v->stride; w++)
            to_cell[w] = from_cell[w];
    }
    return true;
}

/* ---- Combines -------------------------------------------------------------------------------------------------- */

/* Adds one more source to `sum` and returns the new expression, which the caller stores. */
static uint64_t add_source(const trv_verifier_t *v, uint64_t *sum, const uint64_t *source)
{
    uint64_t doubled = 0;
    if (v->random) {
        sum[0] += source[0];
        return 0;
    }
    for (int w = 0; w < v->sets; w++) {
        if (v->words > v->sets)
            sum[v->sets + w] |= source[v->sets + w] | (sum[w] & source[w]);
        doubled |= sum[w] & source[w];
        sum[w] |= source[w];
    }
    return doubled != 0;
}

static uint64_t expression_of(const trv_verifier_t *v, const trv_combine_t *combine, const uint64_t *base,
                              size_t reg_stride)
{
    uint64_t hash = 0;
    for (int i = 0; i < combine->sources; i++) {
        uint64_t e = base[(size_t)trv_combine_source(combine, i) * reg_stride + (size_t)v->words];
        e &= ~(uint64_t)TRV_CELL_DOUBLED;
        hash = i < 2 ? hash + e : 3 * trv_mix(hash) + e;
    }
    return (trv_mix(hash ^ (uint64_t)combine->sources) & ~(uint64_t)TRV_CELL_FLAGS) | TRV_CELL_FILLED;
}

static bool combine_is_filled(const location_t *at, int rank, const trv_combine_t *combine, int64_t unit,
                              const uint64_t *base, size_t reg_stride)
{
    for (int i = 0; i < combine->sources; i++) {
        int reg = trv_combine_source(combine, i);
        if (base[(size_t)reg * reg_stride + (size_t)at->v->words] == 0 &&
            !values_empty(at, rank, "combines", at->v->first + unit, reg))
            return false;
    }
    return true;
}

static void combine_unit(trv_verifier_t *v, const trv_combine_t *combine, uint64_t *base, size_t reg_stride)
{
    uint64_t *sum = v->sum; /* a separate buffer, because the destination may be one of the later sources */
    const uint64_t *source = base + (size_t)trv_combine_source(combine, 0) * reg_stride;
    uint64_t expression = combine->sources > 1 ? expression_of(v, combine, base, reg_stride) : source[v->words];
    uint64_t doubled = source[v->words] & TRV_CELL_DOUBLED;
    memcpy(sum, source, (size_t)v->words * sizeof *sum);
    for (int i = 1; i < combine->sources; i++) {
        source = base + (size_t)trv_combine_source(combine, i) * reg_stride;
        doubled |= add_source(v, sum, source) | (source[v->words] & TRV_CELL_DOUBLED);
    }
    uint64_t *dst = base + (size_t)combine->dst * reg_stride;
    memcpy(dst, sum, (size_t)v->words * sizeof *sum);
    dst[v->words] = expression | doubled;
}

static bool values_combine(void *context, int rank, const trv_combine_t *combine, const uint32_t *unit, size_t units)
{
    const location_t *at = context;
    trv_verifier_t *v = at->v;
    const size_t reg_stride = (size_t)v->count * (size_t)v->stride;
    for (size_t i = 0; i < units; i++) {
        uint64_t *base = cell_at(v, rank, 0) + (size_t)unit[i] * (size_t)v->stride;
        if (!combine_is_filled(at, rank, combine, unit[i], base, reg_stride))
            return false;
        combine_unit(v, combine, base, reg_stride);
    }
    return true;
}

bool trv_values_step(trv_verifier_t *v, int stream, int step)
{
    location_t at = {v, stream, step};
    return trv_verifier_apply(v, &(trv_follower_t){&at, values_copy, values_combine});
}

/* ---- The end --------------------------------------------------------------------------------------------------- */

/* Word w of the set of ranks whose contributions are due; `source` is the only one, or -1: all. */
static uint64_t due_word(const trv_verifier_t *v, int source, int w)
{
    const int bits = v->contributors - 64 * w;
    if (source >= 0 && v->contributors > 1)
        return source / 64 == w ? (uint64_t)1 << source % 64 : 0;
    return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
}

static bool is_correct(const trv_verifier_t *v, int stream, int rank, int64_t unit, const uint64_t *cell)
{
    const bool exchanges = trv_schedule_shape(v->schedule)->exchanges;
    const int source = exchanges ? trv_schedule_source(v->schedule, rank, v->first + unit) : -1;
    if (cell[v->words] == 0)
        return false;
    if (v->random)
        return cell[0] == (exchanges ? random_value(stream, source, v->first + unit) : v->expected[unit]);
    if (cell[v->words] & TRV_CELL_DOUBLED && trv_schedule_exactness(v->schedule) == TRV_EXACT)
        return false;
    for (int w = 0; w < v->sets; w++)
        if (cell[w] != due_word(v, source, w))
            return false;
    return true;
}

static void compare_expressions(trv_verifier_t *v, int stream, int rank, int64_t unit, const uint64_t *cell,
                                const uint64_t *of_rank_0)
{
    if (cell[v->words] == of_rank_0[v->words])
        return;
    if (v->consistent || rank < v->differing_rank) {
        v->differing_rank = rank;
        v->differing_stream = stream;
        v->differing_unit = v->first + unit;
    }
    v->consistent = false;
}

/* Limits of the explained wrong results, because each explanation replays the stream twice. Some of them, of several
 * ranks, suffice to find the earliest damage. */
#define EXPLAINED_MAX      16
#define EXPLAINED_PER_RANK 4

/* Checks the results of one rank. *explained counts the wrong results that were explained. */
static int check_rank(trv_verifier_t *v, int stream, int rank, int64_t first, int64_t end, int *explained)
{
    int rc = TRV_OK, of_rank = 0;
    const trv_collective_shape_t *shape = trv_schedule_shape(v->schedule);
    const bool has_copies = shape->after == TRV_EVERY_RANK && !shape->exchanges; /* other ranks have the same result */
    const uint64_t *cell = cell_at(v, rank, 0) + first * v->stride;
    const uint64_t *of_rank_0 = cell_at(v, 0, 0) + first * v->stride;
    for (int64_t u = first; u < end && !rc; u++, cell += v->stride, of_rank_0 += v->stride) {
        if (!is_correct(v, stream, rank, u, cell)) {
            if (*explained == EXPLAINED_MAX || of_rank == EXPLAINED_PER_RANK)
                break;
            ++*explained;
            ++of_rank;
            rc = trv_verifier_explain(v, stream, rank, v->first + u);
        } else if (has_copies) {
            compare_expressions(v, stream, rank, u, cell, of_rank_0);
        }
    }
    return rc;
}

int trv_values_check(trv_verifier_t *v, int stream)
{
    int explained = 0, rc = TRV_OK;
    const trv_holders_t after = trv_schedule_shape(v->schedule)->after;
    if (after == TRV_ROOT)
        return check_rank(v, stream, trv_schedule_root(v->schedule), 0, v->count, &explained);
    if (after == TRV_OWNER) {
        for (int64_t u = 0; u < v->count && !rc; u++)
            rc = check_rank(v, stream, trv_schedule_owner(v->schedule, v->first + u), u, u + 1, &explained);
        return rc;
    }
    for (int rank = 0; rank < v->ranks && !rc; rank++)
        rc = check_rank(v, stream, rank, 0, v->count, &explained);
    return rc;
}
