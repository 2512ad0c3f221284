/*
 * Sends datagrams over the testbed and measures their times.
 */
#include "testbed/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "testbed/emulator/names.h"
#include "testbed/emulator/torusnet.h"

#define PORT         7077
#define BUFFER_BYTES (64 << 20)

/* The address of a node in the torus or, if nodes do not forward, at one of its ports. */
static struct sockaddr_in address_of(const tb_network_t *network, int node, int port)
{
    const unsigned address = network->no_forwarding ? trv_testbed_cable_address(&network->torus, node, port)
                                                    : TB_TORUS_PREFIX + 1 + (unsigned)node;
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(address)};
}

/* Opens the socket of a node. This process must have entered the node's network. */
static int open_socket(const tb_network_t *network, int node)
{
    struct sockaddr_in address = address_of(network, node, 0);
    if (network->no_forwarding)
        address.sin_addr.s_addr = htonl(INADDR_ANY);
    int buffer_bytes = BUFFER_BYTES, made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (made < 0 || bind(made, (struct sockaddr *)&address, sizeof address) != 0) {
        if (made >= 0)
            close(made);
        return trv_fail(TRV_ERR_STATE, "a socket on node %d cannot be created: %s", node, strerror(errno));
    }
    setsockopt(made, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes);
    setsockopt(made, SOL_SOCKET, SO_SNDBUFFORCE, &buffer_bytes, sizeof buffer_bytes);
    return made;
}

static int open_all(tb_probe_t *probe)
{
    for (int node = 0; node < probe->network->torus.ranks; node++) {
        char name[32];
        snprintf(name, sizeof name, TB_NODE, node);
        int code = trv_testbed_enter_network(name);
        int made = code < 0 ? code : open_socket(probe->network, node);
        if (made < 0)
            return made;
        probe->socket[probe->nodes++] = made;
    }
    return TRV_OK;
}

int trv_testbed_probe_open(tb_probe_t *probe, const tb_network_t *network)
{
    int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    *probe = (tb_probe_t){network, .socket = calloc((size_t)network->torus.ranks, sizeof *probe->socket)};
    if (own < 0 || !probe->socket) {
        if (own >= 0)
            close(own);
        return trv_fail_memory();
    }
    int code = open_all(probe);
    if (setns(own, CLONE_NEWNET) != 0)
        code = trv_fail(TRV_ERR_STATE, "returning from the nodes failed: %s", strerror(errno));
    close(own);
    if (code < 0)
        trv_testbed_probe_close(probe);
    return code;
}

void trv_testbed_probe_close(tb_probe_t *probe)
{
    for (int i = 0; i < probe->nodes; i++)
        close(probe->socket[i]);
    free(probe->socket);
    *probe = (tb_probe_t){0};
}

/* ---- Sending and receiving --------------------------------------------------------------------------------------- */

static int send_one(const tb_probe_t *probe, const tb_flow_t *flow, uint32_t bytes)
{
    static const unsigned char data[1 << 16];
    struct sockaddr_in address = address_of(probe->network, flow->to, trv_port_opposite(flow->port));
    if (sendto(probe->socket[flow->from], data, bytes - TB_HEADER_BYTES, 0, (struct sockaddr *)&address,
               sizeof address) < 0)
        return trv_fail(TRV_ERR_STATE, "node %d cannot send: %s", flow->from, strerror(errno));
    return TRV_OK;
}

/* Receives the packets that have arrived at a socket, at most `packets_max`; returns their number. */
static int drain(int socket, int packets_max)
{
    static unsigned char data[1 << 16];
    int count = 0;
    while (count < packets_max && recv(socket, data, sizeof data, MSG_DONTWAIT) >= 0)
        count++;
    return count;
}

/* Waits until the given number of packets has arrived at each of the sockets. */
static int receive(struct pollfd *wait, const int *packets, int sockets, double timeout_ns)
{
    double until_ns = trv_now_ns() + timeout_ns;
    int left = 0, *missing = calloc((size_t)sockets, sizeof *missing);
    for (int i = 0; missing && i < sockets; i++)
        left += missing[i] = packets[i];
    bool interrupted = false;
    while (missing && left > 0 && !interrupted && trv_now_ns() < until_ns) {
        int ready = poll(wait, (nfds_t)sockets, 100);
        interrupted = ready < 0 && errno == EINTR;
        if (ready > 0)
            for (int i = 0; i < sockets; i++) {
                int got = wait[i].revents & POLLIN ? drain(wait[i].fd, missing[i]) : 0;
                missing[i] -= got;
                left -= got;
            }
    }
    free(missing);
    return !missing      ? trv_fail_memory()
           : interrupted ? trv_fail(TRV_ERR_STATE, "interrupted")
           : left        ? trv_fail(TRV_ERR_STATE, "%d packet%s not arrived after %.1f s; is a link cut?", left,
                             left == 1 ? " has" : "s have", timeout_ns / 1e9)
                         : TRV_OK;
}

int trv_testbed_ping_pong(const tb_probe_t *probe, const tb_flow_t *flow, uint32_t bytes, double timeout_ns,
                          double *time_ns)
{
    const int one = 1;
    const tb_flow_t back = {flow->to, flow->from, flow->packets, trv_port_opposite(flow->port)};
    double begin_ns = trv_now_ns();
    for (int turn = 0; turn < 2; turn++) {
        struct pollfd wait = {.fd = probe->socket[turn ? flow->from : flow->to], .events = POLLIN};
        int code = send_one(probe, turn ? &back : flow, bytes);
        if (code == TRV_OK)
            code = receive(&wait, &one, 1, timeout_ns);
        if (code < 0)
            return code;
    }
    *time_ns = (trv_now_ns() - begin_ns) / 2;
    return TRV_OK;
}

static int send_all(const tb_probe_t *probe, const tb_flow_t *flow, int flows, uint32_t bytes)
{
    int code = TRV_OK;
    for (int packet = 0, more = 1; more && code == TRV_OK; packet++) {
        more = 0;
        for (int i = 0; i < flows && code == TRV_OK; i++)
            if (packet < flow[i].packets) {
                code = send_one(probe, &flow[i], bytes);
                more = 1;
            }
    }
    return code;
}

int trv_testbed_burst(const tb_probe_t *probe, const tb_flow_t *flow, int flows, uint32_t bytes, double timeout_ns,
                      double *time_ns)
{
    struct pollfd *wait = calloc((size_t)probe->nodes, sizeof *wait);
    int *packets = calloc((size_t)probe->nodes, sizeof *packets);
    int code = wait && packets ? TRV_OK : trv_fail_memory();
    double begin_ns = trv_now_ns();
    if (code == TRV_OK) {
        for (int i = 0; i < probe->nodes; i++)
            wait[i] = (struct pollfd){.fd = probe->socket[i], .events = POLLIN};
        for (int i = 0; i < flows; i++)
            packets[flow[i].to] += flow[i].packets;
        code = send_all(probe, flow, flows, bytes);
    }
    if (code == TRV_OK)
        code = receive(wait, packets, probe->nodes, timeout_ns);
    *time_ns = trv_now_ns() - begin_ns;
    free(wait);
    free(packets);
    return code;
}
