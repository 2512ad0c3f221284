/*
 * trivance plan: what the three ways to show a schedule share.
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
    cli_time_t time; /* unknown where it cannot be simulated */
    int rank;        /* the one asked for, or -1 */
    bool all_ranks;  /* the messages of all ranks were asked for */
    int stream;      /* the one asked for, or -1 for all */
    bool has_blocks;
    const char *chosen_for; /* the family it was chosen from, "planned", or NULL */
} cli_shown_t;

/* The options of its drawings, of which `network` and `note` must outlive them. */
trv_draw_options_t cli_plan_drawn(const cli_shown_t *plan, const trv_network_t *network, char note[TRV_CAPTION_MAX]);

/* The schedule as text: summary, table of one rank's messages, its program (if a rank was asked for), pictures. */
int cli_plan_text(const cli_shown_t *plan, FILE *out);

/* Whether ranks of the torus can be drawn, before there is a schedule. */
int cli_plan_svg_check(const cli_shown_t *plan, const trv_torus_t *torus);
/* As an SVG picture. */
int cli_plan_svg(const cli_shown_t *plan, FILE *out);

#endif
