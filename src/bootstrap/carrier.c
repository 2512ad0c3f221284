/*
 * The carrier of network interfaces.
 */
#include "bootstrap/carrier.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

/* IFF_RUNNING would state the same, but the system updates it up to a second after the carrier has changed. The two
 * other flags are in a header of the kernel that cannot be included with the C library's. */
bool trv_flags_have_link(unsigned flags)
{
    const unsigned lower_up = 1u << 16, dormant = 1u << 17, needed = IFF_UP | lower_up;
    return (flags & (needed | dormant)) == needed;
}

bool trv_interface_has_link(const char *name)
{
    struct ifaddrs *list = NULL;
    const struct ifaddrs *at;
    if (getifaddrs(&list) != 0)
        return true;
    for (at = list; at && strcmp(at->ifa_name, name) != 0; at = at->ifa_next)
        ;
    const bool linked = !at || trv_flags_have_link(at->ifa_flags);
    freeifaddrs(list);
    return linked;
}
