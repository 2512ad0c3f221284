/*
 * Routes of the operating system: the network device by which it sends to an address.
 */
#ifndef TRIVANCE_TOPOLOGY_PORTS_SYSTEM_ROUTES_H
#define TRIVANCE_TOPOLOGY_PORTS_SYSTEM_ROUTES_H

/* Opens a socket for queries to the kernel; -1 if it is not available. */
int trv_routes_open(void);
void trv_routes_close(int routes);

/* The index of the device by which packets to the numeric address `to` ("10.0.0.3") leave if their socket is bound to
 * the address `from` (NULL: not bound); 0 if there is no route, or if the address belongs to this host. */
int trv_route_device(int routes, const char *to, const char *from);
/* The index of the device that has the address, its name, and the length of the prefix of its network in bits; 0 if
 * there is none. */
int trv_address_device(const char *address, char name[64], int *network_bits);

#endif
