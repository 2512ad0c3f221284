/*
 * The table of algorithms. A new algorithm is one new file and one line of lines.h; readers, tests and figures iterate
 * over the table.
 */
#include <stdio.h>
#include <string.h>

#include "algorithms/registry.h"
#include "base/error.h"
#include "schedule/collective.h"

static const trv_algorithm_t *const table[] = {
#define ALGORITHM(name) &trv_##name,
#include "algorithms/lines.h"
#undef ALGORITHM
};

#define ALGORITHMS ((int)(sizeof table / sizeof table[0]))

int trv_algorithms_count(void) { return ALGORITHMS; }

const trv_algorithm_t *trv_algorithm_at(int index) { return index >= 0 && index < ALGORITHMS ? table[index] : NULL; }

/* Whether a name ends with these parameters, or with them and an @. */
static bool is_together(const char *parameters)
{
    const size_t length = strlen(TRV_TOGETHER);
    return strncmp(parameters, TRV_TOGETHER, length) == 0 && (!parameters[length] || parameters[length] == '@');
}

const trv_algorithm_t *trv_algorithm_find(const char *name)
{
    char names[512] = "";
    const size_t length = strcspn(name, ":@"); /* parameters may follow */
    for (int i = 0; i < ALGORITHMS; i++) {
        if (strlen(table[i]->name) == length && strncmp(table[i]->name, name, length) == 0) {
            const char *const rest = name + length;
            if (*rest != ':' || table[i]->parameters || is_together(rest))
                return table[i];
            trv_fail(TRV_ERR_ARGUMENT, "%s takes no parameters, so '%.80s' is not an algorithm", table[i]->name, name);
            return NULL;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, i ? ", %s" : "%s", table[i]->name);
    }
    if (strcmp(name, "planned") == 0 || strcmp(name, "auto") == 0)
        trv_fail(TRV_ERR_ARGUMENT,
                 "'%s' selects an algorithm for one network and size: give the name of the algorithm that "
                 "trv_planner_best (in Python trivance.plan) returns, for example trivance-b",
                 name);
    else
        trv_fail(TRV_ERR_ARGUMENT, "there is no algorithm '%.40s'; there are %s", name, names);
    return NULL;
}

const char *trv_algorithm_name(const trv_algorithm_t *algorithm) { return algorithm->name; }
const char *trv_algorithm_family(const trv_algorithm_t *algorithm) { return algorithm->family; }
const char *trv_algorithm_title(const trv_algorithm_t *algorithm) { return algorithm->title; }
const char *trv_algorithm_use(const trv_algorithm_t *algorithm) { return algorithm->use; }
const char *trv_algorithm_source(const trv_algorithm_t *algorithm) { return algorithm->source; }
const char *trv_algorithm_sizes(const trv_algorithm_t *algorithm) { return algorithm->sizes; }
const char *trv_algorithm_steps_formula(const trv_algorithm_t *algorithm) { return algorithm->steps_formula; }
const char *trv_algorithm_bytes_formula(const trv_algorithm_t *algorithm) { return algorithm->bytes_formula; }
const char *trv_algorithm_parameters(const trv_algorithm_t *algorithm) { return algorithm->parameters; }
trv_symmetry_t trv_algorithm_symmetry(const trv_algorithm_t *algorithm) { return algorithm->symmetry; }
trv_exactness_t trv_algorithm_exactness(const trv_algorithm_t *algorithm) { return algorithm->exactness; }
bool trv_algorithm_consistent(const trv_algorithm_t *algorithm) { return algorithm->consistent; }
bool trv_algorithm_in_rank_order(const trv_algorithm_t *algorithm) { return algorithm->in_rank_order; }
bool trv_algorithm_baseline(const trv_algorithm_t *algorithm) { return algorithm->baseline; }
int trv_algorithm_colour(const trv_algorithm_t *algorithm) { return algorithm->colour; }
bool trv_algorithm_latency_optimal(const trv_algorithm_t *algorithm) { return algorithm->latency_optimal; }

bool trv_algorithm_has_collective(const trv_algorithm_t *algorithm, trv_collective_t collective)
{
    if (algorithm->collectives)
        return algorithm->collectives >> collective & 1;
    return collective == TRV_ALLREDUCE || (collective <= TRV_ALLGATHER && !algorithm->latency_optimal);
}

int trv_algorithm_check_collective(const trv_algorithm_t *algorithm, trv_collective_t collective)
{
    if (!trv_algorithm_has_collective(algorithm, collective) && (algorithm->collectives || collective > TRV_ALLGATHER))
        return trv_fail(TRV_ERR_UNSUPPORTED, "%s does not support %s; `trivance list --collective=%s` lists what does",
                        algorithm->name, trv_collective_shape(collective)->title,
                        trv_collective_shape(collective)->name);
    if (!trv_algorithm_has_collective(algorithm, collective))
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "%s sends whole vectors and supports only AllReduce; for Reduce-Scatter and AllGather use a "
                        "bandwidth-optimal algorithm, for example trivance-b",
                        algorithm->name);
    return TRV_OK;
}

int trv_algorithm_supports(const trv_algorithm_t *algorithm, const trv_torus_t *torus, trv_collective_t collective)
{
    const int rc = trv_algorithm_check_collective(algorithm, collective);
    return rc || !algorithm->supports ? rc : algorithm->supports(torus, collective);
}

/* The torus, with the rings that cuts have opened as lines. */
static int find_torus(const trv_network_t *network, double avoid, trv_torus_t *torus)
{
    trv_rows_t *rows;
    int rc = trv_rows_create(&rows, network, avoid);
    if (rc)
        return rc;
    *torus = network->torus;
    torus->lines = rows->lines;
    trv_rows_destroy(rows);
    return TRV_OK;
}

int trv_schedule_full_name_on(const trv_network_t *network, const char *algorithm, trv_collective_t collective,
                              int root, char *text, size_t size)
{
    char base[TRV_FULL_NAME_MAX];
    double avoid;
    bool together;
    trv_torus_t torus;
    trv_parameters_t parameters;
    if (size > 0)
        text[0] = '\0';
    int rc = trv_collective_check(collective, root, network->torus.ranks);
    if (!rc)
        rc = trv_name_split(algorithm, base, &together, &avoid);
    const trv_algorithm_t *row = rc ? NULL : trv_algorithm_find(base);
    const char *colon = strchr(base, ':');
    if (!row)
        return TRV_ERR_ARGUMENT;
    torus = network->torus;
    rc = row->any_network ? TRV_OK : find_torus(network, avoid, &torus);
    if (!rc && !colon)
        rc = trv_algorithm_supports(row, &torus, collective);
    if (!rc)
        rc = trv_name_parse(row, colon ? colon + 1 : NULL, &torus, &parameters);
    if (!rc && row->complete)
        rc = row->complete(&parameters, &torus, collective);
    if (rc)
        return rc;
    const size_t name = (size_t)trv_name_print(row, &parameters, true, text, size);
    const char *const at = algorithm + strlen(base); /* :together, @ and what follows */
    if (name + strlen(at) < size) {
        memcpy(text + name, at, strlen(at) + 1);
        return TRV_OK;
    }
    if (size > 0)
        text[0] = '\0';
    return trv_fail(TRV_ERR_ARGUMENT, "the full name of '%.60s' has %zu characters, but the buffer holds %zu",
                    algorithm, name + strlen(at), size > 0 ? size - 1 : 0);
}

int trv_schedule_full_name(const trv_torus_t *torus, const char *algorithm, trv_collective_t collective, char *text,
                           size_t size)
{
    return trv_schedule_full_name_on(&(trv_network_t){TRV_NETWORK, .torus = *torus}, algorithm, collective, 0, text,
                                     size);
}
