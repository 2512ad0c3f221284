/*
 * The list of subcommands in the order of the help text, the most important ones first.
 */
#include "cli/main/subcommand_list.h"

#include "cli/subcommands.h"
#include "cli/shared/bench_command.h"
#include "cli/shared/topology_command.h"
#include "cli/shared/tune_command.h"

const trv_subcommand_t trv_subcommand[] = {
    {&cli_list_command, cli_list},     {&cli_plan_command, cli_plan},       {&cli_search_command, cli_search},
    {&cli_verify_command, cli_verify}, {&cli_cost_command, cli_cost},       {&cli_simulate_command, cli_simulate},
    {&cli_sweep_command, cli_sweep},   {&cli_explore_command, cli_explore}, {&cli_figures_command, cli_figures},
    {&cli_export_command, cli_export}, {&cli_bench_command, cli_bench},     {&cli_run_command, cli_run},
    {&cli_launch_command, cli_launch}, {&cli_testbed_command, cli_testbed}, {&cli_topology_command, cli_topology},
    {&cli_tune_command, cli_tune},     {&cli_info_command, cli_info},
};
const int trv_subcommands = sizeof trv_subcommand / sizeof trv_subcommand[0];
