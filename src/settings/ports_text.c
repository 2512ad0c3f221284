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

static int refuse(const char *text, const char *what)
{
    return trv_fail(TRV_ERR_ARGUMENT,
                    "%s in '%.200s'; it lists which interface leads which way, as in +0=eth1,-0=eth2, or "
                    "those that may lead any way, as in eth1,eth2 or 10.1.0.0/16",
                    what, text);
}

static const char *behind(const char *entry, size_t length) { return entry + length + (entry[length] == ','); }

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

bool trv_ports_assign(const char *text) { return strchr(text, '=') != NULL; }

/* Returns the port number of "+0=eth1" (2 * dimension, + 1 for -); -1: it does not begin with a port. */
static int read_way(const char *entry)
{
    char port[8];
    int way = -1;
    snprintf(port, sizeof port, "%.*s", (int)strcspn(entry, "="), entry);
    return trv_port_parse(port, &way) < 0 ? -1 : way;
}

bool trv_ports_next(const char **rest, int *way, const char **name, size_t *length)
{
    const char *entry = *rest;
    const size_t all = strcspn(entry, ","), sign = strcspn(entry, "=");
    if (!*entry)
        return false;
    *way = read_way(entry);
    *name = entry + sign + 1;
    *length = all - sign - 1;
    *rest = behind(entry, all);
    return true;
}

static int check_ways(const char *text)
{
    unsigned named = 0;
    for (const char *at = text; *at; at = behind(at, strcspn(at, ","))) {
        const size_t length = strcspn(at, ","), sign = strcspn(at, "=");
        if (sign >= length || sign == 0)
            return refuse(text, "there is an entry that is not PORT=INTERFACE");
        const int way = read_way(at);
        if (way < 0)
            return refuse(text, "there is an entry that does not begin with a port, which are +0 and -0 to +7 and -7,");
        if (named >> way & 1)
            return refuse(text, "a port is named twice");
        if (length - sign - 1 == 0 || length - sign - 1 >= TRV_INTERFACE_MAX)
            return refuse(text, "an interface has no name, or a very long one");
        named |= 1u << way;
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
    const int most = *family == AF_INET ? 32 : 128, bits = atoi(slash + 1);
    const bool right = digits > 0 && digits <= 3 && slash + 1 + digits == network + length;
    return right && bits <= most && inet_pton(*family, text, address) == 1 ? bits : -1;
}

static int check_list(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-%@/";
    for (const char *at = text; *at; at = behind(at, strcspn(at, ","))) {
        const size_t length = strcspn(at, ",");
        uint8_t address[16];
        int family;
        if (length == 0 || strspn(at, allowed) < length || *at == '-' ||
            (memchr(at, '/', length) && trv_ports_network(at, length, &family, address) < 0))
            return refuse(text, "there is an entry that is no interface, address or network");
    }
    return TRV_OK;
}

int trv_ports_check(const char *text) { return trv_ports_assign(text) ? check_ways(text) : check_list(text); }
