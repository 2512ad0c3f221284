/*
 * The system's routes: by which device it sends to an address.
 */
#ifndef TRIVANCE_TOPOLOGY_PORTS_SYSTEM_ROUTES_H
#define TRIVANCE_TOPOLOGY_PORTS_SYSTEM_ROUTES_H

/* A socket to ask the kernel by; -1: it cannot be asked. */
int trv_routes_open(void);
void trv_routes_close(int routes);

/* The index of the device by which what is sent to the address, a number ("10.0.0.3"), leaves, if it is bound to the
 * address `from` (NULL: to none); 0: by none, or not this host. */
int trv_route_device(int routes, const char *to, const char *from);
/* The index of the device that has the address, and its name; 0: there is none. */
int trv_address_device(const char *address, char name[64]);

#endif
