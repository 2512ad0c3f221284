/*
 * Measures the cost of a schedule: routes every message over the torus and adds up the load of each directed link.
 *
 * Loads are integers, in shares of the vector (trv_schedule_shares); one division at the end makes them fractions of
 * it. If a schedule is invariant under translation, all links that differ by such a translation have the same load.
 * Then only the ranks of one period send, and links are distinguished only up to translation. With full translation
 * symmetry these are rank 0 and the 2D links of one node, and the link of a (dimension, sign) carries the sum of units
 * times hops in that direction.
 *
 * Source: the congestion-aware Hockney model of the paper, section 2.1.
 */
#include "cost/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "torus/reach.h"

#define REPORT_RANKS 4096 /* ranks between two progress reports: about 10 ms */

typedef struct load {
    int64_t shares;
    int64_t messages;
} load_t;

typedef struct meter {
    const trv_schedule_t *schedule;
    const trv_torus_t *torus;
    const trv_network_t *on;      /* slow and cut links, and whether it forwards; NULL: a whole torus */
    const uint64_t *vector_bytes; /* per size */
    int sizes;
    int period[TRV_DIMS_MAX];
    int classes;   /* number of ranks of one period */
    int *class_of; /* per rank; NULL if there is only one class */
    int *rank_of;  /* per class: its rank with the lowest number */
    size_t links;
    double *slowness;        /* factor per link; NULL: all links are equal */
    load_t *link;            /* class * 2D + port */
    uint64_t *link_bytes;    /* link * sizes + size */
    uint64_t *message_bytes; /* present message, per size */
    int64_t *sent;           /* shares per class, all steps so far */
    trv_step_t step;
    /* The present step: */
    int64_t largest; /* shares of its largest message */
    int64_t messages;
    int hops;
    int64_t done; /* ranks that were routed, over all steps so far, for the progress */
    trv_span_t part;
} meter_t;

/* ---- Set-up ---------------------------------------------------------------------------------------------------- */

static int meter_class_of(const meter_t *meter, int rank)
{
    int class = 0, coordinates[TRV_DIMS_MAX];
    trv_torus_coordinates(meter->torus, rank, coordinates);
    for (int d = 0; d < meter->torus->dims; d++)
        class = class * meter->period[d] + coordinates[d] % meter->period[d];
    return class;
}

static bool meter_has_slow_links(const meter_t *meter) { return meter->on && meter->on->slow_links > 0; }

static void meter_choose_period(meter_t *meter)
{
    meter->classes = 1;
    for (int d = 0; d < meter->torus->dims; d++)
        meter->classes *= meter->period[d] = meter_has_slow_links(meter) ? meter->torus->size[d]
                                                                         : trv_schedule_period(meter->schedule, d);
}

/* With slow links every rank is its own class, so links have indices rank * 2D + port. If a link has several entries,
 * the last counts. */
static int meter_add_slow_links(meter_t *meter)
{
    const int ports = trv_port_count(meter->torus);
    if (!meter_has_slow_links(meter))
        return TRV_OK;
    meter->slowness = malloc(meter->links * sizeof *meter->slowness);
    if (!meter->slowness)
        return trv_fail_memory();
    for (size_t l = 0; l < meter->links; l++)
        meter->slowness[l] = 1;
    for (int i = 0; i < meter->on->slow_links; i++) {
        const trv_slow_link_t *link = &meter->on->slow_link[i];
        if (link->rank < 0 || link->rank >= meter->torus->ranks || link->port < 0 || link->port >= ports)
            return trv_fail(TRV_ERR_ARGUMENT,
                            "there is no link of rank %d at port %d on a torus of %d ranks with %d ports each",
                            link->rank, link->port, meter->torus->ranks, ports);
        meter->slowness[link->rank * ports + link->port] = link->factor;
    }
    return TRV_OK;
}

static int meter_open(meter_t *meter, const trv_schedule_t *schedule, const trv_network_t *on,
                      const uint64_t *vector_bytes, int sizes)
{
    *meter = (meter_t){.schedule = schedule,
                       .torus = trv_schedule_torus(schedule),
                       .on = on,
                       .vector_bytes = vector_bytes,
                       .sizes = sizes,
                       .step = TRV_STEP_INIT};
    meter_choose_period(meter);
    size_t classes = (size_t)meter->classes, ranks = (size_t)meter->torus->ranks;
    meter->links = classes * (size_t)trv_port_count(meter->torus);
    meter->link = malloc(meter->links * sizeof *meter->link);
    meter->link_bytes = malloc((meter->links * (size_t)sizes + 1) * sizeof *meter->link_bytes);
    meter->message_bytes = malloc(((size_t)sizes + 1) * sizeof *meter->message_bytes);
    meter->sent = calloc(classes, sizeof *meter->sent);
    meter->rank_of = calloc(classes, sizeof *meter->rank_of);
    meter->class_of = classes > 1 ? malloc(ranks * sizeof *meter->class_of) : NULL;
    if (!meter->link || !meter->link_bytes || !meter->message_bytes || !meter->sent || !meter->rank_of ||
        (classes > 1 && !meter->class_of))
        return trv_fail_memory();
    for (int rank = meter->torus->ranks - 1; rank >= 0 && classes > 1; rank--) {
        meter->class_of[rank] = meter_class_of(meter, rank);
        meter->rank_of[meter->class_of[rank]] = rank; /* ranks descend: the lowest of each class remains */
    }
    return meter_add_slow_links(meter);
}

static void meter_close(meter_t *meter)
{
    trv_step_clear(&meter->step);
    free(meter->link);
    free(meter->slowness);
    free(meter->link_bytes);
    free(meter->message_bytes);
    free(meter->sent);
    free(meter->rank_of);
    free(meter->class_of);
}

/* ---- One step -------------------------------------------------------------------------------------------------- */

static void meter_add_load(meter_t *meter, size_t link, int64_t shares, int64_t times)
{
    uint64_t *bytes = &meter->link_bytes[link * (size_t)meter->sizes];
    meter->link[link].shares += shares * times;
    meter->link[link].messages += times;
    for (int size = 0; size < meter->sizes; size++)
        bytes[size] += meter->message_bytes[size] * (uint64_t)times;
}

static int meter_route(meter_t *meter, int stream, int rank, const trv_message_t *message)
{
    const trv_torus_t *torus = meter->torus;
    int ports = trv_port_count(torus), port, node;
    if (message->peer < 0 || message->peer >= torus->ranks || message->port < 0 || message->port >= ports)
        return trv_fail(TRV_ERR_INVALID,
                        "rank %d sends to rank %d by port %d; ranks are 0 to %d and ports 0 to %d (verify the "
                        "schedule first)",
                        rank, message->peer, message->port, torus->ranks - 1, ports - 1);
    const int64_t units = trv_message_units(meter->schedule, message);
    const int64_t shares = units * trv_schedule_weight(meter->schedule, stream);
    for (int size = 0; size < meter->sizes; size++)
        meter->message_bytes[size] = trv_units_bytes(meter->schedule, stream, units, meter->vector_bytes[size]);
    trv_route_t route;
    trv_route_begin(&route, torus, rank, message->peer, message->port, trv_schedule_mirrored(meter->schedule, stream));
    int hops = trv_route_length(&route);
    const int rc = trv_check_hops(meter->on && meter->on->no_forwarding, rank, message->peer, hops);
    if (rc)
        return rc;
    meter->hops = hops > meter->hops ? hops : meter->hops;
    meter->largest = shares > meter->largest ? shares : meter->largest;
    if (meter->classes == 1) {
        for (int d = 0; d < torus->dims; d++)
            meter_add_load(meter, (size_t)trv_port(d, route.sign[d]), shares, route.hops[d]);
    } else {
        while ((port = trv_route_next(&route, &node)) >= 0)
            meter_add_load(meter, (size_t)meter->class_of[node] * (size_t)ports + (size_t)port, shares, 1);
    }
    return TRV_OK;
}

/* Routes the messages that a rank sends in a step of a stream. */
static int meter_rank(meter_t *meter, int stream, int step, int class)
{
    int rank = meter->rank_of[class], rc = trv_schedule_step(meter->schedule, rank, stream, step, &meter->step);
    for (int i = 0; i < meter->step.sends && !rc; i++) {
        rc = meter_route(meter, stream, rank, &meter->step.send[i]);
        meter->sent[class] += trv_message_units(meter->schedule, &meter->step.send[i]) *
                              trv_schedule_weight(meter->schedule, stream);
    }
    meter->messages += meter->step.sends;
    return rc;
}

/* The whole work consists of all ranks of one period, in all steps of all streams. */
static int meter_report(const meter_t *meter)
{
    double parts = (double)trv_schedule_steps(meter->schedule) * trv_schedule_streams(meter->schedule);
    return trv_span_report(meter->part, (double)meter->done / (parts * meter->classes));
}

/* Routes all messages of a step, all streams together. */
static int meter_step(meter_t *meter, int step)
{
    memset(meter->link, 0, meter->links * sizeof *meter->link);
    memset(meter->link_bytes, 0, meter->links * (size_t)meter->sizes * sizeof *meter->link_bytes);
    meter->largest = meter->messages = meter->hops = 0;
    for (int stream = 0; stream < trv_schedule_streams(meter->schedule); stream++)
        for (int class = 0; class < meter->classes; class ++) {
            int rc = meter_rank(meter, stream, step, class);
            if (!rc && ++meter->done % REPORT_RANKS == 0)
                rc = meter_report(meter);
            if (rc)
                return rc;
        }
    return TRV_OK;
}

static load_t meter_busiest(const meter_t *meter)
{
    load_t max = {0, 0};
    for (size_t l = 0; l < meter->links; l++) {
        const load_t *load = &meter->link[l];
        max.shares = load->shares > max.shares ? load->shares : max.shares;
        max.messages = load->messages > max.messages ? load->messages : max.messages;
    }
    return max;
}

/* The load of the busiest link in bytes; those of a slow link count with its factor. */
static double meter_busiest_bytes(const meter_t *meter, int size)
{
    double max = 0;
    for (size_t l = 0; l < meter->links; l++) {
        double bytes = (double)meter->link_bytes[l * (size_t)meter->sizes + (size_t)size];
        if (meter->slowness && bytes > 0)
            bytes *= meter->slowness[l];
        max = bytes > max ? bytes : max;
    }
    return max;
}

static int meter_check_cuts(const meter_t *meter, int step)
{
    const int ports = trv_port_count(meter->torus);
    char port[TRV_PORT_TEXT_MAX];
    for (size_t l = 0; meter->slowness && l < meter->links; l++)
        if (isinf(meter->slowness[l]) && meter->link[l].messages > 0)
            return trv_fail(TRV_ERR_UNSUPPORTED, "a message of step %d of %s needs the link %d:%s, which is cut", step,
                            trv_schedule_name(meter->schedule), (int)l / ports, trv_port_format((int)l % ports, port));
    return TRV_OK;
}

/* ---- All steps ------------------------------------------------------------------------------------------------- */

static void meter_add_times(const meter_t *meter, const trv_hockney_t *network, double *time_ns)
{
    for (int size = 0; size < meter->sizes; size++)
        time_ns[size] += network->alpha_ns + network->message_ns +
                         8e9 * meter_busiest_bytes(meter, size) / network->bandwidth_bps +
                         network->hop_ns * meter->hops;
}

/* Computes lambda, delta and theta from the sums over all steps. */
static void meter_set_factors(const meter_t *meter, int64_t carried, trv_cost_t *cost)
{
    int64_t vector = trv_schedule_shares(meter->schedule), sent = 0;
    int dims = 0;
    for (int class = 0; class < meter->classes; class ++)
        sent = meter->sent[class] > sent ? meter->sent[class] : sent;
    for (int d = 0; d < meter->torus->dims; d++)
        dims += meter->torus->size[d] > 1;
    cost->lambda = meter->torus->ranks > 1 ? cost->steps * log(3.0) / log(meter->torus->ranks) : 0.0;
    cost->delta = (double)sent / (2.0 * (double)vector);
    cost->theta = (double)(dims * carried) / (double)vector;
}

static int meter_run(meter_t *meter, const trv_hockney_t *network, trv_cost_t *cost, double *time_ns)
{
    int64_t vector = trv_schedule_shares(meter->schedule), carried = 0;
    for (int step = 0; step < cost->steps; step++) {
        int rc = meter_step(meter, step);
        if (!rc)
            rc = meter_check_cuts(meter, step);
        if (rc)
            return rc;
        load_t max = meter_busiest(meter);
        cost->step[step] = (trv_step_cost_t){.messages = (int)max.messages,
                                             .link_fraction = (double)max.shares / (double)vector,
                                             .port_fraction = (double)meter->largest / (double)vector,
                                             .hops = meter->hops};
        carried += max.shares;
        cost->messages += (uint64_t)meter->messages * (uint64_t)(meter->torus->ranks / meter->classes);
        if (network)
            meter_add_times(meter, network, time_ns);
    }
    meter_set_factors(meter, carried, cost);
    return TRV_OK;
}

static int check_network(const trv_hockney_t *network)
{
    if (network && (!(network->bandwidth_bps > 0) || !(network->alpha_ns >= 0) || !(network->hop_ns >= 0)))
        return trv_fail(TRV_ERR_ARGUMENT,
                        "a network has a bandwidth above 0 and latencies of at least 0, for example 800 Gb/s and 1500 "
                        "ns, not %g b/s, %g ns per step and %g ns per hop",
                        network->bandwidth_bps, network->alpha_ns, network->hop_ns);
    return TRV_OK;
}

int trv_cost_sizes(const trv_schedule_t *schedule, const trv_network_t *on, const trv_hockney_t *network,
                   const uint64_t *vector_bytes, int sizes, trv_span_t part, trv_cost_t *cost, double *time_ns)
{
    meter_t meter;
    memset(cost, 0, sizeof *cost);
    for (int size = 0; size < sizes; size++)
        time_ns[size] = 0;
    int rc = check_network(network);
    if (rc)
        return rc;
    rc = meter_open(&meter, schedule, on, vector_bytes, sizes);
    meter.part = part;
    cost->steps = trv_schedule_steps(schedule);
    cost->step = calloc((size_t)cost->steps + 1, sizeof *cost->step);
    if (!rc && !cost->step)
        rc = trv_fail_memory();
    if (!rc)
        rc = meter_run(&meter, network, cost, time_ns);
    meter_close(&meter);
    if (rc)
        trv_cost_clear(cost);
    return rc;
}

int trv_cost_measure(const trv_schedule_t *schedule, trv_cost_t *cost)
{
    return trv_cost_sizes(schedule, NULL, NULL, NULL, 0, (trv_span_t){0}, cost, NULL);
}

int trv_cost_time_ns(const trv_schedule_t *schedule, const trv_hockney_t *network, uint64_t vector_bytes,
                     double *time_ns)
{
    trv_cost_t cost;
    int rc = trv_cost_sizes(schedule, NULL, network, &vector_bytes, 1, (trv_span_t){0}, &cost, time_ns);
    if (rc)
        *time_ns = 0;
    trv_cost_clear(&cost);
    return rc;
}

void trv_cost_clear(trv_cost_t *cost)
{
    free(cost->step);
    memset(cost, 0, sizeof *cost);
}
