/*
 * Values: which contributions every register of every rank holds, and by which expression.
 *
 * Exhaustive: a bit per contributor, so a sum is a union, and a union of sets that meet marks the cell as doubled
 * (counts never fall again, so the mark stays right). Random: each (rank, unit) contributes a pseudo-random 64-bit
 * value, and sums are compared modulo 2^64. Expressions: every contribution has a hash, a combine hashes its sources
 * from left to right; the first two commute as they do in floating point. A joint combine of three is another
 * expression than two combines of two, because half-precision types round once per combine. A copy is transparent.
 */
#include <string.h>

#include "verify/verifier.h"

static uint64_t *cell_at(const trv_verifier_t *v, int rank, int reg)
{
    return v->cell + ((size_t)rank * (size_t)v->registers + (size_t)reg) * (size_t)v->count * (size_t)v->stride;
}

static uint64_t random_value(int stream, int rank, int64_t unit)
{
    return trv_mix(trv_mix((uint64_t)rank << 20 | (uint64_t)stream) + (uint64_t)unit);
}

static uint64_t own_expression(int rank)
{
    return (trv_mix((uint64_t)rank + 1) & ~(uint64_t)TRV_CELL_FLAGS) | TRV_CELL_FILLED;
}

/* Rank `rank`'s contribution to one unit of the batch, at the start. */
static void put_own(trv_verifier_t *v, int stream, int rank, int64_t unit, int bit)
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
    if (trv_schedule_collective(v->schedule) == TRV_ALLGATHER) {
        for (int64_t u = 0; u < v->count; u++)
            put_own(v, stream, trv_schedule_owner(v->schedule, v->first + u), u, 0);
        return;
    }
    for (int rank = 0; rank < v->ranks; rank++)
        for (int64_t u = 0; u < v->count; u++)
            put_own(v, stream, rank, u, rank);
}

/* ---- Messages -------------------------------------------------------------------------------------------------- */

static bool copy_cell(trv_verifier_t *v, int stream, int step, int rank, int reg, int64_t unit, uint64_t *to,
                      const uint64_t *from)
{
    char name[TRV_UNIT_NAME_MAX];
    if (from[v->words] == 0) {
        trv_verifier_fault(v, step, stream, rank, v->first + unit,
                           "step %d of stream %d: rank %d sends %s of register %d, into which nothing has been put",
                           step, stream, rank, trv_unit_name(v->schedule, v->first + unit, name), reg);
        return false;
    }
    for (int w = 0; w < v->stride; w++)
        to[w] = from[w];
    return true;
}

static bool transfer_part(trv_verifier_t *v, int stream, int step, int from, const trv_part_t *sent, int to,
                          const trv_part_t *received)
{
    bool ok = true;
    if (sent->slots) {
        size_t slots = trv_units_list(&sent->blocks, 0, v->registers, v->list);
        trv_units_list(&received->blocks, 0, v->registers, v->list_too);
        for (size_t i = 0; i < slots && ok; i++) {
            int reg = sent->reg + (int)v->list[i];
            const uint64_t *source = cell_at(v, from, reg);
            uint64_t *target = cell_at(v, to, received->reg + (int)v->list_too[i]);
            for (int64_t u = 0; u < v->count && ok; u++)
                ok = copy_cell(v, stream, step, from, reg, u, target + u * v->stride, source + u * v->stride);
        }
        return ok;
    }
    size_t units = trv_units_list(&sent->blocks, v->first, v->count, v->list);
    const uint64_t *source = cell_at(v, from, sent->reg);
    uint64_t *target = cell_at(v, to, received->reg);
    for (size_t i = 0; i < units && ok; i++) {
        size_t at = (size_t)v->list[i] * (size_t)v->stride;
        ok = copy_cell(v, stream, step, from, sent->reg, v->list[i], target + at, source + at);
    }
    return ok;
}

/* The send of `receive->peer` that belongs to the index-th receive of `rank`; the structure check has seen that it
 * exists. */
static const trv_message_t *sender_side(const trv_verifier_t *v, int rank, int index)
{
    const trv_step_t *mine = &v->step[rank];
    const trv_step_t *other = &v->step[mine->receive[index].peer];
    int earlier = 0;
    for (int i = 0; i < index; i++)
        earlier += mine->receive[i].peer == mine->receive[index].peer;
    for (int i = 0; i < other->sends; i++)
        if (other->send[i].peer == rank && earlier-- == 0)
            return &other->send[i];
    return NULL;
}

static bool transfer_all(trv_verifier_t *v, int stream, int step)
{
    for (int rank = 0; rank < v->ranks; rank++)
        for (int i = 0; i < v->step[rank].receives; i++) {
            const trv_message_t *receive = &v->step[rank].receive[i];
            const trv_message_t *send = sender_side(v, rank, i);
            for (int p = 0; p < receive->parts; p++)
                if (!transfer_part(v, stream, step, receive->peer, &send->part[p], rank, &receive->part[p]))
                    return false;
        }
    return true;
}

/* ---- Combines -------------------------------------------------------------------------------------------------- */

/* Adds one more source to `sum`, whose expression word the caller keeps. */
static uint64_t add_source(const trv_verifier_t *v, uint64_t *sum, const uint64_t *source)
{
    uint64_t doubled = 0;
    if (v->random) {
        sum[0] += source[0];
        return 0;
    }
    for (int w = 0; w < v->words; w++) {
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

static bool all_filled(trv_verifier_t *v, int stream, int step, int rank, const trv_combine_t *combine, int64_t unit,
                       const uint64_t *base, size_t reg_stride)
{
    char name[TRV_UNIT_NAME_MAX];
    for (int i = 0; i < combine->sources; i++) {
        int reg = trv_combine_source(combine, i);
        if (base[(size_t)reg * reg_stride + (size_t)v->words] == 0) {
            trv_verifier_fault(
                v, step, stream, rank, v->first + unit,
                "step %d of stream %d: rank %d combines %s of register %d, into which nothing has been put", step,
                stream, rank, trv_unit_name(v->schedule, v->first + unit, name), reg);
            return false;
        }
    }
    return true;
}

static bool combine_unit(trv_verifier_t *v, int stream, int step, int rank, const trv_combine_t *combine, int64_t unit,
                         uint64_t *base, size_t reg_stride)
{
    uint64_t *sum = v->sum; /* apart, because the destination may be one of the later sources */
    if (!all_filled(v, stream, step, rank, combine, unit, base, reg_stride))
        return false;
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
    return true;
}

static bool combine_all(trv_verifier_t *v, int stream, int step)
{
    size_t reg_stride = (size_t)v->count * (size_t)v->stride;
    for (int rank = 0; rank < v->ranks; rank++)
        for (int c = 0; c < v->step[rank].combines; c++) {
            const trv_combine_t *combine = &v->step[rank].combine[c];
            size_t units = trv_units_list(&combine->blocks, v->first, v->count, v->list);
            for (size_t i = 0; i < units; i++) {
                uint64_t *base = cell_at(v, rank, 0) + (size_t)v->list[i] * (size_t)v->stride;
                if (!combine_unit(v, stream, step, rank, combine, v->list[i], base, reg_stride))
                    return false;
            }
        }
    return true;
}

bool trv_values_step(trv_verifier_t *v, int stream, int step)
{
    return transfer_all(v, stream, step) && combine_all(v, stream, step);
}

/* ---- The end --------------------------------------------------------------------------------------------------- */

static bool is_right(const trv_verifier_t *v, const uint64_t *cell, uint64_t expected)
{
    if (cell[v->words] == 0)
        return false;
    if (v->random)
        return cell[0] == expected;
    if (cell[v->words] & TRV_CELL_DOUBLED && trv_schedule_exactness(v->schedule) == TRV_EXACT)
        return false;
    for (int w = 0; w < v->words; w++) {
        int bits = v->contributors - 64 * w;
        if (cell[w] != (bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1))
            return false;
    }
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

/* Explaining replays the stream twice per wrong result; some of them, of several ranks, find the earliest damage. */
#define EXPLAINED_MAX      16
#define EXPLAINED_PER_RANK 4

/* The results of one rank. *explained counts the wrong ones that were looked into. */
static int judge_rank(trv_verifier_t *v, int stream, int rank, int64_t first, int64_t end, int *explained)
{
    int rc = TRV_OK, of_rank = 0;
    const uint64_t *cell = cell_at(v, rank, 0) + first * v->stride;
    const uint64_t *of_rank_0 = cell_at(v, 0, 0) + first * v->stride;
    for (int64_t u = first; u < end && !rc; u++, cell += v->stride, of_rank_0 += v->stride) {
        if (!is_right(v, cell, v->expected[u])) {
            if (*explained == EXPLAINED_MAX || of_rank == EXPLAINED_PER_RANK)
                break;
            ++*explained;
            ++of_rank;
            rc = trv_verifier_explain(v, stream, rank, v->first + u);
        } else if (trv_schedule_collective(v->schedule) != TRV_REDUCE_SCATTER) {
            compare_expressions(v, stream, rank, u, cell, of_rank_0);
        }
    }
    return rc;
}

int trv_values_judge(trv_verifier_t *v, int stream)
{
    int explained = 0, rc = TRV_OK;
    if (trv_schedule_collective(v->schedule) == TRV_REDUCE_SCATTER) {
        for (int64_t u = 0; u < v->count && !rc; u++)
            rc = judge_rank(v, stream, trv_schedule_owner(v->schedule, v->first + u), u, u + 1, &explained);
        return rc;
    }
    for (int rank = 0; rank < v->ranks && !rc; rank++)
        rc = judge_rank(v, stream, rank, 0, v->count, &explained);
    return rc;
}
