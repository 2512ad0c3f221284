/*
 * --limit: the lower bound on the time of any schedule on a network, and a reference that is no bound
 * (docs/networks.md).
 */
#ifndef TRIVANCE_CLI_SHARED_LOWER_BOUND_H
#define TRIVANCE_CLI_SHARED_LOWER_BOUND_H

#include <stdio.h>

#include <trivance/compare.h>

#include "cli/shared/table.h"

/* The words for what the bound limits. */
#define CLI_LIMITED "the time of any schedule with at most the network's messages per port"

#define CLI_LIMIT_HELP                                                                                                 \
    "print a lower bound on the time of any schedule, and the ratio of this schedule's time to it; and, as a "         \
    "reference that is no bound, the sum of start-up and transmission"

#define CLI_LIMIT_COLUMNS_HELP                                                                                         \
    "a lower bound on the time of any schedule and the ratio to it; and, as a reference that is no bound, the sum of " \
    "start-up and transmission"

/* The bound that applies: "start-up", "links around a set of ranks" or "all links". */
const char *cli_limit_source(const trv_limit_t *limit);

/* Prints the bound with its parts, the reference, and the ratio of a time to each:
 * "limit 5.1 us, from the start-up (…): this plan takes 1.250 times as long". */
void cli_limit_print(const trv_limit_t *limit, const char *what, double time_ns, FILE *out);

/* Keys for JSON and CSV, and their cells. Without a limit (time_ns is NAN) or a time (NAN) cells are empty. */
#define CLI_LIMIT_KEYS " limit_ns limit_from limit_ratio reference_ns"
void cli_limit_cells(cli_table_t *table, const trv_limit_t *limit, double time_ns);

#endif
