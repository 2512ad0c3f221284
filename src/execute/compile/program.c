/*
 * Programs as a whole: upper bounds of what a run needs, their memory, and their destruction.
 */
#include "execute/compile/program.h"

#include <stdlib.h>
#include <string.h>

static int max_int(int a, int b) { return a > b ? a : b; }

/* The bounds of the ranges of products, on all axes together. */
static int count_bounds(const trv_space_t *space, int product, int products)
{
    int bounds = 0;
    for (int i = product * space->axes; i < (product + products) * space->axes; i++)
        bounds += 2 * space->sets.set[space->id[i]].ranges;
    return bounds;
}

static int work_bounds(const trv_program_t *program, const trv_work_t *work)
{
    int bounds = 0;
    for (int i = work->piece; i < work->piece + work->pieces; i++)
        bounds += count_bounds(&program->space, program->piece[i].product, program->piece[i].products);
    for (int i = work->walk; i < work->walk + work->walks; i++) {
        const trv_container_t *container = &program->container[program->walked[i]];
        bounds += count_bounds(&program->space, container->product, container->products);
    }
    return bounds;
}

void trv_program_measure(trv_program_t *program)
{
    for (int k = 0; k < program->stages; k++) {
        program->stage_sends = max_int(program->stage_sends, program->stage[k].sends);
        program->stage_receives = max_int(program->stage_receives, program->stage[k].receives);
    }
    for (int i = 0; i < program->pieces; i++)
        program->sources_max = max_int(program->sources_max, program->piece[i].sources);
    for (int i = 0; i < program->works; i++)
        program->walk_bounds = max_int(program->walk_bounds, work_bounds(program, &program->work[i]));
    for (int i = 0; i < program->containers; i++)
        program->walk_bounds = max_int(program->walk_bounds,
                                       count_bounds(&program->space, program->container[i].product,
                                                    program->container[i].products));
}

size_t trv_program_memory_bytes(const trv_program_t *program)
{
    const trv_space_t *space = &program->space;
    return (size_t)program->stages * sizeof *program->stage +
           (size_t)(program->sends + program->receives) * sizeof *program->send +
           (size_t)program->works * sizeof *program->work + (size_t)program->pieces * sizeof *program->piece +
           (size_t)program->sources * sizeof *program->source + (size_t)program->areas * sizeof *program->area +
           (size_t)program->containers * sizeof *program->container + (size_t)program->walks * sizeof(int) +
           (size_t)program->stretches * sizeof *program->stretch +
           (size_t)space->products * (size_t)space->axes * sizeof(int) +
           (size_t)space->sets.sets * sizeof *space->sets.set + (size_t)space->sets.bounds * sizeof(int);
}

void trv_program_clear(trv_program_t *program)
{
    trv_space_clear(&program->space);
    free(program->stage);
    free(program->send);
    free(program->receive);
    free(program->work);
    free(program->piece);
    free(program->source);
    free(program->container);
    free(program->area);
    free(program->walked);
    free(program->stretch);
    memset(program, 0, sizeof *program);
}
