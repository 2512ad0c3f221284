/*
 * Formatting and parsing of ascending lists of numbers in short form.
 */
#include "formats/ranges.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"

/* Returns the length of the run of numbers with a constant difference that begins at index `i`. */
static int64_t run_length(const int64_t *number, int64_t count, int64_t i)
{
    int64_t length = count - i < 2 ? count - i : 2;
    while (i + length < count && number[i + length] - number[i + length - 1] == number[i + 1] - number[i])
        length++;
    return length;
}

char *trv_ranges_format(const int64_t *number, int64_t count, int64_t limit)
{
    char *text = NULL;
    size_t size = 0;
    if (count == limit && count > 0)
        return strdup("all");
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (int64_t i = 0; i < count;) {
        int64_t length = run_length(number, count, i);
        int64_t stride = length > 1 ? number[i + 1] - number[i] : 1;
        if (length < 3 && stride > 1) /* two numbers are shorter as single numbers, and the second may begin a run */
            length = 1;
        fprintf(out, i ? ",%" PRId64 : "%" PRId64, number[i]);
        if (length > 1)
            fprintf(out, "-%" PRId64, number[i + length - 1]);
        if (length > 1 && stride > 1)
            fprintf(out, "/%" PRId64, stride);
        i += length;
    }
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

int trv_numbers_add(trv_numbers_t *numbers, int64_t number)
{
    if (trv_array_reserve(&numbers->number, &numbers->capacity, numbers->count, 1, sizeof *numbers->number))
        return TRV_ERR_MEMORY;
    numbers->number[numbers->count++] = number;
    return TRV_OK;
}

/* Reads a number of at most 10 digits; -1 if there is none. */
static int64_t read_number(const char **text)
{
    int64_t value = 0;
    int digits = 0;
    for (; isdigit((unsigned char)**text) && digits < 10; (*text)++, digits++)
        value = value * 10 + (**text - '0');
    return digits && !isdigit((unsigned char)**text) ? value : -1;
}

static int bad_form(const char *text)
{
    return trv_fail(TRV_ERR_ARGUMENT,
                    "'%.40s' is not a list of numbers: expected \"all\", or ascending numbers, ranges and "
                    "ranges with a stride, for example 0-8,12,20-44/3",
                    text);
}

int trv_ranges_parse(const char *text, int64_t limit, int64_t count_max, trv_numbers_t *numbers)
{
    bool all = strcmp(text, "all") == 0;
    int64_t previous = -1;
    const char *p = text;
    if (!*text)
        return TRV_OK;
    for (;;) {
        int64_t first = all ? 0 : read_number(&p), last = all ? limit - 1 : first, stride = 1;
        if (!all && first >= 0 && *p == '-') {
            p++;
            last = read_number(&p);
            if (last >= 0 && *p == '/') {
                p++;
                stride = read_number(&p);
            }
        }
        if (first < 0 || last < first || stride < 1 || (last - first) % stride || (!all && *p && *p != ','))
            return bad_form(text);
        if (first <= previous || last >= limit)
            return trv_fail(TRV_ERR_ARGUMENT,
                            "'%.40s' is out of order or out of range: expected ascending numbers from 0 to %" PRId64,
                            text, limit - 1);
        if ((last - first) / stride + 1 > count_max - numbers->count)
            return trv_fail(TRV_ERR_ARGUMENT, "the lists have too many numbers to be read");
        for (int64_t number = first; number <= last; number += stride) {
            int rc = trv_numbers_add(numbers, number);
            if (rc)
                return rc;
        }
        previous = last;
        if (all || !*p)
            return TRV_OK;
        p++;
    }
}
