/*
 * Interface between the files of the verifier. Other modules that execute schedules symbolically use it, too.
 *
 *     verify.c     chooses the method, walks streams, batches of units and steps, gives the verdict
 *     structure.c  one step of one stream, without values: messages, ports, both sides, registers, claimed symmetry
 *     deadlock.c   only when a message lacks its other side: never, in another step, or ranks that wait in a cycle
 *     steps.c      a step: both sides of its messages, the cells of their parts, and what follows them
 *     values.c     carries contributions and expressions through the steps, and checks the results of every rank
 *     trace.c      only when a result is wrong: finds the contribution, and the step that added or lost it
 *     units.c      sets of units: listing, comparing, naming
 *
 * All ranks execute a stream step by step together. That is no restriction: both sides of a message belong to the same
 * step, so by induction every rank completes every step, and the data that a rank sends depends on its earlier steps
 * only.
 */
#ifndef TRIVANCE_VERIFY_VERIFIER_H
#define TRIVANCE_VERIFY_VERIFIER_H

#include <trivance/verify.h>

#include "base/span.h"

/* A cell is the content of one unit of one register of one rank: `words` words of contributions (`sets` words with a
 * bit per contributor and, where duplicates are traced, as many words with a bit per duplicate; or one sum of random
 * values), then one word for the expression: 0 if the cell is empty, otherwise a hash above the two flags below. */
enum { TRV_CELL_DOUBLED = 1, TRV_CELL_FILLED = 2, TRV_CELL_FLAGS = 3 };

typedef struct trv_verifier {
    const trv_schedule_t *schedule;
    const trv_torus_t *torus;
    int ranks, registers, streams, steps;
    int64_t units;
    int contributors; /* to one unit: all ranks, or one: its owner, or the root */
    bool random;
    bool tolerant; /* processes all units at once, and accepts empty cells in copies and combines */

    char *cut;          /* rank * ports + port: the link is cut; NULL: none is */
    bool no_forwarding; /* a message crosses one link only */
    int per_port;       /* the messages per port of the schedule */

    trv_step_t *step;            /* of every rank: the present step */
    int *coordinate;             /* of all ranks */
    uint32_t *list, *other_list; /* units of a set, or cells of a part */
    uint32_t *stamp;             /* registers * units: marks the cells into which this rank receives in the step */
    uint32_t stamp_now;
    int period[TRV_DIMS_MAX]; /* of the claimed symmetry */
    uint64_t *signature;      /* of the ranks of one period */

    /* The units of the present batch. */
    int64_t first, count;
    int sets, words, stride;
    uint64_t *sum;      /* one cell's words */
    uint64_t *expected; /* random: the sum of every unit of the batch */
    uint64_t *cell;     /* ((rank * registers + register) * count + unit - first) * stride */

    int64_t messages;
    bool consistent;
    int differing_rank, differing_stream; /* of the first result that is an expression other than rank 0's */
    int64_t differing_unit;

    bool faulty;
    int fault_step, fault_stream, fault_rank;
    int64_t fault_unit;
    char fault[TRV_FAULT_TEXT_MAX];

    trv_span_t progress; /* reports to the caller */
} trv_verifier_t;

/* A verifier for the schedule; then memory for a batch of units, and its release. */
TRV_API trv_verifier_t trv_verifier_describe(const trv_schedule_t *schedule, trv_verify_method_t method);
TRV_API int trv_verifier_allocate(trv_verifier_t *v);
TRV_API void trv_verifier_release(trv_verifier_t *v);

/* Keeps the fault if it is the earliest so far by step, stream, rank. A step of -1 is after the last one. */
void trv_verifier_fault(trv_verifier_t *v, int step, int stream, int rank, int64_t unit, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Fills v->step for all ranks. */
TRV_API int trv_verifier_fetch(trv_verifier_t *v, int stream, int step);

/* The other side of the index-th send (or receive) of `rank` in the steps of all ranks: messages between two ranks
 * match in order. NULL: there is none. */
TRV_API const trv_message_t *trv_other_side(const trv_step_t *step, int ranks, int rank, bool send, int index);

/* The cells of a part, as register * count + unit - first; units in no particular order. `list` can hold all of them
 * (registers, times count). Returns how many. */
TRV_API size_t trv_part_cells(const trv_verifier_t *v, const trv_part_t *part, int64_t first, int64_t count,
                              uint32_t *list);

/* Callbacks that follow the contents of registers through a step. Cells are those of the batch; target cells are
 * target[i] + shift. False ends the step. */
typedef struct trv_follower {
    void *context;
    bool (*copy)(void *context, int from, const uint32_t *source, int to, const uint32_t *target, int64_t shift,
                 size_t cells);
    bool (*combine)(void *context, int rank, const trv_combine_t *combine, const uint32_t *unit, size_t units);
} trv_follower_t;

/* The fetched step: all messages that have both sides, then all combines. */
bool trv_verifier_apply(trv_verifier_t *v, const trv_follower_t *follower);

/* Checks the fetched step without values: 1 if it is sound, 0 after a fault, negative when out of memory. */
int trv_verifier_structure(trv_verifier_t *v, int stream, int step);

/* Determines whether a message without an other side in its step has one in another step or none; writes the end of
 * a sentence that begins "rank R …" to `text`. Overwrites v->step. */
int trv_verifier_missing_side(trv_verifier_t *v, int stream, int step, int rank, int peer, bool send, char *text,
                              size_t text_size);

/* The values of the batch: at the start, through the fetched step (false after a fault), and at the end. */
TRV_API void trv_values_start(trv_verifier_t *v, int stream);
TRV_API bool trv_values_step(trv_verifier_t *v, int stream, int step);
int trv_values_check(trv_verifier_t *v, int stream);

static inline uint64_t *trv_values_at(const trv_verifier_t *v, int rank, int64_t cell)
{
    return v->cell + ((int64_t)rank * v->registers * v->count + cell) * v->stride;
}

/* Finds the cause of a wrong `unit` in the result of `rank`, and reports it. */
int trv_verifier_explain(trv_verifier_t *v, int stream, int rank, int64_t unit);

/* Units of `blocks` that lie in first … first + count - 1, less `first`, in no particular order. Returns how many. */
TRV_API size_t trv_units_list(const trv_blocks_t *blocks, int64_t first, int64_t count, uint32_t *list);
/* Coordinates ascend and lie in the space, halves exist. */
bool trv_units_valid(const trv_blocks_t *blocks);
bool trv_units_equal(trv_verifier_t *v, const trv_blocks_t *a, const trv_blocks_t *b);

#define TRV_UNIT_NAME_MAX 64
/* "block 7", "the first half of block 7", "the whole slice". */
const char *trv_unit_name(const trv_schedule_t *schedule, int64_t unit, char *text);

static inline int trv_combine_source(const trv_combine_t *combine, int index)
{
    return combine->source ? combine->source[index] : combine->first + index;
}

/* splitmix64's finaliser: a bijection that spreads every bit over the word. */
static inline uint64_t trv_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
