/*
 * Schedules: which rank sends what to which rank, in which step, and how it is combined. The verifier, the cost model,
 * the executor, the exporters and the pictures all read this interface and nothing else.
 *
 * A schedule has S concurrent *streams*; stream i works on its own slice of the vector: slices follow each other, each
 * in proportion to its stream's *weight*, which is 1 unless streams have unequal work. A slice is divided into *units*:
 * the blocks of the schedule's `space` (row-major), each in `halves` (1 or 2) parts, unit b * halves + h being half h
 * of block b. For bandwidth-optimal schedules the space is the torus itself and block b is owned by rank b; for
 * latency-optimal ones it is a single block, the whole slice.
 *
 * Every rank has `registers` registers, each of the shape of a slice. Register 0 holds the rank's contribution at the
 * start and the result at the end; the others are scratch. In a *step* a rank sends messages from registers and
 * receives messages into registers (all of these concurrently), then, when its sends and receives of the step are
 * complete, runs the step's combines in order. Then it continues with the stream's next step. Streams do not wait for
 * each other.
 *
 * Lazy: a schedule stores only tables per dimension; trv_schedule_step computes one rank's step on demand.
 * Thread-safety: a schedule never changes after its creation; any number of threads may read one, each with its own
 * trv_step_t. (Exception: explicit schedules while they are being filled.)
 *
 * Stability: stable.
 */
#ifndef TRIVANCE_SCHEDULE_H
#define TRIVANCE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/common.h>
#include <trivance/torus.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Broadcast, reduce, scatter and gather have a root. In an all-to-all every rank sends another block to each rank: unit
 * u of a rank's contribution is for the rank at the displacement of the unit's block, rank + block, coordinate by
 * coordinate and around the torus (also along lines), and unit u of its result comes from rank - block. The number of a
 * unit is then the same on every rank that it passes. */
typedef enum trv_collective {
    TRV_ALLREDUCE,
    TRV_REDUCE_SCATTER,
    TRV_ALLGATHER,
    TRV_BROADCAST,
    TRV_REDUCE,
    TRV_SCATTER,
    TRV_GATHER,
    TRV_ALLTOALL
} trv_collective_t;

/* "reduce-scatter", as in commands and files, and "Reduce-Scatter", as in sentences. NULL: there is no such
 * collective. */
TRV_API const char *trv_collective_name(trv_collective_t collective);
TRV_API const char *trv_collective_title(trv_collective_t collective);

/* The relabellings of the ranks that map the schedule's messages onto themselves. */
typedef enum trv_symmetry {
    TRV_SYMMETRY_NONE,
    TRV_SYMMETRY_PARITY,     /* translation by 2 in every dimension (Swing) */
    TRV_SYMMETRY_TRANSLATION /* translation by anything */
} trv_symmetry_t;

/* The contributions in the result of every rank. */
typedef enum trv_exactness {
    TRV_EXACT, /* every contribution exactly once */
    TRV_COVERS /* every contribution at least once: correct only for idempotent operations (MAX, MIN, AND, OR) */
} trv_exactness_t;

typedef struct trv_schedule trv_schedule_t;

/* ---- Sets of units ------------------------------------------------------------------------------------------- */

/* A list of displacements of a space: `count` vectors of one coordinate per dimension, each 0 … size - 1. */
typedef struct trv_shifts {
    int count;
    const int *vector;
} trv_shifts_t;

#define TRV_SHIFTS_MAX 30 /* lists of one set: each at least doubles it */

/* A product set: all units whose block has, in every dimension d of the space, one of count[d] coordinates value[d]
 * (ascending; NULL means every coordinate; count[d] is then the dimension's size), and whose half is in the mask
 * `halves` (bit h for half h).
 * With shifts, the sum of the product and of `shifts` lists of displacements: every block of the product, moved by
 * every sum of one vector from each list, around the torus. These blocks must be distinct. */
typedef struct trv_product {
    int halves;
    int count[TRV_DIMS_MAX];
    const int *value[TRV_DIMS_MAX];
    int shifts; /* 0 … TRV_SHIFTS_MAX */
    const trv_shifts_t *shift;
} trv_product_t;

#define TRV_TERMS_MAX 2

/* A set of units: the union of disjoint products. Stored this way because a message of a torus schedule may hold n/3
 * blocks but is described by a few coordinates per dimension, or by a few displacements. */
typedef struct trv_blocks {
    const trv_torus_t *space; /* the blocks are numbered as the ranks of this torus */
    int halves;               /* units per block, 1 or 2 */
    int terms;                /* 0 … TRV_TERMS_MAX; 0 is the empty set */
    trv_product_t term[TRV_TERMS_MAX];
} trv_blocks_t;

/* Number of units in the set. */
TRV_API int64_t trv_blocks_count(const trv_blocks_t *blocks);
TRV_API bool trv_blocks_contains(const trv_blocks_t *blocks, int64_t unit);
/* Writes all units, ascending, to `unit`, which holds trv_blocks_count of them. */
TRV_API void trv_blocks_list(const trv_blocks_t *blocks, int64_t *unit);

/* Iterates over the sums of a product's shifts, one vector from each list; without shifts there is one sum, 0:
 *
 *     trv_moves_t moves;
 *     for (bool more = trv_moves_begin(&moves, space, product); more; more = trv_moves_next(&moves))
 *         … the product, moved by moves.by …
 */
typedef struct trv_moves {
    const trv_torus_t *space;
    const trv_product_t *product;
    int index[TRV_SHIFTS_MAX];
    int sum[TRV_SHIFTS_MAX + 1][TRV_DIMS_MAX]; /* sum[i]: of the vectors from the first i lists */
    const int *by;                             /* sum[shifts] */
} trv_moves_t;

TRV_API bool trv_moves_begin(trv_moves_t *moves, const trv_torus_t *space, const trv_product_t *product);
TRV_API bool trv_moves_next(trv_moves_t *moves);

/* ---- One rank's step ------------------------------------------------------------------------------------------- */

/* A part of a message: the units `blocks` of register `reg`. With `slots` the units of `blocks` (whose space is then
 * not the schedule's) are numbers of registers instead: for every unit u, the part contains the whole register reg + u.
 * The parts of a message are contiguous, units (or registers) ascending; sender and receiver list the same parts in the
 * same order; their registers may differ. */
typedef struct trv_part {
    int reg;
    bool slots;
    trv_blocks_t blocks;
} trv_part_t;

typedef struct trv_message {
    int peer; /* the other rank */
    int port; /* the SENDER's port by which it leaves, both in a send and in a receive (trv_port) */
    /* the sender's port whose network interface injects it; -1: the interface of `port` or, while that is busy, the
     * other one of its dimension. Used by the packet simulator only */
    int nic;
    int parts;
    const trv_part_t *part;
} trv_message_t;

/* register dst := source[0] + source[1] + … on `blocks`, added in this order, from left to right, as ONE joint
 * reduction. One source is a copy. dst may be one of the sources. With source == NULL the sources are the registers
 * first, first + 1, …, first + sources - 1. */
typedef struct trv_combine {
    int dst;
    int sources;
    const int *source;
    int first;
    trv_blocks_t blocks;
} trv_combine_t;

/* Several messages between the same two ranks in one step match in the order in which both list them. */
typedef struct trv_step {
    int dimension; /* the dimension this step works on, or -1 if there is no single one */
    int sends;
    const trv_message_t *send;
    int receives;
    const trv_message_t *receive;
    int combines;
    const trv_combine_t *combine;
    struct trv_arena *arena; /* owns all of the above; the step's own */
} trv_step_t;

/* Initialise a trv_step_t with TRV_STEP_INIT before its first use; trv_step_clear frees what it owns. */
#define TRV_STEP_INIT                                                                                                  \
    {                                                                                                                  \
        .dimension = -1                                                                                                \
    }
TRV_API void trv_step_clear(trv_step_t *step);

/* Computes what `rank` does in step `step` of stream `stream`. `out` is reused and its previous contents are
 * overwritten. A rank with nothing to do gets an empty step. TRV_ERR_ARGUMENT for numbers out of range. */
TRV_API int trv_schedule_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out);

/* Bytes that suffice for the full name of a schedule (trv_schedule_full_name), the terminating 0 included. */
#define TRV_FULL_NAME_MAX 2048

/* ---- The schedule ---------------------------------------------------------------------------------------------- */

/* `schedule` may be NULL. */
TRV_API void trv_schedule_destroy(trv_schedule_t *schedule);

TRV_API const char *trv_schedule_name(const trv_schedule_t *schedule);
TRV_API const trv_torus_t *trv_schedule_torus(const trv_schedule_t *schedule);
TRV_API trv_collective_t trv_schedule_collective(const trv_schedule_t *schedule);
/* The root of a rooted collective, otherwise 0. */
TRV_API int trv_schedule_root(const trv_schedule_t *schedule);
TRV_API int trv_schedule_streams(const trv_schedule_t *schedule);
/* The weight of a stream, 1 … TRV_WEIGHT_MAX. Its slice is the weight / (sum of all weights) of the vector. */
#define TRV_WEIGHT_MAX 1024
TRV_API int trv_schedule_weight(const trv_schedule_t *schedule, int stream);
/* The sum of the weights of the first `streams` streams. */
TRV_API int64_t trv_schedule_weights(const trv_schedule_t *schedule, int streams);
TRV_API int trv_schedule_steps(const trv_schedule_t *schedule);
TRV_API int trv_schedule_registers(const trv_schedule_t *schedule);
/* The space of the schedule's blocks, and the halves of each: units = space->ranks * halves. */
TRV_API const trv_torus_t *trv_schedule_space(const trv_schedule_t *schedule);
TRV_API int trv_schedule_halves(const trv_schedule_t *schedule);
TRV_API int64_t trv_schedule_units(const trv_schedule_t *schedule);
/* The symmetry of the whole schedule: TRV_SYMMETRY_NONE if any dimension is a line. */
TRV_API trv_symmetry_t trv_schedule_symmetry(const trv_schedule_t *schedule);
/* The number of ranks along `dimension` by which a translation maps the messages onto themselves: 1 for
 * TRV_SYMMETRY_TRANSLATION, 2 (1 on an odd ring, where translations by 2 reach every rank) for TRV_SYMMETRY_PARITY, the
 * dimension's size for TRV_SYMMETRY_NONE. On a mesh or behind a cut, dimensions that are rings may have a symmetry. */
TRV_API int trv_schedule_period(const trv_schedule_t *schedule, int dimension);
TRV_API trv_exactness_t trv_schedule_exactness(const trv_schedule_t *schedule);
/* Whether all ranks end with bitwise identical results, also for floating point. Proved by the verifier. */
TRV_API bool trv_schedule_consistent(const trv_schedule_t *schedule);
/* The maximum number of messages of one stream that a rank sends or receives in one step, divided by the number of its
 * ports, rounded up. A rank has two ports in every dimension of more than one rank, but one in a line of two; ranks at
 * the end of a line count as many as the others. Proved by the verifier. The function counts the messages, unless the
 * schedule declares their number; TRV_ERR_MEMORY. */
TRV_API int trv_schedule_messages_per_port(const trv_schedule_t *schedule);
/* Whether the stream is mirrored: messages that go half way round travel in direction - (trv_route_begin). */
TRV_API bool trv_schedule_mirrored(const trv_schedule_t *schedule, int stream);
/* Where a unit lies in its slice, 0 … units - 1 (a permutation; chosen so that messages are contiguous where possible).
 * It is the identity where the vector has a block for each rank. */
TRV_API int64_t trv_schedule_position(const trv_schedule_t *schedule, int stream, int64_t unit);
/* How positions are composed, most significant first: each axis counts a digit of one coordinate of the unit's block,
 * coordinate[dimension] / divisor % size; the half comes last. Every block has distinct digits. Returns the number of
 * axes, or 0 if positions follow no such rule (as in a space of one block). */
typedef struct trv_axis {
    int dimension, divisor, size;
} trv_axis_t;
#define TRV_AXES_MAX 40 /* digits of 31 bits, and dimensions of size 1 */
TRV_API int trv_schedule_axes(const trv_schedule_t *schedule, int stream, trv_axis_t axis[TRV_AXES_MAX]);
/* The owner of a unit: the rank that holds its result after a reduce-scatter or scatter, or contributes it to an
 * allgather or gather. -1 if a schedule's units have no owner (latency-optimal ones). */
TRV_API int trv_schedule_owner(const trv_schedule_t *schedule, int64_t unit);

/* The bytes of one message of stream `stream`, for timing, of a vector of `vector_bytes`: max(1, ceil(units * weight *
 * vector / (weights of all streams * all units))), the same for every rank. For a reduce-scatter or allgather
 * `vector_bytes` is the whole vector. */
TRV_API uint64_t trv_message_bytes(const trv_schedule_t *schedule, int stream, const trv_message_t *message,
                                   uint64_t vector_bytes);
/* The same for an arbitrary number of units. */
TRV_API uint64_t trv_units_bytes(const trv_schedule_t *schedule, int stream, int64_t units, uint64_t vector_bytes);
/* The number of equal shares into which the vector is divided for counting: a unit has as many shares as its stream's
 * weight, so that units of different streams can be added up. And the bytes of `shares` of `all` shares. */
TRV_API int64_t trv_schedule_shares(const trv_schedule_t *schedule);
TRV_API uint64_t trv_share_bytes(int64_t shares, uint64_t all, uint64_t vector_bytes);
/* The units of a message; a part with slots counts as all units of a slice for each of its registers. */
TRV_API int64_t trv_message_units(const trv_schedule_t *schedule, const trv_message_t *message);

/* ---- All messages at once -------------------------------------------------------------------------------------- */

/* A message as it is sent: `units` units of its stream's slice, `bytes` bytes of the vector that was asked about. */
typedef struct trv_sent_message {
    int stream, step, from, to;
    int port, nic; /* as in trv_message_t */
    int64_t units;
    uint64_t bytes;
} trv_sent_message_t;

typedef struct trv_messages {
    int64_t count;
    trv_sent_message_t *message;
} trv_messages_t;

/* Lists the messages that all ranks send, by stream, step and sender, for a vector of `vector_bytes`. `progress` may be
 * NULL; otherwise it is called periodically with a fraction 0 … 1, and ends the call with TRV_ERR_CANCELLED if it does
 * not return 0. After a failure there is nothing to clear. */
TRV_API int trv_schedule_messages(const trv_schedule_t *schedule, uint64_t vector_bytes, trv_messages_t *messages,
                                  int (*progress)(void *context, double fraction), void *context);
TRV_API void trv_messages_clear(trv_messages_t *messages);

/* ---- Explicit schedules ----------------------------------------------------------------------------------------- */

/* An explicit schedule stores every message. It starts empty; fill it, then read it like any other. Fields left 0 mean
 * AllReduce, no symmetry, exact, not consistent, counted messages per port, no mirrored streams, identity positions. */
typedef struct trv_explicit_options {
    size_t size; /* of this struct, as the caller knows it: begin with {TRV_EXPLICIT_OPTIONS} */
    trv_collective_t collective;
    int root; /* of a rooted collective, otherwise 0 */
    int streams, steps, registers;
    int64_t units; /* of a slice; rank u / (units / n) owns unit u if n divides units, otherwise no rank does */
    trv_symmetry_t symmetry;
    trv_exactness_t exactness;
    bool consistent;
    int messages_per_port;   /* as trv_schedule_messages_per_port: the maximum; 0: they are counted */
    int mirrored_streams;    /* the number of mirrored streams, which come last */
    const int64_t *position; /* streams * units of them (copied), or NULL */
    const int *weight;       /* of every stream (copied), or NULL: all are 1 */
} trv_explicit_options_t;
#define TRV_EXPLICIT_OPTIONS TRV_SIZED(trv_explicit_options_t)

TRV_API int trv_explicit_create(trv_schedule_t **schedule, const trv_torus_t *torus, const char *name,
                                const trv_explicit_options_t *options);

/* A part given by ascending lists; with `slots` the list holds register offsets. Everything is copied. */
typedef struct trv_explicit_part {
    int from_reg, to_reg; /* the sender's and the receiver's register */
    bool slots;
    int64_t count;
    const int64_t *unit;
} trv_explicit_part_t;

/* The sides of a message to record: both, except in tests with deliberate faults. */
enum { TRV_SEND = 1, TRV_RECEIVE = 2 };

/* `nic` is -1 unless another port's network interface injects the message (trv_message_t.nic). */
TRV_API int trv_explicit_message(trv_schedule_t *schedule, int stream, int step, int from, int to, int port, int nic,
                                 int sides, int parts, const trv_explicit_part_t *part);
TRV_API int trv_explicit_combine(trv_schedule_t *schedule, int stream, int step, int rank, int dst, int sources,
                                 const int *source, int64_t count, const int64_t *unit);
/* A deep copy of any schedule as an explicit one. */
TRV_API int trv_explicit_copy(trv_schedule_t **copy, const trv_schedule_t *schedule);

#ifdef __cplusplus
}
#endif
#endif
