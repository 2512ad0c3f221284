/*
 * What no schedule beats on a network (docs/networks.md):
 *
 *   start-up   a step, and the way between the farthest pair, which some message goes, or several one after another. A
 *              rank that sends one message by each of its p ports in a step has reached (p + 1)^s ranks after s steps;
 *              but there may be several messages, so that these steps are told and not counted
 *   sets       what the others need of a set of ranks leaves it: of an AllReduce the whole vector, and as much enters.
 *              Looked at are all single ranks and, in every dimension, all slices between two gaps
 *   links      a byte crosses n - 1 links to be reduced from n ranks, and n - 1 to be spread to them
 *
 * A link that is F times as slow has 1/F of the capacity, one that is cut none. Where a packet has arrived when its head
 * has, every link may still carry its last packet when all is done: so many bytes less cross it in time.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <trivance/cost.h>

#include "base/error.h"

#define SLICES_MAX 1024 /* ranks along a dimension of which all slices are looked at; else those of one and a half */

typedef struct limits {
    const trv_torus_t *torus;
    trv_collective_t collective;
    int ports;
    double *capacity;      /* rank * ports + port, in links as they should be; 0: there is none */
    double *ahead, *back;  /* across each gap of a dimension, from coordinate g to g + 1 and the other way */
    int *queue, *hops;     /* of a walk over all ranks */
    double vector, unpaid; /* bytes; those that a link may still carry at the end */
    double bytes_per_link; /* the most so far */
} limits_t;

static size_t link_of(const limits_t *l, int rank, int port) { return (size_t)rank * (size_t)l->ports + (size_t)port; }

static bool is_line(const limits_t *l, int d) { return l->torus->lines >> d & 1; }

/* The rank next to this one, or -1 where a line ends. */
static int neighbour(const limits_t *l, int rank, int port)
{
    const int d = trv_port_dimension(port), size = l->torus->size[d];
    int at[TRV_DIMS_MAX];
    trv_torus_coordinates(l->torus, rank, at);
    at[d] += trv_port_sign(port);
    if (size == 1 || (is_line(l, d) && (at[d] < 0 || at[d] == size)))
        return -1;
    at[d] = (at[d] + size) % size;
    return trv_torus_rank(l->torus, at);
}

static int find_capacity(limits_t *l, const trv_network_t *network)
{
    for (int rank = 0; rank < l->torus->ranks; rank++)
        for (int port = 0; port < l->ports; port++)
            l->capacity[link_of(l, rank, port)] = neighbour(l, rank, port) >= 0;
    for (int i = 0; i < network->slow_links; i++) {
        const trv_slow_link_t *link = &network->slow_link[i];
        if (link->rank < 0 || link->rank >= l->torus->ranks || link->port < 0 || link->port >= l->ports ||
            !trv_slow_factor_is_valid(link->factor) || neighbour(l, link->rank, link->port) < 0)
            return trv_fail(TRV_ERR_ARGUMENT,
                            "no link leaves rank %d by port %d, or it is not slower by a factor from 1 to 10^6, but %g",
                            link->rank, link->port, link->factor);
        l->capacity[link_of(l, link->rank, link->port)] = 1 / link->factor;
    }
    return TRV_OK;
}

/* ---- Start-up ---------------------------------------------------------------------------------------------------- */

/* Hops from a rank to the farthest one, over links that are there; 0 where not all can be reached. */
static int walk(limits_t *l, int from)
{
    int first = 0, last = 0;
    for (int rank = 0; rank < l->torus->ranks; rank++)
        l->hops[rank] = -1;
    l->hops[l->queue[last++] = from] = 0;
    while (first < last) {
        const int rank = l->queue[first++];
        for (int port = 0; port < l->ports; port++) {
            const int next = l->capacity[link_of(l, rank, port)] > 0 ? neighbour(l, rank, port) : -1;
            if (next >= 0 && l->hops[next] < 0)
                l->hops[l->queue[last++] = next] = l->hops[rank] + 1;
        }
    }
    return last == l->torus->ranks ? l->hops[l->queue[last - 1]] : 0;
}

/* Without cuts, and from the ranks at cuts. */
static int farthest(limits_t *l, const trv_network_t *network)
{
    int most = 0;
    for (int d = 0; d < l->torus->dims; d++)
        most += is_line(l, d) ? l->torus->size[d] - 1 : l->torus->size[d] / 2;
    for (int i = 0; i < network->slow_links; i++)
        if (isinf(network->slow_link[i].factor)) {
            const int hops = walk(l, network->slow_link[i].rank);
            most = hops > most ? hops : most;
        }
    return most;
}

static int least_steps(const limits_t *l)
{
    int ways = 1, steps = 0;
    for (int d = 0; d < l->torus->dims; d++)
        ways += l->torus->size[d] > 1 ? 2 : 0;
    for (double reached = 1; reached < l->torus->ranks; reached *= ways)
        steps++;
    return steps;
}

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

/* A set of so many ranks, and the capacities of the links that leave and enter it, `links` each way at the most. */
static void look_at(limits_t *l, double ranks, double links, double out, double in)
{
    const double share = ranks / l->torus->ranks;
    double leaves = 1, enters = 1; /* of the vector */
    if (l->collective != TRV_ALLREDUCE) {
        leaves = l->collective == TRV_REDUCE_SCATTER ? 1 - share : share;
        enters = 1 - leaves;
    }
    const double by_out = (leaves * l->vector - links * l->unpaid) / out;
    const double by_in = (enters * l->vector - links * l->unpaid) / in;
    l->bytes_per_link = fmax(l->bytes_per_link, fmax(by_out, by_in));
}

static void look_at_ranks(limits_t *l)
{
    for (int rank = 0; rank < l->torus->ranks; rank++) {
        double out = 0, in = 0;
        for (int port = 0; port < l->ports; port++) {
            const int next = neighbour(l, rank, port);
            out += l->capacity[link_of(l, rank, port)];
            in += next >= 0 ? l->capacity[link_of(l, next, port ^ 1)] : 0;
        }
        look_at(l, 1, l->ports, out, in);
    }
}

/* The slice between a gap and the next one that leaves least; of a line also what lies before a gap. */
static void look_at_slices(limits_t *l, int d)
{
    const int size = l->torus->size[d], port = trv_port(d, +1);
    const double layer = (double)l->torus->ranks / size;
    for (int g = 0; g < size; g++)
        l->ahead[g] = l->back[g] = 0;
    for (int rank = 0; rank < l->torus->ranks; rank++) {
        int at[TRV_DIMS_MAX];
        trv_torus_coordinates(l->torus, rank, at);
        l->ahead[at[d]] += l->capacity[link_of(l, rank, port)];
        l->back[(at[d] + size - 1) % size] += l->capacity[link_of(l, rank, port + 1)];
    }
    if (is_line(l, d)) {
        for (int g = 0; g < size - 1; g++)
            look_at(l, (g + 1) * layer, layer, l->ahead[g], l->back[g]);
        return;
    }
    for (int g = 0; g < size; g++) /* the halves, and all slices that end at the gap with least capacity */
        for (int length = 1; length < size; length++) {
            const int before = (g + size - length) % size;
            look_at(l, length * layer, 2 * layer, l->ahead[g] + l->back[before], l->back[g] + l->ahead[before]);
            if (size > SLICES_MAX && length < size / 2)
                length = size / 2 - 1;
            else if (size > SLICES_MAX)
                break;
        }
}

static double all_capacity(const limits_t *l)
{
    double all = 0;
    for (size_t link = 0; link < (size_t)l->torus->ranks * (size_t)l->ports; link++)
        all += l->capacity[link];
    return all;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int find(limits_t *l, const trv_network_t *network, const trv_hockney_t *times, trv_limit_t *limit)
{
    const double byte_ns = 8e9 / times->bandwidth_bps, others = l->torus->ranks - 1;
    const double crossings = (l->collective == TRV_ALLREDUCE ? 2 : 1) * others * l->vector;
    const double all_unpaid = (double)l->torus->ranks * l->ports * l->unpaid;
    int rc = find_capacity(l, network);
    if (rc)
        return rc;
    const double way_ns = farthest(l, network) * times->hop_ns;
    limit->startup_ns = times->alpha_ns + way_ns;
    limit->steps_ns = least_steps(l) * times->alpha_ns + way_ns;
    look_at_ranks(l);
    for (int d = 0; d < l->torus->dims; d++)
        if (l->torus->size[d] > 1)
            look_at_slices(l, d);
    limit->sets_ns = l->bytes_per_link * byte_ns;
    limit->links_ns = fmax(0, (crossings - all_unpaid) * byte_ns / all_capacity(l));
    limit->time_ns = fmax(limit->startup_ns, fmax(limit->sets_ns, limit->links_ns));
    return TRV_OK;
}

int trv_limit_find(const trv_network_t *network, const trv_hockney_t *times, trv_collective_t collective,
                   uint64_t vector_bytes, uint64_t unpaid_bytes, trv_limit_t *limit)
{
    const trv_torus_t *torus = &network->torus;
    limits_t l = {.torus = torus,
                  .collective = collective,
                  .ports = 2 * torus->dims,
                  .vector = (double)vector_bytes,
                  .unpaid = (double)unpaid_bytes};
    const size_t ranks = (size_t)torus->ranks;
    *limit = (trv_limit_t){.time_ns = 0};
    if (torus->ranks == 1)
        return TRV_OK;
    l.capacity = malloc(ranks * (size_t)l.ports * sizeof *l.capacity);
    l.ahead = malloc(2 * ranks * sizeof *l.ahead);
    l.back = l.ahead + ranks;
    l.queue = malloc(2 * ranks * sizeof *l.queue);
    l.hops = l.queue + ranks;
    int rc = l.capacity && l.ahead && l.queue ? find(&l, network, times, limit) : trv_fail_memory();
    free(l.capacity);
    free(l.ahead);
    free(l.queue);
    return rc;
}
