/*
 * Chains in text form, such as 1.0/0.1/-1.0_2.1/0.2/2.-1.
 */
#include "search/stars/vector.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "search/stars/stars.h"

#define EXAMPLE "for example 1.0/0.1/-1.0_2.1/0.2/2.-1 on 4x4"

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

size_t trv_star_format(const trv_star_chain_t *chain, char *text, size_t text_size)
{
    char vector[VECTOR_TEXT_MAX];
    size_t used = 0;
    if (text_size > 0)
        text[0] = '\0';
    for (int k = 0; k < chain->steps; k++)
        for (int i = 0; i < chain->step[k].vectors; i++) {
            size_t left = used < text_size ? text_size - used : 0;
            trv_star_vector_text(&chain->torus, chain->step[k].vector[i].at, vector);
            used += (size_t)snprintf(left ? text + used : NULL, left, "%s%s", i ? "/" : k ? "_" : "", vector);
        }
    return used;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Reads an integer and advances *text past it. Returns false if there is none, or if it is too large. */
static bool read_number(const char **text, int *number)
{
    const char *p = *text;
    bool negative = *p == '-';
    long value = 0;
    p += negative;
    if (!isdigit((unsigned char)*p))
        return false;
    for (; isdigit((unsigned char)*p) && value <= 1 << 30; p++)
        value = value * 10 + (*p - '0');
    *number = (int)(negative ? -value : value);
    *text = p;
    return value <= 1 << 30;
}

static int read_vector(const trv_torus_t *torus, const char **text, int *at)
{
    const char *start = *text;
    int d = 0;
    do {
        if (d == TRV_DIMS_MAX || !read_number(text, &at[d]))
            return trv_fail(TRV_ERR_ARGUMENT,
                            "'%.40s' is not a chain: expected coordinates separated by ., vectors separated by / and "
                            "steps separated by _, " EXAMPLE,
                            start);
        d++;
    } while (**text == '.' && (*text)++);
    if (d != torus->dims)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the vector %.*s of the chain has %d coordinate%s, but the torus has %d",
                        (int)(*text - start), start, d, d == 1 ? "" : "s", torus->dims);
    for (d = 0; d < torus->dims; d++)
        if (at[d] > torus->size[d] / 2 || -at[d] > torus->size[d] / 2)
            return trv_fail(TRV_ERR_UNSUPPORTED,
                            "the vector %.*s of the chain reaches more than half way around a dimension of size %d: "
                            "allowed coordinates are %d to %d",
                            (int)(*text - start), start, torus->size[d], -(torus->size[d] / 2), torus->size[d] / 2);
    return TRV_OK;
}

int trv_star_parse(trv_star_chain_t *chain, const trv_torus_t *torus, const char *text, bool covering)
{
    const char *rest = text;
    memset(chain, 0, sizeof *chain);
    chain->torus = *torus;
    chain->steps = 1;
    for (;;) {
        trv_star_step_t *step = &chain->step[chain->steps - 1];
        if (step->vectors == trv_port_count(torus))
            return trv_fail(TRV_ERR_UNSUPPORTED,
                            "step %d of the chain has more than %d vectors, the number of ports of a rank on this "
                            "torus; every vector of a step needs a port of its own",
                            chain->steps - 1, trv_port_count(torus));
        int rc = read_vector(torus, &rest, step->vector[step->vectors++].at);
        if (rc)
            return rc;
        if (*rest == '\0')
            return trv_star_check(chain, covering);
        if (*rest != '/' && *rest != '_')
            return trv_fail(TRV_ERR_ARGUMENT,
                            "'%.40s' in a chain: expected / and another vector of the step, _ and the next step, or "
                            "the end, " EXAMPLE,
                            rest);
        if (*rest++ == '_' && ++chain->steps > TRV_STAR_STEPS_MAX)
            return trv_fail(TRV_ERR_UNSUPPORTED, "the chain has more than %d steps", TRV_STAR_STEPS_MAX);
    }
}
