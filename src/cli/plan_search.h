/*
 * trivance plan --search: distances of bandwidth-optimal phases on rings.
 */
#ifndef TRIVANCE_CLI_PLAN_SEARCH_H
#define TRIVANCE_CLI_PLAN_SEARCH_H

/* As typed; NULL where not given. */
typedef struct cli_plan_search {
    const char *rings;  /* "32" or "2-64" */
    const char *steps;  /* one step count */
    const char *format; /* table, json, csv or c */
    const char *output;
} cli_plan_search_t;

/* Searches and prints. 0, or a negative TRV_ERR_* with its sentence. */
int cli_plan_search(const cli_plan_search_t *search);

#endif
