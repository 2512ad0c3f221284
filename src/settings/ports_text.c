/*
 * Parser of TRIVANCE_PORTS.
 */
#include "settings/ports_text.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <trivance/torus.h>

#include "base/error.h"

#define ADDRESS_MAX 80

static int ports_fail(const char *text, const char *what)
{
    return trv_fail(TRV_ERR_ARGUMENT,
                    "'%.200s': %s; expected the interface of each port, for example +0=eth1,-0=eth2, or the interfaces "
                    "and networks among which they are detected, for example eth1,eth2 or 10.1.0.0/16",
                    text, what);
}

static const char *after_entry(const char *entry, size_t length) { return entry + length + (entry[length] == ','); }

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

bool trv_ports_assign(const char *text) { return strchr(text, '=') != NULL; }

/* Returns the port of "+0=eth1"; -1: it does not begin with a port. */
static int read_port(const char *entry)
{
    char name[8];
    int port = -1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(entry, "="), entry);
    return trv_port_parse(name, &port) < 0 ? -1 : port;
}

bool trv_ports_next(const char **rest, int *port, const char **name, size_t *length)
{
    const char *entry = *rest;
    const size_t all = strcspn(entry, ","), sign = strcspn(entry, "=");
    if (!*entry)
        return false;
    *port = read_port(entry);
    *name = entry + sign + 1;
    *length = all - sign - 1;
    *rest = after_entry(entry, all);
    return true;
}

static int check_ports(const char *text)
{
    unsigned assigned = 0;
    for (const char *at = text; *at; at = after_entry(at, strcspn(at, ","))) {
        const size_t length = strcspn(at, ","), sign = strcspn(at, "=");
        if (sign >= length || sign == 0)
            return ports_fail(text, "an entry is not PORT=INTERFACE");
        const int port = read_port(at);
        if (port < 0)
            return ports_fail(text, "an entry does not begin with a port (+0, -0 … +7, -7)");
        if (assigned >> port & 1)
            return ports_fail(text, "a port has two interfaces");
        if (length - sign - 1 == 0 || length - sign - 1 >= TRV_INTERFACE_MAX)
            return ports_fail(text, "the name of an interface is empty or longer than 63 characters");
        assigned |= 1u << port;
    }
    return TRV_OK;
}

/* ---- Interfaces and networks ------------------------------------------------------------------------------------- */

int trv_ports_network(const char *network, size_t length, int *family, uint8_t address[16])
{
    char text[ADDRESS_MAX];
    const char *slash = memchr(network, '/', length);
    if (!slash || (size_t)(slash - network) >= sizeof text)
        return -1;
    snprintf(text, sizeof text, "%.*s", (int)(slash - network), network);
    *family = strchr(text, ':') ? AF_INET6 : AF_INET;
    const size_t digits = strspn(slash + 1, "0123456789");
    const int bits_max = *family == AF_INET ? 32 : 128, bits = atoi(slash + 1);
    const bool complete = digits > 0 && digits <= 3 && slash + 1 + digits == network + length;
    return complete && bits <= bits_max && inet_pton(*family, text, address) == 1 ? bits : -1;
}

bool trv_ports_same_network(const uint8_t *a, const uint8_t *b, int bits)
{
    const int bytes = bits / 8;
    return memcmp(a, b, (size_t)bytes) == 0 && (bits % 8 == 0 || (a[bytes] ^ b[bytes]) >> (8 - bits % 8) == 0);
}

static int check_list(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-%@/";
    for (const char *at = text; *at; at = after_entry(at, strcspn(at, ","))) {
        const size_t length = strcspn(at, ",");
        uint8_t address[16];
        int family;
        if (length == 0 || strspn(at, allowed) < length || *at == '-' ||
            (memchr(at, '/', length) && trv_ports_network(at, length, &family, address) < 0))
            return ports_fail(text, "an entry is not an interface, an address or a network");
    }
    return TRV_OK;
}

int trv_ports_check(const char *text) { return trv_ports_assign(text) ? check_ports(text) : check_list(text); }
