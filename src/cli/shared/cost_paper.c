/*
 * Recomputes the paper's tables 1 (rings) and 2 (tori). For every algorithm with a closed form in the paper, the
 * schedule is routed message by message on tori for which the form is exact; the results are printed beside the sums of
 * appendix B and the limits in the tables.
 */
#include "cli/shared/cost_paper.h"

#include <math.h>
#include <string.h>

#include <trivance/algorithms.h>
#include <trivance/cost.h>

#include "cli/shared/tool.h"
#include "base/error.h"

/* Rings and square tori whose sizes are powers of 2 or of 3. */
static const char *const rings[] = {"8", "9", "27", "64", "81", NULL};
static const char *const tori[] = {"8x8",   "9x9",      "27x27",   "32x32",   "8x8x8",
                                   "9x9x9", "16x16x16", "8x8x8x8", "9x9x9x9", NULL};

static bool agrees(double measured, double paper) { return fabs(measured - paper) <= 1e-9 * fmax(1.0, fabs(paper)); }

static void add_row(cli_table_t *table, int number, const char *torus, const char *algorithm, const trv_cost_t *cost,
                    const trv_paper_cost_t *paper)
{
    bool same = agrees(cost->lambda, paper->lambda) && agrees(cost->delta, paper->delta) &&
                agrees(cost->theta, paper->theta);
    cli_cell_int(table, number);
    cli_cell_text(table, algorithm);
    cli_cell_text(table, torus);
    cli_cell_int(table, cost->steps);
    cli_cell_real(table, cost->lambda, 4);
    cli_cell_real(table, paper->lambda, 4);
    cli_cell_real(table, cost->delta, 4);
    cli_cell_real(table, paper->delta, 4);
    cli_cell_real(table, cost->theta, 4);
    cli_cell_real(table, paper->theta, 4);
    cli_cell_real(table, paper->theta_limit, 4);
    cli_cell_bool(table, same);
    cli_row_end(table);
}

static int add_algorithm(cli_table_t *table, int number, const char *const *name, const trv_algorithm_t *algorithm)
{
    for (; *name; name++) {
        trv_torus_t torus;
        trv_paper_cost_t paper;
        trv_schedule_t *schedule = NULL;
        trv_cost_t cost;
        int rc = trv_torus_parse(*name, &torus);
        if (rc)
            return rc;
        trv_algorithm_paper_cost(algorithm, &torus, &paper);
        if (isnan(paper.theta) || trv_algorithm_supports(algorithm, &torus, TRV_ALLREDUCE))
            continue;
        rc = trv_schedule_create(&schedule, &torus, trv_algorithm_name(algorithm), TRV_ALLREDUCE);
        if (!rc)
            rc = trv_cost_measure(schedule, &cost);
        if (!rc) {
            add_row(table, number, *name, trv_algorithm_name(algorithm), &cost, &paper);
            trv_cost_clear(&cost);
        }
        trv_schedule_destroy(schedule);
        if (rc)
            return rc;
    }
    return TRV_OK;
}

static const cli_column_t columns[] = {{"table", NULL, true, 0},
                                       {"algorithm", "algorithm", false, 15},
                                       {"torus", "torus", false, 8},
                                       {"steps", "steps", true, 5},
                                       {"lambda", "Lambda", true, 8},
                                       {"paper_lambda", "paper", true, 8},
                                       {"delta", "Delta", true, 8},
                                       {"paper_delta", "paper", true, 8},
                                       {"theta", "Theta", true, 8},
                                       {"paper_theta", "paper", true, 8},
                                       {"paper_theta_limit", "limit", true, 8},
                                       {"agrees", "agrees", false, 0},
                                       {0}};

static void begin(cli_table_t *table, FILE *out, cli_format_t format)
{
    cli_table_begin(table, out, format, columns);
    cli_table_stream(table);
}

int cli_cost_paper(FILE *out, cli_format_t format)
{
    static const char *const title[] = {"Table 1: optimality factors on rings",
                                        "Table 2: optimality factors on tori (Theta relative to m/D)"};
    const char *const *const names[] = {rings, tori};
    cli_table_t table;
    int rc = TRV_OK;
    bool text = format == CLI_FORMAT_TABLE;
    if (!text)
        begin(&table, out, format);
    for (int number = 1; number <= 2 && !rc; number++) {
        if (text) {
            fprintf(out, "%s%s\n\n", number > 1 ? "\n" : "", title[number - 1]);
            begin(&table, out, format);
        }
        for (int i = 0; i < trv_algorithms_count() && !rc; i++)
            rc = add_algorithm(&table, number, names[number - 1], trv_algorithm_at(i));
        if (text && cli_table_end(&table))
            rc = TRV_ERR_MEMORY;
    }
    if (!text && cli_table_end(&table))
        rc = TRV_ERR_MEMORY;
    if (!rc && text)
        fputs("\nMeasured: every message is routed over the torus, and the loads of all streams are added. paper: the\n"
              "exact sums of its appendix B; for Ring and Bucket, which it omits, the minimum that any schedule\n"
              "sends. limit: its tables (table 2 for n to infinity). They agree except where routes differ from\n"
              "those that the closed form assumes: Bruck takes the shorter way, and the mirrored streams of\n"
              "Recursive Doubling share links.\n",
              out);
    return rc;
}
