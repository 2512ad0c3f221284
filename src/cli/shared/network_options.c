/*
 * The network's parameters as users type them: the table of trivance/parameters.h as options, and a profile's name.
 */
#include "cli/shared/network_options.h"

#include <string.h>

#include <trivance/formats.h>
#include <trivance/parameters.h>

#include "base/append.h"
#include "base/error.h"
#include "simulate/simulator.h"

#define NETWORK "network" /* the name of a profile; the parameters follow */

static const trv_parameter_t *parameter_of(int index) { return trv_parameter_at(index - 1); }

const char *cli_network_name(int index)
{
    return index == 0 ? NETWORK : parameter_of(index) ? parameter_of(index)->name : NULL;
}

static int index_find(const char *name)
{
    int i = 0;
    while (cli_network_name(i) && strcmp(cli_network_name(i), name) != 0)
        i++;
    return cli_network_name(i) ? i : -1;
}

bool cli_network_given(const cli_network_t *network, const char *name)
{
    return network->given >> index_find(name) & 1;
}

void cli_network_init(cli_network_t *network) { *network = (cli_network_t){.options = TRV_SIMULATE_DEFAULTS}; }

/* ---- As options -------------------------------------------------------------------------------------------------- */

static cli_option_t profile_option(void)
{
    static char text[512], words[256];
    if (!text[0]) {
        trv_append(text, sizeof text, "a network with a name: ");
        for (int i = 0; trv_profile_name(i); i++) {
            const char *name = trv_profile_name(i);
            trv_append(words, sizeof words, "%s ", name);
            trv_append(text, sizeof text, "%s%s, ", name, strcmp(name, "paper") == 0 ? " (default)" : "");
        }
        trv_append(words, sizeof words, "FILE");
        trv_append(text, sizeof text,
                   "or a file with parameters, for example ./mine.json; other options replace single parameters");
    }
    return (cli_option_t){NETWORK, CLI_NETWORK_OPTION, "NAME", text, words};
}

/* Fills in a heading, the name of a profile unless only links are asked for, and the options that affect all of
 * `affected`. */
static const cli_option_t *options_select(const char *heading, unsigned affected, cli_option_t *chosen)
{
    int rows = 0;
    chosen[rows++] = (cli_option_t){.text = heading};
    if (!(affected & TRV_AFFECTS_LINKS))
        chosen[rows++] = profile_option();
    for (int i = 1; parameter_of(i); i++) {
        const trv_parameter_t *p = parameter_of(i);
        if ((p->affects & affected) == affected)
            chosen[rows++] = (cli_option_t){p->name, CLI_NETWORK_OPTION + i, p->value, p->sentence, p->words};
    }
    return chosen;
}

const cli_option_t *cli_network_options(void)
{
    static cli_option_t chosen[CLI_NETWORK_MAX + 2];
    return options_select("Network (one queue per link and otherwise the paper's by default)", 0, chosen);
}

const cli_option_t *cli_network_plan_options(void)
{
    static cli_option_t chosen[CLI_NETWORK_MAX + 2];
    return options_select("Network for which plans are made (one queue per link; otherwise the paper's by default)",
                          TRV_AFFECTS_PLANS, chosen);
}

const char *cli_network_refused(const char *name)
{
    static char sentence[256];
    const trv_parameter_t *p = trv_parameter_find(name);
    if (!p || p->affects & TRV_AFFECTS_PLANS)
        return NULL;
    snprintf(sentence, sizeof sentence,
             "--%s: plans are made for equally fast ranks, links with one queue and messages with one route; `trivance "
             "simulate 8x8 --algorithm=planned --%s=%s` times a plan with it",
             p->name, p->name, p->kind == TRV_KIND_FLAG ? "yes" : p->value);
    return sentence;
}

const cli_option_t *cli_network_link_options(void)
{
    static cli_option_t chosen[CLI_NETWORK_MAX + 2];
    return options_select("Links of the network", TRV_AFFECTS_LINKS, chosen);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int slow_rank_add(cli_network_t *network, const char *text)
{
    trv_parameter_entry_t entry;
    int rc = trv_parameter_parse_entry("slow-rank", text, &entry);
    if (!rc && network->options.slow_ranks == CLI_SLOW_MAX)
        rc = trv_fail(TRV_ERR_ARGUMENT, "there are more than %d slow ranks", CLI_SLOW_MAX);
    if (!rc)
        network->slow_rank[network->options.slow_ranks++] = (trv_slow_rank_t){entry.rank, entry.factor};
    return rc;
}

/* Adds an entry of a list; cli_network_finish checks that the torus has the rank and the link. */
static int entry_add(cli_network_t *network, const char *name, const char *text)
{
    if (strcmp(name, "slow-rank") == 0)
        return slow_rank_add(network, text);
    int rc = cli_links_add(&network->links, name, text);
    network->options.slow_links = network->links.count;
    return rc;
}

/* Sets a parameter of a profile, unless an option has set it; its value is checked in both cases. */
static int profile_parameter_set(void *context, const char *name, const char *value, const char *source)
{
    cli_network_t *network = context;
    trv_simulate_options_t unused = TRV_SIMULATE_DEFAULTS;
    const int index = index_find(name);
    const bool given = index >= 0 && (network->given >> index & 1);
    (void)source;
    return trv_parameter_set(given ? &unused : &network->options, name, value);
}

int cli_network_set(cli_network_t *network, const char *name, const char *value)
{
    const int index = index_find(name);
    if (index < 0)
        return trv_parameter_set(&network->options, name, value);
    network->given |= UINT64_C(1) << index;
    int rc = index == 0                                   ? trv_profile_read(value, profile_parameter_set, network)
             : parameter_of(index)->kind == TRV_KIND_LIST ? entry_add(network, name, value)
                                                          : trv_parameter_set(&network->options, name, value);
    return rc ? trv_fail(rc, "--%s: %s", name, trv_last_error()) : TRV_OK;
}

/* ---- Checking ---------------------------------------------------------------------------------------------------- */

/* Rejects a parameter that has no effect, because the one that it needs has its default. */
static int needs_check(const cli_network_t *network)
{
    for (int i = 1; parameter_of(i); i++) {
        const char *name = parameter_of(i)->name, *needs = parameter_of(i)->needs;
        if (needs && cli_network_given(network, name) &&
            trv_parameter_is_default(&network->options, trv_parameter_find(needs)))
            return trv_fail(TRV_ERR_ARGUMENT, "--%s is valid only with --%s; leave it out or add that", name, needs);
    }
    return TRV_OK;
}

/* Checks the options. An error that does not occur without a given option begins with the name of that option. */
static int options_check(const cli_network_t *network, const trv_torus_t *torus)
{
    trv_simulate_options_t without = network->options;
    char sentence[512];
    const char *name = "buffer";
    const int rc = trv_simulate_check(&network->options, torus);
    if (!rc)
        return TRV_OK;
    snprintf(sentence, sizeof sentence, "%s", trv_last_error());
    without.buffer_bytes = 0;
    if (trv_simulate_check(&without, torus) && strcmp(trv_last_error(), sentence) == 0) {
        without.slow_ranks = 0;
        name = trv_simulate_check(&without, torus) && strcmp(trv_last_error(), sentence) == 0 ? "" : "slow-rank";
    }
    const bool is_option = *name && cli_network_given(network, name);
    return trv_fail(rc, is_option ? "--%s: %s" : "%s%s", is_option ? name : "", sentence);
}

int cli_network_finish(cli_network_t *network, const trv_torus_t *torus)
{
    trv_simulate_options_t *options = &network->options;
    options->slow_rank = network->slow_rank;
    options->slow_link = network->links.directed;
    if (options->shared_paths == TRV_ALL_DIMENSIONS)
        options->shared_paths = (1u << torus->dims) - 1;
    for (int i = 0; i < options->slow_ranks; i++)
        for (int j = 0; j < i; j++)
            if (network->slow_rank[j].rank == network->slow_rank[i].rank)
                return trv_fail(TRV_ERR_ARGUMENT, "--slow-rank: rank %d is given twice; leave one out",
                                network->slow_rank[i].rank);
    int rc = needs_check(network);
    if (!rc)
        rc = cli_links_finish(&network->links, torus, &options->slow_links);
    return rc ? rc : options_check(network, torus);
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
    return trv_simulate_network(torus, options);
}

trv_simulate_options_t cli_network_reporting(const trv_simulate_options_t *options, trv_span_t *span)
{
    trv_simulate_options_t reporting = *options;
    reporting.progress = trv_span_callback;
    reporting.progress_context = span;
    return reporting;
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
