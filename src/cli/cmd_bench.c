/*
 * trivance bench: hands over to the benchmark program of the MPI whose launcher started us.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/handover.h"

static bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int cli_bench(int argc, char **argv)
{
    const char *mpi = cli_launcher();
    if (mpi)
        return cli_hand_over(mpi, argv);
    if (wants_help(argc, argv)) {
        fputs(cli_bench_help, stdout);
        return CLI_OK;
    }
    return cli_bad("bench", "no MPI launcher has started this process; start it with one, for example "
                   "`mpirun -n 9 trivance bench --torus 3x3`");
}
