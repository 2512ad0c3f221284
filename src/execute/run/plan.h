/*
 * The internal representation of a plan: programs, lanes, and the state of a run.
 */
#ifndef TRIVANCE_EXECUTE_RUN_PLAN_H
#define TRIVANCE_EXECUTE_RUN_PLAN_H

#include <stdatomic.h>
#include <stdint.h>

#include <trivance/execute.h>

#include "execute/compile/program.h"
#include "execute/compile/size.h"
#include "execute/compile/walk.h"
#include "execute/run/ranges.h"
#include "execute/run/reduce.h"
#include "execute/run/run_scratch.h"

/* The readiness entry of a lane's stage (paper appendix D): one bit per outstanding receive, valid for one generation
 * of the lane's buffers, that is, for one chunk of one run. The stage's work can be executed when no bit is set. */
typedef struct trv_ready {
    uint64_t generation;
    int stage;
    int missing;       /* number of bits that are set */
    uint64_t *pending; /* one bit per receive, such as those of the left and the right message */
} trv_ready_t;

/* A lane executes the steps for one chunk of its stream after another. */
typedef struct trv_lane {
    int number, stream;
    int tag;
    int slot;           /* its first request slot: of its sends, then the receives of even stages, then of odd ones */
    size_t chunk;       /* the present chunk */
    trv_sized_t *sized; /* the program and its sizes for the chunk */
    char *base[TRV_BASES]; /* the chunk's part of the user's buffers, and the lane's scratch */
    int stage;
    bool done;
    bool waits_for_input; /* the chunk has not begun, because its input is not available yet */
    uint64_t generation;  /* number of chunks begun since the plan was created */
    trv_ready_t ready[2]; /* of the present stage and the next, indexed by the stage modulo 2 */
    int sending;          /* number of bits that are set in pending_send */
    uint64_t *pending_send;
} trv_lane_t;

typedef enum trv_plan_state {
    TRV_PLAN_NEW,
    TRV_PLAN_CHECKING,
    TRV_PLAN_RUNNING,
    TRV_PLAN_IDLE,
    TRV_PLAN_FAILED
} trv_plan_state_t;

/* The values that the ranks compare before a run in debug mode, see check.c. */
enum { TRV_CHECK_FIELDS = 7 };
typedef struct trv_check {
    uint64_t mine[2][TRV_CHECK_FIELDS]; /* minimum and maximum of every field so far */
    uint64_t received[2][TRV_CHECK_FIELDS], sent[2][TRV_CHECK_FIELDS];
    int distance; /* to the peer of the present round */
    bool sending, receiving;
} trv_check_t;

/* The part that plans of the same schedule and rank share. */
typedef struct trv_compiled {
    atomic_int references;
    trv_program_t *program; /* per stream */
    int streams;
} trv_compiled_t;

/* The sizes of a lane's program for its chunk of blocks of different sizes. */
typedef struct trv_lane_blocks {
    trv_sized_t sized;
    bool set;     /* `sized` has the sizes for … */
    size_t chunk; /* … this chunk */
} trv_lane_blocks_t;

/* Blocks of different sizes (unequal.c), from the first start with such blocks on. */
typedef struct trv_plan_blocks {
    size_t *count, *displacement; /* per block, in elements */
    trv_range_t *range;           /* scratch buffer */
    size_t extent;                /* elements of a buffer that contains all blocks */
    trv_lane_blocks_t *lane;      /* per lane; the first `lanes` have been created */
    int lanes;
    size_t bytes_sent; /* in a run */
} trv_plan_blocks_t;

struct trv_plan {
    trv_plan_state_t state;
    const trv_schedule_t *schedule;
    int rank, ranks;
    trv_collective_t collective;
    bool is_root;
    size_t count, element_size; /* count: of the largest block, if blocks differ */
    trv_elements_t elements;
    trv_reduction_t reduction; /* of the elements; of zeros with a callback, or if their operation is not defined */
    trv_transport_t transport;
    bool opened;
    int handle; /* handle of this plan in the transport */
    trv_check_t check;
    /* request slots and tags of the check, which are the first ones; 0 without the check */
    int check_slots, check_tags;
    int failure;      /* error code of the present run, or 0 */
    char reason[512]; /* its message */

    int streams, window;           /* window: lanes per stream */
    size_t chunks, chunk_elements; /* elements of every chunk but the last */
    trv_compiled_t *compiled;
    trv_sized_t *sized; /* [2 * stream + (1 for the last chunk)], for equal blocks */
    bool unequal;       /* the present sizes are those of `blocks` */
    trv_plan_blocks_t *blocks;
    trv_lane_t *lane; /* lane w * streams + s takes chunks w, w + window, … of stream s */
    int lanes, unfinished, lanes_max;
    int lane_sends, lane_receives; /* request slots of a lane, per stage */
    uint64_t *bits;                /* memory of all lanes' pending bits */
    trv_plan_options_t options;
    trv_run_scratch_t scratch;
    size_t scratch_bytes, lane_scratch_bytes; /* of a run with the present count; of each of its lanes */
    size_t copy_bytes;        /* of scratch_bytes, at the end: a copy of the input of an All-to-All in place, or … */
    char *copied_output;      /* … the output, which is copied to this address after the run; else NULL */
    const void **source;      /* array for the sources of any combine */
    trv_walk_t walk;          /* with arrays that are large enough for any walk */
    size_t *cursor;           /* per container */
    unsigned starts;          /* number of starts with the present count */
    bool listing;             /* moves are being listed */
    size_t origin[TRV_BASES]; /* elements of the blocks before the block with which the user's buffer begins */
    int *block[TRV_BASES];    /* All-to-All: per displacement, the block of the user's input or output; else NULL */
    const char *input;
    char *output;
    bool lost;          /* a send of the check may still read `check` */
    bool streamed;      /* the next start has streamed input (trv_plan_start_streamed) */
    size_t input_ready; /* number of input elements that are available; SIZE_MAX: all */
};

/* With the check, slots 0 and 1 and tag 0 belong to it, the others to the lanes. */
enum { TRV_CHECK_SLOTS = 2, TRV_CHECK_TAGS = 1 };

/* chunk.c: the number of elements of every chunk but the last; `chunk_bytes` as in trv_plan_options_t. 0 for a count of
 * 0. A stream has at most TRV_PLAN_WINDOW lanes. */
enum { TRV_PLAN_WINDOW = 4 };
size_t trv_chunk_elements(const trv_schedule_t *schedule, size_t count, size_t element_size, size_t chunk_bytes);

/* The end of a chunk, in elements. */
static inline size_t trv_chunk_end(const trv_plan_t *plan, size_t chunk)
{
    return chunk + 1 >= plan->chunks ? plan->count : (chunk + 1) * plan->chunk_elements;
}

/* Whether all input of the chunk is available (streamed.c). */
static inline bool trv_chunk_input_ready(const trv_plan_t *plan, size_t chunk)
{
    return plan->input_ready >= trv_chunk_end(plan, chunk);
}

/* compiled.c: creates it with one reference. On failure *compiled must also be released. */
int trv_compiled_create(trv_compiled_t **compiled, const trv_schedule_t *schedule, int rank);
void trv_compiled_release(trv_compiled_t *compiled);

/* plan.c: as trv_plan_create_like, with another scratch_context. */
TRV_API int trv_plan_create_with(trv_plan_t **plan, const trv_plan_t *model, const trv_elements_t *elements,
                                 const trv_transport_t *transport, void *scratch_context);
/* An error if the plan is NULL. */
int trv_plan_check(const trv_plan_t *plan);
/* Also an error if it is running or has failed. */
int trv_plan_check_startable(const trv_plan_t *plan);
/* Sets the sizes of equal blocks. */
void trv_plan_set_count(trv_plan_t *plan, size_t count);
/* Sets only the chunks and lanes for plan->count. */
void trv_plan_set_chunks(trv_plan_t *plan);
/* Starts a run whose sizes and buffers are set. */
int trv_plan_begin(trv_plan_t *plan);

/* unequal.c: the sizes of a lane's program for a chunk; a hash of the blocks' sizes, 0 if they are equal; memory. */
trv_sized_t *trv_blocks_size_lane(trv_plan_t *plan, int lane, size_t chunk);
uint64_t trv_blocks_hash(const trv_plan_t *plan);
size_t trv_blocks_memory_bytes(const trv_plan_blocks_t *blocks);
void trv_blocks_destroy(trv_plan_blocks_t *blocks);

/* run.c: trv_run_start starts all lanes. trv_run_progress returns 1 if the run is complete, 0 if it is not, or a
 * negative error; *progressed is set when any progress was made. */
void trv_run_start(trv_plan_t *plan);
int trv_run_progress(trv_plan_t *plan, bool *progressed);
/* Cancels all pending operations. Returns whether a send may still read its buffer. */
bool trv_run_cancel(trv_plan_t *plan);

/* perform.c: executes `works` works of the lane's program; and the address of a position in the user's buffers or in a
 * container of one run. */
int trv_perform(trv_plan_t *plan, const trv_lane_t *lane, int first, int works);
char *trv_location_address(const trv_plan_t *plan, const trv_lane_t *lane, trv_location_t location, int64_t position);

/* check.c: the same functions for the comparison of the ranks; progress returns 1 when all agree. */
int trv_check_start(trv_plan_t *plan);
int trv_check_progress(trv_plan_t *plan, bool *progressed);
bool trv_check_cancel(trv_plan_t *plan);

#endif
