/*
 * Explicit schedules: every message and every combine is stored. They are used for schedules of users, for schedules in
 * files, and in tests with deliberate faults. Each (stream, step, rank) has a list of sends, of receives and of
 * combines, in the order in which they were added.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schedule/arena.h"
#include "schedule/collective.h"
#include "schedule/schedule.h"

typedef struct units {
    int64_t count;
    int *value;
    bool slots;
} units_t;

typedef struct entry { /* a send or receive (peer, port, nic, parts), or a combine (sources, reg, one part) */
    struct entry *next;
    int peer, port, nic, parts;
    int sources;
    int *reg; /* one per part; of a combine: the sources, then the destination */
    units_t *part;
} entry_t;

typedef struct entries {
    entry_t *first, *last;
    int count;
} entries_t;

typedef struct cell {
    entries_t send, receive, combine;
} cell_t;

typedef struct tables {
    trv_arena_t *arena;
    trv_torus_t slot_space;
    int64_t *position;
    cell_t cell[]; /* (stream * steps + step) * ranks + rank */
} tables_t;

static cell_t *cell_at(const trv_schedule_t *schedule, int stream, int step, int rank)
{
    tables_t *tables = schedule->tables;
    return &tables->cell[((int64_t)stream * schedule->steps + step) * schedule->torus.ranks + rank];
}

static trv_blocks_t units_blocks(const trv_schedule_t *schedule, const units_t *units)
{
    const tables_t *tables = schedule->tables;
    trv_blocks_t blocks = {.space = units->slots ? &tables->slot_space : &schedule->space, .halves = 1, .terms = 1};
    blocks.term[0].halves = 1;
    blocks.term[0].count[0] = (int)units->count;
    blocks.term[0].value[0] = units->value;
    return blocks;
}

static int message_write(const trv_schedule_t *schedule, const entry_t *entry, trv_part_t *part)
{
    if (!part)
        return TRV_ERR_MEMORY;
    for (int p = 0; p < entry->parts; p++) {
        part[p].reg = entry->reg[p];
        part[p].slots = entry->part[p].slots;
        part[p].blocks = units_blocks(schedule, &entry->part[p]);
    }
    return TRV_OK;
}

static int explicit_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const cell_t *cell = cell_at(schedule, stream, step, rank);
    int rc = trv_step_reserve(out, cell->send.count, cell->receive.count, cell->combine.count);
    for (const entry_t *e = cell->send.first; e && !rc; e = e->next)
        rc = message_write(schedule, e, trv_step_send_by(out, e->peer, e->port, e->nic, e->parts));
    for (const entry_t *e = cell->receive.first; e && !rc; e = e->next)
        rc = message_write(schedule, e, trv_step_receive_by(out, e->peer, e->port, e->nic, e->parts));
    for (const entry_t *e = cell->combine.first; e && !rc; e = e->next) {
        trv_blocks_t blocks = units_blocks(schedule, e->part);
        rc = trv_step_combine(out, e->reg[e->sources], e->sources, e->reg, 0, &blocks);
    }
    return rc;
}

static int64_t explicit_position(const trv_schedule_t *schedule, int stream, int64_t unit)
{
    const tables_t *tables = schedule->tables;
    return tables->position[stream * trv_schedule_units(schedule) + unit];
}

static void explicit_destroy(void *memory)
{
    tables_t *tables = memory;
    trv_arena_destroy(tables->arena);
    free(tables);
}

static int check_options(const trv_explicit_options_t *options)
{
    int rc = trv_check_size(options->size, sizeof *options, "TRV_EXPLICIT_OPTIONS");
    if (rc)
        return rc;
    if (options->streams < 1 || options->steps < 0 || options->registers < 1 || options->units < 1 ||
        options->units > 1 << 30)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "an explicit schedule has at least 1 stream, 0 steps, 1 register and 1 to 2^30 "
                        "units, not %d, %d, %d and %lld",
                        options->streams, options->steps, options->registers, (long long)options->units);
    return TRV_OK;
}

int trv_explicit_create(trv_schedule_t **schedule, const trv_torus_t *torus, const char *name,
                        const trv_explicit_options_t *options)
{
    *schedule = NULL;
    int rc = check_options(options);
    if (rc)
        return rc;
    rc = trv_collective_check(options->collective, options->root, torus->ranks);
    if (rc)
        return rc;
    size_t cells = (size_t)options->streams * (size_t)options->steps * (size_t)torus->ranks;
    trv_schedule_t *s = trv_schedule_allocate(torus, name, options->collective, options->root);
    tables_t *tables = calloc(1, sizeof *tables + cells * sizeof(cell_t));
    trv_arena_t *arena = trv_arena_create();
    if (!s || !tables || !arena) {
        free(s);
        free(tables);
        trv_arena_destroy(arena);
        return trv_fail_memory();
    }
    tables->arena = arena;
    s->tables = tables;
    s->destroy = explicit_destroy;
    s->step = explicit_step;
    s->streams = options->streams;
    s->steps = options->steps;
    s->registers = options->registers;
    s->symmetry = options->symmetry;
    s->exactness = options->exactness;
    s->consistent = options->consistent;
    s->messages_per_port = options->messages_per_port > 0 ? options->messages_per_port : 0;
    s->mirrored_from = options->streams - options->mirrored_streams;
    s->owned = options->units % torus->ranks == 0;
    trv_torus_init(&s->space, 1, &(int){(int)options->units});
    trv_torus_init(&tables->slot_space, 1, &options->registers);
    if (options->position) {
        size_t bytes = (size_t)options->streams * (size_t)options->units * sizeof(int64_t);
        tables->position = trv_arena_alloc(arena, bytes);
        if (!tables->position) {
            trv_schedule_destroy(s);
            return trv_fail_memory();
        }
        memcpy(tables->position, options->position, bytes);
        s->position = explicit_position;
    }
    rc = options->weight ? trv_schedule_set_weights(s, options->weight) : TRV_OK;
    if (rc)
        trv_schedule_destroy(s);
    else
        *schedule = s;
    return rc;
}

int trv_explicit_create_like(trv_schedule_t **created, const trv_schedule_t *from,
                             const trv_explicit_options_t *options)
{
    const int64_t units = trv_schedule_units(from);
    int64_t *position = malloc((size_t)units * (size_t)from->streams * sizeof *position);
    trv_explicit_options_t like = *options;
    *created = NULL;
    if (!position)
        return trv_fail_memory();
    for (int64_t i = 0; i < units * from->streams; i++)
        position[i] = trv_schedule_position(from, (int)(i / units), i % units);
    like.collective = from->collective;
    like.root = from->root;
    like.streams = from->streams;
    like.units = units;
    like.exactness = from->exactness;
    like.consistent = from->consistent;
    like.position = position;
    like.weight = from->weight;
    const int rc = trv_explicit_create(created, &from->torus, from->name, &like);
    if (!rc)
        (*created)->owned = from->owned;
    free(position);
    return rc;
}

/* Appends an entry with memory for `parts` parts and `regs` registers. */
static entry_t *entry_append(tables_t *tables, entries_t *list, int parts, int regs)
{
    entry_t *entry = trv_arena_alloc(tables->arena, sizeof *entry);
    units_t *part = trv_arena_alloc(tables->arena, (size_t)parts * sizeof *part);
    int *reg = trv_arena_alloc(tables->arena, (size_t)regs * sizeof *reg);
    if (!entry || !part || !reg)
        return NULL;
    *entry = (entry_t){.parts = parts, .part = part, .reg = reg};
    if (list->last)
        list->last->next = entry;
    else
        list->first = entry;
    list->last = entry;
    list->count++;
    return entry;
}

static int units_copy(tables_t *tables, units_t *to, bool slots, int64_t count, const int64_t *unit, int64_t limit)
{
    to->slots = slots;
    to->count = count;
    to->value = trv_arena_alloc(tables->arena, (size_t)count * sizeof *to->value);
    if (!to->value)
        return trv_fail_memory();
    for (int64_t i = 0; i < count; i++) {
        if (unit[i] < 0 || unit[i] >= limit || (i > 0 && unit[i] <= unit[i - 1]))
            return trv_fail(TRV_ERR_ARGUMENT,
                            "%s %lld is out of order or out of range: expected ascending numbers from 0 to %lld",
                            slots ? "register" : "unit", (long long)unit[i], (long long)limit - 1);
        to->value[i] = (int)unit[i];
    }
    return TRV_OK;
}

static int message_add_side(trv_schedule_t *schedule, entries_t *list, int peer, int port, int nic, bool sender,
                            int parts, const trv_explicit_part_t *part)
{
    tables_t *tables = schedule->tables;
    entry_t *entry = entry_append(tables, list, parts, parts);
    if (!entry)
        return trv_fail_memory();
    entry->peer = peer;
    entry->port = port;
    entry->nic = nic;
    for (int p = 0; p < parts; p++) {
        int64_t limit = part[p].slots ? schedule->registers : trv_schedule_units(schedule);
        entry->reg[p] = sender ? part[p].from_reg : part[p].to_reg;
        int rc = units_copy(tables, &entry->part[p], part[p].slots, part[p].count, part[p].unit, limit);
        if (rc)
            return rc;
    }
    return TRV_OK;
}

static int check_indices(const trv_schedule_t *schedule, int stream, int step, int rank)
{
    if (schedule->step != explicit_step)
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "only explicit schedules can be extended; trv_explicit_copy creates an explicit copy of any schedule");
    if (stream < 0 || stream >= schedule->streams || step < 0 || step >= schedule->steps || rank < 0 ||
        rank >= schedule->torus.ranks)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "rank %d, stream %d, step %d is not in the schedule of %d ranks, %d streams and "
                        "%d steps",
                        rank, stream, step, schedule->torus.ranks, schedule->streams, schedule->steps);
    return TRV_OK;
}

int trv_explicit_message(trv_schedule_t *schedule, int stream, int step, int from, int to, int port, int nic, int sides,
                         int parts, const trv_explicit_part_t *part)
{
    int rc = check_indices(schedule, stream, step, sides & TRV_SEND ? from : to);
    if (!rc && sides & TRV_RECEIVE)
        rc = check_indices(schedule, stream, step, to);
    if (!rc && sides & TRV_SEND)
        rc = message_add_side(schedule, &cell_at(schedule, stream, step, from)->send, to, port, nic, true, parts, part);
    if (!rc && sides & TRV_RECEIVE)
        rc = message_add_side(schedule, &cell_at(schedule, stream, step, to)->receive, from, port, nic, false, parts,
                              part);
    return rc;
}

int trv_explicit_combine(trv_schedule_t *schedule, int stream, int step, int rank, int dst, int sources,
                         const int *source, int64_t count, const int64_t *unit)
{
    int rc = check_indices(schedule, stream, step, rank);
    if (rc)
        return rc;
    tables_t *tables = schedule->tables;
    entry_t *entry = entry_append(tables, &cell_at(schedule, stream, step, rank)->combine, 1, sources + 1);
    if (!entry)
        return trv_fail_memory();
    entry->sources = sources;
    memcpy(entry->reg, source, (size_t)sources * sizeof *source);
    entry->reg[sources] = dst;
    return units_copy(tables, entry->part, false, count, unit, trv_schedule_units(schedule));
}
