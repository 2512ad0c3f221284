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

static int command_error(int rank, const char *command)
{
    static const char commands[] = "expected bench, topology or tune (trivance-mpi bench --help)";
    if (rank == 0 && command)
        fprintf(stderr, "trivance-mpi: there is no command '%.40s'; %s\n", command, commands);
    else if (rank == 0)
        fprintf(stderr, "trivance-mpi: no command was given; %s\n", commands);
    return CLI_BAD;
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : NULL;
    for (int i = 2; i < argc && strcmp(command, "bench") == 0; i++)
        if (strstr(argv[i], CALL_LIBRARY ":")) /* before the library reads the environment */
            call_library_prepare();
    int rank = 0, threads = 0, result;
    PMPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &threads);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (command && strcmp(command, "bench") == 0) {
        result = bench_main(argc - 1, argv + 1);
    } else if (command && strcmp(command, "topology") == 0) {
        result = dump_main(argc - 1, argv + 1);
    } else if (command && strcmp(command, "tune") == 0) {
        result = tune_main(argc - 1, argv + 1);
    } else if (command && strcmp(command, "--version") == 0) {
        if (rank == 0)
            printf("trivance-mpi %s\n", trv_version());
        result = CLI_OK;
    } else {
        result = command_error(rank, command);
    }
    PMPI_Finalize();
    return result;
}
