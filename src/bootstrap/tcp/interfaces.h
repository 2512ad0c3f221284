/*
 * The network interfaces of this host that are running and have an IPv4 address, without the loopback interface.
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_INTERFACES_H
#define TRIVANCE_BOOTSTRAP_TCP_INTERFACES_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>

enum { TRV_HOST_INTERFACES_MAX = 32, TRV_WITHOUT_LINK_MAX = 200 };

typedef struct trv_host_interface {
    char name[IF_NAMESIZE];
    unsigned index;
    struct in_addr address;
    char text[INET_ADDRSTRLEN]; /* the address, such as "10.0.0.3" */
    struct in_addr neighbours;  /* broadcast address of the network, or the other end of a point-to-point network;
                                  INADDR_ANY: there are no neighbours */
} trv_host_interface_t;

/* Returns the number of interfaces; at most TRV_HOST_INTERFACES_MAX are returned. */
int trv_host_interfaces(trv_host_interface_t interface[TRV_HOST_INTERFACES_MAX]);
/* True if two of the interfaces are in one network. */
bool trv_host_shares_network(void);
/* Describes the interfaces with an IPv4 address that are not running, except bridges, as the continuation of a
 * sentence: "; this host has no link on eth1 (10.9.0.1): the interface is down, or its cable is unplugged". "" if there
 * are none. Returns `text`. */
const char *trv_host_without_link(char text[TRV_WITHOUT_LINK_MAX]);

#endif
