/*
 * Advice in error messages about hosts whose system cannot distinguish its cables.
 */
#ifndef TRIVANCE_BOOTSTRAP_ONE_NETWORK_H
#define TRIVANCE_BOOTSTRAP_ONE_NETWORK_H

/* Continues a sentence whose subject is the host. */
#define TRV_ONE_NETWORK                                                                                                \
    "has several interfaces in one network; give each cable its own subnet, such as 10.0.1.0/30, or set a route to "   \
    "its other end, such as ip route add 10.0.1.2 dev eth1, or routes by source with ip rule"

#endif
