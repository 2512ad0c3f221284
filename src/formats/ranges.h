/*
 * Ascending lists of numbers, written short: "all", "5", "0-8", "0-26/3" (every third), and these with commas between.
 */
#ifndef TRIVANCE_FORMATS_RANGES_H
#define TRIVANCE_FORMATS_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The short form of `count` ascending numbers, "all" when they are 0 … limit - 1; "" for none. Allocated;
 * NULL when out of memory. */
char *trv_ranges_format(const int64_t *number, int64_t count, int64_t limit);

typedef struct trv_numbers {
    int64_t *number;
    int64_t count, capacity;
} trv_numbers_t;

/* Appends the numbers of the short form. TRV_ERR_ARGUMENT where the text is not one, where numbers do not ascend from 0
 * to limit - 1, or where `numbers` would hold more than `count_max`. */
int trv_ranges_parse(const char *text, int64_t limit, int64_t count_max, trv_numbers_t *numbers);

int trv_numbers_add(trv_numbers_t *numbers, int64_t number);

#endif
