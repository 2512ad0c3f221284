/*
 * Bucket: a ring reduce-scatter along one dimension after the other, then the allgathers in reverse (Jain and Sabharwal
 * 2010, Sack and Gropp 2015; paper section 2.4).
 *
 * 2D streams: stream i starts in dimension i, stream D + i is its mirror image, so that in each step every port of a
 * rank belongs to another stream:
 *
 *   3x3, stream 0   rows, then columns      0 -> 1 -> 2 -> 0    then    0 -> 3 -> 6 -> 0
 *        stream 1   columns, then rows      streams 2 and 3     the same in the other direction
 *
 * Sizes: any torus (on unequal dimensions streams meet in one dimension; weights such as bucket:9/7 balance the links,
 * see weights.h).   Steps: 2 * sum of (a-1).
 * Exact: yes.   Consistent: yes.   Symmetry: translation.
 */
#include "algorithms/paper.h"
#include "algorithms/builders/neighbour.h"
#include "algorithms/registry.h"
#include "algorithms/uneven_sides.h"
#include "algorithms/builders/weights.h"

static trv_pattern_t *bucket_pattern(int size, trv_collective_t collective)
{
    (void)collective;
    return trv_neighbour_pattern(size);
}

static int bucket_create(trv_schedule_t *schedule)
{
    return trv_scatter_create(schedule,
                              &(trv_scatter_options_t){.visit = TRV_SEQUENTIAL,
                                                       .mirrored = true,
                                                       .weight = trv_name_weights(&schedule->parameters->value[0]),
                                                       .pattern = bucket_pattern});
}

/* Bucket with equal weights is always added: it is the baseline that a plan must not be slower than. */
static int bucket_candidates(const trv_collector_t *collector)
{
    int rc = collector->add(collector->list, "bucket", &(trv_model_t){.steps = 0}, true);
    return rc ? rc : trv_uneven_add(collector, "bucket", "", ":", TRV_WEIGHTS_BALANCED_MAX);
}

const trv_algorithm_t trv_bucket = {
    .name = "bucket",
    .family = "bucket",
    .title = "Bucket, a ring per dimension",
    .use = "very long vectors",
    .source = "Jain, Sabharwal: ICS 2010; Sack, Gropp: TOPC 2015",
    .sizes = "any torus or mesh",
    .parameters = "W[/W...]",
    .example = "bucket:9/7 on 8x64",
    .field = {{.kind = TRV_FIELD_WEIGHTS,
               .what = "a list of weights separated by /, whole numbers",
               .max = TRV_WEIGHT_MAX}},
    .steps_formula = "2 * sum of (a-1)",
    .bytes_formula = "2m (n-1)/n",
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .baseline = true,
    .colour = 4,
    .paper_cost = trv_paper_neighbours,
    .create = bucket_create,
    .candidates = bucket_candidates,
};
