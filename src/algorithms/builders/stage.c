/*
 * Schedules that consist of one stage, and stages composed of other stages.
 */
#include "algorithms/builders/stage.h"

#include <stdlib.h>

#include "base/error.h"
#include "torus/torus.h"

trv_stage_lattice_t trv_stage_lattice_whole(const trv_torus_t *torus)
{
    trv_stage_lattice_t lattice = {0};
    lattice.active = trv_torus_active(torus, lattice.dimension);
    for (int i = 0; i < lattice.active; i++) {
        lattice.size[i] = torus->size[lattice.dimension[i]];
        lattice.stride[i] = 1;
    }
    return lattice;
}

static int whole_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const trv_stage_t *stage = schedule->tables;
    trv_blocks_t all;
    trv_blocks_all(schedule, &all);
    return stage->step(stage, schedule, rank, stream, step, &all, out);
}

static void stage_schedule_destroy(void *tables)
{
    trv_stage_t *stage = tables;
    stage->destroy(stage);
}

int trv_stage_create(trv_schedule_t *schedule, trv_stage_t *stage)
{
    if (!stage)
        return TRV_ERR_MEMORY;
    int dimension[TRV_DIMS_MAX], active = trv_torus_active(&schedule->torus, dimension);
    schedule->tables = stage;
    schedule->destroy = stage_schedule_destroy;
    schedule->step = whole_step;
    schedule->steps = stage->steps;
    schedule->registers = stage->registers;
    schedule->streams = active ? active : 1;
    return TRV_OK;
}

typedef struct turns {
    trv_stage_t base;
    int stages;
    trv_stage_t *stage[TRV_DIMS_MAX];
} turns_t;

static int turns_step(const trv_stage_t *stage, const trv_schedule_t *schedule, int rank, int stream, int step,
                      const trv_blocks_t *blocks, trv_step_t *out)
{
    const turns_t *turns = (const turns_t *)stage;
    int turn = 0;
    for (; step >= turns->stage[turn]->steps; turn++)
        step -= turns->stage[turn]->steps;
    return turns->stage[turn]->step(turns->stage[turn], schedule, rank, stream, step, blocks, out);
}

static void turns_destroy(trv_stage_t *stage)
{
    turns_t *turns = (turns_t *)stage;
    for (int i = 0; i < turns->stages; i++)
        if (turns->stage[i])
            turns->stage[i]->destroy(turns->stage[i]);
    free(turns);
}

static int larger(int a, int b) { return a > b ? a : b; }

trv_stage_t *trv_stages_in_turn(int stages, trv_stage_t **stage)
{
    turns_t *turns = calloc(1, sizeof *turns);
    bool complete = turns;
    if (turns)
        *turns = (turns_t){.base = {.step = turns_step, .destroy = turns_destroy}, .stages = stages};
    for (int i = 0; i < stages; i++) {
        complete = complete && stage[i];
        if (!turns && stage[i])
            stage[i]->destroy(stage[i]);
        if (!turns || !stage[i])
            continue;
        turns->stage[i] = stage[i];
        turns->base.steps += stage[i]->steps;
        turns->base.registers = larger(turns->base.registers, stage[i]->registers);
    }
    if (complete)
        return &turns->base;
    trv_fail_memory();
    if (turns)
        turns_destroy(&turns->base);
    return NULL;
}
