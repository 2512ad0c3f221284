/*
 * Measures the time that a rank waits.
 */
#include "collective/timeout.h"

#include <time.h>

enum { GAP_MAX_MS = 1000 }; /* maximum waiting time per gap between two polls; in a longer gap the rank did not wait */

int64_t trv_watch_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool trv_watch_expires(trv_watch_t *watch, double timeout_ms)
{
    const int64_t now = trv_watch_now_ms(), gap = watch->polled_ms ? now - watch->polled_ms : 0;
    watch->polled_ms = now;
    watch->waited_ms += gap < GAP_MAX_MS ? gap : GAP_MAX_MS;
    if (watch->reported || timeout_ms <= 0 || (double)watch->waited_ms < timeout_ms)
        return false;
    watch->reported = true;
    return true;
}
