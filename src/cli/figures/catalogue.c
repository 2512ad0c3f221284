/*
 * The figures of the paper's section 6 and appendices F and G, and those beyond it. Of bandwidths and packet sizes the
 * paper gives the smallest and the largest value; the alphas and link latencies of figures 13 and 14, of which it gives
 * none, are ranges around its 1.5 us and 100 ns.
 */
#include "cli/figures/figures.h"

#include <string.h>

const fig_spec_t fig_spec[FIG_COUNT] = {
    {6, "8", "Ring of 8", NULL, {NULL}},
    {7, "64", "Ring of 64", NULL, {NULL}},
    {8, "32x32", "32x32 torus", NULL, {NULL}},
    {9, "8x64", "8x64 torus, rectangular", NULL, {NULL}},
    {10,
     "32x32",
     "Link bandwidth on 32x32",
     "bandwidth",
     {"200Gb/s", "400Gb/s", "800Gb/s", "1.6Tb/s", "2.4Tb/s", "3.2Tb/s", NULL}},
    {11, "27x27", "27x27 torus, powers of three", NULL, {NULL}},
    {12, "16x16x16", "16x16x16 torus", NULL, {NULL}},
    {13, "8x8", "Startup latency per step on 8x8", "alpha", {"0.5us", "1us", "1.5us", "2.5us", "5us", "10us", NULL}},
    {14, "8x8", "Link latency on 8x8", "link-latency", {"50ns", "100ns", "200ns", "500ns", "1us", NULL}},
    {15, "8x8", "Packet size on 8x8", "packet", {"1KiB", "2KiB", "4KiB", "8KiB", "16KiB", "32KiB", "64KiB"}},
    {16, "128", "Ring of 128", NULL, {NULL}},
    {17, "8x8", "8x8 torus", NULL, {NULL}},
    {18, "8x16", "8x16 torus", NULL, {NULL}},
    {19, "16x64", "16x64 torus", NULL, {NULL}},
    {20, "8x8x8", "8x8x8 torus", NULL, {NULL}},
    {21, "32x32", "Planned schedules on 32x32", NULL, {NULL}},
    {22, "27x27", "Planned schedules on 27x27", NULL, {NULL}},
    {23, "16x16x16", "Planned schedules on 16x16x16", NULL, {NULL}},
    {24, "8x8x8", "Planned schedules on 8x8x8", NULL, {NULL}},
    {25, "8x8", "Planned schedules on 8x8", NULL, {NULL}},
    {26, "12x12", "Planned schedules on 12x12", NULL, {NULL}},
    {27, "16x16", "Planned schedules on 16x16", NULL, {NULL}},
    {28, "4x4x4", "Planned schedules on 4x4x4", NULL, {NULL}},
    {29, "4x4x8", "Planned schedules on 4x4x8", NULL, {NULL}},
    {30, "8mx8m", "Planned schedules on the mesh 8mx8m", NULL, {NULL}},
    {31, "27mx27m", "Planned schedules on the mesh 27mx27m", NULL, {NULL}},
    {32, "8mx8mx8m", "Planned schedules on the mesh 8mx8mx8m", NULL, {NULL}},
    {33, "32x32", "Links of 32x32 fail one after another", "cut", {"32B", "1MiB", "64MiB", NULL}},
};

bool fig_is_beyond(const fig_spec_t *spec) { return spec->number > FIG_PAPER_LAST; }

bool fig_is_about_cuts(const fig_spec_t *spec) { return spec->parameter && strcmp(spec->parameter, "cut") == 0; }

/* Recursive Doubling, on powers of three. */
bool fig_omits(const char *torus, const char *algorithm)
{
    return strcmp(torus, "27x27") == 0 && strncmp(algorithm, "recdoub", 7) == 0;
}

/* ---- Algorithms -------------------------------------------------------------------------------------------------- */

/* The first line of a family, which speaks for it. */
static const trv_algorithm_t *head_of(const char *family)
{
    int i = 0;
    while (strcmp(trv_algorithm_family(trv_algorithm_at(i)), family) != 0)
        i++;
    return trv_algorithm_at(i);
}

static fig_algorithm_t describe(const char *family)
{
    const trv_algorithm_t *head = head_of(family);
    const char *title = trv_algorithm_title(head);
    fig_algorithm_t algorithm = {.key = trv_algorithm_family(head), .symmetric = true};
    algorithm.colour = trv_algorithm_colour(head) % FIG_COLOURS;
    snprintf(algorithm.title, sizeof algorithm.title, "%.*s", (int)strcspn(title, ","), title);
    for (int i = 0; i < trv_algorithms_count(); i++)
        if (strcmp(trv_algorithm_family(trv_algorithm_at(i)), family) == 0)
            algorithm.symmetric &= trv_algorithm_symmetry(trv_algorithm_at(i)) != TRV_SYMMETRY_NONE;
    return algorithm;
}

int fig_baselines(fig_algorithm_t baseline[FIG_BASELINES_MAX])
{
    int count = 0;
    for (int i = 0; i < trv_algorithms_count() && count < FIG_BASELINES_MAX; i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (!trv_algorithm_baseline(algorithm) || trv_algorithm_colour(algorithm) == 0)
            continue;
        const fig_algorithm_t described = describe(trv_algorithm_family(algorithm));
        int at = count++;
        for (; at > 0 && baseline[at - 1].colour > described.colour; at--)
            baseline[at] = baseline[at - 1];
        baseline[at] = described;
    }
    return count;
}

fig_algorithm_t fig_trivance(void) { return describe("trivance"); }

fig_algorithm_t fig_own(const fig_spec_t *spec)
{
    return fig_is_beyond(spec) ? (fig_algorithm_t){.key = "planned", .title = "Planned"} : fig_trivance();
}
