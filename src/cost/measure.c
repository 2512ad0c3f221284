/*
 * What a schedule costs, by routing every message over the torus and adding up what each directed link carries.
 *
 * Loads are counted in units of the schedule, as integers; all streams cut the vector alike, so fractions of the
 * vector are one division at the very end. A schedule that is the same under translation loads all links that differ
 * by such a translation alike: only the ranks of one period send, and links are told apart up to translation. With
 * the full translation symmetry that is rank 0 and the 2D links of one node, and the link of (dimension, sign)
 * carries the sum of units times hops that way.
 *
 * Source: the congestion-aware Hockney model of the paper, section 2.1.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/cost.h>

#include "common/error.h"

typedef struct load {
    int64_t units;
    uint64_t bytes;
    int64_t messages;
} load_t;

typedef struct meter {
    const trv_schedule_t *schedule;
    const trv_torus_t *torus;
    uint64_t vector_bytes; /* for loads in bytes; 0 where only units are asked for */
    int period[TRV_DIMS_MAX];
    int classes;   /* ranks of one period */
    int *class_of; /* of every rank; NULL when there is only one class */
    int *rank_of;  /* the rank of one period in each class */
    load_t *link;  /* class * 2D + port */
    int64_t *sent; /* units, per class, all steps so far */
    trv_step_t step;
    /* Of the present step. */
    int64_t largest; /* units of one message */
    int64_t messages;
    int hops;
} meter_t;

/* ---- Set-up ---------------------------------------------------------------------------------------------------- */

static int class_of_rank(const meter_t *meter, int rank)
{
    int class = 0, coordinates[TRV_DIMS_MAX];
    trv_torus_coordinates(meter->torus, rank, coordinates);
    for (int d = 0; d < meter->torus->dims; d++)
        class = class * meter->period[d] + coordinates[d] % meter->period[d];
    return class;
}

static void choose_period(meter_t *meter)
{
    meter->classes = 1;
    for (int d = 0; d < meter->torus->dims; d++)
        meter->classes *= meter->period[d] = trv_schedule_period(meter->schedule, d);
}

static int meter_open(meter_t *meter, const trv_schedule_t *schedule, uint64_t vector_bytes)
{
    *meter = (meter_t){.schedule = schedule,
                       .torus = trv_schedule_torus(schedule),
                       .vector_bytes = vector_bytes,
                       .step = TRV_STEP_INIT};
    choose_period(meter);
    size_t classes = (size_t)meter->classes, ranks = (size_t)meter->torus->ranks;
    meter->link = malloc(classes * 2 * (size_t)meter->torus->dims * sizeof *meter->link);
    meter->sent = calloc(classes, sizeof *meter->sent);
    meter->rank_of = calloc(classes, sizeof *meter->rank_of);
    meter->class_of = classes > 1 ? malloc(ranks * sizeof *meter->class_of) : NULL;
    if (!meter->link || !meter->sent || !meter->rank_of || (classes > 1 && !meter->class_of))
        return trv_fail_memory();
    for (int rank = meter->torus->ranks - 1; rank >= 0 && classes > 1; rank--) {
        meter->class_of[rank] = class_of_rank(meter, rank);
        meter->rank_of[meter->class_of[rank]] = rank; /* the lowest of each class stays */
    }
    return TRV_OK;
}

static void meter_close(meter_t *meter)
{
    trv_step_clear(&meter->step);
    free(meter->link);
    free(meter->sent);
    free(meter->rank_of);
    free(meter->class_of);
}

/* ---- One step -------------------------------------------------------------------------------------------------- */

static void add_load(load_t *load, int64_t units, uint64_t bytes, int64_t times)
{
    load->units += units * times;
    load->bytes += bytes * (uint64_t)times;
    load->messages += times;
}

static int route_message(meter_t *meter, int stream, int rank, const trv_message_t *message)
{
    const trv_torus_t *torus = meter->torus;
    int ports = 2 * torus->dims, port, node;
    if (message->peer < 0 || message->peer >= torus->ranks || message->port < 0 || message->port >= ports)
        return trv_fail(TRV_ERR_INVALID,
                        "rank %d sends to rank %d by port %d; ranks are 0 to %d and ports 0 to %d (verify the "
                        "schedule first)",
                        rank, message->peer, message->port, torus->ranks - 1, ports - 1);
    int64_t units = trv_message_units(meter->schedule, message);
    uint64_t bytes = trv_units_bytes(meter->schedule, units, meter->vector_bytes);
    trv_route_t route;
    trv_route_begin(&route, torus, rank, message->peer, message->port, trv_schedule_mirrored(meter->schedule, stream));
    int hops = trv_route_length(&route);
    meter->hops = hops > meter->hops ? hops : meter->hops;
    meter->largest = units > meter->largest ? units : meter->largest;
    if (meter->classes == 1) {
        for (int d = 0; d < torus->dims; d++)
            add_load(&meter->link[trv_port(d, route.sign[d])], units, bytes, route.hops[d]);
    } else {
        while ((port = trv_route_next(&route, &node)) >= 0)
            add_load(&meter->link[(size_t)meter->class_of[node] * (size_t)ports + (size_t)port], units, bytes, 1);
    }
    return TRV_OK;
}

/* Routes all messages of a step, all streams together. */
static int meter_step(meter_t *meter, int step)
{
    size_t links = (size_t)meter->classes * 2 * (size_t)meter->torus->dims;
    memset(meter->link, 0, links * sizeof *meter->link);
    meter->largest = meter->messages = meter->hops = 0;
    for (int stream = 0; stream < trv_schedule_streams(meter->schedule); stream++)
        for (int class = 0; class < meter->classes; class ++) {
            int rank = meter->rank_of[class];
            int rc = trv_schedule_step(meter->schedule, rank, stream, step, &meter->step);
            for (int i = 0; i < meter->step.sends && !rc; i++) {
                rc = route_message(meter, stream, rank, &meter->step.send[i]);
                meter->sent[class] += trv_message_units(meter->schedule, &meter->step.send[i]);
            }
            if (rc)
                return rc;
            meter->messages += meter->step.sends;
        }
    return TRV_OK;
}

static load_t busiest(const meter_t *meter)
{
    load_t most = {0, 0, 0};
    for (int l = 0; l < meter->classes * 2 * meter->torus->dims; l++) {
        const load_t *load = &meter->link[l];
        most.units = load->units > most.units ? load->units : most.units;
        most.bytes = load->bytes > most.bytes ? load->bytes : most.bytes;
        most.messages = load->messages > most.messages ? load->messages : most.messages;
    }
    return most;
}

/* ---- All steps ------------------------------------------------------------------------------------------------- */

int trv_cost_measure(const trv_schedule_t *schedule, trv_cost_t *cost)
{
    meter_t meter;
    memset(cost, 0, sizeof *cost);
    int steps = trv_schedule_steps(schedule), dims = 0;
    int rc = meter_open(&meter, schedule, 0);
    int64_t vector = trv_schedule_units(schedule) * trv_schedule_streams(schedule), carried = 0, sent = 0;
    trv_step_cost_t *step_cost = calloc((size_t)steps + 1, sizeof *step_cost);
    if (!rc && !step_cost)
        rc = trv_fail_memory();
    for (int step = 0; step < steps && !rc; step++) {
        rc = meter_step(&meter, step);
        load_t most = busiest(&meter);
        step_cost[step].messages = (int)most.messages;
        step_cost[step].link_fraction = (double)most.units / (double)vector;
        step_cost[step].port_fraction = (double)meter.largest / (double)vector;
        step_cost[step].hops = meter.hops;
        carried += most.units;
        cost->messages += (uint64_t)meter.messages * (uint64_t)(meter.torus->ranks / meter.classes);
    }
    for (int class = 0; class < meter.classes && !rc; class ++)
        sent = meter.sent[class] > sent ? meter.sent[class] : sent;
    meter_close(&meter);
    if (rc) {
        free(step_cost);
        return rc;
    }
    for (int d = 0; d < meter.torus->dims; d++)
        dims += meter.torus->size[d] > 1;
    cost->steps = steps;
    cost->step = step_cost;
    cost->lambda = meter.torus->ranks > 1 ? steps * log(3.0) / log(meter.torus->ranks) : 0.0;
    cost->delta = (double)sent / (2.0 * (double)vector);
    cost->theta = (double)(dims * carried) / (double)vector;
    return TRV_OK;
}

void trv_cost_clear(trv_cost_t *cost)
{
    free(cost->step);
    memset(cost, 0, sizeof *cost);
}

int trv_cost_time_ns(const trv_schedule_t *schedule, const trv_network_t *network, uint64_t vector_bytes,
                     double *time_ns)
{
    meter_t meter;
    *time_ns = 0;
    if (!(network->bandwidth_bps > 0) || !(network->alpha_ns >= 0) || !(network->hop_ns >= 0))
        return trv_fail(TRV_ERR_ARGUMENT,
                        "a network has a bandwidth above 0 and latencies of at least 0, for example 800 Gb/s "
                        "and 1500 ns, not %g b/s, %g ns a step and %g ns a hop",
                        network->bandwidth_bps, network->alpha_ns, network->hop_ns);
    int rc = meter_open(&meter, schedule, vector_bytes);
    double time = 0;
    for (int step = 0; step < trv_schedule_steps(schedule) && !rc; step++) {
        rc = meter_step(&meter, step);
        time += network->alpha_ns + 8e9 * (double)busiest(&meter).bytes / network->bandwidth_bps +
                network->hop_ns * meter.hops;
    }
    meter_close(&meter);
    if (!rc)
        *time_ns = time;
    return rc;
}
