/*
 * All streams of a schedule as one. With W the sum of the weights, every unit becomes W units, of which a stream has as
 * many as its weight:
 *
 *   two streams, units 0 1 2     stream 0: 0 2 4     stream 1: 1 3 5     a slice: 0 2 4 1 3 5
 *
 * A step has the messages and combines of that step in all streams, in the order of the streams. A message that travels
 * exactly half way around a dimension after it has turned into it takes direction +, also if its stream is mirrored.
 */
#include "schedule/together.h"

#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "schedule/collective.h"
#include "schedule/schedule.h"

typedef trv_part_t *message_adder_t(trv_step_t *step, int peer, int port, int nic, int parts);

static void together_destroy(void *tables)
{
    trv_schedule_t *from = tables;
    from->rows = from->fixed_rows = NULL; /* owned by the schedule of one stream */
    trv_schedule_destroy(from);
}

static int64_t together_position(const trv_schedule_t *schedule, int stream, int64_t unit)
{
    const trv_schedule_t *from = schedule->tables;
    const int64_t all = trv_schedule_weights(from, from->streams), index = unit % all;
    int64_t first = 0;
    (void)stream;
    for (int s = 0;; s++) {
        const int weight = trv_schedule_weight(from, s);
        if (index < first + weight)
            return first * trv_schedule_units(from) + trv_schedule_position(from, s, unit / all) * weight + index -
                   first;
        first += weight;
    }
}

/* Replaces units of a stream by those of the schedule of one stream. */
static int convert(const trv_schedule_t *schedule, int stream, trv_step_t *memory, trv_blocks_t *blocks)
{
    const trv_schedule_t *from = schedule->tables;
    return trv_blocks_flatten(blocks, &schedule->space, (int)trv_schedule_weights(from, from->streams),
                              (int)trv_schedule_weights(from, stream), trv_schedule_weight(from, stream), memory);
}

/* Writes a part; whole registers are the stream's units of each of them. Returns the number of parts or an error. */
static int add_part(const trv_schedule_t *schedule, int stream, trv_step_t *out, const trv_part_t *part,
                    trv_part_t *added)
{
    const int parts = part->slots ? (int)trv_blocks_count(&part->blocks) : 1;
    int64_t *slot = trv_step_alloc(out, (size_t)parts * sizeof *slot);
    int rc = slot ? TRV_OK : TRV_ERR_MEMORY;
    if (!rc && part->slots)
        trv_blocks_list(&part->blocks, slot);
    for (int i = 0; i < parts && !rc; i++) {
        added[i] = (trv_part_t){.reg = part->reg + (part->slots ? (int)slot[i] : 0), .blocks = part->blocks};
        if (part->slots)
            trv_blocks_all(schedule->tables, &added[i].blocks);
        rc = convert(schedule, stream, out, &added[i].blocks);
    }
    return rc ? rc : parts;
}

static int add_message(const trv_schedule_t *schedule, int stream, trv_step_t *out, const trv_message_t *message,
                       message_adder_t *add)
{
    int parts = 0;
    for (int p = 0; p < message->parts; p++)
        parts += message->part[p].slots ? (int)trv_blocks_count(&message->part[p].blocks) : 1;
    trv_part_t *part = add(out, message->peer, message->port, message->nic, parts);
    if (!part)
        return TRV_ERR_MEMORY;
    for (int p = 0; p < message->parts; p++) {
        const int added = add_part(schedule, stream, out, &message->part[p], part);
        if (added < 0)
            return added;
        part += added;
    }
    return TRV_OK;
}

static int add_stream(const trv_schedule_t *schedule, int stream, trv_step_t *out, const trv_step_t *own)
{
    int rc = TRV_OK;
    for (int i = 0; i < own->sends && !rc; i++)
        rc = add_message(schedule, stream, out, &own->send[i], trv_step_send_by);
    for (int i = 0; i < own->receives && !rc; i++)
        rc = add_message(schedule, stream, out, &own->receive[i], trv_step_receive_by);
    for (int i = 0; i < own->combines && !rc; i++) {
        const trv_combine_t *combine = &own->combine[i];
        trv_blocks_t blocks = combine->blocks;
        rc = convert(schedule, stream, out, &blocks);
        if (!rc)
            rc = trv_step_combine(out, combine->dst, combine->sources, combine->source, combine->first, &blocks);
    }
    return rc;
}

static int together_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const trv_schedule_t *from = schedule->tables;
    trv_step_t *own = calloc((size_t)from->streams, sizeof *own); /* a step of every stream */
    int rc = own ? TRV_OK : trv_fail_memory(), sends = 0, receives = 0, combines = 0;
    (void)stream;
    for (int s = 0; s < from->streams && !rc; s++) {
        rc = trv_schedule_step(from, rank, s, step, &own[s]);
        sends += own[s].sends;
        receives += own[s].receives;
        combines += own[s].combines;
    }
    if (!rc)
        rc = trv_step_reserve(out, sends, receives, combines);
    for (int s = 0; s < from->streams && !rc; s++)
        rc = add_stream(schedule, s, out, &own[s]);
    for (int s = 0; s < from->streams && own; s++)
        trv_step_clear(&own[s]);
    free(own);
    return rc;
}

int trv_schedule_together(trv_schedule_t **together, trv_schedule_t *schedule)
{
    const int64_t shares = trv_schedule_shares(schedule);
    *together = schedule;
    if (schedule->streams == 1)
        return TRV_OK;
    trv_schedule_t *s = trv_schedule_allocate(&schedule->torus, schedule->name, schedule->collective, schedule->root);
    if (!s || shares > INT_MAX) {
        trv_schedule_destroy(s);
        trv_schedule_destroy(schedule);
        *together = NULL;
        return s ? trv_fail(TRV_ERR_UNSUPPORTED, "the streams have %lld units in total; at most %d are allowed",
                            (long long)shares, INT_MAX)
                 : trv_fail_memory();
    }
    s->steps = schedule->steps;
    s->registers = schedule->registers;
    s->symmetry = schedule->symmetry;
    s->exactness = schedule->exactness;
    s->consistent = schedule->consistent;
    s->owned = schedule->owned;
    s->rows = schedule->rows;
    s->fixed_rows = schedule->fixed_rows;
    trv_torus_init(&s->space, 1, &(int){(int)shares});
    s->step = together_step;
    s->position = trv_collective_has_blocks(schedule->collective) ? NULL : together_position;
    s->tables = schedule;
    s->destroy = together_destroy;
    *together = s;
    return TRV_OK;
}
