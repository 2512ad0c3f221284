/*
 * Arrays that grow.
 */
#ifndef TRIVANCE_EXECUTE_ROOM_H
#define TRIVANCE_EXECUTE_ROOM_H

#include <stddef.h>

/* Makes room for `more` entries of `size` bytes after `count`: *array grows, *room is its capacity. 0 or TRV_ERR_*. */
int trv_room(void *array, int *room, int count, int more, size_t size);

#endif
