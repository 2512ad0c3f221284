/*
 * trivance cost --paper: the paper's tables 1 and 2.
 */
#ifndef TRIVANCE_CLI_SHARED_COST_PAPER_H
#define TRIVANCE_CLI_SHARED_COST_PAPER_H

#include "cli/shared/table.h"

/* Prints the tables to `out`. Returns 0, or an error code; trv_last_error() then has the message. */
int cli_cost_paper(FILE *out, cli_format_t format);

#endif
