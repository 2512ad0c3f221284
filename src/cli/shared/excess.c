/*
 * Marks of algorithms with many messages per port, see excess.h.
 */
#include "cli/shared/excess.h"

#include <string.h>

#include <trivance/algorithms.h>

static int count_excess(const cli_excess_t *excess, const char *algorithm)
{
    trv_schedule_t *schedule;
    if (excess->network.messages_per_port == 0 ||
        trv_schedule_create_on(&schedule, &excess->network, algorithm, excess->collective, excess->root))
        return 0;
    const int messages = trv_schedule_messages_per_port(schedule);
    trv_schedule_destroy(schedule);
    return messages > excess->network.messages_per_port ? messages : 0;
}

int cli_excess_of(cli_excess_t *excess, const char *algorithm)
{
    for (int i = 0; i < excess->algorithms; i++)
        if (strcmp(excess->algorithm[i].name, algorithm) == 0)
            return excess->algorithm[i].messages;
    const int messages = count_excess(excess, algorithm);
    if (excess->algorithms < (int)(sizeof excess->algorithm / sizeof excess->algorithm[0])) {
        const int i = excess->algorithms++;
        snprintf(excess->algorithm[i].name, sizeof excess->algorithm[i].name, "%s", algorithm);
        excess->algorithm[i].messages = messages;
    }
    return messages;
}

const char *cli_excess_mark(cli_excess_t *excess, const char *label, const char *algorithm, char marked[CLI_MARKED_MAX])
{
    const int messages = cli_excess_of(excess, algorithm);
    for (int i = 0; i < excess->algorithms && messages; i++)
        excess->algorithm[i].marked |= strcmp(excess->algorithm[i].name, algorithm) == 0;
    snprintf(marked, CLI_MARKED_MAX, "%s%s", label, messages ? CLI_EXCESS_MARK : "");
    return marked;
}

void cli_excess_explain(const cli_excess_t *excess, FILE *out)
{
    int marked = 0;
    for (int i = 0; i < excess->algorithms; i++) {
        if (!excess->algorithm[i].marked)
            continue;
        if (marked++ == 0)
            fprintf(out,
                    CLI_EXCESS_MARK
                    ": planned does not consider it: a rank sends or receives more messages per port in "
                    "a step than the network's %d (--messages-per-port): ",
                    excess->network.messages_per_port);
        fprintf(out, "%s%s %d", marked > 1 ? ", " : "", excess->algorithm[i].name, excess->algorithm[i].messages);
    }
    if (marked > 0)
        fputc('\n', out);
}
