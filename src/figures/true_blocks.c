/*
 * True blocks and idealised ones, and what reductions touch: from the schedules, for the reasons in the report.
 */
#include "figures/figures.h"

#include <math.h>
#include <string.h>

#include <trivance/cost.h>
#include <trivance/schedule.h>

/* The paper's distances along a dimension of `size`: 3^k, and in the last of ceil(log3 size) steps what is missing. */
static double distance(int size, int k, int *steps)
{
    double reach = 1;
    *steps = 0;
    for (double power = 1; power < size; power *= 3)
        ++*steps;
    for (int i = 0; i < k; i++)
        reach *= 3;
    return k == *steps - 1 ? ceil((size - reach) / 2) : reach;
}

/* Theta of Reduce-Scatter and AllGather in which the t-th step of a stream sends 3^-(t+1) of its slice both ways over
 * the distance of dimension (stream + t) mod D, dimensions that are done left out; of the slowest stream. */
static double ideal_theta(const trv_torus_t *torus)
{
    double most = 0;
    for (int stream = 0; stream < torus->dims; stream++) {
        int done[TRV_DIMS_MAX] = {0}, idle = 0;
        double sum = 0, share = 1;
        for (int d = stream; idle < torus->dims; d = (d + 1) % torus->dims) {
            int steps;
            double hops = distance(torus->size[d], done[d], &steps);
            idle = done[d] < steps ? 0 : idle + 1;
            if (done[d]++ < steps)
                sum += 2 * (share /= 3) * hops;
        }
        most = fmax(most, sum);
    }
    return most;
}

static int true_theta(const trv_torus_t *torus, double *theta)
{
    trv_schedule_t *schedule;
    trv_cost_t cost;
    int rc = trv_schedule_create(&schedule, torus, "trivance-b", TRV_ALLREDUCE);
    if (rc)
        return rc;
    rc = trv_cost_measure(schedule, &cost);
    if (!rc) {
        *theta = cost.theta;
        trv_cost_clear(&cost);
    }
    trv_schedule_destroy(schedule);
    return rc;
}

int fig_thetas(const char *torus_text, double *theta, double *ideal)
{
    trv_torus_t torus;
    int rc = trv_torus_parse(torus_text, &torus);
    if (!rc)
        rc = true_theta(&torus, theta);
    if (!rc)
        *ideal = ideal_theta(&torus);
    return rc;
}

int fig_idealise(const fig_result_t *result, fig_result_t *ideal)
{
    int rc = TRV_OK;
    *ideal = *result;
    for (int f = 0; f < ideal->figures && !rc; f++) {
        const fig_spec_t *spec = ideal->figure[f].spec;
        double theta = 0, less = 0;
        trv_torus_t torus;
        if (fig_is_beyond(spec)) /* no claim is about them */
            continue;
        rc = fig_thetas(spec->torus, &theta, &less);
        if (!rc)
            rc = trv_torus_parse(spec->torus, &torus);
        for (int c = 0; c < ideal->figure[f].curves && !rc; c++) {
            fig_curve_t *curve = &ideal->figure[f].curve[c];
            cli_network_t network = result->network;
            if (spec->parameter)
                rc = cli_network_set(&network, spec->parameter, curve->key);
            double ns_per_byte = 8e9 / network.options.bandwidth_bps / torus.dims;
            for (int i = 0; i < ideal->sizes; i++)
                if (strcmp(curve->own[i].member, "trivance-b") == 0)
                    curve->own[i].time_ns -= (theta - less) * (double)ideal->bytes[i] * ns_per_byte;
        }
    }
    return rc;
}

static int sum_reductions(const trv_schedule_t *schedule, double *operands, double *results)
{
    trv_step_t step = TRV_STEP_INIT;
    int rc = TRV_OK;
    const double shares = (double)trv_schedule_shares(schedule);
    *operands = *results = 0;
    for (int s = 0; s < trv_schedule_streams(schedule); s++)
        for (int k = 0; k < trv_schedule_steps(schedule) && !rc; k++) {
            rc = trv_schedule_step(schedule, 0, s, k, &step);
            for (int i = 0; i < step.combines && !rc; i++) {
                double share = (double)trv_blocks_count(&step.combine[i].blocks) * trv_schedule_weight(schedule, s) /
                               shares;
                bool copy = step.combine[i].sources < 2;
                *operands += copy ? 0 : share * step.combine[i].sources;
                *results += copy ? 0 : share;
            }
        }
    trv_step_clear(&step);
    return rc;
}

int fig_reduced(const char *torus_text, const char *algorithm, double *operands, double *results)
{
    trv_schedule_t *schedule;
    trv_torus_t torus;
    int rc = trv_torus_parse(torus_text, &torus);
    if (!rc)
        rc = trv_schedule_create(&schedule, &torus, algorithm, TRV_ALLREDUCE);
    if (rc)
        return rc;
    rc = sum_reductions(schedule, operands, results);
    trv_schedule_destroy(schedule);
    return rc;
}
