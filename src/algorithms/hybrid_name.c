/*
 * Reads and writes the names of hybrids, whose syntax hybrid.h describes.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/hybrid.h"
#include "base/error.h"
#include "search/distances/distances.h"
#include "torus/torus.h"

#define EXAMPLE "for example hybrid:4x8/3:grouped"

#define WEIGHTS         "weights"
#define STREAMS         "streams"
#define STREAMS_MAX     16 /* per dimension */
#define WEIGHTS_EXAMPLE "for example hybrid:8x64:weights9/7"

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

static void choose_factors(const trv_torus_t *torus, trv_collective_t collective, trv_hybrid_t *hybrid)
{
    for (int d = 0; d < torus->dims; d++) {
        int g = collective == TRV_ALLREDUCE ? middle_divisor(torus->size[d]) : torus->size[d];
        hybrid->dimension[d] = (trv_factor_t){g, fewest_steps(g), 0};
    }
}

/* Reads a number of at least 1 and advances *text past it; returns 0 if there is none. */
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

/* Reads G, G/S or G/S/T; omitted steps become 0. Returns whether the syntax is valid. */
static bool name_read_factor(const char **text, trv_factor_t *factor)
{
    int *steps[] = {&factor->steps, &factor->later};
    *factor = (trv_factor_t){.g = read_number(text)};
    for (int i = 0; i < 2 && factor->g && **text == '/'; i++) {
        ++*text;
        *steps[i] = read_number(text);
        if (!*steps[i])
            return false;
    }
    if (factor->later == factor->steps)
        factor->later = 0;
    return factor->g > 0;
}

static int name_read_factors(const char **text, int *factors, trv_factor_t *factor)
{
    for (*factors = 0; *factors < TRV_DIMS_MAX;) {
        if (!name_read_factor(text, &factor[(*factors)++]))
            break;
        if (**text == '\0' || **text == ':')
            return TRV_OK;
        if (**text != 'x')
            break;
        ++*text;
    }
    return trv_fail(TRV_ERR_ARGUMENT,
                    "the factors of a hybrid are whole numbers from 1, separated by x, one for each dimension or one "
                    "for all; /STEPS after a factor sets the steps per phase, /STEPS/STEPS also those of the streams "
                    "that begin in another dimension; " EXAMPLE);
}

/* Reads "own", or "own" with a number, which is limited to the number of dimensions. */
static bool name_read_own(const char *text, size_t length, const trv_torus_t *torus, int *own)
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

static bool begins(const char *text, size_t length, const char *word)
{
    return length > strlen(word) && strncmp(text, word, strlen(word)) == 0;
}

static int name_read_streams(const char *text, size_t length, int *streams)
{
    const char *end = text;
    *streams = read_number(&end);
    if (end != text + length || *streams < 1 || *streams > STREAMS_MAX)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "a hybrid has 1 to %d streams that begin in each dimension, not '%.*s'; for example "
                        "hybrid:8x64:streams4",
                        STREAMS_MAX, (int)(length < 40 ? length : 40), text);
    return TRV_OK;
}

static int name_read_words(const char *text, const trv_torus_t *torus, trv_hybrid_t *hybrid)
{
    int rc = TRV_OK;
    while (*text == ':' && !rc) {
        const size_t length = strcspn(++text, ":");
        if (!hybrid->own && name_read_own(text, length, torus, &hybrid->own))
            ;
        else if (is_word(text, length, "grouped"))
            hybrid->form = TRV_HYBRID_GROUPED;
        else if (is_word(text, length, "sequential"))
            hybrid->visit = TRV_SEQUENTIAL;
        else if (is_word(text, length, "folded"))
            hybrid->folded = true;
        else if (begins(text, length, STREAMS))
            rc = name_read_streams(text + strlen(STREAMS), length - strlen(STREAMS), &hybrid->streams);
        else if (begins(text, length, WEIGHTS))
            rc = trv_weights_parse(text + strlen(WEIGHTS), length - strlen(WEIGHTS), torus, WEIGHTS_EXAMPLE,
                                   &hybrid->weights);
        else if (!is_word(text, length, "all") && !is_word(text, length, "windows") &&
                 !is_word(text, length, "interleaved")) /* the default */
            return trv_fail(TRV_ERR_ARGUMENT,
                            "'%.*s' is not a parameter of a hybrid on this torus; allowed are own, own2 … (fewer than "
                            "all dimensions), grouped, sequential, folded, streamsN and weightsW/W, " EXAMPLE,
                            (int)(length < 40 ? length : 40), text);
        text += length;
    }
    return rc;
}

static int name_check_factor(const trv_torus_t *torus, int d, int g, int steps)
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

int trv_hybrid_parse(const char *parameters, const trv_torus_t *torus, trv_collective_t collective,
                     trv_hybrid_t *hybrid)
{
    int factors;
    trv_factor_t factor[TRV_DIMS_MAX];
    *hybrid = (trv_hybrid_t){0};
    if (!parameters) {
        choose_factors(torus, collective, hybrid);
        return TRV_OK;
    }
    int rc = name_read_factors(&parameters, &factors, factor);
    if (!rc)
        rc = name_read_words(parameters, torus, hybrid);
    if (!rc && factors != 1 && factors != torus->dims)
        rc = trv_fail(
            TRV_ERR_UNSUPPORTED,
            "a hybrid has one factor for each dimension of the torus, here %d, or one for all, not %d; " EXAMPLE,
            torus->dims, factors);
    for (int d = 0; d < torus->dims && !rc; d++) {
        trv_factor_t *of_d = &hybrid->dimension[d];
        /* a single factor applies to the dimensions with more than one rank */
        const bool single = torus->size[d] == 1 && factors == 1;
        *of_d = single ? (trv_factor_t){.g = 1} : factor[factors == 1 ? 0 : d];
        if (!of_d->steps)
            of_d->steps = fewest_steps(of_d->g);
        rc = name_check_factor(torus, d, of_d->g, of_d->steps);
    }
    return rc;
}

void trv_hybrid_name(const trv_hybrid_t *hybrid, const trv_torus_t *torus, char *name, int size)
{
    char weights[TRV_WEIGHTS_TEXT_MAX];
    bool equal = true;
    for (int d = 1; d < torus->dims; d++)
        equal = equal && hybrid->dimension[d].g == hybrid->dimension[0].g &&
                hybrid->dimension[d].steps == hybrid->dimension[0].steps &&
                hybrid->dimension[d].later == hybrid->dimension[0].later;
    int used = snprintf(name, (size_t)size, "hybrid");
    for (int d = 0; d < (equal ? 1 : torus->dims) && used < size; d++) {
        const trv_factor_t *factor = &hybrid->dimension[d];
        used += snprintf(name + used, (size_t)(size - used), "%c%d", d ? 'x' : ':', factor->g);
        if ((factor->steps != fewest_steps(factor->g) || factor->later) && used < size)
            used += snprintf(name + used, (size_t)(size - used), "/%d", factor->steps);
        if (factor->later && used < size)
            used += snprintf(name + used, (size_t)(size - used), "/%d", factor->later);
    }
    if (hybrid->own && used < size)
        used += snprintf(name + used, (size_t)(size - used), hybrid->own > 1 ? ":own%d" : ":own", hybrid->own);
    if (used < size)
        used += snprintf(name + used, (size_t)(size - used), "%s%s",
                         hybrid->form == TRV_HYBRID_GROUPED ? ":grouped" : "",
                         hybrid->visit == TRV_SEQUENTIAL ? ":sequential" : "");
    if (hybrid->streams > 1 && used < size)
        used += snprintf(name + used, (size_t)(size - used), ":" STREAMS "%d", hybrid->streams);
    if (hybrid->folded && used < size)
        used += snprintf(name + used, (size_t)(size - used), ":folded");
    if (hybrid->weights.count && used < size)
        snprintf(name + used, (size_t)(size - used), ":" WEIGHTS "%s", trv_weights_format(&hybrid->weights, weights));
}

int trv_hybrid_full_name(const char *parameters, const trv_torus_t *torus, trv_collective_t collective, char *text,
                         size_t size)
{
    char factors[36 * TRV_DIMS_MAX], own[16] = "all", streams[24] = "", weights[TRV_WEIGHTS_TEXT_MAX];
    trv_hybrid_t hybrid;
    int used = 0, rc = trv_hybrid_parse(parameters, torus, collective, &hybrid);
    if (rc)
        return rc;
    for (int d = 0; d < torus->dims; d++) {
        used += snprintf(factors + used, sizeof factors - (size_t)used, "%s%d", d ? "x" : "", hybrid.dimension[d].g);
        if (hybrid.dimension[d].g > 1)
            used += snprintf(factors + used, sizeof factors - (size_t)used, "/%d", hybrid.dimension[d].steps);
        if (hybrid.dimension[d].later)
            used += snprintf(factors + used, sizeof factors - (size_t)used, "/%d", hybrid.dimension[d].later);
    }
    if (hybrid.own)
        snprintf(own, sizeof own, "own%d", hybrid.own);
    if (hybrid.streams > 1)
        snprintf(streams, sizeof streams, ":" STREAMS "%d", hybrid.streams);
    return snprintf(text, size, "hybrid:%s:%s:%s:%s%s%s%s%s", factors, own,
                    hybrid.form == TRV_HYBRID_GROUPED ? "grouped" : "windows",
                    hybrid.visit == TRV_SEQUENTIAL ? "sequential" : "interleaved", streams,
                    hybrid.folded ? ":folded" : "", hybrid.weights.count ? ":" WEIGHTS : "",
                    trv_weights_format(&hybrid.weights, weights));
}
