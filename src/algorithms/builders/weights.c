/*
 * Weights of streams: their form in names, and weights that balance the links.
 *
 * All links carry the same load if load * weight = 1 in every dimension. This is a linear system with as many equations
 * as streams, and every multiple of its solution gives balanced weights. Small integers approximate it: the weights
 * with the smallest sums are taken whose loss is below LOSS.
 */
#include "algorithms/builders/weights.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "torus/torus.h"

#define SUM_MAX 64
#define LOSS    0.02

int trv_weights_apply(trv_schedule_t *schedule, const int *weight, int weights)
{
    if (weights == 0)
        return TRV_OK;
    int *of_stream = malloc((size_t)schedule->streams * sizeof *of_stream);
    for (int s = 0; of_stream && s < schedule->streams; s++)
        of_stream[s] = weight[s % weights];
    int rc = of_stream ? trv_schedule_set_weights(schedule, of_stream) : trv_fail_memory();
    free(of_stream);
    return rc;
}

double trv_weights_load(int streams, const double *load, const trv_weights_t *weights)
{
    double max = 0, sum = 0;
    for (int s = 0; s < streams; s++)
        sum += weights->value[s];
    for (int i = 0; i < streams; i++) {
        double carried = 0;
        for (int s = 0; s < streams; s++)
            carried += load[i * streams + s] * weights->value[s] / sum;
        max = fmax(max, carried);
    }
    return max;
}

/* Solves load * share = 1 by elimination. (A stream loads the links of its own dimension most, so the pivots are on the
 * diagonal.) Negative shares, of streams that should not exist, become 0. */
static void weights_solve(int streams, const double *load, double *share)
{
    double row[TRV_DIMS_MAX][TRV_DIMS_MAX + 1], sum = 0;
    for (int i = 0; i < streams; i++) {
        for (int s = 0; s < streams; s++)
            row[i][s] = load[i * streams + s];
        row[i][streams] = 1;
    }
    for (int p = 0; p < streams; p++)
        for (int i = 0; i < streams; i++) {
            const double times = i == p ? 0 : row[i][p] / row[p][p];
            for (int s = p; s <= streams && i != p; s++)
                row[i][s] -= times * row[p][s];
        }
    for (int s = 0; s < streams; s++)
        sum += share[s] = fmax(0, row[s][streams] / row[s][s]);
    for (int s = 0; s < streams; s++)
        share[s] /= sum;
}

/* Whether one list of weights is a multiple of the other. */
static bool is_multiple(const trv_weights_t *a, const trv_weights_t *b)
{
    for (int s = 1; s < a->count; s++)
        if (a->value[s] * b->value[0] != b->value[s] * a->value[0])
            return false;
    return true;
}

int trv_weights_balance(int streams, const double *load, trv_weights_t balanced[TRV_WEIGHTS_BALANCED_MAX])
{
    double share[TRV_DIMS_MAX], min = 0;
    int found = 0;
    weights_solve(streams, load, share);
    for (int s = 0; s < streams; s++)
        min += load[s] * share[s];
    for (int sum = streams; sum <= SUM_MAX && found < TRV_WEIGHTS_BALANCED_MAX; sum++) {
        trv_weights_t tried = {.count = streams};
        bool known = false;
        for (int s = 0; s < streams; s++)
            tried.value[s] = (int)fmax(1, round(share[s] * sum));
        for (int i = 0; i < found; i++)
            known = known || is_multiple(&tried, &balanced[i]);
        if (known || trv_weights_load(streams, load, &tried) > min * (1 + LOSS))
            continue;
        if (sum == streams)
            return 0; /* equal weights */
        balanced[found++] = tried;
    }
    return found;
}
