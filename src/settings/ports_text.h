/*
 * The text of TRIVANCE_PORTS: the interface of each port, "+0=eth1,-0=eth2", or the interfaces, addresses and networks
 * among which the interfaces are detected, "eth1,10.1.0.0/16". transport/fabric checks that the interfaces exist.
 */
#ifndef TRIVANCE_SETTINGS_PORTS_TEXT_H
#define TRIVANCE_SETTINGS_PORTS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRV_INTERFACE_MAX 64 /* of a name, including the terminating zero */

/* Returns 0, or TRV_ERR_ARGUMENT with an error message that does not name the variable. */
int trv_ports_check(const char *text);

/* Whether it assigns interfaces to ports. */
bool trv_ports_assign(const char *text);

/* Reads the next entry of a valid text that assigns interfaces to ports, and moves *rest past it. Returns false at
 * the end. */
bool trv_ports_next(const char **rest, int *port, const char **name, size_t *length);

/* Parses "10.1.0.0/16". Returns the length of the prefix in bits, or -1 if the text is not a network. */
int trv_ports_network(const char *network, size_t length, int *family, uint8_t address[16]);
/* True if both addresses have the same first `bits` bits. */
bool trv_ports_same_network(const uint8_t *a, const uint8_t *b, int bits);

#endif
