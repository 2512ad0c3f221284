/*
 * Queries of routes by netlink (RTM_GETROUTE).
 */
#include "topology/ports/system_routes.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { REPLY_BYTES = 4096, TIMEOUT_S = 2 };

int trv_routes_open(void)
{
    const struct timeval timeout = {.tv_sec = TIMEOUT_S};
    int routes = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (routes >= 0)
        setsockopt(routes, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    return routes;
}

void trv_routes_close(int routes)
{
    if (routes >= 0)
        close(routes);
}

typedef struct route_request {
    struct nlmsghdr head;
    struct rtmsg route;
    char attributes[128];
} route_request_t;

static void request_add_address(route_request_t *request, unsigned short kind, const void *address, size_t bytes)
{
    struct rtattr *at = (struct rtattr *)(void *)((char *)request + NLMSG_ALIGN(request->head.nlmsg_len));
    at->rta_type = kind;
    at->rta_len = (unsigned short)RTA_LENGTH(bytes);
    memcpy(RTA_DATA(at), address, bytes);
    request->head.nlmsg_len = NLMSG_ALIGN(request->head.nlmsg_len) + (unsigned)RTA_LENGTH(bytes);
}

/* Parses a numeric address. Returns its family; 0 if the text is not an address. */
static int address_parse(const char *text, unsigned char number[16])
{
    return inet_pton(AF_INET, text, number) == 1 ? AF_INET : inet_pton(AF_INET6, text, number) == 1 ? AF_INET6 : 0;
}

static int reply_device(const struct nlmsghdr *reply)
{
    const struct rtmsg *route = NLMSG_DATA(reply);
    int left = (int)RTM_PAYLOAD(reply), device = 0;
    if (reply->nlmsg_type != RTM_NEWROUTE || route->rtm_type != RTN_UNICAST)
        return 0;
    for (const struct rtattr *at = RTM_RTA(route); RTA_OK(at, left); at = RTA_NEXT(at, left))
        if (at->rta_type == RTA_OIF)
            memcpy(&device, RTA_DATA(at), sizeof device);
    return device;
}

int trv_route_device(int routes, const char *to, const char *from)
{
    static _Thread_local unsigned number;
    unsigned char there[16], here[16];
    const int family = address_parse(to, there);
    const size_t bytes = family == AF_INET ? 4 : 16;
    if (routes < 0 || !family || (from && address_parse(from, here) != family))
        return 0;
    route_request_t request = {.head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
                                        .nlmsg_type = RTM_GETROUTE,
                                        .nlmsg_flags = NLM_F_REQUEST,
                                        .nlmsg_seq = ++number},
                               .route = {.rtm_family = (unsigned char)family,
                                         .rtm_dst_len = (unsigned char)(8 * bytes)}};
    request_add_address(&request, RTA_DST, there, bytes);
    if (from) {
        request.route.rtm_src_len = (unsigned char)(8 * bytes);
        request_add_address(&request, RTA_SRC, here, bytes);
    }
    if (send(routes, &request, request.head.nlmsg_len, 0) < 0)
        return 0;
    union {
        struct nlmsghdr head;
        char buffer[REPLY_BYTES];
    } reply;
    ssize_t got;
    do
        got = recv(routes, &reply, sizeof reply, 0);
    while (got >= (ssize_t)sizeof reply.head && reply.head.nlmsg_seq != number);
    return got > 0 && NLMSG_OK(&reply.head, (size_t)got) ? reply_device(&reply.head) : 0;
}

/* The bytes of an IPv4 or IPv6 address; NULL if it is of another family. */
static const unsigned char *address_bytes(const struct sockaddr *address, int family)
{
    if (!address || address->sa_family != family)
        return NULL;
    return family == AF_INET ? (const unsigned char *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
                             : (const unsigned char *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
}

static bool has_address(const struct ifaddrs *at, int family, const unsigned char *number)
{
    const unsigned char *other = address_bytes(at->ifa_addr, family);
    return other && memcmp(other, number, family == AF_INET ? 4 : 16) == 0;
}

static int prefix_bits(const struct sockaddr *netmask, int family)
{
    const unsigned char *mask = address_bytes(netmask, family);
    int bits = 0;
    while (mask && bits < (family == AF_INET ? 32 : 128) && (mask[bits / 8] << bits % 8 & 0x80))
        bits++;
    return bits;
}

int trv_address_device(const char *address, char name[64], int *network_bits)
{
    unsigned char number[16];
    const int family = address_parse(address, number);
    struct ifaddrs *list = NULL;
    int device = 0;
    if (!family || getifaddrs(&list) != 0)
        return 0;
    for (const struct ifaddrs *at = list; at && !device; at = at->ifa_next)
        if (has_address(at, family, number)) {
            device = (int)if_nametoindex(at->ifa_name);
            snprintf(name, 64, "%s", at->ifa_name);
            *network_bits = prefix_bits(at->ifa_netmask, family);
        }
    freeifaddrs(list);
    return device;
}
