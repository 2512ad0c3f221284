/*
 * The subcommands of `trivance`, each in cmd_<name>.c, here or in a folder of its own. argv[0] is the subcommand's name;
 * the result is the exit code (tool/tool.h).
 */
#ifndef TRIVANCE_CLI_SUBCOMMANDS_H
#define TRIVANCE_CLI_SUBCOMMANDS_H

int cli_list(int argc, char **argv);
int cli_plan(int argc, char **argv);
int cli_verify(int argc, char **argv);
int cli_cost(int argc, char **argv);
int cli_simulate(int argc, char **argv);
int cli_sweep(int argc, char **argv);
int cli_figures(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_topology(int argc, char **argv);
int cli_tune(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_testbed(int argc, char **argv);

/* What --help prints of those that trivance-mpi.<mpi> carries out. */
extern const char cli_bench_help[], cli_topology_help[], cli_tune_help[];

#endif
