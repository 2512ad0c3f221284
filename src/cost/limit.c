/*
 * Lower bounds on the time of any schedule on a network (docs/networks.md):
 *
 *   start-up   one step, and the path between the farthest pair of ranks, which one message or several successive ones
 *              take. A rank that sends one message by each of its p ports in a step reaches at most (p + 1)^s ranks in s
 *              steps. A rank may send several messages per port, so this number of steps is reported (steps_ns), but is
 *              not part of the bound
 *   sets       the data that other ranks need from a set of ranks must leave the set: for an AllReduce the whole vector,
 *              and as much must enter. The sets considered are all single ranks and, in every dimension, all slices
 *              between two gaps
 *   links      a byte crosses n - 1 links to be reduced from n ranks, and n - 1 to be distributed to them
 *
 * A link that is slow by a factor F has 1/F of the capacity, a cut link has none. If a packet has arrived when its head
 * has, every link may still carry its last packet at the end: the bytes of that packet need not cross it in time.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <trivance/cost.h>

#include "base/error.h"
#include "schedule/collective.h"

#define SLICES_MAX 1024 /* with more ranks along a dimension, only slices of one and of half the ranks are considered */

typedef struct limits {
    const trv_torus_t *torus;
    trv_collective_t collective;
    int ports;
    double *capacity;      /* rank * ports + port, as a fraction of a regular link; 0: no link */
    double *ahead, *back;  /* capacity across each gap of a dimension, from coordinate g to g + 1, and the reverse */
    int *queue, *hops;     /* for a breadth-first search over all ranks */
    double vector, unpaid; /* bytes; unpaid: bytes that a link may still carry at the end */
    double bytes_per_link; /* maximum over the sets considered so far */
} limits_t;

static size_t link_of(const limits_t *l, int rank, int port) { return (size_t)rank * (size_t)l->ports + (size_t)port; }

static bool is_line(const limits_t *l, int d) { return l->torus->lines >> d & 1; }

/* The neighbour of a rank by a port; -1 at the end of a line. */
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

/* The hops from a rank to the farthest one, without cut links; 0 if some rank cannot be reached. */
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

/* The largest distance between two ranks without cuts, or from a rank that a cut link leaves. */
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

/* Considers a set of this many ranks. out, in: the capacities of the links that leave and enter it, at most `links`
 * each. */
static void look_at(limits_t *l, double ranks, double links, double out, double in)
{
    const double share = ranks / l->torus->ranks;
    double leaves = 1, enters = 1; /* fractions of the vector */
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

/* Considers the slices of a dimension: between any two gaps; of a line, those before each gap. */
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
    for (int g = 0; g < size; g++) /* all slices that end at gap g; see SLICES_MAX */
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

/* ---- The limit --------------------------------------------------------------------------------------------------- */

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

int trv_limit_find(const trv_network_t *network, const trv_hockney_t *times, trv_collective_t collective, int root,
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
    int code = trv_collective_check(collective, root);
    if (code)
        return code;
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
