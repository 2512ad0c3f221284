/*
 * A figure as CSV: absolute times, one row per curve and size, those of the figure's own algorithm first. And tables 1
 * and 2.
 */
#include "cli/figures/figures.h"

#include "cli/shared/table.h"

static void add_row(const fig_result_t *result, const fig_figure_t *figure, const fig_curve_t *curve, bool own,
                    int size, cli_table_t *table)
{
    const fig_spec_t *spec = figure->spec;
    const fig_value_t *value = own ? &curve->own[size] : &curve->other[size];
    cli_cell_int(table, spec->number);
    cli_cell_text(table, spec->torus);
    cli_cell_text(table, spec->parameter ? spec->parameter : "");
    cli_cell_text(table, spec->parameter ? curve->key : "");
    cli_cell_text(table, own ? fig_own(spec).key : spec->parameter ? "best-baseline" : curve->key);
    cli_cell_text(table, value->member);
    cli_cell_int(table, (int64_t)result->bytes[size]);
    cli_cell_real(table, value->time_ns, 3);
    cli_cell_real(table, curve->own[size].time_ns, 3);
    cli_cell_real(table, fig_advantage_of(value->time_ns, curve->own[size].time_ns), 4);
    cli_row_end(table);
}

int fig_write_csv(const fig_result_t *result, const fig_figure_t *figure, FILE *out)
{
    if (fig_is_about_cuts(figure->spec))
        return fig_write_cuts_csv(result, figure, out);
    const char *own_time = fig_is_beyond(figure->spec) ? "planned_time_ns" : "trivance_time_ns";
    const cli_column_t column[] = {{"figure", NULL, true, 0},     {"torus", NULL, false, 0},
                                   {"parameter", NULL, false, 0}, {"value", NULL, false, 0},
                                   {"family", NULL, false, 0},    {"algorithm", NULL, false, 0},
                                   {"bytes", NULL, true, 0},      {"time_ns", NULL, true, 0},
                                   {own_time, NULL, true, 0},     {"relative_percent", NULL, true, 0}};
    cli_table_t table;
    cli_table_begin(&table, out, CLI_FORMAT_CSV, column, sizeof column / sizeof column[0], false);
    for (int c = 0; c < figure->curves; c++) {
        bool own = c == 0 || figure->spec->parameter; /* one for all algorithms, one per value */
        for (int i = 0; i < figure->points && own; i++)
            add_row(result, figure, &figure->curve[c], true, i, &table);
        for (int i = 0; i < figure->points; i++)
            add_row(result, figure, &figure->curve[c], false, i, &table);
    }
    return cli_table_end(&table);
}

int fig_write_tables(const fig_result_t *result, const fig_figure_t *figure, FILE *out)
{
    cli_column_t column[CLI_COLUMNS_MAX];
    cli_table_t table;
    int columns = 0;
    size_t i;
    const char *key;
    json_t *row, *value;
    (void)figure;
    json_object_foreach(json_array_get(result->tables, 0), key, value) if (columns < CLI_COLUMNS_MAX)
        column[columns++] = (cli_column_t){key, NULL, false, 0};
    cli_table_begin(&table, out, CLI_FORMAT_CSV, column, columns, false);
    json_array_foreach(result->tables, i, row)
    {
        json_object_foreach(row, key, value)
        {
            if (json_is_string(value))
                cli_cell_text(&table, json_string_value(value));
            else if (json_is_boolean(value))
                cli_cell_bool(&table, json_is_true(value));
            else if (json_is_null(value))
                cli_cell_none(&table);
            else
                cli_cell_real(&table, json_number_value(value), json_is_integer(value) ? 0 : 4);
        }
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}
