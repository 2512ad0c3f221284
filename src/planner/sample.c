/*
 * Estimates the work and the time of a schedule from the messages of a few sampled ranks.
 */
#include "planner/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "planner/timing.h"
#include "schedule/per_port.h"

#define SAMPLED      4 /* number of sampled ranks */
#define MESSAGE_WORK 2 /* work of reading a message, and of simulating one in addition to its hops, in packet-hops */

bool trv_sample_uses_slow(const trv_network_t *network, const char *name)
{
    const char *at = strchr(name, '@');
    const double avoid = at && network->routes == TRV_ROUTES_CHOSEN ? trv_strtod(at + 1, NULL) : INFINITY;
    for (int i = 0; i < network->slow_links; i++)
        if (network->slow_link[i].factor < avoid)
            return true;
    return false;
}

/* The i-th sampled rank. The sampled ranks lie along the diagonal of the torus, at even and odd coordinates. */
static int sampled_rank(const trv_torus_t *torus, int i)
{
    int coordinate[TRV_DIMS_MAX];
    for (int d = 0; d < torus->dims; d++) {
        const int at = (int)((int64_t)torus->size[d] * i / SAMPLED) + i % 2;
        coordinate[d] = at < torus->size[d] ? at : torus->size[d] - 1;
    }
    return trv_torus_rank(torus, coordinate);
}

/* A model of the schedule. It assumes that all ranks send what the sampled ranks send, and that each step takes as long
 * as its most loaded direction. */
static trv_model_t likely_model(const trv_schedule_t *schedule, const trv_timing_step_t *step, uint64_t vector_bytes)
{
    trv_model_t model = {.steps = trv_schedule_steps(schedule)};
    for (int k = 0; k < trv_schedule_steps(schedule); k++) {
        double load_max = 0;
        for (int port = 0; port < 2 * trv_schedule_torus(schedule)->dims; port++)
            load_max = fmax(load_max, step[k].load[port]);
        model.load += load_max / SAMPLED / fmax(1, (double)vector_bytes);
        model.hops += step[k].hops_max;
    }
    return model;
}

static void fill_sample(const trv_planner_t *planner, const char *name, uint64_t vector_bytes,
                        const trv_schedule_t *schedule, const trv_timing_traffic_t *traffic, trv_sample_t *sample)
{
    const trv_simulate_options_t *network = &planner->network;
    const trv_torus_t *torus = &planner->list.network.torus;
    double classes = 1;
    for (int d = 0; d < torus->dims; d++)
        classes *= trv_schedule_period(schedule, d);
    /* If the schedule uses slow links, all ranks must be simulated. Cut links do not matter: no message passes them. */
    const double ranks = trv_sample_uses_slow(&planner->list.network, name) ? torus->ranks : classes;
    sample->hops = fmax(ranks * traffic->message_hops / SAMPLED,
                        fmin(ranks * traffic->packet_hops / SAMPLED, planner->hops_max));
    sample->messages = classes * traffic->messages / SAMPLED;
    sample->reading = MESSAGE_WORK * sample->messages;
    sample->simulating = sample->hops + MESSAGE_WORK * ranks * traffic->messages / SAMPLED;
    sample->bound_ns = trv_timing_bound_ns(network, traffic);
    sample->per_port = trv_messages_per_port(torus, traffic->simultaneous);
    const trv_model_t likely = likely_model(schedule, traffic->step, vector_bytes);
    sample->likely_ns = trv_planner_estimate(planner, &likely, vector_bytes);
}

int trv_sample_schedule(const trv_planner_t *planner, const char *name, uint64_t vector_bytes, trv_sample_t *sample)
{
    const trv_torus_t *torus = &planner->list.network.torus;
    trv_timing_traffic_t traffic = {0};
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, &planner->list.network, name, planner->list.collective,
                                    planner->list.root);
    if (rc)
        return rc;
    traffic.step = calloc((size_t)trv_schedule_steps(schedule) + 1, sizeof *traffic.step);
    if (!traffic.step)
        rc = trv_fail_memory();
    for (int i = 0; i < SAMPLED && !rc; i++)
        rc = trv_timing_add_traffic(schedule, sampled_rank(torus, i), &planner->network, vector_bytes, &traffic);
    if (!rc)
        fill_sample(planner, name, vector_bytes, schedule, &traffic, sample);
    free(traffic.step);
    trv_schedule_destroy(schedule);
    return rc;
}
