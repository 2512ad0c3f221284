/*
 * Lines, latency-optimal: whole vectors in as few steps as on a ring.
 *
 * From the smallest intervals up (line.h), every place of an interval holds the sum of exactly that interval, and in one
 * step gets the sums of the other two from one partner each. All add them from left to right, so that all have the same
 * bits:
 *
 *   9 places   step 0   0 <-1-> 1 <-1-> 2,  0 <-2-> 2      0, 1 and 2 hold 0 + 1 + 2
 *              step 1   0 <-3-> 3 <-3-> 6,  0 <-6-> 6      everybody adds (012) + (345) + (678), in this order
 *
 * On 3^s places a link carries 2 * 3^k vectors in step k, where it would carry 3^k on a ring. Where sizes differ, a place
 * serves two of another interval.
 * Sizes: any.   On a torus or mesh: D streams, stream i finishes dimension i, then i + 1, …; rings as Trivance L,
 * grouped.   Registers: 1 + i holds the sum of interval i of the three.
 * Steps: sum of ceil(log3 a).   Exact: yes.   Symmetry: none.
 * Consistent: yes, unless rows of one dimension begin at different coordinates (hybrid.c).
 */
#include <stdlib.h>

#include "algorithms/hybrid.h"
#include "algorithms/line.h"
#include "algorithms/table.h"
#include "common/error.h"
#include "common/radix.h"
#include "torus/torus.h"

#define SLOTS 1 /* the register of the left interval's sum */

typedef struct line {
    trv_stage_t base;
    int dimension, size, stride;
} line_t;

/* One rank's step; its place counts in strides. */
typedef struct view {
    const line_t *line;
    const trv_schedule_t *schedule;
    const trv_blocks_t *blocks;
    trv_step_t *out;
    int rank, place;
    trv_trio_t trio;
} view_t;

static int add_message(const view_t *view, bool send, int place, int reg)
{
    const line_t *line = view->line;
    const int delta = (place - view->place) * line->stride;
    const int peer = trv_torus_shift(&view->schedule->torus, view->rank, line->dimension, delta);
    const int port = trv_port(line->dimension, send == (delta > 0) ? 1 : -1);
    trv_part_t *part = (send ? trv_step_send : trv_step_receive)(view->out, peer, port, 1);
    if (!part)
        return TRV_ERR_MEMORY;
    part->reg = reg;
    part->blocks = *view->blocks;
    return TRV_OK;
}

static int add_messages(const view_t *view, int i)
{
    int served[2], rc = TRV_OK;
    for (int s = 0, count = trv_line_served(&view->trio, view->place, i, served); s < count && !rc; s++)
        rc = add_message(view, true, served[s], 0);
    return rc ? rc : add_message(view, false, trv_line_partner(&view->trio, view->place, i), SLOTS + i);
}

static int line_step(const trv_stage_t *stage, const trv_schedule_t *schedule, int rank, int stream, int step,
                     const trv_blocks_t *blocks, trv_step_t *out)
{
    (void)stream;
    const line_t *line = (const line_t *)stage;
    view_t view = {line, schedule, blocks, out, rank, .place = 0};
    view.place = trv_row_place(schedule->rows, rank, line->dimension) / line->stride;
    view.trio = trv_line_trio(line->size, step, view.place);
    out->dimension = line->dimension;
    int source[3], sources = 0, rc = trv_step_reserve(out, TRV_LINE_PARTNERS_MAX, 2, 1);
    for (int i = 0; i < 3 && !rc; i++) {
        if (view.trio.interval[i].size == 0)
            continue;
        source[sources++] = i == view.trio.own ? 0 : SLOTS + i;
        if (i != view.trio.own)
            rc = add_messages(&view, i);
    }
    return rc || sources == 1 ? rc : trv_step_combine(out, 0, sources, source, 0, blocks);
}

static void destroy(trv_stage_t *stage) { free(stage); }

trv_stage_t *trv_line_stage(const trv_lattice_t *lattice, int turn)
{
    line_t *line = malloc(sizeof *line);
    if (!line) {
        trv_fail_memory();
        return NULL;
    }
    *line = (line_t){.base = {.steps = trv_log_ceil(3, lattice->size[turn]),
                              .registers = SLOTS + 3,
                              .messages_per_port = trv_line_messages_per_port(lattice->size[turn]),
                              .step = line_step,
                              .destroy = destroy},
                     .dimension = lattice->dimension[turn],
                     .size = lattice->size[turn],
                     .stride = lattice->stride[turn]};
    return &line->base;
}

int trv_line_supports(const trv_torus_t *torus, trv_collective_t collective)
{
    (void)collective;
    char text[TRV_TORUS_TEXT_MAX];
    return torus->lines ? TRV_OK
                        : trv_fail(TRV_ERR_UNSUPPORTED,
                                   "all dimensions of %s are rings: its algorithms are for lines, as in %.80sm; take "
                                   "trivance-l-grouped or trivance-b",
                                   trv_torus_format(torus, text, sizeof text), text);
}

static int create(trv_schedule_t *schedule)
{
    trv_hybrid_t hybrid = {.form = TRV_HYBRID_GROUPED};
    for (int d = 0; d < schedule->torus.dims; d++)
        hybrid.dimension[d].g = 1;
    return trv_hybrid_make(schedule, &hybrid);
}

const trv_algorithm_t trv_line_l = {
    .name = "line-l",
    .family = "line",
    .title = "Lines, latency-optimal: for meshes and opened rings",
    .use = "meshes and opened rings, short vectors",
    .source = "docs/networks.md; after Juerss, Addanki, Schmid: Trivance",
    .sizes = "a line in some dimension",
    .steps_formula = "sum of ceil(log3 a)",
    .bytes_formula = "2m per step",
    .latency_optimal = true,
    .lines = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .supports = trv_line_supports,
    .create = create,
};
