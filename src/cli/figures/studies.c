/*
 * What the results depend on beside the paper's parameters: how a link takes turns, when a packet counts as arrived,
 * what a reduction costs.
 */
#include "cli/figures/figures.h"

const fig_study_spec_t fig_study_spec[FIG_STUDIES] = {
    {"Two channels that take turns, or one queue",
     "Every link of a deadlock-free torus router has two virtual channels that take turns (`--model=dateline`, as in "
     "SST/Merlin, and the default here); a packet changes to the second when it passes coordinate 0. The ideal "
     "router has one queue per link (`--model=fifo`). At coordinate 0 the turns shift the mirrored streams of Swing, "
     "and the two messages of a step of Bruck, against each other: they fall out of step, meet on links that the "
     "schedule gives to one of them alone, and large vectors take longer. Trivance and Bucket load both directions "
     "evenly and are hardly affected if the sides are equal; on 8x64 the two streams of Trivance meet in the longer "
     "dimension and fall out of step, too. The streams of Recursive Doubling meet on the same links in either "
     "case; the turns make it faster or slower.",
     "model",
     {"dateline", "fifo"},
     {"8", "64", "32x32", "8x64", "27x27", "8x8", "8x8x8", NULL},
     {"trivance-b", "bruck-b", "swing-b", "recdoub-b", "recdoub-b-split", "bucket", NULL},
     {"128K", "2M", "32M", NULL},
     2.0},
    {"Heads or tails",
     "In SST/Merlin a packet has arrived when its head has (`--delivery=head`); on a real link a message "
     "has arrived when its last byte has (`--delivery=tail`), the serialisation of one packet (82 ns) later in every "
     "step. The effect is largest for algorithms of many steps with short messages. "
     "Bruck and Swing take less time with the tail on 27x27, where their streams meet; this is unexplained.",
     "delivery",
     {"head", "tail"},
     {"8", "64", "32x32", "27x27", "8x8", "8x8x8", NULL},
     {"trivance-b", "bruck-b", "swing-b", "recdoub-b", "bucket", NULL},
     {"128K", "2M", "32M", NULL},
     2.0},
    {"Reductions that cost time",
     "The paper's figures omit the time of reductions; its discussion counts the bytes that they touch, 1.5 m for "
     "Trivance and 2 m for the mirrored algorithms. Here every byte that a reduction reads costs 10 ps "
     "(`--gamma=0.01ns`, 100 GB/s, as much as a link). Streams reduce concurrently, each at that rate: on D "
     "dimensions Trivance has D streams and the mirrored algorithms 2D, hence twice the reduction rate, so "
     "Trivance's reductions read a quarter less and take half as long again.",
     "gamma",
     {"0ns", "0.01ns"},
     {"8", "32x32", "27x27", "8x8", "8x8x8", NULL},
     {"trivance-b", "swing-b", "recdoub-b", "bucket", NULL},
     {"2M", "32M", NULL},
     0.0},
};
