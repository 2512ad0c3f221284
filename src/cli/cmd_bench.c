/*
 * trivance bench: hands over to the benchmark program of the MPI whose launcher started us.
 */
#include "cli/cli.h"
#include "cli/handover.h"

int cli_bench(int argc, char **argv)
{
    return cli_run_under_mpi(argc, argv, cli_bench_help, "mpirun -n 9 trivance bench --torus 3x3");
}
