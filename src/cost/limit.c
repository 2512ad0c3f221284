/*
 * Lower bounds on the time of any schedule on a network (docs/networks.md):
 *
 *   start-up   the steps of a chain of messages, and the hops that they travel. An element travels in one stream. If a
 *              rank with p ports sends at most P p messages of a stream in a step, the data of one rank is on at most
 *              (1 + P p)^s ranks when s steps can have begun one after another: every rank that has it passes it on to
 *              at most P p others, which can do so in their next step. So one of the k ranks at h hops or more needs s
 *              steps with (1 + P p)^s > k, a message, and h hops. That holds for every collective in which all ranks
 *              need data of one rank: the root, the owner of a block, any rank of an AllReduce or all-to-all. Where one
 *              rank needs the data of all, it holds backwards: at most P p messages arrive in a step, each with the
 *              data of its sender when that began its own step. On a network that does not forward every hop is a
 *              message, which begins with a step of its own, and a port leads to a single rank. Without a limit P, one
 *              step is enough
 *   sets       the data that other ranks need from a set of ranks must leave the set: for an AllReduce the whole
 *              vector, and as much must enter. The sets considered are all single ranks and, in every dimension, all
 *              slabs between two gaps
 *   links      a byte crosses n - 1 links to be reduced from n ranks, and n - 1 to be distributed to them. Where each
 *              rank needs other data (scatter, gather, all-to-all), a byte crosses in every dimension at least as many
 *              links as its two ranks are apart
 *
 * A link that is slow by a factor F has 1/F of the capacity, a cut link has none. If a packet counts as delivered when
 * its head arrives, every link may still carry its last packet at the end, so these bytes in flight are not counted.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <trivance/cost.h>

#include "base/error.h"
#include "schedule/collective.h"
#include "torus/rows.h"
#include "torus/torus.h"

#define SLABS_MAX 1024 /* with more ranks along a dimension, only slabs of one and of half the ranks are considered */

typedef struct limits {
    const trv_torus_t *torus;
    const trv_collective_shape_t *shape;
    trv_collective_t collective;
    int root; /* -1: the collective has none */
    int ports;
    double *capacity; /* rank * ports + port, as a fraction of a regular link; 0: no link */
    double *forward,
        *backward; /* capacity across gap g of a dimension, from coordinate g to g + 1, and in the other direction */
    int *queue, *hops;        /* for a breadth-first search over all ranks */
    double vector, in_flight; /* bytes; in_flight: bytes that a link may still carry at the end */
    double bytes_per_link;    /* maximum over the sets considered so far */
} limits_t;

static size_t link_of(const limits_t *l, int rank, int port) { return (size_t)rank * (size_t)l->ports + (size_t)port; }

static bool is_line(const limits_t *l, int d) { return l->torus->lines >> d & 1; }

static int limits_set_capacity(limits_t *l, const trv_network_t *network)
{
    for (int rank = 0; rank < l->torus->ranks; rank++)
        for (int port = 0; port < l->ports; port++)
            l->capacity[link_of(l, rank, port)] = trv_torus_neighbour(l->torus, rank, port) >= 0;
    for (int i = 0; i < network->slow_links; i++) {
        const trv_slow_link_t *link = &network->slow_link[i];
        const int rc = trv_link_check(l->torus, link);
        if (rc)
            return rc;
        l->capacity[link_of(l, link->rank, link->port)] = 1 / link->factor;
    }
    return TRV_OK;
}

/* ---- Start-up ---------------------------------------------------------------------------------------------------- */

/* The number of ranks that can have the data of one after a step, for each that had it before; INFINITY: any. */
static double limits_fan_out(const trv_network_t *network)
{
    const double per_port = network->no_forwarding           ? 1
                            : network->messages_per_port > 0 ? network->messages_per_port
                                                             : INFINITY;
    return 1 + per_port * trv_torus_ports(&network->torus);
}

/* The least number of steps in which `ranks` others can have the data of a rank. */
static int limits_steps(double fan_out, int ranks)
{
    int steps = ranks > 0;
    for (double reached = fan_out; reached <= ranks; reached *= fan_out)
        steps++;
    return steps;
}

/* Finds the ranks that a message from `from` can reach or, backwards, those that reach it, in the order of their hops.
 * Returns their number. */
static int limits_find_hops(limits_t *l, int from, bool backwards)
{
    int first = 0, last = 0;
    for (int rank = 0; rank < l->torus->ranks; rank++)
        l->hops[rank] = -1;
    l->hops[l->queue[last++] = from] = 0;
    while (first < last) {
        const int rank = l->queue[first++];
        for (int port = 0; port < l->ports; port++) {
            const int next = trv_torus_neighbour(l->torus, rank, port);
            if (next >= 0 && l->hops[next] < 0 &&
                l->capacity[backwards ? link_of(l, next, trv_port_opposite(port)) : link_of(l, rank, port)] > 0)
                l->hops[l->queue[last++] = next] = l->hops[rank] + 1;
        }
    }
    return last;
}

/* Raises the bounds to those of the data that all ranks need from `from`, or that it needs from all. */
static void limits_add_start(limits_t *l, const trv_network_t *network, const trv_hockney_t *times, int from,
                             trv_limit_t *limit)
{
    const bool backwards = l->collective == TRV_REDUCE || l->collective == TRV_GATHER;
    const int ranks = limits_find_hops(l, from, backwards);
    const int farthest = l->hops[l->queue[ranks - 1]];
    const double fan_out = limits_fan_out(network);
    for (int i = 1; i < ranks; i++) {
        const int hops = l->hops[l->queue[i]];
        const int least = limits_steps(fan_out, ranks - i),
                  steps = network->no_forwarding && hops > least ? hops : least;
        limit->startup_ns = fmax(limit->startup_ns, steps * times->alpha_ns + hops * times->hop_ns +
                                                        (network->no_forwarding ? hops : 1) * times->message_ns);
    }
    const int all = limits_steps(fan_out, l->torus->ranks - 1);
    const int steps = network->no_forwarding && farthest > all ? farthest : all;
    limit->steps_ns = fmax(limit->steps_ns, steps * (times->alpha_ns + times->message_ns) + farthest * times->hop_ns);
}

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

/* The part of the vector that holders inside a set of ranks have, or that those outside have. `share`: the fraction of
 * all ranks that are inside; a unit of every rank counts whole on both sides. */
static double held_inside(trv_holders_t holders, double share, bool has_root)
{
    return holders == TRV_EVERY_RANK ? 1 : holders == TRV_OWNER ? share : has_root;
}

static double held_outside(trv_holders_t holders, double share, bool has_root)
{
    return holders == TRV_EVERY_RANK ? 1 : holders == TRV_OWNER ? 1 - share : !has_root;
}

/* Adds the bound of a set of this many ranks. out, in: the capacities of the links that leave and enter it, at most
 * `links` links each. Data that leave are held inside before and outside after: the product is the part of the vector
 * for all combinations of holders except owner and owner, which no collective has. */
static void limits_add_set(limits_t *l, double ranks, bool has_root, double links, double out, double in)
{
    const double share = ranks / l->torus->ranks, vectors = l->shape->exchanges ? ranks * (1 - share) : 1;
    const trv_holders_t before = l->shape->before, after = l->shape->after;
    const double leaving = vectors * held_inside(before, share, has_root) * held_outside(after, share, has_root);
    const double entering = vectors * held_outside(before, share, has_root) * held_inside(after, share, has_root);
    const double out_bytes = (leaving * l->vector - links * l->in_flight) / out;
    const double in_bytes = (entering * l->vector - links * l->in_flight) / in;
    l->bytes_per_link = fmax(l->bytes_per_link, fmax(out_bytes, in_bytes));
}

static void limits_add_ranks(limits_t *l)
{
    for (int rank = 0; rank < l->torus->ranks; rank++) {
        double out = 0, in = 0;
        for (int port = 0; port < l->ports; port++) {
            const int next = trv_torus_neighbour(l->torus, rank, port);
            out += l->capacity[link_of(l, rank, port)];
            in += next >= 0 ? l->capacity[link_of(l, next, trv_port_opposite(port))] : 0;
        }
        limits_add_set(l, 1, rank == l->root, l->ports, out, in);
    }
}

/* Adds the bounds of the slabs of a dimension: those between any two gaps; of a line, those before each gap. */
static void limits_add_slabs(limits_t *l, int d)
{
    const int size = l->torus->size[d], port = trv_port(d, +1);
    const double layer = (double)l->torus->ranks / size;
    const int root = l->root < 0 ? -1 : trv_torus_coordinate(l->torus, l->root, d);
    for (int g = 0; g < size; g++)
        l->forward[g] = l->backward[g] = 0;
    for (int rank = 0; rank < l->torus->ranks; rank++) {
        int at[TRV_DIMS_MAX];
        trv_torus_coordinates(l->torus, rank, at);
        l->forward[at[d]] += l->capacity[link_of(l, rank, port)];
        l->backward[(at[d] + size - 1) % size] += l->capacity[link_of(l, rank, port + 1)];
    }
    if (is_line(l, d)) {
        for (int g = 0; g < size - 1; g++)
            limits_add_set(l, (g + 1) * layer, root >= 0 && root <= g, layer, l->forward[g], l->backward[g]);
        return;
    }
    for (int g = 0; g < size; g++) /* all slabs that end at gap g; see SLABS_MAX */
        for (int length = 1; length < size; length++) {
            const int before = (g + size - length) % size;
            limits_add_set(l, length * layer, root >= 0 && (g - root + size) % size < length, 2 * layer,
                           l->forward[g] + l->backward[before], l->backward[g] + l->forward[before]);
            if (size > SLABS_MAX && length < size / 2)
                length = size / 2 - 1;
            else if (size > SLABS_MAX)
                break;
        }
}

/* The capacity of the links of one dimension, or of all (-1). */
static double limits_total_capacity(const limits_t *l, int d)
{
    double all = 0;
    for (size_t link = 0; link < (size_t)l->torus->ranks * (size_t)l->ports; link++)
        all += d < 0 || trv_port_dimension((int)(link % (size_t)l->ports)) == d ? l->capacity[link] : 0;
    return all;
}

/* The sum of the distances from one coordinate to all coordinates of a dimension. */
static double distances_from(const limits_t *l, int d, int from)
{
    const int size = l->torus->size[d];
    double sum = 0;
    for (int to = 0; to < size; to++) {
        const int distance = abs(to - from);
        sum += is_line(l, d) || 2 * distance <= size ? distance : size - distance;
    }
    return sum;
}

/* The bytes per link of a collective in which every pair of ranks, or of the root and a rank, has its own data: those
 * that cross the links of a dimension, over the capacity of these. */
static double limits_distances(const limits_t *l, int d)
{
    const int size = l->torus->size[d];
    const double in_flight = (double)l->torus->ranks * 2 * l->in_flight, layer = (double)l->torus->ranks / size;
    double hops = 0; /* of all blocks, each 1/n of the vector */
    if (l->root >= 0)
        hops = layer * distances_from(l, d, trv_torus_coordinate(l->torus, l->root, d));
    for (int from = 0; l->root < 0 && from < size; from++)
        hops += layer * layer * distances_from(l, d, from);
    return fmax(0, hops * l->vector / l->torus->ranks - in_flight) / limits_total_capacity(l, d);
}

/* The maximum over the sets of links considered. */
static double limits_links(const limits_t *l)
{
    const double all_in_flight = (double)l->torus->ranks * l->ports * l->in_flight;
    const bool own_blocks = l->shape->exchanges || (l->root >= 0 && trv_collective_has_owners(l->collective));
    double bytes = 0;
    if (!own_blocks)
        return fmax(0, (l->collective == TRV_ALLREDUCE ? 2 : 1) * (l->torus->ranks - 1.0) * l->vector - all_in_flight) /
               limits_total_capacity(l, -1);
    for (int d = 0; d < l->torus->dims; d++)
        if (l->torus->size[d] > 1)
            bytes = fmax(bytes, limits_distances(l, d));
    return bytes;
}

/* ---- The limit --------------------------------------------------------------------------------------------------- */

static int limits_find(limits_t *l, const trv_network_t *network, const trv_hockney_t *times, trv_limit_t *limit)
{
    const double byte_ns = 8e9 / times->bandwidth_bps;
    int rc = limits_set_capacity(l, network);
    if (rc)
        return rc;
    limits_add_start(l, network, times, l->root < 0 ? 0 : l->root, limit); /* rank 0 is in a corner of a mesh */
    for (int i = 0; i < network->slow_links && l->root < 0; i++)
        if (isinf(network->slow_link[i].factor))
            limits_add_start(l, network, times, network->slow_link[i].rank, limit);
    limits_add_ranks(l);
    for (int d = 0; d < l->torus->dims; d++)
        if (l->torus->size[d] > 1)
            limits_add_slabs(l, d);
    limit->sets_ns = l->bytes_per_link * byte_ns;
    limit->links_ns = limits_links(l) * byte_ns;
    const double transmission_ns = fmax(limit->sets_ns, limit->links_ns);
    limit->time_ns = fmax(limit->startup_ns, transmission_ns);
    limit->reference_ns = limit->steps_ns + transmission_ns;
    return TRV_OK;
}

int trv_limit_find(const trv_network_t *network, const trv_hockney_t *times, trv_collective_t collective, int root,
                   uint64_t vector_bytes, uint64_t in_flight_bytes, trv_limit_t *limit)
{
    const trv_torus_t *torus = &network->torus;
    int rc = trv_collective_check(collective, root, torus->ranks);
    if (rc)
        return rc;
    limits_t l = {.torus = torus,
                  .shape = trv_collective_shape(collective),
                  .collective = collective,
                  .root = trv_collective_has_root(collective) ? root : -1,
                  .ports = trv_port_count(torus),
                  .vector = (double)vector_bytes,
                  .in_flight = (double)in_flight_bytes};
    const size_t ranks = (size_t)torus->ranks;
    *limit = (trv_limit_t){.time_ns = 0};
    if (torus->ranks == 1)
        return TRV_OK;
    l.capacity = malloc(ranks * (size_t)l.ports * sizeof *l.capacity);
    l.forward = malloc(2 * ranks * sizeof *l.forward);
    l.backward = l.forward + ranks;
    l.queue = malloc(2 * ranks * sizeof *l.queue);
    l.hops = l.queue + ranks;
    rc = l.capacity && l.forward && l.queue ? limits_find(&l, network, times, limit) : trv_fail_memory();
    free(l.capacity);
    free(l.forward);
    free(l.queue);
    return rc;
}
