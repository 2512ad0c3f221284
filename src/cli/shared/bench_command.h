/*
 * The command line of `trivance bench`, which trivance-mpi reads.
 */
#ifndef TRIVANCE_CLI_SHARED_BENCH_COMMAND_H
#define TRIVANCE_CLI_SHARED_BENCH_COMMAND_H

#include "cli/shared/command.h"

extern const cli_command_t cli_bench_command;

enum { BENCH_TORUS = CLI_NO_LETTER, BENCH_OP, BENCH_IN_PLACE, BENCH_WARMUP, BENCH_CHECK, BENCH_TRANSPORT, BENCH_TURNS };

#endif
