/*
 * Runs with streamed input, which becomes available in parts, as on the leader of a node: a lane begins a chunk when
 * all input of the chunk is available, and the number of final results can be queried. The order of the chunks, and
 * with it every message and every bit of the result, is that of any other run; only the times at which chunks begin
 * differ, and only on this rank.
 */
#include "base/error.h"
#include "execute/run/plan.h"

int trv_plan_start_streamed(trv_plan_t *plan, size_t count, const void *input, void *output)
{
    if (plan && plan->collective != TRV_ALLREDUCE)
        return trv_fail(TRV_ERR_UNSUPPORTED, "only AllReduce supports streamed input (trv_plan_start_streamed)");
    if (plan)
        plan->streamed = true;
    int rc = trv_plan_start_count(plan, count, input, output);
    if (plan)
        plan->streamed = false;
    return rc;
}

void trv_plan_input_ready(trv_plan_t *plan, size_t elements)
{
    if (plan->input_ready < elements)
        plan->input_ready = elements;
}

size_t trv_plan_output_ready(const trv_plan_t *plan)
{
    size_t chunk = plan->chunks; /* the first chunk that a lane has not completed */
    if (plan->state == TRV_PLAN_IDLE)
        return plan->count;
    if (plan->state != TRV_PLAN_RUNNING || plan->failure)
        return 0;
    for (int i = 0; i < plan->lanes; i++)
        if (!plan->lane[i].done && plan->lane[i].chunk < chunk)
            chunk = plan->lane[i].chunk;
    return chunk ? trv_chunk_end(plan, chunk - 1) : 0;
}
