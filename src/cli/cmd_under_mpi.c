/*
 * trivance bench and trivance tune: executed by the program of the MPI whose launcher started this process.
 */
#include "cli/subcommands.h"
#include "cli/shared/bench_command.h"
#include "cli/host/handover.h"
#include "cli/shared/tune_command.h"

int cli_bench(int argc, char **argv)
{
    return cli_run_under_mpi(argc, argv, &cli_bench_command, "mpirun -n 9 trivance bench --torus 3x3");
}

int cli_tune(int argc, char **argv)
{
    return cli_run_under_mpi(argc, argv, &cli_tune_command, "mpirun -n 9 trivance tune --torus 3x3 -o rules.json");
}
