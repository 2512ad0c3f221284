/*
 * The network's parameters as text, see network_options.h.
 */
#include "cli/shared/network_options.h"

#include <stdlib.h>
#include <string.h>

#include <trivance/parameters.h>

#include "base/append.h"
#include "base/number.h"
#include "base/text/parse.h"

char *cli_network_unplanned(const cli_network_t *network, char text[CLI_NETWORK_TEXT_MAX])
{
    text[0] = '\0';
    for (int i = 0; trv_parameter_at(i); i++) {
        const trv_parameter_t *p = trv_parameter_at(i);
        if ((p->affects & TRV_AFFECTS_TIMES) && p->kind != TRV_KIND_WHOLE && /* the seed of another parameter */
            !trv_parameter_is_default(&network->options, p))
            trv_append(text, CLI_NETWORK_TEXT_MAX, "%s%s", text[0] ? ", " : "", p->name);
    }
    return text;
}

/* Rates and times have the name of their member, which ends with the unit. */
static bool has_unit(const trv_parameter_t *p) { return p->kind == TRV_KIND_RATE || p->kind == TRV_KIND_TIME; }

static void append_parameter(const trv_simulate_options_t *options, const trv_parameter_t *p,
                             char text[CLI_NETWORK_TEXT_MAX])
{
    char value[TRV_PARAMETER_TEXT_MAX];
    const char *summary = text[0] ? p->summary : p->summary + strspn(p->summary, ", ");
    const bool marked = p->mark && *(const bool *)((const char *)options + p->mark_offset);
    uint64_t count = 0;
    trv_parameter_format(options, p, value);
    if (p->unit > 0)
        trv_snprintf(value, sizeof value, "%g", *(const double *)((const char *)options + p->offset) / p->unit);
    else if (p->kind == TRV_KIND_BYTES && trv_parse_bytes(value, &count) == TRV_OK)
        trv_format_bytes(count, value);
    trv_append(text, CLI_NETWORK_TEXT_MAX, summary, value);
    if (marked && p->kind == TRV_KIND_TIME)
        trv_append(text, CLI_NETWORK_TEXT_MAX, " per stream");
}

void cli_network_keys(char keys[CLI_KEYS_MAX])
{
    for (int i = 0; trv_parameter_at(i); i++) {
        const trv_parameter_t *p = trv_parameter_at(i);
        if (p->affects & TRV_STATED_RESULTS)
            trv_append(keys, CLI_KEYS_MAX, " %s", has_unit(p) ? p->member : p->name);
    }
}

void cli_network_cells(const trv_simulate_options_t *options, cli_table_t *table)
{
    char text[TRV_PARAMETER_TEXT_MAX];
    for (int i = 0; trv_parameter_at(i); i++) {
        const trv_parameter_t *p = trv_parameter_at(i);
        if (!(p->affects & TRV_STATED_RESULTS))
            continue;
        trv_parameter_format(options, p, text);
        if (has_unit(p))
            cli_cell_real(table, *(const double *)((const char *)options + p->offset),
                          p->kind == TRV_KIND_RATE ? 0 : 3);
        else if (p->kind == TRV_KIND_BYTES)
            cli_cell_int(table, strtoll(text, NULL, 10));
        else
            cli_cell_text(table, text);
    }
}

static void append_lists(const cli_network_t *network, char text[CLI_NETWORK_TEXT_MAX])
{
    char links[CLI_LINKS_TEXT_MAX];
    for (int i = 0; i < network->options.slow_ranks; i++)
        trv_append(text, CLI_NETWORK_TEXT_MAX, ", rank %d %.10gx", network->slow_rank[i].rank,
                   network->slow_rank[i].factor);
    cli_links_format(&network->links, "link ", links);
    trv_append(text, CLI_NETWORK_TEXT_MAX, "%s%s", links[0] ? ", " : "", links);
}

char *cli_network_format(const cli_network_t *network, char text[CLI_NETWORK_TEXT_MAX])
{
    text[0] = '\0';
    for (int stated = 1; stated >= 0; stated--)
        for (int i = 0; trv_parameter_at(i); i++) {
            const trv_parameter_t *p = trv_parameter_at(i);
            const bool is_stated = p->affects & TRV_STATED_SUMMARY;
            if (!stated && strcmp(p->name, "slow-rank") == 0) /* where the lists are in the table */
                append_lists(network, text);
            if (p->summary && is_stated == (stated == 1) &&
                (is_stated || !trv_parameter_is_default(&network->options, p)))
                append_parameter(&network->options, p, text);
        }
    return text;
}
