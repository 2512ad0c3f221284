/*
 * The emulator's socket. A connection sends one line and receives an answer, and is then closed. An answer begins with
 * "ok", or is "error " and a message.
 *
 *     status                              the emulator's parameters, and counts over all links
 *     links                               a line per directed link
 *     reset                               resets the counts
 *     route                               makes packets avoid the links that are down now, if there is another path
 *     link NODE PORT CHANGE                PORT as a number; CHANGE: bandwidth BPS, latency NS, down, up
 *     both NODE PORT CHANGE                the same, and also for the link in the opposite direction; with cables,
 *                                         also `link` with down or up: the cable is pulled or plugged in
 *     node NODE CHANGE                     the same for every link that leaves the node or leads to it
 */
#include "base/number.h"
#include "testbed/emulator/torusnet.h"
#include "torus/torus.h"

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
#define TIMEOUT_MS     20 /* clients send their line directly after connecting */

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
    uint64_t dropped = 0, bytes = 0, management = 0;
    for (int i = 0; i < net->torus.ranks * net->ports; i++) {
        dropped += net->link[i].count.dropped;
        bytes += net->link[i].count.bytes;
    }
    for (int i = 0; i < net->torus.ranks && net->management[1]; i++)
        management += net->management[1][i].count.bytes;
    trv_fprintf(out, "ok\n%sseconds %.3f\npackets %llu\nlink_bytes %llu\ndropped %llu\nmisaddressed %llu\n", about,
                (double)(tn_now_ns() - net->since_ns) / 1e9, (unsigned long long)net->delivered,
                (unsigned long long)bytes, (unsigned long long)dropped, (unsigned long long)net->misaddressed);
    fprintf(out, "management_bytes %llu\n", (unsigned long long)management);
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
        trv_fprintf(out, "%d %d %.0f %lld %d %llu %llu %.6f %llu %llu\n", i / net->ports, i % net->ports,
                    link->bandwidth_bps, (long long)link->latency_ns, !link->down,
                    (unsigned long long)link->count.packets, (unsigned long long)link->count.bytes,
                    (double)link->count.busy_ns / seconds, (unsigned long long)link->count.queue_max_bytes,
                    (unsigned long long)link->count.dropped);
    }
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

typedef struct change {
    enum { BANDWIDTH, LATENCY, DOWN, UP } what;
    double value;
} change_t;

static bool read_change(const char *text, change_t *change)
{
    char word[16] = "", rest[2];
    int words = trv_sscanf(text, "%15s %lf %1s", word, &change->value, rest);
    if (words == 2 && strcmp(word, "bandwidth") == 0)
        change->what = BANDWIDTH;
    else if (words == 2 && strcmp(word, "latency") == 0)
        change->what = LATENCY;
    else if (words == 1 && strcmp(word, "down") == 0)
        change->what = DOWN;
    else if (words == 1 && strcmp(word, "up") == 0)
        change->what = UP;
    else
        return false;
    return change->what == BANDWIDTH ? change->value >= 1000 && change->value <= 1e12
           : change->what == LATENCY ? change->value >= 0 && change->value <= 1e12
                                     : true;
}

static void apply_change(tn_link_t *link, const change_t *change)
{
    if (change->what == BANDWIDTH)
        link->bandwidth_bps = change->value;
    else if (change->what == LATENCY)
        link->latency_ns = (int64_t)change->value;
    else
        link->down = change->what == DOWN;
}

static void apply_change_both_ways(tn_net_t *net, int node, int port, const change_t *change)
{
    apply_change(&net->link[node * net->ports + port], change);
    apply_change(&net->link[trv_torus_neighbour(&net->torus, node, port) * net->ports + trv_port_opposite(port)],
                 change);
}

/* Changes all links of a node, in both directions. */
static void apply_change_to_node(tn_net_t *net, int node, const change_t *change)
{
    for (int port = 0; port < net->ports; port++)
        if (tn_has_link(&net->torus, node, port))
            apply_change_both_ways(net, node, port, change);
}

static void change(tn_net_t *net, const char *line, FILE *out)
{
    int node = -1, port = -1, used = 0;
    char name[TRV_PORT_TEXT_MAX];
    change_t change;
    bool both = sscanf(line, "both %d %d %n", &node, &port, &used) == 2 && used > 0;
    bool one = both || (sscanf(line, "link %d %d %n", &node, &port, &used) == 2 && used > 0);
    if (!one && (sscanf(line, "node %d %n", &node, &used) != 1 || used == 0))
        fprintf(out, "error unknown request\n");
    else if (node < 0 || node >= net->torus.ranks)
        fprintf(out, "error node %d does not exist: nodes are 0 to %d\n", node, net->torus.ranks - 1);
    else if (one && (port < 0 || port >= net->ports))
        fprintf(out, "error port %s does not exist: dimensions are 0 to %d\n", trv_port_format(port, name),
                net->torus.dims - 1);
    else if (one && net->torus.size[trv_port_dimension(port)] == 1)
        fprintf(out, "error dimension %d has one node and no links\n", trv_port_dimension(port));
    else if (one && !tn_has_link(&net->torus, node, port))
        fprintf(out, "error no link leaves node %d through port %s, because its line ends there\n", node,
                trv_port_format(port, name));
    else if (!read_change(line + used, &change))
        fprintf(out, "error expected a bandwidth from 1Kb/s to 1Tb/s, a latency of at most 1000s, down or up\n");
    else {
        both = both || (one && net->cables && (change.what == DOWN || change.what == UP));
        if (both)
            apply_change_both_ways(net, node, port, &change);
        else if (one)
            apply_change(&net->link[node * net->ports + port], &change);
        else
            apply_change_to_node(net, node, &change);
        tn_tun_set_carriers(net);
        fputs("ok\n", out);
    }
}

/* ---- Connections ------------------------------------------------------------------------------------------------- */

/* Reads the line without its line end; returns false if it is too long or not text. */
static bool read_line(int client, char line[LINE_MAX_BYTES])
{
    struct pollfd wait = {.fd = client, .events = POLLIN};
    ssize_t got = poll(&wait, 1, TIMEOUT_MS) == 1 ? recv(client, line, LINE_MAX_BYTES, MSG_DONTWAIT) : 0;
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
            fprintf(out, "error expected a request of one line and less than %d bytes\n", LINE_MAX_BYTES);
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
