/*
 * Numbers in names, see name_numbers.h.
 */
#include "algorithms/name_numbers.h"

#include <stdlib.h>

bool trv_name_numbers_read(const char *parameters, int numbers, const int *max, int *value)
{
    const char *text = parameters;
    for (int i = 0; text && i < numbers; i++) {
        char *end = NULL;
        const long number = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 0;
        if (number < 1 || number > max[i] || (*end && *end != ':'))
            return false;
        value[i] = (int)number;
        text = *end ? end + 1 : NULL;
    }
    return !text;
}
