/*
 * The network interfaces of this host that are running, without the loopback interface, and their addresses.
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_INTERFACES_H
#define TRIVANCE_BOOTSTRAP_TCP_INTERFACES_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

enum { TRV_HOST_INTERFACES_MAX = 32, TRV_WITHOUT_LINK_MAX = 200, TRV_NUMERIC_MAX = 80 };

typedef struct trv_host_interface {
    char name[IF_NAMESIZE];
    unsigned index;
    struct in_addr address;
    char text[INET_ADDRSTRLEN]; /* the address, such as "10.0.0.3" */
    struct in_addr neighbours;  /* broadcast address of the network, or the other end of a point-to-point network;
                                  INADDR_ANY: there are no neighbours */
} trv_host_interface_t;

/* Returns the number of interfaces that have an IPv4 address; at most TRV_HOST_INTERFACES_MAX are returned. */
int trv_host_interfaces(trv_host_interface_t interface[TRV_HOST_INTERFACES_MAX]);
/* True if two of the interfaces are in one network. */
bool trv_host_shares_network(void);
/* Describes the interfaces with an IPv4 address that are not running, except bridges, as the continuation of a
 * sentence: "; this host has no link on eth1 (10.9.0.1): the interface is down, or its cable is unplugged". "" if there
 * are none. Returns `text`. */
const char *trv_host_without_link(char text[TRV_WITHOUT_LINK_MAX]);

/* The numeric text of an address without its port, "10.0.0.3" or "fe80::1%eth0"; "" if it has none. An IPv4 address
 * of a socket for both families is written as IPv4 address. */
void trv_address_text(const struct sockaddr *address, char text[TRV_NUMERIC_MAX]);
bool trv_address_is_loopback(const char *text);
/* Lists the addresses at which other hosts may reach this one, separated by commas, in the order in which they are to
 * be tried: those by which this host reaches `towards` (a host name or an address; NULL: none), those of its
 * interfaces, those of bridges, which often are the same on all hosts (docker0), and link-local ones, without the scope
 * that they have here. Without any: "127.0.0.1". */
void trv_host_addresses(const char *towards, char *list, size_t size);

#endif
