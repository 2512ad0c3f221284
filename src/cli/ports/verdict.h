/*
 * What the rounds of a measurement come to. It knows no network: only what was measured.
 */
#ifndef TRIVANCE_CLI_PORTS_VERDICT_H
#define TRIVANCE_CLI_PORTS_VERDICT_H

#include <stdbool.h>

#include "cli/ports/probe.h"

/* All rounds but a quarter at either end say the same: two paths, or one. gain: of each round, sorted. */
bool trv_verdict_is_clear(const double *gain, int rounds);
/* gain: of each round, sorted; at least one. one_interface: some rank has one for both ways. */
trv_paths_t trv_verdict_paths(const double *gain, int rounds, bool one_interface);

#endif
