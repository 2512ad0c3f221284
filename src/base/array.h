/*
 * Arrays that grow.
 */
#ifndef TRIVANCE_BASE_ARRAY_H
#define TRIVANCE_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include <trivance/common.h>

/* The most entries of an array: they are counted, and refer to each other, in 32 bits. */
enum { TRV_ARRAY_MAX = INT32_MAX / 2 };

/*
 * Reserves memory for `more` entries of `size` bytes behind the `held` ones: `array` points to the pointer to the first
 * entry, NULL for none so far; *capacity is the number of entries that fit. 0, or TRV_ERR_MEMORY, and then nothing has
 * changed. Exported for the other libraries alone.
 */
TRV_API int trv_array_reserve(void *array, int64_t *capacity, int64_t held, int64_t more, size_t size);

#endif
