/*
 * trivance plan --all-sizes, --why and --nodes: the planner's choice for every size, an explanation of a choice, and
 * plans for a set of nodes.
 */
#ifndef TRIVANCE_CLI_PLAN_QUERY_H
#define TRIVANCE_CLI_PLAN_QUERY_H

#include <trivance/planner.h>

#include "cli/shared/network_options.h"
#include "formats/schedule_file.h"
#include "cli/shared/table.h"

#define CLI_ALSO_MAX 16

/* The schedules of --also, each with the path of its file, which is its name as a candidate. */
typedef struct cli_also {
    int count;
    char name[CLI_ALSO_MAX][TRV_ALGORITHM_NAME_MAX];
    trv_schedule_file_t file[CLI_ALSO_MAX];
} cli_also_t;

/* Reads and verifies the files of a list. CLI_WRONG if a schedule violates its claims. The caller clears `also` in any
 * case. */
int cli_also_read(const char *command, const char *list, cli_also_t *also);
void cli_also_clear(cli_also_t *also);
/* Adds the schedules to a planner. */
int cli_also_add(const cli_also_t *also, trv_planner_t *planner);
/* The index of the schedule with this name, or -1. */
int cli_also_find(const cli_also_t *also, const char *name);

typedef struct cli_plan_query {
    trv_torus_t torus;
    trv_collective_t collective;
    int root;
    uint64_t bytes;        /* size of the vector, for --why and --nodes */
    bool limit;            /* --limit */
    cli_network_t network; /* completed for the torus (cli_network_finish) */
    trv_planner_constraints_t constraints;
    const cli_also_t *also;
    cli_format_t format;
    const char *command, *output; /* output: a path; NULL: stdout */
} cli_plan_query_t;

/* Prints the ranges of sizes from 32 B to 1 GiB, with the plan of each and how many times as long the named algorithms
 * take. */
int cli_plan_sizes(const cli_plan_query_t *query);
/* Prints the plans with the best times, the parts of these times, and the networks on which each would be selected. */
int cli_plan_explain(const cli_plan_query_t *query);

/* Prints the plans for the nodes of a list ("0-9,16-25"; NULL: all), and the mapping of ranks to nodes. */
int cli_plan_nodes(const cli_plan_query_t *query, const char *list);

/* Prints "AllReduce on the torus 8x8 (64 ranks)", a second line with the network, and one with the constraints. */
void cli_plan_query_header(const cli_plan_query_t *query, FILE *out);

#endif
