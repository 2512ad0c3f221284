/*
 * The order of dimensions, computed one step at a time.
 */
#include "algorithms/builders/visit.h"

static void interleaved(trv_visit_t visit, int active, const int *levels, int step, trv_turn_t *place)
{
    for (int passed = 0;; place->turn = trv_visit_next(visit, active, place->turn)) {
        if (place->done[place->turn] == levels[place->turn])
            continue;
        if (passed++ == step)
            return;
        place->done[place->turn]++;
    }
}

static void sequential(trv_visit_t visit, int active, const int *levels, int step, trv_turn_t *place)
{
    while (step >= levels[place->turn]) {
        place->done[place->turn] = levels[place->turn];
        step -= levels[place->turn];
        place->turn = trv_visit_next(visit, active, place->turn);
    }
    place->done[place->turn] = step;
}

trv_turn_t trv_visit_turn(trv_visit_t visit, int active, const int *levels, int stream, int step)
{
    trv_turn_t place = {.turn = stream % active};
    (visit & TRV_SEQUENTIAL ? sequential : interleaved)(visit, active, levels, step, &place);
    place.level = place.done[place.turn];
    return place;
}
