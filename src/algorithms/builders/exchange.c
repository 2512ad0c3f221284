/*
 * All-to-all along spanning trees, see exchange.h.
 *
 * Units have the numbers of displacements: unit x of a rank is for rank + x, and has this number on every rank that it
 * passes. So the edges of unit x are those between 0 and x in the tree, and every rank sends the same units in a step.
 */
#include "algorithms/builders/exchange.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "torus/torus.h"

enum { ARRIVALS = 1 /* the register into which blocks are received, since others of their number are sent */ };

/* A message that every rank sends in a step. */
typedef struct parcel {
    int displacement, port;
    int units;
    int *unit; /* ascending */
    int64_t capacity;
} parcel_t;

typedef struct cell {
    parcel_t *parcel;
    int parcels;
    int64_t capacity;
} cell_t;

typedef struct tables {
    int cells;
    cell_t cell[]; /* stream * steps + step */
} tables_t;

static void exchange_destroy(void *memory)
{
    tables_t *tables = memory;
    for (int c = 0; c < tables->cells; c++) {
        for (int i = 0; i < tables->cell[c].parcels; i++)
            free(tables->cell[c].parcel[i].unit);
        free(tables->cell[c].parcel);
    }
    free(tables);
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* The message of a cell by this displacement and port; adds it if there is none. NULL when out of memory. */
static parcel_t *cell_parcel(cell_t *cell, int displacement, int port)
{
    for (int i = 0; i < cell->parcels; i++)
        if (cell->parcel[i].displacement == displacement && cell->parcel[i].port == port)
            return &cell->parcel[i];
    if (trv_array_reserve(&cell->parcel, &cell->capacity, cell->parcels, 1, sizeof *cell->parcel))
        return NULL;
    cell->parcel[cell->parcels] = (parcel_t){.displacement = displacement, .port = port};
    return &cell->parcel[cell->parcels++];
}

/* Adds unit `unit` to the messages of all edges between 0 and `unit`. */
static int add_unit(cell_t *cell, const trv_torus_t *torus, const trv_tree_edge_t *edge, int unit)
{
    for (int at = unit; edge[at].parent >= 0; at = edge[at].parent) {
        const int displacement = trv_torus_displace(torus, at, edge[at].parent, -1);
        parcel_t *parcel = cell_parcel(&cell[edge[at].step], displacement, edge[at].port);
        if (!parcel || trv_array_reserve(&parcel->unit, &parcel->capacity, parcel->units, 1, sizeof *parcel->unit))
            return TRV_ERR_MEMORY;
        parcel->unit[parcel->units++] = unit;
    }
    return TRV_OK;
}

/* ---- One rank's step --------------------------------------------------------------------------------------------- */

static void parcel_blocks(const trv_schedule_t *schedule, const parcel_t *parcel, trv_blocks_t *blocks)
{
    trv_blocks_begin(blocks, &schedule->space, 1);
    trv_product_t *product = trv_blocks_add(blocks, 1);
    product->count[0] = parcel->units;
    product->value[0] = parcel->unit;
}

/* The messages of a parcel: one to the rank at its displacement, and one from the rank at the opposite one. */
typedef struct pair {
    int to, from;
    trv_part_t *send, *receive;
} pair_t;

static int add_pair(const trv_schedule_t *schedule, int rank, const parcel_t *parcel, trv_step_t *out, pair_t *pair)
{
    pair->to = trv_torus_displace(&schedule->torus, rank, parcel->displacement, 1);
    pair->from = trv_torus_displace(&schedule->torus, rank, parcel->displacement, -1);
    pair->send = trv_step_send(out, pair->to, parcel->port, 1);
    pair->receive = trv_step_receive(out, pair->from, parcel->port, 1);
    return pair->send && pair->receive ? TRV_OK : TRV_ERR_MEMORY;
}

static int exchange_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    const cell_t *cell = &tables->cell[stream * schedule->steps + step];
    int rc = trv_step_reserve(out, cell->parcels, cell->parcels, cell->parcels);
    for (int i = 0; i < cell->parcels && !rc; i++) {
        const parcel_t *parcel = &cell->parcel[i];
        pair_t pair;
        if (add_pair(schedule, rank, parcel, out, &pair))
            return TRV_ERR_MEMORY;
        pair.receive->reg = ARRIVALS;
        parcel_blocks(schedule, parcel, &pair.send->blocks);
        parcel_blocks(schedule, parcel, &pair.receive->blocks);
        rc = trv_step_combine(out, 0, 1, NULL, ARRIVALS, &pair.send->blocks);
    }
    return rc;
}

/* ---- Direct messages --------------------------------------------------------------------------------------------- */

/* Sets `blocks` to the block of `rank` or, in an AllReduce, to the whole vector. */
static int direct_blocks(const trv_schedule_t *schedule, int rank, trv_step_t *out, trv_blocks_t *blocks)
{
    int *value = trv_step_alloc(out, sizeof *value);
    if (!value)
        return TRV_ERR_MEMORY;
    *value = schedule->collective == TRV_ALLREDUCE ? 0 : rank;
    trv_blocks_begin(blocks, &schedule->space, 1);
    trv_product_t *product = trv_blocks_add(blocks, 1);
    product->count[0] = 1;
    product->value[0] = value;
    return TRV_OK;
}

/* Adds the vectors of all ranks in the order of the ranks; register x of `rank` has the vector of rank - x. */
static int direct_sum(const trv_schedule_t *schedule, int rank, trv_step_t *out)
{
    const int ranks = schedule->torus.ranks;
    int *source = trv_step_alloc(out, (size_t)ranks * sizeof *source);
    trv_blocks_t whole;
    if (!source)
        return TRV_ERR_MEMORY;
    for (int r = 0; r < ranks; r++)
        source[r] = trv_torus_displace(&schedule->torus, rank, r, -1);
    trv_blocks_all(schedule, &whole);
    return trv_step_combine(out, 0, ranks, source, 0, &whole);
}

static int direct_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    const cell_t *cell = &tables->cell[stream * schedule->steps + step];
    const bool scatters = schedule->collective == TRV_REDUCE_SCATTER, whole = schedule->collective == TRV_ALLREDUCE;
    const bool ends = step + 1 == schedule->steps || cell[1].parcels == 0;
    trv_blocks_t own;
    int rc = trv_step_reserve(out, cell->parcels, cell->parcels, 1);
    rc = rc ? rc : direct_blocks(schedule, rank, out, &own);
    for (int i = 0; i < cell->parcels && !rc; i++) {
        const parcel_t *parcel = &cell->parcel[i];
        pair_t pair;
        if (add_pair(schedule, rank, parcel, out, &pair))
            return TRV_ERR_MEMORY;
        pair.receive->reg = whole ? parcel->displacement : scatters ? ARRIVALS + i : 0;
        pair.send->blocks = pair.receive->blocks = own;
        if (!whole)
            rc = direct_blocks(schedule, scatters ? pair.to : pair.from, out,
                               scatters ? &pair.send->blocks : &pair.receive->blocks);
    }
    if (rc || cell->parcels == 0 || !(scatters || (whole && ends)))
        return rc;
    if (whole)
        return direct_sum(schedule, rank, out);
    return trv_step_combine(out, 0, 1 + cell->parcels, NULL, 0, &own);
}

int trv_direct_exchange_create(trv_schedule_t *schedule, int streams, const trv_tree_edge_t *edge)
{
    const int rc = trv_exchange_create(schedule, streams, edge);
    const bool whole = schedule->collective == TRV_ALLREDUCE;
    const tables_t *tables = schedule->tables;
    schedule->step = direct_step;
    schedule->registers = whole ? schedule->torus.ranks : 1;
    for (int c = 0; tables && c < tables->cells && schedule->collective == TRV_REDUCE_SCATTER; c++)
        if (tables->cell[c].parcels >= schedule->registers)
            schedule->registers = 1 + tables->cell[c].parcels;
    schedule->owned = !whole;
    return rc || !whole ? rc : trv_torus_init(&schedule->space, 1, &(int){1});
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

int trv_exchange_create(trv_schedule_t *schedule, int streams, const trv_tree_edge_t *edge)
{
    const int ranks = schedule->torus.ranks;
    int steps = 0, rc = TRV_OK;
    for (size_t i = 0; i < (size_t)streams * (size_t)ranks; i++)
        if (edge[i].parent >= 0 && edge[i].step >= steps)
            steps = edge[i].step + 1;
    tables_t *tables = calloc(1, sizeof *tables + (size_t)streams * (size_t)steps * sizeof *tables->cell);
    if (!tables)
        return trv_fail_memory();
    tables->cells = streams * steps;
    schedule->tables = tables;
    schedule->destroy = exchange_destroy;
    schedule->step = exchange_step;
    schedule->streams = streams;
    schedule->steps = steps;
    schedule->registers = 2;
    schedule->owned = true;
    schedule->symmetry = TRV_SYMMETRY_TRANSLATION;
    trv_torus_init(&schedule->space, 1, &ranks);
    for (int s = 0; s < streams && !rc; s++)
        for (int unit = 1; unit < ranks && !rc; unit++)
            rc = add_unit(&tables->cell[s * steps], &schedule->torus, edge + (size_t)s * (size_t)ranks, unit);
    return rc;
}
