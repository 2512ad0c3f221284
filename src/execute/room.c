/*
 * Growing by halves, so that adding entry by entry costs little.
 */
#include "execute/room.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

int trv_room(void *array, int *room, int count, int more, size_t size)
{
    if (more <= *room - count)
        return 0;
    if (more > INT32_MAX / 2 - count)
        return trv_fail_memory();
    int wanted = *room * 2 > count + more ? *room * 2 : count + more + 8;
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, (size_t)wanted * size);
    if (!grown)
        return trv_fail_memory();
    memcpy(array, &grown, sizeof grown);
    *room = wanted;
    return 0;
}
