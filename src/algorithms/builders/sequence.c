/*
 * Two schedules one after another, see sequence.h. Blocks of both become units of a space with one dimension, in which
 * any set of blocks is one product.
 */
#include "algorithms/builders/sequence.h"

#include <stdlib.h>

#include "base/error.h"

typedef struct tables {
    trv_schedule_t *part[2];
    int main; /* the index of the part that has the streams */
} tables_t;

static void sequence_destroy(void *memory)
{
    tables_t *tables = memory;
    trv_schedule_destroy(tables->part[0]);
    trv_schedule_destroy(tables->part[1]);
    free(tables);
}

static int64_t sequence_position(const trv_schedule_t *schedule, int stream, int64_t unit)
{
    const tables_t *tables = schedule->tables;
    return trv_schedule_position(tables->part[tables->main], stream, unit);
}

/* Lists the units of the sets in the space of the sequence, in which every unit of a part is `each` units. Parts and
 * combines are const for readers only. */
static int convert_messages(const trv_schedule_t *schedule, int each, trv_step_t *step, const trv_message_t *message,
                            int messages)
{
    int rc = TRV_OK;
    for (int i = 0; i < messages; i++)
        for (int p = 0; p < message[i].parts && !rc; p++)
            rc = trv_blocks_flatten((trv_blocks_t *)&message[i].part[p].blocks, &schedule->space, each, 0, each, step);
    return rc;
}

static int sequence_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    const int first = trv_schedule_steps(tables->part[0]), index = step >= first;
    const trv_schedule_t *part = tables->part[index];
    const int each = (int)(trv_schedule_units(schedule) / trv_schedule_units(part));
    int rc = trv_schedule_step(part, rank, stream % trv_schedule_streams(part), step - (index ? first : 0), out);
    if (!rc)
        rc = convert_messages(schedule, each, out, out->send, out->sends);
    if (!rc)
        rc = convert_messages(schedule, each, out, out->receive, out->receives);
    for (int i = 0; i < out->combines && !rc; i++)
        rc = trv_blocks_flatten((trv_blocks_t *)&out->combine[i].blocks, &schedule->space, each, 0, each, out);
    return rc;
}

int trv_sequence_create(trv_schedule_t *schedule, trv_schedule_t *first, trv_schedule_t *second, bool main_first)
{
    trv_schedule_t *const main = main_first ? first : second;
    tables_t *tables = malloc(sizeof *tables);
    if (!tables) {
        trv_schedule_destroy(first);
        trv_schedule_destroy(second);
        return trv_fail_memory();
    }
    *tables = (tables_t){{first, second}, !main_first};
    schedule->tables = tables;
    schedule->destroy = sequence_destroy;
    schedule->step = sequence_step;
    schedule->position = sequence_position;
    schedule->streams = main->streams;
    schedule->steps = trv_schedule_steps(first) + trv_schedule_steps(second);
    schedule->registers = first->registers > second->registers ? first->registers : second->registers;
    schedule->mirrored_from = main->mirrored_from;
    schedule->exactness = main->exactness;
    schedule->owned = false;
    trv_torus_init(&schedule->space, 1, &(int){(int)trv_schedule_units(main)});
    return main->weight ? trv_schedule_set_weights(schedule, main->weight) : TRV_OK;
}
