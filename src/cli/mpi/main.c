/*
 * trivance-mpi: the program that the tool executes under an MPI launcher, built once per MPI. Its subcommands are
 * bench, topology and tune.
 */
#include <stdio.h>
#include <string.h>

#include "cli/shared/tool.h"
#include "cli/mpi/bench.h"
#include "cli/mpi/dump.h"
#include "cli/mpi/tune.h"

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    for (int i = 2; i < argc && strcmp(command, "bench") == 0; i++)
        if (strstr(argv[i], CALL_LIBRARY ":")) /* before the library reads the environment */
            call_library_prepare();
    int rank = 0, threads = 0, result;
    PMPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &threads);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(command, "bench") == 0) {
        result = bench_main(argc - 1, argv + 1);
    } else if (strcmp(command, "topology") == 0) {
        result = dump_main(argc - 1, argv + 1);
    } else if (strcmp(command, "tune") == 0) {
        result = tune_main(argc - 1, argv + 1);
    } else {
        if (rank == 0)
            fprintf(stderr, "trivance-mpi: there is no command '%.40s'; expected bench, topology or tune\n", command);
        result = CLI_BAD;
    }
    PMPI_Finalize();
    return result;
}
