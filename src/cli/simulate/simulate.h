/*
 * trivance simulate: what its parts share. cmd_simulate.c reads the options, run.c simulates, and text.c, ranking.c and
 * as_rows.c print.
 */
#ifndef TRIVANCE_CLI_SIMULATE_SIMULATE_H
#define TRIVANCE_CLI_SIMULATE_SIMULATE_H

#include <trivance/simulate.h>

#include "cli/shared/grid.h"
#include "cli/shared/input.h"
#include "cli/shared/network_options.h"
#include "cli/shared/select.h"
#include "cli/shared/table.h"

#define CLI_SIMULATE_SIZES_MAX 32
#define CLI_SIMULATE_LINKS     10 /* links that --links shows per result */
#define CLI_RANKING_SIZES_MAX  8

/* What the user asked for. */
typedef struct cli_simulate {
    const char *command, *schedule, *goal, *trace; /* files, or NULL */
    bool links, compare, limit, ranking, unchecked;
    cli_format_t format;
    cli_selection_t selection;
    trv_collective_t collective;
    uint64_t bytes[CLI_SIMULATE_SIZES_MAX];
    int sizes; /* 0: not given */
    cli_network_t network;
    cli_tori_t tori;
} cli_simulate_t;

/* What only --compare and --links ask about a result. */
typedef struct cli_detail {
    double cost_ns;               /* by the cost model; NAN where there is no result */
    int links, links_used;        /* of the torus, and those that carried packets */
    double utilisation_mean;      /* of all links */
    int busiest;                  /* entries of `link` and `load`, the busiest first */
    int link[CLI_SIMULATE_LINKS]; /* rank * 2D + port */
    trv_link_load_t load[CLI_SIMULATE_LINKS];
} cli_detail_t;

/* The results of one torus: line l (an algorithm or family) and size s are at index l * sizes + s. */
typedef struct cli_group {
    trv_torus_t torus;
    trv_collective_t collective;
    int lines, sizes;
    cli_point_t *point;
    cli_detail_t *detail;
} cli_group_t;

typedef struct cli_outcome {
    int groups;
    cli_group_t *group;
    cli_point_t *point;   /* of all groups */
    cli_detail_t *detail; /* of each point */
    size_t points;
    cli_choice_t choice;      /* stands for what came from a file */
    trv_schedule_t *schedule; /* that of the file, or NULL */
    uint64_t trace_events;    /* written, if a trace was asked for */
} cli_outcome_t;

/* Simulates everything that was asked for, and writes the trace. An error too where nothing of it can run; where some
 * can, the points of the others have their reason. Clear the outcome in any case. */
int cli_simulate_run(cli_simulate_t *job, cli_outcome_t *outcome);
void cli_outcome_clear(cli_outcome_t *outcome);

/* The shortest time of a size in a group, and Trivance's: that of the fastest line whose algorithms are all of its
 * family. NAN where there is none. */
double cli_group_best_ns(const cli_group_t *group, int size);
double cli_group_trivance_ns(const cli_group_t *group, int size);
/* (T - T_Trivance) / T * 100: what the paper's figures show; NAN where there is no Trivance. */
double cli_group_relative(const cli_group_t *group, int line, int size);

/* The times and ratios of a group as --ranking shows them. */
int cli_simulate_ranking(const cli_group_t *group);

int cli_simulate_text(const cli_simulate_t *job, const cli_outcome_t *outcome);
int cli_simulate_rows(const cli_simulate_t *job, const cli_outcome_t *outcome);

#endif
