/*
 * Explains a wrong result. The stream is replayed twice for the one unit: first with all contributions (values.c, with
 * a second set of those that are present more than once) to find the contributor, then for that contributor alone. The
 * second pass records when and from which rank the contribution arrived in each register, so that the message can name
 * the step that added it twice or lost it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "schedule/collective.h"
#include "verify/verifier.h"

/* The origin of a contribution: received by its holder in `step` from rank `from`, or its own (step -1). */
typedef struct arrival {
    int step, from;
} arrival_t;

/* The contribution of the contributor in a register, for the one unit. */
typedef struct trail {
    bool present, doubled;
    int origin; /* the rank that computed the sum before it was sent on; -1: the register is empty */
    arrival_t arrival;
    int duplicate_rank, duplicate_step; /* the rank and step in which it was added a second time */
    arrival_t duplicate[2];             /* the origins of the two contributions at that rank */
} trail_t;

typedef struct trace {
    trv_verifier_t *v;  /* the verifier that reports faults */
    trv_verifier_t one; /* a copy for the one unit, in which a cell is a register */
    int stream, step;
    int64_t unit;
    int contributor;
    trail_t *trail;
    int last_step, last_rank; /* the last arrival of the contribution at any rank */
    int *received_in;         /* per rank: the last step in which it received any data of the unit; -1: none */
} trace_t;

static int trace_replay(trace_t *trace, bool (*step)(trace_t *trace))
{
    int rc = TRV_OK;
    for (trace->step = 0; trace->step < trace->v->steps && !rc; trace->step++) {
        rc = trv_verifier_fetch(&trace->one, trace->stream, trace->step);
        if (!rc)
            step(trace);
    }
    return rc;
}

/* Whether `rank` starts with a contribution to the unit. */
static bool contributes(const trace_t *trace, int rank)
{
    return trv_holds(trace->v->schedule, trv_schedule_shape(trace->v->schedule)->before, rank, trace->unit);
}

/* ---- First pass: all contributors ------------------------------------------------------------------------------ */

static bool step_values(trace_t *trace) { return trv_values_step(&trace->one, trace->stream, trace->step); }

/* The first contributor whose contribution `rank` has more than once or not at all; -1 if there is none. */
static int wrong_contributor(const trace_t *trace, int rank)
{
    const uint64_t *present = trv_values_at(&trace->one, rank, 0), *twice = present + trace->one.sets;
    bool exact = trv_schedule_exactness(trace->v->schedule) == TRV_EXACT;
    if (trv_schedule_shape(trace->v->schedule)->exchanges)
        return trv_schedule_source(trace->v->schedule, rank, trace->unit);
    for (int c = 0; c < trace->v->contributors; c++)
        if ((twice[c / 64] >> c % 64 & 1 && exact) || !(present[c / 64] >> c % 64 & 1))
            return c;
    return -1;
}

static int find_contributor(trace_t *trace, int rank)
{
    trv_verifier_t *one = &trace->one;
    size_t cells = (size_t)one->ranks * (size_t)one->registers;
    trace->contributor = -1;
    one->random = false;
    one->first = trace->unit;
    one->count = 1;
    one->sets = (one->contributors + 63) / 64;
    one->words = 2 * one->sets;
    one->stride = one->words + 1;
    one->cell = one->sum = one->expected = NULL;
    if (cells > ((size_t)1 << 31) / (8 * (size_t)one->words))
        return TRV_OK; /* if more than 2 GiB would be needed, the message does not name a contributor */
    one->cell = malloc(cells * (size_t)one->stride * sizeof *one->cell);
    one->sum = malloc((size_t)one->stride * sizeof *one->sum);
    one->expected = malloc(sizeof *one->expected);
    if (!one->cell || !one->sum || !one->expected)
        return trv_fail_memory();
    trv_values_start(one, trace->stream);
    int rc = trace_replay(trace, step_values);
    if (!rc)
        trace->contributor = wrong_contributor(trace, rank);
    if (trace->contributor >= 0 && trv_schedule_shape(one->schedule)->before != TRV_EVERY_RANK)
        trace->contributor = trv_schedule_source(one->schedule, rank, trace->unit);
    return rc;
}

/* ---- Second pass: one contributor ------------------------------------------------------------------------------ */

static trail_t *trail_at(const trace_t *trace, int rank, int reg)
{
    return &trace->trail[(size_t)rank * (size_t)trace->v->registers + (size_t)reg];
}

static bool copy_trails(void *context, int from, const uint32_t *source, int to, const uint32_t *target, int64_t shift,
                        size_t cells)
{
    trace_t *trace = context;
    for (size_t i = 0; i < cells; i++) {
        trail_t *trail = trail_at(trace, to, (int)(target[i] + shift));
        *trail = *trail_at(trace, from, (int)source[i]);
        trail->arrival = (arrival_t){trace->step, from};
        if (trail->present) {
            trace->last_step = trace->step;
            trace->last_rank = to;
        }
    }
    trace->received_in[to] = trace->step;
    return true;
}

static bool combine_trails(void *context, int rank, const trv_combine_t *combine, const uint32_t *unit, size_t units)
{
    trace_t *trace = context;
    trail_t sum = {.origin = rank};
    (void)unit;
    (void)units; /* there is only one unit */
    for (int i = 0; i < combine->sources; i++) {
        const trail_t *source = trail_at(trace, rank, trv_combine_source(combine, i));
        if (combine->sources == 1 || (source->present && (!sum.present || (source->doubled && !sum.doubled))))
            sum = *source;
        else if (source->present && !sum.doubled)
            sum = (trail_t){.present = true,
                            .doubled = true,
                            .arrival = sum.arrival,
                            .duplicate_rank = rank,
                            .duplicate_step = trace->step,
                            .duplicate = {sum.arrival, source->arrival}};
    }
    if (combine->sources > 1)
        sum.origin = rank;
    *trail_at(trace, rank, combine->dst) = sum;
    return true;
}

static bool step_trails(trace_t *trace)
{
    return trv_verifier_apply(&trace->one, &(trv_follower_t){trace, copy_trails, combine_trails});
}

static int follow_contributor(trace_t *trace)
{
    trv_verifier_t *v = trace->v;
    trace->trail = calloc((size_t)v->ranks * (size_t)v->registers, sizeof *trace->trail);
    trace->received_in = calloc((size_t)v->ranks, sizeof *trace->received_in);
    if (!trace->trail || !trace->received_in)
        return trv_fail_memory();
    for (int r = 0; r < v->ranks; r++) {
        for (int reg = 0; reg < v->registers; reg++)
            trail_at(trace, r, reg)->origin = reg == 0 && contributes(trace, r) ? r : -1;
        trail_at(trace, r, 0)->present = r == trace->contributor;
        trail_at(trace, r, 0)->arrival = (arrival_t){-1, r};
        trace->received_in[r] = -1;
    }
    trace->last_step = -1;
    return trace_replay(trace, step_trails);
}

/* ---- The sentence ---------------------------------------------------------------------------------------------- */

static const char *arrival_text(const arrival_t *arrival, char *text, size_t text_size)
{
    if (arrival->step < 0)
        snprintf(text, text_size, "its own");
    else
        snprintf(text, text_size, "from rank %d in step %d", arrival->from, arrival->step);
    return text;
}

static void report_doubled(const trace_t *trace, int rank, const trail_t *trail)
{
    trv_verifier_t *v = trace->v;
    const arrival_t *duplicate = trail->duplicate;
    char name[TRV_UNIT_NAME_MAX], first[64], second[64], both[160];
    arrival_text(&duplicate[0], first, sizeof first);
    arrival_text(&duplicate[1], second, sizeof second);
    if (duplicate[0].step == duplicate[1].step && duplicate[0].from == duplicate[1].from)
        snprintf(both, sizeof both, "both times %s", first);
    else
        snprintf(both, sizeof both, "once %s, once %s", first, second);
    trv_verifier_fault(
        v, trail->duplicate_step, trace->stream, trail->duplicate_rank, trace->unit,
        "after the last step of stream %d, rank %d has the contribution of rank %d twice in %s: rank %d adds "
        "it a second time in step %d (%s)",
        trace->stream, rank, trace->contributor, trv_unit_name(v->schedule, trace->unit, name), trail->duplicate_rank,
        trail->duplicate_step, both);
}

static void report_missing(const trace_t *trace, int rank)
{
    trv_verifier_t *v = trace->v;
    char name[TRV_UNIT_NAME_MAX], reached[160], received_in[96];
    const bool scatter = trv_schedule_shape(v->schedule)->after != TRV_EVERY_RANK;
    const char *what = trv_schedule_units(v->schedule) == 1 ? "slice" : "block";
    int origin = trail_at(trace, rank, 0)->origin, holders = 0;
    /* A rank that received a sum without the contribution is not the first to report, but the rank that computed the
     * sum. */
    if (origin >= 0 && !scatter && !trail_at(trace, origin, 0)->present)
        rank = origin;
    for (int r = 0; r < v->ranks; r++)
        holders += trail_at(trace, r, 0)->present;
    if (trace->last_step < 0)
        snprintf(reached, sizeof reached, "it never leaves rank %d", trace->contributor);
    else if (holders <= 1 || scatter)
        snprintf(reached, sizeof reached, "the last rank that receives it is rank %d, in step %d", trace->last_rank,
                 trace->last_step);
    else
        snprintf(reached, sizeof reached, "%d of %d ranks end with it", holders, v->ranks);
    if (trace->received_in[rank] < 0)
        snprintf(received_in, sizeof received_in, "rank %d receives no data of this %s", rank, what);
    else
        snprintf(received_in, sizeof received_in, "rank %d receives no data of this %s after step %d", rank, what,
                 trace->received_in[rank]);
    trv_verifier_fault(v, -1, trace->stream, rank, trace->unit,
                       "after the last step of stream %d, rank %d lacks the contribution of rank %d in %s (%s; %s)",
                       trace->stream, rank, trace->contributor, trv_unit_name(v->schedule, trace->unit, name), reached,
                       received_in);
}

static void report(const trace_t *trace, int rank)
{
    trv_verifier_t *v = trace->v;
    char name[TRV_UNIT_NAME_MAX];
    trv_unit_name(v->schedule, trace->unit, name);
    if (trace->contributor < 0)
        trv_verifier_fault(v, -1, trace->stream, rank, trace->unit,
                           "after the last step of stream %d, rank %d has a wrong "
                           "sum in %s",
                           trace->stream, rank, name);
    else if (trail_at(trace, rank, 0)->doubled)
        report_doubled(trace, rank, trail_at(trace, rank, 0));
    else
        report_missing(trace, rank);
}

int trv_verifier_explain(trv_verifier_t *v, int stream, int rank, int64_t unit)
{
    trace_t trace = {.v = v, .one = *v, .stream = stream, .unit = unit};
    int rc = find_contributor(&trace, rank);
    if (!rc && trace.contributor >= 0)
        rc = follow_contributor(&trace);
    if (!rc)
        report(&trace, rank);
    free(trace.one.cell);
    free(trace.one.sum);
    free(trace.one.expected);
    free(trace.trail);
    free(trace.received_in);
    return rc;
}
