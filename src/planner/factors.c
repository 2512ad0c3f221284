/*
 * Selects the factors F for which the planner tries schedules that avoid slow links (NAME@F).
 */
#include "planner/factors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <trivance/algorithms.h>

#include "base/error.h"
#include "base/number.h"

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Whether a schedule can avoid all links with this factor or a larger one: it cannot if that would split a row. */
static bool can_avoid(const trv_network_t *network, double factor)
{
    char name[TRV_ALGORITHM_NAME_MAX];
    trv_snprintf(name, sizeof name, "%s@%.10g", trv_algorithm_name(trv_algorithm_at(0)), factor);
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, network, name, TRV_ALLREDUCE, 0);
    trv_schedule_destroy(schedule);
    return rc != TRV_ERR_ARGUMENT;
}

int trv_factors_find(const trv_network_t *network, double factor[TRV_FACTORS_MAX], int *found)
{
    double *all = malloc(((size_t)network->slow_links + 1) * sizeof *all);
    int factors = 0, count = 0;
    if (!all)
        return trv_fail_memory();
    for (int i = 0; i < network->slow_links; i++) {
        const double factor = floor(100 * network->slow_link[i].factor) / 100;
        if (isfinite(factor) && factor >= TRV_FACTOR_MIN)
            all[factors++] = factor;
    }
    qsort(all, (size_t)factors, sizeof *all, descending);
    for (int i = 0; i < factors; i++)
        if (count == 0 || all[count - 1] != all[i])
            all[count++] = all[i];
    for (int i = 0; i < count && i < TRV_FACTORS_MAX; i++) {
        const double value = all[count <= TRV_FACTORS_MAX ? i : i * (count - 1) / (TRV_FACTORS_MAX - 1)];
        if (can_avoid(network, value))
            factor[(*found)++] = value;
    }
    free(all);
    return TRV_OK;
}
