/*
 * Arrays that grow.
 */
#ifndef TRIVANCE_BASE_ROOM_H
#define TRIVANCE_BASE_ROOM_H

#include <stddef.h>
#include <stdint.h>

#include <trivance/common.h>

/* The most entries of an array: they are counted, and refer to each other, in 32 bits. */
enum { TRV_ROOM_MAX = INT32_MAX / 2 };

/*
 * Makes room for `more` entries of `size` bytes behind the `held` ones: `array` points to the pointer to the first, NULL
 * for none so far; *room is how many there is room for. 0, or TRV_ERR_MEMORY and all as it was. Exported for
 * libtrivance_mpi_* alone.
 */
TRV_API int trv_room(void *array, int64_t *room, int64_t held, int64_t more, size_t size);

#endif
