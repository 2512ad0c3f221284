/*
 * For programs of a job: expectations, and vectors of known elements.
 */
#ifndef TRIVANCE_TESTS_NET_JOB_H
#define TRIVANCE_TESTS_NET_JOB_H

#include <stdio.h>
#include <stdlib.h>

#include <trivance/net.h>

#include "../values.h"

static int rank, ranks;

#define expect(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "rank %d: %s:%d: expected: %s (%s)\n", rank, __FILE__, __LINE__, #condition,               \
                    trv_last_error());                                                                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline int64_t sum(int size, size_t i, const int *member)
{
    int64_t all = 0;
    for (int r = 0; r < size; r++)
        all += value(member ? member[r] : r, i);
    return all;
}

static inline int64_t *make(size_t count, int r)
{
    int64_t *data = malloc((count + 1) * sizeof *data);
    for (size_t i = 0; i < count; i++)
        data[i] = value(r, i);
    return data;
}

#endif
