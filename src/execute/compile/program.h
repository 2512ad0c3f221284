/*
 * The program of a plan: the work descriptors of one rank for one stream, for any count. It is compiled in passes:
 *
 *     partition.c  groups units with the same history into equivalence classes: products along the axes of positions
 *     dataflow.c   determines which value each register holds at any time: messages and combines create new values,
 *                  copies do not
 *     placement.c  determines where every value is stored, in the user's buffers or packed in scratch, and writes the
 *                  descriptors
 *
 * A program does not depend on the count: locations are positions of units, or packed sets of units. size.c computes
 * sizes and offsets for a count, walk.c visits the runs of sets.
 */
#ifndef TRIVANCE_EXECUTE_COMPILE_PROGRAM_H
#define TRIVANCE_EXECUTE_COMPILE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/schedule.h>

#include "execute/compile/space.h"

typedef enum trv_base { TRV_AT_INPUT, TRV_AT_OUTPUT, TRV_AT_SCRATCH, TRV_BASES } trv_base_t;

/* The location of a value. The user's buffers contain units at their positions; scratch contains them in containers. */
typedef struct trv_location {
    trv_base_t base;
    int container; /* in scratch; otherwise -1 */
} trv_location_t;

/* A set of units, packed in the order of their positions in an area of scratch. The containers of an area are
 * contiguous. */
typedef struct trv_container {
    int product, products;
    int area;
    bool run; /* the units are one run of positions, from `first` on */
    int64_t first, units;
    int stretch, stretches; /* otherwise its runs, if they were listed */
} trv_container_t;

/* A part of scratch that is in use from tick `begin` to tick `end`. */
typedef struct trv_area {
    int begin, end;
    int container, containers;
} trv_area_t;

/* The data of a message: `units` positions from `first` on, at a location; or, if containers > 0, that many
 * containers from the location's container on. A send may need work that packs the data first. */
typedef struct trv_extent {
    int peer, port; /* the sender's port */
    trv_location_t location;
    int containers;
    int64_t first, units;
    int work, works;
} trv_extent_t;

/* to := source[0] op source[1] op … on a set of units; with one source it is a copy. */
typedef struct trv_piece {
    int product, products;
    int64_t first, units; /* if the set is one run; otherwise units is 0 */
    trv_location_t to;
    int source, sources; /* range of program->source */
} trv_piece_t;

/* Positions `first` to `end` - 1 of a work: its piece (-1: none), and a bit for each walked container that contains
 * them. */
typedef struct trv_stretch {
    int piece, first, end;
    uint32_t in;
} trv_stretch_t;

/* Pieces that are processed together, in the order of positions, because they access containers of several runs. These
 * containers, program->walked[walk …], are visited at the same time. */
typedef struct trv_work {
    int piece, pieces;
    int walk, walks;
    int stretch, stretches; /* the stretches of the walk, if they were listed */
} trv_work_t;

/* One step in which the rank is active; all members are ranges of the program's arrays. When a lane enters the stage it
 * posts the stage's receives (if not `early`), packs and posts its sends, posts the next stage's receives (if early),
 * and executes the unpacks. When sends and receives are complete it executes the work. */
typedef struct trv_stage {
    int step; /* the step of the schedule */
    bool early;
    int send, sends;
    int receive, receives;
    int unpack, unpacks; /* range of program->work; so is the next: */
    int work, works;
} trv_stage_t;

typedef struct trv_program {
    trv_space_t space;
    trv_stage_t *stage;
    trv_extent_t *send, *receive;
    trv_work_t *work;
    trv_piece_t *piece;
    trv_location_t *source;
    trv_container_t *container;
    trv_area_t *area;
    int *walked;
    trv_stretch_t *stretch;
    int stages, sends, receives, works, pieces, sources, containers, areas, walks, stretches;
    int tail, tails;                 /* work after all stages */
    int stage_sends, stage_receives; /* maximum of one stage */
    int sources_max;                 /* maximum of one piece */
    int64_t block;                   /* units of a rank's block in Reduce-Scatter and AllGather; otherwise all units */
    int weight;                      /* weight of the stream */
    int64_t weights, weights_before; /* sums of the weights of all streams, and of the streams before it */
    int walk_bounds;                 /* number of entries that a walk's arrays need */
} trv_program_t;

/* Returns TRV_ERR_INVALID, or TRV_ERR_UNSUPPORTED, with the reason, for schedules that cannot be executed. */
int trv_program_compile(trv_program_t *program, const trv_schedule_t *schedule, int rank, int stream);
/* Small spaces have a table of positions (size.h), and the stretches of works are listed as long as the list has
 * capacity: processing a list takes a fifth of the time of a walk. */
enum { TRV_SMALL_UNITS = 4096, TRV_STRETCHES_MAX = 1 << 14 };
int trv_program_unroll(trv_program_t *program);
/* Sets the upper bounds of the program. */
void trv_program_measure(trv_program_t *program);
void trv_program_clear(trv_program_t *program);
size_t trv_program_memory_bytes(const trv_program_t *program);

/* ---- Dataflow ---------------------------------------------------------------------------------------------------- */

/* The content of one class of one register, from its creation to its last use. Times are ticks: the communication of a
 * step is one tick, each of its combines another. */
typedef struct trv_value {
    int eqclass;
    int last;            /* tick of the last use; -1: never used */
    bool prefers_output; /* created in register 0, for a class with a result; stored in the output if possible */
    bool final;          /* the result of its class */
    int area;            /* during placement: its area in scratch, or -1 */
    trv_location_t location;
} trv_value_t;

/* A set of units of one register. */
typedef struct trv_dataflow_part {
    int reg, cover;    /* cover of the partition */
    int value, values; /* dataflow->list[value …]: the values that it carries, one per class */
} trv_dataflow_part_t;

typedef struct trv_dataflow_message {
    int peer, port;
    int part, parts; /* range of dataflow->part, in the order in the message */
} trv_dataflow_message_t;

/* For i < classes: list[result + i] := list[source + i] op list[source + classes + i] op … */
typedef struct trv_dataflow_combine {
    int dst, cover, sources, reg; /* registers: dataflow->reg[reg …] */
    int tick, eqclasses, result, source;
} trv_dataflow_combine_t;

typedef struct trv_dataflow_step {
    int step, tick;
    int send, sends, receive, receives, combine, combines;
} trv_dataflow_step_t;

typedef struct trv_dataflow {
    trv_partition_t partition;
    trv_value_t *value; /* the first `contributions` of them are the rank's contributions */
    trv_dataflow_step_t *step;
    trv_dataflow_message_t *send, *receive;
    trv_dataflow_part_t *part;
    trv_dataflow_combine_t *combine;
    int *list, *reg;
    int contributions, values, steps, sends, receives, parts, combines, listed, regs;
    int64_t value_capacity, step_capacity, send_capacity, receive_capacity, part_capacity, combine_capacity,
        list_capacity, reg_capacity;
    int end;        /* the tick after all steps */
    int *result;    /* per class: the final value, or -1 if the class has no result */
    bool *in, *out; /* per class: whether the rank contributes it; whether it has a result */
    int64_t block;  /* as in the program */
    int all_units;  /* the cover of all units */
} trv_dataflow_t;

int trv_dataflow_create(trv_dataflow_t *dataflow, trv_space_t *space, const trv_schedule_t *schedule, int rank,
                        int stream);
void trv_dataflow_clear(trv_dataflow_t *dataflow);

#endif
