/*
 * trivance cost --paper: the paper's tables 1 and 2.
 */
#ifndef TRIVANCE_CLI_COST_PAPER_H
#define TRIVANCE_CLI_COST_PAPER_H

#include "cli/table.h"

/* Prints the tables; returns the exit code. */
int cli_cost_paper(const char *command, cli_format_t format);

#endif
