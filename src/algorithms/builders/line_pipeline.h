/*
 * The pipelines of line-pipelined (line_pipelined.c), one for each stream: the order of its dimensions, its number of
 * chunks, and the first steps of its phases.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_LINE_PIPELINE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_LINE_PIPELINE_H

#include <stdbool.h>

#include <trivance/schedule.h>

#include "torus/torus.h"

#define TRV_PIPELINE_BLOCKS_MAX (1 << 30) /* maximum number of blocks of a slice */

/* The work of a stream in one dimension, which may be a line or a ring. */
typedef struct trv_pipeline_level {
    int dimension, size;
    bool line;
    int depth; /* steps of the reduce-scatter, which are as many as those of the allgather */
    /* first steps of the phases, relative to the chunk's first step; TRV_PIPELINE_NEVER: there is no such phase */
    int scatter, gather;
} trv_pipeline_level_t;
enum { TRV_PIPELINE_NEVER = -1 };

typedef struct trv_pipeline {
    int chunks, period; /* chunk s begins in step s * period */
    trv_pipeline_level_t level[TRV_DIMS_MAX];
} trv_pipeline_t;

typedef struct trv_pipelines {
    /* parts of a slice; the chunks of every stream consist of a whole number of them */
    int pieces;
    int levels;                                /* dimensions with more than one rank */
    trv_pipeline_t pipeline[2 * TRV_DIMS_MAX]; /* per stream */
} trv_pipelines_t;

/* Computes the pipelines on a torus; the dimensions in the mask `lines` are lines. Sets *steps to the steps of the
 * longest stream. */
int trv_pipelines_make(trv_pipelines_t *pipelines, const trv_torus_t *torus, unsigned lines,
                       trv_collective_t collective, int chunks, int *steps);

/* A number of chunks for which filling and draining the pipeline, when links are idle, takes a small part of the time;
 * 1 on rings, where no links are idle. */
int trv_pipelines_choose_chunks(const trv_torus_t *torus, unsigned lines);

/* The chunks that are in a certain phase of a level in step `step`, if the phase begins `begin` steps after the chunk:
 * returns their number, and the first one in *first. */
int trv_pipeline_chunks(const trv_pipeline_t *pipeline, const trv_pipeline_level_t *level, int begin, int step,
                        int *first);

/* An upper bound on the number of chunks that are in one of the two phases of a level at the same time. */
int trv_pipeline_chunks_max(const trv_pipeline_t *pipeline, const trv_pipeline_level_t *level);

/* The number of steps in which the busiest link of the level carries a block of a given chunk, one block per step. */
int trv_pipeline_busy_steps(const trv_pipeline_level_t *level, trv_collective_t collective);

#endif
