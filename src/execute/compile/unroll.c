/*
 * Lists the stretches of works and the runs of containers in advance, for small spaces (TRV_SMALL_UNITS). The lists
 * contain positions, so that they do not depend on the count.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"
#include "execute/compile/walk.h"

typedef struct unroll {
    trv_program_t *program;
    int64_t capacity;
} unroll_t;

enum { TOO_MANY = 1 };

static int add_stretch(void *context, int piece, trv_mask_t in, size_t first, size_t units)
{
    unroll_t *u = context;
    trv_program_t *program = u->program;
    if (program->stretches == TRV_STRETCHES_MAX || in >> 32)
        return TOO_MANY;
    if (trv_array_reserve(&program->stretch, &u->capacity, program->stretches, 1, sizeof *program->stretch))
        return TRV_ERR_MEMORY;
    program->stretch[program->stretches++] = (trv_stretch_t){piece, (int)first, (int)(first + units), (uint32_t)in};
    return 0;
}

static int add_run(void *context, trv_mask_t mask, size_t first, size_t units)
{
    unroll_t *u = context;
    trv_program_t *program = u->program;
    (void)mask;
    if (program->stretches > 0) {
        trv_stretch_t *last = &program->stretch[program->stretches - 1];
        if (last->piece == -2 && last->end == (int)first) {
            last->end += (int)units;
            return 0;
        }
    }
    return add_stretch(u, -2, 0, first, units);
}

/* Sets the range of a list to the entries added since `before`, or removes these if there were too many. */
static int list_range(trv_program_t *program, int rc, int before, int *first, int *count)
{
    if (rc == TOO_MANY)
        program->stretches = before;
    *first = before;
    *count = program->stretches - before;
    return rc < 0 ? rc : 0;
}

static int unroll_container(unroll_t *u, trv_walk_t *walk, trv_container_t *container)
{
    const int before = u->program->stretches;
    if (container->run)
        return 0;
    walk->visit = add_run;
    walk->context = u;
    walk->products = container->products;
    for (int i = 0; i < container->products; i++)
        walk->product[i] = container->product + i;
    /* A separator, so that no list continues the previous one. */
    int rc = add_stretch(u, -1, 0, 0, 0);
    if (!rc)
        rc = trv_walk(walk);
    return list_range(u->program, rc, before, &container->stretch, &container->stretches);
}

int trv_program_unroll(trv_program_t *program)
{
    const trv_sized_t sized = trv_sized_units(program);
    unroll_t u = {program, 0};
    if (program->space.units > TRV_SMALL_UNITS)
        return 0;
    trv_walk_t *walk = calloc(1, sizeof *walk);
    int rc = walk ? 0 : trv_fail_memory();
    if (!rc) {
        walk->sized = &sized;
        walk->segment = malloc(((size_t)program->walk_bounds + 1) * sizeof *walk->segment);
        walk->bound = malloc(((size_t)program->walk_bounds + 1) * sizeof *walk->bound);
        rc = walk->segment && walk->bound ? 0 : trv_fail_memory();
    }
    for (int i = 0; !rc && i < program->containers; i++)
        rc = unroll_container(&u, walk, &program->container[i]);
    for (int i = 0; !rc && i < program->works; i++) {
        trv_work_t *work = &program->work[i];
        const int before = program->stretches;
        if (work->pieces == 1 && work->walks == 0 && program->piece[work->piece].units > 0)
            continue;
        rc = list_range(program, trv_walk_work(walk, work, add_stretch, &u), before, &work->stretch, &work->stretches);
    }
    if (walk) {
        free(walk->segment);
        free(walk->bound);
    }
    free(walk);
    return rc;
}
