/*
 * The present part, per thread. What is told never goes back, whatever estimates say.
 */
#include "base/advance.h"

#include <stddef.h>

static _Thread_local struct {
    void (*listener)(void *context, double done);
    void *context;
    trv_advance_t part;
    double done;
} state = {NULL, NULL, {0, 1}, 0};

void trv_advance_listen(void (*listener)(void *context, double done), void *context)
{
    state.listener = listener;
    state.context = context;
    state.part = (trv_advance_t){0, 1};
    state.done = 0;
}

trv_advance_t trv_advance_begin(double first, double size)
{
    const trv_advance_t outer = state.part;
    state.part.first += outer.size * first;
    state.part.size *= size;
    return outer;
}

void trv_advance_end(trv_advance_t outer)
{
    trv_advance(1);
    state.part = outer;
}

void trv_advance(double done)
{
    const double all = state.part.first + state.part.size * (done < 1 ? done : 1);
    if (!state.listener || all <= state.done)
        return;
    state.done = all;
    state.listener(state.context, all);
}
