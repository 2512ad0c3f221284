/*
 * trivance testbed: real MPI jobs over an emulated torus on this machine. Finds the command; up, down, status and set
 * are here, the others have files of their own.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/common.h>

#include "cli/subcommands.h"
#include "tool/tool.h"
#include "text/nearest.h"
#include "tool/handover.h"
#include "tool/network.h"
#include "text/parse.h"
#include "tool/table.h"
#include "cli/testbed/commands.h"

const char cli_testbed_help[] =
    "Usage: trivance testbed up TORUS [--bandwidth=RATE] [--hop-latency=TIME]\n"
    "       trivance testbed run [--mpi=M] [--drop-in] [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
    "       trivance testbed check | status | down\n"
    "       trivance testbed set link NODE:PORT|node NODE ORDER…\n"
    "       trivance testbed bench [--torus=LIST] [--out=DIR] [OPTIONS] [-- PROGRAM [ARGUMENTS]]\n\n"
    "Real MPI jobs over a torus that is emulated on this machine: every rank in a network namespace of its own,\n"
    "all messages packet by packet over links with a bandwidth, a latency and a queue. Needs root.\n\n"
    "  up      makes the nodes and starts the emulator\n"
    "  run     starts an MPI program, unchanged, one rank on every node; the job knows the torus by itself\n"
    "  check   measures the network against theory, and whether this machine keeps up\n"
    "  status  the links: bytes, utilisation, queues, and how late the emulator is\n"
    "  set     slows, delays or cuts a link or all links of a node, also while a job runs\n"
    "  bench   the MPI libraries' own AllReduce against Trivance, or a program without the drop-in and with it; see\n"
    "          `trivance testbed bench --help`\n"
    "  down    ends everything on the testbed and removes it, whatever state it is in\n\n"
    "Options of up:\n"
    "  -B, --bandwidth=RATE     of a link in each direction (default 50Mb/s)\n"
    "  -L, --hop-latency=TIME   of a link (default 2ms)\n"
    "Options of run:\n"
    "  -m, --mpi=M              openmpi or mpich, where the program does not show it (Python, a script)\n"
    "  -n, --ranks=N            on the first N nodes only\n"
    "  -d, --drop-in            with Trivance preloaded, as by `trivance run`; TRIVANCE_… variables are handed on\n"
    "      --no-rendezvous      messages of any size are sent without asking the receiver\n"
    "Orders of set:\n"
    "      --bandwidth=RATE, --latency=TIME, --down, --up\n"
    "Options of check and status:\n"
    "  -f, --format=F           table (default), json or csv\n"
    "  -h, --help               this text\n\n"
    "Exit status: 0 good (run: that of the program), 1 check: not faithful, 2 bad input, or the machine cannot.\n\n"
    "Examples:\n"
    "  trivance testbed up 3x3 && trivance testbed check\n"
    "  trivance testbed run -- ./program\n"
    "  TRIVANCE_DEBUG=info trivance testbed run --drop-in -- ./program\n"
    "  trivance testbed set link 0:+0 --bandwidth=5Mb/s\n"
    "  trivance testbed down\n";

int cli_testbed_no_arguments(int argc, char **argv)
{
    static const struct option longs[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    int option = cli_option(argc, argv, ":h", longs);
    if (option == 'h')
        return fputs(cli_testbed_help, stdout), CLI_OK;
    if (option != -1)
        return CLI_BAD;
    return optind == argc ? -1 : cli_bad(argv[0], "it takes no arguments, and there is '%.40s'", argv[optind]);
}

int cli_testbed_program(const char *command, const char *file, char *path, size_t size)
{
    static const char *const place[] = {"", "../libexec/trivance/", "../src/testbed/programs/", NULL};
    if (cli_find_beside(place, file, R_OK, path, size))
        return CLI_OK;
    return cli_bad(command, "%s is missing; it belongs beside the trivance executable or in ../libexec/trivance", file);
}

int cli_testbed_range(const char *command, double bandwidth_bps, double latency_ns)
{
    if (bandwidth_bps >= 1e3 && bandwidth_bps <= 1e12 && latency_ns <= 1e12)
        return CLI_OK;
    return cli_bad(command, "the bandwidth may be from 1Kb/s to 1Tb/s, the latency up to 1000s, for example 50Mb/s and "
                            "2ms");
}

/* ---- up and down ------------------------------------------------------------------------------------------------- */

static int read_up(int argc, char **argv, tb_network_t *network)
{
    static const struct option longs[] = {{"bandwidth", required_argument, NULL, 'B'},
                                          {"hop-latency", required_argument, NULL, 'L'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option, code = TRV_OK;
    while (code == TRV_OK && (option = cli_option(argc, argv, ":B:L:h", longs)) != -1) {
        if (option == 'h')
            return fputs(cli_testbed_help, stdout), -1;
        if (option == '?')
            return CLI_BAD;
        code = option == 'B' ? trv_parse_rate_bps(optarg, &network->bandwidth_bps)
                             : trv_parse_time_ns(optarg, &network->latency_ns);
    }
    if (code < 0)
        return cli_bad_last(argv[0]);
    if (argc - optind != 1)
        return cli_bad(argv[0], "one torus is wanted, for example `trivance testbed up 3x3`");
    if (trv_torus_parse(argv[optind], &network->torus) < 0)
        return cli_bad_last(argv[0]);
    return cli_testbed_range(argv[0], network->bandwidth_bps, network->latency_ns);
}

static int up(int argc, char **argv)
{
    tb_network_t network = {.bandwidth_bps = 50e6, .latency_ns = 2e6};
    char emulator[4608], torus[TRV_TORUS_TEXT_MAX];
    int code = read_up(argc, argv, &network);
    if (code == CLI_OK)
        code = cli_testbed_program(argv[0], "trivance-torusnet", emulator, sizeof emulator);
    if (code != CLI_OK)
        return code < 0 ? CLI_OK : code;
    if (trv_testbed_up(&network, emulator) < 0)
        return cli_bad_last(argv[0]);
    printf("A torus %s of %d nodes is up: links of %g Mb/s and %g ms. `trivance testbed run -- PROGRAM` starts a "
           "job.\n",
           trv_torus_format(&network.torus, torus, sizeof torus), network.torus.ranks, network.bandwidth_bps / 1e6,
           network.latency_ns / 1e6);
    return CLI_OK;
}

static int down(int argc, char **argv)
{
    int nodes, code = cli_testbed_no_arguments(argc, argv);
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
    printf("torus %s, links of %g Mb/s and %g ms; emulator %d %s, %s\n",
           trv_torus_format(&status->network.torus, torus, sizeof torus), status->network.bandwidth_bps / 1e6,
           status->network.latency_ns / 1e6, status->process,
           status->core < 0 ? "without a core of its own" : "with a core of its own",
           status->realtime ? "in real time" : "without real-time priority, which this machine refuses");
    printf("%.1f s: %llu packets delivered, %llu lost on links that were cut; late by %.0f us at the median, %.0f us "
           "at the 99th percentile, %.0f us at most\n\n",
           status->seconds, (unsigned long long)status->packets, (unsigned long long)status->dropped,
           status->lateness_p50_ns / 1e3, status->lateness_p99_ns / 1e3, status->lateness_max_ns / 1e3);
}

#define LINKS_SHOWN 40 /* of which there may be hundreds: the busiest, and whatever is not as it was made */

typedef struct link {
    int node, port, up;
    double bandwidth_bps, latency_ns, utilisation;
    unsigned long long packets, bytes, queue, dropped;
    bool special; /* changed, cut, or has lost something */
} link_t;

/* The emulator's lines; `link` has room for all. The number of links. */
static int read_links(char *lines, const tb_network_t *network, link_t *link)
{
    int links = 0;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        link_t *l = &link[links];
        links += sscanf(line, "%d %d %lf %lf %d %llu %llu %lf %llu %llu", &l->node, &l->port, &l->bandwidth_bps,
                        &l->latency_ns, &l->up, &l->packets, &l->bytes, &l->utilisation, &l->queue, &l->dropped) == 10;
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

/* Moves the links that are shown to the front; their number. */
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
                                          {"lost", "lost", true, 0}};
    cli_table_t table;
    char name[CLI_PORT_TEXT_MAX];
    cli_table_begin(&table, stdout, format, column, sizeof column / sizeof column[0], cli_stdout_is_terminal());
    for (const link_t *l = link; l < link + links; l++) {
        cli_cell_int(&table, l->node);
        cli_cell_text(&table, cli_format_port(l->port, name));
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
    int code = cli_format_option(argc, argv, cli_testbed_help, &format);
    if (code >= 0)
        return code;
    if (trv_testbed_status(&now) < 0 || trv_testbed_ask("links", &lines) < 0)
        return cli_bad_last(argv[0]);
    link_t *link = calloc((size_t)now.network.torus.ranks * 2 * TRV_DIMS_MAX + 1, sizeof *link);
    int links = link ? read_links(lines, &now.network, link) : 0, shown = links;
    free(lines);
    if (!link)
        return cli_bad(argv[0], "there is no memory for the links");
    if (format == CLI_FORMAT_TABLE) {
        print_summary(&now);
        shown = choose_links(link, links);
    }
    code = print_links(link, shown, format) < 0 ? cli_bad_last(argv[0]) : CLI_OK;
    if (code == CLI_OK && shown < links)
        printf("\n%d links more are as they were made and had less traffic; --format=csv has them.\n", links - shown);
    free(link);
    return code;
}

/* ---- set --------------------------------------------------------------------------------------------------------- */

/* "link 0:+1" or "node 3" into the beginning of a request. */
static int read_place(char **argv, int words, char *request, size_t size)
{
    char sign = 0, rest;
    int node, dimension;
    if (words == 2 && strcmp(argv[0], "link") == 0 &&
        sscanf(argv[1], "%9d:%c%1d%c", &node, &sign, &dimension, &rest) == 3 && (sign == '+' || sign == '-'))
        snprintf(request, size, "link %d %d", node, trv_port(dimension, sign == '+' ? 1 : -1));
    else if (words == 2 && strcmp(argv[0], "node") == 0 && sscanf(argv[1], "%9d%c", &node, &rest) == 1)
        snprintf(request, size, "node %d", node);
    else
        return cli_bad("testbed set", "it wants a link, as `link 0:+0` (the one that leaves node 0 in dimension 0 "
                                      "upwards), or a node, as `node 3`");
    return CLI_OK;
}

#define ORDERS_MAX 4

static int set(int argc, char **argv)
{
    static const struct option longs[] = {{"bandwidth", required_argument, NULL, 'B'},
                                          {"latency", required_argument, NULL, 'L'},
                                          {"down", no_argument, NULL, 'd'},
                                          {"up", no_argument, NULL, 'u'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    char order[ORDERS_MAX][64] = {""}, request[64], line[sizeof request + sizeof order[0] + 1];
    int option, orders = 0, code = TRV_OK;
    double value = 0;
    while (code == TRV_OK && (option = cli_option(argc, argv, ":B:L:h", longs)) != -1) {
        if (option == 'h')
            return fputs(cli_testbed_help, stdout), CLI_OK;
        if (option == '?')
            return CLI_BAD;
        if (orders == ORDERS_MAX)
            return cli_bad(argv[0], "there are more than %d orders", ORDERS_MAX);
        code = option == 'B'   ? trv_parse_rate_bps(optarg, &value)
               : option == 'L' ? trv_parse_time_ns(optarg, &value)
                               : TRV_OK;
        snprintf(order[orders], sizeof order[orders],
                 option == 'B'   ? "bandwidth %.0f"
                 : option == 'L' ? "latency %.0f"
                 : option == 'd' ? "down"
                                 : "up",
                 value);
        orders++;
    }
    if (code < 0)
        return cli_bad_last(argv[0]);
    code = read_place(argv + optind, argc - optind, request, sizeof request);
    if (code != CLI_OK)
        return code;
    if (orders == 0)
        return cli_bad(argv[0], "it wants at least one of --bandwidth, --latency, --down and --up");
    for (int i = 0; i < orders; i++) {
        snprintf(line, sizeof line, "%s %.60s", request, order[i]);
        if (trv_testbed_ask(line, NULL) < 0)
            return cli_bad_last(argv[0]);
    }
    return CLI_OK;
}

/* ---- The commands ------------------------------------------------------------------------------------------------ */

int cli_testbed(int argc, char **argv)
{
    static const struct {
        const char *name, *full;
        int (*run)(int argc, char **argv);
    } command[] = {{"up", "testbed up", up},
                   {"down", "testbed down", down},
                   {"status", "testbed status", status},
                   {"run", "testbed run", cli_testbed_run},
                   {"check", "testbed check", cli_testbed_check},
                   {"set", "testbed set", set},
                   {"bench", "testbed bench", cli_testbed_bench}};
    enum { COMMANDS = sizeof command / sizeof command[0] };
    const char *word = argc > 1 ? argv[1] : "", *name[COMMANDS];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return fputs(cli_testbed_help, stdout), CLI_OK;
    for (int i = 0; i < COMMANDS; i++) {
        name[i] = command[i].name;
        if (strcmp(word, name[i]) == 0) {
            argv[1] = (char *)(uintptr_t)command[i].full;
            return command[i].run(argc - 1, argv + 1);
        }
    }
    const char *nearest = trv_nearest(word, name, COMMANDS);
    if (nearest)
        return cli_bad("testbed", "there is no command '%.40s'; did you mean %s?", word, nearest);
    return cli_bad("testbed", "%s%.40s%s; there are up, down, status, run, check, set and bench",
                   *word ? "there is no command '" : "a command is missing", word, *word ? "'" : "");
}
