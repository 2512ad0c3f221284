/*
 * Accessors of schedules and the sizes of messages: the part of trivance/schedule.h that does not concern single steps.
 */
#include "schedule/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schedule/collective.h"
#include "torus/torus.h"

trv_schedule_t *trv_schedule_allocate(const trv_torus_t *torus, const char *name, trv_collective_t collective, int root)
{
    trv_schedule_t *schedule = calloc(1, sizeof *schedule);
    if (!schedule)
        return NULL;
    snprintf(schedule->name, sizeof schedule->name, "%s", name);
    schedule->torus = *torus;
    schedule->collective = collective;
    schedule->root = root;
    schedule->streams = 1;
    schedule->mirrored_from = -1;
    schedule->registers = 1;
    schedule->halves = 1;
    trv_torus_init(&schedule->space, 1, &(int){1});
    return schedule;
}

void trv_schedule_destroy(trv_schedule_t *schedule)
{
    if (!schedule)
        return;
    if (schedule->destroy)
        schedule->destroy(schedule->tables);
    trv_rows_destroy(schedule->rows);
    trv_rows_destroy(schedule->fixed_rows);
    free(schedule->weight);
    free(schedule);
}

const char *trv_schedule_name(const trv_schedule_t *schedule) { return schedule->name; }
const trv_torus_t *trv_schedule_torus(const trv_schedule_t *schedule) { return &schedule->torus; }
trv_collective_t trv_schedule_collective(const trv_schedule_t *schedule) { return schedule->collective; }
int trv_schedule_root(const trv_schedule_t *schedule) { return schedule->root; }
int trv_schedule_streams(const trv_schedule_t *schedule) { return schedule->streams; }

int trv_schedule_set_weights(trv_schedule_t *schedule, const int *weight)
{
    const size_t bytes = (size_t)schedule->streams * sizeof *weight;
    for (int s = 0; s < schedule->streams; s++)
        if (weight[s] < 1 || weight[s] > TRV_WEIGHT_MAX)
            return trv_fail(TRV_ERR_ARGUMENT, "the weight of stream %d of '%.80s' is %d; weights are 1 to %d", s,
                            schedule->name, weight[s], TRV_WEIGHT_MAX);
    schedule->weight = malloc(bytes);
    if (!schedule->weight)
        return trv_fail_memory();
    memcpy(schedule->weight, weight, bytes);
    schedule->weights = trv_schedule_weights(schedule, schedule->streams);
    return TRV_OK;
}

int trv_schedule_copy_properties(trv_schedule_t *schedule, const trv_schedule_t *from)
{
    schedule->streams = from->streams;
    schedule->steps = from->steps;
    schedule->registers = from->registers;
    schedule->space = from->space;
    schedule->halves = from->halves;
    schedule->mirrored_from = from->mirrored_from;
    schedule->messages_per_port = from->messages_per_port;
    schedule->symmetry = from->symmetry;
    schedule->exactness = from->exactness;
    schedule->consistent = from->consistent;
    schedule->owned = from->owned;
    return from->weight ? trv_schedule_set_weights(schedule, from->weight) : TRV_OK;
}

int trv_schedule_weight(const trv_schedule_t *schedule, int stream)
{
    return schedule->weight ? schedule->weight[stream] : 1;
}

int64_t trv_schedule_weights(const trv_schedule_t *schedule, int streams)
{
    int64_t weights = 0;
    for (int s = 0; s < streams; s++)
        weights += trv_schedule_weight(schedule, s);
    return weights;
}

int trv_schedule_steps(const trv_schedule_t *schedule) { return schedule->steps; }
int trv_schedule_registers(const trv_schedule_t *schedule) { return schedule->registers; }
const trv_torus_t *trv_schedule_space(const trv_schedule_t *schedule) { return &schedule->space; }
int trv_schedule_halves(const trv_schedule_t *schedule) { return schedule->halves; }

static bool is_line(const trv_schedule_t *schedule, int dimension)
{
    return trv_torus_is_line(&schedule->torus, dimension) || trv_rows_are_lines(schedule->rows, dimension);
}

trv_symmetry_t trv_schedule_symmetry(const trv_schedule_t *schedule)
{
    for (int d = 0; d < schedule->torus.dims; d++)
        if (is_line(schedule, d))
            return TRV_SYMMETRY_NONE;
    return schedule->symmetry;
}

int trv_schedule_period(const trv_schedule_t *schedule, int dimension)
{
    int size = schedule->torus.size[dimension];
    switch (is_line(schedule, dimension) ? TRV_SYMMETRY_NONE : schedule->symmetry) {
    case TRV_SYMMETRY_TRANSLATION: return 1;
    case TRV_SYMMETRY_PARITY: return size % 2 ? 1 : 2;
    default: return size;
    }
}

trv_exactness_t trv_schedule_exactness(const trv_schedule_t *schedule) { return schedule->exactness; }
bool trv_schedule_consistent(const trv_schedule_t *schedule) { return schedule->consistent; }

int64_t trv_schedule_units(const trv_schedule_t *schedule) { return (int64_t)schedule->space.ranks * schedule->halves; }

bool trv_schedule_mirrored(const trv_schedule_t *schedule, int stream)
{
    return !schedule->fixed_rows && trv_stream_is_mirrored(schedule, stream);
}

int trv_schedule_axes(const trv_schedule_t *schedule, int stream, trv_axis_t axis[TRV_AXES_MAX])
{
    if (schedule->axes)
        return schedule->axes(schedule, stream, axis);
    if (schedule->position)
        return 0;
    for (int d = 0; d < schedule->space.dims; d++)
        axis[d] = (trv_axis_t){d, 1, schedule->space.size[d]};
    return schedule->space.dims;
}

int64_t trv_schedule_position(const trv_schedule_t *schedule, int stream, int64_t unit)
{
    if (!schedule->axes)
        return schedule->position ? schedule->position(schedule, stream, unit) : unit;
    trv_axis_t axis[TRV_AXES_MAX];
    int coordinate[TRV_DIMS_MAX];
    int64_t position = 0;
    const int axes = schedule->axes(schedule, stream, axis);
    trv_torus_coordinates(&schedule->space, (int)(unit / schedule->halves), coordinate);
    for (int i = 0; i < axes; i++)
        position = position * axis[i].size + coordinate[axis[i].dimension] / axis[i].divisor % axis[i].size;
    return position * schedule->halves + unit % schedule->halves;
}

int trv_schedule_owner(const trv_schedule_t *schedule, int64_t unit)
{
    return schedule->owned ? (int)(unit / (trv_schedule_units(schedule) / schedule->torus.ranks)) : -1;
}

static bool collective_exists(trv_collective_t collective)
{
    return (int)collective >= 0 && (int)collective < TRV_COLLECTIVES;
}

const char *trv_collective_name(trv_collective_t collective)
{
    return collective_exists(collective) ? trv_collective_shape(collective)->name : NULL;
}

const char *trv_collective_title(trv_collective_t collective)
{
    return collective_exists(collective) ? trv_collective_shape(collective)->title : NULL;
}

int trv_schedule_source(const trv_schedule_t *schedule, int rank, int64_t unit)
{
    const trv_collective_shape_t *shape = trv_schedule_shape(schedule);
    if (shape->before != TRV_EVERY_RANK)
        return shape->before == TRV_ROOT ? schedule->root : trv_schedule_owner(schedule, unit);
    if (!shape->exchanges)
        return -1;
    return trv_torus_displace(&schedule->torus, rank,
                              (int)(unit / (trv_schedule_units(schedule) / schedule->torus.ranks)), -1);
}

int64_t trv_message_units(const trv_schedule_t *schedule, const trv_message_t *message)
{
    int64_t units = 0;
    for (int p = 0; p < message->parts; p++) {
        int64_t count = trv_blocks_count(&message->part[p].blocks);
        units += message->part[p].slots ? count * trv_schedule_units(schedule) : count;
    }
    return units;
}

__extension__ typedef unsigned __int128 uint128_t;

uint64_t trv_share_bytes(int64_t shares, uint64_t all, uint64_t vector_bytes)
{
    /* Computes ceil(shares * vector / all) without overflow, where vector = whole * all + rest. */
    uint64_t whole = vector_bytes / all, rest = vector_bytes % all;
    uint64_t bytes = (uint64_t)shares * whole + (uint64_t)(((uint128_t)shares * rest + all - 1) / all);
    return bytes > 0 ? bytes : 1;
}

int64_t trv_schedule_shares(const trv_schedule_t *schedule)
{
    return trv_schedule_units(schedule) * (schedule->weight ? schedule->weights : schedule->streams);
}

uint64_t trv_units_bytes(const trv_schedule_t *schedule, int stream, int64_t units, uint64_t vector_bytes)
{
    const uint64_t all = (uint64_t)trv_schedule_shares(schedule);
    return trv_share_bytes(units * trv_schedule_weight(schedule, stream), all, vector_bytes);
}

uint64_t trv_message_bytes(const trv_schedule_t *schedule, int stream, const trv_message_t *message,
                           uint64_t vector_bytes)
{
    return trv_units_bytes(schedule, stream, trv_message_units(schedule, message), vector_bytes);
}
