/*
 * trivance plan --search: distances of bandwidth-optimal phases on rings, chains of star schedules on tori.
 */
#ifndef TRIVANCE_CLI_PLAN_SEARCH_COMMAND_H
#define TRIVANCE_CLI_PLAN_SEARCH_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/table.h"

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
/* That for tori, search_stars.c. */
int cli_plan_search_stars(const cli_plan_search_t *search);

/* How what was found is printed: as a table, or as the C source of the built-in one. */
typedef struct cli_plan_form {
    int (*print_table)(const void *found, cli_format_t format, FILE *out);
    void (*print_source)(const void *found, FILE *out);
    cli_format_t format;
    bool source;
} cli_plan_form_t;

/* Reads --format, and writes to --output. 0, or a negative TRV_ERR_* with its sentence. */
int cli_plan_search_form(const cli_plan_search_t *search, cli_plan_form_t *form);
int cli_plan_search_write(const cli_plan_search_t *search, const cli_plan_form_t *form, const void *found);

#endif
