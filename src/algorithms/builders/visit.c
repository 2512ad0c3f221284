/*
 * The order of dimensions, computed one step at a time.
 */
#include "algorithms/builders/visit.h"

static void turn_interleaved(trv_visit_t visit, int active, const int *levels, int step, trv_turn_t *turn)
{
    for (int passed = 0;; turn->index = trv_visit_next(visit, active, turn->index)) {
        if (turn->done[turn->index] == levels[turn->index])
            continue;
        if (passed++ == step)
            return;
        turn->done[turn->index]++;
    }
}

static void turn_sequential(trv_visit_t visit, int active, const int *levels, int step, trv_turn_t *turn)
{
    while (step >= levels[turn->index]) {
        turn->done[turn->index] = levels[turn->index];
        step -= levels[turn->index];
        turn->index = trv_visit_next(visit, active, turn->index);
    }
    turn->done[turn->index] = step;
}

trv_turn_t trv_visit_turn(trv_visit_t visit, int active, const int *levels, int stream, int step)
{
    trv_turn_t turn = {.index = stream % active};
    (visit & TRV_SEQUENTIAL ? turn_sequential : turn_interleaved)(visit, active, levels, step, &turn);
    turn.level = turn.done[turn.index];
    return turn;
}
