/*
 * Taking samples in turns, and printing limits and sizes.
 */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

#include <trivance/common.h>

#define ROUNDS_MIN 5

void measure_sides(measure_sample_t *sample, void *context, int sides, int warmup, int rounds, double seconds,
                   double *median)
{
    double *time = malloc((size_t)sides * (size_t)rounds * sizeof *time);
    if (!time)
        exit(measure_check(TRV_ERR_MEMORY, "out of memory for the samples"));
    int taken = 0;
    const double begin_s = trv_now_s();
    for (int round = -warmup; round < rounds; round++) {
        for (int k = 0; k < sides; k++) {
            const int side = (round + warmup + k) % sides;
            const double value = sample(context, side);
            if (round >= 0)
                time[side * rounds + round] = value;
        }
        taken = round + 1;
        if (seconds > 0 && taken >= ROUNDS_MIN && trv_now_s() - begin_s > seconds)
            break;
    }
    for (int side = 0; side < sides; side++)
        median[side] = trv_median(time + side * rounds, taken);
    free(time);
}

int measure_check(int code, const char *what)
{
    if (code >= 0)
        return code;
    fprintf(stderr, "%s: %s\n", what, trv_last_error());
    exit(2);
}

const char *measure_bytes(uint64_t bytes, char text[MEASURE_BYTES_TEXT_MAX])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB"};
    int u = 0;
    for (; bytes >= 1024 && u < 3; u++)
        bytes /= 1024;
    snprintf(text, MEASURE_BYTES_TEXT_MAX, "%u %s", (unsigned)bytes, unit[u]);
    return text;
}

const char *measure_mark(bool reached, int *missed)
{
    *missed += !reached;
    return reached ? "yes" : "NO";
}

int measure_number(const char *text, int max)
{
    char *end;
    const long number = strtol(text, &end, 10);
    return *end || number < 1 || number > max ? 0 : (int)number;
}
