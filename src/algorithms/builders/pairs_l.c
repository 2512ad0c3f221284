/*
 * Pairwise exchanges of whole slices of the vector: one message of a stream per step; both partners add and continue
 * with the same sum. Stream i starts in dimension i; of more than D streams, stream D + i is the same with every
 * coordinate negated. A folded coordinate (pairs.h) of a dimension is idle from its fold to its unfold, in the steps of
 * other dimensions too.
 */
#include <stdlib.h>

#include "algorithms/builders/pairs.h"
#include "algorithms/builders/visit.h"
#include "base/error.h"
#include "torus/torus.h"

typedef struct tables {
    int active, dimension[TRV_DIMS_MAX], levels[TRV_DIMS_MAX];
    trv_pairs_t pairs[TRV_DIMS_MAX];
} tables_t;

/* A rank's coordinate along a dimension, negated in a mirrored stream; and the converse, because it is the same. */
static int negate(int coordinate, int size, bool mirrored)
{
    return mirrored && coordinate > 0 ? size - coordinate : coordinate;
}

static bool is_idle(const tables_t *tables, const trv_torus_t *torus, int rank, bool mirrored, const trv_turn_t *turn)
{
    for (int i = 0; i < tables->active; i++) {
        int coordinate = negate(trv_torus_coordinate(torus, rank, tables->dimension[i]), tables->pairs[i].size,
                                mirrored);
        if (i != turn->index && trv_pairs_index(&tables->pairs[i], coordinate) < 0 && turn->done[i] > 0 &&
            turn->done[i] < tables->levels[i])
            return true;
    }
    return false;
}

/* Adds one side of this step's message: the whole slice, to or from `other`, a coordinate of the step's dimension. */
static int pairs_add_message(const trv_schedule_t *schedule, trv_step_t *out, int rank, bool mirrored, bool send,
                             int own, int other, const trv_pairs_t *pairs, int reg)
{
    int peer = trv_torus_move(&schedule->torus, rank, out->dimension, negate(other, pairs->size, mirrored));
    int sign = send ? trv_pairs_sign(pairs, own, other) : trv_pairs_sign(pairs, other, own);
    trv_part_t *part = (send ? trv_step_send : trv_step_receive)(out, peer,
                                                                 trv_port(out->dimension, mirrored ? -sign : sign), 1);
    if (!part)
        return TRV_ERR_MEMORY;
    part->reg = reg;
    trv_blocks_all(schedule, &part->blocks);
    return TRV_OK;
}

static int pairs_l_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    trv_turn_t turn = trv_visit_turn(TRV_INTERLEAVED, tables->active, tables->levels, stream, step);
    const trv_pairs_t *pairs = &tables->pairs[turn.index];
    out->dimension = tables->dimension[turn.index];
    const bool mirrored = trv_stream_is_mirrored(schedule, stream);
    int own = negate(trv_torus_coordinate(&schedule->torus, rank, out->dimension), pairs->size, mirrored);
    int index = trv_pairs_index(pairs, own);
    bool fold = pairs->extra > 0 && turn.level == 0;
    bool unfold = pairs->extra > 0 && turn.level == tables->levels[turn.index] - 1;
    bool exchange = !fold && !unfold;
    if (is_idle(tables, &schedule->torus, rank, mirrored, &turn))
        return TRV_OK;
    if (exchange ? index < 0 : own >= 2 * pairs->extra)
        return TRV_OK;
    int level = turn.level - (pairs->extra > 0);
    int other = exchange ? trv_pairs_coordinate(pairs, pairs->partner(index, level, 1 << pairs->levels)) : own ^ 1;
    bool even = own % 2 == 0;
    int rc = trv_step_reserve(out, 1, 1, 1);
    if (!rc && (exchange || even == fold))
        rc = pairs_add_message(schedule, out, rank, mirrored, true, own, other, pairs, 0);
    if (!rc && (exchange || even == unfold))
        rc = pairs_add_message(schedule, out, rank, mirrored, false, own, other, pairs, unfold ? 0 : 1);
    if (!rc && out->receives > 0 && !unfold) {
        trv_blocks_t all;
        trv_blocks_all(schedule, &all);
        rc = trv_step_combine(out, 0, 2, (int[]){0, 1}, 0, &all);
    }
    return rc;
}

int trv_pairs_l_create(trv_schedule_t *schedule, int (*partner)(int index, int level, int core), int ports)
{
    tables_t *tables = calloc(1, sizeof *tables);
    if (!tables)
        return trv_fail_memory();
    schedule->tables = tables;
    schedule->destroy = free;
    schedule->step = pairs_l_step;
    schedule->registers = 2;
    tables->active = trv_torus_active(&schedule->torus, tables->dimension);
    for (int i = 0; i < tables->active; i++) {
        tables->pairs[i] = trv_pairs(schedule->torus.size[tables->dimension[i]], partner);
        tables->pairs[i].ties_alternate = ports > 0;
        tables->levels[i] = tables->pairs[i].levels + (tables->pairs[i].extra > 0 ? 2 : 0);
        schedule->steps += tables->levels[i];
    }
    if (ports > 0) {
        schedule->streams = ports;
        schedule->mirrored_from = ports < tables->active ? ports : tables->active;
    }
    if (!trv_pairs_are_unfolded(&schedule->torus))
        schedule->symmetry = TRV_SYMMETRY_NONE;
    return TRV_OK;
}
