/*
 * Growing arrays: the capacity doubles, so that adding an entry takes constant time on average.
 */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int trv_array_reserve(void *array, int64_t *capacity, int64_t held, int64_t more, size_t size)
{
    if (more <= *capacity - held)
        return TRV_OK;
    if (more > TRV_ARRAY_MAX - held)
        return trv_fail_memory();
    int64_t new_capacity = *capacity * 2 > held + more ? *capacity * 2 : held + more + 8;
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, (size_t)new_capacity * size);
    if (!grown)
        return trv_fail_memory();
    memcpy(array, &grown, sizeof grown);
    *capacity = new_capacity;
    return TRV_OK;
}
