/*
 * Computes the dataflow of one rank in a stream: the values in its registers, step by step.
 *
 * First all sets of the schedule are collected, and the slice is partitioned by them into atoms (space.h). Each atom of
 * a register holds a value. A received atom and a combined one are new values; a copy (a combine of one source) only
 * lets another register hold the same value and costs nothing. A message carries its parts one after the other, each in
 * the order of positions, which is contiguous in memory more often than the order of units.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "execute/compile/program.h"
#include "base/array.h"
#include "schedule/collective.h"

/* The state shared by the functions below. */
typedef struct walk {
    trv_flow_t *flow;
    const trv_schedule_t *schedule;
    int rank, stream, registers, tick, step;
    bool again;    /* the sets are not products along the axes, so that a flat space is needed */
    int *bound;    /* [register][atom]: the value held, or -1 */
    int64_t *slot; /* scratch buffer for the registers of a message */
    int64_t slot_capacity;
} walk_t;

static int check_register(const walk_t *walk, int64_t reg)
{
    if (reg >= 0 && reg < walk->registers)
        return 0;
    return trv_fail(TRV_ERR_INVALID,
                    "'%s': step %d of stream %d names register %lld of rank %d; it has registers 0 "
                    "… %d",
                    trv_schedule_name(walk->schedule), walk->step, walk->stream, (long long)reg, walk->rank,
                    walk->registers - 1);
}

/* ---- Collecting the sets ----------------------------------------------------------------------------------------- */

static int add_part(walk_t *walk, int64_t reg, int cover)
{
    trv_flow_t *flow = walk->flow;
    if (cover < 0)
        return cover;
    if (walk->again || flow->partition.cover[cover].nodes == 0)
        return 0;
    int rc = check_register(walk, reg);
    if (!rc)
        rc = trv_array_reserve(&flow->part, &flow->part_capacity, flow->parts, 1, sizeof *flow->part);
    if (!rc)
        flow->part[flow->parts++] = (trv_flow_part_t){.reg = (int)reg, .cover = cover};
    return rc;
}

static int collect_registers(walk_t *walk, const trv_part_t *part)
{
    const int64_t count = trv_blocks_count(&part->blocks);
    if (trv_array_reserve(&walk->slot, &walk->slot_capacity, 0, count, sizeof *walk->slot))
        return TRV_ERR_MEMORY;
    trv_blocks_list(&part->blocks, walk->slot);
    int rc = 0;
    for (int64_t i = 0; !rc && i < count; i++)
        rc = add_part(walk, part->reg + walk->slot[i], walk->flow->everything);
    return rc;
}

/* Adds a message to the sends or the receives, unless it is empty. */
static int collect_message(walk_t *walk, const trv_message_t *message, bool receive)
{
    trv_flow_t *flow = walk->flow;
    trv_flow_message_t **messages = receive ? &flow->receive : &flow->send;
    int *count = receive ? &flow->receives : &flow->sends, first = flow->parts;
    int rc = trv_array_reserve(messages, receive ? &flow->receive_capacity : &flow->send_capacity, *count, 1,
                               sizeof **messages);
    for (int p = 0; !rc && !walk->again && p < message->parts; p++) {
        const trv_part_t *part = &message->part[p];
        rc = part->slots
                 ? collect_registers(walk, part)
                 : add_part(walk, part->reg, trv_partition_cover(&flow->partition, &part->blocks, &walk->again));
    }
    if (!rc && flow->parts > first)
        (*messages)[(*count)++] = (trv_flow_message_t){message->peer, message->port, first, flow->parts - first};
    return rc;
}

static int collect_combine(walk_t *walk, const trv_combine_t *combine)
{
    trv_flow_t *flow = walk->flow;
    int rc = check_register(walk, combine->dst);
    for (int s = 0; !rc && s < combine->sources; s++)
        rc = check_register(walk, combine->source ? combine->source[s] : combine->first + s);
    int cover = rc ? rc : trv_partition_cover(&flow->partition, &combine->blocks, &walk->again);
    if (cover < 0 || walk->again || flow->partition.cover[cover].nodes == 0)
        return cover < 0 ? cover : 0;
    rc = trv_array_reserve(&flow->combine, &flow->combine_capacity, flow->combines, 1, sizeof *flow->combine);
    if (!rc)
        rc = trv_array_reserve(&flow->reg, &flow->reg_capacity, flow->regs, combine->sources, sizeof *flow->reg);
    if (rc)
        return rc;
    flow->combine[flow->combines++] = (trv_flow_combine_t){.dst = combine->dst,
                                                           .cover = cover,
                                                           .sources = combine->sources,
                                                           .reg = flow->regs};
    for (int s = 0; s < combine->sources; s++)
        flow->reg[flow->regs++] = combine->source ? combine->source[s] : combine->first + s;
    return 0;
}

static int collect_step(walk_t *walk, const trv_step_t *step)
{
    trv_flow_t *flow = walk->flow;
    int rc = trv_array_reserve(&flow->step, &flow->step_capacity, flow->steps, 1, sizeof *flow->step);
    trv_flow_step_t added = {.step = walk->step,
                             .send = flow->sends,
                             .receive = flow->receives,
                             .combine = flow->combines};
    for (int i = 0; !rc && !walk->again && i < step->sends; i++)
        rc = collect_message(walk, &step->send[i], false);
    for (int i = 0; !rc && !walk->again && i < step->receives; i++)
        rc = collect_message(walk, &step->receive[i], true);
    for (int i = 0; !rc && !walk->again && i < step->combines; i++)
        rc = collect_combine(walk, &step->combine[i]);
    added.sends = flow->sends - added.send;
    added.receives = flow->receives - added.receive;
    added.combines = flow->combines - added.combine;
    if (!rc && (added.sends || added.receives || added.combines))
        flow->step[flow->steps++] = added;
    return rc;
}

/* Finds the cover of the rank's block, or of all units if these have no owners. */
static int find_block(walk_t *walk)
{
    const int64_t units = trv_schedule_units(walk->schedule), ranks = trv_schedule_torus(walk->schedule)->ranks;
    walk->flow->block = units;
    if (!trv_collective_has_owners(trv_schedule_collective(walk->schedule)))
        return 0;
    walk->flow->block = units / ranks;
    if (units % ranks)
        return trv_fail(TRV_ERR_INVALID, "'%s' has %lld units, which is no multiple of its %lld ranks",
                        trv_schedule_name(walk->schedule), (long long)units, (long long)ranks);
    if (trv_schedule_owner(walk->schedule, 0) < 0)
        return trv_fail(TRV_ERR_INVALID, "the units of '%s' have no owners, which %s needs",
                        trv_schedule_name(walk->schedule), trv_schedule_shape(walk->schedule)->title);
    return 0;
}

/* Collects all sets and computes the partition. Large sets come first, so that small ones do not divide them: the steps
 * of an AllGather are processed from the last to the first, and the rank's own block is added at the end. */
static int collect(walk_t *walk, trv_space_t *space, bool flat)
{
    trv_flow_t *flow = walk->flow;
    trv_partition_t *partition = &flow->partition;
    trv_step_t step = TRV_STEP_INIT;
    const int steps = trv_schedule_steps(walk->schedule);
    const bool back = !trv_schedule_shape(walk->schedule)->all_before;
    int rc = trv_partition_begin(partition, space, walk->schedule, walk->stream, flat);
    if (!rc)
        rc = find_block(walk);
    if (!rc)
        rc = flow->everything = trv_partition_run(partition, 0, space->units, &walk->again);
    for (int k = 0; rc >= 0 && !walk->again && k < steps; k++) {
        walk->step = back ? steps - 1 - k : k;
        rc = trv_schedule_step(walk->schedule, walk->rank, walk->stream, walk->step, &step);
        if (!rc)
            rc = collect_step(walk, &step);
    }
    trv_step_clear(&step);
    for (int i = 0, j = flow->steps - 1; back && i < j; i++, j--) {
        const trv_flow_step_t swapped = flow->step[i];
        flow->step[i] = flow->step[j];
        flow->step[j] = swapped;
    }
    if (rc >= 0 && !walk->again && flow->block < space->units)
        rc = trv_partition_run(partition, walk->rank * flow->block, flow->block, &walk->again);
    return rc < 0 || walk->again ? (rc < 0 ? rc : 0) : trv_partition_end(partition);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static int new_value(walk_t *walk, int atom)
{
    trv_flow_t *flow = walk->flow;
    if (trv_array_reserve(&flow->value, &flow->value_capacity, flow->values, 1, sizeof *flow->value))
        return TRV_ERR_MEMORY;
    flow->value[flow->values] = (trv_value_t){.atom = atom, .last = -1, .area = -1};
    return flow->values++;
}

static int append(walk_t *walk, int value)
{
    trv_flow_t *flow = walk->flow;
    if (trv_array_reserve(&flow->list, &flow->list_capacity, flow->listed, 1, sizeof *flow->list))
        return TRV_ERR_MEMORY;
    flow->list[flow->listed++] = value;
    return 0;
}

static int *holder(walk_t *walk, int reg, int atom)
{
    return &walk->bound[(size_t)reg * (size_t)walk->flow->partition.atoms + (size_t)atom];
}

static void bind(walk_t *walk, int reg, int atom, int value)
{
    *holder(walk, reg, atom) = value;
    if (reg == 0 && walk->flow->out[atom])
        walk->flow->value[value].home = true;
}

static long long first_unit(const walk_t *walk, int atom)
{
    const trv_partition_t *p = &walk->flow->partition;
    return trv_partition_unit(p, trv_space_first(p->space, p->node[p->leaf[atom]].product));
}

/* Records a use of the value that a register's atom holds, at the present tick. Returns a negative value if the atom is
 * empty. */
static int use(walk_t *walk, int reg, int atom)
{
    int value = *holder(walk, reg, atom);
    if (value < 0)
        return trv_fail(TRV_ERR_INVALID,
                        "'%s': in step %d of stream %d, rank %d uses unit %lld of register %d before "
                        "anything is in it",
                        trv_schedule_name(walk->schedule), walk->step, walk->stream, walk->rank, first_unit(walk, atom),
                        reg);
    walk->flow->value[value].last = walk->tick;
    return value;
}

/* Visits the atoms of a cover: the values of register `reg` are used or, with `made`, replaced by new ones. */
static int carry(walk_t *walk, int reg, int cover, bool made)
{
    const trv_partition_t *p = &walk->flow->partition;
    const trv_cover_t *c = &p->cover[cover];
    for (int n = c->node; n < c->node + c->nodes; n++) {
        const trv_node_t *node = &p->node[p->list[n]];
        for (int atom = node->atom; atom < node->atom + node->atoms; atom++) {
            int value = made ? new_value(walk, atom) : use(walk, reg, atom);
            if (value < 0)
                return value;
            if (made)
                bind(walk, reg, atom, value);
            if (append(walk, value))
                return TRV_ERR_MEMORY;
        }
    }
    return 0;
}

static int follow_message(walk_t *walk, const trv_flow_message_t *message, bool receive)
{
    trv_flow_t *flow = walk->flow;
    int rc = 0;
    for (int i = message->part; !rc && i < message->part + message->parts; i++) {
        trv_flow_part_t *part = &flow->part[i];
        part->value = flow->listed;
        rc = carry(walk, part->reg, part->cover, receive);
        part->values = flow->listed - part->value;
    }
    return rc;
}

/* A copy makes the destination hold the source's values. */
static int copy_values(walk_t *walk, const trv_flow_combine_t *combine)
{
    const trv_partition_t *p = &walk->flow->partition;
    const trv_cover_t *c = &p->cover[combine->cover];
    const int source = walk->flow->reg[combine->reg];
    for (int n = c->node; n < c->node + c->nodes; n++) {
        const trv_node_t *node = &p->node[p->list[n]];
        for (int atom = node->atom; atom < node->atom + node->atoms; atom++) {
            int value = *holder(walk, source, atom);
            if (value < 0)
                return use(walk, source, atom);
            bind(walk, combine->dst, atom, value);
        }
    }
    return 0;
}

static int follow_combine(walk_t *walk, trv_flow_combine_t *combine)
{
    trv_flow_t *flow = walk->flow;
    int rc = 0;
    combine->tick = walk->tick;
    combine->source = combine->result = flow->listed;
    if (combine->sources == 1)
        return copy_values(walk, combine);
    for (int s = 0; !rc && s < combine->sources; s++) {
        rc = carry(walk, flow->reg[combine->reg + s], combine->cover, false);
        if (s == 0)
            combine->atoms = flow->listed - combine->source;
    }
    combine->result = flow->listed;
    if (!rc)
        rc = carry(walk, combine->dst, combine->cover, true);
    walk->tick++;
    return rc;
}

static int follow_step(walk_t *walk, trv_flow_step_t *step)
{
    trv_flow_t *flow = walk->flow;
    int rc = 0;
    walk->step = step->step;
    step->tick = walk->tick;
    for (int i = 0; !rc && i < step->sends; i++)
        rc = follow_message(walk, &flow->send[step->send + i], false);
    for (int i = 0; !rc && i < step->receives; i++)
        rc = follow_message(walk, &flow->receive[step->receive + i], true);
    walk->tick++;
    for (int i = 0; !rc && i < step->combines; i++)
        rc = follow_combine(walk, &flow->combine[step->combine + i]);
    return rc;
}

/* Creates the rank's contributions, which register 0 holds at the start. */
static int begin(walk_t *walk)
{
    trv_flow_t *flow = walk->flow;
    trv_partition_t *p = &flow->partition;
    const size_t atoms = (size_t)p->atoms, held = (size_t)walk->registers * atoms;
    const trv_collective_shape_t *shape = trv_schedule_shape(walk->schedule);
    walk->bound = malloc((held ? held : 1) * sizeof *walk->bound);
    flow->result = malloc(atoms * sizeof *flow->result);
    flow->in = malloc(atoms * sizeof *flow->in);
    flow->out = malloc(atoms * sizeof *flow->out);
    if (!walk->bound || !flow->result || !flow->in || !flow->out)
        return trv_fail_memory();
    memset(walk->bound, 0xff, held * sizeof *walk->bound);
    for (int atom = 0; atom < p->atoms; atom++) {
        const bool own = trv_space_first(p->space, p->node[p->leaf[atom]].product) / flow->block == walk->rank;
        flow->in[atom] = shape->all_before || own;
        flow->out[atom] = shape->all_after || own;
    }
    for (int atom = 0; walk->registers > 0 && atom < p->atoms; atom++) {
        int value = flow->in[atom] ? new_value(walk, atom) : 0;
        if (value < 0)
            return value;
        if (!flow->in[atom])
            continue;
        flow->value[value].place = (trv_place_t){TRV_AT_INPUT, -1};
        bind(walk, 0, atom, value);
    }
    flow->contributions = flow->values;
    return 0;
}

/* Records the results, which register 0 holds at the end for every atom that has one. */
static int finish(walk_t *walk)
{
    trv_flow_t *flow = walk->flow;
    flow->end = walk->tick;
    for (int atom = 0; atom < flow->partition.atoms; atom++) {
        flow->result[atom] = -1;
        if (!flow->out[atom])
            continue;
        int value = *holder(walk, 0, atom);
        if (value < 0)
            return trv_fail(TRV_ERR_INVALID, "'%s' leaves rank %d without a result in unit %lld of stream %d",
                            trv_schedule_name(walk->schedule), walk->rank, first_unit(walk, atom), walk->stream);
        flow->result[atom] = value;
        flow->value[value].final = true;
        flow->value[value].last = walk->tick;
    }
    return 0;
}

int trv_flow_make(trv_flow_t *flow, trv_space_t *space, const trv_schedule_t *schedule, int rank, int stream)
{
    walk_t walk = {.flow = flow,
                   .schedule = schedule,
                   .rank = rank,
                   .stream = stream,
                   .registers = trv_schedule_registers(schedule)};
    memset(flow, 0, sizeof *flow);
    int rc = collect(&walk, space, false);
    if (!rc && walk.again) {
        trv_flow_clear(flow);
        trv_space_clear(space);
        walk.again = false;
        rc = collect(&walk, space, true);
    }
    if (!rc)
        rc = begin(&walk);
    for (int k = 0; !rc && k < flow->steps; k++)
        rc = follow_step(&walk, &flow->step[k]);
    if (!rc)
        rc = finish(&walk);
    free(walk.bound);
    free(walk.slot);
    return rc;
}

void trv_flow_clear(trv_flow_t *flow)
{
    trv_partition_clear(&flow->partition);
    free(flow->value);
    free(flow->step);
    free(flow->send);
    free(flow->receive);
    free(flow->part);
    free(flow->combine);
    free(flow->list);
    free(flow->reg);
    free(flow->result);
    free(flow->in);
    free(flow->out);
    memset(flow, 0, sizeof *flow);
}
