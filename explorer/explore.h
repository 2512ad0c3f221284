/*
 * What the page of `trivance explore` asks beside the tool's own subcommands. Both answer as JSON, for the page alone:
 *
 *     picture    a schedule as it is drawn: its messages with their routes, and who holds what after each step
 *     timeline   a simulation as it is drawn: when a rank is in which step, and when a link is busy
 */
#ifndef TRIVANCE_EXPLORER_EXPLORE_H
#define TRIVANCE_EXPLORER_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/schedule.h>

#include "cli/shared/network_options.h"
#include "json/json.h"
#include "cli/shared/select.h"

int explore_picture(int argc, char **argv);
int explore_timeline(int argc, char **argv);

/* The options of both. */
typedef struct explore_ask {
    const char *command, *schedule;
    cli_selection_t selection;
    trv_collective_t collective;
    uint64_t bytes;
    cli_network_t network;
    int step;   /* whose messages: -1 all, -2 none */
    int stream; /* whose contributions */
    int rank;   /* -1: of all ranks; -2 none */
    bool has_blocks;
} explore_ask_t;

/* Reads the options, makes the schedule and writes the answer. The exit code. */
int explore_answer(int argc, char **argv, int (*write)(const explore_ask_t *ask, const trv_schedule_t *schedule));

#endif
