/*
 * Who holds what after each step: runs one stream with sets of contributors instead of numbers.
 *
 * Only what a rank will still use is shown: a backward pass finds which units of which registers are live. In a
 * reduce-scatter a block that was handed on is thus gone from the row of the rank that handed it on.
 */
#include "draw/holdings.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define BYTES_MAX ((size_t)1 << 28)

typedef struct tracer {
    const trv_schedule_t *schedule;
    int stream, ranks, registers, steps;
    int64_t units;
    size_t words, cells;      /* words of a set of ranks; cells: ranks * registers * units */
    uint64_t *now, *next;     /* the set of every cell */
    unsigned char *live;      /* (steps + 1) * cells: used after so many steps */
    trv_step_t *step;         /* of every rank */
    int64_t *unit_a, *unit_b; /* lists of units, or of registers */
} tracer_t;

static size_t cell(const tracer_t *tracer, int rank, int64_t reg, int64_t unit)
{
    return ((size_t)rank * (size_t)tracer->registers + (size_t)reg) * (size_t)tracer->units + (size_t)unit;
}

/* Writes the (register, unit) pairs of a part as register * units + unit; returns their number. */
static int64_t list_part(const tracer_t *tracer, const trv_part_t *part, int64_t *list)
{
    int64_t count = trv_blocks_count(&part->blocks), units = tracer->units;
    trv_blocks_list(&part->blocks, list);
    if (!part->slots) {
        for (int64_t i = 0; i < count; i++)
            list[i] += part->reg * units;
        return count;
    }
    for (int64_t i = count - 1; i >= 0; i--) { /* backwards: the list grows in place */
        int64_t reg = part->reg + list[i];
        for (int64_t u = units - 1; u >= 0; u--)
            list[i * units + u] = reg * units + u;
    }
    return count * units;
}

static int load_step(tracer_t *tracer, int step)
{
    int rc = TRV_OK;
    for (int rank = 0; rank < tracer->ranks && !rc; rank++)
        rc = trv_schedule_step(tracer->schedule, rank, tracer->stream, step, &tracer->step[rank]);
    return rc;
}

static void receive(tracer_t *tracer, int rank, const trv_message_t *to, const trv_message_t *from)
{
    size_t bytes = tracer->words * sizeof *tracer->now;
    size_t row = (size_t)tracer->registers * (size_t)tracer->units;
    for (int p = 0; p < to->parts && p < from->parts; p++) {
        int64_t count = list_part(tracer, &to->part[p], tracer->unit_a);
        if (list_part(tracer, &from->part[p], tracer->unit_b) != count)
            continue;
        for (int64_t i = 0; i < count; i++)
            memcpy(tracer->next + ((size_t)rank * row + (size_t)tracer->unit_a[i]) * tracer->words,
                   tracer->now + ((size_t)to->peer * row + (size_t)tracer->unit_b[i]) * tracer->words, bytes);
    }
}

/* The message that matches the i-th receive of a rank, or NULL. */
static const trv_message_t *matching_send(const tracer_t *tracer, int rank, int i)
{
    const trv_message_t *to = &tracer->step[rank].receive[i];
    int nth = 0;
    for (int j = 0; j < i; j++)
        nth += tracer->step[rank].receive[j].peer == to->peer;
    if (to->peer < 0 || to->peer >= tracer->ranks)
        return NULL;
    const trv_step_t *step = &tracer->step[to->peer];
    for (int j = 0; j < step->sends; j++)
        if (step->send[j].peer == rank && nth-- == 0)
            return &step->send[j];
    return NULL;
}

static void combine(tracer_t *tracer, int rank, const trv_combine_t *c)
{
    int64_t count = trv_blocks_count(&c->blocks);
    trv_blocks_list(&c->blocks, tracer->unit_a);
    for (int64_t i = 0; i < count; i++)
        for (size_t w = 0; w < tracer->words; w++) {
            uint64_t sum = 0;
            for (int s = 0; s < c->sources; s++)
                sum |= tracer->next[cell(tracer, rank, c->source ? c->source[s] : c->first + s, tracer->unit_a[i]) *
                                        tracer->words +
                                    w];
            tracer->next[cell(tracer, rank, c->dst, tracer->unit_a[i]) * tracer->words + w] = sum;
        }
}

static int run_step(tracer_t *tracer, int step)
{
    int rc = load_step(tracer, step);
    if (rc)
        return rc;
    memcpy(tracer->next, tracer->now, tracer->cells * tracer->words * sizeof *tracer->now);
    for (int rank = 0; rank < tracer->ranks; rank++) {
        const trv_step_t *own = &tracer->step[rank];
        for (int i = 0; i < own->receives; i++) {
            const trv_message_t *from = matching_send(tracer, rank, i);
            if (from)
                receive(tracer, rank, &own->receive[i], from);
        }
        for (int i = 0; i < own->combines; i++)
            combine(tracer, rank, &own->combine[i]);
    }
    uint64_t *swap = tracer->now;
    tracer->now = tracer->next;
    tracer->next = swap;
    return TRV_OK;
}

/* ---- Liveness ---------------------------------------------------------------------------------------------------- */

static void mark(const tracer_t *tracer, unsigned char *live, int rank, const trv_message_t *message,
                 unsigned char value)
{
    for (int p = 0; p < message->parts; p++) {
        int64_t count = list_part(tracer, &message->part[p], tracer->unit_a);
        for (int64_t i = 0; i < count; i++)
            live[cell(tracer, rank, 0, tracer->unit_a[i])] = value;
    }
}

static void unmark_combine(const tracer_t *tracer, unsigned char *live, int rank, const trv_combine_t *c)
{
    int64_t count = trv_blocks_count(&c->blocks);
    trv_blocks_list(&c->blocks, tracer->unit_a);
    for (int64_t i = 0; i < count; i++) {
        unsigned char *dst = &live[cell(tracer, rank, c->dst, tracer->unit_a[i])];
        if (!*dst)
            continue;
        *dst = 0;
        for (int s = 0; s < c->sources; s++)
            live[cell(tracer, rank, c->source ? c->source[s] : c->first + s, tracer->unit_a[i])] = 1;
    }
}

static int find_live(tracer_t *tracer)
{
    unsigned char *last = tracer->live + (size_t)tracer->steps * tracer->cells;
    bool own_only = trv_schedule_collective(tracer->schedule) == TRV_REDUCE_SCATTER;
    for (int rank = 0; rank < tracer->ranks; rank++)
        for (int64_t u = 0; u < tracer->units; u++)
            last[cell(tracer, rank, 0, u)] = !own_only || trv_schedule_owner(tracer->schedule, u) == rank;
    for (int step = tracer->steps - 1; step >= 0; step--) {
        unsigned char *live = tracer->live + (size_t)step * tracer->cells;
        int rc = load_step(tracer, step);
        if (rc)
            return rc;
        memcpy(live, live + tracer->cells, tracer->cells);
        for (int rank = 0; rank < tracer->ranks; rank++) {
            const trv_step_t *own = &tracer->step[rank];
            for (int i = own->combines - 1; i >= 0; i--)
                unmark_combine(tracer, live, rank, &own->combine[i]);
            for (int i = 0; i < own->receives; i++)
                mark(tracer, live, rank, &own->receive[i], 0);
            for (int i = 0; i < own->sends; i++)
                mark(tracer, live, rank, &own->send[i], 1);
        }
    }
    return TRV_OK;
}

/* ---- The matrix -------------------------------------------------------------------------------------------------- */

static void start(tracer_t *tracer)
{
    bool gather = trv_schedule_collective(tracer->schedule) == TRV_ALLGATHER;
    for (int rank = 0; rank < tracer->ranks; rank++)
        for (int64_t u = 0; u < tracer->units; u++)
            if (!gather || trv_schedule_owner(tracer->schedule, u) == rank)
                tracer->now[cell(tracer, rank, 0, u) * tracer->words + (size_t)rank / 64] = UINT64_C(1) << rank % 64;
}

/* The contributors in the live registers of a rank, for one unit, as a set in `set`. */
static void unite(const tracer_t *tracer, int after, int rank, int64_t unit, uint64_t *set)
{
    memset(set, 0, tracer->words * sizeof *set);
    for (int reg = 0; reg < tracer->registers; reg++) {
        size_t at = cell(tracer, rank, reg, unit);
        for (size_t w = 0; tracer->live[(size_t)after * tracer->cells + at] && w < tracer->words; w++)
            set[w] |= tracer->now[at * tracer->words + w];
    }
}

static void record(const tracer_t *tracer, trv_progress_t *progress, int after, uint64_t *set)
{
    int64_t per_column = tracer->units / progress->columns;
    bool gather = trv_schedule_collective(tracer->schedule) == TRV_ALLGATHER;
    for (int rank = 0; rank < tracer->ranks; rank++) {
        float *row = progress->value +
                     ((size_t)after * (size_t)tracer->ranks + (size_t)rank) * (size_t)progress->columns;
        for (int64_t u = 0; u < tracer->units; u++) {
            int held = 0;
            unite(tracer, after, rank, u, set);
            for (int r = 0; r < tracer->ranks; r++) {
                int has = (int)(set[r / 64] >> r % 64 & 1);
                held += has;
                if (!progress->by_block)
                    row[r] = (float)has;
            }
            if (progress->by_block)
                row[u / per_column] += (gather && held ? progress->full : (float)held) / (float)per_column;
        }
    }
}

static int trace(tracer_t *tracer, trv_progress_t *progress)
{
    uint64_t *set = calloc(tracer->words, sizeof *set);
    int rc = set ? find_live(tracer) : trv_fail_memory();
    if (!rc)
        start(tracer);
    for (int after = 0; after <= tracer->steps && !rc; after++) {
        if (after > 0)
            rc = run_step(tracer, after - 1);
        if (!rc)
            record(tracer, progress, after, set);
    }
    free(set);
    return rc;
}

static int allocate(tracer_t *tracer, trv_progress_t *progress)
{
    size_t list = (size_t)tracer->units * (size_t)tracer->registers + (size_t)tracer->registers;
    size_t values = (size_t)(tracer->steps + 1) * (size_t)tracer->ranks * (size_t)progress->columns;
    tracer->words = ((size_t)tracer->ranks + 63) / 64;
    if ((double)tracer->ranks * tracer->registers * (double)tracer->units * tracer->steps > (double)BYTES_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the schedule is too large to show who holds what");
    tracer->cells = (size_t)tracer->ranks * (size_t)tracer->registers * (size_t)tracer->units;
    tracer->now = calloc(tracer->cells * tracer->words, sizeof *tracer->now);
    tracer->next = calloc(tracer->cells * tracer->words, sizeof *tracer->next);
    tracer->live = calloc((size_t)tracer->steps + 1, tracer->cells);
    tracer->step = malloc((size_t)tracer->ranks * sizeof *tracer->step);
    tracer->unit_a = malloc(list * sizeof *tracer->unit_a);
    tracer->unit_b = malloc(list * sizeof *tracer->unit_b);
    progress->value = calloc(values, sizeof *progress->value);
    for (int rank = 0; tracer->step && rank < tracer->ranks; rank++)
        tracer->step[rank] = (trv_step_t)TRV_STEP_INIT;
    return tracer->now && tracer->next && tracer->live && tracer->step && tracer->unit_a && tracer->unit_b &&
                   progress->value
               ? TRV_OK
               : trv_fail_memory();
}

int trv_progress_create(trv_progress_t *progress, const trv_schedule_t *schedule, int stream)
{
    int ranks = trv_schedule_torus(schedule)->ranks;
    int64_t units = trv_schedule_units(schedule);
    tracer_t tracer = {.schedule = schedule,
                       .stream = stream,
                       .ranks = ranks,
                       .units = units,
                       .registers = trv_schedule_registers(schedule),
                       .steps = trv_schedule_steps(schedule)};
    *progress = (trv_progress_t){.by_block = units > 1, .ranks = ranks, .steps = tracer.steps};
    progress->columns = units == 1 || units % ranks == 0 ? ranks : (int)(units / trv_schedule_halves(schedule));
    progress->full = units > 1 ? (float)ranks : 1;
    int rc = allocate(&tracer, progress);
    if (!rc)
        rc = trace(&tracer, progress);
    for (int rank = 0; tracer.step && rank < ranks; rank++)
        trv_step_clear(&tracer.step[rank]);
    free(tracer.step);
    free(tracer.now);
    free(tracer.next);
    free(tracer.live);
    free(tracer.unit_a);
    free(tracer.unit_b);
    if (rc)
        trv_progress_clear(progress);
    return rc;
}

void trv_progress_clear(trv_progress_t *progress)
{
    free(progress->value);
    *progress = (trv_progress_t){0};
}

float trv_progress_at(const trv_progress_t *progress, int after_steps, int rank, int column)
{
    return progress->value[((size_t)after_steps * (size_t)progress->ranks + (size_t)rank) * (size_t)progress->columns +
                           (size_t)column];
}
