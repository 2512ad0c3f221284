/*
 * Trivance L, gathered: every rank collects the vectors themselves, then adds all n of them in rank order
 * (docs/algorithms.md; the steps are those of Trivance's AllGather, paper section 4.1).
 *
 *   ring of 9, step 0   0 sends its vector to 8 and 1                   has 8, 0, 1
 *              step 1   0 sends three vectors to 6 and three to 3       has 5, 6, 7, 8, 0, 1, 2, 3, 4
 *              then     0 + 1 + 2 + … + 8, from left to right, on every rank
 *
 * For tiny vectors: as few steps as the windows of Trivance L, but a rank receives (n-1) m bytes. The result is bitwise
 * identical on every rank, and for every shape of the torus, because the vectors are added in the order of the ranks.
 * Sizes: any; on a torus stream i collects along dimension i, then i + 1, …
 * Registers: one per rank, register 1 + r for the vector of rank r.
 * Steps: sum of ceil(log3 a).   Exact: yes.   Consistent: yes.   Symmetry: translation (of the messages).
 */
#include <stdlib.h>

#include "algorithms/builders/gather.h"
#include "base/radix.h"
#include "algorithms/builders/range.h"
#include "algorithms/registry.h"
#include "algorithms/builders/visit.h"
#include "base/error.h"
#include "torus/torus.h"

#define SLOTS 1 /* the register of rank 0's vector */

typedef struct tables {
    int active, dimension[TRV_DIMS_MAX], levels[TRV_DIMS_MAX];
} tables_t;

typedef struct view {
    const trv_schedule_t *schedule;
    trv_step_t *out;
    int rank;
    trv_turn_t turn;
} view_t;

/* Adds one message: the vectors of the message's coordinates along the step's dimension, of all coordinates along the
 * dimensions that are complete, and of the rank's own coordinate along the others. */
static int gathered_add_message(const view_t *view, const trv_gather_message_t *message)
{
    const trv_torus_t *torus = &view->schedule->torus;
    const tables_t *tables = view->schedule->tables;
    const int dimension = view->out->dimension;
    int peer = trv_torus_shift(torus, view->rank, dimension, message->delta);
    trv_part_t *part = (message->send ? trv_step_send : trv_step_receive)(view->out, peer,
                                                                          trv_port(dimension, message->sign), 1);
    if (!part)
        return TRV_ERR_MEMORY;
    bool begun = false;
    for (int i = 0; i < tables->active; i++)
        begun = begun || view->turn.done[i] > 0;
    if (!begun) { /* the sender's own vector is in its register 0 */
        part->reg = message->send ? 0 : SLOTS + peer;
        trv_blocks_all(view->schedule, &part->blocks);
        return TRV_OK;
    }
    trv_product_t *product = &part->blocks.term[0];
    part->reg = SLOTS;
    part->slots = true;
    trv_blocks_whole(torus, 1, &part->blocks);
    for (int i = 0; i < tables->active; i++) {
        int d = tables->dimension[i];
        bool current = i == view->turn.index;
        if (!current && view->turn.done[i] > 0)
            continue;
        int first = current ? message->first : trv_torus_coordinate(torus, view->rank, d);
        product->count[d] = current ? message->count : 1;
        product->value[d] = trv_range(view->out, torus->size[d], first, product->count[d]);
        if (!product->value[d])
            return TRV_ERR_MEMORY;
    }
    return TRV_OK;
}

static int gathered_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    view_t view = {schedule, out, rank, trv_visit_turn(TRV_SEQUENTIAL, tables->active, tables->levels, stream, step)};
    out->dimension = tables->dimension[view.turn.index];
    int own = trv_torus_coordinate(&schedule->torus, rank, out->dimension);
    trv_gather_message_t message[TRV_GATHER_MESSAGES_MAX];
    int messages = trv_gather_messages(schedule->torus.size[out->dimension], view.turn.level, own, message);
    int rc = trv_step_reserve(out, 2, 2, 2);
    for (int i = 0; i < messages && !rc; i++)
        rc = gathered_add_message(&view, &message[i]);
    trv_blocks_t all;
    trv_blocks_all(schedule, &all);
    if (!rc && step == 0)
        rc = trv_step_combine(out, SLOTS + rank, 1, NULL, 0, &all);
    if (!rc && step == schedule->steps - 1)
        rc = trv_step_combine(out, 0, schedule->torus.ranks, NULL, SLOTS, &all);
    return rc;
}

static int gathered_create(trv_schedule_t *schedule)
{
    tables_t *tables = calloc(1, sizeof *tables);
    if (!tables)
        return trv_fail_memory();
    schedule->tables = tables;
    schedule->destroy = free;
    schedule->step = gathered_step;
    tables->active = trv_torus_active(&schedule->torus, tables->dimension);
    for (int i = 0; i < tables->active; i++) {
        tables->levels[i] = trv_log_ceil(3, schedule->torus.size[tables->dimension[i]]);
        schedule->steps += tables->levels[i];
    }
    schedule->streams = tables->active > 0 ? tables->active : 1;
    schedule->registers = SLOTS + schedule->torus.ranks;
    return TRV_OK;
}

const trv_algorithm_t trv_trivance_l_gathered = {
    .name = "trivance-l-gathered",
    .family = "trivance-l-gathered",
    .title = "Trivance L, gathered: all vectors collected, added in rank order",
    .use = "tiny vectors: the same bits on every rank and every torus",
    .source = "after Juerss, Addanki, Schmid: Trivance; Bruck et al. 1997",
    .sizes = "any torus or mesh",
    .steps_formula = "sum of ceil(log3 a)",
    .bytes_formula = "m (n-1)",
    .latency_optimal = true,
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .in_rank_order = true,
    .create = gathered_create,
};
