/*
 * trivance-mpi: what the tool hands over to, once per MPI. Its one subcommand is bench.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "mpi/bench.h"

static int complain(int rank, const char *command)
{
    if (rank == 0 && command)
        fprintf(stderr, "trivance-mpi: there is no command '%.40s'; there is bench (trivance-mpi bench --help)\n",
                command);
    else if (rank == 0)
        fprintf(stderr, "trivance-mpi: no command was given; there is bench (trivance-mpi bench --help)\n");
    return CLI_BAD;
}

int main(int argc, char **argv)
{
    int rank = 0, result;
    PMPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *command = argc > 1 ? argv[1] : NULL;
    if (command && strcmp(command, "bench") == 0) {
        result = bench_main(argc - 1, argv + 1);
    } else if (command && strcmp(command, "--version") == 0) {
        if (rank == 0)
            printf("trivance-mpi %s\n", trv_version());
        result = CLI_OK;
    } else {
        result = complain(rank, command);
    }
    PMPI_Finalize();
    return result;
}
