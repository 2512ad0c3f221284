/*
 * Why is a result wrong? The stream is replayed for the one unit twice: once with all contributions (two bits each:
 * there, and there more than once) to find the contributor, once for that contributor alone, remembering when and
 * from whom it came to each register, so that the sentence can name the step in which the damage was done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "verify/verifier.h"

/* Where a contribution came from: received by its holder in `step` from rank `from`, or its own (step -1). */
typedef struct arrival {
    int step, from;
} arrival_t;

/* What a register holds of the one contributor, in the one unit. */
typedef struct trail {
    bool there, doubled;
    int origin; /* the rank that summed up what is here, before it was passed on; -1 nothing is here */
    arrival_t arrival;
    int damage_rank, damage_step; /* who added it a second time, when */
    arrival_t damage[2];          /* and how the two came to that rank */
} trail_t;

typedef struct trace {
    trv_verifier_t *v;
    int stream;
    int64_t unit;
    /* First pass: `words` words of presence, then as many of doubling, per (rank, register). */
    int words;
    uint64_t *planes, *sum;
    /* Second pass. */
    int contributor;
    trail_t *trail;
    int last_step, last_rank; /* the last arrival of the contribution at any rank */
    int *served;              /* per rank: the last step in which it received anything for the unit; -1 none */
} trace_t;

/* ---- Replaying one unit ---------------------------------------------------------------------------------------- */

typedef void (*copy_function)(trace_t *trace, int step, int from, int from_reg, int to, int to_reg);
typedef void (*combine_function)(trace_t *trace, int step, int rank, const trv_combine_t *combine);

static void replay_message(trace_t *trace, int step, int to, const trv_message_t *receive, const trv_message_t *send,
                           copy_function copy)
{
    trv_verifier_t *v = trace->v;
    for (int p = 0; p < receive->parts; p++) {
        const trv_part_t *r = &receive->part[p], *s = &send->part[p];
        if (!r->slots) {
            if (trv_blocks_contains(&r->blocks, trace->unit))
                copy(trace, step, receive->peer, s->reg, to, r->reg);
            continue;
        }
        size_t slots = trv_units_list(&s->blocks, 0, v->registers, v->list);
        trv_units_list(&r->blocks, 0, v->registers, v->list_too);
        for (size_t i = 0; i < slots; i++)
            copy(trace, step, receive->peer, s->reg + (int)v->list[i], to, r->reg + (int)v->list_too[i]);
    }
}

static void replay_receives(trace_t *trace, int step, int rank, copy_function copy)
{
    trv_verifier_t *v = trace->v;
    const trv_step_t *mine = &v->step[rank];
    for (int i = 0; i < mine->receives; i++) {
        const trv_step_t *theirs = &v->step[mine->receive[i].peer];
        int earlier = 0;
        for (int k = 0; k < i; k++)
            earlier += mine->receive[k].peer == mine->receive[i].peer;
        for (int k = 0; k < theirs->sends; k++)
            if (theirs->send[k].peer == rank && earlier-- == 0)
                replay_message(trace, step, rank, &mine->receive[i], &theirs->send[k], copy);
    }
}

static int replay(trace_t *trace, copy_function copy, combine_function combine)
{
    trv_verifier_t *v = trace->v;
    for (int step = 0; step < v->steps; step++) {
        int rc = trv_verifier_fetch(v, trace->stream, step);
        if (rc)
            return rc;
        for (int rank = 0; rank < v->ranks; rank++)
            replay_receives(trace, step, rank, copy);
        for (int rank = 0; rank < v->ranks; rank++)
            for (int c = 0; c < v->step[rank].combines; c++)
                if (trv_blocks_contains(&v->step[rank].combine[c].blocks, trace->unit))
                    combine(trace, step, rank, &v->step[rank].combine[c]);
    }
    return TRV_OK;
}

/* Whether `rank` starts with a contribution to the unit. */
static bool contributes(const trace_t *trace, int rank)
{
    return trv_schedule_collective(trace->v->schedule) != TRV_ALLGATHER ||
           trv_schedule_owner(trace->v->schedule, trace->unit) == rank;
}

/* ---- First pass: all contributors ------------------------------------------------------------------------------ */

static uint64_t *planes_at(const trace_t *trace, int rank, int reg)
{
    return trace->planes + ((size_t)rank * (size_t)trace->v->registers + (size_t)reg) * 2 * (size_t)trace->words;
}

static void copy_planes(trace_t *trace, int step, int from, int from_reg, int to, int to_reg)
{
    (void)step;
    memcpy(planes_at(trace, to, to_reg), planes_at(trace, from, from_reg), 2 * (size_t)trace->words * sizeof(uint64_t));
}

static void combine_planes(trace_t *trace, int step, int rank, const trv_combine_t *combine)
{
    size_t words = (size_t)trace->words;
    (void)step;
    memset(trace->sum, 0, 2 * words * sizeof(uint64_t));
    for (int i = 0; i < combine->sources; i++) {
        const uint64_t *source = planes_at(trace, rank, trv_combine_source(combine, i));
        for (size_t w = 0; w < words; w++) {
            trace->sum[words + w] |= source[words + w] | (trace->sum[w] & source[w]);
            trace->sum[w] |= source[w];
        }
    }
    memcpy(planes_at(trace, rank, combine->dst), trace->sum, 2 * words * sizeof(uint64_t));
}

/* The first contributor that `rank` has more than once, or lacks; -1 if there is none. */
static int wrong_contributor(const trace_t *trace, int rank)
{
    const uint64_t *planes = planes_at(trace, rank, 0);
    bool exact = trv_schedule_exactness(trace->v->schedule) == TRV_EXACT;
    for (int c = 0; c < trace->v->ranks; c++) {
        bool there = planes[c / 64] >> c % 64 & 1;
        bool doubled = planes[trace->words + c / 64] >> c % 64 & 1;
        if ((doubled && exact) || there != contributes(trace, c))
            return c;
    }
    return -1;
}

static int find_contributor(trace_t *trace, int rank)
{
    trv_verifier_t *v = trace->v;
    size_t words = ((size_t)v->ranks + 63) / 64;
    size_t cells = (size_t)v->ranks * (size_t)v->registers;
    trace->contributor = -1;
    if (cells > ((size_t)1 << 31) / (16 * words))
        return TRV_OK; /* beyond 2 GiB the sentence does without */
    trace->words = (int)words;
    trace->planes = calloc(2 * words * cells, sizeof(uint64_t));
    trace->sum = calloc(2 * words, sizeof(uint64_t));
    if (!trace->planes || !trace->sum)
        return trv_fail_memory();
    for (int r = 0; r < v->ranks; r++)
        if (contributes(trace, r))
            planes_at(trace, r, 0)[r / 64] |= (uint64_t)1 << r % 64;
    int rc = replay(trace, copy_planes, combine_planes);
    if (!rc)
        trace->contributor = wrong_contributor(trace, rank);
    return rc;
}

/* ---- Second pass: one contributor ------------------------------------------------------------------------------ */

static trail_t *trail_at(const trace_t *trace, int rank, int reg)
{
    return &trace->trail[(size_t)rank * (size_t)trace->v->registers + (size_t)reg];
}

static void copy_trail(trace_t *trace, int step, int from, int from_reg, int to, int to_reg)
{
    trail_t *trail = trail_at(trace, to, to_reg);
    *trail = *trail_at(trace, from, from_reg);
    trail->arrival = (arrival_t){step, from};
    trace->served[to] = step;
    if (trail->there) {
        trace->last_step = step;
        trace->last_rank = to;
    }
}

static void combine_trails(trace_t *trace, int step, int rank, const trv_combine_t *combine)
{
    trail_t sum = {.origin = rank};
    for (int i = 0; i < combine->sources; i++) {
        const trail_t *source = trail_at(trace, rank, trv_combine_source(combine, i));
        if (combine->sources == 1 || (source->there && (!sum.there || (source->doubled && !sum.doubled))))
            sum = *source;
        else if (source->there && !sum.doubled)
            sum = (trail_t){.there = true,
                            .doubled = true,
                            .arrival = sum.arrival,
                            .damage_rank = rank,
                            .damage_step = step,
                            .damage = {sum.arrival, source->arrival}};
    }
    if (combine->sources > 1)
        sum.origin = rank;
    *trail_at(trace, rank, combine->dst) = sum;
}

static int follow_contributor(trace_t *trace)
{
    trv_verifier_t *v = trace->v;
    trace->trail = calloc((size_t)v->ranks * (size_t)v->registers, sizeof *trace->trail);
    trace->served = calloc((size_t)v->ranks, sizeof *trace->served);
    if (!trace->trail || !trace->served)
        return trv_fail_memory();
    for (int r = 0; r < v->ranks; r++) {
        for (int reg = 0; reg < v->registers; reg++)
            trail_at(trace, r, reg)->origin = reg == 0 && contributes(trace, r) ? r : -1;
        trail_at(trace, r, 0)->there = r == trace->contributor;
        trail_at(trace, r, 0)->arrival = (arrival_t){-1, r};
        trace->served[r] = -1;
    }
    trace->last_step = -1;
    return replay(trace, copy_trail, combine_trails);
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
    const arrival_t *damage = trail->damage;
    char name[TRV_UNIT_NAME_MAX], first[64], second[64], both[160];
    arrival_text(&damage[0], first, sizeof first);
    arrival_text(&damage[1], second, sizeof second);
    if (damage[0].step == damage[1].step && damage[0].from == damage[1].from)
        snprintf(both, sizeof both, "both times %s", first);
    else
        snprintf(both, sizeof both, "once %s, once %s", first, second);
    trv_verifier_fault(
        v, trail->damage_step, trace->stream, trail->damage_rank, trace->unit,
        "after the last step of stream %d, rank %d has the contribution of rank %d twice in %s: rank %d adds "
        "it a second time in step %d (%s)",
        trace->stream, rank, trace->contributor, trv_unit_name(v->schedule, trace->unit, name), trail->damage_rank,
        trail->damage_step, both);
}

static void report_missing(const trace_t *trace, int rank)
{
    trv_verifier_t *v = trace->v;
    char name[TRV_UNIT_NAME_MAX], reached[160], served[96];
    bool scatter = trv_schedule_collective(v->schedule) == TRV_REDUCE_SCATTER;
    const char *what = trv_schedule_units(v->schedule) == 1 ? "slice" : "block";
    int origin = trail_at(trace, rank, 0)->origin, have = 0;
    /* Who merely got a sum that lacks it is not the first to blame. */
    if (origin >= 0 && !scatter && !trail_at(trace, origin, 0)->there)
        rank = origin;
    for (int r = 0; r < v->ranks; r++)
        have += trail_at(trace, r, 0)->there;
    if (trace->last_step < 0)
        snprintf(reached, sizeof reached, "it never leaves rank %d", trace->contributor);
    else if (have <= 1 || scatter)
        snprintf(reached, sizeof reached, "it gets no further than rank %d, in step %d", trace->last_rank,
                 trace->last_step);
    else
        snprintf(reached, sizeof reached, "%d of %d ranks end with it", have, v->ranks);
    if (trace->served[rank] < 0)
        snprintf(served, sizeof served, "nothing for this %s ever comes to rank %d", what, rank);
    else
        snprintf(served, sizeof served, "nothing for this %s comes to rank %d after step %d", what, rank,
                 trace->served[rank]);
    trv_verifier_fault(v, -1, trace->stream, rank, trace->unit,
                       "after the last step of stream %d, rank %d lacks the contribution of rank %d in %s (%s; %s)",
                       trace->stream, rank, trace->contributor, trv_unit_name(v->schedule, trace->unit, name), reached,
                       served);
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
    trace_t trace = {.v = v, .stream = stream, .unit = unit};
    int rc = find_contributor(&trace, rank);
    if (!rc && trace.contributor >= 0)
        rc = follow_contributor(&trace);
    if (!rc)
        report(&trace, rank);
    free(trace.planes);
    free(trace.sum);
    free(trace.trail);
    free(trace.served);
    return rc;
}
