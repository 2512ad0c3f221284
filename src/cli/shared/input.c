/*
 * Tori and schedule files as input.
 */
#include "cli/shared/input.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cost/measure.h"
#include "base/text/parse.h"
#include "base/error.h"
#include "cli/shared/network_options.h"
#include "cli/shared/progress.h"
#include "cli/shared/tool.h"

/* Whether an argument is the name of a file rather than a torus. */
static bool is_file(const char *text)
{
    const size_t length = strlen(text);
    struct stat status;
    return (length > 5 && strcmp(text + length - 5, ".json") == 0) ||
           (stat(text, &status) == 0 && S_ISREG(status.st_mode));
}

/* Whether an argument looks like a number of bytes, such as 64K. */
static bool is_bytes(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    return digits > 0 && text[digits] && strchr("BkKMGT", text[digits]);
}

int cli_read_tori(int argc, char **argv, int first, cli_tori_t *tori)
{
    tori->count = 0;
    for (int i = first; i < argc; i++) {
        char item[TRV_TORUS_TEXT_MAX];
        const char *rest = argv[i];
        int more;
        while ((more = trv_next_item(&rest, "tori", item, sizeof item)) > 0) {
            if (tori->count == CLI_TORI_MAX)
                return trv_fail(TRV_ERR_ARGUMENT, "there are more than %d tori", CLI_TORI_MAX);
            int rc = trv_torus_parse(item, &tori->torus[tori->count]);
            if (rc && is_file(argv[i]))
                return trv_fail(rc, "'%.200s' is not a torus; a schedule in a file is given as --schedule=%.200s",
                                argv[i], argv[i]);
            /* After another torus, 64M is a size rather than a line of 64 ranks. */
            if (is_bytes(argv[i]) && (rc || (tori->count > 0 && strchr(argv[i], 'M'))))
                return trv_fail(TRV_ERR_ARGUMENT,
                                "'%.40s' is not a torus; the size of a vector is given as --bytes=%.40s", argv[i],
                                argv[i]);
            if (rc)
                return rc;
            tori->count++;
        }
        if (more)
            return more;
    }
    return TRV_OK;
}

int cli_read_torus_of(const char *text, int ranks, trv_torus_t *torus)
{
    const int rc = trv_torus_parse(text, torus);
    return rc || torus->ranks == ranks
               ? rc
               : trv_fail(TRV_ERR_ARGUMENT,
                          "the torus %.80s has %d ranks, and %d were started; the product of its sizes must be the "
                          "number of ranks (mpirun -n %d)",
                          text, torus->ranks, ranks, torus->ranks);
}

int cli_verify_schedule(const trv_schedule_t *schedule, const trv_network_t *network, trv_verify_method_t method,
                        trv_verdict_t *verdict)
{
    cli_progress_t bar;
    char what[CLI_PROGRESS_NAME_MAX];
    snprintf(what, sizeof what, "verifying %.64s", trv_schedule_name(schedule));
    trv_span_t all = cli_progress_begin(&bar, what, 1);
    int rc = trv_verify_on(schedule, network, method, verdict, trv_span_callback, &all);
    cli_progress_end(&bar);
    return rc;
}

int cli_check_schedule(const char *path, const trv_schedule_t *schedule, const trv_network_t *network)
{
    trv_verdict_t verdict = {TRV_VERDICT};
    int rc = cli_verify_schedule(schedule, network, TRV_VERIFY_AUTO, &verdict);
    if (rc || verdict.valid)
        return rc;
    trv_fail(TRV_ERR_INVALID, "%.200s violates its claims: %s", strcmp(path, "-") == 0 ? "stdin" : path, verdict.fault);
    return CLI_WRONG;
}

int cli_require_blocks(const trv_schedule_file_t *file, const char *path, const char *consequence)
{
    return file->has_blocks ? TRV_OK
                            : trv_fail(TRV_ERR_INVALID, "%.200s has messages but no blocks, so %s", path, consequence);
}

int cli_check_routes(const trv_schedule_t *schedule, const trv_simulate_options_t *options)
{
    const trv_network_t on = cli_network_on(trv_schedule_torus(schedule), options);
    const trv_hockney_t times = TRV_HOCKNEY_PAPER;
    const uint64_t bytes = 1;
    trv_cost_t cost;
    double time_ns;
    if (on.slow_links == 0 && !on.no_forwarding)
        return TRV_OK;
    int rc = trv_cost_sizes(schedule, &on, &times, &bytes, 1, (trv_span_t){0}, &cost, &time_ns);
    if (!rc)
        trv_cost_clear(&cost);
    return rc;
}

int cli_read_schedule(const char *command, const char *path, bool unchecked, trv_schedule_file_t *file)
{
    int rc = trv_schedule_read(path, file, cli_warn_callback, (void *)(size_t)command);
    if (rc || unchecked || !file->has_blocks)
        return rc;
    const trv_network_t network = trv_schedule_file_network(file, trv_schedule_torus(file->schedule));
    rc = cli_check_schedule(path, file->schedule, &network);
    if (rc) {
        trv_schedule_destroy(file->schedule);
        file->schedule = NULL;
    }
    if (rc == CLI_WRONG)
        trv_fail(TRV_ERR_INVALID, "%s; --unchecked accepts the file unverified", trv_last_error());
    return rc;
}

/* ---- Sets of nodes ----------------------------------------------------------------------------------------------- */

/* Reads a node ("5") or a range of nodes ("0-9"). */
static int read_range(const char *item, int last, int *from, int *to)
{
    char first[16];
    const char *dash = strchr(item, '-');
    const size_t length = dash ? (size_t)(dash - item) : strlen(item);
    snprintf(first, sizeof first, "%.*s", (int)(length < sizeof first ? length : sizeof first - 1), item);
    int rc = trv_parse_int(first, "--nodes", 0, last, from);
    *to = *from;
    if (!rc && dash)
        rc = trv_parse_int(dash + 1, "--nodes", 0, last, to);
    if (rc)
        return trv_fail(rc,
                        "--nodes: '%.40s' is not a node from 0 to %d, or a range of them, for example 0-%d; without "
                        "--nodes the plan is for all",
                        item, last, last / 2);
    if (*to < *from)
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "--nodes: the range %.40s ends before it begins; expected ascending ranges, for example 0-9,16-25", item);
    return TRV_OK;
}

int cli_read_nodes(const char *list, int ranks, int *node, int *nodes)
{
    char item[64];
    int more, rc = TRV_OK;
    *nodes = 0;
    while (!rc && (more = trv_next_item(&list, "--nodes", item, sizeof item)) != 0) {
        int from = 0, to = -1;
        rc = more < 0 ? more : read_range(item, ranks - 1, &from, &to);
        for (int n = from; !rc && n <= to; n++) {
            if (*nodes == ranks)
                return trv_fail(TRV_ERR_ARGUMENT,
                                "--nodes lists more than the %d nodes of the torus: a node is listed twice", ranks);
            node[(*nodes)++] = n;
        }
    }
    return rc;
}
