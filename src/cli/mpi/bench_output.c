/*
 * Prints rows on stdout. The table, csv and json have one row per run. The layouts of OSU and nccl-tests follow these
 * benchmarks, so that existing scripts can read them: a section per algorithm and torus; lines that begin with # are
 * comments.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "cli/mpi/bench.h"
#include "schedule/collective.h"

#define COLUMNS 23
#define LATENCY 13 /* index of the first of the three latency columns */

static const cli_column_t columns[COLUMNS] = {
    {"collective", NULL, false, 0},
    {"torus", "torus", false, 6},
    {"ranks", NULL, false, 0},
    {"type", NULL, false, 0},
    {"op", NULL, false, 0},
    {"in_place", NULL, false, 0},
    {"bytes", "size", true, 8},
    {"count", NULL, false, 0},
    {"algorithm", "algorithm", false, 27},
    {"transport", "transport", false, 9},
    {"chosen_for", NULL, false, 0},
    {"steps", "steps", true, 5},
    {"bytes_sent", "sent/rank", true, 10},
    {"latency_avg_us", "avg us", true, 10},
    {"latency_min_us", "min us", true, 10},
    {"latency_max_us", "max us", true, 10},
    {"algbw_gb_per_s", "algbw GB/s", true, 10},
    {"busbw_gb_per_s", "busbw GB/s", true, 10},
    {"wrong", "wrong", true, 5},
    {"identical", "identical", false, 9},
    {"iterations", NULL, false, 0},
    {"ranks_per_core", NULL, false, 0},
    {"busy", NULL, false, 0},
};

/* Columns with --turns: medians and bounds, and two more columns. */
static const cli_column_t turns_latency[] = {{"run_median_us", "median us", true, 10},
                                             {"run_min_us", "min us", true, 10},
                                             {"run_max_us", "max us", true, 10}};
static const cli_column_t turns_more[] = {{"core_us", NULL, true, 0}, {"speedup", "against mpi", true, 11}};
enum { TURNS_MORE = sizeof turns_more / sizeof turns_more[0] };

static const char *op_text(const bench_data_t *data)
{
    return !trv_collective_shape(data->collective)->reduces ? "" : trv_op_name(data->op);
}

/* Writes "float, sum", the default type and operation of the entries. */
static const char *elements_text(const bench_options_t *options, char text[64])
{
    const bench_data_t data = {.collective = options->collective, .op = options->op};
    const char *op = op_text(&data);
    snprintf(text, 64, "%s%s%s", trv_type_name(options->type), *op ? ", " : "", op);
    return text;
}

static void begin_table(bench_output_t *output, int ranks)
{
    static const cli_format_t format[] =
        {[BENCH_TABLE] = CLI_FORMAT_TABLE, [BENCH_CSV] = CLI_FORMAT_CSV, [BENCH_JSON] = CLI_FORMAT_JSON};
    const bench_options_t *options = output->options;
    cli_column_t column[COLUMNS + TURNS_MORE + 1] = {{0}};
    char elements[64];
    memcpy(column, columns, sizeof columns);
    if (options->turns) {
        memcpy(column + LATENCY, turns_latency, sizeof turns_latency);
        memcpy(column + COLUMNS, turns_more, sizeof turns_more);
    }
    if (options->format == BENCH_TABLE)
        printf("%s of %s on %d MPI rank%s%s; sizes are of the whole vector%s\n\n",
               trv_collective_shape(options->collective)->title, elements_text(options, elements), ranks,
               ranks == 1 ? "" : "s", options->in_place ? ", in place" : "",
               output->machine_load->busy ? "; measured on a busy machine" : "");
    cli_table_begin(&output->table, stdout, format[options->format], column);
    cli_table_stream(&output->table);
}

/* ---- Layouts of other benchmarks --------------------------------------------------------------------------------- */

enum { VALUES = 9, FIRST_OF_RUN = 5 }; /* values of a row, and the index of the first one that a run measures */

/* The columns of nccl-tests, whose last ones follow again for the in-place run, and those that the OSU benchmarks
 * have. */
static const struct layout {
    const char *nccl, *unit, *osu;
    int nccl_width, osu_width; /* as for printf */
} layout[VALUES] = {{"#       size", "#        (B)", "# Size", 12, -10},
                    {"count", "(elements)", NULL, 13, 0},
                    {"type", "", NULL, 9, 0},
                    {"redop", "", NULL, 7, 0},
                    {"root", "", NULL, 7, 0},
                    {"time", "(us)", "Avg Latency(us)", 8, 17},
                    {"algbw", "(GB/s)", NULL, 7, 0},
                    {"busbw", "(GB/s)", NULL, 7, 0},
                    {"#wrong", "", NULL, 6, 0}};

typedef char values_t[VALUES][32];

static void values_format(const bench_row_t *row, values_t text)
{
    const bench_data_t *data = &row->entry->data;
    const bool reduces = trv_collective_shape(data->collective)->reduces;
    const size_t size = sizeof text[0];
    snprintf(text[0], size, "%llu", (unsigned long long)row->bytes);
    snprintf(text[1], size, "%llu", (unsigned long long)row->count);
    snprintf(text[2], size, "%s", trv_type_name(data->type));
    snprintf(text[3], size, "%s", reduces ? trv_op_name(data->op) : "none");
    snprintf(text[4], size, "%d", trv_collective_has_root(data->collective) ? BENCH_ROOT : -1);
    trv_snprintf(text[5], size, "%.2f", row->average_us);
    trv_snprintf(text[6], size, "%.2f", bench_algorithm_bandwidth(row));
    trv_snprintf(text[7], size, "%.2f", bench_bus_bandwidth(row));
    snprintf(text[8], size, row->checked ? "%llu" : "N/A", (unsigned long long)row->wrong);
}

static void value_print(const bench_options_t *options, int i, const char *text)
{
    const int width = options->format == BENCH_OSU ? layout[i].osu_width : layout[i].nccl_width;
    if (width)
        printf("%s%*s", i > 0 ? " " : "", width, text);
}

/* Prints a row; for nccl-tests with the row of the in-place run. */
static void layout_row(const bench_options_t *options, const bench_row_t *row, const bench_row_t *second)
{
    values_t text;
    values_format(row, text);
    for (int i = 0; i < VALUES; i++)
        value_print(options, i, text[i]);
    if (second)
        values_format(second, text);
    for (int i = FIRST_OF_RUN; second && i < VALUES; i++)
        value_print(options, i, text[i]);
    printf("\n");
}

static void layout_head(const bench_options_t *options)
{
    const bool osu = options->format == BENCH_OSU;
    if (!osu)
        printf("#\n#%57s%34s%32s\n", "", "out-of-place", "in-place");
    for (int line = 0; line < (osu ? 1 : 2); line++) {
        for (int run = 0; run < (osu ? 1 : 2); run++)
            for (int i = run ? FIRST_OF_RUN : 0; i < VALUES; i++)
                value_print(options, i, osu ? layout[i].osu : line ? layout[i].unit : layout[i].nccl);
        printf("\n");
    }
}

/* ---- The output -------------------------------------------------------------------------------------------------- */

void bench_output_begin(bench_output_t *output, const bench_options_t *options, const machine_load_t *machine_load,
                        int ranks)
{
    *output = (bench_output_t){.options = options, .machine_load = machine_load};
    if (options->format <= BENCH_JSON)
        begin_table(output, ranks);
    else
        printf("# Trivance %s, %s on %d MPI ranks\n", trv_version(), trv_collective_shape(options->collective)->title,
               ranks);
    fflush(stdout);
}

void bench_output_section(bench_output_t *output, const trv_torus_t *torus, const bench_entry_t *entry,
                          const char *transport)
{
    const bench_options_t *options = output->options;
    char text[TRV_TORUS_TEXT_MAX];
    if (options->format <= BENCH_JSON)
        return;
    printf("# algorithm %s, torus %s, %s %s%s%s\n", entry->label, trv_torus_format(torus, text, sizeof text),
           trv_type_name(entry->data.type), op_text(&entry->data), transport ? ", transport " : "",
           transport ? transport : "");
    layout_head(options);
}

static void table_row(bench_output_t *output, const bench_row_t *row)
{
    const bench_options_t *options = output->options;
    cli_table_t *table = &output->table;
    const bench_entry_t *entry = row->entry;
    const bool chosen = entry->kind == BENCH_CHOSEN;
    char torus[TRV_TORUS_TEXT_MAX], size[TRV_BYTES_TEXT_MAX], name[2 * TRV_ALGORITHM_NAME_MAX + 64];
    cli_cell_text(table, trv_collective_shape(options->collective)->name);
    cli_cell_text(table, trv_torus_format(row->torus, torus, sizeof torus));
    cli_cell_int(table, row->torus->ranks);
    cli_cell_text(table, trv_type_name(entry->data.type));
    cli_cell_text(table, op_text(&entry->data));
    cli_cell_bool(table, row->in_place);
    if (options->format == BENCH_TABLE)
        cli_cell_text(table, trv_format_bytes(row->bytes, size));
    else
        cli_cell_int(table, (int64_t)row->bytes);
    cli_cell_int(table, (int64_t)row->count);
    snprintf(name, sizeof name, "%s%s%s", chosen ? entry->label : "", chosen ? ": " : "", row->algorithm);
    if (!chosen && strchr(entry->label, '=')) /* append its type */
        snprintf(name, sizeof name, "%s%s", row->algorithm, strchr(entry->label, '='));
    cli_cell_text(table, options->format == BENCH_TABLE ? name : row->algorithm);
    if (row->transport)
        cli_cell_text(table, row->transport);
    else
        cli_cell_none(table);
    cli_cell_text(table, entry->label);
    if (entry->kind == BENCH_LIBRARY) { /* bytes sent by the library are unknown */
        cli_cell_none(table);
        cli_cell_none(table);
    } else {
        cli_cell_int(table, row->steps);
        cli_cell_int(table, (int64_t)row->bytes_sent);
    }
    int digits = options->format == BENCH_TABLE ? 2 : 6;
    cli_cell_real(table, row->average_us, digits);
    cli_cell_real(table, row->min_us, digits);
    cli_cell_real(table, row->max_us, digits);
    digits = options->format == BENCH_TABLE ? 3 : 6;
    cli_cell_real(table, bench_algorithm_bandwidth(row), digits);
    cli_cell_real(table, bench_bus_bandwidth(row), digits);
    if (row->checked)
        cli_cell_int(table, (int64_t)row->wrong);
    else
        cli_cell_none(table);
    if (row->checked && bench_data_identical(options->collective))
        cli_cell_bool(table, row->identical);
    else
        cli_cell_none(table);
    cli_cell_int(table, row->iterations);
    cli_cell_real(table, output->machine_load->ranks_per_core, 3);
    cli_cell_bool(table, output->machine_load->busy || row->spread > MACHINE_LOAD_SPREAD_MAX);
    if (options->turns) {
        cli_cell_real(table, row->core_us, 3);
        cli_cell_real(table, row->library_us > 0 ? row->library_us / row->average_us : NAN, 2);
    }
    cli_row_end(table);
}

static void count_row(bench_output_t *output, const bench_row_t *row)
{
    if (!row)
        return;
    output->rows++;
    output->wrong += row->wrong + (row->checked && !row->identical);
    output->bandwidth += bench_bus_bandwidth(row);
}

void bench_output_row(bench_output_t *output, const bench_row_t *row, const bench_row_t *second)
{
    count_row(output, row);
    count_row(output, second);
    if (output->options->format <= BENCH_JSON)
        table_row(output, row);
    else
        layout_row(output->options, row, second);
    fflush(stdout);
}

int bench_output_end(bench_output_t *output)
{
    int code = TRV_OK;
    if (output->options->format <= BENCH_JSON)
        code = cli_table_end(&output->table);
    if (output->options->format == BENCH_NCCL)
        trv_fprintf(stdout, "# Out of bounds values : %llu %s\n# Avg bus bandwidth    : %g\n",
                    (unsigned long long)output->wrong, output->wrong ? "FAILED" : "OK",
                    output->rows ? output->bandwidth / output->rows : 0);
    fflush(stdout);
    return code;
}
