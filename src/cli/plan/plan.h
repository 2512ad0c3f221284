/*
 * trivance plan: declarations shared by the three forms of output.
 */
#ifndef TRIVANCE_CLI_PLAN_PLAN_H
#define TRIVANCE_CLI_PLAN_PLAN_H

#include <stdio.h>

#include <trivance/cost.h>
#include <trivance/planner.h>
#include <trivance/schedule.h>

#include "cli/shared/choose.h"
#include "formats/front/draw.h"

typedef struct cli_shown {
    const char *command;
    trv_schedule_t *schedule;
    trv_cost_t cost;
    const trv_simulate_options_t *network;
    uint64_t vector_bytes;
    cli_time_t time; /* unknown if it cannot be simulated */
    int rank;        /* the requested rank, or -1 */
    bool all_ranks;  /* the messages of all ranks were requested */
    int stream;      /* the requested stream, or -1 for all */
    bool has_blocks;
    const char *chosen_for; /* the family from which it was selected, "planned", or NULL */
    const char *own;        /* the file of --also if its schedule is the plan, or NULL */
} cli_shown_t;

/* Returns the options of the schedule's drawings. `network` and `note` must outlive the options. */
trv_draw_options_t cli_plan_drawn(const cli_shown_t *shown, const trv_network_t *network, char note[TRV_CAPTION_MAX]);

/* Prints the schedule as text: summary, table of one rank's messages, its program (if a rank was requested),
 * pictures. */
int cli_plan_text(const cli_shown_t *shown, FILE *out);

/* Checks whether ranks of the torus can be drawn, before the schedule is created. */
int cli_plan_svg_check(const cli_shown_t *shown, const trv_torus_t *torus);
/* Writes the schedule as an SVG picture. */
int cli_plan_svg(const cli_shown_t *shown, FILE *out);

#endif
