/*
 * Creates schedules by the names of their algorithms, on tori and on networks with slow and cut links.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/algorithm.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "base/number.h"
#include "schedule/collective.h"
#include "schedule/together.h"

int trv_name_split(const char *name, char base[TRV_FULL_NAME_MAX], bool *together, double *avoid)
{
    const char *at = strchr(name, '@');
    const size_t whole = at ? (size_t)(at - name) : strlen(name), word = strlen(TRV_TOGETHER);
    *together = whole > word && memcmp(name + whole - word, TRV_TOGETHER, word) == 0;
    const size_t length = *together ? whole - word : whole;
    if (strlen(name) >= TRV_FULL_NAME_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "'%.40s…' is too long: a name with its parameters has at most %d characters",
                        name, TRV_FULL_NAME_MAX - 1);
    memcpy(base, name, length);
    base[length] = '\0';
    *avoid = INFINITY;
    if (!at)
        return TRV_OK;
    char *end = NULL;
    *avoid = at[1] >= '0' && at[1] <= '9' ? trv_strtod(at + 1, &end) : 0;
    if (!(*avoid > 1 && isfinite(*avoid)) || *end)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "'%.80s': expected a number greater than 1 after @, the factor of slowness from which links "
                        "are avoided, for example %.40s@4",
                        name, base);
    return TRV_OK;
}

/* Calls the algorithm's `create`. Names with parameters are checked by `create` only, except for the collective,
 * because a parameter may make a torus possible that the default does not. */
static int schedule_fill(trv_schedule_t *schedule, const trv_algorithm_t *algorithm)
{
    const char *colon = strchr(schedule->name, ':');
    trv_torus_t torus = schedule->torus;
    torus.lines = schedule->rows->lines; /* rings with cuts are used as lines */
    int rc = colon ? trv_algorithm_check_collective(algorithm, schedule->collective)
                   : trv_algorithm_supports(algorithm, &torus, schedule->collective);
    if (rc && torus.lines != schedule->torus.lines)
        return trv_fail(rc, "%s (m: a dimension that is used as lines, because a link is cut)", trv_last_error());
    if (rc)
        return rc;
    trv_parameters_t parameters;
    rc = trv_name_parse(algorithm, colon ? colon + 1 : NULL, &schedule->torus, &parameters);
    if (rc)
        return rc;
    schedule->parameters = &parameters;
    schedule->symmetry = algorithm->symmetry;
    schedule->exactness = algorithm->exactness;
    schedule->consistent = algorithm->consistent;
    schedule->owned = !algorithm->latency_optimal;
    rc = algorithm->create(schedule);
    schedule->parameters = NULL;
    schedule->network = NULL;
    return rc;
}

/* Adapts the properties of the schedule to the network. On lines, messages that would have travelled around the ring
 * leave through the port of the others. If lines begin at different coordinates, no translation maps the messages onto
 * themselves. Where routes are fixed all of a rank's messages may leave through one port, and rows with a cut link
 * differ from all others. */
static void schedule_adapt(trv_schedule_t *schedule, const trv_algorithm_t *algorithm)
{
    const bool fixed = schedule->fixed_rows != NULL;
    /* the trees of collectives with a root know lines, but not rings that a cut has opened */
    const bool ring_trees = trv_collective_has_root(schedule->collective) &&
                            schedule->rows->lines != schedule->torus.lines;
    if (schedule->rows->uneven || (fixed && schedule->fixed_rows->open > 0))
        schedule->symmetry = TRV_SYMMETRY_NONE;
    if (fixed || (schedule->rows->lines && (!algorithm->lines || schedule->collective == TRV_ALLTOALL || ring_trees)))
        schedule->messages_per_port = 0; /* counted when it is asked for */
}

/* Creates the rows that are lines. An algorithm for any network finds its own way around cuts, which are only checked;
 * the messages of relays have their final ports. */
static int create_rows(trv_schedule_t *schedule, const trv_algorithm_t *algorithm, double avoid)
{
    const trv_network_t *network = schedule->network;
    const trv_network_t whole = {TRV_NETWORK, .torus = network->torus};
    if (algorithm->relays)
        return trv_rows_create(&schedule->rows, &whole, INFINITY);
    if (!algorithm->any_network)
        return trv_rows_create(&schedule->rows, network, avoid);
    if (isfinite(avoid))
        return trv_fail(TRV_ERR_UNSUPPORTED, "%s does not avoid slow links; leave out @%g", algorithm->name, avoid);
    int rc = trv_rows_create_any(&schedule->rows, network);
    trv_rows_destroy(schedule->rows);
    schedule->rows = NULL;
    return rc ? rc : trv_rows_create(&schedule->rows, &whole, avoid);
}

int trv_schedule_create_on(trv_schedule_t **schedule, const trv_network_t *network, const char *name,
                           trv_collective_t collective, int root)
{
    char base[TRV_FULL_NAME_MAX];
    double avoid;
    bool together;
    *schedule = NULL;
    int rc = trv_collective_check(collective, root, network->torus.ranks);
    if (!rc)
        rc = trv_name_split(name, base, &together, &avoid);
    const trv_algorithm_t *algorithm = rc ? NULL : trv_algorithm_find(base);
    if (!algorithm)
        return TRV_ERR_ARGUMENT;
    trv_schedule_t *s = trv_schedule_allocate(&network->torus, base, collective, root);
    if (!s)
        return trv_fail_memory();
    s->network = network;
    s->avoid = avoid;
    rc = create_rows(s, algorithm, avoid);
    if (!rc && network->routes == TRV_ROUTES_FIXED)
        rc = trv_rows_create(&s->fixed_rows, network, INFINITY);
    if (!rc)
        rc = schedule_fill(s, algorithm);
    if (rc) {
        trv_schedule_destroy(s);
        return rc;
    }
    schedule_adapt(s, algorithm);
    if (together && (rc = trv_schedule_together(&s, s)))
        return rc;
    memcpy(s->name, name, strlen(name) + 1);
    *schedule = s;
    return TRV_OK;
}

int trv_schedule_create(trv_schedule_t **schedule, const trv_torus_t *torus, const char *name,
                        trv_collective_t collective)
{
    return trv_schedule_create_on(schedule, &(trv_network_t){TRV_NETWORK, .torus = *torus}, name, collective, 0);
}
