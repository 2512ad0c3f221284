/*
 * The flow of chunks through the dimensions of line-pipelined: of each stream, which dimensions it takes, how many chunks
 * it has, and when their phases begin.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_LINE_FLOW_H
#define TRIVANCE_ALGORITHMS_BUILDERS_LINE_FLOW_H

#include <stdbool.h>

#include <trivance/schedule.h>

#include "torus/torus.h"

#define TRV_FLOW_BLOCKS_MAX (1 << 30) /* of a slice */

/* What a stream does in one dimension, a line or not. Places are counted from the beginning of a row. */
typedef struct trv_flow_level {
    int dimension, size;
    bool line;
    int depth;           /* steps of the reduce-scatter, and of the allgather */
    int scatter, gather; /* in which step of a chunk they begin; TRV_FLOW_NEVER: they do not */
} trv_flow_level_t;
enum { TRV_FLOW_NEVER = -1 };

typedef struct trv_flow {
    int chunks, period; /* chunk s begins in step s * period */
    trv_flow_level_t level[TRV_DIMS_MAX];
} trv_flow_t;

typedef struct trv_flows {
    int pieces;                        /* of a slice: chunks of any stream are so many of them, all equally many */
    int levels;                        /* dimensions with more than one rank */
    trv_flow_t flow[2 * TRV_DIMS_MAX]; /* of each stream */
} trv_flows_t;

/* Those of a network whose dimensions of the mask are lines. Fills *steps with those of the longest stream. */
int trv_flows_arrange(trv_flows_t *flows, const trv_torus_t *torus, unsigned lines, trv_collective_t collective,
                      int chunks, int *steps);

/* How many chunks are a good choice: so many that the beginning and the end, where links wait, do not weigh much; 1 on
 * rings, where none wait. */
int trv_flows_choose(const trv_torus_t *torus, unsigned lines);

/* The chunks that are in a phase in a step, if it begins so many steps after the chunk does: from *first, as many as
 * returned. */
int trv_flow_chunks(const trv_flow_t *flow, const trv_flow_level_t *level, int begin, int step, int *first);

/* An upper bound on the chunks of both phases. */
int trv_flow_chunks_max(const trv_flow_t *flow, const trv_flow_level_t *level);

/* The steps in which the busiest link of the level carries a block of a chunk, one at a time. */
int trv_flow_busy_steps(const trv_flow_level_t *level, trv_collective_t collective);

#endif
