/*
 * A figure as CSV: absolute times, one row per curve and size, Trivance's own rows first.
 */
#include "figures/figures.h"

#include "cli/table.h"

static void add_row(const fig_result_t *result, const fig_figure_t *figure, const fig_curve_t *curve, bool trivance,
                    int size, cli_table_t *table)
{
    const fig_spec_t *spec = figure->spec;
    const fig_value_t *value = trivance ? &curve->trivance[size] : &curve->other[size];
    cli_cell_int(table, spec->number);
    cli_cell_text(table, spec->torus);
    cli_cell_text(table, spec->parameter ? spec->parameter : "");
    cli_cell_text(table, spec->parameter ? curve->key : "");
    cli_cell_text(table, trivance ? "trivance" : spec->parameter ? "best-baseline" : curve->key);
    cli_cell_text(table, value->member);
    cli_cell_int(table, (int64_t)result->bytes[size]);
    cli_cell_real(table, value->time_ns, 3);
    cli_cell_real(table, curve->trivance[size].time_ns, 3);
    cli_cell_real(table, fig_advantage_of(value->time_ns, curve->trivance[size].time_ns), 4);
    cli_row_end(table);
}

int fig_write_csv(const fig_result_t *result, const fig_figure_t *figure, FILE *out)
{
    static const cli_column_t column[] = {
        {"figure", NULL, true, 0},    {"torus", NULL, false, 0}, {"parameter", NULL, false, 0},
        {"value", NULL, false, 0},    {"family", NULL, false, 0}, {"algorithm", NULL, false, 0},
        {"bytes", NULL, true, 0},     {"time_ns", NULL, true, 0}, {"trivance_time_ns", NULL, true, 0},
        {"relative_percent", NULL, true, 0}};
    cli_table_t table;
    cli_table_begin(&table, out, CLI_FORMAT_CSV, column, sizeof column / sizeof column[0], false);
    for (int c = 0; c < figure->curves; c++) {
        bool own = c == 0 || figure->spec->parameter; /* one Trivance for all algorithms, one per value */
        for (int i = 0; i < result->sizes && own; i++)
            add_row(result, figure, &figure->curve[c], true, i, &table);
        for (int i = 0; i < result->sizes; i++)
            add_row(result, figure, &figure->curve[c], false, i, &table);
    }
    return cli_table_end(&table);
}
