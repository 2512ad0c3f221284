/*
 * Checks of a chain, and its properties: ports, direct sum or covering, subgroups, hops and loads (docs/stars.md).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "search/stars/lattice.h"
#include "search/stars/stars.h"
#include "search/stars/vector.h"

/* The maximum number of ranks for which sums are listed one by one. On larger tori every tail has to be a subgroup. */
#define RANKS_LISTED_MAX (1 << 24)
/* The maximum number of sums of a covering that are listed. */
#define SUMS_MAX (INT64_C(1) << 28)

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

static int chain_assign_ports(trv_star_chain_t *chain, int k)
{
    trv_star_step_t *step = &chain->step[k];
    unsigned ports[TRV_PORTS_MAX];
    int owner[TRV_PORTS_MAX];
    char text[2][VECTOR_TEXT_MAX];
    memset(owner, -1, sizeof owner);
    for (int i = 0; i < step->vectors; i++) {
        ports[i] = trv_star_vector_ports(&chain->torus, step->vector[i].at);
        trv_star_vector_text(&chain->torus, step->vector[i].at, text[0]);
        if (ports[i] == 0)
            return trv_fail(
                TRV_ERR_UNSUPPORTED,
                "the vector %s in step %d of the chain is zero: expected a displacement between different ranks",
                text[0], k);
        if (trv_star_vector_assign(ports, owner, i))
            continue;
        int other = owner[__builtin_ctz(ports[i])];
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the vectors %s and %s in step %d of the chain share a port: every vector of a step needs a "
                        "port of its own, in a dimension and direction in which it moves",
                        trv_star_vector_text(&chain->torus, step->vector[other].at, text[1]), text[0], k);
    }
    for (int p = 0; p < TRV_PORTS_MAX; p++)
        if (owner[p] >= 0)
            step->vector[owner[p]].port = p;
    return TRV_OK;
}

/* ---- Subgroups --------------------------------------------------------------------------------------------------- */

bool trv_star_is_subgroup(const trv_star_chain_t *chain, unsigned steps)
{
    trv_lattice_t generated;
    int64_t sums = 1;
    trv_lattice_init(&generated, &chain->torus);
    for (int k = 0; k < chain->steps; k++) {
        if (!(steps >> k & 1))
            continue;
        sums *= chain->step[k].vectors + 1;
        for (int i = 0; i < chain->step[k].vectors; i++)
            trv_lattice_add(&generated, chain->step[k].vector[i].at);
    }
    return sums * trv_lattice_index(&generated) == chain->torus.ranks;
}

bool trv_star_has_subgroup_tails(const trv_star_chain_t *chain)
{
    unsigned all = (1u << chain->steps) - 1;
    for (int k = 0; k < chain->steps; k++)
        if (!trv_star_is_subgroup(chain, all & ~((1u << k) - 1)))
            return false;
    return true;
}

/* Whether every tail is a subgroup and the vectors of each step, and 0, differ modulo the next tail. Such a chain is a
 * direct sum, and its sums need not be listed. */
static bool chain_is_direct_by_tails(const trv_star_chain_t *chain)
{
    trv_lattice_t tail;
    trv_lattice_init(&tail, &chain->torus);
    for (int k = chain->steps - 1; k >= 0; k--) {
        const trv_star_step_t *step = &chain->step[k];
        for (int i = 0; i < step->vectors; i++)
            for (int j = -1; j < i; j++) {
                int difference[TRV_DIMS_MAX];
                for (int d = 0; d < chain->torus.dims; d++)
                    difference[d] = (step->vector[i].at[d] - (j < 0 ? 0 : step->vector[j].at[d])) % tail.size[d];
                if (trv_lattice_has(&tail, difference, NULL))
                    return false;
            }
        for (int i = 0; i < step->vectors; i++)
            trv_lattice_add(&tail, step->vector[i].at);
    }
    return trv_star_has_subgroup_tails(chain);
}

/* ---- Direct sums and coverings ----------------------------------------------------------------------------------- */

/* The displacements that the steps reach so far, in the order in which they were found. */
typedef struct sums {
    const trv_star_chain_t *chain;
    int count;
    int *element;            /* the displacements, as ranks */
    int *number;             /* per element: the sum that reached it first, as 1 + its digits as one number; 0: none */
    int repeated;            /* an element that was reached again */
    int64_t repeated_number; /* number of the sum that reached it again; -1: there is none */
} sums_t;

static int add_vector(const trv_torus_t *torus, int element, const int *at)
{
    int c[TRV_DIMS_MAX];
    trv_torus_coordinates(torus, element, c);
    for (int d = 0; d < torus->dims; d++) {
        c[d] += at[d];
        c[d] += c[d] < 0 ? torus->size[d] : c[d] >= torus->size[d] ? -torus->size[d] : 0;
    }
    return trv_torus_rank(torus, c);
}

/* Adds the vectors of step k to all sums so far. `digit_value` is the product of the q of the previous steps. With
 * `stop` it returns false at the first sum that is already present. */
static bool sums_add_step(sums_t *sums, int k, int digit_value, bool stop)
{
    const trv_star_step_t *step = &sums->chain->step[k];
    for (int i = 0, before = sums->count; i < step->vectors; i++)
        for (int s = 0; s < before; s++) {
            int element = add_vector(&sums->chain->torus, sums->element[s], step->vector[i].at);
            int64_t number = sums->number[sums->element[s]] + (int64_t)(i + 1) * digit_value;
            if (sums->number[element] == 0) {
                sums->number[element] = stop ? (int)number : 1;
                sums->element[sums->count++] = element;
            } else if (sums->repeated_number < 0) {
                sums->repeated = element;
                sums->repeated_number = number;
                if (stop)
                    return false;
            }
        }
    return true;
}

/* Writes the sum with this number, such as "1.0 + 2.1". */
static const char *chain_sum_text(const trv_star_chain_t *chain, int64_t number, char *text, size_t size)
{
    char vector[VECTOR_TEXT_MAX];
    static const int zero[TRV_DIMS_MAX];
    size_t used = 0;
    number--;
    text[0] = '\0';
    for (int k = 0; k < chain->steps; k++) {
        int q = chain->step[k].vectors + 1, i = (int)(number % q);
        number /= q;
        if (i && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " + " : "",
                                     trv_star_vector_text(&chain->torus, chain->step[k].vector[i - 1].at, vector));
    }
    if (used == 0)
        trv_star_vector_text(&chain->torus, zero, text);
    return text;
}

static int sums_fail_repeated(const sums_t *sums)
{
    char one[256], other[256], where[VECTOR_TEXT_MAX];
    int c[TRV_DIMS_MAX];
    const trv_star_chain_t *chain = sums->chain;
    trv_torus_coordinates(&chain->torus, sums->repeated, c);
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    "the chain is not a direct sum: %s and %s both lead to %s (the first such pair of its sums)",
                    chain_sum_text(chain, sums->number[sums->repeated], one, sizeof one),
                    chain_sum_text(chain, sums->repeated_number, other, sizeof other),
                    trv_star_vector_text(&chain->torus, c, where));
}

static int sums_fail_missing(const sums_t *sums)
{
    char where[VECTOR_TEXT_MAX], shape[TRV_TORUS_TEXT_MAX];
    const trv_torus_t *torus = &sums->chain->torus;
    int c[TRV_DIMS_MAX], missing = 0;
    while (sums->number[missing])
        missing++;
    trv_torus_coordinates(torus, missing, c);
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    "the chain covers only %d of the %d displacements of %s: no sum of its vectors is %s", sums->count,
                    torus->ranks, trv_torus_format(torus, shape, sizeof shape), trv_star_vector_text(torus, c, where));
}

static int chain_list_sums(trv_star_chain_t *chain, bool covering)
{
    int ranks = chain->torus.ranks, digit_value = 1;
    sums_t sums = {.chain = chain, .count = 1, .repeated_number = -1};
    sums.element = calloc((size_t)ranks, sizeof *sums.element);
    sums.number = calloc((size_t)ranks, sizeof *sums.number);
    int rc = sums.element && sums.number ? TRV_OK : trv_fail_memory();
    if (!rc)
        sums.number[0] = 1;
    for (int k = 0; k < chain->steps && !rc; k++) {
        if (!sums_add_step(&sums, k, digit_value, !covering))
            rc = sums_fail_repeated(&sums);
        digit_value = covering ? 1 : digit_value * (chain->step[k].vectors + 1);
    }
    if (!rc && sums.count < ranks)
        rc = sums_fail_missing(&sums);
    chain->direct = !rc && sums.repeated_number < 0;
    free(sums.element);
    free(sums.number);
    return rc;
}

/* Checks that the number of sums, one per choice of vectors, matches the number of ranks. */
static int chain_check_counts(const trv_star_chain_t *chain, bool covering, bool *equal)
{
    char factors[8 * TRV_STAR_STEPS_MAX] = "", shape[TRV_TORUS_TEXT_MAX];
    int64_t sums = 1, ranks = chain->torus.ranks;
    for (int k = 0, used = 0; k < chain->steps; k++) {
        int q = chain->step[k].vectors + 1;
        sums = sums > SUMS_MAX * 8 ? sums : sums * q;
        used += snprintf(factors + used, sizeof factors - (size_t)used, k ? " x %d" : "%d", q);
    }
    *equal = sums == ranks;
    if (covering ? sums < ranks : sums != ranks)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the factors of the chain are %s, but %s has %lld ranks: the factor of a step is its number of "
                        "vectors plus 1, and the product of the factors must be %s%lld",
                        factors, trv_torus_format(&chain->torus, shape, sizeof shape), (long long)ranks,
                        covering ? "at least " : "", (long long)ranks);
    return TRV_OK;
}

int trv_star_check(trv_star_chain_t *chain, bool covering)
{
    const trv_torus_t *torus = &chain->torus;
    bool equal;
    for (int k = 0; k < chain->steps; k++)
        for (int i = 0; i < chain->step[k].vectors; i++)
            for (int d = 0; d < torus->dims; d++)
                if (2 * chain->step[k].vector[i].at[d] == -torus->size[d])
                    chain->step[k].vector[i].at[d] *= -1;
    int rc = chain_check_counts(chain, covering, &equal);
    for (int k = 0; k < chain->steps && !rc; k++)
        rc = chain_assign_ports(chain, k);
    if (rc)
        return rc;
    chain->direct = equal &&
                    chain_is_direct_by_tails(chain); /* most chains are, and this check takes very little time */
    if (!chain->direct && torus->ranks <= RANKS_LISTED_MAX)
        return chain_list_sums(chain, covering);
    if (!chain->direct)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "on more than %d ranks every tail of a chain must be a subgroup, and the vectors of a step "
                        "must differ modulo the next tail",
                        RANKS_LISTED_MAX);
    return TRV_OK;
}

/* ---- Hops and loads ---------------------------------------------------------------------------------------------- */

int trv_star_hops(const trv_star_chain_t *chain, int step)
{
    int max = 0;
    for (int i = 0; i < chain->step[step].vectors; i++) {
        int hops = 0;
        for (int d = 0; d < chain->torus.dims; d++)
            hops += abs(chain->step[step].vector[i].at[d]);
        max = hops > max ? hops : max;
    }
    return max;
}

int trv_star_dimension_load(const trv_star_chain_t *chain, int step, int dimension)
{
    int hops = 0;
    for (int i = 0; i < chain->step[step].vectors; i++)
        hops += abs(chain->step[step].vector[i].at[dimension]);
    return hops;
}

int trv_star_load(const trv_star_chain_t *chain, int step)
{
    int max = 0;
    for (int d = 0; d < chain->torus.dims; d++) {
        int load = trv_star_dimension_load(chain, step, d);
        max = load > max ? load : max;
    }
    return max;
}
