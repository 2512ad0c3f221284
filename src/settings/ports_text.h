/*
 * The text of TRIVANCE_PORTS: which interface each port uses, "+0=eth1,-0=eth2"; or among which interfaces, addresses and
 * networks that is detected, "eth1,10.1.0.0/16". Whether there are such interfaces is known to transport/fabric.
 */
#ifndef TRIVANCE_SETTINGS_PORTS_TEXT_H
#define TRIVANCE_SETTINGS_PORTS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRV_INTERFACE_MAX 64 /* of a name, with the zero behind it */

/* 0, or TRV_ERR_ARGUMENT with a sentence that does not name the variable. */
int trv_ports_check(const char *text);

/* Whether it assigns interfaces to ports. */
bool trv_ports_assign(const char *text);

/* Of a text that assigns and is right: the next entry, and *rest behind it; false: there is none. */
bool trv_ports_next(const char **rest, int *way, const char **name, size_t *length);

/* "10.1.0.0/16": how many bits of its address count; -1: it is no network. */
int trv_ports_network(const char *network, size_t length, int *family, uint8_t address[16]);

#endif
