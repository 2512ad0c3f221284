/*
 * Stages: latency-optimal AllReduces, alone (trivance-l) or as the middle of a hybrid.
 *
 * A stage works on a *lattice*: in every dimension the ranks whose coordinates are equal modulo `stride` form a ring of
 * `size` = torus size / stride ranks, and those rings make smaller tori, one for each class of ranks. All ranks of a
 * class hold partial sums of the same set of blocks; after the stage each of them holds their total.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_STAGE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_STAGE_H

#include "schedule/schedule.h"

/* The dimensions are those of the torus with more than one rank; size[i] and stride[i] belong to dimension[i]. */
typedef struct trv_lattice {
    int active, dimension[TRV_DIMS_MAX], size[TRV_DIMS_MAX], stride[TRV_DIMS_MAX];
} trv_lattice_t;

/* The whole torus: one class, stride 1. */
trv_lattice_t trv_lattice_whole(const trv_torus_t *torus);

typedef struct trv_stage trv_stage_t;
struct trv_stage {
    int steps, registers, messages_per_port;
    /* What `rank` does in step `step` of the stage, on `blocks` of every register; `out` is empty. */
    int (*step)(const trv_stage_t *stage, const trv_schedule_t *schedule, int rank, int stream, int step,
                const trv_blocks_t *blocks, trv_step_t *out);
    void (*destroy)(trv_stage_t *stage);
};

/* Completes a schedule that consists of this stage alone, on whole slices, with one stream per dimension larger than 1.
 * Takes the stage over; NULL is TRV_ERR_MEMORY. */
int trv_stage_create(trv_schedule_t *schedule, trv_stage_t *stage);

/* trivance_l_grouped.c: groups that add in the order of their members: the same bits on every rank. NULL: no memory. */
trv_stage_t *trv_groups_stage(const trv_lattice_t *lattice);

/* Stages one after the other, on different dimensions. Takes them over; one that is NULL makes it NULL. */
trv_stage_t *trv_stages_in_turn(int stages, trv_stage_t **stage);

#endif
