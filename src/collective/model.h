/*
 * The network that TRIVANCE_ALPHA and the other network variables describe, or one that was measured, as options of the
 * simulator: one queue per link, delivery of the tail, hop_ns for each hop, overhead_ns of the sender's processor for each
 * message, and otherwise TRV_SIMULATE_DEFAULTS.
 */
#ifndef TRIVANCE_COLLECTIVE_MODEL_H
#define TRIVANCE_COLLECTIVE_MODEL_H

#include <trivance/simulate.h>
#include <trivance/torus.h>

#include "settings/rules.h"

trv_simulate_options_t trv_model_network(double alpha_ns, double bandwidth_bps, double hop_ns, double overhead_ns);

/* Which dimensions of `torus` are narrow there: by the rules' measurement of that torus if there is one, else those that
 * were found (bits of its dimensions and perhaps more); those that are declared in any case. */
typedef struct trv_model_paths {
    unsigned declared, found;
    bool one_found; /* those that were found share one path */
} trv_model_paths_t;
void trv_model_narrow(trv_simulate_options_t *network, const trv_torus_t *torus, const trv_rules_t *rules,
                      const trv_model_paths_t *paths);
/* "dimensions 0 and 2 are narrow, by one path (measured)", that what was measured is another torus's, or "": for people.
 * Returns `text`. */
#define TRV_MODEL_NARROW_MAX (160 + TRV_TORUS_TEXT_MAX)
char *trv_model_narrow_text(const trv_simulate_options_t *network, const trv_torus_t *torus, const trv_rules_t *rules,
                            char text[TRV_MODEL_NARROW_MAX]);

#endif
