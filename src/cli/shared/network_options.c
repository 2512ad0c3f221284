/*
 * The network's parameters as users type them. Each has a name, a function that parses its text, and a member of the
 * simulator's options that it sets.
 */
#include "cli/shared/network_options.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/parse.h"
#include "base/append.h"
#include "cli/shared/network_profile.h"
#include "base/error.h"
#include "torus/rows.h"

enum parameter {
    NETWORK,
    MODEL,
    DELIVERY,
    BANDWIDTH,
    NIC_BANDWIDTH,
    INJECTION,
    ALPHA,
    LINK_LATENCY,
    HOST_LATENCY,
    ROUTER_IN,
    ROUTER_OUT,
    PACKET,
    BUFFER,
    GAMMA,
    GAMMA_START,
    GAMMA_SMALL,
    MESSAGE_OVERHEAD,
    PART_OVERHEAD,
    JITTER,
    SEED,
    SLOW_RANK,
    SLOW_LINK,
    CUT,
    ROUTES,
    NO_FORWARDING,
    SHARED_PATHS
};

const char *const cli_network_names[CLI_NETWORK_COUNT + 1] = {
    [NETWORK] = "network",
    [MODEL] = "model",
    [DELIVERY] = "delivery",
    [BANDWIDTH] = "bandwidth",
    [NIC_BANDWIDTH] = "nic-bandwidth",
    [INJECTION] = "injection",
    [ALPHA] = "alpha",
    [LINK_LATENCY] = "link-latency",
    [HOST_LATENCY] = "host-latency",
    [ROUTER_IN] = "router-in",
    [ROUTER_OUT] = "router-out",
    [PACKET] = "packet",
    [BUFFER] = "buffer",
    [GAMMA] = "gamma",
    [GAMMA_START] = "gamma-start",
    [GAMMA_SMALL] = "gamma-small",
    [MESSAGE_OVERHEAD] = "message-overhead",
    [PART_OVERHEAD] = "part-overhead",
    [JITTER] = "jitter",
    [SEED] = "seed",
    [SLOW_RANK] = "slow-rank",
    [SLOW_LINK] = "slow-link",
    [CUT] = "cut",
    [ROUTES] = "routes",
    [NO_FORWARDING] = "no-forwarding",
    [SHARED_PATHS] = "shared-paths",
};

#define KEY(parameter) CLI_NETWORK_OPTION + (parameter)

static const cli_option_t network_option[] =
    {{NULL, 0, NULL, "Network (one queue per link and otherwise the paper's by default)", NULL},
     {"network", KEY(NETWORK), "NAME",
      "a network with a name: paper (default), tofu-d or tofu-d-fjmpi, or a file with parameters, for example "
      "./mine.json; other options replace single parameters",
      "paper tofu-d tofu-d-fjmpi FILE"},
     {"model", KEY(MODEL), "M",
      "queues of a link: fifo, a single queue, as in an ideal router (default); "
      "or dateline, two channels that take turns, where a packet changes to the second as it passes coordinate 0, "
      "as SST/Merlin's torus router does to avoid deadlock",
      "fifo dateline"},
     {"delivery", KEY(DELIVERY), "D",
      "when a packet counts as arrived: with its head, as in SST/Merlin (default), "
      "or with its tail, as on a real link",
      "head tail"},
     {"bandwidth", KEY(BANDWIDTH), "RATE",
      "bandwidth of a link in each direction (default 800Gb/s; a capital B is bytes)", NULL},
     {"nic-bandwidth", KEY(NIC_BANDWIDTH), "RATE",
      "bandwidth of a network interface, of which a node has one per port, "
      "and of the router's crossbar (default 12.8Tb/s)",
      NULL},
     {"injection", KEY(INJECTION), "RATE",
      "rate at which an interface injects its messages, if it is less than its bandwidth: of a single message on links "
      "that several messages share (default: that bandwidth)",
      NULL},
     {"alpha", KEY(ALPHA), "TIME", "start-up time of every step (default 1.5us)", NULL},
     {"link-latency", KEY(LINK_LATENCY), "TIME", "latency of a link (default 100ns)", NULL},
     {"host-latency", KEY(HOST_LATENCY), "TIME",
      "latency between a node and its router, in each direction (default 100ns)", NULL},
     {"router-in", KEY(ROUTER_IN), "TIME", "latency of the input of a router (default 50ns)", NULL},
     {"router-out", KEY(ROUTER_OUT), "TIME", "latency of the output of a router (default 50ns)", NULL},
     {"packet", KEY(PACKET), "BYTES", "payload of a packet, 256 to 1M (default 8192)", NULL},
     {"buffer", KEY(BUFFER), "BYTES",
      "buffer of a router's input, per link and channel, at least one packet (default: unlimited); "
      "requires --model=dateline; the planner ignores it",
      NULL},
     {"gamma", KEY(GAMMA), "TIME",
      "reduction time per byte that is read, for example 0.01ns; "
      "a joint reduction of three sources reads three times the bytes of its result; "
      "the streams of a rank share this rate; 0.01ns/stream gives each stream its own (default 0ns)",
      NULL},
     {"gamma-start", KEY(GAMMA_START), "TIME", "start-up time of the reductions of a step (default 0ns)", NULL},
     {"gamma-small", KEY(GAMMA_SMALL), "TIME",
      "time per byte that is read of a reduction by one core, without start-up; used where it is faster (default: "
      "never)",
      NULL},
     {"message-overhead", KEY(MESSAGE_OVERHEAD), "TIME",
      "time for which a rank's processor is busy before it sends a message (default 0ns)", NULL},
     {"part-overhead", KEY(PART_OVERHEAD), "TIME",
      "additional overhead of a stream's first message to a peer, if it is a part of the stream's data: the time to "
      "register its buffer and to exchange addresses (default 0ns)",
      NULL},
     {"jitter", KEY(JITTER), "SHARE",
      "extend every alpha by a random fraction of up to this value, for example 10% (default 0%); "
      "the planner ignores it",
      NULL},
     {"seed", KEY(SEED), "N", "seed of the random numbers; the same seed gives the same times (default 1)", NULL},
     {"slow-rank", KEY(SLOW_RANK), "R:Fx",
      "the work of rank R itself (alpha, message overhead, reductions) takes F times as long, for example 5:2x; "
      "up to 64 times; the planner ignores it",
      NULL},
     {"slow-link", KEY(SLOW_LINK), "R:P:Fx",
      "the link that leaves rank R by port P (+0, -1 …) has 1/F of the bandwidth, for example 0:+1:4x; "
      "0:+1:down cuts it; up to 64 times with --cut",
      NULL},
     {"cut", KEY(CUT), "R:P",
      "the link between rank R and its neighbour at port P is down, in both directions; "
      "R:P:one-way: only in the direction that leaves R; may be repeated",
      NULL},
     {"routes", KEY(ROUTES), "ROUTES",
      "chosen: a message leaves by the port that the schedule names (default); "
      "fixed: the network takes the shorter way unless it is cut, as between IP addresses and under MPI",
      "chosen fixed"},
     {"no-forwarding", KEY(NO_FORWARDING), "[yes|no]",
      "nodes do not pass on messages of others, like hosts that are wired to each other without switches: "
      "every message must cross exactly one link (default no)",
      "yes no"},
     {"shared-paths", KEY(SHARED_PATHS), "DIMS",
      "dimensions whose two directions share one path out of a node, as fast as a link: 0, 0:2 or all; "
      "one: all dimensions share a single path, as on a node with one interface",
      NULL},
     CLI_OPTIONS_END};

static bool is_link(enum parameter parameter)
{
    return parameter == SLOW_LINK || parameter == CUT || parameter == ROUTES || parameter == NO_FORWARDING;
}

/* Whether plans depend on the parameter. */
static bool affects_plans(enum parameter parameter)
{
    return parameter == NETWORK || parameter == DELIVERY || (parameter >= BANDWIDTH && parameter <= PACKET) ||
           (parameter >= GAMMA && parameter <= PART_OVERHEAD) || parameter == SHARED_PATHS || is_link(parameter);
}

static const char *const model_name[] = {[TRV_DATELINE] = "dateline", [TRV_FIFO] = "fifo"};
static const char *const routes_name[] = {[TRV_ROUTES_CHOSEN] = "chosen", [TRV_ROUTES_FIXED] = "fixed"};
static const char *const no_forwarding_name[] = {"no", "yes"};
static const char *const delivery_name[] = {[TRV_DELIVERY_HEAD] = "head", [TRV_DELIVERY_TAIL] = "tail"};

const char *cli_model_name(trv_link_model_t model) { return model_name[model]; }
const char *cli_delivery_name(trv_delivery_t delivery) { return delivery_name[delivery]; }
const char *cli_routes_name(trv_routes_t routes) { return routes_name[routes]; }

void cli_network_init(cli_network_t *network) { *network = (cli_network_t){.options = TRV_SIMULATE_DEFAULTS}; }

const cli_option_t *cli_network_options(void) { return network_option; }

/* Fills in a heading and the options that is_chosen accepts. */
static const cli_option_t *options_select(const char *heading, bool (*is_chosen)(enum parameter), cli_option_t *chosen)
{
    int rows = 0;
    chosen[rows++] = (cli_option_t){.text = heading};
    for (const cli_option_t *option = network_option; option->text; option++)
        if (option->name && is_chosen((enum parameter)(option->key - CLI_NETWORK_OPTION)))
            chosen[rows++] = *option;
    return chosen;
}

const cli_option_t *cli_network_plan_options(void)
{
    static cli_option_t chosen[CLI_NETWORK_COUNT + 2];
    return options_select("Network for which plans are made (one queue per link; otherwise the paper's by default)",
                          affects_plans, chosen);
}

const cli_option_t *cli_network_link_options(void)
{
    static cli_option_t chosen[CLI_NETWORK_COUNT + 2];
    return options_select("Links of the network", is_link, chosen);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Parses one of two words into its index; the second word is the example in the error message. */
static int read_word(const char *text, const char *option, const char *const word[2], int *index)
{
    for (int i = 0; i < 2; i++)
        if (strcmp(text, word[i]) == 0) {
            *index = i;
            return TRV_OK;
        }
    return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is neither %s nor %s; for example %s=%s", text, word[0], word[1], option,
                    word[1]);
}

static int read_packet(const char *text, uint32_t *packet_bytes)
{
    uint64_t bytes;
    int rc = trv_parse_bytes(text, &bytes);
    if (!rc && (bytes < 256 || bytes > 1 << 20))
        rc = trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is not from 256 bytes to 1 MiB, for example 8192", text);
    if (!rc)
        *packet_bytes = (uint32_t)bytes;
    return rc;
}

static int read_seed(const char *text, uint64_t *seed)
{
    int value = 0;
    if (trv_parse_int(text, "the seed", 0, INT_MAX, &value))
        return trv_fail(TRV_ERR_ARGUMENT, "%s; for example 7", trv_last_error());
    *seed = (uint64_t)value;
    return TRV_OK;
}

/* Parses the dimensions; cli_network_finish checks that the torus has them. */
static int read_shared_paths(const char *text, trv_simulate_options_t *options)
{
    char copy[64];
    const char *part[TRV_DIMS_MAX];
    options->one_path = strcmp(text, "one") == 0;
    options->shared_paths = CLI_ALL_DIMENSIONS;
    if (options->one_path || strcmp(text, "all") == 0)
        return TRV_OK;
    options->shared_paths = 0;
    const int parts = cli_split(text, copy, TRV_DIMS_MAX, part);
    for (int i = 0, d; i < parts; i++) {
        if (trv_parse_int(part[i], "a dimension", 0, TRV_DIMS_MAX - 1, &d))
            return trv_fail(
                TRV_ERR_ARGUMENT,
                "'%.40s' lists no dimensions; expected all, one, or dimensions separated by ':', for example 0:1",
                text);
        options->shared_paths |= 1u << d;
    }
    return parts > 0
               ? TRV_OK
               : trv_fail(
                     TRV_ERR_ARGUMENT,
                     "'%.40s' lists no dimensions; expected all, one, or dimensions separated by ':', for example 0:1",
                     text);
}

static int slow_rank_add(cli_network_t *network, const char *text)
{
    char copy[64];
    const char *part[2];
    trv_slow_rank_t slow;
    if (cli_split(text, copy, 2, part) != 2)
        return trv_fail(TRV_ERR_ARGUMENT, "'%.60s' is not a rank and its factor, for example 5:2x", text);
    if (trv_parse_int(part[0], "the rank", 0, 1 << 30, &slow.rank))
        return trv_fail(TRV_ERR_ARGUMENT, "%s; for example 5:2x", trv_last_error());
    int rc = trv_parse_factor(part[1], &slow.factor);
    if (!rc && network->options.slow_ranks == CLI_SLOW_MAX)
        rc = trv_fail(TRV_ERR_ARGUMENT, "there are more than %d slow ranks", CLI_SLOW_MAX);
    if (!rc)
        network->slow_rank[network->options.slow_ranks++] = slow;
    return rc;
}

/* Parses "0.01ns" (per rank) or "0.01ns/stream". */
static int set_gamma(const char *value, trv_simulate_options_t *options)
{
    static const char suffix[] = "/stream";
    char time[64];
    const size_t length = strlen(value), end = sizeof suffix - 1;
    options->gamma_per_stream = length > end && strcmp(value + length - end, suffix) == 0;
    snprintf(time, sizeof time, "%.*s", (int)(options->gamma_per_stream ? length - end : length), value);
    return trv_parse_latency_ns(time, &options->gamma_ns);
}

/* Adds a slow or cut link; cli_network_finish checks that the torus has it. */
static int link_add(cli_network_t *network, const char *text, int (*add)(cli_links_t *, const char *))
{
    int rc = add(&network->links, text);
    network->options.slow_links = network->links.count;
    return rc;
}

static int parameter_find(const char *name)
{
    for (int i = 0; i < CLI_NETWORK_COUNT; i++)
        if (strcmp(name, cli_network_names[i]) == 0)
            return i;
    return -1;
}

static int parameter_set(cli_network_t *network, enum parameter parameter, const char *value);

/* Sets a parameter; an error message begins with its option, which is also its key in files. */
static int set_and_name(cli_network_t *network, int parameter, const char *value)
{
    char reason[512];
    int rc = parameter_set(network, (enum parameter)parameter, value);
    if (!rc)
        return TRV_OK;
    snprintf(reason, sizeof reason, "%s", trv_last_error());
    return trv_fail(rc, "--%s: %s", cli_network_names[parameter], reason);
}

static int fail_unknown(const char *name)
{
    return trv_fail(TRV_ERR_ARGUMENT, "the network has no parameter '%.40s'; `trivance simulate --help` lists them",
                    name);
}

/* Sets a parameter of a profile, unless an option has set it; its value is checked in both cases. */
static int set_from_profile(void *context, const char *name, const char *value)
{
    cli_network_t *network = context, unused;
    const int parameter = parameter_find(name);
    if (parameter < 0)
        return fail_unknown(name);
    if (parameter == NETWORK)
        return trv_fail(TRV_ERR_ARGUMENT, "a profile cannot refer to another one; list the parameters themselves");
    if (parameter == SLOW_RANK || parameter == SLOW_LINK || parameter == CUT)
        return trv_fail(TRV_ERR_ARGUMENT, "a profile has no %s, which belongs to one torus; give it as an option",
                        name);
    if (!(network->given >> parameter & 1))
        return set_and_name(network, parameter, value);
    cli_network_init(&unused);
    return set_and_name(&unused, parameter, value);
}

static int parameter_set(cli_network_t *network, enum parameter parameter, const char *value)
{
    trv_simulate_options_t *options = &network->options;
    int rc, word = 0;
    switch (parameter) {
    case NETWORK: return cli_profile_read(value, set_from_profile, network);
    case MODEL:
        rc = read_word(value, "--model", model_name, &word);
        options->model = rc ? options->model : (trv_link_model_t)word;
        return rc;
    case DELIVERY:
        rc = read_word(value, "--delivery", delivery_name, &word);
        options->delivery = rc ? options->delivery : (trv_delivery_t)word;
        return rc;
    case BANDWIDTH: return trv_parse_rate_bps(value, &options->bandwidth_bps);
    case NIC_BANDWIDTH: return trv_parse_rate_bps(value, &options->nic_bandwidth_bps);
    case INJECTION: return trv_parse_rate_bps(value, &options->injection_bps);
    case ALPHA: return trv_parse_latency_ns(value, &options->alpha_ns);
    case LINK_LATENCY: return trv_parse_latency_ns(value, &options->link_latency_ns);
    case HOST_LATENCY: return trv_parse_latency_ns(value, &options->host_latency_ns);
    case ROUTER_IN: return trv_parse_latency_ns(value, &options->router_in_ns);
    case ROUTER_OUT: return trv_parse_latency_ns(value, &options->router_out_ns);
    case PACKET: return read_packet(value, &options->packet_bytes);
    case BUFFER: return trv_parse_bytes(value, &options->buffer_bytes);
    case GAMMA: return set_gamma(value, options);
    case GAMMA_START: return trv_parse_latency_ns(value, &options->gamma_start_ns);
    case GAMMA_SMALL: return trv_parse_latency_ns(value, &options->gamma_small_ns);
    case PART_OVERHEAD: return trv_parse_latency_ns(value, &options->part_overhead_ns);
    case MESSAGE_OVERHEAD: return trv_parse_latency_ns(value, &options->message_overhead_ns);
    case JITTER: return trv_parse_percent(value, &options->jitter);
    case SEED: return read_seed(value, &options->seed);
    case SLOW_RANK: return slow_rank_add(network, value);
    case SLOW_LINK: return link_add(network, value, cli_links_add_slow);
    case CUT: return link_add(network, value, cli_links_add_cut);
    case ROUTES:
        rc = read_word(value, "--routes", routes_name, &word);
        options->routes = rc ? options->routes : (trv_routes_t)word;
        return rc;
    case NO_FORWARDING: /* the option alone means yes */
        rc = value ? read_word(value, "--no-forwarding", no_forwarding_name, &word) : TRV_OK;
        options->no_forwarding = rc ? options->no_forwarding : !value || word == 1;
        return rc;
    case SHARED_PATHS: return read_shared_paths(value, options);
    }
    return TRV_ERR_ARGUMENT;
}

int cli_network_set(cli_network_t *network, const char *name, const char *value)
{
    const int parameter = parameter_find(name);
    if (parameter < 0)
        return fail_unknown(name);
    network->given |= UINT32_C(1) << parameter;
    return set_and_name(network, parameter, value);
}

/* ---- Checking ---------------------------------------------------------------------------------------------------- */

static int slow_ranks_check(const cli_network_t *network, const trv_torus_t *torus)
{
    char text[TRV_TORUS_TEXT_MAX];
    for (int i = 0; i < network->options.slow_ranks; i++) {
        int rank = network->slow_rank[i].rank;
        if (rank >= torus->ranks)
            return trv_fail(TRV_ERR_ARGUMENT,
                            "--slow-rank: there is no rank %d on the torus %s, whose ranks are 0 to %d", rank,
                            trv_torus_format(torus, text, sizeof text), torus->ranks - 1);
        for (int j = 0; j < i; j++)
            if (network->slow_rank[j].rank == rank)
                return trv_fail(TRV_ERR_ARGUMENT, "--slow-rank: rank %d is given twice; leave one out", rank);
    }
    return TRV_OK;
}

int cli_network_finish(cli_network_t *network, const trv_torus_t *torus)
{
    trv_simulate_options_t *options = &network->options;
    char text[TRV_TORUS_TEXT_MAX];
    options->slow_rank = network->slow_rank;
    options->slow_link = network->links.directed;
    if (options->shared_paths == CLI_ALL_DIMENSIONS)
        options->shared_paths = (1u << torus->dims) - 1;
    if (options->shared_paths >> torus->dims)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "--shared-paths: the last dimension of the torus %s is %d; for example --shared-paths=0",
                        trv_torus_format(torus, text, sizeof text), torus->dims - 1);
    if (options->buffer_bytes && options->model == TRV_FIFO)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "--buffer requires --model=dateline: with one queue per link, full buffers deadlock a ring");
    if (options->buffer_bytes && options->buffer_bytes < options->packet_bytes)
        return trv_fail(TRV_ERR_ARGUMENT, "--buffer: a packet of %u bytes does not fit in a buffer of %llu bytes",
                        (unsigned)options->packet_bytes, (unsigned long long)options->buffer_bytes);
    int rc = slow_ranks_check(network, torus);
    return rc ? rc : cli_links_finish(&network->links, torus, &options->slow_links);
}

int cli_network_finish_file(cli_network_t *network, const trv_schedule_file_t *file)
{
    if (network->options.routes == TRV_ROUTES_FIXED)
        return trv_fail(TRV_ERR_ARGUMENT, "--routes=fixed applies only to algorithms: the messages of a file leave by "
                                          "the ports that the file names; leave it out");
    network->options.no_forwarding |= file->no_forwarding;
    int rc = cli_links_add_file(&network->links, file->slow_link, file->slow_links);
    return rc ? rc : cli_network_finish(network, trv_schedule_torus(file->schedule));
}

trv_network_t cli_network_on(const trv_torus_t *torus, const trv_simulate_options_t *options)
{
    return (trv_network_t){TRV_NETWORK,
                           .torus = *torus,
                           .slow_links = options->slow_links,
                           .slow_link = options->slow_link,
                           .routes = options->routes,
                           .no_forwarding = options->no_forwarding};
}

trv_simulate_options_t cli_network_reporting(const trv_simulate_options_t *options, trv_span_t *span)
{
    trv_simulate_options_t reporting = *options;
    reporting.progress = trv_span_callback;
    reporting.progress_context = span;
    return reporting;
}

int cli_network_open_rings(const trv_torus_t *torus, const trv_simulate_options_t *options, trv_torus_t *opened)
{
    const trv_network_t on = cli_network_on(torus, options);
    trv_rows_t *rows;
    int rc = trv_rows_create(&rows, &on, INFINITY);
    *opened = *torus;
    if (!rc)
        opened->lines = rows->lines;
    trv_rows_destroy(rows);
    return rc;
}

double cli_hop_ns(const trv_simulate_options_t *network)
{
    return network->link_latency_ns + network->router_in_ns + network->router_out_ns;
}

void cli_set_hop(trv_simulate_options_t *network, double hop_ns)
{
    const double now_ns = cli_hop_ns(network);
    if (now_ns > 0) {
        network->link_latency_ns *= hop_ns / now_ns;
        network->router_in_ns *= hop_ns / now_ns;
        network->router_out_ns *= hop_ns / now_ns;
    } else {
        network->link_latency_ns = hop_ns;
    }
}
