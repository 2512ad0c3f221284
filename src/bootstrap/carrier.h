/*
 * Whether a network interface has a link: the interface is up, and its cable is plugged in at both ends.
 */
#ifndef TRIVANCE_BOOTSTRAP_CARRIER_H
#define TRIVANCE_BOOTSTRAP_CARRIER_H

#include <stdbool.h>

/* True if the flags of an interface, as getifaddrs returns them, state that it has a link. */
bool trv_flags_have_link(unsigned flags);
/* False if the interface has no link; true also if there is no interface of this name. */
bool trv_interface_has_link(const char *name);

#endif
