/*
 * Stars, gathered: every rank collects the vectors themselves along a star chain, then adds all n in the order of the
 * ranks.
 *
 *   4x4, step 0   r gets the vectors of 3 neighbours              has 4
 *        step 1   4 vectors from each of 3 others                 has 16
 *        then     0 + 1 + 2 + … + 15, from left to right, on every rank
 *
 * For tiny vectors: as few steps as star:l, but a rank receives (n-1) m bytes. The result is bitwise identical on every
 * rank and for every shape of the torus. The chain need not be a direct sum: if several of its sums lead to the same
 * rank, the vector is sent only once, so that ceil(log_(2D+1) n) steps suffice on many more tori.
 * Registers: one per rank, register 1 + r for the vector of rank r.
 * Streams: 1.   Steps: those of the chain.   Exact: yes.   Consistent: yes.
 * Symmetry: translation (of the messages).
 */
#include <stdlib.h>
#include <string.h>

#include "algorithms/star_name.h"
#include "algorithms/builders/star_streams.h"
#include "base/error.h"

#define SLOTS 1 /* the register of rank 0's vector */

typedef struct tables {
    trv_star_chain_t chain;
    /* The vectors that are sent with vector `v` of step `k`: rank r receives those of the ranks r + x for every x in
     * brought[k][v]. */
    trv_shifts_t carried[TRV_STAR_STEPS_MAX][TRV_PORTS_MAX];
    int displacement[]; /* memory of all these lists, D coordinates per displacement */
} tables_t;

/* Adds one message, to or from `peer`; `receiver` is the one of the two ranks that receives it. */
static int gathered_add_message(const trv_schedule_t *schedule, trv_step_t *out, bool send, int peer, int receiver,
                                int port, const trv_shifts_t *carried)
{
    const int dims = schedule->torus.dims;
    trv_part_t *part = (send ? trv_step_send : trv_step_receive)(out, peer, port, 1);
    int *at = trv_step_alloc(out, (size_t)dims * sizeof *at);
    if (!part || !at)
        return TRV_ERR_MEMORY;
    trv_torus_coordinates(&schedule->torus, receiver, at);
    part->reg = SLOTS;
    part->slots = true;
    part->blocks = (trv_blocks_t){.space = &schedule->torus, .halves = 1, .terms = 1};
    trv_product_t *product = &part->blocks.term[0];
    *product = (trv_product_t){.halves = 1, .shifts = 1, .shift = carried};
    for (int d = 0; d < dims; d++) {
        product->count[d] = 1;
        product->value[d] = &at[d];
    }
    return TRV_OK;
}

/* Adds a message of the first step, in which every rank has only its own vector, in register 0. */
static int gathered_add_first(const trv_schedule_t *schedule, trv_step_t *out, bool send, int peer, int port)
{
    trv_part_t *part = (send ? trv_step_send : trv_step_receive)(out, peer, port, 1);
    if (!part)
        return TRV_ERR_MEMORY;
    part->reg = send ? 0 : SLOTS + peer;
    trv_blocks_all(schedule, &part->blocks);
    return TRV_OK;
}

static int gathered_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    (void)stream; /* there is only one */
    const tables_t *tables = schedule->tables;
    const trv_star_step_t *star = &tables->chain.step[step];
    trv_blocks_t all;
    int rc = trv_step_reserve(out, star->vectors, star->vectors, 2);
    for (int i = 0; i < 2 * star->vectors && !rc; i++) {
        const bool send = i < star->vectors;
        const int v = i % star->vectors;
        const int peer = trv_star_peer(&schedule->torus, rank, &star->vector[v], send);
        const trv_shifts_t *carried = &tables->carried[step][v];
        if (step == 0)
            rc = gathered_add_first(schedule, out, send, peer, star->vector[v].port);
        else if (carried->count > 0)
            rc = gathered_add_message(schedule, out, send, peer, send ? peer : rank, star->vector[v].port, carried);
    }
    trv_blocks_all(schedule, &all);
    if (!rc && step == 0)
        rc = trv_step_combine(out, SLOTS + rank, 1, NULL, 0, &all);
    if (!rc && step == schedule->steps - 1)
        rc = trv_step_combine(out, 0, schedule->torus.ranks, NULL, SLOTS, &all);
    return rc;
}

/* The rank at displacement `vector` from `origin`, both relative to a rank. */
static int displaced_rank(const trv_torus_t *torus, const int *origin, const int *vector, int *at)
{
    for (int d = 0; d < torus->dims; d++) {
        at[d] = (origin[d] + vector[d]) % torus->size[d];
        at[d] += at[d] < 0 ? torus->size[d] : 0;
    }
    return trv_torus_rank(torus, at);
}

/* Determines which vectors are sent with which message: each with the first message that can carry it. `reached` must
 * be all false. */
static void find_carried(tables_t *tables, bool *reached)
{
    const trv_torus_t *torus = &tables->chain.torus;
    const int dims = torus->dims;
    int *all = tables->displacement; /* the displacements reached so far, beginning with 0 */
    int count = 1;
    reached[0] = true;
    for (int k = 0; k < tables->chain.steps; k++) {
        const int before = count;
        for (int v = 0; v < tables->chain.step[k].vectors; v++) {
            trv_shifts_t *carried = &tables->carried[k][v];
            *carried = (trv_shifts_t){0, all + count * dims};
            for (int i = 0; i < before; i++) {
                int at[TRV_DIMS_MAX];
                bool *known = &reached[displaced_rank(torus, all + i * dims, tables->chain.step[k].vector[v].at, at)];
                if (*known)
                    continue;
                *known = true;
                memcpy(all + count++ * dims, at, (size_t)dims * sizeof *at);
                carried->count++;
            }
        }
    }
}

int trv_star_gathered_create(trv_schedule_t *schedule, const trv_star_chain_t *chain)
{
    const size_t ranks = (size_t)schedule->torus.ranks;
    tables_t *tables = calloc(1, sizeof *tables + ranks * (size_t)schedule->torus.dims * sizeof(int));
    bool *reached = calloc(ranks, sizeof *reached);
    if (!tables || !reached) {
        free(tables);
        free(reached);
        return trv_fail_memory();
    }
    tables->chain = *chain;
    find_carried(tables, reached);
    free(reached);
    schedule->tables = tables;
    schedule->destroy = free;
    schedule->step = gathered_step;
    schedule->steps = chain->steps;
    schedule->registers = SLOTS + schedule->torus.ranks;
    schedule->owned = false;
    return TRV_OK;
}
