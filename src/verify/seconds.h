/*
 * How long a verification takes, told before it begins.
 */
#ifndef TRIVANCE_VERIFY_SECONDS_H
#define TRIVANCE_VERIFY_SECONDS_H

#include <trivance/verify.h>

/* About so many seconds, right within a factor of two or three; from what rank 0 sends and receives. */
int trv_verify_seconds(const trv_schedule_t *schedule, trv_verify_method_t method, double *seconds);

#endif
