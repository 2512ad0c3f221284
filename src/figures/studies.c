/*
 * What the results depend on beside the paper's parameters: how a link takes turns, when a packet counts as arrived,
 * what a reduction costs.
 */
#include "figures/figures.h"

const fig_study_spec_t fig_study_spec[FIG_STUDIES] = {
    {"Two channels that take turns, or one queue",
     "Every link of a deadlock-free torus router has two virtual channels that take turns (`--model=dateline`, the "
     "paper's simulator and the default here); a packet changes to the second where it passes coordinate 0. The ideal "
     "router has one queue per link (`--model=fifo`). At coordinate 0 the turns shift the mirrored streams of Swing, "
     "and the two messages of a step of Bruck, against each other: they lose step, meet on links that they had to "
     "themselves, and large vectors take longer. Trivance and Bucket load both directions evenly and hardly notice, "
     "where the sides are alike; on 8x64 the two streams of Trivance meet in the longer dimension and lose step, too.",
     "model",
     {"dateline", "fifo"},
     {"8", "64", "32x32", "8x64", "27x27", "8x8", "8x8x8", NULL},
     {"trivance-b", "bruck-b", "swing-b", "recdoub-b", "recdoub-b-split", "bucket", NULL},
     {"128K", "2M", "32M", NULL},
     2.0},
    {"Heads or tails",
     "In the paper's simulator a packet has arrived when its head has (`--delivery=head`); on a real link a message "
     "has arrived when its last byte has (`--delivery=tail`), the serialisation of one packet (82 ns) later in every "
     "step. That is most for algorithms of many steps with short messages.",
     "delivery",
     {"head", "tail"},
     {"8", "64", "32x32", "27x27", "8x8", "8x8x8", NULL},
     {"trivance-b", "bruck-b", "swing-b", "recdoub-b", "bucket", NULL},
     {"128K", "2M", "32M", NULL},
     2.0},
    {"Reductions that cost time",
     "The paper's figures leave the time of reductions out; its discussion counts the bytes that they touch, 1.5 m for "
     "Trivance and 2 m for the mirrored algorithms. Here every byte that a reduction reads costs 10 ps "
     "(`--gamma=0.01ns`, 100 GB/s, as much as a link). Streams reduce side by side, each at that rate: on D dimensions "
     "Trivance has D of them and the mirrored algorithms 2D, so that these have twice the reducing power, and Trivance "
     "loses by time what it wins by volume.",
     "gamma",
     {"0ns", "0.01ns"},
     {"8", "32x32", "27x27", "8x8", "8x8x8", NULL},
     {"trivance-b", "swing-b", "recdoub-b", "bucket", NULL},
     {"2M", "32M", NULL},
     0.0},
};
