/*
 * trivance search: distances of bandwidth-optimal phases on rings, and chains of star schedules on tori.
 */
#ifndef TRIVANCE_CLI_SEARCH_FOUND_H
#define TRIVANCE_CLI_SEARCH_FOUND_H

#include "cli/shared/table.h"

typedef struct cli_search {
    const char *what;   /* rings: "32" or "2-64"; tori: "8x8" or "4x4,8x8" */
    const char *steps;  /* number of steps, for rings; NULL: not given */
    const char *output; /* NULL: stdout */
    cli_format_t format;
} cli_search_t;

/* Search and print. Return 0, or a negative TRV_ERR_* with a message. */
int cli_search_rings(const cli_search_t *search);
int cli_search_stars(const cli_search_t *search);

#endif
