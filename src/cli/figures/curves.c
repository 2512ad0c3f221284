/*
 * What the curves say: advantages, break-even sizes, switches.
 */
#include "cli/figures/figures.h"

#include <math.h>
#include <string.h>

#include <trivance/algorithms.h>

const fig_figure_t *fig_find(const fig_result_t *result, int number)
{
    for (int f = 0; f < result->figures; f++)
        if (result->figure[f].spec->number == number)
            return &result->figure[f];
    return NULL;
}

double fig_advantage_of(double other_ns, double own_ns) { return (other_ns - own_ns) / other_ns * 100; }

double fig_advantage(const fig_curve_t *curve, int size)
{
    return fig_advantage_of(curve->other[size].time_ns, curve->own[size].time_ns);
}

double fig_advantage_best(const fig_figure_t *figure, int size)
{
    double least = INFINITY;
    for (int c = 0; c < figure->curves; c++)
        least = fmin(least, fig_advantage(&figure->curve[c], size));
    return least;
}

int fig_switch(const fig_value_t *value, int sizes)
{
    for (int i = 1; i < sizes; i++)
        if (trv_algorithm_latency_optimal(trv_algorithm_find(value[i - 1].member)) &&
            !trv_algorithm_latency_optimal(trv_algorithm_find(value[i].member)))
            return i;
    return -1;
}

int fig_own_switch(const fig_figure_t *figure, const fig_curve_t *curve, int sizes)
{
    return fig_is_beyond(figure->spec) ? -1 : fig_switch(curve->own, sizes);
}

fig_break_even_t fig_break_even(const fig_result_t *result, const fig_figure_t *figure, const fig_curve_t *curve)
{
    fig_break_even_t even = {INFINITY, INFINITY};
    double before = 0; /* the advantage at the size before */
    for (int i = 0; i < result->sizes; i++) {
        const double advantage = curve ? fig_advantage(curve, i) : fig_advantage_best(figure, i);
        if (advantage > 0) {
            even.last = INFINITY;
        } else if (i == 0) {
            even.first = even.last = 0;
        } else if (before > 0) {
            const double ratio = (double)result->bytes[i] / (double)result->bytes[i - 1];
            even.last = (double)result->bytes[i - 1] * pow(ratio, before / (before - advantage));
            even.first = fmin(even.first, even.last);
        }
        before = advantage;
    }
    return even;
}

/* Times of the whole torus's: from 1 to a tenth above the worst. */
static void range_of_cuts(const fig_figure_t *figure, double *low, double *high)
{
    *low = *high = 1;
    for (int c = 0; c < figure->curves; c++)
        for (int i = 0; i < figure->points; i++)
            *high = fmax(*high, figure->curve[c].worst[i].time_ns / figure->curve[c].other[i].time_ns);
    *high = ceil(10 * *high + 0.5) / 10;
}

/* Bucket on small vectors is so slow, and everything but Bucket on large ones, that the interesting part would be
 * flat: the frame ends at 60 %. */
void fig_range(const fig_figure_t *figure, double *low, double *high)
{
    const double limit = 60;
    if (fig_is_about_cuts(figure->spec)) {
        range_of_cuts(figure, low, high);
        return;
    }
    *low = 0;
    *high = 10;
    for (int c = 0; c < figure->curves; c++)
        for (int i = 0; i < figure->points; i++) {
            double value = fig_advantage(&figure->curve[c], i);
            *low = fmin(*low, fmax(value, -limit));
            *high = fmax(*high, fmin(value, limit));
        }
    *low = 10 * floor((*low - 2) / 10);
    *high = 10 * ceil((*high + 2) / 10);
}

const char *fig_percent(double percent, char text[FIG_TEXT_MAX])
{
    if (percent < -100)
        snprintf(text, FIG_TEXT_MAX, "%.1fx as long", 1 - percent / 100);
    else
        snprintf(text, FIG_TEXT_MAX, percent > 100 ? "%.1fx" : "%.1f %%", percent > 100 ? 1 + percent / 100 : percent);
    return text;
}

const char *fig_bytes(double bytes, char text[FIG_TEXT_MAX])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB"};
    int u = 0;
    for (; bytes >= 1024 && u < 3; u++)
        bytes /= 1024;
    snprintf(text, FIG_TEXT_MAX, bytes < 9.95 && bytes != floor(bytes) ? "%.1f %s" : "%.0f %s", bytes, unit[u]);
    return text;
}

static const char *break_even_size(double bytes, char text[FIG_TEXT_MAX])
{
    return isinf(bytes) ? "none" : fig_bytes(bytes, text);
}

const char *fig_break_even_text(fig_break_even_t even, char text[FIG_BREAK_EVEN_TEXT_MAX])
{
    char first[FIG_TEXT_MAX], last[FIG_TEXT_MAX];
    if (even.first == even.last)
        snprintf(text, FIG_BREAK_EVEN_TEXT_MAX, "%s", break_even_size(even.first, first));
    else
        snprintf(text, FIG_BREAK_EVEN_TEXT_MAX, "%s/%s", break_even_size(even.first, first),
                 break_even_size(even.last, last));
    return text;
}
