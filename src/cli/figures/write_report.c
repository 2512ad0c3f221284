/*
 * The report, docs/evaluation.md: every claim of the paper beside what was measured, and what the results depend on.
 */
#include "cli/figures/figures.h"

#include <math.h>
#include <string.h>

#include "base/text/parse.h"

/* Those that the report shows; the others are on the page. */
static const int shown[] = {6, 8, 11, 12};

static void write_head(const fig_result_t *result, FILE *out)
{
    char network[CLI_NETWORK_TEXT_MAX], first[TRV_BYTES_TEXT_MAX], last[TRV_BYTES_TEXT_MAX];
    fprintf(out,
            "<!-- Made by `%s`, which writes it to its folder beside the page index.html; not edited by hand. -->\n\n"
            "# The paper's evaluation, recomputed\n\n",
            result->command);
    fprintf(out,
            "`%s` simulates figures 6 to 20 of the paper (section 6, appendices F and G) packet by packet and "
            "compares them with the paper's claims. Network: %s. Sizes: %s to %s, %d of them. %d simulations, %.2f "
            "billion packet-hops.\n\n",
            result->command, cli_network_format(&result->network, network), trv_format_bytes(result->bytes[0], first),
            trv_format_bytes(result->bytes[result->sizes - 1], last), result->sizes, result->paper.simulations,
            (double)result->paper.packet_hops / 1e9);
    fputs(
        "An advantage is the paper's (T_A - T_Trivance) / T_A: the fraction of algorithm A's time that Trivance "
        "saves; negative where it is slower. At each size an algorithm's time is that of the faster of its L and "
        "B. A break-even is a size from which on an advantage is no longer positive, interpolated between measured "
        "sizes. An advantage can become positive again: then the first and the last break-even are given (5 MiB/none: "
        "after the first one it is positive again up to the largest size). Of times that are more than twice as "
        "long, the ratio is given instead of a percentage. On a "
        "ring, Bucket is the Ring algorithm. Figures have the paper's numbers: 6 to 12 are those of section 6, 13 "
        "to 15 those of the sensitivity analysis (appendix F), 16 to 20 the additional plots (appendix G).\n\n"
        "The paper does not state some values, which are chosen here: those between the smallest and the largest "
        "bandwidth "
        "(figure 10) and packet size (figure 15), and all alphas (figure 13) and link latencies (figure 14). The "
        "paper's routers have buffers of 64 MB per link (appendix E), those simulated here unlimited ones; the "
        "times are the same (`trivance simulate 8 --algorithm=trivance,bruck,swing,recdoub,bucket --bytes=128M "
        "--buffer=64000000`).\n\n",
        out);
}

static void write_figures(const fig_result_t *result, FILE *out)
{
    for (size_t i = 0; i < sizeof shown / sizeof shown[0] && result->drawn; i++) {
        const fig_figure_t *figure = fig_find(result, shown[i]);
        if (figure)
            fprintf(out, "![Figure %d: advantage of Trivance on a %s](figures/figure-%02d.svg)\n\n", shown[i],
                    figure->spec->title, shown[i]);
    }
}

/* ---- Claims ------------------------------------------------------------------------------------------------------ */

#define CLAIMS_HEAD "| section | the paper | figure | rule | measured | verdict |\n|---|---|---|---|---|---|\n"

static void write_claim(const fig_claim_t *claim, const fig_finding_t *finding, FILE *out)
{
    fprintf(out, "| %s | %s | ", claim->where, claim->text);
    for (int f = 0; claim->figure[f]; f++)
        fprintf(out, "%s%d", f ? ", " : "", claim->figure[f]);
    fprintf(out, " | %s | %s | %s |\n", finding->rule, finding->measured,
            finding->verdict == FIG_DIFFERS ? "**differs**" : fig_verdict_name[finding->verdict]);
}

/* An element that unfolds into the claims about figures that this run does not include. */
static void write_unmeasured(const fig_result_t *result, int claims, FILE *out)
{
    fig_finding_t finding;
    fprintf(out, "\n<details><summary>%d claims about figures that this run does not include</summary>\n\n" CLAIMS_HEAD,
            claims);
    for (int c = 0; c < fig_claims; c++) {
        fig_check(result, &fig_claim[c], &finding);
        if (finding.verdict == FIG_NOT_MEASURED)
            write_claim(&fig_claim[c], &finding, out);
    }
    fputs("\n</details>\n", out);
}

static void write_claims(const fig_result_t *result, FILE *out)
{
    int count[3] = {0};
    char reason[FIG_REASON_MAX], before[FIG_REASON_MAX] = "";
    fig_finding_t finding;
    for (int c = 0; c < fig_claims; c++) {
        fig_check(result, &fig_claim[c], &finding);
        count[finding.verdict]++;
    }
    fprintf(out, "## Claim by claim\n\n%d claims: %d agree, %d differ", fig_claims, count[FIG_AGREES],
            count[FIG_DIFFERS]);
    if (count[FIG_NOT_MEASURED])
        fprintf(out, ", %d were not measured in this run", count[FIG_NOT_MEASURED]);
    fputs(". The rule decides the verdict: \"about 15 %\" and \"10 to 30 %\" allow 5 points either way, a size a "
          "factor of "
          "two; \"persists up to 512 KiB\" is taken literally. The sections are the paper's; F is an appendix.\n\n",
          out);
    fputs(CLAIMS_HEAD, out);
    for (int c = 0; c < fig_claims; c++) {
        fig_check(result, &fig_claim[c], &finding);
        if (finding.verdict != FIG_NOT_MEASURED)
            write_claim(&fig_claim[c], &finding, out);
    }
    if (count[FIG_NOT_MEASURED])
        write_unmeasured(result, count[FIG_NOT_MEASURED], out);
    fprintf(out, "\n### Where they differ, and why\n\n%s\n\n", fig_assumptions);
    for (int c = 0; c < fig_claims; c++) {
        fig_check(result, &fig_claim[c], &finding);
        if (finding.verdict != FIG_DIFFERS)
            continue;
        fprintf(out, "- **%s.** Measured: %s. ", fig_claim[c].text, finding.measured);
        fig_reason(result, &fig_claim[c], reason);
        const bool repeated = strcmp(reason, before) == 0 && strcmp(reason, fig_unexplained) != 0;
        fprintf(out, "%s\n", repeated ? "The same reason." : reason);
        strcpy(before, reason);
    }
    fputc('\n', out);
}

/* ---- Volumes, studies, tables ------------------------------------------------------------------------------------ */

/* The advantage over the fastest at the largest size, and the break-even with it. */
static void write_fastest(const fig_result_t *result, int number, FILE *out)
{
    char text[FIG_BREAK_EVEN_TEXT_MAX], percent[FIG_TEXT_MAX];
    const fig_figure_t *figure = result ? fig_find(result, number) : NULL;
    if (!figure) {
        fputs("| | ", out);
        return;
    }
    fprintf(out, "| %s | %s ", fig_percent(fig_advantage_best(figure, result->sizes - 1), percent),
            fig_break_even_text(fig_break_even(result, figure, NULL), text));
}

static int write_largest(const fig_result_t *result, FILE *out)
{
    int rc = TRV_OK;
    fputs("## The largest vectors\n\n"
          "If all sides of the torus are powers of three, Trivance B sends a third of the remaining blocks in every "
          "step. Otherwise no step divides by three exactly, and more has to move (section 6.2). Theta of Trivance B "
          "is the busiest link's bytes relative to m/D, measured by routing its schedule. The columns that follow "
          "give the advantage over the fastest other algorithm at the largest size and the break-even with it (the "
          "first/the last, if they differ; none: not up to the largest size), as run and with one queue per link.\n\n"
          "| figure | torus | Theta | as run | | one queue | |\n"
          "|---|---|---|---|---|---|---|\n",
          out);
    for (int f = 0; f < result->figures && !rc; f++) {
        const fig_spec_t *spec = result->figure[f].spec;
        double theta;
        if (spec->parameter || fig_is_beyond(spec))
            continue;
        rc = fig_theta(spec->torus, &theta);
        if (rc)
            break;
        fprintf(out, "| %d | %s | %.3f ", spec->number, spec->torus, theta);
        write_fastest(result, spec->number, out);
        write_fastest(result->variant[FIG_FIFO], spec->number, out);
        fputs("|\n", out);
    }
    fputc('\n', out);
    return rc;
}

static void write_study(const fig_study_t *study, FILE *out)
{
    const fig_study_spec_t *spec = study->spec;
    int left = 0;
    fprintf(out, "## %s\n\n%s\n\n", spec->title, spec->text);
    fprintf(out,
            "| torus | algorithm | size | %s | %s | change | advantage of Trivance, %s | advantage, %s |\n"
            "|---|---|---|---|---|---|---|---|\n",
            spec->value[0], spec->value[1], spec->value[0], spec->value[1]);
    for (int r = 0; r < study->rows; r++) {
        const fig_study_row_t *row = &study->row[r];
        const fig_value_t *other = row->other, *trivance = row->trivance;
        char bytes[TRV_BYTES_TEXT_MAX], percent[3][FIG_TEXT_MAX];
        double change = 100 * (other[1].time_ns / other[0].time_ns - 1);
        if (fabs(change) < spec->threshold) {
            left++;
            continue;
        }
        fprintf(out, "| %s | %s | %s | %.2f us | %.2f us | %s%s | %s | %s |\n", row->torus, row->algorithm,
                trv_format_bytes(row->bytes, bytes), other[0].time_ns / 1e3, other[1].time_ns / 1e3,
                change >= 0 && change <= 100 ? "+" : "", fig_percent(change, percent[0]),
                fig_percent(fig_advantage_of(other[0].time_ns, trivance[0].time_ns), percent[1]),
                fig_percent(fig_advantage_of(other[1].time_ns, trivance[1].time_ns), percent[2]));
    }
    fputc('\n', out);
    if (spec->threshold > 0)
        fprintf(out, "The other %d of the %d that were compared differ by less than %g %%.\n\n", left, study->rows,
                spec->threshold);
}

static int write_volumes(FILE *out)
{
    static const struct {
        const char *torus, *algorithm, *paper;
    } row[] = {
        {"27x27", "trivance-b", "1.5 m"}, {"32x32", "trivance-b", "1.5 m"}, {"27x27", "bruck-b", ""},
        {"32x32", "swing-b", "2 m"},      {"32x32", "recdoub-b", "2 m"},    {"32x32", "bucket", "2 m"},
    };
    fputs("Operands that a rank's reductions read and results that they write, in vectors, counted from the "
          "schedules. The paper's 1.5 m and 2 m are operands: a joint reduction reads three, two plain ones read "
          "four. A joint reduction writes half as much: one result instead of two.\n\n"
          "| torus | algorithm | operands | results | by the paper |\n|---|---|---|---|---|\n",
          out);
    int rc = 0;
    for (size_t i = 0; i < sizeof row / sizeof row[0] && !rc; i++) {
        double operands, results;
        rc = fig_reduced(row[i].torus, row[i].algorithm, &operands, &results);
        if (!rc)
            fprintf(out, "| %s | %s | %.3f m | %.3f m | %s |\n", row[i].torus, row[i].algorithm, operands, results,
                    row[i].paper);
    }
    fputc('\n', out);
    return rc;
}

static void write_tables(const fig_result_t *result, FILE *out)
{
    int total[3] = {0}, agree[3] = {0};
    size_t i;
    json_t *row;
    json_array_foreach(result->tables, i, row)
    {
        int number = (int)json_integer_value(json_object_get(row, "table"));
        total[number]++;
        agree[number] += json_is_true(json_object_get(row, "agrees"));
    }
    if (!total[1])
        return;
    fprintf(out,
            "## Tables 1 and 2\n\n"
            "The optimality factors, every message routed: %d of %d rows of table 1 (rings) and "
            "%d of %d of table 2 (tori) equal the exact sums of the paper's appendix B or, for Ring and Bucket, "
            "which it leaves out, the minimum that must move, (1 - 1/n) m/D. The others are Bruck, which "
            "beats its closed form because it is routed the shorter way, and Recursive Doubling B, whose mirrored "
            "streams meet on the same links. `trivance cost --paper` prints them.\n",
            agree[1], total[1], agree[2], total[2]);
}

int fig_write_report(const fig_result_t *result, const fig_figure_t *figure, FILE *out)
{
    (void)figure;
    write_head(result, out);
    write_figures(result, out);
    write_claims(result, out);
    int rc = write_largest(result, out);
    for (int s = 0; s < FIG_STUDIES && !rc; s++) {
        if (result->study[s].rows)
            write_study(&result->study[s], out);
        if (strcmp(result->study[s].spec->option, "gamma") == 0 && !result->quick)
            rc = write_volumes(out);
    }
    write_tables(result, out);
    return rc;
}
