/*
 * Why we differ from the paper: a claim that does not hold in the run is checked under other assumptions; the first
 * under which it does is the reason.
 */
#include "figures/figures.h"

#include <string.h>

static const char *const assumption[FIG_VARIANTS] = {
    [FIG_FIFO] = "It holds with one queue per link (`--model=fifo`): where two channels take turns, the mirrored "
                 "streams of Swing and the messages of Bruck lose step, and their times jump from size to size.",
    [FIG_FIFO_TAIL] = "It holds with one queue per link and where a message has arrived with its last byte "
                      "(`--model=fifo --delivery=tail`): when heads count, the last packet of a message costs nothing, "
                      "the larger the packets the more.",
    [FIG_IDEAL] = "It holds with the idealised messages of the paper's simulation: the true blocks of Trivance B on a "
                  "size that is no power of three are more.",
    [FIG_FIFO_IDEAL] = "It holds with the idealised messages of the paper's simulation and one queue per link: the "
                       "true blocks of Trivance B are more, and with two channels Swing and Bruck lose step.",
};

const char *fig_reason(const fig_result_t *result, const fig_claim_t *claim, char text[FIG_REASON_MAX])
{
    for (int v = 0; v < FIG_VARIANTS; v++) {
        fig_finding_t finding;
        if (!result->variant[v])
            continue;
        fig_check(result->variant[v], claim, &finding);
        if (finding.verdict == FIG_AGREES) {
            snprintf(text, FIG_REASON_MAX, "%s There: %s.", assumption[v], finding.measured);
            return text;
        }
    }
    snprintf(text, FIG_REASON_MAX, "%s", claim->why ? claim->why : "No reason was found.");
    return text;
}
