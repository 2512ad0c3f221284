/*
 * Ascending lists of numbers, in short form: "all", "5", "0-8", "0-26/3" (every third), and comma-separated lists of
 * these.
 */
#ifndef TRIVANCE_FORMATS_RANGES_H
#define TRIVANCE_FORMATS_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the short form of `count` ascending numbers: "all" if they are 0 … limit - 1, "" for none. The caller
 * frees it; NULL when out of memory. */
char *trv_ranges_format(const int64_t *number, int64_t count, int64_t limit);

typedef struct trv_numbers {
    int64_t *number;
    int64_t count, capacity;
} trv_numbers_t;

/* Appends the numbers of a short form. TRV_ERR_ARGUMENT if the text is invalid, if the numbers do not ascend within
 * 0 … limit - 1, or if `numbers` would exceed `count_max`. */
int trv_ranges_parse(const char *text, int64_t limit, int64_t count_max, trv_numbers_t *numbers);

int trv_numbers_add(trv_numbers_t *numbers, int64_t number);

#endif
