/*
 * Links that are slow or cut, as users type them.
 */
#ifndef TRIVANCE_CLI_SHARED_LINK_OPTIONS_H
#define TRIVANCE_CLI_SHARED_LINK_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include <trivance/network.h>

#define CLI_LINKS_MAX 64

typedef struct cli_link {
    const char *option; /* the option that specified it */
    trv_slow_link_t slow;
    bool both_ways;
} cli_link_t;

typedef struct cli_links {
    int count;
    cli_link_t link[3 * CLI_LINKS_MAX];          /* as typed, followed by those of a file */
    trv_slow_link_t directed[4 * CLI_LINKS_MAX]; /* one for each direction, set by cli_links_finish */
} cli_links_t;

/* Adds a link as text of the parameter slow-link or cut. */
int cli_links_add(cli_links_t *links, const char *parameter, const char *text);

/* Adds the links of a schedule's file, each for one direction only, at most 2 * CLI_LINKS_MAX. */
int cli_links_add_file(cli_links_t *links, const trv_slow_link_t *link, int count);

/* Writes "3:+0 cut, 0:+1 4x", each link prefixed with `before` (for example "link "), or "" if there are none.
 * Returns `text`. */
#define CLI_LINKS_TEXT_MAX 4096
char *cli_links_format(const cli_links_t *links, const char *before, char text[CLI_LINKS_TEXT_MAX]);

/* Fills in `directed` and sets *count to the number of directed links. TRV_ERR_ARGUMENT for a link that the torus
 * does not have or that is given twice; TRV_ERR_UNSUPPORTED if no route joins two of its ranks. */
int cli_links_finish(cli_links_t *links, const trv_torus_t *torus, int *count);

/* Prints a line for each link: "link 3:+0 is cut: its row is a line from 4". Links slowed by the factor `avoided` or
 * more are described as avoided by the plans, as far as the network's routes allow. */
void cli_links_explain(const cli_links_t *links, const trv_network_t *on, trv_routes_t routes, double avoided,
                       FILE *out);

#endif
