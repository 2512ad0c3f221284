/*
 * The page: one HTML file that opens without a network. Its form is page.html, page.css and page.js, built in; here the
 * data are put into it as one JSON object, which page.js draws.
 */
#include "cli/figures/figures.h"

#include <string.h>

#include <trivance/common.h>

#include "base/error.h"
#include "cli/figures/page.h"

/* The array with one more value, or NULL where memory ran out before or now. */
static json_t *append(json_t *array, json_t *value)
{
    if (array && json_array_append_new(array, value) == 0)
        return array;
    json_decref(array ? array : value);
    return NULL;
}

static json_t *numbers(const fig_value_t *value, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        array = append(array, json_real(value[i].time_ns));
    return array;
}

static json_t *members(const fig_value_t *value, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        array = append(array, json_string(value[i].member));
    return array;
}

/* Numbers of cuts along the axis, with how many networks each; null where it has sizes. */
static json_t *cuts_data(const fig_result_t *result, const fig_figure_t *figure)
{
    json_t *cuts = json_array();
    if (!fig_is_about_cuts(figure->spec)) {
        json_decref(cuts);
        return json_null();
    }
    for (int i = 0; i < figure->points; i++)
        cuts = append(cuts, json_integer(fig_cuts[i]));
    return json_pack("{so, si}", "links", cuts, "networks", fig_cuts_networks(result->quick));
}

static json_t *served_data(const fig_curve_t *curve, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        array = append(array, json_integer(curve->served[i]));
    return array;
}

static json_t *figure_data(const fig_result_t *result, const fig_figure_t *figure)
{
    double low, high;
    json_t *curves = json_array();
    fig_range(figure, &low, &high);
    for (int c = 0; c < figure->curves; c++) {
        const fig_curve_t *curve = &figure->curve[c];
        const int n = figure->points;
        json_t *data = json_pack("{ss, ss, si, so, so, si, so, so, si}", "key", curve->key, "title", curve->title,
                                 "colour", curve->colour, "other", numbers(curve->other, n), "member",
                                 members(curve->other, n), "switch", fig_switch(curve->other, n), "own",
                                 numbers(curve->own, n), "ownMember", members(curve->own, n), "ownSwitch",
                                 fig_own_switch(figure, curve, n));
        if (data && fig_is_about_cuts(figure->spec) &&
            (json_object_set_new(data, "worst", numbers(curve->worst, n)) ||
             json_object_set_new(data, "worstMember", members(curve->worst, n)) ||
             json_object_set_new(data, "served", served_data(curve, n)))) {
            json_decref(data);
            data = NULL;
        }
        curves = append(curves, data);
    }
    const fig_algorithm_t own = fig_own(figure->spec);
    return json_pack("{si, ss, ss, ss?, so, s[ff], s{ss, ss, si}, so}", "number", figure->spec->number, "title",
                     figure->spec->title, "torus", figure->spec->torus, "parameter", figure->spec->parameter, "cuts",
                     cuts_data(result, figure), "range", low, high, "own", "key", own.key, "title", own.title, "colour",
                     own.colour, "curves", curves);
}

static json_t *claim_data(const fig_result_t *result, const fig_claim_t *claim)
{
    fig_finding_t finding;
    char reason[FIG_REASON_MAX] = "";
    json_t *figures = json_array();
    fig_check(result, claim, &finding);
    if (finding.verdict == FIG_DIFFERS)
        fig_reason(result, claim, reason);
    for (int f = 0; claim->figure[f]; f++)
        figures = append(figures, json_integer(claim->figure[f]));
    return json_pack("{ss, ss, so, ss, ss, ss, ss}", "where", claim->where, "text", claim->text, "figures", figures,
                     "rule", finding.rule, "measured", finding.measured, "verdict", fig_verdict_name[finding.verdict],
                     "why", reason);
}

static json_t *study_data(const fig_study_t *study)
{
    json_t *rows = json_array();
    for (int r = 0; r < study->rows; r++) {
        const fig_study_row_t *row = &study->row[r];
        json_t *data = json_pack("{ss, ss, sI, s[ff], s[ff]}", "torus", row->torus, "algorithm", row->algorithm,
                                 "bytes", (json_int_t)row->bytes, "time", row->other[0].time_ns, row->other[1].time_ns,
                                 "advantage", fig_advantage_of(row->other[0].time_ns, row->trivance[0].time_ns),
                                 fig_advantage_of(row->other[1].time_ns, row->trivance[1].time_ns));
        rows = append(rows, data);
    }
    return json_pack("{ss, ss, ss, s[ss], sf, so}", "title", study->spec->title, "text", study->spec->text, "option",
                     study->spec->option, "value", study->spec->value[0], study->spec->value[1], "threshold",
                     study->spec->threshold, "rows", rows);
}

static json_t *page_data(const fig_result_t *result)
{
    char network[CLI_NETWORK_TEXT_MAX];
    fig_algorithm_t baseline[FIG_BASELINES_MAX];
    const int count = fig_baselines(baseline);
    json_t *sizes = json_array(), *figures = json_array(), *claims = json_array(), *studies = json_array();
    json_t *baselines = json_array();
    for (int b = 0; b < count; b++)
        baselines = append(baselines, json_string(baseline[b].title));
    int most = result->sizes;
    for (int f = 0; f < result->figures; f++)
        if (!fig_is_about_cuts(result->figure[f].spec) && result->figure[f].points > most)
            most = result->figure[f].points;
    for (int i = 0; i < most; i++)
        sizes = append(sizes, json_integer((json_int_t)result->bytes[i]));
    for (int f = 0; f < result->figures; f++)
        figures = append(figures, figure_data(result, &result->figure[f]));
    for (int c = 0; c < fig_claims; c++)
        claims = append(claims, claim_data(result, &fig_claim[c]));
    for (int s = 0; s < FIG_STUDIES; s++)
        studies = append(studies, study_data(&result->study[s]));
    return json_pack("{ss, ss, ss, sb, si, sI, sf, so, so, so, so, so, ss, sO}", "version", trv_version(), "command",
                     result->command, "network", cli_network_format(&result->network, network), "drawn", result->drawn,
                     "simulations", result->all.simulations, "packetHops", (json_int_t)result->all.packet_hops,
                     "seconds", result->wall_s, "baselines", baselines, "sizes", sizes, "figures", figures, "claims",
                     claims, "studies", studies, "assumptions", fig_assumptions, "tables", result->tables);
}

/* Prints up to `mark`, which is skipped; returns what follows. */
static const char *print_until(const char *text, const char *mark, FILE *out)
{
    const char *found = strstr(text, mark);
    fwrite(text, 1, (size_t)(found - text), out);
    return found + strlen(mark);
}

int fig_write_page(const fig_result_t *result, const fig_figure_t *figure, FILE *out)
{
    (void)figure;
    json_t *data = page_data(result);
    if (!data)
        return trv_fail_memory();
    const char *rest = print_until(fig_page_html, "/* page.css */", out);
    fputs(fig_theme_css, out);
    fputs(fig_page_css, out);
    rest = print_until(rest, "{\"data\": \"of the figures\"}", out);
    int failed = json_dumpf(data, out, JSON_COMPACT | JSON_ESCAPE_SLASH | JSON_REAL_PRECISION(12));
    json_decref(data);
    rest = print_until(rest, "/* page.js */", out);
    fputs(fig_page_js, out);
    fputs(rest, out);
    return failed && !ferror(out) ? trv_fail_memory() : TRV_OK;
}
