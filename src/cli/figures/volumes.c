/*
 * Counted from the schedules, for the report: Theta of Trivance B, and the bytes that reductions read and write.
 */
#include "cli/figures/figures.h"

#include <trivance/cost.h>
#include <trivance/schedule.h>

int fig_theta(const char *torus_text, double *theta)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    trv_cost_t cost;
    int rc = trv_torus_parse(torus_text, &torus);
    if (!rc)
        rc = trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLREDUCE);
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
