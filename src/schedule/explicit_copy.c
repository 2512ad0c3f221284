/*
 * A deep copy of any schedule as an explicit one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"
#include "schedule/schedule.h"

typedef struct copier {
    const trv_schedule_t *from;
    trv_schedule_t *to;
    trv_step_t step;
    int64_t *unit; /* holds the units of the largest message's parts */
    int64_t capacity;
} copier_t;

static int list_units(copier_t *copier, const trv_blocks_t *blocks, int64_t offset)
{
    int64_t count = trv_blocks_count(blocks);
    if (trv_array_reserve(&copier->unit, &copier->capacity, offset, count, sizeof *copier->unit))
        return TRV_ERR_MEMORY;
    trv_blocks_list(blocks, copier->unit + offset);
    return TRV_OK;
}

/* Records one side of a message. The other side is recorded when the step of its own rank is copied. */
static int copy_message(copier_t *copier, int stream, int step, int rank, const trv_message_t *message, bool send)
{
    trv_explicit_part_t *part = calloc((size_t)message->parts + 1, sizeof *part);
    int rc = part ? TRV_OK : trv_fail_memory();
    int64_t offset = 0;
    for (int p = 0; p < message->parts && !rc; p++) {
        rc = list_units(copier, &message->part[p].blocks, offset);
        part[p].from_reg = part[p].to_reg = message->part[p].reg;
        part[p].slots = message->part[p].slots;
        part[p].count = trv_blocks_count(&message->part[p].blocks);
        offset += part[p].count;
    }
    offset = 0;
    for (int p = 0; p < message->parts && !rc; p++) { /* in a second loop, because list_units may move the array */
        part[p].unit = copier->unit + offset;
        offset += part[p].count;
    }
    if (!rc)
        rc = trv_explicit_message(copier->to, stream, step, send ? rank : message->peer, send ? message->peer : rank,
                                  message->port, message->nic, send ? TRV_SEND : TRV_RECEIVE, message->parts, part);
    free(part);
    return rc;
}

static int copy_combine(copier_t *copier, int stream, int step, int rank, const trv_combine_t *combine)
{
    int *source = malloc(((size_t)combine->sources + 1) * sizeof *source);
    int rc = source ? list_units(copier, &combine->blocks, 0) : trv_fail_memory();
    for (int i = 0; i < combine->sources && !rc; i++)
        source[i] = combine->source ? combine->source[i] : combine->first + i;
    if (!rc)
        rc = trv_explicit_combine(copier->to, stream, step, rank, combine->dst, combine->sources, source,
                                  trv_blocks_count(&combine->blocks), copier->unit);
    free(source);
    return rc;
}

static int copy_step(copier_t *copier, int stream, int step, int rank)
{
    int rc = trv_schedule_step(copier->from, rank, stream, step, &copier->step);
    for (int i = 0; i < copier->step.sends && !rc; i++)
        rc = copy_message(copier, stream, step, rank, &copier->step.send[i], true);
    for (int i = 0; i < copier->step.receives && !rc; i++)
        rc = copy_message(copier, stream, step, rank, &copier->step.receive[i], false);
    for (int i = 0; i < copier->step.combines && !rc; i++)
        rc = copy_combine(copier, stream, step, rank, &copier->step.combine[i]);
    return rc;
}

static int copy_all(copier_t *copier)
{
    const trv_schedule_t *from = copier->from;
    for (int stream = 0; stream < from->streams; stream++)
        for (int step = 0; step < from->steps; step++)
            for (int rank = 0; rank < from->torus.ranks; rank++) {
                int rc = copy_step(copier, stream, step, rank);
                if (rc)
                    return rc;
            }
    return TRV_OK;
}

trv_symmetry_t trv_explicit_symmetry(const trv_schedule_t *schedule)
{
    const bool opened = schedule->rows && schedule->rows->lines != schedule->torus.lines;
    return opened ? TRV_SYMMETRY_NONE : schedule->symmetry;
}

int trv_explicit_copy(trv_schedule_t **copy, const trv_schedule_t *schedule)
{
    *copy = NULL;
    const trv_explicit_options_t options = {
        TRV_EXPLICIT_OPTIONS,
        .steps = schedule->steps,
        .registers = schedule->registers,
        .symmetry = trv_explicit_symmetry(schedule),
        .messages_per_port = schedule->messages_per_port,
        .mirrored_streams = schedule->fixed_rows || schedule->mirrored_from < 0
                                ? 0
                                : schedule->streams - schedule->mirrored_from,
    };
    copier_t copier = {.from = schedule, .step = TRV_STEP_INIT};
    int rc = trv_explicit_create_like(&copier.to, schedule, &options);
    if (!rc)
        rc = copy_all(&copier);
    trv_step_clear(&copier.step);
    free(copier.unit);
    if (rc) {
        trv_schedule_destroy(copier.to);
        return rc;
    }
    *copy = copier.to;
    return TRV_OK;
}
