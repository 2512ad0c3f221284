/*
 * Looking up the table of ties.
 */
#include "planner/ties.h"

#include <math.h>
#include <string.h>

const char *trv_ties_find(const trv_torus_t *torus, const trv_simulate_options_t *network, uint64_t vector_bytes)
{
    const trv_simulate_options_t table = TRV_SIMULATE_DEFAULTS;
    const double bytes = (double)vector_bytes * (table.bandwidth_bps / network->bandwidth_bps) *
                         (table.alpha_ns / network->alpha_ns); /* alpha 0: more than any */
    char text[TRV_TORUS_TEXT_MAX];
    trv_torus_format(torus, text, sizeof text);
    for (const trv_tie_t *tie = trv_ties; tie->torus; tie++)
        if (strcmp(tie->torus, text) == 0 && bytes >= (double)tie->first / M_SQRT2 &&
            bytes < (double)tie->last * M_SQRT2)
            return tie->algorithm;
    return NULL;
}
