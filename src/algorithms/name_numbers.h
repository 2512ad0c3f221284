/*
 * Numbers in the name of an algorithm, such as those of disjoint-trees:64:4.
 */
#ifndef TRIVANCE_ALGORITHMS_NAME_NUMBERS_H
#define TRIVANCE_ALGORITHMS_NAME_NUMBERS_H

#include <stdbool.h>

/* Reads at most `numbers` numbers, separated by colons, into `value`, whose further entries keep their values. NULL:
 * there are none. False if `parameters` is not such a list, or if a number is not from 1 to its maximum. */
bool trv_name_numbers_read(const char *parameters, int numbers, const int *max, int *value);

#endif
