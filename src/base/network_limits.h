/*
 * Limits of the network's parameters, the same for options, files and structs of options. The simulator counts in
 * femtoseconds, two hours of which fit in 64 bits.
 */
#ifndef TRIVANCE_BASE_NETWORK_LIMITS_H
#define TRIVANCE_BASE_NETWORK_LIMITS_H

#define TRV_TIME_MAX_NS  3.6e12 /* an hour */
#define TRV_RATE_MIN_BPS 1e3
#define TRV_RATE_MAX_BPS 1e16

#endif
