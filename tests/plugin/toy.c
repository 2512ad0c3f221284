/*
 * Toy, an algorithm for this test only: a ring per dimension, all in one direction.
 *
 *   3x3, stream 0   rows, then columns      0 -> 1 -> 2 -> 0    then    0 -> 3 -> 6 -> 0
 *        stream 1   columns, then rows
 *
 * toy:both uses both directions, each with half of the vector, as Bucket does.
 * Sizes: any torus.   Steps: 2 * sum of (a-1).   Exact: yes.   Consistent: yes.   Symmetry: translation.
 */
#include "algorithms/paper.h"
#include "algorithms/builders/neighbour.h"
#include "algorithms/registry.h"

static trv_pattern_t *pattern(int size, trv_collective_t collective)
{
    (void)collective;
    return trv_neighbour_pattern(size);
}

static int create(trv_schedule_t *schedule)
{
    const bool both = schedule->parameters->value[0].number;
    return trv_scatter_create(schedule,
                              &(trv_scatter_options_t){.visit = TRV_INTERLEAVED, .mirrored = both, .pattern = pattern});
}

static int candidates(const trv_collector_t *collector)
{
    const int phases = collector->collective == TRV_ALLREDUCE ? 2 : 1;
    trv_model_t model = {.steps = 0};
    for (int d = 0; d < collector->torus->dims; d++)
        model.steps += phases * (collector->torus->size[d] - 1);
    model.hops = model.steps;
    model.load = phases / 2.0 / collector->torus->dims;
    trv_model_messages(&model, model.steps, 2 * collector->torus->dims);
    int rc = collector->add(collector->list, "toy:both", &model, true);
    model.load *= 2;
    trv_model_messages(&model, model.steps, collector->torus->dims);
    return rc ? rc : collector->add(collector->list, "toy", &model, true);
}

static void paper_cost(int side, int dims, trv_paper_cost_t *paper)
{
    trv_paper_neighbours(side, dims, paper);
    paper->theta *= 2;
    paper->theta_limit *= 2;
}

const trv_algorithm_t trv_toy = {
    .name = "toy",
    .family = "toy",
    .title = "Toy, a ring per dimension, one way",
    .use = "to be found everywhere",
    .source = "tests/plugin",
    .sizes = "any torus",
    .parameters = "both",
    .example = "toy:both",
    .field = {{.kind = TRV_FIELD_WORD, .word = "both"}},
    .steps_formula = "2 * sum of (a-1)",
    .bytes_formula = "2m (n-1)/n",
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .baseline = true,
    .colour = 6,
    .paper_cost = paper_cost,
    .create = create,
    .candidates = candidates,
};
