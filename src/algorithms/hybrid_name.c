/*
 * The parameters in the names of hybrids, which hybrid.h explains, as the numbers of a hybrid, and the reverse.
 */
#include <stdlib.h>
#include <string.h>

#include "algorithms/hybrid.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "search/distances/distances.h"
#include "torus/torus.h"

/* The fields of the name (hybrid.c). */
enum { FACTORS, OWN, GROUPED, SEQUENTIAL, STREAMS, FOLDED, WEIGHTS };

/* The default number of steps of a phase over `g`: the fewest. */
static int fewest_steps(int g) { return g > 1 ? trv_distances_steps_min(g) : 0; }

/* The divisor of `size` that is nearest to its square root on a logarithmic scale. */
static int middle_divisor(int size)
{
    int best = 1;
    for (int g = 2; g <= size; g++) {
        long long distance = llabs((long long)g * g - size), min_distance = llabs((long long)best * best - size);
        if (size % g == 0 && distance < min_distance)
            best = g;
    }
    return best;
}

int trv_hybrid_own_max(const trv_torus_t *torus)
{
    int dimension[TRV_DIMS_MAX], active = trv_torus_active(torus, dimension);
    return active > 1 ? active - 1 : 1;
}

static int check_factor(const trv_torus_t *torus, int d, int g, int steps)
{
    if (torus->size[d] % g != 0)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "%d is not a divisor of dimension %d, whose size is %d; use a divisor, for example %d", g, d,
                        torus->size[d], middle_divisor(torus->size[d]));
    if (g == 1 && steps > 0)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "a hybrid with the factor 1 has no reduce-scatter in that dimension, and therefore no number "
                        "of steps; write 1, not 1/%d",
                        steps);
    return TRV_OK;
}

/* The factor of a dimension: its own, or the only one, which applies to the dimensions with more than one rank. */
static trv_factor_t factor_of(const trv_torus_t *torus, trv_collective_t collective, int d, const trv_value_t *factors)
{
    const int *number = factors->list + (factors->count > 1 ? TRV_FACTOR_PARTS * d : 0);
    trv_factor_t factor = {number[0], number[1], number[2] == number[1] ? 0 : number[2]};
    if (factors->count == 0)
        factor = (trv_factor_t){.g = collective == TRV_ALLREDUCE ? middle_divisor(torus->size[d]) : torus->size[d]};
    else if (factors->count == 1 && torus->size[d] == 1)
        factor = (trv_factor_t){.g = 1};
    if (!factor.steps)
        factor.steps = fewest_steps(factor.g);
    return factor;
}

int trv_hybrid_read(const trv_parameters_t *parameters, const trv_torus_t *torus, trv_collective_t collective,
                    trv_hybrid_t *hybrid)
{
    const trv_value_t *value = parameters->value;
    const int factors = value[FACTORS].count;
    int rc = TRV_OK;
    *hybrid = (trv_hybrid_t){.own = value[OWN].number,
                             .form = value[GROUPED].number ? TRV_HYBRID_GROUPED : TRV_HYBRID_WINDOWS,
                             .folded = value[FOLDED].number,
                             .streams = value[STREAMS].number,
                             .weights.count = value[WEIGHTS].count,
                             .visit = value[SEQUENTIAL].number ? TRV_SEQUENTIAL : TRV_INTERLEAVED};
    memcpy(hybrid->weights.value, value[WEIGHTS].list, sizeof hybrid->weights.value);
    if (factors > 1 && factors != torus->dims)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "a hybrid has one factor for each dimension of the torus, here %d, or one for all, not %d; for "
                        "example %s",
                        torus->dims, factors, trv_hybrid.example);
    for (int d = 0; d < torus->dims && !rc; d++) {
        hybrid->dimension[d] = factor_of(torus, collective, d, &value[FACTORS]);
        rc = check_factor(torus, d, hybrid->dimension[d].g, hybrid->dimension[d].steps);
    }
    return rc;
}

/* Sets the values; with `full` also those that a short name leaves out. */
static void set_values(const trv_hybrid_t *hybrid, const trv_torus_t *torus, bool full, trv_parameters_t *parameters)
{
    trv_value_t *value = parameters->value, *factors = &value[FACTORS];
    trv_name_defaults(&trv_hybrid, parameters);
    bool equal = !full;
    for (int d = 0; d < torus->dims; d++) {
        const trv_factor_t *factor = &hybrid->dimension[d];
        const bool fewest = factor->steps == fewest_steps(factor->g) && !factor->later;
        const int number[] = {factor->g, full || !fewest ? factor->steps : 0, factor->later};
        memcpy(factors->list + TRV_FACTOR_PARTS * d, number, sizeof number);
        equal = equal && memcmp(factors->list, factors->list + TRV_FACTOR_PARTS * d, sizeof number) == 0;
    }
    factors->count = equal ? 1 : torus->dims;
    value[OWN].number = hybrid->own;
    value[GROUPED].number = hybrid->form == TRV_HYBRID_GROUPED;
    value[SEQUENTIAL].number = hybrid->visit == TRV_SEQUENTIAL;
    value[STREAMS].number = hybrid->streams > 1 ? hybrid->streams : 1;
    value[FOLDED].number = hybrid->folded;
    value[WEIGHTS].count = hybrid->weights.count;
    memcpy(value[WEIGHTS].list, hybrid->weights.value, sizeof hybrid->weights.value);
}

void trv_hybrid_name(const trv_hybrid_t *hybrid, const trv_torus_t *torus, char *name, size_t size)
{
    trv_parameters_t parameters;
    set_values(hybrid, torus, false, &parameters);
    trv_name_print(&trv_hybrid, &parameters, false, name, size);
}

int trv_hybrid_complete(trv_parameters_t *parameters, const trv_torus_t *torus, trv_collective_t collective)
{
    trv_hybrid_t hybrid;
    const int rc = trv_hybrid_read(parameters, torus, collective, &hybrid);
    if (!rc)
        set_values(&hybrid, torus, true, parameters);
    return rc;
}
