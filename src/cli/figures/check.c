/*
 * Whether a claim of the paper is what we measure: each kind of test turns the curves of one figure into a number, or
 * a smallest and a largest, and compares with the claim's bounds. A claim about several figures holds if it holds in each
 * of them that this run has.
 */
#include "cli/figures/figures.h"

#include <math.h>
#include <string.h>

#include "base/text/parse.h"

const char *const fig_verdict_name[] =
    {[FIG_AGREES] = "agrees", [FIG_DIFFERS] = "differs", [FIG_NOT_MEASURED] = "not measured"};

/* What one figure, or all of them, measured: percentages or byte counts from `least` to `most`, and where. */
typedef struct extent {
    bool any;
    double least, most;
    double least_at, most_at; /* bytes */
    int least_in, most_in;    /* figures */
} extent_t;

static void extend(extent_t *extent, double value, double at, int figure)
{
    if (!extent->any || value < extent->least) {
        extent->least = value;
        extent->least_at = at;
        extent->least_in = figure;
    }
    if (!extent->any || value > extent->most) {
        extent->most = value;
        extent->most_at = at;
        extent->most_in = figure;
    }
    extent->any = true;
}

static bool in_range(const fig_claim_t *claim, uint64_t bytes)
{
    return bytes >= claim->from && (claim->to == 0 || bytes <= claim->to);
}

static const fig_curve_t *find_curve(const fig_figure_t *figure, const char *key)
{
    for (int c = 0; key && c < figure->curves; c++)
        if (strcmp(figure->curve[c].key, key) == 0)
            return &figure->curve[c];
    return NULL;
}

/* ---- One figure -------------------------------------------------------------------------------------------------- */

/* The advantage over the claim's curve. Without a curve: over the fastest other algorithm; in a figure over a parameter
 * the advantage of every curve. */
static void advantages(const fig_result_t *result, const fig_claim_t *claim, const fig_figure_t *figure,
                       extent_t *extent)
{
    const fig_curve_t *curve = find_curve(figure, claim->curve);
    bool every = !curve && figure->spec->parameter;
    for (int i = 0; i < result->sizes; i++) {
        double bytes = (double)result->bytes[i];
        if (!in_range(claim, result->bytes[i]))
            continue;
        if (!every)
            extend(extent, curve ? fig_advantage(curve, i) : fig_advantage_best(figure, i), bytes,
                   figure->spec->number);
        for (int c = 0; every && c < figure->curves; c++)
            extend(extent, fig_advantage(&figure->curve[c], i), bytes, figure->spec->number);
    }
}

static void peak(const fig_result_t *result, const fig_claim_t *claim, const fig_figure_t *figure, bool where,
                 extent_t *extent)
{
    extent_t all = {0};
    fig_claim_t everywhere = *claim;
    if (where) /* from and to bound the size of the peak, so the search covers all sizes */
        everywhere.from = everywhere.to = 0;
    advantages(result, &everywhere, figure, &all);
    if (all.any)
        extend(extent, where ? all.most_at : all.most, all.most_at, figure->spec->number);
}

static double fastest_from(const fig_result_t *result, const fig_figure_t *figure, const fig_curve_t *curve)
{
    int i = result->sizes - 1;
    for (; i >= 0; i--) {
        double time_ns = curve->other[i].time_ns;
        bool fastest = time_ns <= curve->own[i].time_ns;
        for (int c = 0; c < figure->curves; c++)
            fastest &= time_ns <= figure->curve[c].other[i].time_ns;
        if (!fastest)
            break;
    }
    return i == result->sizes - 1 ? INFINITY : (double)result->bytes[i + 1];
}

static double switches_at(const fig_result_t *result, const fig_figure_t *figure, const char *key)
{
    const fig_curve_t *curve = find_curve(figure, key);
    int i = fig_switch(curve ? curve->other : figure->curve[0].own, result->sizes);
    return i < 0 ? INFINITY : (double)result->bytes[i];
}

/* The last size before the advantage over the fastest other algorithm first falls by more than a point. */
static double falls_from(const fig_result_t *result, const fig_figure_t *figure)
{
    for (int i = 1; i < result->sizes; i++)
        if (fig_advantage_best(figure, i) < fig_advantage_best(figure, i - 1) - 1)
            return (double)result->bytes[i - 1];
    return INFINITY;
}

static void spread(const fig_result_t *result, const fig_claim_t *claim, const fig_figure_t *figure, extent_t *extent)
{
    for (int i = 0; i < result->sizes; i++) {
        extent_t here = {0};
        for (int c = 0; c < figure->curves; c++)
            extend(&here, fig_advantage(&figure->curve[c], i), 0, 0);
        if (in_range(claim, result->bytes[i]))
            extend(extent, here.most - here.least, (double)result->bytes[i], figure->spec->number);
    }
}

/* By how many percent `curve` takes longer than `than`. */
static void slowness(const fig_result_t *result, const fig_claim_t *claim, const fig_figure_t *figure, extent_t *extent)
{
    const fig_curve_t *curve = find_curve(figure, claim->curve), *than = find_curve(figure, claim->than);
    for (int i = 0; i < result->sizes; i++)
        if (in_range(claim, result->bytes[i]))
            extend(extent, 100 * (curve->other[i].time_ns / than->other[i].time_ns - 1), (double)result->bytes[i],
                   figure->spec->number);
}

/* Octaves that the first break-even size moves per octave of the parameter, a time, from the first to the last curve
 * that has a break-even; NAN if there are no two. */
static double sensitivity(const fig_result_t *result, const fig_figure_t *figure)
{
    double bytes[2] = {0}, time_ns[2] = {0}; /* of these two curves */
    int found = 0;
    for (int c = 0; c < figure->curves; c++) {
        const double here = fig_break_even(result, figure, &figure->curve[c]).first;
        const int at = found == 0 ? 0 : 1;
        if (here == 0 || isinf(here) || trv_parse_time_ns(figure->curve[c].key, &time_ns[at]))
            continue;
        bytes[at] = here;
        found++;
    }
    return found < 2 ? NAN : log2(bytes[1] / bytes[0]) / log2(time_ns[1] / time_ns[0]);
}

static void break_even(const fig_result_t *result, const fig_figure_t *figure, const fig_curve_t *curve,
                       extent_t *extent)
{
    const fig_break_even_t even = fig_break_even(result, figure, curve);
    extend(extent, even.first, 0, figure->spec->number);
    extend(extent, even.last, 0, figure->spec->number);
}

static void measure(const fig_result_t *result, const fig_claim_t *claim, const fig_figure_t *figure, extent_t *extent)
{
    int number = figure->spec->number;
    const fig_curve_t *curve = find_curve(figure, claim->curve);
    if ((claim->curve && !curve) || (claim->than && !find_curve(figure, claim->than)))
        return;
    switch (claim->test) {
    case FIG_WITHIN: advantages(result, claim, figure, extent); break;
    case FIG_PEAK: peak(result, claim, figure, false, extent); break;
    case FIG_PEAK_AT: peak(result, claim, figure, true, extent); break;
    case FIG_BREAK_EVEN: break_even(result, figure, curve, extent); break;
    case FIG_FASTEST_FROM: extend(extent, fastest_from(result, figure, curve), 0, number); break;
    case FIG_SWITCH: extend(extent, switches_at(result, figure, claim->curve), 0, number); break;
    case FIG_FALLS_FROM: extend(extent, falls_from(result, figure), 0, number); break;
    case FIG_SPREAD: spread(result, claim, figure, extent); break;
    case FIG_FASTER: slowness(result, claim, figure, extent); break;
    case FIG_RISING:
    case FIG_WEAKER: break; /* of several numbers; see below */
    }
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

static const char *size_text(double bytes, char text[FIG_TEXT_MAX])
{
    if (isfinite(bytes))
        return fig_bytes(bytes, text);
    return strcpy(text, "no size up to 128 MiB");
}

/* " (figure 8)" if the claim is about several figures, otherwise empty. */
static const char *in_figure(const fig_claim_t *claim, int number, char text[FIG_TEXT_MAX])
{
    text[0] = '\0';
    if (claim->figure[1])
        snprintf(text, FIG_TEXT_MAX, " (figure %d)", number);
    return text;
}

static void percents(const fig_claim_t *claim, const extent_t *extent, fig_finding_t *finding)
{
    char least_at[FIG_TEXT_MAX], most_at[FIG_TEXT_MAX], least_in[FIG_TEXT_MAX], most_in[FIG_TEXT_MAX];
    char least[FIG_TEXT_MAX], most[FIG_TEXT_MAX];
    in_figure(claim, extent->least_in, least_in);
    in_figure(claim, extent->most_in, most_in);
    fig_bytes(extent->least_at, least_at);
    fig_bytes(extent->most_at, most_at);
    fig_percent(extent->least, least);
    fig_percent(extent->most, most);
    if (claim->test == FIG_SPREAD)
        snprintf(most, sizeof most, "%.1f points", extent->most);
    if (claim->test == FIG_PEAK || claim->test == FIG_SPREAD || claim->test == FIG_FASTER)
        snprintf(finding->measured, sizeof finding->measured, "%s at %s%s", most, most_at, most_in);
    else if (extent->least_at == extent->most_at && extent->least_in == extent->most_in)
        snprintf(finding->measured, sizeof finding->measured, "%s", least);
    else
        snprintf(finding->measured, sizeof finding->measured, "%s at %s%s to %s at %s%s", least, least_at, least_in,
                 most, most_at, most_in);
}

/* Several sizes of one figure are its first and its last break-even. */
static void sizes(const fig_claim_t *claim, const extent_t *extent, fig_finding_t *finding)
{
    char least[FIG_TEXT_MAX], most[FIG_TEXT_MAX], least_in[FIG_TEXT_MAX], most_in[FIG_TEXT_MAX];
    in_figure(claim, extent->least_in, least_in);
    in_figure(claim, extent->most_in, most_in);
    size_text(extent->least, least);
    size_text(extent->most, most);
    if (extent->least == extent->most)
        snprintf(finding->measured, sizeof finding->measured, "%s", least);
    else if (extent->least_in == extent->most_in && isinf(extent->most))
        snprintf(finding->measured, sizeof finding->measured, "%s, but Trivance is ahead again up to 128 MiB%s", least,
                 least_in);
    else if (extent->least_in == extent->most_in)
        snprintf(finding->measured, sizeof finding->measured, "first %s, last %s%s", least, most, least_in);
    else
        snprintf(finding->measured, sizeof finding->measured, "%s%s to %s%s", least, least_in, most, most_in);
}

/* "5 to 30 %", "at least 20 %", "at most 0 %", "faster". */
static void bounds_percent(const fig_claim_t *claim, char *text, size_t size)
{
    if (isinf(claim->high))
        snprintf(text, size, claim->low < 1 ? "more than 0 %%" : "at least %g %%", claim->low);
    else if (isinf(claim->low))
        snprintf(text, size, "at most %g %%", claim->high);
    else
        snprintf(text, size, "%g to %g %%", claim->low, claim->high);
}

static void bounds_size(const fig_claim_t *claim, char *text, size_t size)
{
    char from[FIG_TEXT_MAX], to[FIG_TEXT_MAX];
    fig_bytes((double)claim->from, from);
    fig_bytes((double)claim->to, to);
    if (!claim->to)
        snprintf(text, size, "at %s or later", from);
    else if (!claim->from)
        snprintf(text, size, "at %s or earlier", to);
    else
        snprintf(text, size, "between %s and %s", from, to);
}

static void write_rule(const fig_claim_t *claim, fig_finding_t *finding)
{
    char percent[48], place[2 * FIG_TEXT_MAX + 16];
    bounds_percent(claim, percent, sizeof percent);
    bounds_size(claim, place, sizeof place);
    if (claim->from && claim->from == claim->to)
        snprintf(place, sizeof place, "at %s", fig_bytes((double)claim->from, (char[FIG_TEXT_MAX]){0}));
    char *rule = finding->rule;
    size_t size = sizeof finding->rule;
    switch (claim->test) {
    case FIG_WITHIN: snprintf(rule, size, "%s %s", percent, place); break;
    case FIG_PEAK: snprintf(rule, size, "largest: %s, %s", percent, place); break;
    case FIG_PEAK_AT: snprintf(rule, size, "largest %s", place); break;
    case FIG_BREAK_EVEN: snprintf(rule, size, "break-even %s", place); break;
    case FIG_FASTEST_FROM: snprintf(rule, size, "fastest of all from a size on, %s", place); break;
    case FIG_SWITCH: snprintf(rule, size, "L to B %s", place); break;
    case FIG_FALLS_FROM: snprintf(rule, size, "first falls by more than a point %s", place); break;
    case FIG_RISING: snprintf(rule, size, "first and last break-even never earlier than at the value before"); break;
    case FIG_SPREAD: snprintf(rule, size, "curves within %g points", claim->high); break;
    case FIG_FASTER: snprintf(rule, size, "at most %g %% longer", claim->high); break;
    case FIG_WEAKER:
        snprintf(rule, size, "first break-even: fewer octaves of size per octave of time than in figure %g",
                 claim->low);
        break;
    }
}

/* ---- Verdicts ---------------------------------------------------------------------------------------------------- */

static fig_verdict_t check_rising(const fig_result_t *result, const fig_figure_t *figure, fig_finding_t *finding)
{
    bool rises = true;
    fig_break_even_t before = {0, 0};
    size_t used = 0;
    for (int c = 0; c < figure->curves; c++) {
        char text[FIG_BREAK_EVEN_TEXT_MAX];
        const fig_break_even_t here = fig_break_even(result, figure, &figure->curve[c]);
        rises &= here.first >= before.first && here.last >= before.last;
        before = here;
        used += (size_t)snprintf(finding->measured + used, sizeof finding->measured - used, "%s%s", c ? ", " : "",
                                 fig_break_even_text(here, text));
        if (used >= sizeof finding->measured)
            used = sizeof finding->measured - 1;
    }
    return rises ? FIG_AGREES : FIG_DIFFERS;
}

static fig_verdict_t check_weaker(const fig_result_t *result, const fig_figure_t *figure, const fig_claim_t *claim,
                                  fig_finding_t *finding)
{
    const fig_figure_t *than = fig_find(result, (int)claim->low);
    if (!than)
        return FIG_NOT_MEASURED;
    double here = sensitivity(result, figure), there = sensitivity(result, than);
    if (isnan(here) || isnan(there)) {
        snprintf(finding->measured, sizeof finding->measured, "too few curves have a break-even");
        return FIG_DIFFERS;
    }
    snprintf(finding->measured, sizeof finding->measured, "%.2f octaves, there %.2f", here, there);
    return here < there ? FIG_AGREES : FIG_DIFFERS;
}

static bool holds(const fig_claim_t *claim, const extent_t *extent)
{
    switch (claim->test) {
    case FIG_WITHIN:
    case FIG_PEAK: return extent->least >= claim->low && extent->most <= claim->high;
    case FIG_SPREAD:
    case FIG_FASTER: return extent->most <= claim->high;
    default: return extent->least >= (double)claim->from && (!claim->to || extent->most <= (double)claim->to);
    }
}

static bool about_sizes(fig_test_t test)
{
    return test == FIG_PEAK_AT || test == FIG_BREAK_EVEN || test == FIG_FASTEST_FROM || test == FIG_SWITCH ||
           test == FIG_FALLS_FROM;
}

void fig_check(const fig_result_t *result, const fig_claim_t *claim, fig_finding_t *finding)
{
    extent_t extent = {0};
    const fig_figure_t *last = NULL;
    *finding = (fig_finding_t){.verdict = FIG_NOT_MEASURED};
    write_rule(claim, finding);
    for (int f = 0; claim->figure[f]; f++) {
        const fig_figure_t *figure = fig_find(result, claim->figure[f]);
        if (figure)
            measure(result, claim, figure, &extent);
        if (figure)
            last = figure;
    }
    if (last && claim->test == FIG_RISING)
        finding->verdict = check_rising(result, last, finding);
    else if (last && claim->test == FIG_WEAKER)
        finding->verdict = check_weaker(result, last, claim, finding);
    if (!extent.any)
        return;
    finding->verdict = holds(claim, &extent) ? FIG_AGREES : FIG_DIFFERS;
    if (about_sizes(claim->test))
        sizes(claim, &extent, finding);
    else
        percents(claim, &extent, finding);
}
