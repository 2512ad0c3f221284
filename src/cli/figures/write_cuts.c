/*
 * A figure about links that fail: as CSV, a row for each size and number of cuts, and as a gnuplot script, the median and
 * the worst network in times of the whole torus.
 */
#include "cli/figures/figures.h"

#include "base/text/parse.h"
#include "cli/shared/table.h"

static double times(const fig_value_t *value, const fig_curve_t *curve, int point)
{
    return value->time_ns / curve->other[point].time_ns;
}

int fig_write_cuts_csv(const fig_result_t *result, const fig_figure_t *figure, FILE *out)
{
    static const cli_column_t column[] = {{"figure", NULL, true, 0},
                                          {"torus", NULL, false, 0},
                                          {"bytes", NULL, true, 0},
                                          {"cuts", NULL, true, 0},
                                          {"networks", NULL, true, 0},
                                          {"whole_torus_time_ns", NULL, true, 0},
                                          {"median_time_ns", NULL, true, 0},
                                          {"worst_time_ns", NULL, true, 0},
                                          {"median_times", NULL, true, 0},
                                          {"worst_times", NULL, true, 0},
                                          {"whole_torus_served", NULL, true, 0},
                                          {"whole_torus_plan", NULL, false, 0},
                                          {"median_plan", NULL, false, 0},
                                          {"worst_plan", NULL, false, 0}};
    cli_table_t table;
    cli_table_begin(&table, out, CLI_FORMAT_CSV, column, sizeof column / sizeof column[0], false);
    for (int c = 0; c < figure->curves; c++)
        for (int i = 0; i < figure->points; i++) {
            const fig_curve_t *curve = &figure->curve[c];
            uint64_t bytes;
            int rc = trv_parse_bytes(curve->key, &bytes);
            if (rc)
                return rc;
            cli_cell_int(&table, figure->spec->number);
            cli_cell_text(&table, figure->spec->torus);
            cli_cell_int(&table, (int64_t)bytes);
            cli_cell_int(&table, fig_cuts[i]);
            cli_cell_int(&table, fig_cuts_networks(result->quick));
            cli_cell_real(&table, curve->other[i].time_ns, 3);
            cli_cell_real(&table, curve->own[i].time_ns, 3);
            cli_cell_real(&table, curve->worst[i].time_ns, 3);
            cli_cell_real(&table, times(&curve->own[i], curve, i), 4);
            cli_cell_real(&table, times(&curve->worst[i], curve, i), 4);
            cli_cell_int(&table, curve->served[i]);
            cli_cell_text(&table, curve->other[i].member);
            cli_cell_text(&table, curve->own[i].member);
            cli_cell_text(&table, curve->worst[i].member);
            cli_row_end(&table);
        }
    return cli_table_end(&table);
}

/* "0 of 300" networks of all sizes and numbers of cuts, of which the whole torus's plans serve so many. */
static void count(const fig_result_t *result, const fig_figure_t *figure, int *served, int *all)
{
    *served = *all = 0;
    for (int c = 0; c < figure->curves; c++)
        for (int i = 1; i < figure->points; i++) {
            *served += figure->curve[c].served[i];
            *all += fig_cuts_networks(result->quick);
        }
}

int fig_write_cuts_gnuplot(const fig_result_t *result, const fig_figure_t *figure, FILE *out)
{
    static const char *const colour[] = {"#7a3db8", "#d9730d", "#12855a"};
    double low, high;
    int served, all;
    fig_range(figure, &low, &high);
    count(result, figure, &served, &all);
    fprintf(out, "set encoding utf8\nset title \"Figure %d: %s\"\n", figure->spec->number, figure->spec->title);
    fputs("set border 3 lc rgb '#6b7785'\nset tics nomirror textcolor rgb '#1f2933'\n"
          "set grid lt 1 lc rgb '#dfe4ea'\nset key outside below horizontal\n",
          out);
    fprintf(out, "set xlabel \"Cut links, both ways (%d random networks each; no row in two parts)\"\n",
            fig_cuts_networks(result->quick));
    fprintf(out, "set ylabel 'T / T_{whole torus}'\nset yrange [%g:%g]\nset xrange [-0.2:%d.2]\nset xtics (", low, high,
            figure->points - 1);
    for (int i = 0; i < figure->points; i++)
        fprintf(out, "%s'%d' %d", i ? ", " : "", fig_cuts[i], i);
    fprintf(out, ")\nset label \"The whole torus's schedules serve %d of %d.\" at graph 0.02, 0.95\n", served, all);
    for (int c = 0; c < figure->curves; c++) {
        const fig_curve_t *curve = &figure->curve[c];
        fprintf(out, "$curve%d << EOD\n", c); /* place, median, worst */
        for (int i = 0; i < figure->points; i++)
            fprintf(out, "%d %.4f %.4f\n", i, times(&curve->own[i], curve, i), times(&curve->worst[i], curve, i));
        fputs("EOD\n", out);
    }
    for (int c = 0; c < figure->curves; c++)
        fprintf(out,
                "%s $curve%d using 1:2 with linespoints lw 2 pt 7 ps 0.7 lc rgb '%s' title '%s, median', \\\n"
                "  $curve%d using 1:3 with linespoints lw 1.5 dt 2 pt 6 ps 0.7 lc rgb '%s' title 'worst'",
                c ? ", \\\n " : "plot", c, colour[c % 3], figure->curve[c].title, c, colour[c % 3]);
    fputc('\n', out);
    return TRV_OK;
}
