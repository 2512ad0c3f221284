/*
 * trivance testbed: real MPI jobs over an emulated torus on this machine. Dispatches to the subcommands; up, down,
 * status and set are in this file, the others have their own files.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/common.h>

#include "base/number.h"
#include "cli/subcommands.h"
#include "cli/shared/tool.h"
#include "base/text/nearest.h"
#include "cli/host/handover.h"
#include "base/text/parse.h"
#include "cli/shared/table.h"
#include "testbed/command/commands.h"
#include "base/error.h"

/* ---- The commands ------------------------------------------------------------------------------------------------ */

enum {
    OPTION_BANDWIDTH = CLI_NO_LETTER,
    OPTION_LATENCY,
    OPTION_PORTS,
    OPTION_NO_FORWARDING,
    OPTION_NO_MANAGEMENT,
    OPTION_MANAGEMENT,
    OPTION_DOWN,
    OPTION_UP,
    OPTION_BOTH_WAYS
};

static const cli_option_t up_option[] =
    {{"bandwidth", OPTION_BANDWIDTH, "RATE", "bandwidth of a link in each direction (default 50Mb/s)", NULL},
     {"hop-latency", OPTION_LATENCY, "TIME", "latency of a link (default 2ms)", NULL},
     {"ports", OPTION_PORTS, NULL, "also give each node a network interface for each of its links, as fast as the link",
      NULL},
     {"no-forwarding", OPTION_NO_FORWARDING, NULL,
      "nodes wired port to port, which do not forward: an interface and a subnet for each cable, no routes to others, "
      "and a slower management network",
      NULL},
     {"management-bandwidth", OPTION_MANAGEMENT, "RATE",
      "of the management network, with --no-forwarding (default a twentieth of a link's)", NULL},
     {"no-management", OPTION_NO_MANAGEMENT, NULL, "without that network: only neighbours reach each other", NULL},
     CLI_OPTIONS_END};
static const cli_option_t set_option[] =
    {{"bandwidth", OPTION_BANDWIDTH, "RATE", "its new bandwidth", NULL},
     {"latency", OPTION_LATENCY, "TIME", "its new latency", NULL},
     {"down", OPTION_DOWN, NULL,
      "cut it: its packets are lost until a job starts, which routes around it; without forwarding, pull the cable: "
      "the interfaces at both ends lose their carrier",
      NULL},
     {"up", OPTION_UP, NULL, "restore it", NULL},
     {"both-ways", OPTION_BOTH_WAYS, NULL, "also the link in the opposite direction", NULL},
     CLI_OPTIONS_END};
static const cli_option_t no_option[] = {CLI_OPTIONS_END};
const cli_option_t cli_testbed_format_option[] = {{"format", 'f', "F", "table (default), json or csv",
                                                   "table json csv"},
                                                  CLI_OPTIONS_END};

static const cli_command_t up_command = {
    .name = "testbed up",
    .summary = "creates the nodes and starts the emulator",
    .usage = "TORUS [--bandwidth=RATE] [--hop-latency=TIME] [--ports]\n"
             "TORUS --no-forwarding [--management-bandwidth=RATE | --no-management] [OPTIONS]",
    .about =
        "Creates a node for every rank of the torus, each in a network namespace of its own, and starts the emulator "
        "of the network. Needs root.\n\n"
        "Without forwarding, the nodes are hosts whose ports are joined by cables: up0 (port +0) of a node to down0 "
        "(port -0) of the next one. Only programs of libtrivance_net run there (testbed run --mpi=none), since an MPI "
        "library sends from every node to every other one.",
    .option = up_option,
    .examples = "trivance testbed up 3x3\n"
                "trivance testbed up 27 --bandwidth=20Mb/s --hop-latency=5ms\n"
                "trivance testbed up 3x3 --ports\n"
                "trivance testbed up 5 --no-forwarding\n",
};
static const cli_command_t down_command = {
    .name = "testbed down",
    .summary = "removes the testbed in any state, and ends everything on it",
    .usage = "",
    .about = "Removes the testbed in any state, and ends everything on it.",
    .option = no_option,
    .alone = "the testbed has no name, for example `trivance testbed down`",
    .examples = "trivance testbed down\n",
};
static const cli_command_t status_command = {
    .name = "testbed status",
    .summary = "the links: bytes, utilisation, queues, and how late the emulator is",
    .usage = "[--format=F]",
    .about =
        "The links: bandwidth, latency, packets, bytes, utilisation, the longest queue, lost packets; and how late "
        "the emulator is.",
    .option = cli_testbed_format_option,
    .alone = "testbed status takes only options, for example --format=json",
    .examples = "trivance testbed status --format=csv\n",
};
static const cli_command_t set_command = {
    .name = "testbed set",
    .summary = "slows, delays or cuts a link or all links of a node, even while a job runs",
    .usage = "link NODE:PORT CHANGE…\n"
             "node NODE CHANGE…",
    .about =
        "Changes a link, which is named by the node that it leaves and the port (0:+1: upwards in dimension 1), or "
        "all links from and to a node, even while a job runs.",
    .option = set_option,
    .examples = "trivance testbed set link 0:+0 --bandwidth=5Mb/s\n"
                "trivance testbed set node 3 --down\n",
};

static const cli_command_t *const part[] = {&up_command,
                                            &cli_testbed_run_command,
                                            &cli_testbed_check_command,
                                            &status_command,
                                            &set_command,
                                            &cli_testbed_bench_command,
                                            &down_command,
                                            NULL};

const cli_command_t cli_testbed_command = {
    .name = "testbed",
    .summary = "real jobs over a torus that is emulated on this machine",
    .usage = "up TORUS [--bandwidth=RATE] [--hop-latency=TIME] [--ports | --no-forwarding]\n"
             "run [--mpi=M] [--drop-in] [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
             "check | status | down\n"
             "set link NODE:PORT|node NODE CHANGE…\n"
             "bench [--torus=LIST] [--output=DIR] [OPTIONS] [-- PROGRAM [ARGUMENTS]]",
    .about = "Real jobs over a torus that is emulated on this machine: every rank in a network namespace of its own, "
             "all messages packet by packet over links with a bandwidth, a latency and a queue. Needs root.",
    .part = part,
    .option = no_option,
    .notes = "`trivance testbed COMMAND --help` lists the options of a command. Exit status: 0 success (run: that of "
             "the program), 1 check: not faithful, 2 bad input or a machine that cannot emulate.",
    .examples = "trivance testbed up 3x3 && trivance testbed check\n"
                "trivance testbed run -- ./program\n"
                "TRIVANCE_DEBUG=info trivance testbed run --drop-in -- ./program\n"
                "trivance testbed set link 0:+0 --bandwidth=5Mb/s\n"
                "trivance testbed down\n",
    .passes_on = true,
};

int cli_testbed_program(const char *command, const char *file, char *path, size_t size)
{
    static const char *const place[] = {"", "../libexec/trivance/", "../testbed/programs/", NULL};
    if (cli_find_beside(place, file, R_OK, path, size))
        return CLI_OK;
    return cli_bad(command, "%s is missing: expected it beside the trivance executable or in ../libexec/trivance",
                   file);
}

static int check_bandwidth(const char *command, const char *option, double bandwidth_bps)
{
    return bandwidth_bps >= 1e3 && bandwidth_bps <= 1e12
               ? CLI_OK
               : cli_bad(command, "%s: expected a bandwidth from 1Kb/s to 1Tb/s, for example 50Mb/s", option);
}

int cli_testbed_range(const char *command, double bandwidth_bps, double latency_ns)
{
    if (latency_ns > 1e12)
        return cli_bad(command, "--hop-latency: expected a latency of at most 1000s, for example 2ms");
    return check_bandwidth(command, "--bandwidth", bandwidth_bps);
}

/* ---- up and down ------------------------------------------------------------------------------------------------- */

/* A management network is ten to a hundred times slower than the cables, for example 10 Gb/s beside 200 Gb/s. */
#define MANAGEMENT_FRACTION (1.0 / 20)

typedef struct up_options {
    tb_network_t *network;
    bool no_management;
} up_options_t;

static int take_up(void *context, int key)
{
    up_options_t *options = context;
    tb_network_t *network = options->network;
    switch (key) {
    case OPTION_PORTS: network->ports = true; return TRV_OK;
    case OPTION_NO_FORWARDING: network->no_forwarding = true; return TRV_OK;
    case OPTION_NO_MANAGEMENT: options->no_management = true; return TRV_OK;
    case OPTION_MANAGEMENT: return trv_parse_rate_bps(optarg, &network->management_bps);
    case OPTION_BANDWIDTH: return trv_parse_rate_bps(optarg, &network->bandwidth_bps);
    default: return trv_parse_latency_ns(optarg, &network->latency_ns);
    }
}

/* Checks which options are combined, and chooses the bandwidth of the management network. CLI_BAD after a message. */
static int complete_up(const char *command, const up_options_t *options)
{
    tb_network_t *network = options->network;
    if (network->ports && network->no_forwarding)
        return cli_bad(command, "--ports cannot be combined with --no-forwarding, which gives each node an interface "
                                "for each of its links, too; omit --ports");
    if (!network->no_forwarding && (options->no_management || network->management_bps > 0))
        return cli_bad(command, "--no-management and --management-bandwidth need --no-forwarding, for example "
                                "`trivance testbed up 5 --no-forwarding --no-management`");
    if (options->no_management && network->management_bps > 0)
        return cli_bad(command, "--no-management and --management-bandwidth cannot be combined: the first omits the "
                                "network that the second describes");
    if (network->no_forwarding && !options->no_management && network->management_bps <= 0)
        network->management_bps = network->bandwidth_bps * MANAGEMENT_FRACTION;
    else if (network->management_bps > 0)
        return check_bandwidth(command, "--management-bandwidth", network->management_bps);
    return CLI_OK;
}

/* Returns -1 to continue, else the exit code. */
static int read_up(int argc, char **argv, tb_network_t *network)
{
    up_options_t options = {.network = network};
    int code = cli_read_options(&up_command, argc, argv, take_up, &options);
    if (code >= 0)
        return code;
    if (argc - optind != 1)
        return cli_bad(argv[0], "expected one torus, for example `trivance testbed up 3x3`");
    if (trv_torus_parse(argv[optind], &network->torus) < 0)
        return cli_bad_last(argv[0]);
    if (cli_testbed_range(argv[0], network->bandwidth_bps, network->latency_ns) != CLI_OK ||
        complete_up(argv[0], &options) != CLI_OK)
        return CLI_BAD;
    return -1;
}

/* Prints what makes the testbed special. */
static void print_kind(const tb_network_t *network)
{
    if (network->ports)
        printf(", with an interface for each");
    if (network->no_forwarding && network->management_bps > 0)
        trv_fprintf(stdout, ", without forwarding, with a management network of %g Mb/s",
                    network->management_bps / 1e6);
    else if (network->no_forwarding)
        printf(", without forwarding and without a management network");
}

static int up(int argc, char **argv)
{
    tb_network_t network = {.bandwidth_bps = 50e6, .latency_ns = 2e6};
    char emulator[4608], torus[TRV_TORUS_TEXT_MAX];
    int code = read_up(argc, argv, &network);
    if (code >= 0)
        return code;
    if (cli_testbed_program(argv[0], "trivance-torusnet", emulator, sizeof emulator) != CLI_OK)
        return CLI_BAD;
    if (trv_testbed_up(&network, emulator) < 0)
        return cli_bad_last(argv[0]);
    trv_fprintf(stdout, "A torus %s of %d nodes is up: links of %g Mb/s and %g ms",
                trv_torus_format(&network.torus, torus, sizeof torus), network.torus.ranks, network.bandwidth_bps / 1e6,
                network.latency_ns / 1e6);
    print_kind(&network);
    printf(". `trivance testbed run %s-- PROGRAM` starts a job.\n", network.no_forwarding ? "--mpi=none " : "");
    return CLI_OK;
}

static int down(int argc, char **argv)
{
    int nodes, code = cli_read_options(&down_command, argc, argv, cli_skip_option, NULL);
    if (code >= 0)
        return code;
    if (trv_testbed_down(&nodes) < 0)
        return cli_bad_last(argv[0]);
    puts(nodes ? "The testbed is removed." : "There was no testbed.");
    return CLI_OK;
}

/* ---- status ------------------------------------------------------------------------------------------------------ */

static void print_summary(const tb_status_t *status)
{
    char torus[TRV_TORUS_TEXT_MAX];
    trv_fprintf(stdout, "torus %s, links of %g Mb/s and %g ms",
                trv_torus_format(&status->network.torus, torus, sizeof torus), status->network.bandwidth_bps / 1e6,
                status->network.latency_ns / 1e6);
    print_kind(&status->network);
    printf("; emulator %d %s, %s\n", status->process,
           status->core < 0 ? "without a core of its own" : "with a core of its own",
           status->realtime ? "in real time" : "without real-time priority, which this machine does not allow");
    trv_fprintf(stdout,
                "%.1f s: %llu packets delivered, %llu lost on cut links; late by %.0f us at the median, %.0f us "
                "at the 99th percentile, %.0f us at most\n",
                status->seconds, (unsigned long long)status->packets, (unsigned long long)status->dropped,
                status->lateness_p50_ns / 1e3, status->lateness_p99_ns / 1e3, status->lateness_max_ns / 1e3);
    if (status->network.management_bps > 0)
        printf("%llu bytes over the management network\n", (unsigned long long)status->management_bytes);
    putchar('\n');
}

#define LINKS_SHOWN 40 /* the busiest of possibly hundreds; those that were changed or lost packets are always shown */

typedef struct link {
    int node, port, up;
    double bandwidth_bps, latency_ns, utilisation;
    unsigned long long packets, bytes, queue, dropped;
    bool special; /* changed, cut, or has lost packets */
} link_t;

/* Reads the emulator's lines into `link`, which can hold all. Returns the number of links. */
static int read_links(char *lines, const tb_network_t *network, link_t *link)
{
    int links = 0;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        link_t *l = &link[links];
        links += trv_sscanf(line, "%d %d %lf %lf %d %llu %llu %lf %llu %llu", &l->node, &l->port, &l->bandwidth_bps,
                            &l->latency_ns, &l->up, &l->packets, &l->bytes, &l->utilisation, &l->queue,
                            &l->dropped) == 10;
        l->special = !l->up || l->dropped || fabs(l->bandwidth_bps / network->bandwidth_bps - 1) > 1e-6 ||
                     fabs(l->latency_ns - network->latency_ns) > 1;
    }
    return links;
}

static int by_interest(const void *a, const void *b)
{
    const link_t *x = a, *y = b;
    if (x->special != y->special)
        return x->special ? -1 : 1;
    return (x->utilisation < y->utilisation) - (x->utilisation > y->utilisation);
}

static int by_place(const void *a, const void *b)
{
    const link_t *x = a, *y = b;
    return x->node != y->node ? x->node - y->node : x->port - y->port;
}

/* Moves the links to show to the front; returns their number. */
static int choose_links(link_t *link, int links)
{
    int shown = links < LINKS_SHOWN ? links : LINKS_SHOWN;
    qsort(link, (size_t)links, sizeof *link, by_interest);
    while (shown < links && link[shown].special)
        shown++;
    qsort(link, (size_t)shown, sizeof *link, by_place);
    return shown;
}

static int print_links(const link_t *link, int links, cli_format_t format)
{
    static const cli_column_t column[] = {{"node", "node", true, 0},
                                          {"port", "port", false, 0},
                                          {"state", "state", false, 0},
                                          {"bandwidth_mbps", "Mb/s", true, 0},
                                          {"latency_ms", "ms", true, 0},
                                          {"packets", "packets", true, 0},
                                          {"bytes", "bytes", true, 0},
                                          {"utilisation_percent", "busy %", true, 0},
                                          {"queue_max_bytes", "longest queue", true, 0},
                                          {"lost", "lost", true, 0},
                                          {0}};
    cli_table_t table;
    char name[TRV_PORT_TEXT_MAX];
    cli_table_begin(&table, stdout, format, column);
    for (const link_t *l = link; l < link + links; l++) {
        cli_cell_int(&table, l->node);
        cli_cell_text(&table, trv_port_format(l->port, name));
        cli_cell_text(&table, l->up ? "up" : "down");
        cli_cell_real(&table, l->bandwidth_bps / 1e6, 3);
        cli_cell_real(&table, l->latency_ns / 1e6, 3);
        cli_cell_int(&table, (int64_t)l->packets);
        cli_cell_int(&table, (int64_t)l->bytes);
        cli_cell_real(&table, 100 * l->utilisation, 2);
        cli_cell_int(&table, (int64_t)l->queue);
        cli_cell_int(&table, (int64_t)l->dropped);
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}

static int status(int argc, char **argv)
{
    cli_format_t format = CLI_FORMAT_TABLE;
    tb_status_t now;
    char *lines;
    int code = cli_read_format_option(&status_command, argc, argv, &format);
    if (code >= 0)
        return code;
    if (trv_testbed_status(&now) < 0 || trv_testbed_ask("links", &lines) < 0)
        return cli_bad_last(argv[0]);
    link_t *link = calloc((size_t)now.network.torus.ranks * 2 * TRV_DIMS_MAX + 1, sizeof *link);
    int links = link ? read_links(lines, &now.network, link) : 0, shown = links;
    free(lines);
    if (!link)
        return cli_bad(argv[0], "out of memory for the links");
    if (format == CLI_FORMAT_TABLE) {
        print_summary(&now);
        shown = choose_links(link, links);
    }
    code = print_links(link, shown, format) < 0 ? cli_bad_last(argv[0]) : CLI_OK;
    if (code == CLI_OK && shown < links)
        printf("\n%d more links are unchanged and had less traffic; --format=csv prints them.\n", links - shown);
    free(link);
    return code;
}

/* ---- set --------------------------------------------------------------------------------------------------------- */

/* Writes "link 0:+1" or "node 3" of the command line as the beginning of a request. */
static int read_target(char **argv, int words, bool both_ways, char *request, size_t size)
{
    char name[4], rest;
    int node, port;
    if (words == 2 && strcmp(argv[0], "link") == 0 && sscanf(argv[1], "%9d:%3[^ ]%c", &node, name, &rest) == 2 &&
        trv_port_parse(name, &port) == TRV_OK)
        snprintf(request, size, "%s %d %d", both_ways ? "both" : "link", node, port);
    else if (words == 2 && strcmp(argv[0], "node") == 0 && sscanf(argv[1], "%9d%c", &node, &rest) == 1)
        snprintf(request, size, "node %d", node);
    else
        return cli_bad("testbed set", "expected a link, for example `link 0:+0` (from node 0 in dimension 0 "
                                      "upwards), or a node, for example `node 3`");
    return CLI_OK;
}

#define CHANGES_MAX 4

typedef struct changes {
    char text[CHANGES_MAX][64];
    int count;
    bool down, up, both_ways;
} changes_t;

static int take_change(void *context, int key)
{
    changes_t *changes = context;
    double value = 0;
    if (key == OPTION_BOTH_WAYS) {
        changes->both_ways = true;
        return TRV_OK;
    }
    if (changes->count == CHANGES_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "more than %d changes", CHANGES_MAX);
    int code = key == OPTION_BANDWIDTH ? trv_parse_rate_bps(optarg, &value)
               : key == OPTION_LATENCY ? trv_parse_latency_ns(optarg, &value)
                                       : TRV_OK;
    changes->down |= key == OPTION_DOWN;
    changes->up |= key == OPTION_UP;
    const char *word = key == OPTION_BANDWIDTH ? "bandwidth" : key == OPTION_LATENCY ? "latency" : NULL;
    if (word)
        snprintf(changes->text[changes->count++], sizeof changes->text[0], "%s %.0f", word, value);
    else
        snprintf(changes->text[changes->count++], sizeof changes->text[0], "%s", key == OPTION_DOWN ? "down" : "up");
    return code;
}

/* Warns if cuts split a row in two. Doing so is legitimate while a job runs, but the next job would be rejected. */
static void warn_of_parts(const char *command)
{
    tb_status_t now;
    if (trv_testbed_status(&now) == TRV_OK && trv_testbed_check_rows(&now.network) == TRV_ERR_UNSUPPORTED)
        cli_warn(command, "no job can start on all nodes now: %s", trv_last_error());
}

static int set(int argc, char **argv)
{
    changes_t changes = {.count = 0};
    char request[64], line[sizeof request + sizeof changes.text[0] + 1];
    int code = cli_read_options(&set_command, argc, argv, take_change, &changes);
    if (code >= 0)
        return code;
    code = read_target(argv + optind, argc - optind, changes.both_ways, request, sizeof request);
    if (code != CLI_OK)
        return code;
    if (changes.count == 0)
        return cli_bad(argv[0], "expected at least one of --bandwidth, --latency, --down and --up");
    if (changes.down && changes.up)
        return cli_bad(argv[0], "--down and --up cannot be combined: the first cuts the link, the second restores it");
    for (int i = 0; i < changes.count; i++) {
        snprintf(line, sizeof line, "%s %.60s", request, changes.text[i]);
        if (trv_testbed_ask(line, NULL) < 0)
            return cli_bad_last(argv[0]);
    }
    if (changes.down)
        warn_of_parts(argv[0]);
    return CLI_OK;
}

/* ---- Dispatch ---------------------------------------------------------------------------------------------------- */

int cli_testbed(int argc, char **argv)
{
    static int (*const run[])(int argc,
                              char **argv) = {up,  cli_testbed_run, cli_testbed_check, status, set, cli_testbed_bench,
                                              down}; /* in the order of `part` */
    enum { COMMANDS = sizeof run / sizeof run[0] };
    const char *word = argc > 1 ? argv[1] : "", *name[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        name[i] = strchr(part[i]->name, ' ') + 1;
        if (strcmp(word, name[i]) == 0) {
            argv[1] = (char *)(uintptr_t)part[i]->name;
            return run[i](argc - 1, argv + 1);
        }
    }
    int code = cli_read_options(&cli_testbed_command, argc, argv, cli_skip_option, NULL);
    if (code >= 0)
        return code;
    const char *nearest = trv_nearest(word, name, COMMANDS);
    if (nearest)
        return cli_bad("testbed", "unknown command '%.40s'; did you mean %s?", word, nearest);
    return cli_bad("testbed", "%s%.40s%s: expected up, down, status, run, check, set or bench",
                   *word ? "unknown command '" : "a command is missing", word, *word ? "'" : "");
}
