/*
 * Decides between two paths and one by the gains of the rounds. The median decides, unless too many rounds disagree
 * with it.
 */
#include "cli/ports/verdict.h"

bool trv_verdict_is_clear(const double *gain, int rounds)
{
    const int ignored = rounds / 4;
    return rounds > 0 && (gain[ignored] >= TRV_PROBE_TWO) == (gain[rounds - 1 - ignored] >= TRV_PROBE_TWO);
}

trv_path_verdict_t trv_verdict_paths(const double *gain, int rounds, bool one_interface)
{
    if (!trv_verdict_is_clear(gain, rounds))
        return TRV_PATHS_UNCLEAR;
    if (gain[rounds / 2] >= TRV_PROBE_TWO)
        return TRV_PATHS_TWO;
    return one_interface ? TRV_PATHS_INTERFACE : TRV_PATHS_ROUTE;
}
