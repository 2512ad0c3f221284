/*
 * Bucket: a ring reduce-scatter along one dimension after the other, then the allgathers in reverse (Jain and Sabharwal
 * 2010, Sack and Gropp 2015; paper section 2.3).
 *
 * 2D streams: stream i starts in dimension i, stream D + i is its mirror image, so that in each step every port of a
 * rank belongs to another stream:
 *
 *   3x3, stream 0   rows, then columns      0 -> 1 -> 2 -> 0    then    0 -> 3 -> 6 -> 0
 *        stream 1   columns, then rows      streams 2 and 3     the same in the other direction
 *
 * Sizes: any torus (on unequal dimensions the streams meet in a dimension).   Steps: 2 * sum of (a-1).
 * Exact: yes.   Consistent: yes.   Symmetry: translation.
 */
#include "algorithms/paper.h"
#include "algorithms/scatter.h"
#include "algorithms/table.h"

static trv_pattern_t *pattern(int size, trv_collective_t collective)
{
    (void)collective;
    return trv_neighbour_pattern(size);
}

static int create(trv_schedule_t *schedule)
{
    return trv_scatter_create(schedule,
                              &(trv_scatter_options_t){.visit = TRV_SEQUENTIAL, .mirrored = true, .pattern = pattern});
}

const trv_algorithm_t trv_bucket = {
    .name = "bucket",
    .family = "bucket",
    .title = "Bucket, a ring per dimension",
    .use = "very long vectors",
    .source = "Jain, Sabharwal: ICS 2010; Sack, Gropp: TOPC 2015",
    .sizes = "any torus",
    .steps_formula = "2 * sum of (a-1)",
    .bytes_formula = "2m (n-1)/n",
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .baseline = true,
    .colour = 4,
    .paper_cost = trv_paper_neighbours,
    .create = create,
};
