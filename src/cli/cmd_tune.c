/*
 * trivance tune: hands over to the program of the MPI whose launcher started us.
 */
#include "cli/cli.h"
#include "cli/handover.h"

int cli_tune(int argc, char **argv)
{
    return cli_run_under_mpi(argc, argv, cli_tune_help, "mpirun -n 9 trivance tune --torus 3x3 -o rules.json");
}
