/*
 * The plot of a job of `trivance testbed bench`, by gnuplot: time over size. All lines are thin and pale, except those
 * to compare: the MPI library's best, and Trivance's auto. The table has the times of each algorithm by name.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/shared/output.h"
#include "cli/host/mpi_start.h"
#include "base/error.h"
#include "base/text/parse.h"
#include "testbed/command/bench.h"

/* Groups of lines that look the same and share one entry in the key. Later groups are drawn over earlier ones. */
typedef enum group { OWN, FORMS, BEST, AUTO_INT, AUTO_DOUBLE, GROUPS } group_t;

static const struct {
    const char *title, *style;
    bool emphasis;
} group_style[GROUPS] = {{"%s, all algorithms", "lw 1 pt 7 ps 0.35 lc rgb '#a3acb8'", false},
                         {"Trivance, all algorithms", "lw 1 pt 7 ps 0.35 lc rgb '#8dbcf0'", false},
                         {"%s, best algorithm", "lw 3 pt 5 ps 0.7 lc rgb '#1f2933'", true},
                         {"Trivance, auto, integers", "lw 3 pt 7 ps 0.8 lc rgb '#12855a'", true},
                         {"Trivance, auto, doubles", "lw 3 dt (8,4) pt 9 ps 0.9 lc rgb '#d9730d'", true}};

static group_t group_of(const cli_series_t *series)
{
    bool is_auto = strcmp(series->name, "auto") == 0;
    return series->own                                      ? OWN
           : is_auto && strcmp(series->type, "int") == 0    ? AUTO_INT
           : is_auto && strcmp(series->type, "double") == 0 ? AUTO_DOUBLE
                                                            : FORMS;
}

/* ---- Axes -------------------------------------------------------------------------------------------------------- */

static void write_axes(const cli_bench_job_t *job, FILE *out)
{
    char title[CLI_BENCH_TITLE_MAX];
    fprintf(out, "set encoding utf8\nset title \"AllReduce: %s\"\n", cli_bench_title(job, title));
    fputs("set logscale x 2\nset logscale y 10\nset border 3 lc rgb '#6b7785'\n"
          "set tics nomirror textcolor rgb '#1f2933'\nset grid lt 1 lc rgb '#dfe4ea'\n"
          "set key top left Left reverse spacing 1.2\nset xlabel 'AllReduce size'\n"
          "set ylabel 'time, ms (median, minimum and maximum)'\nset xtics (",
          out);
    for (int s = 0; s < job->sizes; s++) {
        char text[TRV_BYTES_TEXT_MAX];
        fprintf(out, "%s'%s' %llu", s ? ", " : "", trv_format_bytes(job->bytes[s], text),
                (unsigned long long)job->bytes[s]);
    }
    fputs(")\nset ytics (", out);
    for (double decade = 0.01; decade < 1e6; decade *= 10)
        fprintf(out, "%s%g, %g, %g", decade > 0.01 ? ", " : "", decade, 2 * decade, 5 * decade);
    fputs(")\nset offsets graph 0.03, graph 0.03, graph 0, graph 0\n", out);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static void write_cell(const cli_bench_job_t *job, int size, int series, FILE *out)
{
    const cli_bench_cell_t *cell = series < 0 ? NULL : &job->cell[size][series];
    if (cell && cell->measured)
        fprintf(out, "%llu %.4f %.4f %.4f\n", (unsigned long long)job->bytes[size], cell->median_ns / 1e6,
                cell->min_ns / 1e6, cell->max_ns / 1e6);
}

/* Writes every line of a group as a block. gnuplot does not join lines that an empty line separates. */
static int write_group(const cli_bench_job_t *job, group_t group, FILE *out)
{
    int lines = group == BEST;
    fprintf(out, "$group%d << EOD\n", (int)group);
    for (int s = 0; group == BEST && s < job->sizes; s++)
        write_cell(job, s, cli_bench_best_own(job, s), out);
    for (int r = 0; group != BEST && r < job->series_count; r++) {
        if (group_of(&job->series[r]) != group)
            continue;
        for (int s = 0; s < job->sizes; s++)
            write_cell(job, s, r, out);
        fputc('\n', out);
        lines++;
    }
    fputs("EOD\n", out);
    return lines;
}

static void write_script(const cli_bench_job_t *job, FILE *out)
{
    int lines[GROUPS];
    const char *before = "plot ";
    write_axes(job, out);
    for (int g = 0; g < GROUPS; g++)
        lines[g] = write_group(job, (group_t)g, out);
    for (int g = 0; g < GROUPS; g++) {
        char title[64];
        if (lines[g] == 0)
            continue;
        snprintf(title, sizeof title, group_style[g].title, cli_mpi_title(job->mpi));
        if (group_style[g].emphasis)
            fprintf(out, "%s$group%d using 1:2:3:4 with yerrorbars lw 5 pt 0 lc rgb '#d5dbe2' notitle", before, g);
        fprintf(out, "%s$group%d using 1:2 with linespoints %s title \"%s\"",
                group_style[g].emphasis ? ", \\\n  " : before, g, group_style[g].style, title);
        before = ", \\\n  ";
    }
    fputc('\n', out);
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

/* Runs gnuplot without input and messages; its exit code, or -1 where there is none. */
static int run_gnuplot(char *const *argument)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
    int failed = posix_spawnp(&child, "gnuplot", &actions, NULL, argument, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

/* Where there is no gnuplot, the script alone is left. */
static int draw_script(char *script, const char *picture)
{
    char settings[8192];
    int used = snprintf(settings, sizeof settings, "set terminal svg size 800,560 font 'Helvetica,13'; set output '");
    for (const char *p = picture; *p && used < (int)sizeof settings - 4; p++) { /* in its quotes, a quote is two */
        if (*p == '\'')
            settings[used++] = '\'';
        settings[used++] = *p;
    }
    snprintf(settings + used, sizeof settings - (size_t)used, "'");
    if (run_gnuplot((char *const[]){"gnuplot", "--version", NULL}) != 0)
        return TRV_OK;
    if (run_gnuplot((char *const[]){"gnuplot", "-e", settings, script, NULL}) != 0)
        return trv_fail(TRV_ERR_ARGUMENT, "gnuplot could not draw '%.200s'", picture);
    return TRV_OK;
}

int cli_bench_plot(const cli_bench_job_t *job, const char *folder)
{
    char label[CLI_BENCH_LABEL_MAX], script[4608], picture[4608];
    cli_output_t output;
    cli_bench_label(job, label);
    snprintf(script, sizeof script, "%s/%s.gnuplot", folder, label);
    snprintf(picture, sizeof picture, "%s/%s.svg", folder, label);
    int code = cli_output_begin(&output, script);
    if (code < 0)
        return code;
    write_script(job, output.stream);
    code = cli_output_end(&output, TRV_OK);
    return code == TRV_OK ? draw_script(script, picture) : code;
}
