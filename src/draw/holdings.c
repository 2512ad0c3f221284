/*
 * The contents of ranks after each step: one stream is executed symbolically, as by the verifier, with sets of
 * contributors instead of numbers.
 *
 * Only data that a rank will still use is shown: a backward pass determines which units of which registers are live. So
 * in a reduce-scatter a block disappears from the row of the rank that has sent it on.
 */
#include "draw/holdings.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schedule/collective.h"
#include "verify/verifier.h"

#define BYTES_MAX ((size_t)1 << 28)

typedef struct holdings {
    trv_verifier_t v;
    int stream;
    size_t row, cells;   /* cells of a rank: registers * units; of all ranks */
    unsigned char *live; /* (steps + 1) * cells: whether the cell is used after this number of steps */
} holdings_t;

/* ---- Liveness ---------------------------------------------------------------------------------------------------- */

static void mark_message(const holdings_t *h, unsigned char *live, const trv_message_t *message, unsigned char value)
{
    for (int p = 0; p < message->parts; p++) {
        size_t cells = trv_part_cells(&h->v, &message->part[p], 0, h->v.units, h->v.list);
        for (size_t i = 0; i < cells; i++)
            live[h->v.list[i]] = value;
    }
}

static void unmark_combine(const holdings_t *h, unsigned char *live, const trv_combine_t *combine)
{
    const int64_t units = h->v.units;
    size_t count = trv_units_list(&combine->blocks, 0, units, h->v.list);
    for (size_t i = 0; i < count; i++) {
        unsigned char *unit = live + h->v.list[i], *dst = unit + combine->dst * units;
        if (!*dst)
            continue;
        *dst = 0;
        for (int s = 0; s < combine->sources; s++)
            unit[trv_combine_source(combine, s) * units] = 1;
    }
}

static int find_live(holdings_t *h)
{
    trv_verifier_t *v = &h->v;
    for (int rank = 0; rank < v->ranks; rank++)
        for (int64_t u = 0; u < v->units; u++)
            h->live[(size_t)v->steps * h->cells + (size_t)rank * h->row + (size_t)u] =
                trv_holds(v->schedule, trv_schedule_shape(v->schedule)->after, rank, u);
    for (int step = v->steps - 1; step >= 0; step--) {
        unsigned char *live = h->live + (size_t)step * h->cells;
        int rc = trv_verifier_fetch(v, h->stream, step);
        if (rc)
            return rc;
        memcpy(live, live + h->cells, h->cells);
        for (int rank = 0; rank < v->ranks; rank++, live += h->row) {
            const trv_step_t *own = &v->step[rank];
            for (int i = own->combines - 1; i >= 0; i--)
                unmark_combine(h, live, &own->combine[i]);
            for (int i = 0; i < own->receives; i++)
                mark_message(h, live, &own->receive[i], 0);
            for (int i = 0; i < own->sends; i++)
                mark_message(h, live, &own->send[i], 1);
        }
    }
    return TRV_OK;
}

/* ---- The matrix -------------------------------------------------------------------------------------------------- */

/* Computes in `set` the contributors to one unit in the live registers of a rank. */
static void unite_live(const holdings_t *h, int after, int rank, int64_t unit, uint64_t *set)
{
    const trv_verifier_t *v = &h->v;
    const unsigned char *live = h->live + (size_t)after * h->cells + (size_t)rank * h->row;
    memset(set, 0, (size_t)v->sets * sizeof *set);
    for (int64_t cell = unit; cell < (int64_t)h->row; cell += v->units)
        for (int w = 0; live[cell] && w < v->sets; w++)
            set[w] |= trv_values_at(v, rank, cell)[w];
}

/* Records the values after a step. In an AllGather a unit has one contributor, with which it is complete. */
static void record_values(const holdings_t *h, trv_progress_t *progress, int after)
{
    const trv_verifier_t *v = &h->v;
    const int64_t per_column = v->units / progress->columns;
    const bool one = trv_schedule_shape(v->schedule)->before != TRV_EVERY_RANK; /* contributor to each unit */
    const bool exchanges = trv_schedule_shape(v->schedule)->exchanges; /* a rank holds each unit of one other */
    const float each = progress->full / (exchanges ? 1 : (float)v->contributors);
    for (int rank = 0; rank < v->ranks; rank++) {
        float *row = progress->value + ((size_t)after * (size_t)v->ranks + (size_t)rank) * (size_t)progress->columns;
        for (int64_t u = 0; u < v->units; u++) {
            int held = 0;
            unite_live(h, after, rank, u, v->sum);
            for (int c = 0; c < v->contributors; c++) {
                const int has = (int)(v->sum[c / 64] >> c % 64 & 1);
                held += has;
                if (!one && !progress->by_block)
                    row[c] = (float)has;
            }
            const int source = one && !progress->by_block ? trv_schedule_source(v->schedule, rank, u) : -1;
            if (source >= 0) /* a unit without an owner has none */
                row[source] = (float)held;
            if (progress->by_block)
                row[u / per_column] += each * (float)held / (float)per_column;
        }
    }
}

static int trace_stream(holdings_t *h, trv_progress_t *progress)
{
    trv_verifier_t *v = &h->v;
    int rc = find_live(h);
    if (rc)
        return rc;
    trv_values_start(v, h->stream);
    record_values(h, progress, 0);
    for (int step = 0; step < v->steps && !rc; step++) {
        rc = trv_verifier_fetch(v, h->stream, step);
        if (rc)
            return rc;
        trv_values_step(v, h->stream, step);
        record_values(h, progress, step + 1);
    }
    return rc;
}

int trv_progress_create(trv_progress_t *progress, const trv_schedule_t *schedule, int stream)
{
    holdings_t h = {.v = trv_verifier_describe(schedule, TRV_VERIFY_EXHAUSTIVE), .stream = stream};
    trv_verifier_t *v = &h.v;
    const int64_t units = v->units;
    *progress = (trv_progress_t){.by_block = units > 1, .ranks = v->ranks, .steps = v->steps};
    progress->columns = units == 1 || units % v->ranks == 0 ? v->ranks : (int)(units / trv_schedule_halves(schedule));
    progress->full = units > 1 ? (float)v->ranks : 1;
    if ((double)v->ranks * v->registers * (double)units * v->steps > (double)BYTES_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the schedule is too large to show the data held by each rank");
    v->tolerant = true;
    h.row = (size_t)v->registers * (size_t)units;
    h.cells = (size_t)v->ranks * h.row;
    h.live = calloc((size_t)v->steps + 1, h.cells);
    progress->value = calloc((size_t)(v->steps + 1) * (size_t)v->ranks * (size_t)progress->columns, sizeof(float));
    int rc = trv_verifier_allocate(v);
    if (!rc)
        rc = h.live && progress->value ? trace_stream(&h, progress) : trv_fail_memory();
    trv_verifier_release(v);
    free(h.live);
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
