/*
 * Stages: latency-optimal AllReduces, which are used alone (trivance-l) or as the middle part of a hybrid.
 *
 * A stage works on a *lattice*: in every dimension the ranks whose coordinates are equal modulo `stride` form a ring of
 * `size` = torus size / stride ranks. These rings form smaller tori, one for each class of ranks. All ranks of a class
 * hold partial sums of the same set of blocks; after the stage each of them holds the total of these sums.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_STAGE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_STAGE_H

#include "schedule/schedule.h"

/* The dimensions with more than one rank; size[i] and stride[i] belong to dimension[i]. */
typedef struct trv_stage_lattice {
    int active, dimension[TRV_DIMS_MAX], size[TRV_DIMS_MAX], stride[TRV_DIMS_MAX];
} trv_stage_lattice_t;

/* The lattice of the whole torus: one class, stride 1. */
trv_stage_lattice_t trv_stage_lattice_whole(const trv_torus_t *torus);

typedef struct trv_stage trv_stage_t;
struct trv_stage {
    int steps, registers;
    /* Writes the sends, receives and combines of `rank` in step `step` of the stage, on `blocks` of every register;
     * `out` is empty before. */
    int (*step)(const trv_stage_t *stage, const trv_schedule_t *schedule, int rank, int stream, int step,
                const trv_blocks_t *blocks, trv_step_t *out);
    void (*destroy)(trv_stage_t *stage);
};

/* Completes a schedule that consists of this stage alone, on whole slices, with one stream per dimension larger than 1.
 * Takes ownership of the stage. TRV_ERR_MEMORY if the stage is NULL. */
int trv_stage_create(trv_schedule_t *schedule, trv_stage_t *stage);

/* trivance_l_grouped.c: groups of ranks that add in the order of their members, so that results are bitwise identical
 * on all ranks. NULL when out of memory. */
trv_stage_t *trv_groups_stage(const trv_stage_lattice_t *lattice);

/* A stage that executes stages on different dimensions one after the other. Takes ownership of them. NULL when out of
 * memory or if one of them is NULL. */
trv_stage_t *trv_stages_in_turn(int stages, trv_stage_t **stage);

#endif
