/*
 * Fuzzes the reader of GOAL programs and the simulator with accepted programs: no text may crash them, every refusal
 * has an error sentence, and the time of a program that ends has the bound that its calculations imply.
 */
#include <stdint.h>
#include <string.h>

#include <trivance/trivance.h>

#include "formats/goal_file.h"
#include "simulate/goal_run.h"
#include "fuzz.h"

/* Returns the number of packets of all messages, which limits the time of a run. */
static uint64_t work_of(const trv_goal_t *goal)
{
    uint64_t packets = 0;
    for (uint32_t i = 0; i < goal->ops; i++)
        packets += goal->op[i].kind == TRV_GOAL_SEND ? goal->op[i].amount / 8192 + 1 : 0;
    return packets;
}

static void simulate(const trv_goal_t *goal, double alpha_ns, double overhead_ns)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    trv_torus_t torus;
    trv_simulation_t result;
    double longest = 0;
    options.alpha_ns = alpha_ns;
    options.message_overhead_ns = overhead_ns;
    fuzz_expect(trv_torus_init(&torus, goal->ranks == 4 ? 2 : 1, goal->ranks == 4 ? (int[]){2, 2} : &goal->ranks) == 0);
    for (uint32_t i = 0; i < goal->ops; i++)
        if (goal->op[i].kind == TRV_GOAL_CALC && (double)goal->op[i].amount > longest)
            longest = (double)goal->op[i].amount;
    if (trv_goal_simulate(goal, &torus, &options, &result))
        fuzz_expect(strlen(trv_last_error()) > 10);
    else
        fuzz_expect(result.time_ns >= longest);
    trv_simulation_clear(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trv_goal_t goal;
    if (trv_goal_file_parse((const char *)data, size, "fuzz", &goal)) {
        fuzz_expect(strlen(trv_last_error()) > 10);
        return 0;
    }
    fuzz_expect(goal.ranks >= 1 && goal.ops <= size && goal.dependencies <= size);
    for (uint32_t i = 0; i < goal.dependencies; i++)
        fuzz_expect(goal.dependency[i].op < goal.ops && goal.dependency[i].on < goal.ops &&
                    goal.op[goal.dependency[i].op].rank == goal.op[goal.dependency[i].on].rank);
    if (goal.ranks <= 16 && work_of(&goal) < 10000) {
        simulate(&goal, 0, 0);
        simulate(&goal, 1500, 10);
    }
    trv_goal_clear(&goal);
    return 0;
}
