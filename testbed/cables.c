/*
 * The interfaces of nodes that do not forward, as commands of iproute2: one for each cable, with a subnet of its own,
 * and one for the management network. There are no routes besides those to their subnets.
 */
#include "testbed/testbed.h"

#include "testbed/emulator/names.h"
#include "testbed/emulator/torusnet.h"
#include "torus/torus.h"

unsigned trv_testbed_cable_address(const trv_torus_t *torus, int node, int port)
{
    const bool up = trv_port_sign(port) > 0;
    const int first = up ? node : trv_torus_neighbour(torus, node, port);
    return TB_CABLES_PREFIX + 4 * (unsigned)(first * torus->dims + trv_port_dimension(port)) + (up ? 1 : 2);
}

unsigned trv_testbed_address(const tb_network_t *network, int node)
{
    int port = 0;
    if (!network->no_forwarding || network->management_bps > 0)
        return TB_MANAGEMENT_PREFIX + 2 + (unsigned)node;
    while (!tn_has_link(&network->torus, node, port))
        port++;
    return trv_testbed_cable_address(&network->torus, node, port);
}

/* The route to the subnet is added by hand, because the kernel's own has no parameters of TCP. */
static void write_cable(FILE *out, const trv_torus_t *torus, int node, int port)
{
    const unsigned address = trv_testbed_cable_address(torus, node, port);
    char device[16];
    snprintf(device, sizeof device, trv_port_sign(port) > 0 ? TB_PORT_UP : TB_PORT_DOWN, trv_port_dimension(port));
    fputs("addr add ", out);
    trv_testbed_write_address(out, address);
    fprintf(out, "/30 broadcast + dev %s noprefixroute\nlink set %s mtu 9000 txqueuelen 20000 up\nroute add ", device,
            device);
    trv_testbed_write_address(out, address & ~3u);
    fprintf(out, "/30 dev %s proto kernel scope link src ", device);
    trv_testbed_write_address(out, address);
    fputs(" " TB_TCP_OPTIONS "\n", out);
}

void trv_testbed_write_cables(FILE *out, const tb_network_t *network, int node)
{
    for (int port = 0; port < trv_port_count(&network->torus); port++)
        if (tn_has_link(&network->torus, node, port))
            write_cable(out, &network->torus, node, port);
    if (network->management_bps <= 0)
        return;
    fprintf(out, "link set " TB_MANAGEMENT " address ");
    for (int shift = 24; shift >= 0; shift -= 8)
        fprintf(out, "%02x:", TB_MAC_PREFIX >> shift & 255);
    fprintf(out, "%02x:%02x\naddr add ", (unsigned)node >> 8 & 255, (unsigned)node & 255);
    trv_testbed_write_address(out, trv_testbed_address(network, node));
    fputs("/16 broadcast + dev " TB_MANAGEMENT "\nlink set " TB_MANAGEMENT " up\n", out);
}
