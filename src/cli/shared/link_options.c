/*
 * Slow and cut links. A link is named by its source rank and port. A cut applies to both directions unless it has the
 * suffix ":one-way"; the link of the opposite direction depends on the torus.
 */
#include "cli/shared/link_options.h"

#include <math.h>
#include <string.h>

#include <trivance/parameters.h>

#include "base/error.h"
#include "base/number.h"
#include "torus/reach.h"
#include "torus/rows.h"
#include "torus/torus.h"

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int links_add(cli_links_t *links, const cli_link_t *link)
{
    if (links->count == CLI_LINKS_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "there are more than %d slow or cut links", CLI_LINKS_MAX);
    links->link[links->count++] = *link;
    return TRV_OK;
}

int cli_links_add(cli_links_t *links, const char *parameter, const char *text)
{
    trv_parameter_entry_t entry;
    int rc = trv_parameter_parse_entry(parameter, text, &entry);
    if (rc)
        return rc;
    const bool cut = strcmp(parameter, "cut") == 0;
    return links_add(links, &(cli_link_t){.option = cut ? "--cut" : "--slow-link",
                                          .slow = {entry.rank, entry.port, entry.factor},
                                          .both_ways = cut && !entry.one_way});
}

static const char from_file[] = "links";

int cli_links_add_file(cli_links_t *links, const trv_slow_link_t *link, int count)
{
    if (count > 2 * CLI_LINKS_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "the file has more than %d slow or cut links", 2 * CLI_LINKS_MAX);
    for (int i = 0; i < count; i++)
        links->link[links->count++] = (cli_link_t){.option = from_file, .slow = link[i]};
    return TRV_OK;
}

/* ---- On a torus -------------------------------------------------------------------------------------------------- */

/* Reports a link that is given twice, and where it was given before: on the command line, or in a schedule's file,
 * whose links are added last. */
static int report_duplicate(const cli_link_t *before, const cli_link_t *link, const trv_slow_link_t *twice)
{
    char port[TRV_PORT_TEXT_MAX], port_before[TRV_PORT_TEXT_MAX];
    const char *is = isinf(before->slow.factor) ? "cut" : "slow";
    trv_port_format(twice->port, port);
    if (link->option == from_file)
        return trv_fail(TRV_ERR_ARGUMENT, "%s: the link %d:%s is already %s in the file; leave %s out", before->option,
                        twice->rank, port, isinf(link->slow.factor) ? "cut" : "slow", before->option);
    return trv_fail(TRV_ERR_ARGUMENT, "%s: the link %d:%s is already %s by %s=%d:%s%s; leave one out", link->option,
                    twice->rank, port, is, before->option, before->slow.rank,
                    trv_port_format(before->slow.port, port_before),
                    before->both_ways ? ", which cuts both directions" : "");
}

/* from[i] is the index of the link, as typed, that directed link i was made from. */
static int add_directed(cli_links_t *links, int *count, int *from, int index, trv_slow_link_t link)
{
    for (int i = 0; i < *count; i++)
        if (links->directed[i].rank == link.rank && links->directed[i].port == link.port)
            return report_duplicate(&links->link[from[i]], &links->link[index], &link);
    from[*count] = index;
    links->directed[(*count)++] = link;
    return TRV_OK;
}

int cli_links_finish(cli_links_t *links, const trv_torus_t *torus, int *count)
{
    int rc = TRV_OK, n = 0, from[4 * CLI_LINKS_MAX];
    for (int i = 0; i < links->count && !rc; i++) {
        const cli_link_t *link = &links->link[i];
        rc = trv_link_check(torus, &link->slow);
        if (rc)
            return trv_fail(rc, "%s: %s", link->option, trv_last_error());
        rc = add_directed(links, &n, from, i, link->slow);
        if (!rc && link->both_ways)
            rc = add_directed(links, &n, from, i, trv_link_opposite(torus, &link->slow));
    }
    *count = n;
    const trv_network_t network = {TRV_NETWORK, .torus = *torus, .slow_links = n, .slow_link = links->directed};
    return rc ? rc : trv_network_check_connected(&network);
}

char *cli_links_format(const cli_links_t *links, const char *before, char text[CLI_LINKS_TEXT_MAX])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < links->count && used < CLI_LINKS_TEXT_MAX; i++) {
        const cli_link_t *link = &links->link[i];
        char port[TRV_PORT_TEXT_MAX], factor[32];
        trv_snprintf(factor, sizeof factor, "%.10gx", link->slow.factor);
        used += (size_t)snprintf(text + used, CLI_LINKS_TEXT_MAX - used, "%s%s%d:%s %s", i ? ", " : "", before,
                                 link->slow.rank, trv_port_format(link->slow.port, port),
                                 !isinf(link->slow.factor) ? factor
                                 : link->both_ways         ? "cut"
                                                           : "down");
    }
    return text;
}

/* The first rank of the open row that results from cutting this link. */
static int row_start(const trv_slow_link_t *link, const trv_torus_t *torus)
{
    return trv_port_sign(link->port) > 0 ? trv_link_opposite(torus, link).rank : link->rank;
}

void cli_links_explain(const cli_links_t *links, const trv_network_t *on, trv_routes_t routes, double avoided,
                       FILE *out)
{
    const trv_torus_t *torus = &on->torus;
    const bool divided = trv_network_check(on) == TRV_ERR_UNSUPPORTED;
    for (int i = 0; i < links->count; i++) {
        const trv_slow_link_t *link = &links->link[i].slow;
        char port[TRV_PORT_TEXT_MAX];
        fprintf(out, "link %d:%s ", link->rank, trv_port_format(link->port, port));
        if (isinf(link->factor) && divided)
            fputs("is cut; the cuts divide a row, so that only trees of links are compared\n", out);
        else if (isinf(link->factor))
            fprintf(out, "is cut: its row is a line that begins at rank %d\n", row_start(link, torus));
        else if (link->factor >= avoided)
            trv_fprintf(out, "is %.10g times as slow and avoided%s: its row is a line that begins at rank %d\n",
                        link->factor, routes == TRV_ROUTES_FIXED ? " except by messages whose shorter way it is" : "",
                        row_start(link, torus));
        else
            trv_fprintf(out, "is %.10g times as slow, and used\n", link->factor);
    }
}
