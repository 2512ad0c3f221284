/*
 * Functions that build one rank's step in its arena.
 */
#include <string.h>

#include "base/error.h"
#include "schedule/arena.h"
#include "schedule/schedule.h"
#include "torus/torus.h"

static int step_empty(trv_step_t *step)
{
    if (!step->arena && !(step->arena = trv_arena_create()))
        return trv_fail_memory();
    trv_arena_empty(step->arena);
    step->dimension = -1;
    step->sends = step->receives = step->combines = 0;
    step->send = step->receive = NULL;
    step->combine = NULL;
    return TRV_OK;
}

void trv_step_clear(trv_step_t *step)
{
    trv_arena_destroy(step->arena);
    *step = (trv_step_t)TRV_STEP_INIT;
}

/* The sender's port for a message along a row. On a line there is only one direction from `from` to `to`, whatever
 * direction around a ring the algorithm intended. */
static int row_port(const trv_rows_t *rows, int from, int to, int port)
{
    const int d = trv_port_dimension(port);
    if (!trv_rows_are_lines(rows, d))
        return port;
    const int size = rows->torus.size[d], start = trv_row_start(rows, from, d);
    const int sender_position = (trv_torus_coordinate(&rows->torus, from, d) - start + size) % size;
    const int receiver_position = (trv_torus_coordinate(&rows->torus, to, d) - start + size) % size;
    return trv_port(d, receiver_position > sender_position ? 1 : -1);
}

static int message_port(const trv_schedule_t *schedule, int from, int to, int port)
{
    return schedule->fixed_rows ? trv_row_first_port(schedule->fixed_rows, from, to)
                                : row_port(schedule->rows, from, to, port);
}

static void route_messages(const trv_schedule_t *schedule, int rank, trv_step_t *step)
{
    for (int i = 0; i < step->sends; i++) {
        trv_message_t *message = (trv_message_t *)&step->send[i];
        message->port = message_port(schedule, rank, message->peer, message->port);
    }
    for (int i = 0; i < step->receives; i++) {
        trv_message_t *message = (trv_message_t *)&step->receive[i];
        message->port = message_port(schedule, message->peer, rank, message->port);
    }
}

int trv_schedule_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    if (rank < 0 || rank >= schedule->torus.ranks || stream < 0 || stream >= schedule->streams || step < 0 ||
        step >= schedule->steps)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "rank %d, stream %d, step %d is not in the schedule of %d ranks, %d streams and "
                        "%d steps",
                        rank, stream, step, schedule->torus.ranks, schedule->streams, schedule->steps);
    int rc = step_empty(out);
    if (!rc)
        rc = schedule->step(schedule, rank, stream, step, out);
    if (!rc && (schedule->fixed_rows || (schedule->rows && schedule->rows->lines)))
        route_messages(schedule, rank, out);
    return rc;
}

void *trv_step_alloc(trv_step_t *step, size_t bytes)
{
    void *memory = trv_arena_alloc(step->arena, bytes);
    if (!memory)
        trv_fail_memory();
    return memory;
}

int trv_step_reserve(trv_step_t *step, int sends, int receives, int combines)
{
    step->send = trv_step_alloc(step, (size_t)sends * sizeof *step->send);
    step->receive = trv_step_alloc(step, (size_t)receives * sizeof *step->receive);
    step->combine = trv_step_alloc(step, (size_t)combines * sizeof *step->combine);
    return step->send && step->receive && step->combine ? TRV_OK : TRV_ERR_MEMORY;
}

/* Messages are const for readers. Only this module casts that away, to fill in messages and to set their ports. */
static trv_part_t *message_fill(trv_step_t *step, const trv_message_t *message, int peer, int port, int nic, int parts)
{
    trv_part_t *part = trv_step_alloc(step, (size_t)parts * sizeof *part);
    if (!part)
        return NULL;
    memset(part, 0, (size_t)parts * sizeof *part);
    *(trv_message_t *)message = (trv_message_t){peer, port, nic, parts, part};
    return part;
}

trv_part_t *trv_step_send(trv_step_t *step, int peer, int port, int parts)
{
    return trv_step_send_by(step, peer, port, -1, parts);
}

trv_part_t *trv_step_receive(trv_step_t *step, int peer, int port, int parts)
{
    return trv_step_receive_by(step, peer, port, -1, parts);
}

trv_part_t *trv_step_send_by(trv_step_t *step, int peer, int port, int nic, int parts)
{
    return message_fill(step, &step->send[step->sends++], peer, port, nic, parts);
}

trv_part_t *trv_step_receive_by(trv_step_t *step, int peer, int port, int nic, int parts)
{
    return message_fill(step, &step->receive[step->receives++], peer, port, nic, parts);
}

int trv_step_combine(trv_step_t *step, int dst, int sources, const int *source, int first, const trv_blocks_t *blocks)
{
    int *copy = NULL;
    if (source) {
        copy = trv_step_alloc(step, (size_t)sources * sizeof *copy);
        if (!copy)
            return TRV_ERR_MEMORY;
        memcpy(copy, source, (size_t)sources * sizeof *copy);
    }
    *(trv_combine_t *)&step->combine[step->combines++] = (trv_combine_t){.dst = dst,
                                                                         .sources = sources,
                                                                         .source = copy,
                                                                         .first = first,
                                                                         .blocks = *blocks};
    return TRV_OK;
}

int trv_blocks_flatten(trv_blocks_t *blocks, const trv_torus_t *space, int each, int first, int count,
                       trv_step_t *memory)
{
    const int64_t units = trv_blocks_count(blocks);
    int64_t *unit = trv_step_alloc(memory, (size_t)units * sizeof *unit);
    int *value = trv_step_alloc(memory, (size_t)units * (size_t)count * sizeof *value);
    if (!unit || !value)
        return TRV_ERR_MEMORY;
    trv_blocks_list(blocks, unit);
    for (int64_t i = 0; i < units * count; i++)
        value[i] = (int)(unit[i / count] * each + first + i % count);
    trv_blocks_begin(blocks, space, 1);
    trv_product_t *product = trv_blocks_add(blocks, 1);
    product->count[0] = (int)(units * count);
    product->value[0] = value;
    return TRV_OK;
}
