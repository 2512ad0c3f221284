/*
 * The figures of the paper's section 5 and its appendices. Bandwidths, alphas and packet sizes are the paper's; where
 * it gives no values (link latencies), a range around its 100 ns.
 */
#include "figures/figures.h"

#include <string.h>

const fig_spec_t fig_spec[FIG_COUNT] = {
    {6, "8", "Ring of 8", NULL, {NULL}},
    {7, "64", "Ring of 64", NULL, {NULL}},
    {8, "32x32", "32x32 torus", NULL, {NULL}},
    {9, "8x64", "8x64 torus, rectangular", NULL, {NULL}},
    {10, "32x32", "Link bandwidth on 32x32", "bandwidth",
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
};

/* On a ring, Bucket is the Ring algorithm. */
const fig_algorithm_t fig_baseline[FIG_BASELINES] = {
    {"bruck", "Bruck"}, {"swing", "Swing"}, {"recdoub", "Recursive Doubling"}, {"bucket", "Bucket"}};

bool fig_has_baseline(const fig_spec_t *spec, int baseline)
{
    return spec->number != 11 || strcmp(fig_baseline[baseline].key, "recdoub") != 0;
}
