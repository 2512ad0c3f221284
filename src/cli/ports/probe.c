/*
 * trivance topology --ports, as each rank of a job runs it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "net/inside.h"
#include "cli/ports/probe.h"
#include "collective/model.h"
#include "base/text/parse.h"
#include "cli/shared/output.h"
#include "cli/shared/table.h"
#include "cli/shared/tool.h"
#include "cli/shared/topology_command.h"
#include "torus/torus.h"

enum { HOST_MAX = 64, BYTES = 1 << 20 };

/* The data of a rank's port that rank 0 prints. */
typedef struct port {
    char host[HOST_MAX], interface[64], address[64];
    int32_t has_neighbour;
    int32_t speed_mbps, node;
} port_t;

static void ports_describe(const trv_net_t *net, port_t *port)
{
    const trv_torus_t *torus = &net->world->torus;
    for (int w = 0; w < trv_port_count(torus); w++) {
        trv_fabric_interface_info_t info;
        trv_fabric_interface_info(net->fabric, trv_fabric_departure(net->fabric, w), &info);
        port[w] = (port_t){.has_neighbour = trv_torus_neighbour(torus, net->rank, w) >= 0,
                           .speed_mbps = (int32_t)info.device.speed_mbps,
                           .node = info.device.node};
        gethostname(port[w].host, sizeof port[w].host - 1);
        snprintf(port[w].interface, sizeof port[w].interface, "%s", info.name);
        snprintf(port[w].address, sizeof port[w].address, "%.63s", info.ip_address);
    }
}

static const char *const paths_text[] = {"two separate paths", "shared interface", "shared route", "not clear"};
static const char *const paths_key[] = {"two", "interface", "route", "unclear"};

static double mbytes_per_s(double bytes, double time_ns) { return 1e3 * bytes / time_ns; }

/* Prints the results: as text, the map and the dimensions in separate tables; for programs, one row with all data
 * for each port of each rank. */
static int table_print_ports(const trv_net_t *net, const port_t *port, const trv_probe_t *probe, size_t bytes,
                             cli_format_t format)
{
    static const cli_column_t column[] = {{"rank", "rank", true, 0},
                                          {"host", "host", false, 0},
                                          {"port", "port", false, 0},
                                          {"interface", "interface", false, 0},
                                          {"address", "address", false, 0},
                                          {"speed_mbps", "Mb/s", true, 0},
                                          {"numa_node", "NUMA node", true, 0},
                                          {"alone_mbytes_per_s", NULL, true, 0},
                                          {"both_mbytes_per_s", NULL, true, 0},
                                          {"paths", NULL, false, 0},
                                          {"strays", NULL, false, 0},
                                          {0}};
    const int ports = trv_port_count(&net->world->torus);
    cli_table_t table;
    char name[TRV_PORT_TEXT_MAX];
    cli_table_begin(&table, stdout, format, column);
    for (int i = 0; i < net->ranks * ports; i++) {
        const int index = i % ports;
        const trv_probe_t *of = &probe[trv_port_dimension(index)];
        if (!port[i].has_neighbour)
            continue;
        cli_cell_int(&table, i / ports);
        cli_cell_text(&table, port[i].host);
        cli_cell_text(&table, trv_port_format(index, name));
        cli_cell_text(&table, port[i].interface);
        cli_cell_text(&table, port[i].address);
        if (port[i].speed_mbps > 0)
            cli_cell_int(&table, port[i].speed_mbps);
        else
            cli_cell_none(&table);
        if (port[i].node >= 0)
            cli_cell_int(&table, port[i].node);
        else
            cli_cell_none(&table);
        cli_cell_real(&table, mbytes_per_s((double)bytes, of->alone_ns[index % 2]), 3);
        cli_cell_real(&table, mbytes_per_s(2 * (double)bytes, of->both_ns), 3);
        cli_cell_text(&table, paths_key[of->paths]);
        cli_cell_bool(&table, of->strays);
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}

static int table_print_dimensions(const trv_torus_t *torus, const trv_probe_t *probe, size_t bytes)
{
    static const cli_column_t column[] = {{"dimension", "dimension", true, 0},
                                          {"up", "+ alone MB/s", true, 0},
                                          {"down", "- alone MB/s", true, 0},
                                          {"both", "both MB/s", true, 0},
                                          {"gain", "gain", true, 0},
                                          {"paths", "paths", false, 0},
                                          {0}};
    cli_table_t table;
    putchar('\n');
    cli_table_begin(&table, stdout, CLI_FORMAT_TABLE, column);
    for (int d = 0; d < torus->dims; d++) {
        if (torus->size[d] == 1)
            continue;
        cli_cell_int(&table, d);
        cli_cell_real(&table, mbytes_per_s((double)bytes, probe[d].alone_ns[0]), 3);
        cli_cell_real(&table, mbytes_per_s((double)bytes, probe[d].alone_ns[1]), 3);
        cli_cell_real(&table, mbytes_per_s(2 * (double)bytes, probe[d].both_ns), 3);
        cli_cell_real(&table, probe[d].gain, 2);
        cli_cell_text(&table, paths_text[probe[d].paths]);
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}

/* Reports contradictions to the map on stderr. Returns whether there is any. */
static bool warn_contradictions(const trv_torus_t *torus, const trv_probe_t *probe)
{
    bool any = false;
    for (int d = 0; d < torus->dims; d++) {
        if (torus->size[d] == 1)
            continue;
        if (probe[d].strays)
            cli_warn("topology",
                     "dimension %d: on some rank the system sends through another device than the interface in "
                     "the map; its routes depend on the destination only (see ip rule)",
                     d);
        else if (probe[d].paths == TRV_PATHS_ROUTE)
            cli_warn("topology",
                     "dimension %d: the map has an interface for each port, but they share a path: both concurrently "
                     "take as long as one after the other",
                     d);
        else if (probe[d].paths == TRV_PATHS_UNCLEAR)
            cli_warn("topology",
                     "dimension %d: it is not clear whether its ports have two paths, because the rounds disagree; "
                     "measure again with a larger --bytes, or when the machine is not busy",
                     d);
        any = any || probe[d].strays || probe[d].paths == TRV_PATHS_ROUTE;
    }
    return any;
}

/* ---- The rules file ---------------------------------------------------------------------------------------------- */

/* Checks before the measurement that the rules file can be written. */
static int rules_check(const trv_net_t *net, const char *path)
{
    const trv_rules_t rules = {.paths = net->world->torus};
    cli_output_t output;
    char *text = NULL;
    if (net->ranks == 1)
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "a job of one rank has no links to measure for %s; start more, for example with trivance launch -n 4",
            path);
    int rc = trv_rules_with_paths(path, &rules, &text);
    free(text);
    if (rc == TRV_OK)
        rc = cli_output_begin(&output, path);
    if (rc == TRV_OK)
        cli_output_end(&output, TRV_ERR_STATE); /* an error code: no file is left */
    return rc;
}

static int rules_put_text(void *text, FILE *out) { return fputs(text, out) < 0 ? TRV_ERR_ARGUMENT : TRV_OK; }

/* Returns the first dimension whose measurement is unclear, or -1. */
static int dimension_unclear(const trv_torus_t *torus, const trv_probe_t *probe)
{
    for (int d = 0; d < torus->dims; d++)
        if (torus->size[d] > 1 && probe[d].paths == TRV_PATHS_UNCLEAR)
            return d;
    return -1;
}

/* Writes the measurement into the rules file, for the planner. The file has an entry for each dimension, so it is
 * left as it is (CLI_WRONG) unless all dimensions are clear. */
static int rules_write_paths(const trv_net_t *net, const trv_probe_t *probe, const char *path)
{
    const trv_torus_t *torus = &net->world->torus;
    const int unclear = dimension_unclear(torus, probe);
    if (unclear >= 0) {
        cli_warn("topology", "dimension %d is not clear, so %s is left as it is, and the map applies", unclear, path);
        return CLI_WRONG;
    }
    trv_rules_t rules = {.paths = *torus};
    char text_of_paths[TRV_MODEL_SHARED_PATHS_MAX], *text = NULL;
    trv_fabric_shared_paths(net->fabric, &rules.one_path);
    for (int d = 0; d < torus->dims; d++)
        rules.shared_paths |= (unsigned)(torus->size[d] > 1 && probe[d].paths != TRV_PATHS_TWO) << d;
    rules.one_path = rules.one_path && (rules.shared_paths & (rules.shared_paths - 1)) != 0;
    int rc = trv_rules_with_paths(path, &rules, &text);
    if (rc == TRV_OK)
        rc = cli_output_write(path, rules_put_text, text);
    free(text);
    const trv_simulate_options_t network = {.shared_paths = rules.shared_paths, .one_path = rules.one_path};
    if (rc == TRV_OK)
        fprintf(stderr, "trivance topology: written to %s: %s\n", path,
                rules.shared_paths ? trv_model_shared_paths_text(&network, torus, &rules, text_of_paths)
                                   : "no dimension has a shared path");
    return rc;
}

static int results_print(const trv_net_t *net, const port_t *port, const trv_probe_t *probe,
                         const cli_topology_options_t *options)
{
    const trv_torus_t *torus = &net->world->torus;
    if (net->ranks == 1 && options->format == CLI_FORMAT_TABLE)
        return puts("a job of one rank has no links to measure"), CLI_OK;
    int rc = table_print_ports(net, port, probe, options->bytes, options->format);
    if (rc == TRV_OK && options->format == CLI_FORMAT_TABLE)
        rc = table_print_dimensions(torus, probe, options->bytes);
    fflush(stdout);
    const bool wrong = rc == TRV_OK && warn_contradictions(torus, probe);
    if (rc == TRV_OK && options->rules)
        rc = rules_write_paths(net, probe, options->rules);
    return rc == TRV_OK && wrong ? CLI_WRONG : rc;
}

/* Broadcasts rank 0's exit code, after rank 0 has printed its error message. */
static int exit_code_broadcast(trv_net_t *net, int *code)
{
    if (net->rank == 0 && *code < 0)
        *code = cli_bad_last("topology");
    return trv_net_broadcast(net->world, code, sizeof *code, 0);
}

static int probe_run(trv_net_t *net, const cli_topology_options_t *options)
{
    const trv_torus_t *torus = &net->world->torus;
    const size_t ports = (size_t)trv_port_count(torus);
    port_t own[TRV_PORTS_MAX] = {0}, *port = calloc((size_t)net->ranks * ports, sizeof *port);
    trv_probe_t probe[TRV_DIMS_MAX] = {0};
    int rc = port ? TRV_OK : (trv_fail_memory(), trv_net_break(net)), code = CLI_OK;
    ports_describe(net, own);
    if (rc == TRV_OK && net->rank == 0 && options->rules)
        code = rules_check(net, options->rules);
    if (rc == TRV_OK)
        rc = exit_code_broadcast(net, &code);
    const bool proceeds = rc == TRV_OK && code == CLI_OK;
    if (proceeds)
        rc = trv_net_allgather(net->world, own, port, ports * sizeof *port, TRV_UINT8);
    for (int d = 0; d < torus->dims && proceeds && rc == TRV_OK; d++) {
        bool remote[2];
        for (int down = 0; down < 2; down++) {
            const int there = trv_torus_neighbour(torus, net->rank, trv_port(d, down ? -1 : 1));
            remote[down] = there >= 0 && strcmp(port[(size_t)there * ports].host, own->host) != 0;
        }
        if (torus->size[d] > 1)
            rc = trv_probe_dimension(net, d, options->bytes, remote, &probe[d]);
    }
    if (proceeds && rc == TRV_OK && net->rank == 0)
        code = results_print(net, port, probe, options);
    if (proceeds && rc == TRV_OK)
        rc = exit_code_broadcast(net, &code);
    free(port);
    return rc < 0 ? rc : code;
}

/* Whether a rank that cannot start reports this itself. Rank 0 reports for all ranks, unless it has no information:
 * from a rank whose number is unknown, or that cannot connect to rank 0. */
static bool reports_start_error(const trv_net_options_t *net_options, const char *sentence)
{
    const char *text = getenv("RANK"), *ranks = getenv("WORLD_SIZE");
    char timed_out[40];
    int own = net_options->rank, count = 0;
    if (own < 0 && text && trv_parse_int(text, "RANK", 0, INT_MAX, &own) < 0)
        return true;
    if (own <= 0)
        return true;
    if (net_options->rank < 0 && ranks && trv_parse_int(ranks, "WORLD_SIZE", 1, INT_MAX, &count) == TRV_OK &&
        own >= count)
        return true;
    snprintf(timed_out, sizeof timed_out, "rank %d timed out ", own);
    return strncmp(sentence, timed_out, strlen(timed_out)) == 0 || strncmp(sentence, "rank 0 at ", 10) == 0;
}

int trv_probe_main(int argc, char **argv, const trv_net_options_t *options)
{
    cli_topology_options_t topology_options = {.dump = false};
    trv_net_t *net = NULL;
    int code = cli_read_options(&cli_topology_command, argc, argv, cli_topology_option, &topology_options);
    if (code >= 0)
        return code;
    topology_options.bytes = topology_options.bytes ? topology_options.bytes : BYTES;
    trv_net_options_t net_options = options ? *options : (trv_net_options_t){TRV_NET_OPTIONS};
    net_options.torus = topology_options.torus ? topology_options.torus : net_options.torus;
    int rc = trv_net_init(&net, &net_options);
    if (rc == TRV_OK)
        rc = probe_run(net, &topology_options);
    char sentence[TRV_REASON_MAX];
    snprintf(sentence, sizeof sentence, "%s", trv_last_error());
    if (rc < 0 && (net ? net->rank == 0 : reports_start_error(&net_options, sentence)))
        cli_bad("topology", "%s", sentence);
    if (net)
        trv_net_finalize(&net);
    return rc < 0 ? CLI_BAD : rc;
}
