/*
 * Reads a schedule for simulation.
 *
 * If the schedule has a symmetry, only the ranks of one period are read: those with the lowest coordinates of every
 * dimension. They are the ranks of a smaller torus, the fold.
 */
#include "simulate/simulator.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"

typedef struct reading {
    trv_simulator_t *simulator;
    const trv_schedule_t *schedule;
    int64_t sending_capacity, leg_capacity;
    trv_step_t step;
    int64_t *met;    /* per rank: the last (rank, stream) that has sent it a part, counted from 1 */
    int64_t present; /* the (rank, stream) that is read */
} reading_t;

int trv_simulator_class(const trv_simulator_t *simulator, int rank)
{
    int coordinates[TRV_DIMS_MAX];
    trv_torus_coordinates(&simulator->torus, rank, coordinates);
    for (int d = 0; d < simulator->torus.dims; d++)
        coordinates[d] %= simulator->fold.size[d];
    return trv_torus_rank(&simulator->fold, coordinates);
}

static int check_message(const trv_torus_t *torus, int rank, const trv_message_t *m)
{
    int ports = trv_port_count(torus);
    if (m->peer < 0 || m->peer >= torus->ranks || m->peer == rank || m->port < 0 || m->port >= ports || m->nic >= ports)
        return trv_fail(TRV_ERR_INVALID,
                        "rank %d has a message to or from rank %d by port %d; peers are the other "
                        "ranks of 0 to %d, ports 0 to %d (verify the schedule first)",
                        rank, m->peer, m->port, torus->ranks - 1, ports - 1);
    return TRV_OK;
}

static int read_send(reading_t *reading, int rank, int stream, const trv_message_t *message)
{
    trv_simulator_t *s = reading->simulator;
    int rc = check_message(&s->torus, rank, message);
    if (rc)
        return rc;
    trv_legs_t legs = trv_legs(&s->torus, rank, message->peer, message->port,
                               trv_schedule_mirrored(reading->schedule, stream));
    if (s->sends >= TRV_ARRAY_MAX - 1 || s->legs >= TRV_ARRAY_MAX - TRV_DIMS_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the schedule has more than a billion messages or legs of their routes");
    if (trv_array_reserve(&s->send, &reading->sending_capacity, (int64_t)s->sends, 1, sizeof *s->send) ||
        trv_array_reserve(&s->leg, &reading->leg_capacity, (int64_t)s->legs, legs.count, sizeof *s->leg))
        return TRV_ERR_MEMORY;
    const int64_t units = trv_message_units(reading->schedule, message);
    const bool opens = units < trv_schedule_units(reading->schedule) && reading->met[message->peer] != reading->present;
    if (opens)
        reading->met[message->peer] = reading->present;
    s->send[s->sends++] = (send_t){.shares = units * trv_schedule_weight(reading->schedule, stream),
                                   .first_leg = (uint32_t)s->legs,
                                   .legs = (int16_t)legs.count,
                                   .nic = (int16_t)message->nic,
                                   .opens = opens};
    memcpy(&s->leg[s->legs], legs.leg, (size_t)legs.count * sizeof *s->leg);
    s->legs += (size_t)legs.count;
    const int hops = trv_legs_length(&legs);
    s->message_hops += hops;
    s->byte_hops += (double)hops * (double)s->send[s->sends - 1].shares / (double)s->shares;
    if (hops > s->farthest.hops) {
        s->farthest.from = rank;
        s->farthest.to = message->peer;
        s->farthest.hops = hops;
    }
    return TRV_OK;
}

static int read_receive(reading_t *reading, int rank, int stream, const trv_message_t *message, stage_t *stage)
{
    const trv_torus_t *torus = &reading->simulator->torus;
    int rc = check_message(torus, rank, message);
    if (rc)
        return rc;
    trv_route_t route;
    trv_route_begin(&route, torus, message->peer, rank, message->port,
                    trv_schedule_mirrored(reading->schedule, stream));
    const int length = trv_route_length(&route), hops = length < UINT16_MAX ? length : UINT16_MAX;
    const int64_t shares = trv_message_units(reading->schedule, message) *
                           trv_schedule_weight(reading->schedule, stream);
    for (int i = 0; i < INCOMING; i++) {
        const int farther = hops - stage->incoming_hops[i];
        const int64_t larger = shares - stage->incoming_shares[i];
        if (i == FARTHEST ? farther > 0 || (farther == 0 && larger > 0) : larger > 0 || (larger == 0 && farther > 0)) {
            stage->incoming_hops[i] = (uint16_t)hops;
            stage->incoming_shares[i] = shares;
        }
    }
    return TRV_OK;
}

static int read_stage(reading_t *reading, int rank, int stream, int step, stage_t *stage)
{
    trv_step_t *in = &reading->step;
    int rc = trv_schedule_step(reading->schedule, rank, stream, step, in);
    if (!rc && (in->sends > UINT16_MAX || in->receives > UINT16_MAX))
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "rank %d has more than %d messages in a step", rank, UINT16_MAX);
    *stage = (stage_t){.first_send = (uint32_t)reading->simulator->sends,
                       .sends = (uint16_t)in->sends,
                       .receives = (uint16_t)in->receives};
    for (int i = 0; i < in->sends && !rc; i++) {
        rc = read_send(reading, rank, stream, &in->send[i]);
        stage->opened += !rc && reading->simulator->send[reading->simulator->sends - 1].opens;
    }
    for (int i = 0; i < in->receives && !rc; i++)
        rc = read_receive(reading, rank, stream, &in->receive[i], stage);
    for (int i = 0; i < in->combines && !rc; i++)
        if (in->combine[i].sources > 1)
            stage->reduced_shares += in->combine[i].sources * trv_blocks_count(&in->combine[i].blocks) *
                                     trv_schedule_weight(reading->schedule, stream);
    return rc;
}

static int read_schedule(reading_t *reading)
{
    trv_simulator_t *s = reading->simulator;
    size_t stages = (size_t)s->fold.ranks * (size_t)s->streams * (size_t)s->steps;
    s->stage = malloc((stages + 1) * sizeof *s->stage);
    if (!s->stage)
        return trv_fail_memory();
    stage_t *stage = s->stage;
    for (int class = 0; class < s->fold.ranks; class ++) {
        int coordinates[TRV_DIMS_MAX];
        trv_torus_coordinates(&s->fold, class, coordinates);
        int rank = trv_torus_rank(&s->torus, coordinates);
        for (int stream = 0; stream < s->streams; stream++, reading->present++)
            for (int step = 0; step < s->steps; step++) {
                int rc = read_stage(reading, rank, stream, step, stage++);
                if (rc)
                    return rc;
            }
    }
    return TRV_OK;
}

int trv_simulator_create(trv_simulator_t **created, const trv_schedule_t *schedule)
{
    *created = NULL;
    trv_simulator_t *s = calloc(1, sizeof *s);
    if (!s)
        return trv_fail_memory();
    strncpy(s->name, trv_schedule_name(schedule), sizeof s->name - 1);
    int fold[TRV_DIMS_MAX];
    s->torus = *trv_schedule_torus(schedule);
    s->streams = trv_schedule_streams(schedule);
    s->steps = trv_schedule_steps(schedule);
    s->shares = (uint64_t)trv_schedule_shares(schedule);
    for (int d = 0; d < s->torus.dims; d++)
        fold[d] = trv_schedule_period(schedule, d);
    int rc = trv_torus_init(&s->fold, s->torus.dims, fold);
    reading_t reading = {.simulator = s, .schedule = schedule, .step = TRV_STEP_INIT, .present = 1};
    reading.met = rc ? NULL : calloc((size_t)s->torus.ranks, sizeof *reading.met);
    if (!rc)
        rc = reading.met ? read_schedule(&reading) : trv_fail_memory();
    free(reading.met);
    trv_step_clear(&reading.step);
    if (rc)
        trv_simulator_destroy(s);
    else
        *created = s;
    return rc;
}

int trv_simulator_simultaneous(const trv_simulator_t *simulator)
{
    const size_t stages = (size_t)simulator->fold.ranks * (size_t)simulator->streams * (size_t)simulator->steps;
    int most = 0;
    for (size_t i = 0; i < stages; i++) {
        const stage_t *stage = &simulator->stage[i];
        const int messages = stage->sends > stage->receives ? stage->sends : stage->receives;
        most = messages > most ? messages : most;
    }
    return most;
}

void trv_simulator_destroy(trv_simulator_t *simulator)
{
    if (!simulator)
        return;
    free(simulator->stage);
    free(simulator->send);
    free(simulator->leg);
    free(simulator);
}

trv_network_t trv_simulate_network(const trv_torus_t *torus, const trv_simulate_options_t *options)
{
    trv_network_t network = {TRV_NETWORK,
                             .torus = *torus,
                             .slow_links = options->slow_links,
                             .slow_link = options->slow_link,
                             .routes = options->routes,
                             .no_forwarding = options->no_forwarding};
    network.messages_per_port = (int)options->messages_per_port;
    return network;
}
