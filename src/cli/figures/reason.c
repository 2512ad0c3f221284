/*
 * Why we differ from the paper: a claim that does not hold in the run is checked under other assumptions; the first
 * under which it does is the reason.
 */
#include "cli/figures/figures.h"

#include <string.h>

const char fig_assumptions[] =
    "Claims that do not hold were checked under two other assumptions. One queue per link (`--model=fifo`): with the "
    "two channels of SST/Merlin's torus router, which take turns, the mirrored streams of Swing, the messages of Bruck "
    "and, on rectangular tori, the streams of Trivance fall out of step, and their times jump from size to size. The "
    "paper simulates with SST/Merlin, but its published numbers resemble one queue per link; this is unexplained. "
    "Arrival with the last byte (`--delivery=tail`): if a message has arrived with the head of its last packet, as in "
    "SST/Merlin, that packet's transmission costs nothing, which matters more the larger the packets. A claim that "
    "holds under neither and for which no other reason is known is marked as unexplained.";

static const char *const assumption[FIG_VARIANTS] = {
    [FIG_FIFO] = "one queue per link",
    [FIG_FIFO_TAIL] = "one queue per link and arrival with the last byte",
};

const char fig_unexplained[] = "Unexplained.";

const char *fig_reason(const fig_result_t *result, const fig_claim_t *claim, char text[FIG_REASON_MAX])
{
    for (int v = 0; v < FIG_VARIANTS; v++) {
        fig_finding_t finding;
        if (!result->variant[v])
            continue;
        fig_check(result->variant[v], claim, &finding);
        if (finding.verdict == FIG_AGREES) {
            snprintf(text, FIG_REASON_MAX, "It holds with %s: %s.", assumption[v], finding.measured);
            return text;
        }
    }
    snprintf(text, FIG_REASON_MAX, "%s", claim->why ? claim->why : fig_unexplained);
    return text;
}
