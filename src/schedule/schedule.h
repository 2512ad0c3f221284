/*
 * The internal representation of schedules, for modules that create them (algorithms, explicit schedules). Readers
 * include trivance/schedule.h only.
 *
 * An algorithm fills a trv_schedule_t in its `create` function and provides `step`, which writes one rank's step into a
 * trv_step_t with the builder functions below. All memory of a step comes from its arena and is reused at the next
 * call.
 */
#ifndef TRIVANCE_SCHEDULE_SCHEDULE_H
#define TRIVANCE_SCHEDULE_SCHEDULE_H

#include <stddef.h>

#include <trivance/network.h>
#include <trivance/schedule.h>

#include "torus/rows.h"

struct trv_schedule {
    char name[TRV_FULL_NAME_MAX];
    /* During creation only: the parameters in the name; the network; the factor from which its links are avoided
     * (INFINITY: none is). */
    const struct trv_parameters *parameters;
    const trv_network_t *network;
    double avoid;
    trv_torus_t torus;
    trv_collective_t collective;
    int root; /* of a rooted collective, otherwise 0 */
    int streams, steps, registers;
    int *weight;       /* per stream (trv_schedule_set_weights); NULL: all weights are 1 */
    int64_t weights;   /* the sum of the weights */
    trv_torus_t space; /* coordinates of the blocks; a 1-dimensional torus of size 1 for whole-slice schedules */
    int halves;
    /* the first mirrored stream, after which all are mirrored; equal to `streams` if there are none */
    int mirrored_from;
    int messages_per_port; /* the maximum; 0: it is counted when it is asked for (per_port.h) */
    trv_symmetry_t symmetry;
    trv_exactness_t exactness;
    bool consistent;
    trv_rows_t *rows; /* rows that are lines; NULL: there are none. Owned by the schedule */
    /* where routes are fixed: the rows that cuts have opened. NULL: the schedule chooses the routes by its ports. Owned
     * by the schedule */
    trv_rows_t *fixed_rows;
    bool owned; /* unit u belongs to rank u / (units / ranks) */

    /* Writes a step to `out`, which is empty. The caller has checked the ranges of the arguments. */
    int (*step)(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out);
    /* The axes of positions (trv_schedule_axes). NULL: `position` defines where units are. */
    int (*axes)(const trv_schedule_t *schedule, int stream, trv_axis_t *axis);
    /* The position of a unit, if `axes` is NULL. If both are NULL, the position is the unit's number. */
    int64_t (*position)(const trv_schedule_t *schedule, int stream, int64_t unit);
    void *tables; /* private data of the algorithm */
    void (*destroy)(void *tables);
};

/* Whether the stream is a mirrored one; also true where routes are fixed, although its messages then take the same
 * routes as those of other streams. */
static inline bool trv_stream_is_mirrored(const trv_schedule_t *schedule, int stream)
{
    return schedule->mirrored_from >= 0 && stream >= schedule->mirrored_from;
}

/* ---- Building a step --------------------------------------------------------------------------------------------- */

/* Memory that is valid until the step is emptied or cleared; NULL when out of memory. */
void *trv_step_alloc(trv_step_t *step, size_t bytes);

/* Reserves memory for at most this many messages and combines. Call it once, before adding any. */
int trv_step_reserve(trv_step_t *step, int sends, int receives, int combines);

/* Adds a message of `parts` parts, which the caller fills through the returned pointer. NULL when out of memory. */
trv_part_t *trv_step_send(trv_step_t *step, int peer, int port, int parts);
trv_part_t *trv_step_receive(trv_step_t *step, int peer, int port, int parts);
/* The same for a message that is injected by the network interface of port `nic`; the functions above leave the choice
 * open (-1). */
trv_part_t *trv_step_send_by(trv_step_t *step, int peer, int port, int nic, int parts);
trv_part_t *trv_step_receive_by(trv_step_t *step, int peer, int port, int nic, int parts);

/* Adds a combine of the registers source[0] … (copied) or, if `source` is NULL, of `sources` consecutive registers from
 * `first` on. */
int trv_step_combine(trv_step_t *step, int dst, int sources, const int *source, int first, const trv_blocks_t *blocks);

/* ---- Sets of units ----------------------------------------------------------------------------------------------- */

/* Begins a set without units. Unused terms and dimensions stay uninitialized and must not be read: steps are created by
 * the million, and clearing and copying whole sets took a third of the time. */
static inline void trv_blocks_begin(trv_blocks_t *blocks, const trv_torus_t *space, int halves)
{
    blocks->space = space;
    blocks->halves = halves;
    blocks->terms = 0;
}

/* Adds a product with the given halves of one block; the caller sets its counts and values. */
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

/* The set of all units of a space, and of all units of the schedule. */
void trv_blocks_whole(const trv_torus_t *space, int halves, trv_blocks_t *blocks);
void trv_blocks_all(const trv_schedule_t *schedule, trv_blocks_t *blocks);

/* Replaces a set by a set of units of `space`, which has one dimension, in which any set is one product: unit u becomes
 * the `count` units from u * each + first on. The list is in `memory`. TRV_OK or TRV_ERR_MEMORY. */
int trv_blocks_flatten(trv_blocks_t *blocks, const trv_torus_t *space, int each, int first, int count,
                       trv_step_t *memory);

/* ---- Weights ----------------------------------------------------------------------------------------------------- */

/* Assigns these weights (copied) to the streams, whose number must be set. TRV_ERR_ARGUMENT unless each weight is 1 to
 * TRV_WEIGHT_MAX. */
int trv_schedule_set_weights(trv_schedule_t *schedule, const int *weight);

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* Allocates an empty schedule (algorithms/algorithm.h, trv_algorithm.create, lists its contents); NULL when out of
 * memory. */
trv_schedule_t *trv_schedule_allocate(const trv_torus_t *torus, const char *name, trv_collective_t collective,
                                      int root);

/* Copies the numbers of streams, steps, registers, units and messages per port, the weights, and the claims. The
 * functions, and so the steps and the positions, remain those of `schedule`. TRV_OK or TRV_ERR_MEMORY. */
int trv_schedule_copy_properties(trv_schedule_t *schedule, const trv_schedule_t *from);

/* Creates an explicit schedule without messages for the torus, collective and units of `from`, with its positions,
 * weights, exactness and consistency. `options` has the other properties. TRV_OK or an error. */
int trv_explicit_create_like(trv_schedule_t **created, const trv_schedule_t *from,
                             const trv_explicit_options_t *options);

/* The symmetry of an explicit copy of the schedule. The copy does not know which rows a cut has opened; if there are
 * any, it has none. */
trv_symmetry_t trv_explicit_symmetry(const trv_schedule_t *schedule);

#endif
