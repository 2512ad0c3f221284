/*
 * trivance plan --all-sizes and --why: what the planner chooses at which size, and why nothing else.
 */
#ifndef TRIVANCE_CLI_PLAN_ASK_H
#define TRIVANCE_CLI_PLAN_ASK_H

#include <trivance/planner.h>

#include "cli/shared/network_options.h"
#include "cli/shared/table.h"

typedef struct cli_plan_ask {
    trv_torus_t torus;
    trv_collective_t collective;
    uint64_t bytes;        /* --why and --nodes: the size that is asked about */
    cli_network_t network; /* finished for the torus */
    trv_planner_constraints_t constraints;
    cli_format_t format;
    const char *command, *output; /* output: a path; NULL: stdout */
} cli_plan_ask_t;

/* Prints the ranges of sizes from 32 B to 1 GiB, the plan for each, and how much faster it is than the named
 * algorithms. */
int cli_plan_sizes(const cli_plan_ask_t *ask);
/* Prints the plans that came near, what their times are made of, and on which network each would have been chosen. */
int cli_plan_why(const cli_plan_ask_t *ask);

/* Prints the plans for the nodes of a list ("0-9,16-25"), and which node each rank is. */
int cli_plan_nodes(const cli_plan_ask_t *ask, const char *list);

/* "AllReduce on the torus 8x8 (64 ranks)" and the network in a second line. */
void cli_plan_ask_header(const cli_plan_ask_t *ask, FILE *out);

#endif
