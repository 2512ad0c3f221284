/*
 * The commands that the page of `trivance explore` uses besides the tool's own subcommands. They answer in JSON, for
 * the page only:
 *
 *     layout     the drawing of a network: positions of ranks, links and marks (draw/layout.h)
 *     picture    the drawing of a schedule on it: its messages, the load of links, and the contributions that each rank
 *                holds after each step
 *     timeline   data to draw a simulation: when a rank is in which step, and when a link is busy
 */
#ifndef TRIVANCE_EXPLORER_EXPLORE_H
#define TRIVANCE_EXPLORER_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/schedule.h>

#include "cli/shared/network_options.h"
#include "cli/shared/select.h"
#include "draw/layout.h"
#include "json/json.h"

int explore_layout(int argc, char **argv);
int explore_picture(int argc, char **argv);
int explore_timeline(int argc, char **argv);

/* The options of the commands. */
typedef struct explore_ask {
    const char *command, *schedule, *node_list;
    cli_selection_t selection;
    trv_collective_t collective;
    int root; /* with --nodes, an index in the list of nodes */
    uint64_t bytes;
    cli_network_t network;
    const trv_torus_t *torus; /* of the network */
    int form;                 /* of the drawing (trv_form_t); -1: the default of the torus */
    int step;                 /* the step whose messages are written; -1: all, -2: none */
    int stream;               /* the stream whose contributions are written */
    int rank;                 /* the rank whose contributions are written; -1: all, -2: none */
    bool has_blocks;
    int nodes, *node;       /* a set of nodes in the order of its ranks; NULL: all nodes */
    trv_schedule_t *on_set; /* the schedule of the set's own torus; NULL: all nodes */
} explore_ask_t;

/* The picture of the network alone, which the caller clears, and its layout. TRV_ERR_UNSUPPORTED, without a picture, if
 * it is too large, or has too many dimensions. */
int explore_lay_out(const explore_ask_t *ask, trv_picture_t *picture, trv_layout_t *layout);

/* Reads the options, creates the schedule, except for `layout`, and writes the answer. Returns the exit code. */
int explore_answer(int argc, char **argv, int (*write)(const explore_ask_t *ask, const trv_schedule_t *schedule));

#endif
