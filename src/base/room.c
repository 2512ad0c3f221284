/*
 * Growing twofold, so that adding entry by entry costs little.
 */
#include "base/room.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int trv_room(void *array, int64_t *room, int64_t held, int64_t more, size_t size)
{
    if (more <= *room - held)
        return TRV_OK;
    if (more > TRV_ROOM_MAX - held)
        return trv_fail_memory();
    int64_t wanted = *room * 2 > held + more ? *room * 2 : held + more + 8;
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, (size_t)wanted * size);
    if (!grown)
        return trv_fail_memory();
    memcpy(array, &grown, sizeof grown);
    *room = wanted;
    return TRV_OK;
}
