/*
 * The names of hybrids: hybrid.h says how they are made.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/hybrid.h"
#include "common/error.h"
#include "distances/distances.h"
#include "torus/torus.h"

#define EXAMPLE "for example hybrid:4x8/3:grouped"

/* The steps of a phase over `g`, where none are asked for: the fewest. */
static int fewest_steps(int g) { return g > 1 ? trv_distances_steps_least(g) : 0; }

/* The divisor of `size` nearest to its root, in proportion. */
static int middle_divisor(int size)
{
    int best = 1;
    for (int g = 2; g <= size; g++) {
        long long apart = llabs((long long)g * g - size), least = llabs((long long)best * best - size);
        if (size % g == 0 && apart < least)
            best = g;
    }
    return best;
}

static void choose_factors(const trv_torus_t *torus, trv_collective_t collective, trv_hybrid_t *hybrid)
{
    for (int d = 0; d < torus->dims; d++) {
        int g = collective == TRV_ALLREDUCE ? middle_divisor(torus->size[d]) : torus->size[d];
        hybrid->dimension[d].g = g;
        hybrid->dimension[d].steps = fewest_steps(g);
    }
}

/* Reads a number from 1 on and goes past it; 0 where there is none. */
static int read_number(const char **text)
{
    char *end;
    if (**text < '0' || **text > '9')
        return 0;
    errno = 0;
    long number = strtol(*text, &end, 10);
    *text = end;
    return errno || number > INT_MAX ? 0 : (int)number;
}

static int read_factors(const char **text, int *factors, int *g, int *steps)
{
    for (*factors = 0; *factors < TRV_DIMS_MAX;) {
        g[*factors] = read_number(text);
        steps[*factors] = 0;
        bool bad = g[*factors] == 0;
        if (!bad && **text == '/') {
            ++*text;
            steps[*factors] = read_number(text);
            bad = steps[*factors] == 0;
        }
        ++*factors;
        if (bad)
            break;
        if (**text == '\0' || **text == ':')
            return TRV_OK;
        if (**text != 'x')
            break;
        ++*text;
    }
    return trv_fail(TRV_ERR_ARGUMENT,
                    "the factors of a hybrid are whole numbers from 1 on, one for each dimension or one "
                    "for all, with x between them and /STEPS after them if it is to be more than the fewest; " EXAMPLE);
}

/* own, or own2 …; at most what all dimensions are. */
static bool read_own(const char *text, size_t length, const trv_torus_t *torus, int *own)
{
    int dimension[TRV_DIMS_MAX], active = trv_torus_active(torus, dimension);
    if (length < 3 || length > 4 || strncmp(text, "own", 3) != 0)
        return false;
    *own = length == 3 ? 1 : text[3] - '0';
    return *own >= 1 && *own < (active > 1 ? active : 2);
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

static int read_words(const char *text, const trv_torus_t *torus, trv_hybrid_t *hybrid)
{
    while (*text == ':') {
        const size_t length = strcspn(++text, ":");
        if (!hybrid->own && read_own(text, length, torus, &hybrid->own))
            ;
        else if (is_word(text, length, "grouped"))
            hybrid->form = TRV_HYBRID_GROUPED;
        else if (is_word(text, length, "sequential"))
            hybrid->visit = TRV_SEQUENTIAL;
        else if (!is_word(text, length, "all") && !is_word(text, length, "windows") &&
                 !is_word(text, length, "interleaved")) /* which is what holds where nothing is said */
            return trv_fail(TRV_ERR_ARGUMENT,
                            "'%.*s' says nothing of a hybrid on this torus; what does is own, own2 … "
                            "(fewer than all dimensions), grouped and sequential, " EXAMPLE,
                            (int)(length < 40 ? length : 40), text);
        text += length;
    }
    return TRV_OK;
}

static int check_factor(const trv_torus_t *torus, int d, int g, int steps)
{
    if (torus->size[d] % g != 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, "%d is no factor of dimension %d, whose size is %d; " EXAMPLE, g, d,
                        torus->size[d]);
    if (g == 1 && steps > 0)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "a hybrid with the factor 1 has no reduce-scatter in that dimension, and so no "
                        "steps to choose; write 1, not 1/%d",
                        steps);
    return TRV_OK;
}

int trv_hybrid_parse(const char *parameters, const trv_torus_t *torus, trv_collective_t collective,
                     trv_hybrid_t *hybrid)
{
    int factors, g[TRV_DIMS_MAX], steps[TRV_DIMS_MAX];
    *hybrid = (trv_hybrid_t){0};
    if (!parameters || !*parameters) {
        choose_factors(torus, collective, hybrid);
        return TRV_OK;
    }
    int rc = read_factors(&parameters, &factors, g, steps);
    if (!rc)
        rc = read_words(parameters, torus, hybrid);
    if (!rc && factors != 1 && factors != torus->dims)
        rc = trv_fail(TRV_ERR_UNSUPPORTED,
                      "a hybrid has a factor for each of the torus's %d dimensions, or one for all, "
                      "not %d; " EXAMPLE,
                      torus->dims, factors);
    for (int d = 0; d < torus->dims && !rc; d++) {
        int i = factors == 1 ? 0 : d;
        bool single = torus->size[d] == 1 && factors == 1; /* one factor for all means those with ranks */
        int of_d = single ? 1 : g[i], steps_of_d = single ? 0 : steps[i] ? steps[i] : fewest_steps(of_d);
        rc = check_factor(torus, d, of_d, steps_of_d);
        hybrid->dimension[d].g = of_d;
        hybrid->dimension[d].steps = steps_of_d;
    }
    return rc;
}

void trv_hybrid_name(const trv_hybrid_t *hybrid, const trv_torus_t *torus, char *name, int room)
{
    bool equal = true;
    for (int d = 1; d < torus->dims; d++)
        equal = equal && hybrid->dimension[d].g == hybrid->dimension[0].g &&
                hybrid->dimension[d].steps == hybrid->dimension[0].steps;
    int used = snprintf(name, (size_t)room, "hybrid");
    for (int d = 0; d < (equal ? 1 : torus->dims) && used < room; d++) {
        const int g = hybrid->dimension[d].g, steps = hybrid->dimension[d].steps;
        used += snprintf(name + used, (size_t)(room - used), "%c%d", d ? 'x' : ':', g);
        if (steps != fewest_steps(g) && used < room)
            used += snprintf(name + used, (size_t)(room - used), "/%d", steps);
    }
    if (hybrid->own && used < room)
        used += snprintf(name + used, (size_t)(room - used), hybrid->own > 1 ? ":own%d" : ":own", hybrid->own);
    if (used < room)
        snprintf(name + used, (size_t)(room - used), "%s%s", hybrid->form == TRV_HYBRID_GROUPED ? ":grouped" : "",
                 hybrid->visit == TRV_SEQUENTIAL ? ":sequential" : "");
}

int trv_hybrid_spell(const char *parameters, const trv_torus_t *torus, trv_collective_t collective, char *text,
                     size_t size)
{
    char factors[24 * TRV_DIMS_MAX], own[16] = "all";
    trv_hybrid_t hybrid;
    int used = 0, rc = trv_hybrid_parse(parameters, torus, collective, &hybrid);
    if (rc)
        return rc;
    for (int d = 0; d < torus->dims; d++) {
        used += snprintf(factors + used, sizeof factors - (size_t)used, "%s%d", d ? "x" : "", hybrid.dimension[d].g);
        if (hybrid.dimension[d].g > 1)
            used += snprintf(factors + used, sizeof factors - (size_t)used, "/%d", hybrid.dimension[d].steps);
    }
    if (hybrid.own)
        snprintf(own, sizeof own, "own%d", hybrid.own);
    return snprintf(text, size, "hybrid:%s:%s:%s:%s", factors, own,
                    hybrid.form == TRV_HYBRID_GROUPED ? "grouped" : "windows",
                    hybrid.visit == TRV_SEQUENTIAL ? "sequential" : "interleaved");
}
