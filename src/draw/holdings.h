/*
 * Progress (paper, figure 3): the data that every rank holds after every step and will still use.
 */
#ifndef TRIVANCE_DRAW_HOLDINGS_H
#define TRIVANCE_DRAW_HOLDINGS_H

#include <stdbool.h>

#include <trivance/schedule.h>

/* For whole vectors a column is a contributor, and a value is 0 or `full` = 1. For blocks a column is a block, and a
 * value is the number of contributions in it, `full` when it is complete. */
typedef struct trv_progress {
    bool by_block;
    int ranks, columns, steps;
    float full;
    float *value; /* (step * ranks + rank) * columns + column; step 0 is the start, step k + 1 after step k */
} trv_progress_t;

/* Runs one stream symbolically. TRV_ERR_UNSUPPORTED if that would need too much memory. */
int trv_progress_create(trv_progress_t *progress, const trv_schedule_t *schedule, int stream);
void trv_progress_clear(trv_progress_t *progress);
float trv_progress_at(const trv_progress_t *progress, int after_steps, int rank, int column);

#endif
