/*
 * The limits of the network's parameters, wherever they are given: by users, in files, in a struct of options. The
 * simulator counts in femtoseconds, two hours of which fit in 64 bits.
 */
#ifndef TRIVANCE_BASE_NETWORK_LIMITS_H
#define TRIVANCE_BASE_NETWORK_LIMITS_H

#define TRV_TIME_MAX_NS  3.6e12 /* an hour */
#define TRV_RATE_MIN_BPS 1e3
#define TRV_RATE_MAX_BPS 1e16

#endif
