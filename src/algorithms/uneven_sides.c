/*
 * The load that the streams of a schedule put on the links, measured on rank 0's messages: with equal weights all
 * ranks, and all links of a dimension, are alike by translation. Streams that begin in one dimension are treated
 * together.
 */
#include "algorithms/uneven_sides.h"

#include <stdlib.h>
#include <string.h>

#include <trivance/algorithms.h>

#include "base/append.h"
#include "base/error.h"
#include "torus/torus.h"

typedef struct measure_rings {
    const trv_schedule_t *schedule;
    int active, dimension[TRV_DIMS_MAX];
    double load[TRV_DIMS_MAX * TRV_DIMS_MAX]; /* [i * active + s]: see trv_weights_balance */
    double messages, peers, injected;         /* maximum over the streams; see trv_model_t */
    double hops;
    double waiting_share; /* the part of a link's load, summed over the steps, for which one stream waits */
    int steps, streams;
    int *met; /* per rank: 1 + the last stream that sent it a message */
    trv_step_t step;
} measure_t;

/* The messages of rank 0 in one stream. */
typedef struct measured_stream {
    double messages, peers, injected;
} measured_stream_t;

/* Adds the messages of rank 0 in a step of a stream. */
static int measure_add_step(measure_t *m, int stream, int step, measured_stream_t *own)
{
    const trv_torus_t *torus = trv_schedule_torus(m->schedule);
    const double slices = (double)trv_schedule_streams(m->schedule) / m->active;
    double largest = 0;
    int longest = 0, rc = trv_schedule_step(m->schedule, 0, stream, step, &m->step);
    for (int k = 0; k < m->step.sends && !rc; k++) {
        const trv_message_t *message = &m->step.send[k];
        const double part = (double)trv_message_units(m->schedule, message) / (double)trv_schedule_units(m->schedule);
        trv_route_t route;
        trv_route_begin(&route, torus, 0, message->peer, message->port, trv_schedule_mirrored(m->schedule, stream));
        for (int i = 0; i < m->active; i++) /* half of them in each direction */
            m->load[i * m->active + stream % m->active] += part * route.hops[m->dimension[i]] / 2 / slices;
        const int hops = trv_route_length(&route);
        longest = hops > longest ? hops : longest;
        largest = part > largest ? part : largest;
        own->peers += m->met[message->peer] != stream + 1;
        m->met[message->peer] = stream + 1;
    }
    own->messages += m->step.sends;
    own->injected += largest / trv_schedule_streams(m->schedule);
    m->hops += longest / (double)trv_schedule_streams(m->schedule);
    return rc;
}

/* Measures the schedule as if all dimensions were rings. */
static int measure_rings(measure_t *m, const trv_collector_t *collector, const char *name)
{
    trv_schedule_t *schedule;
    trv_torus_t rings = *collector->torus;
    rings.lines = 0;
    int rc = trv_schedule_create(&schedule, &rings, name, collector->collective);
    if (rc)
        return rc;
    *m = (measure_t){.schedule = schedule,
                     .step = TRV_STEP_INIT,
                     .waiting_share = 1,
                     .steps = trv_schedule_steps(schedule)};
    m->streams = trv_schedule_streams(schedule);
    m->active = trv_torus_active(collector->torus, m->dimension);
    m->met = calloc((size_t)rings.ranks, sizeof *m->met);
    rc = m->met ? TRV_OK : trv_fail_memory();
    for (int stream = 0; stream < m->streams && !rc; stream++) {
        measured_stream_t own = {0};
        for (int step = 0; step < m->steps && !rc; step++)
            rc = measure_add_step(m, stream, step, &own);
        m->messages = own.messages > m->messages ? own.messages : m->messages;
        m->peers = own.peers > m->peers ? own.peers : m->peers;
        m->injected = own.injected > m->injected ? own.injected : m->injected;
    }
    free(m->met);
    trv_step_clear(&m->step);
    trv_schedule_destroy(schedule);
    return rc;
}

/* Adapts the measurement to lines. A line has half of the links of a ring, and its messages travel up to twice as far.
 * If a ring is folded onto the line, all links are loaded equally, and while a stream waits for its latencies they
 * carry the messages of the other streams that begin in its dimension, half of which travel in its direction. */
static void measure_adapt_to_lines(measure_t *m, const trv_torus_t *torus, bool folded)
{
    for (int i = 0; i < m->active; i++)
        for (int s = 0; s < m->active && trv_torus_is_line(torus, m->dimension[i]); s++)
            m->load[i * m->active + s] *= 2;
    m->hops *= 2;
    if (folded && m->streams > 2 * m->active)
        m->waiting_share = 2.0 * m->active / m->streams;
}

/* Adds the candidate with the given weights, or without weights. */
static int add_candidate(const trv_collector_t *collector, const measure_t *m, const char *name,
                         const trv_weights_t *weights, const char *before)
{
    char weighted[TRV_FULL_NAME_MAX] = "";
    trv_weights_t equal = {.count = m->active};
    for (int s = 0; s < m->active; s++)
        equal.value[s] = 1;
    const double load = trv_weights_load(m->active, m->load, weights ? weights : &equal);
    trv_model_t model = {.steps = m->steps, .hops = m->hops, .load = m->waiting_share * load, .busy = load};
    trv_model_messages(&model, m->messages, m->streams);
    model.injected = m->injected;
    model.parts = m->streams * m->peers;
    if (collector->collective != TRV_ALLGATHER) { /* two received messages are added to the rank's own data in a step */
        model.reductions = collector->collective == TRV_ALLREDUCE ? m->steps / 2.0 : m->steps;
        model.reduced = 1.5;
    }
    trv_append(weighted, sizeof weighted, "%s%s", name, weights ? before : "");
    for (int i = 0; weights && i < weights->count; i++)
        trv_append(weighted, sizeof weighted, i ? "/%d" : "%d", weights->value[i]);
    return strlen(weighted) < TRV_ALGORITHM_NAME_MAX ? collector->add(collector->list, weighted, &model, false)
                                                     : TRV_OK;
}

int trv_uneven_add(const trv_collector_t *collector, const char *name, const char *form, const char *before, int max)
{
    char formed[TRV_ALGORITHM_NAME_MAX] = "";
    trv_weights_t weights[TRV_WEIGHTS_BALANCED_MAX];
    measure_t m;
    int rc = measure_rings(&m, collector, name);
    if (rc)
        return rc;
    const bool lines = collector->torus->lines != 0;
    if (lines)
        measure_adapt_to_lines(&m, collector->torus, *form);
    trv_append(formed, sizeof formed, "%s%s", name, lines ? form : "");
    const int found = trv_weights_balance(m.active, m.load, weights);
    if (found == 0 && lines)
        rc = add_candidate(collector, &m, formed, NULL, before);
    for (int i = 0; i < found && i < max && !rc; i++)
        rc = add_candidate(collector, &m, formed, &weights[i], before);
    return rc;
}
