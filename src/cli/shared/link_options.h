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
    const char *option; /* that it was given by */
    trv_slow_link_t slow;
    bool both_ways;
} cli_link_t;

typedef struct cli_links {
    int count;
    cli_link_t link[3 * CLI_LINKS_MAX];          /* as typed, and those of a file */
    trv_slow_link_t directed[4 * CLI_LINKS_MAX]; /* one for each direction, once cli_links_finish was called */
} cli_links_t;

/* Adds one link: slow ("0:+1:4x", "0:+1:4x:one-way") or cut ("0:+1", "0:+1:one-way"). */
int cli_links_add_slow(cli_links_t *links, const char *text);
int cli_links_add_cut(cli_links_t *links, const char *text);

/* Adds those of a schedule's file, each in its own direction, at most 2 * CLI_LINKS_MAX. */
int cli_links_add_file(cli_links_t *links, const trv_slow_link_t *link, int count);

/* "3:+0 cut, 0:+1 4x", with `before` before each ("link "), "" where there are none. Returns `text`. */
#define CLI_LINKS_TEXT_MAX 4096
char *cli_links_format(const cli_links_t *links, const char *before, char text[CLI_LINKS_TEXT_MAX]);

/* Makes the directed links, and sets *count to their number. TRV_ERR_ARGUMENT for links that the torus does not have,
 * those that are given twice, and a row that is cut in two. */
int cli_links_finish(cli_links_t *links, const trv_torus_t *torus, int *count);

/* Prints a line for each: "link 3:+0 is cut: its row is a line from 4". What is as slow as `avoided` or slower is left
 * alone, as far as the network's routes allow. */
void cli_links_explain(const cli_links_t *links, const trv_torus_t *torus, trv_routes_t routes, double avoided,
                       FILE *out);

/* Splits text at its colons into parts, in a copy; returns how many, 0 for more than `capacity` or a text too long. */
int cli_split(const char *text, char copy[64], int capacity, const char **part);

#endif
