/*
 * Network interfaces and their addresses, from getifaddrs.
 */
#include "bootstrap/tcp/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bootstrap/carrier.h"
#include "bootstrap/tcp/files.h"

static struct in_addr ipv4_of(const struct sockaddr *address)
{
    const struct sockaddr_in *ipv4 = (const void *)address;
    return address && address->sa_family == AF_INET ? ipv4->sin_addr : (struct in_addr){INADDR_ANY};
}

/* True if the interface has a link, is not the loopback interface, and has an address. */
static bool is_running(const struct ifaddrs *at)
{
    return at->ifa_addr && trv_flags_have_link(at->ifa_flags) && !(at->ifa_flags & IFF_LOOPBACK);
}

/* The broadcast address is derived from the netmask, because interfaces often have none configured; the system
 * delivers packets to it nevertheless. Networks of 31 bits have only two addresses, those of their ends (RFC 3021). */
static bool interface_read(const struct ifaddrs *at, trv_host_interface_t *interface)
{
    if (!is_running(at) || at->ifa_addr->sa_family != AF_INET)
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
        if (number.s_addr == INADDR_ANY || trv_flags_have_link(at->ifa_flags) || is_bridge(at->ifa_name))
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
            shares = shares || (interface[i].neighbours.s_addr == interface[k].neighbours.s_addr &&
                                interface[i].index != interface[k].index); /* an interface may have several addresses */
    return shares;
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

void trv_address_text(const struct sockaddr *address, char text[TRV_NUMERIC_MAX])
{
    static const char mapped[] = "::ffff:";
    const socklen_t length = address->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
                             : address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                              : 0;
    if (length == 0 || getnameinfo(address, length, text, TRV_NUMERIC_MAX, NULL, 0, NI_NUMERICHOST) != 0)
        *text = '\0';
    if (strncmp(text, mapped, sizeof mapped - 1) == 0 && strchr(text, '.'))
        memmove(text, text + sizeof mapped - 1, strlen(text + sizeof mapped - 1) + 1);
}

bool trv_address_is_loopback(const char *text) { return strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0; }

static bool is_link_local(const char *text) { return strncmp(text, "fe80:", 5) == 0; }

static void address_add(char *list, size_t size, const char *text)
{
    const size_t used = strlen(list), length = strcspn(text, "%");
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, text, length) == 0)
            return;
    if (length > 0 && used + 1 + length < size && !trv_address_is_loopback(text))
        snprintf(list + used, size - used, "%s%.*s", used ? "," : "", (int)length, text);
}

/* Adds the local ends of connections to `towards`. A socket for datagrams is connected without any packet. */
static void local_ends_add(char *list, size_t size, const char *towards)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(towards, "9", &hints, &found) != 0)
        return;
    for (const struct addrinfo *at = found; at; at = at->ai_next) {
        struct sockaddr_storage local;
        socklen_t length = sizeof local;
        char text[TRV_NUMERIC_MAX];
        int fd = trv_file_socket(at->ai_family, SOCK_DGRAM);
        if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) == 0 &&
            getsockname(fd, (struct sockaddr *)&local, &length) == 0) {
            trv_address_text((const struct sockaddr *)&local, text);
            address_add(list, size, text);
        }
        trv_file_close(fd);
    }
    freeaddrinfo(found);
}

void trv_host_addresses(const char *towards, char *list, size_t size)
{
    enum { ORDINARY, BRIDGE, LINK_LOCAL, KINDS };
    struct ifaddrs *interface = NULL;
    *list = '\0';
    if (towards && *towards)
        local_ends_add(list, size, towards);
    if (getifaddrs(&interface) != 0)
        interface = NULL;
    for (int kind = 0; kind < KINDS; kind++)
        for (const struct ifaddrs *at = interface; at; at = at->ifa_next) {
            char text[TRV_NUMERIC_MAX];
            if (!is_running(at))
                continue;
            trv_address_text(at->ifa_addr, text);
            if (kind == (is_link_local(text) ? LINK_LOCAL : is_bridge(at->ifa_name) ? BRIDGE : ORDINARY))
                address_add(list, size, text);
        }
    freeifaddrs(interface);
    if (!*list)
        snprintf(list, size, "127.0.0.1");
}
