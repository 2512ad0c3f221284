/*
 * What a plan runs: the work descriptors of one rank for one chunk of one stream. Compiled in three passes:
 *
 *     layout.c   where every unit lies in the user's buffers
 *     flow.c     which value is in which register when: every message and combine makes new values, copies make none
 *     place.c    where every value lies: the user's buffers or scratch; from that the descriptors
 *
 * Every place is relative to the chunk's part of a buffer, so that all chunks of one size share a program.
 */
#ifndef TRIVANCE_EXECUTE_PROGRAM_H
#define TRIVANCE_EXECUTE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/schedule.h>

/* ---- What is compiled -------------------------------------------------------------------------------------------- */

/* One stream of a chunk of `elements` elements (of the vector for AllReduce, of every rank's block otherwise). */
typedef struct trv_shape {
    const trv_schedule_t *schedule;
    int rank, stream;
    size_t count;        /* of the whole plan: the distance of two blocks in Reduce-Scatter and AllGather */
    size_t elements;     /* of the chunk */
    size_t element_size;
} trv_shape_t;

/* ---- The program ------------------------------------------------------------------------------------------------- */

typedef enum trv_base { TRV_AT_INPUT, TRV_AT_OUTPUT, TRV_AT_SCRATCH, TRV_BASES } trv_base_t;

typedef struct trv_place {
    trv_base_t base;
    size_t offset; /* bytes */
} trv_place_t;

typedef struct trv_copy {
    trv_place_t to, from;
    size_t bytes;
} trv_copy_t;

/* A message: one contiguous extent. A send may have copies that put it together first (packing). */
typedef struct trv_extent {
    int peer;
    trv_place_t place;
    size_t bytes;
    int copy, copies;
} trv_extent_t;

/* to := source[0] op source[1] op …, the sources being program->source[source … source + sources - 1]. */
typedef struct trv_work {
    trv_place_t to;
    int source, sources;
    size_t count; /* elements */
} trv_work_t;

/* One step that has anything to do; all members are ranges of the program's arrays. When a lane enters the stage it
 * posts the stage's receives (if not `early`), packs and sends, posts the next stage's receives (if early), runs the
 * unpacks; when sends and receives are complete it does the work. */
typedef struct trv_stage {
    int step; /* of the schedule */
    bool early;
    int send, sends;
    int receive, receives;
    int unpack, unpacks;
    int work, works;
} trv_stage_t;

typedef struct trv_program {
    trv_stage_t *stage;
    trv_extent_t *send, *receive;
    trv_copy_t *copy;
    trv_work_t *work;
    trv_place_t *source;
    int stages, sends, receives, copies, works, sources;
    int tail, tails;                /* copies when everything else is done */
    int stage_sends, stage_receives; /* the most of one stage */
    size_t scratch_bytes;           /* that it needs, aligned to 64 */
    size_t bytes_sent;
} trv_program_t;

int trv_program_compile(trv_program_t *program, const trv_shape_t *shape);
void trv_program_clear(trv_program_t *program);

/* ---- Layout ------------------------------------------------------------------------------------------------------ */

#define TRV_NOWHERE SIZE_MAX

typedef struct trv_layout {
    int64_t units;
    int64_t *order;    /* order[p]: the unit at position p of the slice */
    int64_t *position; /* its inverse */
    size_t *bytes;     /* of a unit; 0 is common with short vectors */
    size_t *input;     /* offset in the input, or TRV_NOWHERE */
    size_t *output;    /* offset in the output, or TRV_NOWHERE: no result is due */
    int64_t *shared;   /* in place, the unit's output is this unit's input (-1: nobody's) */
} trv_layout_t;

int trv_layout_make(trv_layout_t *layout, const trv_shape_t *shape);
void trv_layout_clear(trv_layout_t *layout);

/* Where part i of `parts` nearly equal ones of `count` elements begins: floor(i * count / parts), without overflow. */
size_t trv_cut(size_t count, size_t parts, size_t i);

/* ---- Flow -------------------------------------------------------------------------------------------------------- */

/* The content of one unit of one register, from when it is made to its last use. Times are ticks: a step's
 * communication is one tick, each of its combines another. */
typedef struct trv_value {
    int64_t unit;
    int last;   /* tick of the last use, -1: never used */
    bool home;  /* was the content of register 0 for a unit with a result: its natural place is the output */
    bool final; /* the result of its unit */
    int area;   /* while placing: the scratch area it lies in, or -1 */
    trv_place_t place;
} trv_value_t;

typedef struct trv_flow_message {
    int peer;
    int value, values; /* flow->list[value …]: what it carries, in the order of the wire */
} trv_flow_message_t;

/* For i < units: list[result + i] := list[source + i] op list[source + units + i] op … */
typedef struct trv_flow_combine {
    int tick, units, result, source, sources;
} trv_flow_combine_t;

typedef struct trv_flow_step {
    int step, tick;
    int send, sends, receive, receives, combine, combines;
} trv_flow_step_t;

typedef struct trv_flow {
    trv_value_t *value; /* the first `contributions` are what the rank brings */
    trv_flow_step_t *step;
    trv_flow_message_t *send, *receive;
    trv_flow_combine_t *combine;
    int *list;
    int contributions, values, steps, sends, receives, combines, listed;
    int value_room, step_room, send_room, receive_room, combine_room, list_room;
    int end;     /* the tick after everything */
    int *result; /* by unit: the final value, -1 where none is due */
} trv_flow_t;

int trv_flow_make(trv_flow_t *flow, const trv_shape_t *shape, const trv_layout_t *layout);
void trv_flow_clear(trv_flow_t *flow);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Makes room for `more` entries of `size` bytes after `count`: *array grows, *room is its capacity. 0 or TRV_ERR_*. */
int trv_room(void *array, int *room, int count, int more, size_t size);

#endif
