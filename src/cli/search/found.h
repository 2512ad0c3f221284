/*
 * trivance search: distances of bandwidth-optimal phases on rings, and chains of star schedules on tori.
 */
#ifndef TRIVANCE_CLI_SEARCH_FOUND_H
#define TRIVANCE_CLI_SEARCH_FOUND_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/shared/table.h"

/* The arguments as typed; NULL: not given. */
typedef struct cli_search {
    const char *command;
    const char *what;   /* rings: "32" or "2-64"; tori: "8x8" or "4x4,8x8"; "stars": the tori of the built-in table */
    const char *steps;  /* number of steps, for rings */
    const char *format; /* table, json, csv or c */
    const char *output;
} cli_search_t;

/* Search and print. Return 0, or a negative TRV_ERR_* with a message. */
int cli_search_rings(const cli_search_t *search);
int cli_search_stars(const cli_search_t *search);

/* The functions that print the results as a table, or as the C source of the built-in one. */
typedef struct cli_search_form {
    int (*print_table)(const void *found, cli_format_t format, FILE *out);
    void (*print_source)(const void *found, FILE *out);
    cli_format_t format;
    bool source;
} cli_search_form_t;

/* Read --format, and write to --output. Return 0, or a negative TRV_ERR_* with a message. */
int cli_search_read_form(const cli_search_t *search, cli_search_form_t *form);
int cli_search_write(const cli_search_t *search, const cli_search_form_t *form, const void *found);

#endif
