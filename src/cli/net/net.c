/*
 * trivance-net: the program that the tool executes under `trivance launch` and torchrun. Its subcommand is topology.
 */
#include <stdio.h>
#include <string.h>

#include "cli/ports/probe.h"

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "topology") == 0)
        return trv_probe_main(argc - 1, argv + 1, NULL);
    fprintf(stderr,
            "trivance-net: expected the subcommand topology; `trivance topology --ports` starts this program\n");
    return 2;
}
