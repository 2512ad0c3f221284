/*
 * The figures of the paper's section 5 and its appendices, and those beyond it. Bandwidths, alphas and packet sizes
 * are the paper's; where it gives no values (link latencies), a range around its 100 ns.
 */
#include "figures/figures.h"

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
};

const fig_algorithm_t fig_trivance = {"trivance", "Trivance"}, fig_planned = {"planned", "Planned"};

bool fig_is_beyond(const fig_spec_t *spec) { return spec->number > FIG_PAPER_LAST; }

const fig_algorithm_t *fig_own(const fig_spec_t *spec) { return fig_is_beyond(spec) ? &fig_planned : &fig_trivance; }

/* On a ring, Bucket is the Ring algorithm. */
const fig_algorithm_t fig_baseline[FIG_BASELINES] = {{"bruck", "Bruck"},
                                                     {"swing", "Swing"},
                                                     {"recdoub", "Recursive Doubling"},
                                                     {"bucket", "Bucket"}};

bool fig_has_baseline(const fig_spec_t *spec, int baseline)
{
    return strcmp(spec->torus, "27x27") != 0 || strcmp(fig_baseline[baseline].key, "recdoub") != 0;
}
