/*
 * trivance plan --search: distances of bandwidth-optimal phases on rings, chains of star schedules on tori.
 */
#ifndef TRIVANCE_CLI_PLAN_SEARCH_COMMAND_H
#define TRIVANCE_CLI_PLAN_SEARCH_COMMAND_H

#include <stdbool.h>

/* As typed; NULL where not given. */
typedef struct cli_plan_search {
    const char *command;
    bool patient;       /* --long */
    const char *what;   /* rings: "32" or "2-64"; tori: "8x8" or "4x4,8x8"; "stars": those of the built-in table */
    const char *steps;  /* one step count; of rings */
    const char *format; /* table, json, csv or c */
    const char *output;
} cli_plan_search_t;

/* Searches and prints. 0, or a negative TRV_ERR_* with its sentence. */
int cli_plan_search(const cli_plan_search_t *search);
/* That for tori, plan_search_stars.c. */
int cli_plan_search_stars(const cli_plan_search_t *search);

#endif
