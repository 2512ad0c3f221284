/*
 * The network's parameters as users type them: options of subcommands, and keys of profiles, under the same names.
 */
#ifndef TRIVANCE_CLI_SHARED_NETWORK_OPTIONS_H
#define TRIVANCE_CLI_SHARED_NETWORK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <trivance/network.h>
#include <trivance/parameters.h>
#include <trivance/simulate.h>
#include <trivance/torus.h>

#include "base/span.h"
#include "formats/schedule_file.h"
#include "cli/shared/command.h"
#include "cli/shared/link_options.h"

#define CLI_SLOW_MAX 64

typedef struct cli_network {
    trv_simulate_options_t options;
    trv_slow_rank_t slow_rank[CLI_SLOW_MAX]; /* `options` points to it after cli_network_finish */
    cli_links_t links;                       /* `options` points to links.directed, too */
    uint64_t given; /* bit mask of the parameters set by cli_network_set, without those of a profile */
} cli_network_t;

/* The name of a parameter, without dashes: 0 is "network", the name of a profile; the table of trivance/parameters.h
 * follows. NULL after the last. */
#define CLI_NETWORK_MAX 64
const char *cli_network_name(int index);
void cli_network_init(cli_network_t *network);
/* Sets a parameter by its name from text as typed ("800Gb/s"); slow-rank, slow-link and cut add one more ("5:2x",
 * "0:+1:4x", "0:+1:down"; "3:+0", "3:+0:one-way"); `value` may be NULL for no-forwarding. A profile (network) sets only
 * parameters that are not set, so that the order does not matter. TRV_ERR_ARGUMENT with a message for an unknown name
 * or an invalid value. */
int cli_network_set(cli_network_t *network, const char *name, const char *value);
/* Whether a parameter was set by its name, and not by a profile. */
bool cli_network_given(const cli_network_t *network, const char *name);
/* Checks the parameters that depend on the torus and on each other (slow ranks and links exist, no row is cut in
 * two, a packet fits in the buffer …) and sets the pointers in `options`. Must be called after every copy of a
 * cli_network_t. */
int cli_network_finish(cli_network_t *network, const trv_torus_t *torus);

/* The same for the torus and the links of a schedule's file. */
int cli_network_finish_file(cli_network_t *network, const trv_schedule_file_t *file);

/* The torus with the links of the options, which are borrowed. */
trv_network_t cli_network_on(const trv_torus_t *torus, const trv_simulate_options_t *options);

/* The options, with progress reported to the span. */
trv_simulate_options_t cli_network_reporting(const trv_simulate_options_t *options, trv_span_t *span);

/* Parameters that may be given several times (cli_command_t.repeated) */
#define CLI_NETWORK_REPEATED "slow-rank slow-link cut"

/* Parameters as options of subcommands, with the key CLI_NETWORK_OPTION + the index of the name: all, those that a
 * plan depends on, and those of links alone. */
#define CLI_NETWORK_OPTION 1024
const cli_option_t *cli_network_options(void);
const cli_option_t *cli_network_plan_options(void);
/* Why a parameter is not among those on which a plan depends (cli_command_t.refused); NULL for other names. */
const char *cli_network_refused(const char *name);
const cli_option_t *cli_network_link_options(void);

/* Writes a summary in one line: "fifo, delivery head, 800 Gb/s, alpha 1.5 us, …". Rarely used parameters are
 * omitted if they have their default values. `text` holds CLI_NETWORK_TEXT_MAX bytes. Returns `text`. */
#define CLI_NETWORK_TEXT_MAX 4096
char *cli_network_format(const cli_network_t *network, char text[CLI_NETWORK_TEXT_MAX]);

/* Writes the features of the network that plans do not take into account, for example "slow ranks, jitter"; "" if
 * there are none. Returns `text`. */
char *cli_network_unplanned(const cli_network_t *network, char text[CLI_NETWORK_TEXT_MAX]);

/* The time of a hop: along a link and through both sides of a router. The setter keeps the proportions of the three. */
double cli_hop_ns(const trv_simulate_options_t *network);
void cli_set_hop(trv_simulate_options_t *network, double hop_ns);

/* The keys of results that state the network, which are appended to `keys`, and their cells. */
void cli_network_keys(char keys[CLI_KEYS_MAX]);
void cli_network_cells(const trv_simulate_options_t *options, cli_table_t *table);

#endif
