/*
 * Marks of algorithms with many messages per port, see excess.h.
 */
#include "cli/shared/excess.h"

#include <string.h>

#include <trivance/algorithms.h>

#include "base/append.h"

int cli_excess_of(const cli_excess_t *excess, const char *algorithm)
{
    trv_schedule_t *schedule;
    if (excess->network.messages_per_port == 0 ||
        trv_schedule_create_on(&schedule, &excess->network, algorithm, excess->collective, excess->root))
        return 0;
    const int messages = trv_schedule_messages_per_port(schedule);
    trv_schedule_destroy(schedule);
    return messages > excess->network.messages_per_port ? messages : 0;
}

const char *cli_excess_mark(cli_excess_t *excess, const char *label, const char *algorithm, char marked[CLI_MARKED_MAX])
{
    const int messages = cli_excess_of(excess, algorithm);
    char item[CLI_MARKED_MAX + 16];
    snprintf(item, sizeof item, "%s%s %d", *excess->list ? ", " : "", algorithm, messages);
    snprintf(marked, CLI_MARKED_MAX, "%s%.1s", label, messages ? (const char[]){CLI_EXCESS_MARK, '\0'} : "");
    if (messages && !strstr(excess->list, item + strspn(item, ", ")))
        trv_append(excess->list, sizeof excess->list, "%s", item);
    return marked;
}

void cli_excess_explain(const cli_excess_t *excess, FILE *out)
{
    if (*excess->list)
        fprintf(out,
                "%c: planned does not consider it: a rank sends or receives more messages per port in a step than the "
                "network's %d (--messages-per-port): %s\n",
                CLI_EXCESS_MARK, excess->network.messages_per_port, excess->list);
}
