/*
 * The subcommands of `trivance`, each in cmd_<name>.c, here or in a separate folder. argv[0] is the subcommand's name;
 * the result is the exit code (cli/shared/tool.h).
 */
#ifndef TRIVANCE_CLI_SUBCOMMANDS_H
#define TRIVANCE_CLI_SUBCOMMANDS_H

#include "cli/shared/command.h"

int cli_list(int argc, char **argv);
int cli_plan(int argc, char **argv);
int cli_search(int argc, char **argv);
int cli_verify(int argc, char **argv);
int cli_cost(int argc, char **argv);
int cli_simulate(int argc, char **argv);
int cli_sweep(int argc, char **argv);
int cli_figures(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_explore(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_topology(int argc, char **argv);
int cli_tune(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_launch(int argc, char **argv);
int cli_testbed(int argc, char **argv);

/* The command lines of the subcommands. Those of bench, topology and tune are in cli/shared, because other programs
 * read them, too. */
extern const cli_command_t cli_list_command, cli_plan_command, cli_verify_command, cli_cost_command,
    cli_simulate_command, cli_sweep_command, cli_figures_command, cli_export_command, cli_explore_command,
    cli_info_command, cli_run_command, cli_launch_command, cli_testbed_command, cli_search_command;

#endif
