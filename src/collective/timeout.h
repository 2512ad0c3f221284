/*
 * The time that a rank waits for a collective, for timeouts (TRIVANCE_TIMEOUT). Only waiting time counts: a rank that
 * was stopped, or that computes between two polls, does not wait.
 */
#ifndef TRIVANCE_COLLECTIVE_TIMEOUT_H
#define TRIVANCE_COLLECTIVE_TIMEOUT_H

#include <stdbool.h>
#include <stdint.h>

/* The state of a wait, initially zeros. Only one thread at a time may use it. */
typedef struct trv_watch {
    int64_t waited_ms, polled_ms;
    bool reported; /* the timeout has expired */
} trv_watch_t;

/* Milliseconds of a monotonic clock, with the resolution of the system's tick, which is cheap to read. */
int64_t trv_watch_now_ms(void);

/* Adds the time since the previous call; returns true once per wait, when the timeout (0: none) has expired. */
bool trv_watch_expires(trv_watch_t *watch, double timeout_ms);

#endif
