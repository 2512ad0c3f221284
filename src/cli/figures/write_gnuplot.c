/*
 * A figure as SVG or PDF by gnuplot, with the paper's axes: the advantage of Trivance, or of planned schedules, over
 * the size of the vector. A hollow marker stands where an algorithm goes from L to B, a dotted line where Trivance
 * does.
 */
#include "cli/figures/figures.h"

#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/parse.h"
#include "base/error.h"

/* Lines differ in colour and marker; the page has the same colours. */
static const char *const colours[FIG_COLOURS] = {"#1f2933", "#7a3db8", "#1f6fd1", "#d9730d", "#c2255c",
                                                 "#12855a", "#0891a5", "#7a8b00", "#8c5a3c"};
static const char *const ramp[] = {"#3b1c8c", "#3a5bb8", "#1f8fb0", "#16a085", "#6bb53d", "#d9a40d", "#d9730d"};
#define MARKERS 7
static const int markers[MARKERS] = {7, 5, 9, 13, 11, 15, 7}; /* the hollow form is the number before */

/* Runs gnuplot, silently; its exit code, or -1 where there is none. */
static int run(const char *const *argument)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
    int failed = posix_spawnp(&child, "gnuplot", &actions, NULL, (char *const *)(uintptr_t)argument, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

bool fig_can_draw(void) { return run((const char *const[]){"gnuplot", "--version", NULL}) == 0; }

static const char *colour(const fig_figure_t *figure, int curve)
{
    return figure->spec->parameter ? ramp[curve] : colours[figure->curve[curve].colour];
}

/* An algorithm looks the same in all figures. */
static int marker(const fig_figure_t *figure, int curve)
{
    const int look = figure->spec->parameter ? curve : figure->curve[curve].colour + MARKERS - 1;
    return markers[look % MARKERS];
}

static const char *own_colour(const fig_figure_t *figure) { return colours[fig_own(figure->spec).colour]; }

static void axes(const fig_result_t *result, const fig_figure_t *figure, FILE *out)
{
    double low, high;
    fig_range(figure, &low, &high);
    fputs("set encoding utf8\n", out);
    fprintf(out, "set title \"Figure %d: %s\"\n", figure->spec->number, figure->spec->title);
    fputs("set logscale x 2\nset border 3 lc rgb '#6b7785'\nset tics nomirror textcolor rgb '#1f2933'\n"
          "set grid lt 1 lc rgb '#dfe4ea'\nset key outside below horizontal\nset samples 2\n"
          "set xlabel 'AllReduce size'\n",
          out);
    fprintf(out, "set ylabel '(T_{A} - T_{%s}) / T_{A} [%%]'\n", fig_own(figure->spec).title);
    fprintf(out, "set yrange [%g:%g]\nset xrange [%" PRIu64 ":%" PRIu64 "]\n", low, high, result->bytes[0],
            result->bytes[figure->points - 1]);
    for (uint64_t bytes = 32; bytes <= result->bytes[figure->points - 1]; bytes *= 16) {
        char text[TRV_BYTES_TEXT_MAX];
        fprintf(out, "%s'%s' %" PRIu64, bytes == 32 ? "set xtics (" : ", ", trv_format_bytes(bytes, text), bytes);
    }
    fputs(")\n", out);
}

static void data(const fig_result_t *result, const fig_figure_t *figure, FILE *out)
{
    for (int c = 0; c < figure->curves; c++) {
        const fig_curve_t *curve = &figure->curve[c];
        int at_b = fig_switch(curve->other, figure->points);
        fprintf(out, "$curve%d << EOD\n", c); /* bytes, advantage, advantage where filled, where hollow */
        for (int i = 0; i < figure->points; i++) {
            double value = fig_advantage(curve, i);
            fprintf(out, i == at_b ? "%" PRIu64 " %.4f NaN %.4f\n" : "%" PRIu64 " %.4f %.4f NaN\n", result->bytes[i],
                    value, value);
        }
        fputs("EOD\n", out);
        int own_at_b = fig_own_switch(figure, curve, figure->points);
        if (own_at_b >= 0 && (c == 0 || figure->spec->parameter))
            fprintf(out, "set arrow from %" PRIu64 ", graph 0 to %" PRIu64 ", graph 1 nohead dt 3 lw 1.5 lc rgb '%s'\n",
                    result->bytes[own_at_b], result->bytes[own_at_b],
                    figure->spec->parameter ? colour(figure, c) : own_colour(figure));
    }
}

int fig_write_gnuplot(const fig_result_t *result, const fig_figure_t *figure, FILE *out)
{
    if (fig_is_about_cuts(figure->spec))
        return fig_write_cuts_gnuplot(result, figure, out);
    axes(result, figure, out);
    data(result, figure, out);
    fprintf(out, "plot 0 with lines lw 2 lc rgb '%s' title '%s'", own_colour(figure), fig_own(figure->spec).title);
    for (int c = 0; c < figure->curves; c++) {
        const char *rgb = colour(figure, c);
        const int filled = marker(figure, c);
        fprintf(out,
                ", \\\n  $curve%d using 1:2 with lines lw 2 lc rgb '%s' notitle"
                ", \\\n  $curve%d using 1:3 with points pt %d ps 0.7 lc rgb '%s' title '%s'"
                ", \\\n  $curve%d using 1:4 with points pt %d ps 1 lw 2 lc rgb '%s' notitle",
                c, rgb, c, filled, rgb, figure->curve[c].title, c, filled - 1, rgb);
    }
    fputc('\n', out);
    return TRV_OK;
}

int fig_draw(const char *script, const char *terminal, const char *path)
{
    char settings[2048];
    int used = snprintf(settings, sizeof settings, "set terminal %s; set output '", terminal);
    for (const char *p = path; *p && used < (int)sizeof settings - 4; p++) { /* in its quotes, a quote is two */
        if (*p == '\'')
            settings[used++] = '\'';
        settings[used++] = *p;
    }
    snprintf(settings + used, sizeof settings - (size_t)used, "'");
    if (run((const char *const[]){"gnuplot", "-e", settings, script, NULL}) != 0)
        return trv_fail(TRV_ERR_ARGUMENT, "gnuplot could not draw '%.200s'", path);
    return TRV_OK;
}
