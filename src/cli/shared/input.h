/*
 * Input shared by the subcommands: tori from the command line, or one schedule from a file, which is verified before it
 * is used.
 */
#ifndef TRIVANCE_CLI_SHARED_INPUT_H
#define TRIVANCE_CLI_SHARED_INPUT_H

#include <trivance/simulate.h>
#include <trivance/torus.h>
#include <trivance/verify.h>

#include "formats/schedule_file.h"

#define CLI_TORI_MAX 256

typedef struct cli_tori {
    int count;
    trv_torus_t torus[CLI_TORI_MAX];
} cli_tori_t;

/* Parses argv[first] … argv[argc - 1], each a torus or a comma-separated list of tori. */
int cli_read_tori(int argc, char **argv, int first, cli_tori_t *tori);

/* Parses the torus of a job of `ranks` ranks. */
int cli_read_torus_of(const char *text, int ranks, trv_torus_t *torus);

/* Parses nodes and ranges of nodes of a torus of `ranks` nodes, "0-9,16". `node` has space for `ranks` nodes; those
 * that are listed twice are found by trv_order_nodes. */
int cli_read_nodes(const char *list, int ranks, int *node, int *nodes);

/* Reads a schedule file; warnings go to stderr as "trivance <command>: warning: …". Unless `unchecked`, the schedule
 * is verified against the properties that the file claims: CLI_WRONG, with the fault as the error message. A file
 * without blocks makes no claim that could be verified. */
int cli_read_schedule(const char *command, const char *path, bool unchecked, trv_schedule_file_t *file);

/* Help texts for --unchecked, and for the rule that a file excludes TORUS and --algorithm. */
#define CLI_UNCHECKED_HELP                                                                                             \
    "accept the file without verifying it; otherwise a schedule that violates its claims is an error with exit "       \
    "status 1"
#define CLI_FILE_ABOUT "a schedule file specifies its own torus and messages"

/* Returns 0, or TRV_ERR_INVALID with "nine.json has messages but no blocks, so <consequence>". */
int cli_require_blocks(const trv_schedule_file_t *file, const char *path, const char *consequence);

/* Returns CLI_WRONG, with the fault as the error message, if a schedule read from `path` does not have the
 * properties that it claims. */
int cli_check_schedule(const char *path, const trv_schedule_t *schedule, const trv_network_t *network);

/* Returns TRV_ERR_UNSUPPORTED, with a message, if the schedule sends over a link that the options cut. */
int cli_check_routes(const trv_schedule_t *schedule, const trv_simulate_options_t *options);

/* Calls trv_verify_on with a progress bar. */
int cli_verify_schedule(const trv_schedule_t *schedule, const trv_network_t *network, trv_verify_method_t method,
                        trv_verdict_t *verdict);

#endif
