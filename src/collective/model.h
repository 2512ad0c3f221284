/*
 * The network model of the planner: the network that TRIVANCE_ALPHA and the other network variables describe, or a
 * measured one, as options of the simulator. It has one queue per link, delivery of a message with its last byte,
 * hop_ns for each hop, overhead_ns of the sender's processor for each message, and otherwise TRV_SIMULATE_DEFAULTS.
 */
#ifndef TRIVANCE_COLLECTIVE_MODEL_H
#define TRIVANCE_COLLECTIVE_MODEL_H

#include <trivance/simulate.h>
#include <trivance/torus.h>

#include "settings/rules.h"

trv_simulate_options_t trv_model_network(double alpha_ns, double bandwidth_bps, double hop_ns, double overhead_ns);

/* Dimensions whose two directions share one path out of a node (a *shared path*), as bit masks: declared in the
 * topology file, and found by the fabric from its interfaces. The masks may have bits beyond the dimensions of the
 * torus. */
typedef struct trv_model_paths {
    unsigned declared, found;
    bool found_one_path; /* the dimensions found share one path with each other */
} trv_model_paths_t;
/* Sets the shared paths of `torus` in the model: paths->declared, and the dimensions that the rules contain as
 * measured for this torus or, if they contain no such measurement, paths->found. */
void trv_model_shared_paths(trv_simulate_options_t *network, const trv_torus_t *torus, const trv_rules_t *rules,
                            const trv_model_paths_t *paths);
/* Describes the shared paths for users: "dimensions 0 and 2 share one path (measured)", and that a
 * measurement is for another torus; "" if there is nothing to report. Returns `text`. */
#define TRV_MODEL_SHARED_PATHS_MAX (160 + TRV_TORUS_TEXT_MAX)
char *trv_model_shared_paths_text(const trv_simulate_options_t *network, const trv_torus_t *torus,
                                  const trv_rules_t *rules, char text[TRV_MODEL_SHARED_PATHS_MAX]);

#endif
