/*
 * Schedules of one stage.
 */
#include "algorithms/stage.h"

#include "torus/torus.h"

trv_lattice_t trv_lattice_whole(const trv_torus_t *torus)
{
    trv_lattice_t lattice = {0};
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
    const trv_blocks_t all = trv_blocks_all(schedule);
    return stage->step(stage, schedule, rank, stream, step, &all, out);
}

static void destroy(void *tables)
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
    schedule->destroy = destroy;
    schedule->step = whole_step;
    schedule->steps = stage->steps;
    schedule->registers = stage->registers;
    schedule->messages_per_port = stage->messages_per_port;
    schedule->streams = active ? active : 1;
    return TRV_OK;
}
