/*
 * TUN devices: opened in the namespaces of their nodes, by an emulator that itself runs in another namespace.
 */
#include "testbed/emulator/torusnet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "testbed/emulator/names.h"
#include "torus/torus.h"

enum { IP_DESTINATION = 16, IP_HEADER = 20 }; /* offset and size in IPv4 */
enum { MAC_NODE = 4 };                        /* offset of the node in Ethernet addresses of the management network */

int64_t tn_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Opens the device in the present namespace. */
static int open_device(const char *name, bool ethernet, const char **what)
{
    struct ifreq request = {.ifr_flags = (short)((ethernet ? IFF_TAP : IFF_TUN) | IFF_NO_PI)};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    *what = "opening /dev/net/tun";
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0)
        return -1;
    *what = "creating a TUN device";
    if (ioctl(device, TUNSETIFF, &request) == 0)
        return device;
    int reason = errno;
    close(device);
    errno = reason;
    return -1;
}

int tn_tun_open(const char *space, const char *name, bool ethernet, const char **what)
{
    int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), other = open(space, O_RDONLY | O_CLOEXEC), device = -1;
    *what = "entering a namespace";
    if (own >= 0 && other >= 0 && setns(other, CLONE_NEWNET) == 0) {
        device = open_device(name, ethernet, what);
        int reason = errno;
        if (setns(own, CLONE_NEWNET) != 0)
            *what = "returning from a namespace";
        else
            errno = reason;
    }
    int reason = errno;
    if (own >= 0)
        close(own);
    if (other >= 0)
        close(other);
    errno = reason;
    return device;
}

int tn_devices(const tn_net_t *net) { return net->card[0] || net->cables ? 1 + net->ports : 1; }

const char *tn_device_name(const tn_net_t *net, int node, int device, char name[16])
{
    const int port = device - 1;
    if (device == 0)
        return !net->cables ? TB_TUN : net->management[0] ? TB_MANAGEMENT : NULL;
    if (!tn_has_link(&net->torus, node, port))
        return NULL;
    snprintf(name, 16, trv_port_sign(port) > 0 ? TB_PORT_UP : TB_PORT_DOWN, trv_port_dimension(port));
    return name;
}

/* Finds the other end of a cable or, in the management network, the node that a frame is addressed to; false if no node
 * has its address. */
static bool find_end(const tn_net_t *net, int node, int device, tn_packet_t *packet)
{
    const unsigned char *to = packet->data;
    uint32_t prefix;
    memcpy(&prefix, to, sizeof prefix);
    packet->leaves = device > 0 ? device - 1 : TN_MANAGEMENT;
    packet->arrives = device > 0 ? trv_port_opposite(device - 1) : -1;
    packet->destination = device > 0  ? trv_torus_neighbour(&net->torus, node, device - 1)
                          : to[0] & 1 ? TN_ALL /* broadcast and multicast */
                                      : to[MAC_NODE] << 8 | to[MAC_NODE + 1];
    return device > 0 || packet->destination == TN_ALL ||
           (ntohl(prefix) == TB_MAC_PREFIX && packet->destination < net->torus.ranks);
}

/* Finds the destination of a packet, and the port of its card; false if it is not IPv4 or not addressed to a node. */
static bool find_destination(const tn_net_t *net, ssize_t bytes, tn_packet_t *packet)
{
    uint32_t address;
    if (bytes < IP_HEADER || packet->data[0] >> 4 != 4)
        return false;
    memcpy(&address, packet->data + IP_DESTINATION, sizeof address);
    const uint32_t ranks = (uint32_t)net->torus.ranks, node = ntohl(address) - TB_TORUS_PREFIX - 1;
    const uint32_t port = ntohl(address) - TB_PORTS_PREFIX - 1;
    packet->arrives = -1;
    packet->destination = (int)node;
    if (node < ranks)
        return true;
    packet->destination = (int)(port >> TB_PORTS_SHIFT);
    packet->arrives = (int)(port & ((1u << TB_PORTS_SHIFT) - 1));
    return net->card[0] && port >> TB_PORTS_SHIFT < ranks && packet->arrives < net->ports;
}

static uint32_t header_bytes(const tn_net_t *net) { return net->cables ? TN_ETHERNET_HEADER : 0; }

/* Sets where a packet goes from a node's device, and by which ports; false if there is no such destination. */
static bool address(const tn_net_t *net, int node, int device, ssize_t bytes, tn_packet_t *packet)
{
    packet->leaves = device - 1;
    return (net->cables ? bytes > TN_ETHERNET_HEADER && find_end(net, node, device, packet)
                        : find_destination(net, bytes, packet)) &&
           packet->destination != node;
}

int tn_tun_read(tn_net_t *net, int descriptor, int node, int device, int packets_max)
{
    int count = 0;
    for (int64_t now_ns = 0; count < packets_max; count++) {
        const tn_packet_t *first = tn_timer_first(net);
        if (first && first->due_ns <= now_ns)
            break;
        tn_packet_t *packet = tn_packet_get(net);
        ssize_t bytes = packet ? read(descriptor, packet->data, sizeof packet->data) : -1;
        if (bytes > 0 && address(net, node, device, bytes, packet)) {
            packet->due_ns = now_ns = tn_now_ns();
            packet->order = net->entered++;
            packet->node = node;
            packet->through = false;
            packet->tail_ns = 0;
            packet->bytes = (uint32_t)bytes - header_bytes(net);
            if (tn_timer_add(net, packet))
                continue;
        }
        if (packet)
            tn_packet_put(net, packet);
        if (bytes <= 0)
            break;
        net->misaddressed++;
    }
    return count;
}

void tn_tun_write(tn_net_t *net, const tn_packet_t *packet)
{
    tn_count_lateness(net, tn_now_ns() - packet->due_ns);
    const int device = packet->destination * tn_devices(net) + packet->arrives + 1;
    if (write(net->device[device], packet->data, packet->bytes + header_bytes(net)) < 0)
        net->misaddressed++; /* its device is being removed */
}

void tn_tun_set_carriers(tn_net_t *net)
{
    for (int i = 0; net->cables && net->device && i < net->torus.ranks * net->ports; i++) {
        tn_link_t *link = &net->link[i];
        const int device = net->device[i / net->ports * tn_devices(net) + i % net->ports + 1], carrier = !link->down;
        if (link->down != link->pulled && device >= 0)
            ioctl(device, TUNSETCARRIER, &carrier);
        link->pulled = link->down;
    }
}
