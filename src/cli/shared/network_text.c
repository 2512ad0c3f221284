/*
 * The network's parameters as text, see network_options.h.
 */
#include "cli/shared/network_options.h"

#include "base/append.h"
#include "base/text/parse.h"

static void append_slow(const cli_network_t *network, char text[CLI_NETWORK_TEXT_MAX])
{
    char links[CLI_LINKS_TEXT_MAX];
    for (int i = 0; i < network->options.slow_ranks; i++)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", rank %d %.10gx", network->slow_rank[i].rank,
                   network->slow_rank[i].factor);
    cli_links_format(&network->links, "link ", links);
    trv_append(text, CLI_NETWORK_TEXT_MAX, "%s%s", links[0] ? ", " : "", links);
}

static void append_shared_paths(const trv_simulate_options_t *options, char text[CLI_NETWORK_TEXT_MAX])
{
    if (options->one_path) {
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", one shared path");
        return;
    }
    for (int d = 0; d < TRV_DIMS_MAX && options->shared_paths != CLI_ALL_DIMENSIONS; d++)
        if (options->shared_paths >> d & 1)
            trv_append(text, CLI_NETWORK_TEXT_MAX, "%s%d",
                       options->shared_paths & ((1u << d) - 1) ? ":" : ", shared paths ", d);
}

char *cli_network_unplanned(const cli_network_t *network, char text[CLI_NETWORK_TEXT_MAX])
{
    const trv_simulate_options_t *options = &network->options;
    const struct {
        bool present;
        const char *name;
    } part[] = {{options->slow_ranks > 0, "slow ranks"},
                {options->jitter > 0, "jitter"},
                {options->buffer_bytes > 0, "finite buffers"}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        if (part[i].present)
            trv_append(text, CLI_NETWORK_TEXT_MAX, "%s%s", text[0] ? ", " : "", part[i].name);
    return text;
}

char *cli_network_format(const cli_network_t *network, char text[CLI_NETWORK_TEXT_MAX])
{
    static const trv_simulate_options_t defaults = TRV_SIMULATE_DEFAULTS;
    const trv_simulate_options_t *options = &network->options;
    char bytes[TRV_BYTES_TEXT_MAX];
    text[0] = '\0';
    trv_append(text, CLI_NETWORK_TEXT_MAX,
               "%s, delivery %s, %g Gb/s, alpha %g us, links %g ns, hosts %g ns, routers %g + %g ns, packets of %s",
               cli_model_name(options->model), cli_delivery_name(options->delivery), options->bandwidth_bps / 1e9,
               options->alpha_ns / 1e3, options->link_latency_ns, options->host_latency_ns, options->router_in_ns,
               options->router_out_ns, trv_format_bytes(options->packet_bytes, bytes));
    if (options->nic_bandwidth_bps < defaults.nic_bandwidth_bps ||
        options->nic_bandwidth_bps > defaults.nic_bandwidth_bps)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", interfaces %g Gb/s", options->nic_bandwidth_bps / 1e9);
    if (options->injection_bps > 0)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", injection %g Gb/s", options->injection_bps / 1e9);
    if (options->buffer_bytes)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", buffers of %s", trv_format_bytes(options->buffer_bytes, bytes));
    if (options->gamma_ns > 0)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", reductions %g ns/B%s", options->gamma_ns,
                   options->gamma_per_stream ? " per stream" : "");
    if (options->gamma_start_ns > 0)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", start-up of reductions %g ns", options->gamma_start_ns);
    if (options->gamma_small_ns > 0)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", or %g ns/B without start-up where that is faster",
                   options->gamma_small_ns);
    if (options->part_overhead_ns > 0)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", part overhead %g ns", options->part_overhead_ns);
    if (options->message_overhead_ns > 0)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", message overhead %g ns", options->message_overhead_ns);
    if (options->jitter > 0)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", jitter %g %% (seed %llu)", 100 * options->jitter,
                   (unsigned long long)options->seed);
    append_slow(network, text);
    if (options->routes != defaults.routes)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", routes %s", cli_routes_name(options->routes));
    if (options->no_forwarding)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", no forwarding");
    append_shared_paths(options, text);
    return text;
}
