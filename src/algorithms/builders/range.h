/*
 * Ranges of consecutive coordinates around a ring, as lists.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_RANGE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_RANGE_H

#include <stddef.h>

#include "schedule/schedule.h"

/* The `count` coordinates first, first + 1, … around a ring, in ascending order, in the step's memory. `first` may be
 * any integer, `count` is at most `size`. NULL when out of memory. */
static inline int *trv_range(trv_step_t *memory, int size, int first, int count)
{
    int *value = trv_step_alloc(memory, (size_t)count * sizeof *value);
    first = (first % size + size) % size;
    /* the coordinates 0 … wrapped - 1 precede the others */
    int wrapped = first + count > size ? first + count - size : 0;
    for (int i = 0; value && i < count; i++)
        value[i] = i < wrapped ? i : first + i - wrapped;
    return value;
}

#endif
