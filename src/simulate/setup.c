/*
 * Creates a network from its parameters, and reads its results.
 */
#include <math.h>
#include <string.h>

#include "base/network_limits.h"
#include "simulate/net.h"
#include "torus/torus.h"

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

int trv_packets_fs(double ns, int64_t *fs)
{
    if (ns > TRV_TIME_MAX_NS)
        return trv_packets_fail_horizon();
    *fs = trv_fs(ns);
    return TRV_OK;
}

/* The time of a flit on a link or through an interface. */
static int64_t flit_fs(double bandwidth_bps) { return llround(TRV_FLIT_BYTES * 8e15 / bandwidth_bps); }

/* The additional time of the reference simulator in each direction between node and router, beyond the latencies of the
 * host's link and of the router's input and output: 0.20 ns, for its crossbar's clock and the flits of the
 * interface. */
static const int64_t host_extra_fs = 200000;

static void set_times(trv_packets_t *net, const trv_simulate_options_t *o)
{
    const int64_t in = trv_fs(o->router_in_ns), out = trv_fs(o->router_out_ns), link = trv_fs(o->link_latency_ns);
    const int64_t host = trv_fs(o->host_latency_ns);
    net->flit = flit_fs(o->bandwidth_bps);
    net->nic_flit = flit_fs(o->nic_bandwidth_bps);
    net->hop = in + out + link + net->nic_flit; /* the crossbar is as fast as an interface */
    net->entry_delay = host + in + host_extra_fs;
    net->exit_delay = host + out + host_extra_fs;
    net->full = net->packet_flits * net->flit;
    net->gap = net->packet_flits * net->nic_flit;
    net->injection_flit = net->nic_flit;
    if (o->injection_bps > 0 && flit_fs(o->injection_bps) > net->nic_flit)
        net->injection_flit = flit_fs(o->injection_bps);
    net->spacing = net->packet_flits * net->injection_flit;
    net->credit_delay = link;
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static void init_links(trv_packets_t *net)
{
    const trv_torus_t *torus = &net->torus;
    for (int node = 0; node < torus->ranks; node++)
        for (int port = 0; port < net->ports; port++) {
            link_t *link = &net->link[(uint32_t)node << net->shift | (uint32_t)port];
            int d = trv_port_dimension(port), ahead = trv_torus_shift(torus, node, d, trv_port_sign(port));
            link->next = (uint32_t)ahead << net->shift | (uint32_t)port;
            if (trv_torus_coordinate(torus, ahead, d) == 0)
                link->next |= LINK_AT_ZERO;
            link->requests = TRV_NONE;
            for (int c = 0; c < 2; c++)
                link->queue[c] = (queue_t){TRV_NONE, TRV_NONE};
        }
    for (uint32_t n = 0; n < 2 * net->links; n++)
        net->input[n] = (input_t){-1, TRV_NONE, TRV_NONE, TRV_NONE};
    for (uint32_t n = 0; n < net->links; n++)
        net->nic[n] = (nic_t){0, TRV_NONE, TRV_NONE, true, (int64_t)net->options.buffer_bytes};
}

static int slow_links(trv_packets_t *net, const trv_simulate_options_t *o)
{
    int rc = TRV_OK;
    for (uint32_t l = 0; l < net->links && net->slow; l++)
        net->link_flit[l] = net->flit;
    for (int i = 0; i < o->slow_links && !rc; i++) {
        const trv_slow_link_t *slow = &o->slow_link[i];
        const double rate_bps = o->bandwidth_bps / slow->factor;
        rc = isinf(slow->factor) ? TRV_OK : trv_packets_check_rate(o, rate_bps);
        net->link_flit[(uint32_t)slow->rank << net->shift | (uint32_t)slow->port] = isinf(slow->factor) || rc
                                                                                        ? TRV_NEVER
                                                                                        : flit_fs(rate_bps);
    }
    return rc;
}

/* Sets the interface of each port, and the time that a flit which leaves by the port occupies it. */
static void share_paths(trv_packets_t *net, const trv_simulate_options_t *o)
{
    const int first = o->shared_paths ? __builtin_ctz(o->shared_paths) : 0;
    const int64_t path = o->path_bps > 0 ? flit_fs(o->path_bps) : net->flit;
    for (int p = 0; p < net->ports; p++) {
        const int d = trv_port_dimension(p);
        const bool shared = o->shared_paths >> d & 1;
        net->path[p] = (uint8_t)(shared ? trv_port(o->one_path ? first : d, 1) : p);
        net->pace[p] = shared && path > net->injection_flit ? path : net->injection_flit;
    }
}

static int allocate(trv_packets_t *net)
{
    size_t links = net->links;
    net->link = aligned_alloc(64, (links * sizeof *net->link + 63) / 64 * 64);
    net->nic = malloc(links * sizeof *net->nic);
    net->input = malloc(2 * links * sizeof *net->input);
    net->admit_list = malloc(2 * links * sizeof *net->admit_list);
    net->follow_list = malloc(2 * links * sizeof *net->follow_list);
    net->choose_list = malloc(links * sizeof *net->choose_list);
    net->lane_of = malloc(net->packet_flits + 1);
    net->link_flit = net->slow ? malloc(links * sizeof *net->link_flit) : NULL;
    net->free_bytes = net->finite ? malloc(2 * links * sizeof *net->free_bytes) : NULL;
    net->load = net->tracked ? calloc(links, sizeof *net->load) : NULL;
    net->waiting = net->tracked ? calloc(links, sizeof *net->waiting) : NULL;
    bool allocated = net->link && net->nic && net->input && net->admit_list && net->follow_list && net->choose_list &&
                     net->lane_of;
    if (!allocated || (net->slow && !net->link_flit) || (net->finite && !net->free_bytes) ||
        (net->tracked && (!net->load || !net->waiting)))
        return trv_fail_memory();
    memset(net->link, 0, links * sizeof *net->link);
    memset(net->lane_of, LANE_UNKNOWN, net->packet_flits + 1);
    for (size_t i = 0; i < 2 * links && net->finite; i++)
        net->free_bytes[i] = (int64_t)net->options.buffer_bytes;
    return TRV_OK;
}

static int packets_build(trv_packets_t *net, const trv_simulate_options_t *o)
{
    net->packet_flits = trv_packet_flits(o);
    net->ports = trv_port_count(&net->torus);
    while (1 << net->shift < net->ports)
        net->shift++;
    if ((uint64_t)net->torus.ranks << net->shift > (uint64_t)1 << 30)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "a torus of %d ranks and %d dimensions is too large to be simulated rank "
                        "by rank; under the model fifo, schedules with a symmetry are not",
                        net->torus.ranks, net->torus.dims);
    net->links = (uint32_t)net->torus.ranks << net->shift;
    set_times(net, o);
    net->dateline = o->model == TRV_DATELINE;
    net->finite = o->buffer_bytes > 0;
    net->slow = o->slow_links > 0;
    net->tracked = net->finite || net->slow || o->link_loads || o->observer || o->balance_ties;
    net->trains = !net->tracked && net->gap <= net->full && net->spacing == net->gap;
    share_paths(net, o);
    int rc = allocate(net);
    if (rc)
        return rc;
    init_links(net);
    return slow_links(net, o);
}

int trv_packets_create(trv_packets_t **created, const trv_torus_t *torus, const trv_simulate_options_t *options,
                       const trv_driver_t *driver)
{
    *created = NULL;
    trv_packets_t *net = calloc(1, sizeof *net);
    if (!net)
        return trv_fail_memory();
    net->torus = *torus;
    net->options = *options;
    net->own_packet_bytes = options->packet_bytes;
    net->driver = *driver;
    net->report_at = UINT64_MAX;
    net->cutoff = TRV_NEVER;
    net->entry_free = net->message_free = net->packet_free = net->deferred_free = TRV_NONE;
    int rc = packets_build(net, options);
    if (rc)
        trv_packets_destroy(net);
    else
        *created = net;
    return rc;
}

void trv_packets_enlarged_from(trv_packets_t *net, uint32_t packet_bytes) { net->own_packet_bytes = packet_bytes; }

void trv_packets_destroy(trv_packets_t *net)
{
    if (!net)
        return;
    free(net->link);
    free(net->nic);
    free(net->input);
    free(net->admit_list);
    free(net->follow_list);
    free(net->choose_list);
    free(net->lane_of);
    free(net->link_flit);
    free(net->free_bytes);
    free(net->load);
    free(net->waiting);
    free(net->entry);
    free(net->message);
    free(net->packet);
    free(net->deferred);
    free(net->flying.at);
    free(net->entering.at);
    free(net->injecting.at);
    free(net->leaving.at);
    free(net->waking.at);
    free(net->admitting.at);
    for (int i = 0; i < TRV_FREE_LANES; i++)
        free(net->freeing[i].at);
    free(net->heap.at);
    free(net);
}

/* ---- For drivers ------------------------------------------------------------------------------------------------- */

int64_t trv_packets_now(const trv_packets_t *net) { return net->now; }

int trv_packets_timer(trv_packets_t *net, int64_t at, uint32_t id)
{
    return trv_due_push(&net->heap, at, due_key(DUE_TIMER, id));
}

trv_legs_t trv_legs(const trv_torus_t *torus, int from, int to, int port, bool mirrored)
{
    trv_legs_t legs = {.count = 0};
    trv_route_t route;
    trv_route_begin(&route, torus, from, to, port, mirrored);
    for (int i = 0; i < torus->dims; i++) {
        int d = route.order[i];
        if (route.hops[d] > 0)
            legs.leg[legs.count++] = (trv_leg_t){(uint32_t)trv_port(d, route.sign[d]), (uint32_t)route.hops[d]};
    }
    return legs;
}

int trv_packets_results(const trv_packets_t *net, trv_simulation_t *result)
{
    result->messages = net->sent;
    result->packets = net->sent_packets;
    result->packet_hops = result->simulated_hops = net->hops;
    if (!net->options.link_loads)
        return TRV_OK;
    result->link = malloc((size_t)net->torus.ranks * (size_t)net->ports * sizeof *result->link);
    if (!result->link)
        return trv_fail_memory();
    for (int node = 0; node < net->torus.ranks; node++)
        memcpy(&result->link[node * net->ports], &net->load[(uint32_t)node << net->shift],
               (size_t)net->ports * sizeof *result->link);
    return TRV_OK;
}

int trv_packets_slowness(const trv_simulate_options_t *o, int ranks, double **slowness)
{
    *slowness = NULL;
    if (o->slow_ranks == 0)
        return TRV_OK;
    double *factor = *slowness = malloc((size_t)ranks * sizeof *factor);
    if (!factor)
        return trv_fail_memory();
    for (int r = 0; r < ranks; r++)
        factor[r] = 1.0;
    for (int i = 0; i < o->slow_ranks; i++)
        factor[o->slow_rank[i].rank] = o->slow_rank[i].factor;
    return TRV_OK;
}

int trv_packets_fail_horizon(void)
{
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    "the simulated time exceeds the simulator's limit of one hour; choose a smaller size or a "
                    "faster network");
}
