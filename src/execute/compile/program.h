/*
 * What a plan runs: the work descriptors of one rank for one stream, for any count. Compiled in passes:
 *
 *     partition.c   which units share their history: atoms, products along the axes of the positions
 *     flow.c        which value is in which register when: every message and combine makes new values, copies make none
 *     place.c       where every value lies: the user's buffers, or packed in scratch; from that the descriptors
 *
 * Nothing in a program depends on the count: places are positions of units or packed sets of them. size.c works out what
 * a count makes of it, walk.c goes through the runs of sets.
 */
#ifndef TRIVANCE_EXECUTE_COMPILE_PROGRAM_H
#define TRIVANCE_EXECUTE_COMPILE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/schedule.h>

#include "execute/compile/space.h"

typedef enum trv_base { TRV_AT_INPUT, TRV_AT_OUTPUT, TRV_AT_SCRATCH, TRV_BASES } trv_base_t;

/* The user's buffers hold units by their positions; scratch holds them in containers. */
typedef struct trv_place {
    trv_base_t base;
    int container; /* in scratch; else -1 */
} trv_place_t;

/* A set of units one after the other, by position, in an area of scratch. The containers of an area follow each other. */
typedef struct trv_container {
    int product, products;
    int area;
    bool run; /* it is one run of positions, from `first` on */
    int64_t first, units;
    int stretch, stretches; /* else its runs, if they were listed */
} trv_container_t;

/* A stretch of scratch that is needed from one tick to another. */
typedef struct trv_area {
    int begin, end;
    int container, containers;
} trv_area_t;

/* A message: `units` positions from `first` on, at a place; or, with containers > 0, that many containers from the
 * place's on. A send may need work that puts it together first (packing). */
typedef struct trv_extent {
    int peer, port; /* the sender's port */
    trv_place_t place;
    int containers;
    int64_t first, units;
    int work, works;
} trv_extent_t;

/* to := source[0] op source[1] op … on some units; one source is a copy. */
typedef struct trv_piece {
    int product, products;
    int64_t first, units; /* if that is one run: units > 0 */
    trv_place_t to;
    int source, sources; /* of program->source */
} trv_piece_t;

/* Positions `first` to `end` - 1 of a work: its piece (-1: none), and a bit for each walked container that has them. */
typedef struct trv_stretch {
    int piece, first, end;
    uint32_t in;
} trv_stretch_t;

/* Pieces that are gone through together, in the order of positions, because they read or write containers of several
 * runs, which are gone through along with them: program->walked[walk …]. */
typedef struct trv_work {
    int piece, pieces;
    int walk, walks;
    int stretch, stretches; /* what going through them comes to, if it was listed */
} trv_work_t;

/* One step that has anything to do; all members are ranges of the program's arrays. When a lane enters the stage it
 * posts the stage's receives (if not `early`), packs and sends, posts the next stage's receives (if early), runs the
 * unpacks; when sends and receives are complete it does the work. */
typedef struct trv_stage {
    int step; /* of the schedule */
    bool early;
    int send, sends;
    int receive, receives;
    int unpack, unpacks; /* of program->work, as is: */
    int work, works;
} trv_stage_t;

typedef struct trv_program {
    trv_space_t space;
    trv_stage_t *stage;
    trv_extent_t *send, *receive;
    trv_work_t *work;
    trv_piece_t *piece;
    trv_place_t *source;
    trv_container_t *container;
    trv_area_t *area;
    int *walked;
    trv_stretch_t *stretch;
    int stages, sends, receives, works, pieces, sources, containers, areas, walks, stretches;
    int tail, tails;                 /* work when everything else is done */
    int stage_sends, stage_receives; /* the most of one stage */
    int sources_most;                /* of one piece */
    int64_t block;                   /* units of a rank's block in Reduce-Scatter and AllGather; else all */
    int weight;                      /* of the stream, … */
    int64_t weights, weights_before; /* … and the sums of those of all streams, and of the streams before it */
    int walk_bounds;                 /* entries that a walk's arrays need */
} trv_program_t;

/* TRV_ERR_INVALID, or TRV_ERR_UNSUPPORTED, with the reason, for schedules that cannot be run. */
int trv_program_compile(trv_program_t *program, const trv_schedule_t *schedule, int rank, int stream);
/* Small spaces have a table of positions (size.h), and the stretches of as much work as fits are listed: going through
 * a list takes a fifth of the time of a walk. */
enum { TRV_SMALL_UNITS = 4096, TRV_STRETCHES_MAX = 1 << 14 };
int trv_program_unroll(trv_program_t *program);
/* Fills in the most of everything. */
void trv_program_measure(trv_program_t *program);
void trv_program_clear(trv_program_t *program);
size_t trv_program_memory_bytes(const trv_program_t *program);

/* ---- Flow -------------------------------------------------------------------------------------------------------- */

/* The content of one atom of one register, from when it is made to its last use. Times are ticks: a step's
 * communication is one tick, each of its combines another. */
typedef struct trv_value {
    int atom;
    int last;   /* tick of the last use, -1: never used */
    bool home;  /* was the content of register 0 for an atom with a result: its natural place is the output */
    bool final; /* the result of its atom */
    int area;   /* while placing: the scratch area it lies in, or -1 */
    trv_place_t place;
} trv_value_t;

/* A set of units of one register. */
typedef struct trv_flow_part {
    int reg, cover;    /* of the partition */
    int value, values; /* flow->list[value …]: what it carries, atom by atom */
} trv_flow_part_t;

typedef struct trv_flow_message {
    int peer, port;
    int part, parts; /* of flow->part, in the order of the wire */
} trv_flow_message_t;

/* For i < atoms: list[result + i] := list[source + i] op list[source + atoms + i] op … */
typedef struct trv_flow_combine {
    int dst, cover, sources, reg; /* registers: flow->reg[reg …] */
    int tick, atoms, result, source;
} trv_flow_combine_t;

typedef struct trv_flow_step {
    int step, tick;
    int send, sends, receive, receives, combine, combines;
} trv_flow_step_t;

typedef struct trv_flow {
    trv_partition_t partition;
    trv_value_t *value; /* the first `contributions` are what the rank brings */
    trv_flow_step_t *step;
    trv_flow_message_t *send, *receive;
    trv_flow_part_t *part;
    trv_flow_combine_t *combine;
    int *list, *reg;
    int contributions, values, steps, sends, receives, parts, combines, listed, regs;
    int64_t value_capacity, step_capacity, send_capacity, receive_capacity, part_capacity, combine_capacity,
        list_capacity, reg_capacity;
    int end;        /* the tick after everything */
    int *result;    /* by atom: the final value, -1 where none is due */
    bool *in, *out; /* by atom: whether the rank contributes it; whether a result is due */
    int64_t block;  /* as in the program */
    int everything; /* the cover of all units */
} trv_flow_t;

int trv_flow_make(trv_flow_t *flow, trv_space_t *space, const trv_schedule_t *schedule, int rank, int stream);
void trv_flow_clear(trv_flow_t *flow);

#endif
