/*
 * trivance simulate: the types that its parts share. cmd_simulate.c reads the options, run.c simulates, and text.c,
 * ranking.c and as_rows.c print.
 */
#ifndef TRIVANCE_CLI_SIMULATE_SIMULATE_H
#define TRIVANCE_CLI_SIMULATE_SIMULATE_H

#include <trivance/compare.h>
#include <trivance/simulate.h>

#include "cli/shared/excess.h"
#include "cli/shared/input.h"
#include "cli/shared/lower_bound.h"
#include "cli/shared/network_options.h"
#include "cli/shared/select.h"
#include "cli/shared/table.h"

#define CLI_SIMULATE_SIZES_MAX 32
#define CLI_SIMULATE_LINKS     10 /* links that --links shows per result */
#define CLI_RANKING_SIZES_MAX  8

/* The options and arguments. */
typedef struct cli_simulate {
    const char *command, *schedule, *goal, *trace, *plot; /* files, or NULL */
    const char *nodes;                                    /* a list, or NULL */
    bool links, compare, limit, ranking, unchecked;
    cli_format_t format;
    cli_selection_t selection;
    trv_collective_t collective;
    int root;
    uint64_t bytes[CLI_SIMULATE_SIZES_MAX];
    int sizes; /* 0: not given */
    cli_network_t network;
    cli_tori_t tori;
} cli_simulate_t;

/* Details of a result that only --compare and --links need. */
typedef struct cli_detail {
    double cost_ns;               /* time by the cost model; NAN if there is no result */
    int links, links_used;        /* number of links of the torus, and of those that carried packets */
    double utilisation_mean;      /* over all links */
    int busiest;                  /* number of entries in `link` and `load`, the busiest first */
    int link[CLI_SIMULATE_LINKS]; /* rank * 2D + port */
    trv_link_load_t load[CLI_SIMULATE_LINKS];
} cli_detail_t;

/* One simulation. Of a GOAL program the row has the counters of its packets only. */
typedef struct cli_point {
    const cli_choice_t *choice; /* an algorithm, a family or `planned`; or the label of a file */
    uint64_t bytes;
    trv_compare_row_t row;
    trv_schedule_t *schedule; /* with --nodes: on the machine; otherwise NULL */
} cli_point_t;

/* The results of one torus: line l (an algorithm or family) and size s are at index l * sizes + s. */
typedef struct cli_group {
    trv_torus_t torus;
    trv_simulate_options_t options;
    trv_collective_t collective;
    int root, lines, sizes;
    cli_point_t *point;
    cli_detail_t *detail;
    int nodes; /* with --nodes: their number, and the plan for each size; otherwise 0 */
    trv_planner_node_choice_t plan[CLI_SIMULATE_SIZES_MAX];
} cli_group_t;

typedef struct cli_outcome {
    int groups;
    cli_group_t *group;
    trv_compare_t *compare; /* owns the reasons of the rows; NULL for a GOAL program */
    cli_point_t *point;     /* points of all groups */
    cli_detail_t *detail;   /* per point */
    size_t points;
    cli_choice_t choice;      /* represents a schedule or program from a file */
    trv_schedule_t *schedule; /* the schedule from a file, or NULL */
    uint64_t trace_events;    /* number of events written with --trace */
} cli_outcome_t;

/* Replaces each family of the selection by its members, for --nodes. */
int cli_simulate_expand(cli_selection_t *selection);
/* Sets the ring and the line of this number of nodes. */
int cli_simulate_shapes(int nodes, trv_torus_t *ring, trv_torus_t *line);
/* Plans for the group's nodes, and fills in the schedules of its points. */
int cli_simulate_nodes(cli_group_t *group, const int *node, trv_span_t span);

/* Runs all simulations and writes the trace. If some points cannot run, these have the reason; if none can, that is an
 * error. The caller clears the outcome in any case. */
int cli_simulate_run(cli_simulate_t *job, cli_outcome_t *outcome);
void cli_outcome_clear(cli_outcome_t *outcome);

/* Whether an algorithm is correct only for some operations, because its schedules only cover (TRV_COVERS). It is never
 * the fastest beside others, and marked in tables: its name is in parentheses. */
bool cli_group_covers(const cli_group_t *group, int line);

/* Whether a line has the shortest time of a size. */
bool cli_group_is_best(const cli_group_t *group, int line, int size);

/* The shortest time of a size in a group, and Trivance's: that of the fastest line whose algorithms all belong to its
 * family. NAN if there is none. */
double cli_group_best_ns(const cli_group_t *group, int size);
double cli_group_trivance_ns(const cli_group_t *group, int size);
/* T / T_Trivance; NAN if there is no time of Trivance. */
double cli_group_vs_trivance(const cli_group_t *group, int line, int size);

/* The messages per port of the algorithms of a group. */
cli_excess_t cli_group_excess(const cli_group_t *group);

/* Prints the times and ratios of a group for --ranking. */
int cli_simulate_ranking(const cli_group_t *group);

int cli_simulate_text(const cli_simulate_t *job, const cli_outcome_t *outcome);
int cli_simulate_rows(const cli_simulate_t *job, const cli_outcome_t *outcome);

#endif
