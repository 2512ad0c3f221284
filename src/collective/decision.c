/*
 * Creation of decisions; decision.h describes them.
 */
#include "collective/decision.h"

#include <stdio.h>
#include <string.h>

void trv_decision_make(trv_decision_t *decision, int code, const trv_choice_t *choice, const trv_network_t *network,
                       trv_collective_t collective, int root)
{
    const trv_network_t on_nodes = {TRV_NETWORK, .torus = choice->torus};
    *decision = (trv_decision_t){.left_to_library = choice->left_to_library,
                                 .on_nodes = choice->on_nodes,
                                 .order = (int32_t)choice->order,
                                 .in_box = choice->on_nodes && choice->torus.dims > 1,
                                 .lines = choice->on_nodes && choice->torus.lines != 0,
                                 .bytes_min = choice->bytes_min,
                                 .bytes_max = choice->bytes_max};
    if (code == TRV_OK && *choice->algorithm)
        code = trv_schedule_full_name_on(choice->on_nodes ? &on_nodes : network, choice->algorithm, collective, root,
                                         decision->full_name, sizeof decision->full_name);
    decision->code = code;
    memcpy(decision->algorithm, choice->algorithm, sizeof decision->algorithm);
    snprintf(decision->reason, sizeof decision->reason, "%s", code < 0 ? trv_last_error() : choice->reason);
}
