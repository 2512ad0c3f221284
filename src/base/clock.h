/*
 * Times of the system's clocks as numbers.
 */
#ifndef TRIVANCE_BASE_CLOCK_H
#define TRIVANCE_BASE_CLOCK_H

#include <time.h>

static inline double trv_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Monotonic time since an instant that is the same for all processes of the machine. */
static inline double trv_now_ns(void) { return trv_clock_ns(CLOCK_MONOTONIC); }
static inline double trv_now_s(void) { return 1e-9 * trv_now_ns(); }

#endif
