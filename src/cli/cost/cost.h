/*
 * trivance cost: its options and results, and the functions that print them.
 */
#ifndef TRIVANCE_CLI_COST_COST_H
#define TRIVANCE_CLI_COST_COST_H

#include <trivance/algorithms.h>
#include <trivance/cost.h>

#include "cli/shared/input.h"
#include "cli/shared/lower_bound.h"
#include "cli/shared/network_options.h"
#include "cli/shared/progress.h"
#include "cli/shared/select.h"
#include "cli/shared/table.h"

#define CLI_COST_SIZES_MAX 32

typedef struct cli_cost_options {
    const char *command, *path;
    bool paper, with_bytes, with_hop, limit, unchecked;
    cli_selection_t selection;
    trv_collective_t collective;
    uint64_t bytes[CLI_COST_SIZES_MAX];
    int sizes;
    trv_hockney_t network;
    cli_network_t links; /* only its links are used */
    cli_format_t format;
    cli_tori_t tori;
    trv_span_t span; /* the part of the progress bar for the current work */
} cli_cost_options_t;

typedef struct cli_cost_entry { /* one schedule of a torus */
    trv_schedule_t *schedule;
    trv_cost_t cost;
    trv_paper_cost_t paper;
    double time_ns[CLI_COST_SIZES_MAX];
} cli_cost_entry_t;

typedef struct cli_cost_column { /* one item of the user's list */
    const char *label;
    const cli_choice_t *choice;    /* NULL: a schedule from a file */
    int entry[CLI_COST_SIZES_MAX]; /* per size: a family's fastest member, or the plan for `planned` */
} cli_cost_column_t;

typedef struct cli_cost_result {
    cli_cost_entry_t entry[3 * CLI_CHOICES_MAX];
    cli_cost_column_t column[CLI_CHOICES_MAX];
    int entries, columns;
} cli_cost_result_t;

/* Prints two tables, and the lower bounds with --limit. */
void cli_cost_print(const cli_cost_options_t *options, const trv_torus_t *torus, const cli_cost_result_t *result);

/* JSON and CSV: one row per torus, algorithm and size. */
void cli_cost_begin_rows(const cli_cost_options_t *options, cli_table_t *table);
void cli_cost_add_rows(const cli_cost_options_t *options, const cli_cost_result_t *result, cli_table_t *table);

#endif
