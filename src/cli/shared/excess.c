/*
 * Marks of algorithms with many messages per port, see excess.h.
 */
#include "cli/shared/excess.h"

#include <string.h>

#include <trivance/algorithms.h>

int cli_excess_add(cli_excess_t *excess, const char *algorithm, const trv_schedule_t *schedule)
{
    const int counted = schedule ? trv_schedule_messages_per_port(schedule) : 0, messages = counted > 0 ? counted : 0;
    if (excess->algorithms < (int)(sizeof excess->algorithm / sizeof excess->algorithm[0])) {
        const int i = excess->algorithms++;
        snprintf(excess->algorithm[i].name, sizeof excess->algorithm[i].name, "%s", algorithm);
        excess->algorithm[i].messages = messages;
    }
    return messages;
}

int cli_messages_per_port(cli_excess_t *excess, const char *algorithm)
{
    trv_schedule_t *schedule;
    for (int i = 0; i < excess->algorithms; i++)
        if (strcmp(excess->algorithm[i].name, algorithm) == 0)
            return excess->algorithm[i].messages;
    if (trv_schedule_create_on(&schedule, &excess->network, algorithm, excess->collective, excess->root))
        schedule = NULL;
    const int messages = cli_excess_add(excess, algorithm, schedule);
    trv_schedule_destroy(schedule);
    return messages;
}

bool cli_excess_of(cli_excess_t *excess, const char *algorithm)
{
    const int limit = excess->network.messages_per_port;
    return limit > 0 && cli_messages_per_port(excess, algorithm) > limit;
}

const char *cli_excess_mark(cli_excess_t *excess, const char *label, const char *algorithm, char marked[CLI_MARKED_MAX])
{
    const bool exceeds = cli_excess_of(excess, algorithm);
    for (int i = 0; i < excess->algorithms && exceeds; i++)
        excess->algorithm[i].marked |= strcmp(excess->algorithm[i].name, algorithm) == 0;
    snprintf(marked, CLI_MARKED_MAX, "%s%s", label, exceeds ? CLI_EXCESS_MARK : "");
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
