/*
 * The inside of a plan: programs, lanes, and the state of a run.
 */
#ifndef TRIVANCE_EXECUTE_RUN_PLAN_H
#define TRIVANCE_EXECUTE_RUN_PLAN_H

#include <stdatomic.h>
#include <stdint.h>

#include <trivance/execute.h>

#include "execute/compile/program.h"
#include "execute/compile/size.h"
#include "execute/compile/walk.h"

/* The readiness entry of a lane's stage (paper appendix D): one bit per receive that is outstanding, valid for one
 * generation of the lane's buffers, that is for one chunk of one run. The stage's work can run when no bit is left. */
typedef struct trv_ready {
    uint64_t generation;
    int stage;
    int missing;       /* bits that are set */
    uint64_t *pending; /* one bit per receive, like those of the left and the right message */
} trv_ready_t;

/* A lane takes one chunk of its stream after another through the steps. */
typedef struct trv_lane {
    int number, stream;
    size_t chunk;          /* the one in work */
    trv_sized_t *sized;    /* the program and what the chunk makes of it */
    char *base[TRV_BASES]; /* the chunk's part of the user's buffers; the lane's scratch */
    int stage;
    bool done;
    bool hungry;          /* the chunk's input is not there yet, and it has not begun */
    uint64_t generation;  /* chunks begun in the plan's life */
    trv_ready_t ready[2]; /* of the present stage and the next, by the parity of the stage */
    int sending;          /* bits that are set in: */
    uint64_t *pending_send;
} trv_lane_t;

typedef enum trv_plan_state {
    TRV_PLAN_NEW,
    TRV_PLAN_CHECKING,
    TRV_PLAN_RUNNING,
    TRV_PLAN_IDLE,
    TRV_PLAN_FAILED
} trv_plan_state_t;

/* What ranks compare before a run in debug mode; see check.c. */
enum { TRV_CHECK_FIELDS = 6 };
typedef struct trv_check {
    uint64_t mine[2][TRV_CHECK_FIELDS]; /* smallest and largest value seen of every field */
    uint64_t theirs[2][TRV_CHECK_FIELDS], sent[2][TRV_CHECK_FIELDS];
    int distance; /* of the present round */
    bool sending, receiving;
} trv_check_t;

/* What plans that are alike share. */
typedef struct trv_compiled {
    atomic_int references;
    trv_program_t *program; /* of every stream */
    int streams;
} trv_compiled_t;

enum { TRV_PLAN_ALIVE = 0x7472766c, TRV_PLAN_DEAD = 0x64656164 };

struct trv_plan {
    uint32_t magic;
    trv_plan_state_t state;
    const trv_schedule_t *schedule;
    int rank, ranks;
    trv_collective_t collective;
    size_t count, element_size;
    trv_elements_t elements;
    trv_transport_t transport;
    bool opened;
    int handle; /* the transport's for this plan */
    trv_check_t check;
    int check_slots, check_tags; /* the first ones are the check's; 0 without it */
    int failure;                 /* code of the present run's failure, or 0 */
    char reason[512];            /* and its sentence */

    int streams, window;           /* lanes of a stream */
    size_t chunks, chunk_elements; /* every chunk but the last has so many elements */
    trv_compiled_t *compiled;
    trv_sized_t *sized; /* [2 * stream + (1 for the last chunk)] */
    trv_lane_t *lane;   /* lane w * streams + s takes chunks w, w + window, … of stream s */
    int lanes, unfinished, lanes_max;
    int lane_sends, lane_receives; /* request slots of a lane, per stage */
    uint64_t *bits;                /* of all lanes' pending sets */
    trv_plan_options_t options;
    void *scratch_memory;    /* the plan's own, as allocated */
    size_t scratch_capacity; /* of it */
    char *scratch;           /* of the present run, aligned; NULL: there is none */
    size_t scratch_bytes, lane_scratch_bytes;
    const void **source;      /* holds the sources of any combine */
    trv_walk_t walk;          /* its arrays hold any */
    size_t *cursor;           /* of every container */
    unsigned starts;          /* at this count */
    bool listing;             /* what is done is listed */
    size_t origin[TRV_BASES]; /* elements of blocks that lie before what the user's buffer holds */
    const char *input;
    char *output;
    bool lost;    /* a send of the check may still read `check` */
    bool feeding; /* the next start is trv_plan_start_fed's */
    size_t fed;   /* elements of the input that are there; SIZE_MAX: all */
};

/* With the check, slots 0 and 1 and tag 0 are its own, the others the lanes'. */
enum { TRV_CHECK_SLOTS = 2, TRV_CHECK_TAGS = 1 };

/* chunk.c: elements of every chunk but the last; `chunk_bytes` as in trv_plan_options_t. 0 for a count of 0. A stream has
 * at most TRV_PLAN_WINDOW lanes. */
enum { TRV_PLAN_WINDOW = 4 };
size_t trv_chunk_elements(const trv_schedule_t *schedule, size_t count, size_t element_size, size_t chunk_bytes);

/* Where a chunk ends, in elements. */
static inline size_t trv_chunk_end(const trv_plan_t *plan, size_t chunk)
{
    return chunk + 1 >= plan->chunks ? plan->count : (chunk + 1) * plan->chunk_elements;
}

/* Whether all of the chunk's input is there (feed.c). */
static inline bool trv_run_fed(const trv_plan_t *plan, size_t chunk) { return plan->fed >= trv_chunk_end(plan, chunk); }

/* compiled.c: with one reference; also on failure, what there is of it. */
int trv_compiled_make(trv_compiled_t **compiled, const trv_schedule_t *schedule, int rank);
void trv_compiled_release(trv_compiled_t *compiled);

/* plan.c: whether it is a plan that lives. */
int trv_plan_check(const trv_plan_t *plan);

/* run.c: starts all lanes; makes progress (1: complete, 0: not yet, negative: failed; *moved is set when anything
 * happened). */
void trv_run_start(trv_plan_t *plan);
int trv_run_progress(trv_plan_t *plan, bool *moved);
/* Cancels whatever is pending; whether a send may still read its buffer. */
bool trv_run_cancel(trv_plan_t *plan);

/* perform.c: `works` works of the lane's program; where a position is that is not in a container of several runs. */
int trv_perform(trv_plan_t *plan, const trv_lane_t *lane, int first, int works);
char *trv_place_address(const trv_plan_t *plan, const trv_lane_t *lane, trv_place_t place, int64_t position);

/* check.c: the same for the comparison of the ranks; 1 when all agree. */
int trv_check_start(trv_plan_t *plan);
int trv_check_progress(trv_plan_t *plan, bool *moved);
bool trv_check_cancel(trv_plan_t *plan);

#endif
