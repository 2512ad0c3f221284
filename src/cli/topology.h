/*
 * The command line of `trivance topology`, which trivance-mpi reads for --dump.
 */
#ifndef TRIVANCE_CLI_TOPOLOGY_H
#define TRIVANCE_CLI_TOPOLOGY_H

#include <stdbool.h>

#include "tool/command.h"

enum { TOPOLOGY_DUMP = CLI_NO_LETTER, TOPOLOGY_TORUS, TOPOLOGY_HOSTS };

typedef struct cli_topology_options {
    bool dump, hosts;
    const char *torus, *output;
} cli_topology_options_t;

/* For cli_read_options. */
int cli_topology_option(void *options, int key);

#endif
