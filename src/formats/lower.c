/*
 * Lowers steps to operations on cells, stream by stream. In a step all ranks' sends read the registers before any
 * receive writes; then the receives write, then every rank combines.
 */
#include "formats/lower.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"
#include "schedule/collective.h"
#include "verify/vector_clock.h"
#include "verify/verifier.h"

#define RANKS_MAX  128
#define BOUND_MAX  (INT64_C(1) << 24) /* ranks * streams * registers * units of a slice */
#define LISTED_MAX (INT64_C(1) << 26) /* cells in all operations */

typedef struct lowering {
    const trv_schedule_t *schedule;
    trv_lowered_t *out;
    int ranks, registers, stream, step;
    int64_t units;
    int32_t *chunk;   /* of each unit of this stream */
    int32_t *home;    /* [rank][register][unit]: its home cell, or -1 if the register has none yet */
    int32_t *bound;   /* [rank][register][unit]: the cell that contains it; -1: its home */
    int32_t **access; /* [rank][cell]: time of the rank's last use, in the units of `known` */
    int64_t *access_capacity;
    int32_t *known; /* [a][b]: progress of b that a can infer: 2k: b has sent its messages of step k; 2k + 1: b has
                        finished step k; -1: b has started */
    int32_t *known_before; /* the same before this step's messages */
    trv_step_t *now;       /* of every rank */
    int64_t *unit;         /* the units of a part */
} lowering_t;

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static size_t register_index(const lowering_t *l, int rank, int reg, int64_t unit)
{
    return ((size_t)rank * (size_t)l->registers + (size_t)reg) * (size_t)l->units + (size_t)unit;
}

int64_t trv_low_scratch(trv_lowered_t *lowered, int rank, int64_t count)
{
    lowered->rank[rank].cells += count;
    return lowered->rank[rank].cells - count;
}

/* Returns the home of a register's unit. Units are in the order of the slice. */
static int32_t home_of(lowering_t *l, int rank, int reg, int64_t unit)
{
    int32_t *home = &l->home[register_index(l, rank, reg, 0)];
    if (home[unit] < 0) {
        int64_t first = trv_low_scratch(l->out, rank, l->units);
        for (int64_t u = 0; u < l->units; u++)
            home[u] = (int32_t)(first + trv_schedule_position(l->schedule, l->stream, u));
    }
    return home[unit];
}

static int32_t cell_of(lowering_t *l, int rank, int reg, int64_t unit)
{
    int32_t bound = l->bound[register_index(l, rank, reg, unit)];
    return bound >= 0 ? bound : home_of(l, rank, reg, unit);
}

/* Returns a pointer to the time of the rank's last use of a cell; NULL when out of memory. */
static int32_t *access_to(lowering_t *l, int rank, int32_t cell)
{
    if (cell >= l->access_capacity[rank]) {
        int64_t capacity = 2 * (int64_t)cell + 64;
        int32_t *grown = realloc(l->access[rank], (size_t)capacity * sizeof *grown);
        if (!grown) {
            trv_fail_memory();
            return NULL;
        }
        for (int64_t i = l->access_capacity[rank]; i < capacity; i++)
            grown[i] = -1;
        l->access[rank] = grown;
        l->access_capacity[rank] = capacity;
    }
    return &l->access[rank][cell];
}

static int record_use(lowering_t *l, int rank, const int32_t *cell, int64_t count, int32_t time)
{
    for (int64_t i = 0; i < count; i++) {
        int32_t *access = access_to(l, rank, cell[i]);
        if (!access)
            return TRV_ERR_MEMORY;
        *access = time;
    }
    return TRV_OK;
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

/* Appends an operation with `sources` sources and one destination, of `count` cells each, to a rank's program. */
static int append(lowering_t *l, int rank, trv_low_kind_t kind, int peer, int sources, int64_t count, trv_low_op_t **op)
{
    trv_lowered_t *out = l->out;
    trv_low_rank_t *program = &out->rank[rank];
    size_t more = (size_t)(sources + 1) * (size_t)count;
    if (out->cells + more > LISTED_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the schedule is too large for this format: its operations list more than "
                                             "2^26 chunks");
    if (trv_array_reserve(&program->op, &program->capacity, program->ops, 1, sizeof *program->op) ||
        trv_array_reserve(&out->cell, &out->capacity, (int64_t)out->cells, (int64_t)more, sizeof *out->cell))
        return TRV_ERR_MEMORY;
    *op = &program->op[program->ops++];
    **op = (trv_low_op_t){kind, l->stream, l->step, peer, sources, count, out->cells};
    out->cells += more;
    return TRV_OK;
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

typedef struct side { /* one side of a message */
    const trv_message_t *message;
    int rank;
} side_t;

/* Returns the register and unit of cell `index` of a part, whose units are in the order of chunks. */
static void locate(const lowering_t *l, const trv_part_t *part, int64_t index, int *reg, int64_t *unit)
{
    *reg = part->reg + (part->slots ? (int)l->unit[index / l->units] : 0);
    *unit = part->slots ? index % l->units : l->unit[index];
}

static int64_t part_cells(const lowering_t *l, const trv_part_t *part)
{
    return trv_blocks_count(&part->blocks) * (part->slots ? l->units : 1);
}

/* Lists a part's units (or registers) in l->unit; units in the order of the vector. */
static void list_part(const lowering_t *l, const trv_part_t *part)
{
    int64_t count = trv_blocks_count(&part->blocks);
    trv_blocks_list(&part->blocks, l->unit);
    for (int64_t i = 1; i < count && !part->slots; i++) /* insertion sort: the list is nearly sorted */
        for (int64_t j = i; j > 0 && l->chunk[l->unit[j]] < l->chunk[l->unit[j - 1]]; j--) {
            int64_t unit = l->unit[j];
            l->unit[j] = l->unit[j - 1];
            l->unit[j - 1] = unit;
        }
}

static void list_side_cells(lowering_t *l, const side_t *side, bool homes, int32_t *cell)
{
    for (int p = 0; p < side->message->parts; p++) {
        const trv_part_t *part = &side->message->part[p];
        int64_t count = part_cells(l, part), unit;
        int reg;
        list_part(l, part);
        for (int64_t i = 0; i < count; i++) {
            locate(l, part, i, &reg, &unit);
            *cell++ = homes ? home_of(l, side->rank, reg, unit) : cell_of(l, side->rank, reg, unit);
        }
    }
}

/* Binds the receiver's registers to the cells to which the message was written. */
static void bind_side(lowering_t *l, const side_t *side, const int32_t *cell)
{
    for (int p = 0; p < side->message->parts; p++) {
        const trv_part_t *part = &side->message->part[p];
        int64_t count = part_cells(l, part), unit;
        int reg;
        list_part(l, part);
        for (int64_t i = 0; i < count; i++) {
            locate(l, part, i, &reg, &unit);
            l->bound[register_index(l, side->rank, reg, unit)] = *cell++;
        }
    }
}

/* Whether the sender can infer that the receiver has finished using these cells. */
static int is_free(lowering_t *l, int sender, int receiver, const int32_t *cell, int64_t count)
{
    int32_t known = l->known_before[sender * l->ranks + receiver];
    for (int64_t i = 0; i < count; i++) {
        const int32_t *access = access_to(l, receiver, cell[i]);
        if (!access)
            return TRV_ERR_MEMORY;
        if (*access > known)
            return 0;
    }
    return 1;
}

static bool same_parts(const trv_message_t *send, const trv_message_t *receive)
{
    if (!receive || send->parts != receive->parts)
        return false;
    for (int p = 0; p < send->parts; p++)
        if (send->part[p].slots != receive->part[p].slots ||
            trv_blocks_count(&send->part[p].blocks) != trv_blocks_count(&receive->part[p].blocks))
            return false;
    return true;
}

/* Appends the sender's side of a message. */
static int add_send(lowering_t *l, int rank, int index)
{
    const trv_message_t *send = &l->now[rank].send[index];
    int64_t count = trv_message_units(l->schedule, send);
    trv_low_op_t *op;
    if (!same_parts(send, trv_other_side(l->now, l->ranks, rank, true, index)))
        return trv_fail(TRV_ERR_INVALID,
                        "in step %d of stream %d rank %d does not receive the message that rank %d sends to it; "
                        "verify the schedule first",
                        l->step, l->stream, send->peer, rank);
    int rc = append(l, rank, TRV_LOW_SEND, send->peer, 1, count, &op);
    if (rc)
        return rc;
    list_side_cells(l, &(side_t){send, rank}, false, trv_low_cells(l->out, op, 0));
    return record_use(l, rank, trv_low_cells(l->out, op, 0), count, 2 * l->step);
}

/* Appends the receiver's side of operation `number` of the rank, its index-th send of this step, and sets the cells
 * to which the message is written. */
static int add_receive(lowering_t *l, int rank, int index, int64_t number)
{
    int peer = l->now[rank].send[index].peer;
    side_t side = {trv_other_side(l->now, l->ranks, rank, true, index), peer};
    int64_t count = l->out->rank[rank].op[number].count;
    trv_low_op_t *op;
    /* NOLINTNEXTLINE(readability-suspicious-call-argument): from the peer's point of view */
    int rc = append(l, peer, TRV_LOW_RECEIVE, rank, 1, count, &op);
    if (rc)
        return rc;
    const trv_low_op_t *send = &l->out->rank[rank].op[number];
    int32_t *to = trv_low_cells(l->out, op, -1);
    list_side_cells(l, &side, true, to);
    const int homes_free = is_free(l, rank, peer, to, count);
    if (homes_free < 0)
        return homes_free;
    if (!homes_free) {
        int64_t first = trv_low_scratch(l->out, peer, count);
        for (int64_t i = 0; i < count; i++)
            to[i] = (int32_t)(first + i);
    }
    memcpy(trv_low_cells(l->out, op, 0), trv_low_cells(l->out, send, 0), (size_t)count * sizeof *to);
    memcpy(trv_low_cells(l->out, send, -1), to, (size_t)count * sizeof *to);
    bind_side(l, &side, to);
    return record_use(l, peer, to, count, 2 * l->step + 1);
}

/* Appends all messages of the step, and updates `known` by them. */
static int add_messages(lowering_t *l, int64_t *first)
{
    size_t pairs = (size_t)l->ranks * (size_t)l->ranks;
    int rc = TRV_OK;
    memcpy(l->known_before, l->known, pairs * sizeof *l->known);
    for (int rank = 0; rank < l->ranks && !rc; rank++) {
        first[rank] = l->out->rank[rank].ops;
        for (int i = 0; i < l->now[rank].sends && !rc; i++)
            rc = add_send(l, rank, i);
    }
    for (int rank = 0; rank < l->ranks && !rc; rank++)
        for (int i = 0; i < l->now[rank].sends && !rc; i++) {
            int32_t *known = &l->known[l->now[rank].send[i].peer * l->ranks];
            trv_clock_join(known, &l->known_before[rank * l->ranks], l->ranks);
            known[rank] = 2 * l->step;
            rc = add_receive(l, rank, i, first[rank] + i);
        }
    return rc;
}

/* ---- Combines ---------------------------------------------------------------------------------------------------- */

static int add_combine(lowering_t *l, int rank, const trv_combine_t *combine)
{
    trv_part_t part = {.reg = combine->dst, .blocks = combine->blocks};
    int64_t count = trv_blocks_count(&combine->blocks);
    if (count == 0)
        return TRV_OK;
    list_part(l, &part);
    trv_low_op_t *op;
    int rc = append(l, rank, TRV_LOW_REDUCE, -1, combine->sources, count, &op);
    if (rc)
        return rc;
    for (int s = 0; s < combine->sources; s++) {
        int reg = trv_combine_source(combine, s);
        for (int64_t i = 0; i < count; i++)
            trv_low_cells(l->out, op, s)[i] = cell_of(l, rank, reg, l->unit[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t home = home_of(l, rank, combine->dst, l->unit[i]);
        trv_low_cells(l->out, op, -1)[i] = home;
        l->bound[register_index(l, rank, combine->dst, l->unit[i])] = home;
    }
    return record_use(l, rank, trv_low_cells(l->out, op, -1), (combine->sources + 1) * count, 2 * l->step + 1);
}

/* Appends copies into the vector of those result units that are in other cells. */
static int add_result_copies(lowering_t *l, int rank)
{
    const bool own_only = trv_schedule_shape(l->schedule)->after != TRV_EVERY_RANK;
    int64_t count = 0;
    for (int64_t u = 0; u < l->units; u++) {
        int32_t bound = l->bound[register_index(l, rank, 0, u)];
        if (bound >= 0 && bound != l->chunk[u] && (!own_only || trv_schedule_owner(l->schedule, u) == rank))
            l->unit[count++] = u;
    }
    trv_low_op_t *op;
    int rc = count > 0 ? append(l, rank, TRV_LOW_REDUCE, -1, 1, count, &op) : TRV_OK;
    for (int64_t i = 0; i < count && !rc; i++) {
        trv_low_cells(l->out, op, -1)[i] = l->chunk[l->unit[i]];
        trv_low_cells(l->out, op, 0)[i] = l->bound[register_index(l, rank, 0, l->unit[i])];
    }
    return rc;
}

/* ---- A stream ---------------------------------------------------------------------------------------------------- */

/* Returns the chunk of a unit. For AllReduce, streams have contiguous slices; otherwise a stream has a part of every
 * block. */
static int32_t chunk_of(const lowering_t *l, int64_t unit)
{
    int64_t streams = l->out->streams, per_block = l->units / l->ranks;
    if (!trv_collective_has_owners(trv_schedule_collective(l->schedule)))
        return (int32_t)(l->stream * l->units + trv_schedule_position(l->schedule, l->stream, unit));
    return (int32_t)((unit / per_block * streams + l->stream) * per_block + unit % per_block);
}

static void begin_stream(lowering_t *l)
{
    size_t bound = (size_t)l->ranks * (size_t)l->registers * (size_t)l->units;
    memset(l->bound, 0xff, bound * sizeof *l->bound);
    memset(l->home, 0xff, bound * sizeof *l->home);
    memset(l->known, 0xff, (size_t)l->ranks * (size_t)l->ranks * sizeof *l->known);
    for (int64_t u = 0; u < l->units; u++) {
        l->chunk[u] = chunk_of(l, u);
        for (int rank = 0; rank < l->ranks; rank++)
            l->home[register_index(l, rank, 0, u)] = l->chunk[u];
    }
}

static int lower_stream(lowering_t *l)
{
    int rc = TRV_OK;
    int64_t first[RANKS_MAX];
    begin_stream(l);
    for (l->step = 0; l->step < l->out->steps && !rc; l->step++) {
        for (int rank = 0; rank < l->ranks && !rc; rank++)
            rc = trv_schedule_step(l->schedule, rank, l->stream, l->step, &l->now[rank]);
        if (!rc)
            rc = add_messages(l, first);
        for (int rank = 0; rank < l->ranks && !rc; rank++)
            for (int i = 0; i < l->now[rank].combines && !rc; i++)
                rc = add_combine(l, rank, &l->now[rank].combine[i]);
    }
    for (int rank = 0; rank < l->ranks && !rc; rank++)
        rc = add_result_copies(l, rank);
    return rc;
}

/* ---- The whole schedule ------------------------------------------------------------------------------------------ */

static int check(const trv_schedule_t *s)
{
    int ranks = trv_schedule_torus(s)->ranks, streams = trv_schedule_streams(s);
    int64_t units = trv_schedule_units(s);
    double bound = (double)ranks * streams * trv_schedule_registers(s) * (double)units;
    if (ranks > RANKS_MAX || bound > (double)BOUND_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "%s on %d ranks is too large for this format: at most %d ranks are written",
                        trv_schedule_name(s), ranks, RANKS_MAX);
    if (trv_schedule_weights(s, streams) != (int64_t)streams * trv_schedule_weight(s, 0))
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the streams of %s have unequal slices, and this format cuts the vector into equal chunks",
                        trv_schedule_name(s));
    if (trv_schedule_exactness(s) != TRV_EXACT)
        return trv_fail(TRV_ERR_UNSUPPORTED, "%s adds contributions more than once, which is wrong for sums",
                        trv_schedule_name(s));
    if (trv_schedule_collective(s) > TRV_ALLGATHER)
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "%s is %s; this format holds AllReduce, Reduce-Scatter and AllGather, and GOAL holds all collectives",
            trv_schedule_name(s), trv_schedule_shape(s)->title);
    if (trv_collective_has_owners(trv_schedule_collective(s)) && trv_schedule_owner(s, 0) < 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the units of %s have no owners", trv_schedule_name(s));
    return TRV_OK;
}

static int allocate(lowering_t *l)
{
    size_t ranks = (size_t)l->ranks, units = (size_t)l->units, registers = (size_t)l->registers;
    l->out->rank = calloc(ranks, sizeof *l->out->rank);
    l->now = calloc(ranks, sizeof *l->now);
    l->chunk = malloc(units * sizeof *l->chunk);
    l->home = malloc(ranks * registers * units * sizeof *l->home);
    l->bound = malloc(ranks * registers * units * sizeof *l->bound);
    l->access = calloc(ranks, sizeof *l->access);
    l->access_capacity = calloc(ranks, sizeof *l->access_capacity);
    l->known = malloc(ranks * ranks * sizeof *l->known);
    l->known_before = malloc(ranks * ranks * sizeof *l->known_before);
    l->unit = malloc((units > registers ? units : registers) * sizeof *l->unit);
    if (!l->out->rank || !l->now || !l->chunk || !l->home || !l->bound || !l->access || !l->access_capacity ||
        !l->known || !l->known_before || !l->unit)
        return trv_fail_memory();
    for (size_t r = 0; r < ranks; r++) {
        l->out->rank[r].cells = l->out->chunks;
        l->now[r] = (trv_step_t)TRV_STEP_INIT;
    }
    return TRV_OK;
}

static void release(lowering_t *l)
{
    for (int r = 0; r < l->ranks; r++) {
        if (l->now)
            trv_step_clear(&l->now[r]);
        if (l->access)
            free(l->access[r]);
    }
    free(l->now);
    free(l->chunk);
    free(l->home);
    free(l->bound);
    free(l->access);
    free(l->access_capacity);
    free(l->known);
    free(l->known_before);
    free(l->unit);
}

int64_t trv_lower_chunks(const trv_schedule_t *schedule)
{
    return trv_schedule_streams(schedule) * trv_schedule_units(schedule);
}

int trv_lower(const trv_schedule_t *schedule, trv_lowered_t *lowered)
{
    lowering_t l = {.schedule = schedule,
                    .out = lowered,
                    .ranks = trv_schedule_torus(schedule)->ranks,
                    .registers = trv_schedule_registers(schedule),
                    .units = trv_schedule_units(schedule)};
    trv_collective_t collective = trv_schedule_collective(schedule);
    *lowered = (trv_lowered_t){.ranks = l.ranks,
                               .streams = trv_schedule_streams(schedule),
                               .steps = trv_schedule_steps(schedule)};
    int rc = check(schedule);
    if (rc)
        return rc;
    lowered->chunks = trv_lower_chunks(schedule);
    lowered->input = lowered->chunks / (trv_collective_shape(collective)->before == TRV_EVERY_RANK ? 1 : l.ranks);
    lowered->output = lowered->chunks / (trv_collective_shape(collective)->after == TRV_EVERY_RANK ? 1 : l.ranks);
    rc = allocate(&l);
    for (l.stream = 0; l.stream < lowered->streams && !rc; l.stream++)
        rc = lower_stream(&l);
    release(&l);
    if (rc)
        trv_lowered_clear(lowered);
    return rc;
}

void trv_lowered_clear(trv_lowered_t *lowered)
{
    for (int r = 0; lowered->rank && r < lowered->ranks; r++)
        free(lowered->rank[r].op);
    free(lowered->rank);
    free(lowered->cell);
    *lowered = (trv_lowered_t){0};
}
