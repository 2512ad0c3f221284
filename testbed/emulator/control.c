/*
 * The emulator's socket. A connection sends one line and receives an answer, and is then closed. An answer begins with
 * "ok", or is "error " and a message.
 *
 *     status                              the emulator's parameters, and counts over all links
 *     links                               a line per directed link
 *     reset                               resets the counts
 *     route                               makes packets avoid the links that are down now, if there is another path
 *     link NODE PORT ORDER                PORT as a number; ORDER: bandwidth BPS, latency NS, down, up
 *     both NODE PORT ORDER                the same, and also for the link in the opposite direction
 *     node NODE ORDER                     the same for every link that leaves the node or leads to it
 */
#include "testbed/emulator/torusnet.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_MAX_BYTES 256
#define PATIENCE_MS    20 /* clients send their line directly after connecting */

int tn_control_open(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listening < 0 || strlen(path) >= sizeof address.sun_path)
        return -1;
    strcpy(address.sun_path, path);
    unlink(path);
    if (bind(listening, (struct sockaddr *)&address, sizeof address) != 0 || listen(listening, 8) != 0) {
        close(listening);
        return -1;
    }
    return listening;
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

static void print_status(const tn_net_t *net, const char *about, FILE *out)
{
    uint64_t dropped = 0, bytes = 0;
    for (int i = 0; i < net->torus.ranks * net->ports; i++) {
        dropped += net->link[i].count.dropped;
        bytes += net->link[i].count.bytes;
    }
    fprintf(out, "ok\n%sseconds %.3f\npackets %llu\nlink_bytes %llu\ndropped %llu\nstrays %llu\n", about,
            (double)(tn_now_ns() - net->since_ns) / 1e9, (unsigned long long)net->delivered, (unsigned long long)bytes,
            (unsigned long long)dropped, (unsigned long long)net->strays);
    fprintf(out, "lateness_p50_ns %lld\nlateness_p99_ns %lld\nlateness_max_ns %lld\n",
            (long long)tn_lateness_ns(net, 0.5), (long long)tn_lateness_ns(net, 0.99), (long long)net->lateness_max_ns);
}

static void print_links(const tn_net_t *net, FILE *out)
{
    double seconds = (double)(tn_now_ns() - net->since_ns);
    fputs("ok\n", out);
    for (int i = 0; i < net->torus.ranks * net->ports; i++) {
        const tn_link_t *link = &net->link[i];
        if (!tn_has_link(&net->torus, i / net->ports, i % net->ports))
            continue;
        fprintf(out, "%d %d %.0f %lld %d %llu %llu %.6f %llu %llu\n", i / net->ports, i % net->ports,
                link->bandwidth_bps, (long long)link->latency_ns, !link->down, (unsigned long long)link->count.packets,
                (unsigned long long)link->count.bytes, (double)link->count.busy_ns / seconds,
                (unsigned long long)link->count.queue_max_bytes, (unsigned long long)link->count.dropped);
    }
}

/* ---- Orders ------------------------------------------------------------------------------------------------------ */

typedef struct order {
    enum { BANDWIDTH, LATENCY, DOWN, UP } what;
    double value;
} order_t;

static bool read_order(const char *text, order_t *order)
{
    char word[16] = "", rest[2];
    int words = sscanf(text, "%15s %lf %1s", word, &order->value, rest);
    if (words == 2 && strcmp(word, "bandwidth") == 0)
        order->what = BANDWIDTH;
    else if (words == 2 && strcmp(word, "latency") == 0)
        order->what = LATENCY;
    else if (words == 1 && strcmp(word, "down") == 0)
        order->what = DOWN;
    else if (words == 1 && strcmp(word, "up") == 0)
        order->what = UP;
    else
        return false;
    return order->what == BANDWIDTH ? order->value >= 1000 && order->value <= 1e12
           : order->what == LATENCY ? order->value >= 0 && order->value <= 1e12
                                    : true;
}

static void obey(tn_link_t *link, const order_t *order)
{
    if (order->what == BANDWIDTH)
        link->bandwidth_bps = order->value;
    else if (order->what == LATENCY)
        link->latency_ns = (int64_t)order->value;
    else
        link->down = order->what == DOWN;
}

static void obey_both(tn_net_t *net, int node, int port, const order_t *order)
{
    const int back = trv_port(trv_port_dimension(port), -trv_port_sign(port));
    obey(&net->link[node * net->ports + port], order);
    obey(&net->link[tn_neighbour(&net->torus, node, port) * net->ports + back], order);
}

/* Changes all links of a node, in both directions. */
static void obey_node(tn_net_t *net, int node, const order_t *order)
{
    for (int port = 0; port < net->ports; port++)
        if (tn_has_link(&net->torus, node, port))
            obey_both(net, node, port, order);
}

static void change(tn_net_t *net, const char *line, FILE *out)
{
    int node = -1, port = -1, used = 0;
    order_t order;
    bool both = sscanf(line, "both %d %d %n", &node, &port, &used) == 2 && used > 0;
    bool one = both || (sscanf(line, "link %d %d %n", &node, &port, &used) == 2 && used > 0);
    if (!one && (sscanf(line, "node %d %n", &node, &used) != 1 || used == 0))
        fprintf(out, "error there is no such request\n");
    else if (node < 0 || node >= net->torus.ranks)
        fprintf(out, "error there is no node %d; they are 0 to %d\n", node, net->torus.ranks - 1);
    else if (one && (port < 0 || port >= net->ports))
        fprintf(out, "error there is no port %c%d; the torus has the dimensions 0 to %d\n",
                trv_port_sign(port) > 0 ? '+' : '-', trv_port_dimension(port), net->torus.dims - 1);
    else if (one && net->torus.size[trv_port_dimension(port)] == 1)
        fprintf(out, "error dimension %d has one node and no links\n", trv_port_dimension(port));
    else if (one && !tn_has_link(&net->torus, node, port))
        fprintf(out, "error no link leaves node %d by port %c%d: its line ends there\n", node,
                trv_port_sign(port) > 0 ? '+' : '-', trv_port_dimension(port));
    else if (!read_order(line + used, &order))
        fprintf(out, "error a link takes a bandwidth from 1Kb/s to 1Tb/s, a latency up to 1000s, down or up\n");
    else if (both)
        obey_both(net, node, port, &order), fputs("ok\n", out);
    else if (one)
        obey(&net->link[node * net->ports + port], &order), fputs("ok\n", out);
    else
        obey_node(net, node, &order), fputs("ok\n", out);
}

/* ---- Connections ------------------------------------------------------------------------------------------------- */

/* Reads the line without its line end; returns false if it is too long or not text. */
static bool read_line(int client, char line[LINE_MAX_BYTES])
{
    struct pollfd wait = {.fd = client, .events = POLLIN};
    ssize_t got = poll(&wait, 1, PATIENCE_MS) == 1 ? recv(client, line, LINE_MAX_BYTES, MSG_DONTWAIT) : 0;
    if (got <= 0 || line[got - 1] != '\n' || memchr(line, '\0', (size_t)got))
        return false;
    line[got - 1] = '\0';
    return true;
}

void tn_control_answer(tn_net_t *net, int listening, const char *about)
{
    char line[LINE_MAX_BYTES], *text = NULL;
    size_t size = 0;
    int client = accept4(listening, NULL, NULL, SOCK_CLOEXEC), buffer_bytes = 1 << 20;
    bool whole = client >= 0 && read_line(client, line);
    FILE *out = client >= 0 ? open_memstream(&text, &size) : NULL;
    if (out) {
        if (!whole)
            fprintf(out, "error a request is one line of less than %d bytes\n", LINE_MAX_BYTES);
        else if (strcmp(line, "status") == 0)
            print_status(net, about, out);
        else if (strcmp(line, "links") == 0)
            print_links(net, out);
        else if (strcmp(line, "reset") == 0)
            tn_reset(net, tn_now_ns()), fputs("ok\n", out);
        else if (strcmp(line, "route") == 0)
            tn_route(net), fputs("ok\n", out);
        else
            change(net, line, out);
        if (fclose(out) == 0) {
            setsockopt(client, SOL_SOCKET, SO_SNDBUFFORCE, &buffer_bytes, sizeof buffer_bytes);
            if (send(client, text, size, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)size)
                shutdown(client, SHUT_RDWR); /* the client notices that the end is missing */
        }
        free(text);
    }
    if (client >= 0)
        close(client);
}
