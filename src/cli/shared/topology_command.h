/*
 * The command line of `trivance topology`, which trivance-mpi reads for --dump, and trivance-net for --ports.
 */
#ifndef TRIVANCE_CLI_SHARED_TOPOLOGY_COMMAND_H
#define TRIVANCE_CLI_SHARED_TOPOLOGY_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/shared/command.h"
#include "cli/shared/table.h"

extern const cli_command_t cli_topology_command;

enum { TOPOLOGY_DUMP = CLI_NO_LETTER, TOPOLOGY_TORUS, TOPOLOGY_HOSTS, TOPOLOGY_PORTS, TOPOLOGY_RULES, TOPOLOGY_WHY };

typedef struct cli_topology_options {
    bool dump, hosts, ports, why;
    const char *torus, *output, *rules;
    uint64_t bytes; /* of the messages of --ports; 0: the default */
    cli_format_t format;
} cli_topology_options_t;

/* For cli_read_options. */
int cli_topology_option(void *options, int key);

#endif
