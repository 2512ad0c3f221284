/*
 * Plans for links with two channels where they differ from those for links with one queue (ties.h).
 * Made by `bench/planner --table > src/planner/ties_table.c`, in minutes, which is due when candidates change.
 */
#include "planner/ties.h"

const trv_tie_t trv_ties[] = {
    {"64", 262144, 262144, "hybrid:16"},
    {"8x16", 65536, 65536, "hybrid:1x2"},
    {"8x16", 524288, 524288, "hybrid:8x16:own"},
    {"8x16", 16777216, 1125899906842624, "hybrid:8/4"},
    {"8x64", 8388608, 16777216, "hybrid:8x64"},
    {"8x64", 33554432, 67108864, "hybrid:4x64/7"},
    {"8x64", 134217728, 1125899906842624, "hybrid:8/3x64/7"},
    {"16x64", 4194304, 4194304, "hybrid:16"},
    {"16x64", 67108864, 67108864, "hybrid:4x64/7"},
    {"16x64", 134217728, 1125899906842624, "hybrid:8/3x64/7"},
    {"16x16x16", 134217728, 1125899906842624, "hybrid:16/4"},
    {0, 0, 0, 0},
};
