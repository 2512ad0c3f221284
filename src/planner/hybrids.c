/*
 * Hybrids as candidates: for every size of the torus every divisor g, with every number of steps that gains something
 * (docs/distances.md), both orders of visiting the dimensions. Dimensions of equal size share one choice, so that all
 * streams have the same to do.
 *
 * The model of a hybrid is put together from those of its dimensions, each measured once, as a hybrid on its ring.
 */
#include <stdio.h>
#include <stdlib.h>

#include <trivance/cost.h>

#include "algorithms/hybrid.h"
#include "common/error.h"
#include "distances/distances.h"
#include "planner/candidates.h"
#include "torus/torus.h"

#define STEPS_MAX 64       /* of one phase in one dimension */
#define OPTIONS_MAX 128    /* of one size */
#define HYBRIDS_MAX 2048   /* of one torus, per order of visiting */

/* A choice for a dimension. Loads are fractions of the vector on the busiest link of the ring. */
typedef struct option {
    int g, steps;                /* of one phase */
    double load[STEPS_MAX];      /* of the reduce-scatter's steps … */
    double held[STEPS_MAX + 1];  /* … and what a rank still holds before each of them and after all */
    double scatter_hops;
    int middle_steps;
    double middle_hops, middle_load;
} option_t;

/* The choices for one size, and the dimensions that have it. */
typedef struct side {
    int size, options;
    option_t *option;
} side_t;

typedef struct source {
    trv_candidates_t *list;
    trv_hybrid_form_t form;
    int active, dimension[TRV_DIMS_MAX];
    int sides, side_of[TRV_DIMS_MAX]; /* of dimension[i] */
    side_t side[TRV_DIMS_MAX];
} source_t;

/* ---- One dimension ----------------------------------------------------------------------------------------------- */

/* Reads the steps of a hybrid on a ring: reduce-scatter, middle, allgather, which is the first one backwards. */
static int read_steps(const trv_cost_t *cost, option_t *option)
{
    if (option->steps > STEPS_MAX || cost->steps < 2 * option->steps)
        return trv_fail(TRV_ERR_UNSUPPORTED, "a hybrid of more than %d steps per phase is no candidate", STEPS_MAX);
    option->held[0] = 1;
    for (int k = 0; k < option->steps; k++) {
        option->load[k] = cost->step[k].link_fraction;
        option->held[k + 1] = option->held[k] - 2 * cost->step[k].port_fraction;
        option->scatter_hops += cost->step[k].hops;
    }
    option->middle_steps = cost->steps - 2 * option->steps;
    for (int k = option->steps; k < option->steps + option->middle_steps; k++) {
        option->middle_load += cost->step[k].link_fraction;
        option->middle_hops += cost->step[k].hops;
    }
    return TRV_OK;
}

static int measure(const source_t *source, int size, option_t *option)
{
    trv_torus_t ring;
    trv_schedule_t *schedule;
    trv_cost_t cost;
    char name[TRV_PLAN_NAME_MAX];
    int rc = trv_torus_init(&ring, 1, &size);
    if (rc)
        return rc;
    trv_hybrid_t hybrid = {.dimension = {{option->g, option->steps}}, .form = source->form};
    trv_hybrid_name(&hybrid, &ring, name, sizeof name);
    rc = trv_schedule_create(&schedule, &ring, name, TRV_ALLREDUCE);
    if (rc)
        return rc;
    rc = trv_cost_measure(schedule, &cost);
    trv_schedule_destroy(schedule);
    if (!rc)
        rc = read_steps(&cost, option);
    trv_cost_clear(&cost);
    return rc;
}

static int add_option(const source_t *source, side_t *side, int g, int steps)
{
    if (side->options == OPTIONS_MAX)
        return TRV_OK;
    option_t *option = &side->option[side->options];
    *option = (option_t){.g = g, .steps = steps};
    int rc = measure(source, side->size, option);
    side->options += rc == TRV_OK;
    return rc;
}

static int make_side(const source_t *source, side_t *side)
{
    side->option = malloc(OPTIONS_MAX * sizeof *side->option);
    if (!side->option)
        return trv_fail_memory();
    int rc = TRV_OK;
    for (int g = 1; g <= side->size && !rc; g++) {
        if (side->size % g != 0 || (g < side->size && source->list->collective != TRV_ALLREDUCE))
            continue;
        if (g == 1) {
            rc = add_option(source, side, 1, 0);
            continue;
        }
        trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
        int rows = trv_distances_front(g, front);
        rc = rows < 0 ? rows : TRV_OK;
        for (int r = 0; r < rows && !rc; r++)
            rc = add_option(source, side, g, front[r].steps);
    }
    return rc;
}

/* ---- All dimensions together ------------------------------------------------------------------------------------- */

/* What stream `stream` has on the busiest link in step `step` of the reduce-scatter, streams that are in the same
 * dimension then included. */
static double scatter_load(const source_t *source, const option_t *const *option, const int *levels, trv_visit_t visit,
                           int stream, int step)
{
    const int mine = trv_visit_turn(visit, source->active, levels, stream, step).turn;
    double load = 0;
    for (int s = 0; s < source->active; s++) {
        trv_turn_t place = trv_visit_turn(visit, source->active, levels, s, step);
        if (place.turn != mine)
            continue;
        double fraction = option[mine]->load[place.level];
        for (int i = 0; i < source->active; i++)
            if (i != mine)
                fraction *= option[i]->held[place.done[i]];
        load += fraction;
    }
    return load / source->active;
}

/* The middle: a stream passes through all dimensions, and all streams through every dimension. */
static double middle_load(const source_t *source, const option_t *const *option)
{
    double chain = 0, most = 0;
    for (int i = 0; i < source->active; i++) {
        double load = option[i]->middle_load;
        for (int j = 0; j < source->active; j++)
            if (j != i)
                load *= option[j]->held[option[j]->steps];
        chain += load / source->active;
        most = load > most ? load : most;
    }
    return most > chain ? most : chain;
}

static trv_model_t find_model(const source_t *source, const option_t *const *option, trv_visit_t visit)
{
    int levels[TRV_DIMS_MAX], scatter_steps = 0, phases = source->list->collective == TRV_ALLREDUCE ? 2 : 1;
    trv_model_t model = {0, 0, 0};
    double most = 0;
    for (int i = 0; i < source->active; i++) {
        levels[i] = option[i]->steps;
        scatter_steps += levels[i];
        model.steps += phases * levels[i] + option[i]->middle_steps;
        model.hops += phases * option[i]->scatter_hops + option[i]->middle_hops;
    }
    for (int stream = 0; stream < source->active; stream++) {
        double load = 0;
        for (int step = 0; step < scatter_steps; step++)
            load += scatter_load(source, option, levels, visit, stream, step);
        most = load > most ? load : most;
    }
    model.load = phases * most + middle_load(source, option);
    return model;
}

static int add_hybrid(const source_t *source, const int *choice, trv_visit_t visit)
{
    const option_t *option[TRV_DIMS_MAX];
    trv_hybrid_t hybrid = {.form = source->form, .visit = visit};
    trv_candidate_t candidate = {.always = false};
    for (int d = 0; d < source->list->torus.dims; d++)
        hybrid.dimension[d].g = 1;
    for (int i = 0; i < source->active; i++) {
        option[i] = &source->side[source->side_of[i]].option[choice[source->side_of[i]]];
        hybrid.dimension[source->dimension[i]].g = option[i]->g;
        hybrid.dimension[source->dimension[i]].steps = option[i]->steps;
    }
    candidate.model = find_model(source, option, visit);
    trv_hybrid_name(&hybrid, &source->list->torus, candidate.name, sizeof candidate.name);
    return trv_candidates_add(source->list, &candidate);
}

/* Every combination; `choice` counts through them. */
static int add_all(const source_t *source)
{
    int choice[TRV_DIMS_MAX] = {0}, side = 0, rc = TRV_OK;
    while (side < source->sides && !rc) {
        int phases = 0;
        for (int s = 0; s < source->sides; s++)
            phases += source->side[s].option[choice[s]].steps > 0;
        rc = add_hybrid(source, choice, TRV_INTERLEAVED);
        if (!rc && source->active > 1 && phases > 0)
            rc = add_hybrid(source, choice, TRV_SEQUENTIAL);
        for (side = 0; side < source->sides && ++choice[side] == source->side[side].options; side++)
            choice[side] = 0;
    }
    return rc;
}

/* Where there are too many combinations, every second choice of the size with most choices goes, until there are not.
 * The first (L) and the last (B in most steps) stay. */
static void thin_out(source_t *source)
{
    for (;;) {
        double combinations = 1;
        side_t *most = &source->side[0];
        for (int s = 0; s < source->sides; s++) {
            combinations *= source->side[s].options;
            most = source->side[s].options > most->options ? &source->side[s] : most;
        }
        if (combinations <= HYBRIDS_MAX)
            return;
        const int last = most->options - 1;
        int kept = 0;
        for (int i = 0; i <= last; i++)
            if (i % 2 == 0 || i == last)
                most->option[kept++] = most->option[i];
        most->options = kept;
    }
}

static int find_sides(source_t *source)
{
    const int *size = source->list->torus.size;
    source->active = trv_torus_active(&source->list->torus, source->dimension);
    for (int i = 0; i < source->active; i++) {
        int s = 0;
        while (s < source->sides && source->side[s].size != size[source->dimension[i]])
            s++;
        source->side_of[i] = s;
        if (s < source->sides)
            continue;
        source->side[s].size = size[source->dimension[i]];
        source->sides++;
        int rc = make_side(source, &source->side[s]);
        if (rc)
            return rc;
    }
    return TRV_OK;
}

int trv_candidates_hybrids(trv_candidates_t *list, bool consistent)
{
    source_t source = {.list = list, .form = consistent ? TRV_HYBRID_GROUPED : TRV_HYBRID_WINDOWS};
    int rc = find_sides(&source);
    if (!rc && source.sides > 0) {
        thin_out(&source);
        rc = add_all(&source);
    }
    for (int s = 0; s < source.sides; s++)
        free(source.side[s].option);
    return rc;
}
