/*
 * Evaluation of the rounds of a measurement, from the measured values alone.
 */
#ifndef TRIVANCE_CLI_PORTS_VERDICT_H
#define TRIVANCE_CLI_PORTS_VERDICT_H

#include <stdbool.h>

#include "cli/ports/probe.h"

/* Returns whether all rounds agree on two paths or one, except for a quarter at either end. gain: of each round,
 * sorted. */
bool trv_verdict_is_clear(const double *gain, int rounds);
/* Returns the result. gain: of each round, sorted; at least one. one_interface: some rank has one interface for both
 * ports. */
trv_path_verdict_t trv_verdict_paths(const double *gain, int rounds, bool one_interface);

#endif
