/*
 * A network card for each link of a node: addresses and routes, as commands of iproute2.
 *
 * A socket that is bound to the address of a card sends by this card, whatever the destination; each card has a routing
 * table for that. A socket that is not bound sends by the card whose link is the first on the route.
 */
#include "testbed/testbed.h"

#include "testbed/emulator/names.h"
#include "testbed/emulator/torusnet.h"
#include "torus/torus.h"

#define TABLE 100 /* routing table of port p: TABLE + p */

void trv_testbed_write_address(FILE *out, unsigned address)
{
    fprintf(out, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
}

static unsigned address_of(int node, int port)
{
    return TB_PORTS_PREFIX + ((unsigned)node << TB_PORTS_SHIFT) + (unsigned)port + 1;
}

static void write_device(FILE *out, int port)
{
    fputs(" dev ", out);
    fprintf(out, trv_port_sign(port) > 0 ? TB_PORT_UP : TB_PORT_DOWN, trv_port_dimension(port));
}

static void write_card(FILE *out, int node, int port)
{
    fputs("addr add ", out);
    trv_testbed_write_address(out, address_of(node, port));
    fputs("/32", out);
    write_device(out, port);
    fputs("\nlink set", out);
    write_device(out, port);
    fputs(" mtu 9000 txqueuelen 20000 up\nroute add " TB_PORTS_NETWORK, out);
    write_device(out, port);
    fprintf(out, " table %d " TB_TCP_OPTIONS "\nrule add from ", TABLE + port);
    trv_testbed_write_address(out, address_of(node, port));
    fprintf(out, " lookup %d\n", TABLE + port);
}

static void write_route(FILE *out, int node, unsigned to, int bits, int port)
{
    fputs("route add ", out);
    trv_testbed_write_address(out, to);
    fprintf(out, "/%d", bits);
    write_device(out, port);
    fputs(" src ", out);
    trv_testbed_write_address(out, address_of(node, port));
    fputs(" " TB_TCP_OPTIONS "\n", out);
}

/* All cards of a node share one route, except for those cards that another route leads to. */
static void write_routes(FILE *out, const trv_torus_t *torus, int node)
{
    for (int to = 0; to < torus->ranks; to++) {
        if (to == node)
            continue;
        const int default_port = trv_torus_route_port(torus, node, to);
        write_route(out, node, address_of(to, -1), 32 - TB_PORTS_SHIFT, default_port);
        for (int port = 0; port < trv_port_count(torus); port++)
            if (tn_port_for(torus, node, to, port) != default_port)
                write_route(out, node, address_of(to, port), 32, tn_port_for(torus, node, to, port));
    }
}

void trv_testbed_write_ports(FILE *out, const trv_torus_t *torus, int node)
{
    for (int port = 0; port < trv_port_count(torus); port++)
        if (tn_has_link(torus, node, port))
            write_card(out, node, port);
    write_routes(out, torus, node);
}
