/*
 * trivance testbed check: compares the measured network with its model, and prints the verdict.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trivance/common.h>

#include "base/number.h"
#include "cli/shared/tool.h"
#include "cli/shared/table.h"
#include "testbed/command/commands.h"

static void add_test(void *verdict, const tb_test_t *test)
{
    cli_verdict_t *all = verdict;
    double ratio = test->median_ns / test->theory_ns;
    all->tests++;
    all->wrong += fabs(ratio - 1) > TB_FAITHFUL;
    if (fabs(ratio - 1) > fabs(all->worst - 1))
        all->worst = ratio;
    if (!all->table)
        return;
    cli_cell_text(all->table, test->what);
    cli_cell_int(all->table, test->number);
    cli_cell_int(all->table, (int64_t)test->bytes);
    cli_cell_real(all->table, test->theory_ns / 1e6, 3);
    cli_cell_real(all->table, test->median_ns / 1e6, 3);
    cli_cell_real(all->table, test->min_ns / 1e6, 3);
    cli_cell_real(all->table, test->max_ns / 1e6, 3);
    cli_cell_real(all->table, ratio, 3);
    cli_cell_bool(all->table, fabs(ratio - 1) <= TB_FAITHFUL);
    cli_row_end(all->table);
}

int cli_testbed_verdict(const char *command, cli_verdict_t *verdict)
{
    *verdict = (cli_verdict_t){.table = verdict->table, .worst = 1};
    if (trv_testbed_status(&verdict->status) < 0)
        return cli_bad_last(command);
    trv_testbed_raise_priority(verdict->status.core);
    int code = trv_testbed_check(&verdict->status.network, add_test, verdict);
    char reason[300];
    snprintf(reason, sizeof reason, "%s", trv_last_error());
    if (trv_testbed_status(&verdict->status) < 0) /* if the emulator has ended, report that as the reason */
        return cli_bad_last(command);
    if (code < 0)
        return cli_bad(command, "%s", reason);
    verdict->limit_ns = trv_testbed_lateness_limit_ns(&verdict->status.network);
    verdict->faithful = verdict->wrong == 0 && verdict->status.lateness_p99_ns <= verdict->limit_ns;
    return CLI_OK;
}

void cli_testbed_verdict_print(const cli_verdict_t *verdict, FILE *out)
{
    char torus[TRV_TORUS_TEXT_MAX];
    const tb_status_t *status = &verdict->status;
    trv_fprintf(out,
                "%s: torus %s, %g Mb/s, %g ms: %d of %d tests within %.0f %% of theory (worst %.3f); deliveries late "
                "by %.0f us at the 99th percentile (allowed %.0f), %.0f us at most.\n",
                verdict->faithful ? "Faithful" : "NOT faithful",
                trv_torus_format(&status->network.torus, torus, sizeof torus), status->network.bandwidth_bps / 1e6,
                status->network.latency_ns / 1e6, verdict->tests - verdict->wrong, verdict->tests, 100 * TB_FAITHFUL,
                verdict->worst, status->lateness_p99_ns / 1e3, verdict->limit_ns / 1e3, status->lateness_max_ns / 1e3);
}

const cli_command_t cli_testbed_check_command = {
    .name = "testbed check",
    .summary = "compares the network with theory, and checks that this machine is fast enough",
    .usage = "[--format=F]",
    .about = "Measures latencies and bandwidths on the testbed that is up and compares them with theory; exit status 1 "
             "if one deviates by more than the limit, or the emulator is late.",
    .option = cli_testbed_format_option,
    .alone = "testbed check takes only options, for example --format=json",
    .examples = "trivance testbed up 3x3 && trivance testbed check\n",
};

int cli_testbed_check(int argc, char **argv)
{
    static const cli_column_t column[] = {{"test", "test", false, 22},         {"number", "", true, 3},
                                          {"bytes", "bytes", true, 7},         {"theory_ms", "theory ms", true, 9},
                                          {"median_ms", "median ms", true, 9}, {"min_ms", "min", true, 8},
                                          {"max_ms", "max", true, 8},          {"ratio", "ratio", true, 6},
                                          {"faithful", "faithful", false, 0},  {0}};
    cli_format_t format = CLI_FORMAT_TABLE;
    cli_table_t table;
    cli_verdict_t verdict = {.table = &table};
    int code = cli_read_format_option(&cli_testbed_check_command, argc, argv, &format);
    if (code >= 0)
        return code;
    int lock = trv_testbed_lock_job();
    if (lock < 0)
        return cli_bad_last(argv[0]);
    cli_table_begin(&table, stdout, format, column);
    if (cli_stdout_is_terminal()) /* print each row as soon as it is measured, because all take some seconds */
        cli_table_stream(&table);
    code = cli_testbed_verdict(argv[0], &verdict);
    if (cli_table_end(&table) < 0)
        return cli_bad_last(argv[0]);
    if (code != CLI_OK)
        return code;
    if (format == CLI_FORMAT_TABLE) {
        putchar('\n');
        cli_testbed_verdict_print(&verdict, stdout);
        if (!verdict.faithful)
            puts("Use slower links and longer latencies, or an otherwise idle machine.");
    }
    return verdict.faithful ? CLI_OK : CLI_WRONG;
}
