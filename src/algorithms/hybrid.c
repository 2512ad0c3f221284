/*
 * Hybrids: the algorithms between Trivance L and B.
 *
 * A ring of a = g * h ranks: first a reduce-scatter over the g classes of ranks modulo g, whose messages travel as far
 * as in a ring of g. Then the h ranks of a class, which are g apart, hold partial sums of the same m/g bytes; they add
 * them up by windows, as if they were a ring of h (stage.h). Then the allgather over g. g = 1 is Trivance L, and
 * h = 1 is Trivance B.
 *
 *   ring of 9, g = 3   step 0    … 8 <-1-> 0 <-1-> 1 …      keep the blocks of one class mod 3, send one each way
 *                      step 1    … 6 <-3-> 0 <-3-> 3 …      windows over 0 3 6, whole pieces, m/3 bytes each way
 *                      step 2    … 8 <-1-> 0 <-1-> 1 …      the blocks return
 *
 * The distances of the reduce-scatter are those with the lowest transmission in its number of steps
 * (docs/distances.md). In the reduce-scatter every rank's contribution reaches one rank of each class, so the sum over
 * the class contains it once: hybrids are exact for any g and h. On a torus the reduce-scatters of all dimensions are
 * interleaved, then follow the stage of all dimensions and the allgathers in reverse order. Alternatively stream i
 * scatters over its own dimension i only (or over i and i + 1, …) and treats the other dimensions in its stage, with
 * whole pieces: fewer steps, and no two streams in one dimension.
 * Sizes: any.   Streams: D.   Steps: sum of 2 * steps(g) + ceil(log3 h).   Exact: yes.   Symmetry: translation.
 * Consistent: if the stage is, that is, if h = 1 in every dimension, in groups, or along lines. Along lines (line.h) a
 * hybrid uses the levels of a line instead of a ring's distances, and the line's exchange of whole vectors instead of
 * windows, in intervals of g ranks. With `folded` it uses the distances of a ring that is folded onto the line
 * (folded.c). If the rows of a dimension begin at different coordinates, g must be 1 or a, because otherwise neighbours
 * would hold sums over different intervals.
 */
#include "algorithms/hybrid.h"

#include "algorithms/builders/distances_pattern.h"
#include "algorithms/builders/line.h"
#include "algorithms/builders/tree.h"
#include "algorithms/registry.h"
#include "algorithms/builders/windows.h"
#include "base/error.h"
#include "base/radix.h"
#include "torus/torus.h"

/* The distances for a ring of `g` in `steps` steps: the row of its front with that number of steps, or distance 1 in
 * all steps, which has the lowest load. */
static int hybrid_find_row(int g, int steps, trv_distances_t *row)
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
    if (steps == g / 2 && steps <= TRV_DISTANCES_STEPS_MAX) {
        *row = (trv_distances_t){.size = g, .steps = steps};
        for (int k = 0; k < steps; k++)
            row->distance[k] = 1;
        return TRV_OK;
    }
    return trv_fail(TRV_ERR_ARGUMENT,
                    "a hybrid's reduce-scatter over %d ranks takes %d to %d steps, one of the numbers that `trivance "
                    "search %d` lists, not %d",
                    g, front[0].steps, front[rows - 1].steps, g, steps);
}

static trv_pattern_t *hybrid_pattern(const trv_distances_t *row, bool line, bool folded)
{
    if (row->size == 1) /* with one class there is nothing to scatter */
        return trv_tree_pattern(&(trv_tree_options_t){.size = 1, .offset = &row->size, .radix = 3});
    if (line && folded)
        return trv_folded_pattern(trv_distances_pattern(row));
    return line ? trv_line_pattern(row->size) : trv_distances_pattern(row);
}

/* The lattice of stream `stream`: the ranks of a class in the dimensions over which the stream scatters, all ranks in
 * the others. Returns whether there is anything to add up. */
static bool hybrid_lattice(const trv_schedule_t *schedule, const trv_hybrid_t *hybrid, int stream,
                           trv_stage_lattice_t *lattice)
{
    bool split = false;
    *lattice = trv_stage_lattice_whole(&schedule->torus);
    for (int i = 0; i < lattice->active; i++) {
        const int turn = (i - stream + lattice->active) % lattice->active;
        if (hybrid->own == 0 || turn < hybrid->own) {
            lattice->stride[i] = hybrid->dimension[lattice->dimension[i]].g;
            lattice->size[i] /= lattice->stride[i];
        }
        split = split || lattice->size[i] > 1;
    }
    return split;
}

static trv_stage_t *hybrid_ring_stage(const trv_stage_lattice_t *lattice, trv_hybrid_form_t form)
{
    return form == TRV_HYBRID_GROUPED ? trv_groups_stage(lattice)
                                      : trv_windows_stage(lattice, trv_window_steps_trivance, 1, false);
}

/* Creates the stage of a stream. If there are lines it begins with the stream's own dimension and continues with those
 * after it, with up to `joint` lines together. Windows and groups work on rings, one dimension at a time. */
static trv_stage_t *hybrid_stage(const trv_schedule_t *schedule, const trv_stage_lattice_t *lattice, int stream,
                                 const trv_hybrid_t *hybrid)
{
    trv_stage_t *stage[TRV_DIMS_MAX];
    int stages = 0;
    if (!schedule->rows->lines)
        return hybrid_ring_stage(lattice, hybrid->form);
    for (int k = 0; k < lattice->active;) {
        trv_stage_lattice_t part = {0};
        const bool line = trv_rows_are_lines(schedule->rows, lattice->dimension[(stream + k) % lattice->active]);
        do {
            const int i = (stream + k++) % lattice->active, at = part.active++;
            part.dimension[at] = lattice->dimension[i];
            part.size[at] = lattice->size[i];
            part.stride[at] = lattice->stride[i];
        } while (line && k < lattice->active && part.active < hybrid->joint &&
                 trv_rows_are_lines(schedule->rows, lattice->dimension[(stream + k) % lattice->active]));
        stage[stages++] = line ? trv_line_stage(&part) : hybrid_ring_stage(&part, hybrid->form);
    }
    return trv_stages_in_turn(stages, stage);
}

/* Creates the stages of all streams. On failure none remains. */
static int hybrid_stages(const trv_schedule_t *schedule, const trv_hybrid_t *hybrid, trv_stage_t **stage)
{
    trv_stage_lattice_t lattice = trv_stage_lattice_whole(&schedule->torus);
    for (int k = 0; k < lattice.active; k++) {
        hybrid_lattice(schedule, hybrid, k, &lattice);
        stage[k] = hybrid_stage(schedule, &lattice, k, hybrid);
        if (!stage[k]) {
            while (k-- > 0)
                stage[k]->destroy(stage[k]);
            return TRV_ERR_MEMORY;
        }
    }
    return TRV_OK;
}

/* A line has a fixed number of steps, and intervals that are not the whole line require rows that begin at the same
 * coordinate. A folded ring must cover the whole line. */
static int hybrid_check_line(const trv_schedule_t *schedule, int d, int g, int steps, bool folded)
{
    if (folded && g > 1 && g < schedule->torus.size[d])
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "dimension %d is a line, along which a folded hybrid uses a ring of all %d ranks: its factor "
                        "there is 1 or %d, not %d",
                        d, schedule->torus.size[d], schedule->torus.size[d], g);
    if (folded)
        return TRV_OK;
    if (g > 1 && steps != trv_log_ceil(3, g))
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "dimension %d is a line, over which a hybrid's reduce-scatter of %d blocks takes %d steps, not %d", d, g,
            trv_log_ceil(3, g), steps);
    if (schedule->rows->uneven >> d & 1 && g > 1 && g < schedule->torus.size[d])
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the rows of dimension %d begin at different coordinates: a hybrid's factor there is 1 or %d, "
                        "not %d",
                        d, schedule->torus.size[d], g);
    return TRV_OK;
}

static int hybrid_find_dimension_row(const trv_schedule_t *schedule, int d, int g, int requested, bool folded,
                                     trv_distances_t *row)
{
    const int steps = requested ? requested : trv_log_ceil(3, g);
    const bool line = trv_rows_are_lines(schedule->rows, d);
    *row = (trv_distances_t){.size = g};
    int rc = line ? hybrid_check_line(schedule, d, g, steps, folded) : TRV_OK;
    if (rc || (line && !folded))
        return rc;
    return g > 1 ? hybrid_find_row(g, steps, row) : TRV_OK;
}

/* Finds the distances of every dimension: `row` for the streams that begin there, `later` for the others. */
static int hybrid_find_rows(const trv_schedule_t *schedule, const trv_hybrid_t *hybrid, trv_distances_t *row,
                            trv_distances_t *later)
{
    int dimension[TRV_DIMS_MAX], rc = TRV_OK;
    for (int i = 0, active = trv_torus_active(&schedule->torus, dimension); i < active && !rc; i++) {
        const trv_factor_t *factor = &hybrid->dimension[dimension[i]];
        rc = hybrid_find_dimension_row(schedule, dimension[i], factor->g, factor->steps, hybrid->folded, &row[i]);
        if (!rc)
            rc = hybrid_find_dimension_row(schedule, dimension[i], factor->g,
                                           factor->later ? factor->later : factor->steps, hybrid->folded, &later[i]);
    }
    return rc;
}

/* Along a line and in groups all ranks add in the same order; windows are added in a different order on every rank. If
 * one stage follows another, the second adds sums, which are identical on all ranks of a row, in the order of positions
 * on its own rows. The results of all ranks are therefore identical only if all rows begin at the same coordinate. */
static bool hybrid_is_consistent(const trv_schedule_t *schedule, const trv_hybrid_t *hybrid)
{
    int stages = 0, uneven = 0, windows = 0;
    for (int d = 0; d < schedule->torus.dims; d++)
        if (schedule->torus.size[d] > 1 && (hybrid->own || hybrid->dimension[d].g < schedule->torus.size[d])) {
            stages++;
            uneven += schedule->rows->uneven >> d & 1;
            windows += hybrid->form == TRV_HYBRID_WINDOWS && !trv_rows_are_lines(schedule->rows, d);
        }
    return windows == 0 && (stages <= 1 || uneven == 0);
}

int trv_hybrid_make(trv_schedule_t *schedule, const trv_hybrid_t *hybrid)
{
    trv_stage_lattice_t lattice;
    trv_distances_t row[TRV_DIMS_MAX], row_later[TRV_DIMS_MAX];
    trv_pattern_t *patterns[TRV_DIMS_MAX], *later[TRV_DIMS_MAX];
    trv_stage_t *stage[TRV_DIMS_MAX];
    const bool split = hybrid_lattice(schedule, hybrid, 0, &lattice);
    if (split && schedule->collective != TRV_ALLREDUCE)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "%s contains an AllReduce stage and supports only AllReduce; for Reduce-Scatter and AllGather "
                        "the factors must be the sizes of the torus",
                        schedule->name);
    if (hybrid->joint > 1 && schedule->rows->uneven)
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "the rows of a dimension begin at different coordinates, so %s can treat only one dimension at a time",
            schedule->name);
    bool differ = false;
    int rc = hybrid_find_rows(schedule, hybrid, row, row_later);
    if (!rc && split)
        rc = hybrid_stages(schedule, hybrid, stage);
    if (rc)
        return rc;
    for (int i = 0; i < lattice.active; i++)
        differ = differ || row[i].steps != row_later[i].steps;
    for (int i = 0; i < lattice.active; i++) {
        const bool line = trv_rows_are_lines(schedule->rows, lattice.dimension[i]);
        patterns[i] = hybrid_pattern(&row[i], line, hybrid->folded);
        later[i] = differ ? hybrid_pattern(&row_later[i], line, hybrid->folded) : NULL;
    }
    schedule->consistent = hybrid_is_consistent(schedule, hybrid);
    schedule->owned = !split;
    return trv_scatter_create(schedule,
                              &(trv_scatter_options_t){.visit = schedule->rows->uneven ? TRV_SEQUENTIAL : hybrid->visit,
                                                       .patterns = patterns,
                                                       .later = differ ? later : NULL,
                                                       .stage = split ? stage : NULL,
                                                       .own = hybrid->own,
                                                       .streams = hybrid->streams,
                                                       .weight = hybrid->weights.count ? hybrid->weights.value : NULL});
}

static int hybrid_create(trv_schedule_t *schedule)
{
    trv_hybrid_t hybrid;
    int rc = trv_hybrid_read(schedule->parameters, &schedule->torus, schedule->collective, &hybrid);
    return rc ? rc : trv_hybrid_make(schedule, &hybrid);
}

const trv_algorithm_t trv_hybrid = {
    .name = "hybrid",
    .family = "hybrid",
    .title = "Hybrid of Trivance L and B",
    .use = "medium vectors; hybrid:4x8 sets the factors",
    .source = "docs/algorithms.md; after Juerss, Addanki, Schmid: Trivance",
    .sizes = "any torus or mesh",
    .lines = true,
    .parameters = "G[/S[/T]][xG[/S[/T]]...][:own[K]][:grouped][:sequential][:streamsN][:folded][:weightsW/W...]",
    .example = "hybrid:4x8/3:grouped",
    .field =
        {{.kind = TRV_FIELD_FACTORS,
          .what = "a list of factors: whole numbers from 1, separated by x, one for each dimension or one for all; "
                  "/STEPS after a factor sets the steps per phase, /STEPS/STEPS also those of the streams that "
                  "begin in another dimension"},
         {.kind = TRV_FIELD_NUMBER,
          .what = "a number of dimensions over which a stream scatters",
          .limit = trv_hybrid_own_max,
          .word = "own",
          .alone = 1,
          .absent = "all"},
         {.kind = TRV_FIELD_WORD, .word = "grouped", .absent = "windows", .in_any_order = true},
         {.kind = TRV_FIELD_WORD, .word = "sequential", .absent = "interleaved", .in_any_order = true},
         {.kind = TRV_FIELD_NUMBER,
          .what = "a number of streams that begin in each dimension",
          .max = 16,
          .value = 1,
          .word = "streams",
          .in_any_order = true},
         {.kind = TRV_FIELD_WORD, .word = "folded", .in_any_order = true},
         {.kind = TRV_FIELD_WEIGHTS,
          .what = "a list of weights separated by /, whole numbers",
          .max = TRV_WEIGHT_MAX,
          .word = "weights",
          .in_any_order = true}},
    .steps_formula = "sum of 2 * steps(g) + ceil(log3 a/g)",
    .bytes_formula = "between those of Trivance L and B",
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = false,
    .create = hybrid_create,
    .complete = trv_hybrid_complete,
    .candidates = trv_hybrid_candidates,
};
