/*
 * Hybrids: everything between Trivance L and B.
 *
 * A ring of a = g * h: a reduce-scatter over the g classes of ranks modulo g, whose messages go as far as in a ring of g;
 * then the h ranks of a class, which lie g apart, each hold partial sums of the same m/g bytes, and add them up by
 * windows as a ring of h of its own (stage.h); then the allgather over g. g = 1 is Trivance L, h = 1 is B.
 *
 *   ring of 9, g = 3   step 0    … 8 <-1-> 0 <-1-> 1 …      keep the blocks of one class mod 3, send one each way
 *                      step 1    … 6 <-3-> 0 <-3-> 3 …      windows over 0 3 6, whole pieces, m/3 bytes each way
 *                      step 2    … 8 <-1-> 0 <-1-> 1 …      the blocks come back
 *
 * The distances of the reduce-scatter are those that transmit least in its number of steps (docs/distances.md). Every
 * rank's contribution flows to one rank of the class, so the sum over the class counts it once: exact for any g and h.
 * On a torus: the reduce-scatters of all dimensions interleaved, the stage of all of them, the allgathers backwards.
 * Sizes: any.   Streams: D.   Steps: sum of 2 * steps(g) + ceil(log3 h).   Exact: yes.   Symmetry: translation.
 * Consistent: if the middle is: where h = 1 everywhere, or in groups (whose symmetry is translation by a / p, see
 * trivance_l_grouped.c).
 */
#include "algorithms/hybrid.h"

#include "algorithms/distances_pattern.h"
#include "algorithms/scatter.h"
#include "algorithms/table.h"
#include "algorithms/windows.h"
#include "common/error.h"
#include "torus/torus.h"

/* The row of the front of a ring of `g` that has so many steps. */
static int find_row(int g, int steps, trv_distances_t *row)
{
    trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
    int rows = trv_distances_front(g, front);
    if (rows < 0)
        return rows;
    for (int i = 0; i < rows; i++)
        if (front[i].steps == steps) {
            *row = front[i];
            return TRV_OK;
        }
    return trv_fail(TRV_ERR_ARGUMENT, "a hybrid reduces and scatters over %d in %d to %d steps, each of which must gain "
                    "something (`trivance plan --search=%d` lists them), not in %d", g, front[0].steps,
                    front[rows - 1].steps, g, steps);
}

static trv_pattern_t *make_pattern(const trv_distances_t *row)
{
    if (row->size == 1) /* one class: nothing to scatter */
        return trv_tree_pattern(&(trv_tree_options_t){.size = 1, .offset = &row->size, .radix = 3});
    return trv_distances_pattern(row);
}

static bool is_split(const trv_lattice_t *lattice)
{
    bool split = false;
    for (int i = 0; i < lattice->active; i++)
        split = split || lattice->size[i] > 1;
    return split;
}

static int make(trv_schedule_t *schedule, const trv_hybrid_t *hybrid)
{
    trv_distances_t row[TRV_DIMS_MAX];
    trv_pattern_t *made[TRV_DIMS_MAX];
    trv_lattice_t lattice = trv_lattice_whole(&schedule->torus);
    trv_scatter_options_t options = {.visit = hybrid->visit, .made = made};
    int rc = TRV_OK;
    for (int i = 0; i < lattice.active && !rc; i++) {
        const int d = lattice.dimension[i], g = hybrid->dimension[d].g;
        lattice.size[i] = schedule->torus.size[d] / g;
        lattice.stride[i] = g;
        row[i] = (trv_distances_t){.size = 1};
        rc = g > 1 ? find_row(g, hybrid->dimension[d].steps, &row[i]) : TRV_OK;
    }
    if (rc)
        return rc;
    const bool split = is_split(&lattice), grouped = hybrid->form == TRV_HYBRID_GROUPED;
    if (split && schedule->collective != TRV_ALLREDUCE)
        return trv_fail(TRV_ERR_UNSUPPORTED, "%s adds up whole pieces, which AllReduce alone does; for Reduce-Scatter and "
                        "AllGather take the sizes of the torus themselves as factors", schedule->name);
    schedule->consistent = !split || grouped;
    schedule->owned = !split;
    if (split && grouped)
        schedule->symmetry = TRV_SYMMETRY_NONE;
    if (split && !(options.stage = grouped ? trv_groups_stage(&lattice)
                                           : trv_windows_stage(&lattice, trv_window_plan_trivance, 1)))
        return TRV_ERR_MEMORY;
    for (int i = 0; i < lattice.active; i++) {
        schedule->period[lattice.dimension[i]] = split ? options.stage->period[i] : 0;
        made[i] = make_pattern(&row[i]);
    }
    return trv_scatter_create(schedule, &options);
}

static int create(trv_schedule_t *schedule)
{
    trv_hybrid_t hybrid;
    int rc = trv_hybrid_parse(schedule->parameters, &schedule->torus, schedule->collective, &hybrid);
    return rc ? rc : make(schedule, &hybrid);
}

const trv_algorithm_t trv_hybrid = {
    .name = "hybrid", .family = "hybrid", .title = "Hybrid of Trivance L and B",
    .source = "docs/algorithms.md; after Juerss, Addanki, Schmid: Trivance", .sizes = "any torus",
    .parameters = "G[/S][xG[/S]...][:grouped][:sequential]",
    .steps_formula = "sum of 2 * steps(g) + ceil(log3 a/g)", .bytes_formula = "between those of Trivance L and B",
    .symmetry = TRV_SYMMETRY_TRANSLATION, .exactness = TRV_EXACT, .consistent = false, .create = create,
};
