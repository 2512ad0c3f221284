/*
 * The network's parameters as users type them: `simulate`, `sweep` and `figures` take them under the same names, as
 * options or as keys of a file.
 */
#ifndef TRIVANCE_CLI_SHARED_NETWORK_OPTIONS_H
#define TRIVANCE_CLI_SHARED_NETWORK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <trivance/cost.h>
#include <trivance/network.h>
#include <trivance/simulate.h>
#include <trivance/torus.h>

#include "base/span.h"
#include "formats/schedule_file.h"
#include "cli/shared/command.h"
#include "cli/shared/link_options.h"

#define CLI_SLOW_MAX 64

typedef struct cli_network {
    trv_simulate_options_t options;
    trv_slow_rank_t slow_rank[CLI_SLOW_MAX]; /* what the options point to, once cli_network_finish was called */
    cli_links_t links;                       /* their directed ones, too */
} cli_network_t;

/* The names, without dashes: model, delivery, bandwidth, nic-bandwidth, alpha, link-latency, host-latency, router-in,
 * router-out, packet, buffer, gamma, message-overhead, jitter, seed, slow-rank, slow-link, cut, routes, narrow. Ends with NULL. */
extern const char *const cli_network_names[];
void cli_network_init(cli_network_t *network);
/* The paper's network as `planned` is planned for where no network is described: one queue per link, like its times. */
trv_simulate_options_t cli_usual_network(void);
/* Sets one by its name from text as typed ("800Gb/s"); slow-rank, slow-link and cut add one more ("5:2x",
 * "0:+1:4x", "0:+1:down"; "3:+0", "3:+0:one-way"). TRV_ERR_ARGUMENT with a sentence for an unknown name or a bad value. */
int cli_network_set(cli_network_t *network, const char *name, const char *value);
/* Checks what depends on the torus and on one another (slow ranks and links exist, no row is cut in two, packet fits in
 * buffer …) and sets the pointers in `options`. Call it after every copy of a cli_network_t. */
int cli_network_finish(cli_network_t *network, const trv_torus_t *torus);

/* The same for the torus and the links of a schedule's file. */
int cli_network_finish_file(cli_network_t *network, const trv_schedule_file_t *file);

/* The torus with the links of the options, which are borrowed. */
trv_network_t cli_network_on(const trv_torus_t *torus, const trv_simulate_options_t *options);

/* The options, with progress reported to the span. */
trv_simulate_options_t cli_network_reporting(const trv_simulate_options_t *options, trv_span_t *span);

/* The torus with the rings that cuts have opened as lines: what algorithms serve, or not. */
int cli_network_served(const trv_torus_t *torus, const trv_simulate_options_t *options, trv_torus_t *served);

/* The names as options of subcommands, with the key CLI_NETWORK_OPTION + the index of the name: all, those that a plan
 * depends on, and slow-link, cut and routes alone. */
#define CLI_NETWORK_COUNT 20
/* Those that may be given several times (cli_command_t). */
#define CLI_NETWORK_REPEATED "slow-rank slow-link cut"
#define CLI_NETWORK_OPTION   1024
const cli_option_t *cli_network_options(void);
const cli_option_t *cli_network_plan_options(void);
const cli_option_t *cli_network_link_options(void);

/* One line for people: "dateline, delivery head, 800 Gb/s, alpha 1.5 us, …"; what is rarely asked for is left out where
 * it is as by default. `text` holds CLI_NETWORK_TEXT_MAX bytes. Returns it. */
#define CLI_NETWORK_TEXT_MAX 4096
char *cli_network_format(const cli_network_t *network, char text[CLI_NETWORK_TEXT_MAX]);

/* "slow ranks, jitter": what the network has and plans leave out of account, "" for nothing. Returns `text`. */
char *cli_network_unplanned(const cli_network_t *network, char text[CLI_NETWORK_TEXT_MAX]);

/* "lower bound 5.1us (start-up …; sets of ranks 3us; links 2us): this takes 1.250 times as long": for the simulator's
 * options, and by how much a time is above it. */
int cli_limit_find(const trv_torus_t *torus, const trv_simulate_options_t *network, trv_collective_t collective,
                   uint64_t vector_bytes, trv_limit_t *limit);
void cli_limit_print(const trv_limit_t *limit, const char *what, double time_ns, FILE *out);
#define CLI_LIMIT_HELP "a lower bound on the time of any schedule, and how many times as long this one takes"

/* What a hop takes: along a link and through both sides of a router. Setting it keeps their proportions. */
double cli_hop_ns(const trv_simulate_options_t *network);
void cli_set_hop(trv_simulate_options_t *network, double hop_ns);

const char *cli_model_name(trv_link_model_t model);
const char *cli_delivery_name(trv_delivery_t delivery);

#endif
