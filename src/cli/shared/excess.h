/*
 * Marks algorithms that have more messages per port and step than the network allows: they are listed and can be named,
 * but the planner does not consider them.
 */
#ifndef TRIVANCE_CLI_SHARED_EXCESS_H
#define TRIVANCE_CLI_SHARED_EXCESS_H

#include <stdbool.h>
#include <stdio.h>

#include <trivance/network.h>

#define CLI_EXCESS_MARK "^"
#define CLI_MARKED_MAX  (TRV_FULL_NAME_MAX + 1)

/* The algorithms of a table. The first three members are set by its caller, the others are 0. */
typedef struct cli_excess {
    trv_network_t network;
    trv_collective_t collective;
    int root;
    int algorithms; /* whose messages are counted */
    struct {
        char name[TRV_FULL_NAME_MAX];
        int messages; /* per port */
        bool marked;
    } algorithm[128]; /* those of longer tables are counted, but not explained */
} cli_excess_t;

/* Sets the messages per port of an algorithm to those of a schedule, which may be NULL, and returns them. */
int cli_excess_add(cli_excess_t *excess, const char *algorithm, const trv_schedule_t *schedule);

/* The messages per port of an algorithm: as set, or of its schedule on the network; 0 if there is none. */
int cli_messages_per_port(cli_excess_t *excess, const char *algorithm);

/* Whether the network allows fewer. */
bool cli_excess_of(cli_excess_t *excess, const char *algorithm);

/* The label of an algorithm, with the mark if it has too many messages. Returns `marked`. */
const char *cli_excess_mark(cli_excess_t *excess, const char *label, const char *algorithm,
                            char marked[CLI_MARKED_MAX]);

/* Prints the sentence that explains the marks, if there are any, with the number of each marked algorithm. */
void cli_excess_explain(const cli_excess_t *excess, FILE *out);

#endif
