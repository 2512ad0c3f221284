/*
 * TUN devices: opened in the namespaces of their nodes by an emulator that itself stays where it is.
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

enum { IP_DESTINATION = 16, IP_HEADER = 20 }; /* of IPv4 */

int64_t tn_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* In the present namespace. */
static int open_device(const char *name, const char **what)
{
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    *what = "opening /dev/net/tun";
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0)
        return -1;
    *what = "making a TUN device";
    if (ioctl(device, TUNSETIFF, &request) == 0)
        return device;
    int reason = errno;
    close(device);
    errno = reason;
    return -1;
}

int tn_tun_open(const char *space, const char *name, const char **what)
{
    int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), other = open(space, O_RDONLY | O_CLOEXEC), device = -1;
    *what = "entering a namespace";
    if (own >= 0 && other >= 0 && setns(other, CLONE_NEWNET) == 0) {
        device = open_device(name, what);
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

/* -1 for what is not IPv4, or goes to no node. */
static int destination_of(const tn_net_t *net, const unsigned char *data, ssize_t bytes)
{
    uint32_t address;
    if (bytes < IP_HEADER || data[0] >> 4 != 4)
        return -1;
    memcpy(&address, data + IP_DESTINATION, sizeof address);
    uint32_t node = ntohl(address) - TB_TORUS_PREFIX - 1;
    return node < (uint32_t)net->torus.ranks ? (int)node : -1;
}

int tn_tun_read(tn_net_t *net, int descriptor, int node, int most)
{
    int count = 0;
    for (int64_t now_ns = 0; count < most; count++) {
        const tn_packet_t *first = tn_timer_first(net);
        if (first && first->due_ns <= now_ns)
            break;
        tn_packet_t *packet = tn_packet_get(net);
        ssize_t bytes = packet ? read(descriptor, packet->data, sizeof packet->data) : -1;
        int destination = bytes > 0 ? destination_of(net, packet->data, bytes) : -1;
        if (destination >= 0 && destination != node) {
            packet->due_ns = now_ns = tn_now_ns();
            packet->order = net->entered++;
            packet->node = node;
            packet->destination = destination;
            packet->tail_ns = 0;
            packet->bytes = (uint32_t)bytes;
            if (tn_timer_add(net, packet))
                continue;
        }
        if (packet)
            tn_packet_put(net, packet);
        if (bytes <= 0)
            break;
        net->strays++;
    }
    return count;
}

void tn_tun_write(tn_net_t *net, const int *descriptor, const tn_packet_t *packet)
{
    tn_count_lateness(net, tn_now_ns() - packet->due_ns);
    if (write(descriptor[packet->destination], packet->data, packet->bytes) < 0)
        net->strays++; /* its device is being taken down */
}
