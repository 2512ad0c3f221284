/*
 * The order of the hosts along their cables. Each cable between hosts that are wired port to port has a network of its
 * own, so two hosts that alone have addresses in a network are regarded as joined by a cable. If these cables form a
 * ring or a chain of all hosts, ranks that are numbered in that order have cables to their neighbours.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings/ports_text.h"
#include "transport/fabric/inside.h"

enum { HOSTS_MAX = 64 };

/* An interface of a host. */
typedef struct end {
    int host, family, bits;
    uint8_t address[16];
} end_t;

typedef struct wiring {
    int hosts, rank[HOSTS_MAX]; /* hosts in the order of their lowest ranks, which are in `rank` */
    bool consecutive;           /* the ranks of each host are consecutive */
    bool joined[HOSTS_MAX][HOSTS_MAX];
    int ends;
    end_t end[HOSTS_MAX * TRV_INTERFACES_MAX];
} wiring_t;

/* Finds the hosts; false if there are too many. */
static bool find_hosts(const trv_fabric_t *fabric, wiring_t *wiring)
{
    int before = -1;
    wiring->consecutive = true;
    for (int r = 0; r < fabric->options.oob.ranks; r++) {
        int h = 0;
        while (h < wiring->hosts && fabric->record[wiring->rank[h]].host != fabric->record[r].host)
            h++;
        if (h == HOSTS_MAX)
            return false;
        wiring->consecutive = wiring->consecutive && (h == before || h == wiring->hosts);
        if (h == wiring->hosts)
            wiring->rank[wiring->hosts++] = r;
        before = h;
    }
    return true;
}

static void add_ends(const trv_fabric_t *fabric, wiring_t *wiring, int host)
{
    trv_reader_t reader = fabric->published[wiring->rank[host]];
    const int interfaces = (int)trv_read_number(&reader);
    for (int i = 0; i < interfaces; i++) {
        char text[TRV_IP_ADDRESS_MAX];
        end_t *end = &wiring->end[wiring->ends];
        const int bits = trv_fabric_read_interface(&reader, text);
        *end = (end_t){.host = host, .family = strchr(text, ':') ? AF_INET6 : AF_INET, .bits = bits};
        if (end->bits > 0 && end->bits <= (end->family == AF_INET ? 32 : 128) &&
            inet_pton(end->family, text, end->address) == 1)
            wiring->ends++;
    }
}

/* The only other host with an address in the network of an end; -1 if there is none, if there are several, or if it has
 * the same address, as of virtual networks that every host has for itself. */
static int other_host(const wiring_t *wiring, const end_t *end)
{
    int other = -1;
    for (int i = 0; i < wiring->ends; i++) {
        const end_t *there = &wiring->end[i];
        if (there->host == end->host || there->family != end->family ||
            !trv_ports_same_network(end->address, there->address, end->bits))
            continue;
        if ((other >= 0 && other != there->host) || memcmp(end->address, there->address, sizeof end->address) == 0)
            return -1;
        other = there->host;
    }
    return other;
}

static int count_joined(const wiring_t *wiring, int host)
{
    int count = 0;
    for (int h = 0; h < wiring->hosts; h++)
        count += wiring->joined[host][h];
    return count;
}

/* Follows the cables from one end of the chain, or around the ring. Returns the number of hosts in `order`; 0 if a host
 * has more than two cables. */
static int follow(const wiring_t *wiring, int order[HOSTS_MAX])
{
    bool visited[HOSTS_MAX] = {false};
    int at = 0, count = 0;
    for (int h = wiring->hosts - 1; h >= 0; h--) {
        if (count_joined(wiring, h) > 2)
            return 0;
        at = count_joined(wiring, h) == 1 ? h : at;
    }
    while (at >= 0) {
        int next = -1;
        order[count++] = at;
        visited[at] = true;
        for (int h = wiring->hosts - 1; h >= 0; h--)
            next = wiring->joined[at][h] && !visited[h] ? h : next;
        at = next;
    }
    return count;
}

/* True if cables join consecutive hosts, but for one that may be missing anywhere in the ring: the ranks are numbered
 * along them. */
static bool is_in_order(const wiring_t *wiring)
{
    int missing = 0;
    for (int h = 0; h < wiring->hosts; h++)
        missing += !wiring->joined[h][(h + 1) % wiring->hosts];
    return wiring->consecutive && missing <= 1;
}

void trv_fabric_find_order(trv_fabric_t *fabric)
{
    int order[HOSTS_MAX];
    size_t used = 0;
    wiring_t *wiring = fabric->options.may_relay && fabric->torus.dims == 1 ? calloc(1, sizeof *wiring) : NULL;
    if (!wiring)
        return;
    const bool found = find_hosts(fabric, wiring);
    for (int h = 0; found && h < wiring->hosts; h++)
        add_ends(fabric, wiring, h);
    for (int i = 0; i < wiring->ends; i++) {
        const int here = wiring->end[i].host, there = other_host(wiring, &wiring->end[i]);
        if (there >= 0)
            wiring->joined[here][there] = wiring->joined[there][here] = true;
    }
    if (found && wiring->hosts > 2 && !is_in_order(wiring) && follow(wiring, order) == wiring->hosts)
        for (int i = 0; i < wiring->hosts && used < sizeof fabric->cable_order; i++)
            used += (size_t)snprintf(fabric->cable_order + used, sizeof fabric->cable_order - used, "%s%s",
                                     i ? ", " : "", fabric->host[wiring->rank[order[i]]]);
    if (used >= sizeof fabric->cable_order)
        memcpy(&fabric->cable_order[sizeof fabric->cable_order - 4], "...", 4);
    free(wiring);
}
