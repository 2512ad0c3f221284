/*
 * Lines, latency-optimal: whole vectors in as few steps as on a ring.
 *
 * Before each step, from the smallest intervals up (line.h), every rank of an interval holds the sum of exactly that
 * interval. In the step it receives the sums of the two other intervals from one partner each. All ranks add from left
 * to right, so their results are bitwise identical:
 *
 *   line of 9   step 0   0 <-1-> 1 <-1-> 2,  0 <-2-> 2      0, 1 and 2 hold 0 + 1 + 2
 *               step 1   0 <-3-> 3 <-3-> 6,  0 <-6-> 6      all add (012) + (345) + (678), in this order
 *
 * On 3^s ranks a link carries 2 * 3^k vectors in step k, where it would carry 3^k on a ring. Where the sizes of
 * intervals differ, a rank may have two receivers in another interval.
 *
 * On a mesh K dimensions can execute their levels together (line-l:K): intervals become boxes, and a rank receives the
 * sums of the 3^K - 1 other boxes of its level from one partner each. This takes as few steps as the longest line
 * alone, but more messages, which travel further.
 * Sizes: any.   On a torus or mesh: D streams, stream i completes dimension i (… i + K - 1), then the following; rings
 * as in Trivance L, grouped.   Registers: 1 + i holds the sum of box i of the 3^K.
 * Steps: sum of ceil(log3 a) for K = 1.   Exact: yes.   Symmetry: none.
 * Consistent: yes, unless rows of one dimension begin at different coordinates (hybrid.c).
 */
#include <stdlib.h>

#include "algorithms/hybrid.h"
#include "algorithms/builders/line.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "base/radix.h"
#include "torus/torus.h"

#define JOINT_MAX 3

/* Dimensions of a lattice that execute their levels together. */
typedef struct line {
    trv_stage_t base;
    trv_stage_lattice_t lattice;
} line_t;

/* The data of one rank's step: per dimension its position, in units of strides, and the three intervals of the
 * level. */
typedef struct view {
    const line_t *line;
    const trv_schedule_t *schedule;
    const trv_blocks_t *blocks;
    trv_step_t *out;
    int rank, position[TRV_DIMS_MAX];
    trv_thirds_t thirds[TRV_DIMS_MAX];
} view_t;

/* The register of a box. Boxes are the products of the dimensions' intervals and are numbered in their order; the
 * rank's own sum stays in register 0. */
static int register_of(const view_t *view, const int *interval)
{
    int box = 0, own = 0;
    for (int i = 0; i < view->line->lattice.active; i++) {
        box = 3 * box + interval[i];
        own = 3 * own + view->thirds[i].own;
    }
    return box == own ? 0 : 1 + box;
}

/* Adds a message to or from the rank at the given positions. It leaves in the first dimension in which the positions
 * differ. */
static int view_add_message(const view_t *view, bool send, const int *position, int reg)
{
    const trv_stage_lattice_t *lattice = &view->line->lattice;
    int peer = view->rank, port = -1;
    for (int i = 0; i < lattice->active; i++) {
        const int delta = (position[i] - view->position[i]) * lattice->stride[i], d = lattice->dimension[i];
        peer = trv_torus_shift(&view->schedule->torus, peer, d, delta);
        if (port < 0 && delta != 0)
            port = trv_port(d, send == (delta > 0) ? 1 : -1);
    }
    trv_part_t *part = (send ? trv_step_send : trv_step_receive)(view->out, peer, port, 1);
    if (!part)
        return TRV_ERR_MEMORY;
    part->reg = reg;
    part->blocks = *view->blocks;
    return TRV_OK;
}

/* Sends the rank's sum to all its receivers in a box: to every combination of the receivers of the dimensions. */
static int view_send_to_box(const view_t *view, const int *interval)
{
    const int active = view->line->lattice.active;
    int receiver[TRV_DIMS_MAX][2], count[TRV_DIMS_MAX], position[TRV_DIMS_MAX], combinations = 1, rc = TRV_OK;
    for (int i = 0; i < active; i++) {
        receiver[i][0] = view->position[i];
        count[i] = interval[i] == view->thirds[i].own
                       ? 1
                       : trv_line_receivers(&view->thirds[i], view->position[i], interval[i], receiver[i]);
        combinations *= count[i];
    }
    for (int c = 0; c < combinations && !rc; c++) {
        for (int i = 0, rest = c; i < active; rest /= count[i], i++)
            position[i] = receiver[i][rest % count[i]];
        rc = view_add_message(view, true, position, 0);
    }
    return rc;
}

static int view_receive_from_box(const view_t *view, const int *interval)
{
    int position[TRV_DIMS_MAX];
    for (int i = 0; i < view->line->lattice.active; i++)
        position[i] = interval[i] == view->thirds[i].own
                          ? view->position[i]
                          : trv_line_partner(&view->thirds[i], view->position[i], interval[i]);
    return view_add_message(view, false, position, register_of(view, interval));
}

/* Receives from the boxes in their order, the last dimension fastest, and lists their registers; an empty box has
 * none. */
static int view_visit_boxes(const view_t *view, int *source, int *sources)
{
    const int active = view->line->lattice.active;
    int interval[TRV_DIMS_MAX], rc = TRV_OK;
    for (int box = 0; box < trv_power(3, active) && !rc; box++) {
        bool empty = false;
        for (int i = active - 1, rest = box; i >= 0; rest /= 3, i--) {
            interval[i] = rest % 3;
            empty = empty || view->thirds[i].interval[interval[i]].size == 0;
        }
        if (empty)
            continue;
        source[(*sources)++] = register_of(view, interval);
        if (source[*sources - 1] == 0)
            continue;
        rc = view_send_to_box(view, interval);
        if (!rc)
            rc = view_receive_from_box(view, interval);
    }
    return rc;
}

/* In a dimension that does not have the level, the whole line is the one interval. */
static trv_thirds_t find_thirds(int size, int level, int position)
{
    if (level < trv_log_ceil(3, size))
        return trv_line_thirds(size, level, position);
    return (trv_thirds_t){.interval = {{0, size}}};
}

static int line_step(const trv_stage_t *stage, const trv_schedule_t *schedule, int rank, int stream, int step,
                     const trv_blocks_t *blocks, trv_step_t *out)
{
    (void)stream;
    const line_t *line = (const line_t *)stage;
    const trv_stage_lattice_t *lattice = &line->lattice;
    const int boxes = trv_power(3, lattice->active);
    view_t view = {line, schedule, blocks, out, rank, .position = {0}};
    int sources = 0, *source = trv_step_alloc(out, (size_t)boxes * sizeof *source);
    for (int i = 0; i < lattice->active; i++) {
        view.position[i] = trv_row_position(schedule->rows, rank, lattice->dimension[i]) / lattice->stride[i];
        view.thirds[i] = find_thirds(lattice->size[i], step, view.position[i]);
    }
    out->dimension = lattice->active == 1 ? lattice->dimension[0] : -1;
    int rc = source ? trv_step_reserve(out, trv_power(1 + TRV_LINE_PARTNERS_MAX, lattice->active), boxes, 1)
                    : TRV_ERR_MEMORY;
    if (!rc)
        rc = view_visit_boxes(&view, source, &sources);
    return rc || sources == 1 ? rc : trv_step_combine(out, 0, sources, source, 0, blocks);
}

static void line_destroy(trv_stage_t *stage) { free(stage); }

trv_stage_t *trv_line_stage(const trv_stage_lattice_t *lattice)
{
    line_t *line = malloc(sizeof *line);
    if (!line) {
        trv_fail_memory();
        return NULL;
    }
    int steps = 0;
    for (int i = 0; i < lattice->active; i++) {
        const int levels = trv_log_ceil(3, lattice->size[i]);
        steps = levels > steps ? levels : steps;
    }
    *line = (line_t){.base = {.steps = steps,
                              .registers = 1 + trv_power(3, lattice->active),
                              .step = line_step,
                              .destroy = line_destroy},
                     .lattice = *lattice};
    return &line->base;
}

int trv_line_supports(const trv_torus_t *torus, trv_collective_t collective)
{
    (void)collective;
    char text[TRV_TORUS_TEXT_MAX];
    return torus->lines ? TRV_OK
                        : trv_fail(TRV_ERR_UNSUPPORTED,
                                   "all dimensions of %s are rings, but line-l and line-b need a line, as in %.80sm; "
                                   "use trivance-l-grouped or trivance-b",
                                   trv_torus_format(torus, text, sizeof text), text);
}

static int joint_max(const trv_torus_t *torus)
{
    int dimension[TRV_DIMS_MAX];
    const int active = trv_torus_active(torus, dimension);
    return active < 1 ? 1 : active < JOINT_MAX ? active : JOINT_MAX;
}

static int line_l_create(trv_schedule_t *schedule)
{
    trv_hybrid_t hybrid = {.form = TRV_HYBRID_GROUPED, .joint = schedule->parameters->value[0].number};
    for (int d = 0; d < schedule->torus.dims; d++)
        hybrid.dimension[d].g = 1;
    return trv_hybrid_make(schedule, &hybrid);
}

static int line_l_candidates(const trv_collector_t *collector)
{
    int rc = TRV_OK;
    if (!collector->torus->lines || collector->collective != TRV_ALLREDUCE)
        return TRV_OK;
    for (int joint = 1; joint <= joint_max(collector->torus) && !rc; joint++) {
        char name[TRV_ALGORITHM_NAME_MAX];
        trv_name_of_numbers(&trv_line_l, &joint, name);
        rc = collector->add(collector->list, joint > 1 ? name : "line-l", NULL, true);
    }
    return rc;
}

const trv_algorithm_t trv_line_l = {
    .name = "line-l",
    .family = "line",
    .title = "Lines, latency-optimal: for meshes and rings with a cut link",
    .use = "meshes and rings with a cut link, short vectors",
    .source = "docs/networks.md; after Juerss, Addanki, Schmid: Trivance",
    .sizes = "tori and meshes with at least one line; K > 1: several messages per port",
    .parameters = "K",
    .example = "line-l:1",
    .field = {{.kind = TRV_FIELD_NUMBER,
               .what = "a number of dimensions that are treated together",
               .limit = joint_max,
               .value = 1}},
    .steps_formula = "sum of ceil(log3 a); fewer for K > 1",
    .bytes_formula = "2m per step",
    .latency_optimal = true,
    .lines = true,
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .supports = trv_line_supports,
    .create = line_l_create,
    .candidates = line_l_candidates,
};
