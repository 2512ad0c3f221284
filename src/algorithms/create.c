/*
 * Schedules by the names of their algorithms.
 */
#include <string.h>

#include "algorithms/algorithm.h"
#include "common/error.h"

int trv_schedule_create(trv_schedule_t **schedule, const trv_torus_t *torus, const char *name,
                        trv_collective_t collective)
{
    *schedule = NULL;
    const trv_algorithm_t *algorithm = trv_algorithm_find(name);
    if (!algorithm)
        return TRV_ERR_ARGUMENT;
    const char *colon = strchr(name, ':');
    /* What parameters ask for may be possible where the algorithm's own choice is not; `create` decides. */
    int rc = colon ? TRV_OK : trv_algorithm_supports(algorithm, torus, collective);
    if (rc)
        return rc;
    trv_schedule_t *s = trv_schedule_allocate(torus, name, collective);
    if (!s)
        return trv_fail_memory();
    if (colon && strlen(name) >= sizeof s->name) {
        trv_schedule_destroy(s);
        return trv_fail(TRV_ERR_ARGUMENT, "'%.40s…' is too long: a name with its parameters has at most %zu characters",
                        name, sizeof s->name - 1);
    }
    s->parameters = colon ? s->name + (colon - name) + 1 : NULL;
    s->symmetry = algorithm->symmetry;
    s->exactness = algorithm->exactness;
    s->consistent = algorithm->consistent;
    s->owned = !algorithm->latency_optimal;
    rc = algorithm->create(s);
    if (rc) {
        trv_schedule_destroy(s);
        return rc;
    }
    *schedule = s;
    return TRV_OK;
}
