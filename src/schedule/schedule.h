/*
 * The inside of a schedule, for the files that make one (algorithms, explicit schedules). Readers use
 * trivance/schedule.h only.
 *
 * An algorithm fills a trv_schedule_t in its `create` and provides `step`, which writes one rank's step into a
 * trv_step_t with the builder functions below. All memory of a step comes from its arena and is reused at the next
 * call.
 */
#ifndef TRIVANCE_SCHEDULE_SCHEDULE_H
#define TRIVANCE_SCHEDULE_SCHEDULE_H

#include <stddef.h>

#include <trivance/schedule.h>

#include "torus/rows.h"

struct trv_schedule {
    char name[TRV_SPELLED_MAX];
    const char *parameters; /* what follows the colon in the name, or NULL */
    trv_torus_t torus;
    trv_collective_t collective;
    int streams, steps, registers;
    int *weight;       /* of each stream (trv_schedule_weigh); NULL: all are 1 */
    int64_t weights;   /* … and their sum */
    trv_torus_t space; /* of the blocks; a 1-dimensional torus of size 1 for whole-slice schedules */
    int halves;
    int mirrored_from; /* streams with this number and above are mirrored ones; = streams if there are none */
    int messages_per_port;
    trv_symmetry_t symmetry;
    trv_exactness_t exactness;
    bool consistent;
    trv_rows_t *rows; /* where messages can go one way only; NULL: nowhere. The schedule's own */
    trv_rows_t *ways; /* where routes are fixed: those that a cut has opened. NULL: the steps' ports are the routes' */
    bool owned;       /* unit u belongs to rank u / (units / ranks) */

    /* Fills `out` (already emptied) for arguments in range. */
    int (*step)(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out);
    /* The axes of positions (trv_schedule_axes). NULL: `position` says where units lie, … */
    int (*axes)(const trv_schedule_t *schedule, int stream, trv_axis_t *axis);
    /* … and with that NULL, too, it is the identity. */
    int64_t (*position)(const trv_schedule_t *schedule, int stream, int64_t unit);
    void *tables; /* the algorithm's own */
    void (*destroy)(void *tables);
};

/* Whether the stream is a mirrored one, also where routes are fixed and its messages go as others do. */
static inline bool trv_stream_is_mirrored(const trv_schedule_t *schedule, int stream)
{
    return schedule->mirrored_from >= 0 && stream >= schedule->mirrored_from;
}

/* ---- Building a step --------------------------------------------------------------------------------------------- */

/* Memory that lives until the step is emptied or cleared; NULL when out of memory. */
void *trv_step_alloc(trv_step_t *step, size_t bytes);

/* Announces at most this many messages and combines; call it once, before adding any. */
int trv_step_reserve(trv_step_t *step, int sends, int receives, int combines);

/* Adds a message of `parts` parts, which the caller fills through the returned pointer (NULL: no memory). */
trv_part_t *trv_step_send(trv_step_t *step, int peer, int port, int parts);
trv_part_t *trv_step_receive(trv_step_t *step, int peer, int port, int parts);
/* The same for a message that the network interface of port `nic` injects; the two above leave it open (-1). */
trv_part_t *trv_step_send_by(trv_step_t *step, int peer, int port, int nic, int parts);
trv_part_t *trv_step_receive_by(trv_step_t *step, int peer, int port, int nic, int parts);

/* Adds a combine of explicit sources (copied), or of `sources` consecutive registers from `first` when source is NULL.
 */
int trv_step_combine(trv_step_t *step, int dst, int sources, const int *source, int first, const trv_blocks_t *blocks);

/* ---- Sets of units ----------------------------------------------------------------------------------------------- */

/* Begins a set without units. What is not filled in, terms and dimensions that are not there, nobody reads: steps are
 * made by the million, and clearing and copying whole sets took a third of the time. */
static inline void trv_blocks_begin(trv_blocks_t *blocks, const trv_torus_t *space, int halves)
{
    blocks->space = space;
    blocks->halves = halves;
    blocks->terms = 0;
}

/* Adds one block, of these halves, to which the caller gives counts and values. */
static inline trv_product_t *trv_blocks_add(trv_blocks_t *blocks, int halves)
{
    trv_product_t *product = &blocks->term[blocks->terms++];
    product->halves = halves;
    product->shifts = 0;
    product->shift = NULL;
    for (int d = 0; d < blocks->space->dims; d++) {
        product->count[d] = 1;
        product->value[d] = NULL;
    }
    return product;
}

/* All units of a space, and of the schedule. */
void trv_blocks_whole(const trv_torus_t *space, int halves, trv_blocks_t *blocks);
void trv_blocks_all(const trv_schedule_t *schedule, trv_blocks_t *blocks);

/* ---- Weights ----------------------------------------------------------------------------------------------------- */

/* Gives the streams, whose number is set, these weights (copied). TRV_ERR_ARGUMENT unless each is 1 to
 * TRV_WEIGHT_MAX. */
int trv_schedule_weigh(trv_schedule_t *schedule, const int *weight);

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* An empty schedule (see trv_algorithm.create in algorithms/algorithm.h for what it holds); NULL when out of memory. */
trv_schedule_t *trv_schedule_allocate(const trv_torus_t *torus, const char *name, trv_collective_t collective);

#endif
