/*
 * Network interfaces, from getifaddrs.
 */
#include "bootstrap/tcp/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static struct in_addr ipv4_of(const struct sockaddr *address)
{
    const struct sockaddr_in *ipv4 = (const void *)address;
    return address && address->sa_family == AF_INET ? ipv4->sin_addr : (struct in_addr){INADDR_ANY};
}

/* The broadcast address is derived from the netmask, because interfaces often have none configured; the system
 * delivers packets to it nevertheless. Networks of 31 bits have only two addresses, those of their ends (RFC 3021). */
static bool interface_read(const struct ifaddrs *at, trv_host_interface_t *interface)
{
    const unsigned needed = IFF_UP | IFF_RUNNING;
    if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || (at->ifa_flags & (needed | IFF_LOOPBACK)) != needed)
        return false;
    const uint32_t hosts = ~ntohl(ipv4_of(at->ifa_netmask).s_addr);
    *interface = (trv_host_interface_t){.index = if_nametoindex(at->ifa_name), .address = ipv4_of(at->ifa_addr)};
    inet_ntop(AF_INET, &interface->address, interface->text, sizeof interface->text);
    snprintf(interface->name, sizeof interface->name, "%s", at->ifa_name);
    interface->neighbours = hosts > 1    ? (struct in_addr){interface->address.s_addr | htonl(hosts)}
                            : hosts == 1 ? (struct in_addr){interface->address.s_addr ^ htonl(1)}
                                         : ipv4_of(at->ifa_flags & IFF_POINTOPOINT ? at->ifa_dstaddr : NULL);
    if (interface->neighbours.s_addr == interface->address.s_addr)
        interface->neighbours.s_addr = INADDR_ANY;
    return true;
}

/* True for a bridge, such as docker0, which has no link while it has no members. */
static bool is_bridge(const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/class/net/%.32s/bridge", name);
    return access(path, F_OK) == 0;
}

const char *trv_host_without_link(char text[TRV_WITHOUT_LINK_MAX])
{
    const size_t size = TRV_WITHOUT_LINK_MAX;
    struct ifaddrs *list = NULL;
    size_t used = 0;
    *text = '\0';
    if (getifaddrs(&list) != 0)
        return text;
    for (const struct ifaddrs *at = list; at && used < size; at = at->ifa_next) {
        char address[INET_ADDRSTRLEN];
        const struct in_addr number = ipv4_of(at->ifa_addr);
        if (number.s_addr == INADDR_ANY || (at->ifa_flags & IFF_UP && at->ifa_flags & IFF_RUNNING) ||
            is_bridge(at->ifa_name))
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", used ? ", " : "; this host has no link on ",
                                 at->ifa_name, inet_ntop(AF_INET, &number, address, sizeof address));
    }
    if (used > 0 && used < size)
        snprintf(text + used, size - used, ": the interface is down, or its cable is unplugged");
    freeifaddrs(list);
    return text;
}

int trv_host_interfaces(trv_host_interface_t interface[TRV_HOST_INTERFACES_MAX])
{
    struct ifaddrs *list = NULL;
    int count = 0;
    if (getifaddrs(&list) != 0)
        return 0;
    for (const struct ifaddrs *at = list; at && count < TRV_HOST_INTERFACES_MAX; at = at->ifa_next)
        count += interface_read(at, &interface[count]);
    freeifaddrs(list);
    return count;
}

bool trv_host_shares_network(void)
{
    trv_host_interface_t interface[TRV_HOST_INTERFACES_MAX];
    const int count = trv_host_interfaces(interface);
    bool shares = false;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i && interface[i].neighbours.s_addr != INADDR_ANY; k++)
            shares = shares || interface[i].neighbours.s_addr == interface[k].neighbours.s_addr;
    return shares;
}
