/*
 * See naive_simulator.h.
 *
 * A *server* processes one packet at a time: the directed links and the network interfaces are servers. A server has a
 * queue per channel and takes the next packet when it is free. All events are in one heap. Events with the same time
 * are ordered by kind, so that all arrivals are queued before any server starts a packet.
 */
#include "naive_heap.h"
#include "naive_shared_paths.h"
#include "naive_simulator.h"

#include <math.h>
#include <stdlib.h>

#include "torus/torus.h"

#define CHANNELS 2

/* Kinds of events, in the order in which simultaneous ones are handled. */
enum { CREDIT, ARRIVE, ADMIT, DELIVER, SENT, ENTER, BEGIN, POST, START };

typedef struct hop {
    int link, channel;           /* …, */
    int back_link, back_channel; /* and those of the other direction */
    bool begins, tied;           /* begins a dimension; and goes half way round it, so that packets may go back */
} hop_t;

typedef struct message {
    int cell, to_cell; /* cells of the sender and of the receiver: (stream * steps + step) * ranks + rank */
    int nic, port;     /* as in the schedule */
    bool opens;        /* the first message of its rank and stream to its peer, with a part of the stream's data */
    uint64_t bytes;
    int64_t packets;
    int hops;
    hop_t *hop;
    int64_t slowest_flit_fs; /* time of a flit on the slowest link of its route */
    int64_t delivered;       /* number of packets */
} message_t;

typedef struct packet {
    struct packet *next;
    message_t *message;
    bool back; /* it takes its present dimension in the other direction */
    int64_t index, flits;
    int hop;             /* its next hop; -1: it waits at its network interface */
    int server;          /* the server that it waits for or has just left */
    int filler, channel; /* the server and channel that filled the buffer it occupies; -1: none */
} packet_t;

typedef struct server {
    packet_t *first[CHANNELS], *last[CHANNELS];
    int next_channel;
    bool asleep; /* a link with nothing to send; it takes a flit's time to wake */
    int64_t flit_fs, free_at;
    int64_t free_bytes[CHANNELS];        /* free bytes of the buffer that it fills */
    int64_t passed_at;                   /* when a packet from here was last admitted by its next router; -1: never */
    packet_t *in, *in_last;              /* packets that wait in that router, in the order of arrival */
    int64_t deferred_at, deferred_round; /* time and round in which the first of these became it: ignored until later */
    int64_t admits_at;                   /* of a link: when its router can move the next packet to it */
} server_t;

typedef struct cell { /* a rank's step of a stream */
    int first, sends; /* its messages */
    int incomplete;   /* number of its sends and receives that are not complete */
    bool busy, begun; /* it sends or receives anything; its alpha is over */
    uint64_t reduced; /* bytes of all operands of its reductions */
} cell_t;

typedef struct world {
    const trv_schedule_t *schedule;
    const trv_torus_t *torus;
    const trv_simulate_options_t *options;
    int streams, steps, ranks, ports;
    server_t *server; /* links, rank * ports + port; then network interfaces, in the same order */
    cell_t *cell;
    int64_t *cpu_free_at; /* per rank: end of the overheads of all messages that it has begun to send */
    message_t *message;
    int messages, unfinished;
    naive_heap_t heap;
    int64_t now, last;
    int64_t in_fs, out_fs, hop_fs; /* from a node to its router's queues; from a router to its node; per hop */
    naive_result_t *result;
} world_t;

static void push(world_t *w, event_t event) { naive_push(&w->heap, event); }

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

static bool is_nic(const world_t *w, int server) { return server >= w->ranks * w->ports; }

static int channel_of(const packet_t *packet)
{
    if (packet->hop < 0)
        return 0;
    const hop_t *hop = &packet->message->hop[packet->hop];
    return packet->back ? hop->back_channel : hop->channel;
}

static void enqueue(world_t *w, packet_t *packet, int server)
{
    server_t *s = &w->server[server];
    int channel = channel_of(packet);
    packet->server = server;
    packet->next = NULL;
    if (s->first[channel])
        s->last[channel]->next = packet;
    else
        s->first[channel] = packet;
    s->last[channel] = packet;
    if (s->asleep)
        s->free_at = w->now + s->flit_fs;
    push(w, (event_t){.at = s->asleep ? s->free_at : w->now, .kind = START, .which = server});
    s->asleep = false;
}

/* The packet leaves its buffer. The server that fills the buffer receives the credit a link's latency later. */
static void release_buffer(world_t *w, packet_t *packet)
{
    if (packet->filler >= 0)
        push(w, (event_t){w->now + fs(w->options->link_latency_ns), CREDIT, packet->channel, packet->filler,
                          packet->flits * FLIT_BYTES, NULL});
}

static bool can_start(const world_t *w, const server_t *server, int channel)
{
    const packet_t *packet = server->first[channel];
    return packet && (!w->options->buffer_bytes || packet->flits * FLIT_BYTES <= server->free_bytes[channel]);
}

/* Schedules the events that follow when a server has just started a packet. */
static void server_sent(world_t *w, packet_t *packet, int64_t busy_fs)
{
    const message_t *message = packet->message;
    if (is_nic(w, packet->server)) {
        if (packet->index == message->packets - 1)
            push(w, (event_t){.at = w->now + busy_fs, .kind = SENT, .which = message->cell});
        push(w, (event_t){.at = w->now + w->in_fs, .kind = ARRIVE, .packet = packet});
    } else {
        w->result->packet_hops++;
        push(w, (event_t){.at = w->now + w->hop_fs, .kind = ARRIVE, .packet = packet});
    }
    packet->hop++;
}

static void start(world_t *w, int number)
{
    server_t *server = &w->server[number];
    if (w->now < server->free_at)
        return;
    int channel = can_start(w, server, server->next_channel) ? server->next_channel : 1 - server->next_channel;
    if (!can_start(w, server, channel)) {
        server->asleep = !is_nic(w, number) && !server->first[0] && !server->first[1];
        return;
    }
    packet_t *packet = server->first[channel];
    server->first[channel] = packet->next;
    server->next_channel = 1 - channel;
    release_buffer(w, packet);
    packet->filler = number;
    packet->channel = channel;
    server->free_bytes[channel] -= packet->flits * FLIT_BYTES;
    int64_t busy = packet->flits * server->flit_fs;
    if (is_nic(w, number))
        busy += naive_lag_fs(w->options, number % w->ports, packet->index, packet->message->packets, packet->flits);
    server->free_at = w->now + busy;
    push(w, (event_t){.at = server->free_at, .kind = START, .which = number});
    server_sent(w, packet, busy);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

static double slowness(const world_t *w, int rank) { return naive_slowness(w->options, rank); }

/* Ends a step that was entered if nothing is left to wait for. */
static void check_end(world_t *w, int number)
{
    const cell_t *cell = &w->cell[number];
    if (!cell->begun || cell->incomplete > 0)
        return;
    int rank = number % w->ranks, step = number / w->ranks % w->steps;
    int64_t end = w->now + llround(naive_reduction_fs(w->options, w->streams, cell->reduced) * slowness(w, rank));
    if (step + 1 < w->steps) {
        push(w, (event_t){.at = end, .kind = ENTER, .which = number + w->ranks});
    } else {
        w->unfinished--;
        w->last = end > w->last ? end : w->last;
    }
}

/* Records that one of the step's sends or receives is complete. */
static void complete_one(world_t *w, int number)
{
    w->cell[number].incomplete--;
    check_end(w, number);
}

/* Whether the rank has sent or received anything in an earlier step of the stream. */
static bool has_been_busy(const world_t *w, int number)
{
    for (int step = number / w->ranks % w->steps; step > 0; step--)
        if (w->cell[number -= w->ranks].busy)
            return true;
    return false;
}

/* The rank of cell `number` enters the step, and begins it after alpha. */
static void enter(world_t *w, int number)
{
    cell_t *cell = &w->cell[number];
    if (!cell->busy) {
        cell->begun = true;
        check_end(w, number);
        return;
    }
    int64_t alpha = fs(w->options->alpha_ns * slowness(w, number % w->ranks));
    const int64_t at = w->now + alpha + (has_been_busy(w, number) ? fs(0.08) : 0);
    push(w, (event_t){.at = at, .kind = BEGIN, .which = number, .key = number});
}

/* The rank pays the overheads of a step's messages after those of the steps that it began earlier. */
static void begin(world_t *w, int number)
{
    cell_t *cell = &w->cell[number];
    int rank = number % w->ranks;
    if (w->cpu_free_at[rank] < w->now)
        w->cpu_free_at[rank] = w->now;
    for (int m = cell->first; m < cell->first + cell->sends; m++) {
        w->cpu_free_at[rank] += fs(w->options->message_overhead_ns * slowness(w, rank));
        if (w->message[m].opens)
            w->cpu_free_at[rank] += fs(w->options->part_overhead_ns * slowness(w, rank));
        push(w, (event_t){w->cpu_free_at[rank], POST, ((int64_t)number << 20) + m - cell->first, m, 0, NULL});
    }
    cell->begun = true;
    check_end(w, number);
}

/* The time until a network interface has injected everything that waits for it. */
static int64_t backlog_fs(const world_t *w, int nic)
{
    const server_t *server = &w->server[nic];
    int64_t backlog = server->free_at > w->now ? server->free_at - w->now : 0;
    for (const packet_t *packet = server->first[0]; packet; packet = packet->next)
        backlog += packet->flits * server->flit_fs;
    return backlog;
}

/* The interface that injects a message: its own port's, or the other of the dimension if that one will be free sooner.
 * With limited buffers that time is unknown, and it is its own port's. */
static int choose_nic(const world_t *w, const message_t *message, int rank)
{
    int base = w->ranks * w->ports + rank * w->ports;
    if (message->nic >= 0)
        return base + naive_path(w->options, message->nic);
    int own = base + naive_path(w->options, message->port), other = base + naive_path(w->options, message->port ^ 1);
    return w->options->buffer_bytes || backlog_fs(w, own) <= backlog_fs(w, other) ? own : other;
}

static void send(world_t *w, message_t *message)
{
    int nic = choose_nic(w, message, message->cell % w->ranks);
    uint64_t remaining = message->bytes;
    for (int64_t i = 0; i < message->packets; i++) {
        packet_t *packet = require(calloc(1, sizeof *packet));
        uint64_t bytes = remaining < w->options->packet_bytes ? remaining : w->options->packet_bytes;
        remaining -= bytes;
        *packet = (packet_t){.message = message, .index = i, .flits = flits_of(bytes), .hop = -1, .filler = -1};
        enqueue(w, packet, nic);
    }
}

static void deliver(world_t *w, packet_t *packet)
{
    message_t *message = packet->message;
    if (++message->delivered == message->packets)
        complete_one(w, message->to_cell);
    free(packet);
}

static void schedule_admission(world_t *w, int link, int64_t at, int64_t round)
{
    push(w, (event_t){.at = at, .kind = ADMIT, .key = round, .which = link});
}

static int output_of(const packet_t *packet)
{
    const hop_t *hop = &packet->message->hop[packet->hop];
    return packet->back ? hop->back_link : hop->link;
}

static int waiting(const server_t *link)
{
    int packets = 0;
    for (int channel = 0; channel < CHANNELS; channel++)
        for (const packet_t *packet = link->first[channel]; packet; packet = packet->next)
            packets++;
    return packets;
}

/* At the beginning of a dimension: a packet that goes half way round it takes the direction in which fewer wait. */
static void choose_direction(const world_t *w, packet_t *packet)
{
    const hop_t *hop = &packet->message->hop[packet->hop];
    if (hop->begins)
        packet->back = w->options->balance_ties && hop->tied &&
                       waiting(&w->server[hop->back_link]) < waiting(&w->server[hop->link]);
}

/* The packet has reached the router at the end of its hop. */
static void arrive(world_t *w, packet_t *packet)
{
    const message_t *message = packet->message;
    server_t *input = &w->server[packet->server];
    if (packet->hop < message->hops) {
        packet->next = NULL;
        choose_direction(w, packet);
        if (input->in)
            input->in_last->next = packet;
        else
            input->in = packet;
        input->in_last = packet;
        if (input->in == packet)
            schedule_admission(w, output_of(packet), w->now, 0);
        return;
    }
    input->passed_at = w->now;
    release_buffer(w, packet); /* a node accepts every packet at once */
    int64_t tail = w->options->delivery == TRV_DELIVERY_TAIL ? packet->flits * message->slowest_flit_fs : 0;
    push(w, (event_t){.at = w->now + w->out_fs + tail, .kind = DELIVER, .packet = packet});
}

/* Whether input `a` is served before `b`: the one that was served longest ago, then links by port, then network
 * interfaces. */
static bool has_priority(const world_t *w, int a, int b)
{
    int64_t last_a = w->server[a].passed_at, last_b = w->server[b].passed_at;
    if (last_a != last_b)
        return last_a < last_b;
    if (is_nic(w, a) != is_nic(w, b))
        return is_nic(w, b);
    return a % w->ports < b % w->ports;
}

/* A router moves one packet at a time to the queues of a link, and takes a flit of an interface for each flit. */
static void admit(world_t *w, int link, int64_t round)
{
    int best = -1;
    if (w->now < w->server[link].admits_at)
        return;
    for (int i = 0; i < 2 * w->ranks * w->ports; i++) {
        const server_t *s = &w->server[i];
        bool deferred = s->deferred_at == w->now && s->deferred_round >= round;
        if (s->in && !deferred && output_of(s->in) == link && (best < 0 || has_priority(w, i, best)))
            best = i;
    }
    if (best < 0)
        return;
    server_t *input = &w->server[best];
    packet_t *packet = input->in;
    input->in = packet->next;
    input->passed_at = w->now;
    w->server[link].admits_at = w->now + packet->flits * flit_fs(w->options->nic_bandwidth_bps);
    schedule_admission(w, link, w->server[link].admits_at, 0);
    if (input->in) { /* the packet behind it is considered only after those of all other inputs */
        input->deferred_at = w->now;
        input->deferred_round = round;
        schedule_admission(w, output_of(input->in), w->now, round + 1);
    }
    enqueue(w, packet, link);
}

static void receive_credit(world_t *w, const event_t *event)
{
    w->server[event->which].free_bytes[event->key] += event->amount;
    push(w, (event_t){.at = w->now, .kind = START, .which = event->which});
}

static void handle(world_t *w, const event_t *event)
{
    switch (event->kind) {
    case CREDIT: receive_credit(w, event); break;
    case ARRIVE: arrive(w, event->packet); break;
    case ADMIT: admit(w, event->which, event->key); break;
    case DELIVER: deliver(w, event->packet); break;
    case SENT: complete_one(w, event->which); break;
    case ENTER: enter(w, event->which); break;
    case BEGIN: begin(w, event->which); break;
    case POST: send(w, &w->message[event->which]); break;
    case START: start(w, event->which); break;
    }
}

/* ---- Reading the schedule ---------------------------------------------------------------------------------------- */

/* Sets the links of a message's route and the channel on each: 1 after it has passed coordinate 0 of the dimension that
 * it travels in. */
static void find_way(world_t *w, message_t *message, int from, int to, bool mirrored)
{
    trv_route_t route;
    trv_route_begin(&route, w->torus, from, to, message->port, mirrored);
    message->hop = require(calloc((size_t)trv_route_length(&route) + 1, sizeof *message->hop));
    int channel = 0, back_channel = 0, dimension = -1, back = from;
    bool tied = false;
    for (int node = from, port; (port = trv_route_next(&route, &node)) >= 0; message->hops++) {
        const int d = trv_port_dimension(port), size = w->torus->size[d];
        const int at = trv_torus_coordinate(w->torus, node, d), target = trv_torus_coordinate(w->torus, to, d);
        const bool begins = d != dimension;
        if (begins) {
            channel = back_channel = 0;
            back = node;
            tied = 2 * abs(at - target) == size && !trv_torus_is_line(w->torus, d);
        } else {
            channel = at == 0 ? 1 : channel;
            back_channel = trv_torus_coordinate(w->torus, back, d) == 0 ? 1 : back_channel;
        }
        dimension = d;
        int link = node * w->ports + port, one_queue = w->options->model == TRV_FIFO;
        message->hop[message->hops] = (hop_t){link,
                                              one_queue ? 0 : channel,
                                              back * w->ports + (port ^ 1),
                                              one_queue ? 0 : back_channel,
                                              begins,
                                              tied};
        back = tied ? trv_torus_shift(w->torus, back, d, -trv_port_sign(port)) : back;
        if (w->server[link].flit_fs > message->slowest_flit_fs)
            message->slowest_flit_fs = w->server[link].flit_fs;
    }
}

static void read_send(world_t *w, int number, const trv_message_t *send, uint64_t vector_bytes)
{
    if (w->messages % 64 == 0)
        w->message = require(realloc(w->message, (size_t)(w->messages + 64) * sizeof *w->message));
    message_t *message = &w->message[w->messages++];
    int rank = number % w->ranks, stream = number / w->ranks / w->steps;
    *message = (message_t){.cell = number, .to_cell = number - rank + send->peer, .nic = send->nic, .port = send->port};
    message->opens = trv_message_units(w->schedule, send) < trv_schedule_units(w->schedule);
    for (int m = 0; m < w->messages - 1 && message->opens; m++) {
        const message_t *earlier = &w->message[m];
        message->opens = !(earlier->opens && earlier->cell % w->ranks == rank &&
                           earlier->cell / w->ranks / w->steps == stream && earlier->to_cell % w->ranks == send->peer);
    }
    message->bytes = trv_message_bytes(w->schedule, stream, send, vector_bytes);
    message->packets = (int64_t)((message->bytes + w->options->packet_bytes - 1) / w->options->packet_bytes);
    find_way(w, message, rank, send->peer, trv_schedule_mirrored(w->schedule, stream));
    w->result->messages++;
    w->result->packets += (uint64_t)message->packets;
}

static void read_cell(world_t *w, int number, uint64_t vector_bytes, trv_step_t *step)
{
    int rank = number % w->ranks, k = number / w->ranks % w->steps, stream = number / w->ranks / w->steps;
    if (trv_schedule_step(w->schedule, rank, stream, k, step))
        abort();
    cell_t *cell = &w->cell[number];
    *cell = (cell_t){.first = w->messages, .sends = step->sends, .incomplete = step->sends + step->receives};
    cell->busy = cell->incomplete > 0;
    for (int i = 0; i < step->sends; i++)
        read_send(w, number, &step->send[i], vector_bytes);
    int64_t read = 0; /* units of all operands of reductions */
    for (int i = 0; i < step->combines; i++)
        if (step->combine[i].sources > 1)
            read += step->combine[i].sources * trv_blocks_count(&step->combine[i].blocks);
    if (read > 0)
        cell->reduced = trv_units_bytes(w->schedule, stream, read, vector_bytes);
}

static void make_servers(world_t *w)
{
    const trv_simulate_options_t *options = w->options;
    int links = w->ranks * w->ports;
    for (int i = 0; i < 2 * links; i++) {
        double factor = 1;
        for (int k = 0; k < options->slow_links && i < links; k++)
            if (options->slow_link[k].rank * w->ports + options->slow_link[k].port == i)
                factor = options->slow_link[k].factor;
        double bps = i < links ? options->bandwidth_bps / factor : naive_injection_bps(options);
        w->server[i].passed_at = w->server[i].deferred_at = -1;
        w->server[i].asleep = i < links;
        w->server[i].flit_fs = flit_fs(bps);
        for (int c = 0; c < CHANNELS; c++)
            w->server[i].free_bytes[c] = (int64_t)options->buffer_bytes;
    }
    int64_t tick = flit_fs(options->nic_bandwidth_bps);
    w->in_fs = fs(options->host_latency_ns) + fs(options->router_in_ns) + fs(0.2);
    w->out_fs = fs(options->router_out_ns) + fs(options->host_latency_ns) + fs(0.2);
    w->hop_fs = fs(options->router_out_ns) + fs(options->link_latency_ns) + fs(options->router_in_ns) + tick;
}

static void free_all(packet_t *packet)
{
    for (packet_t *next; packet; packet = next) {
        next = packet->next;
        free(packet);
    }
}

/* Frees the world, with the packets that are still in queues after a deadlock. */
static void destroy(world_t *w)
{
    for (int i = 0; i < 2 * w->ranks * w->ports; i++) {
        free_all(w->server[i].in);
        for (int c = 0; c < CHANNELS; c++)
            free_all(w->server[i].first[c]);
    }
    for (int m = 0; m < w->messages; m++)
        free(w->message[m].hop);
    free(w->message);
    free(w->server);
    free(w->cell);
    free(w->cpu_free_at);
    free(w->heap.at);
}

bool naive_simulate(const trv_schedule_t *schedule, const trv_simulate_options_t *options, uint64_t vector_bytes,
                    naive_result_t *result)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    world_t w = {.schedule = schedule, .options = options, .torus = torus, .result = result};
    w.ranks = torus->ranks;
    w.ports = 2 * torus->dims;
    w.streams = trv_schedule_streams(schedule), w.steps = trv_schedule_steps(schedule);
    int cells = w.streams * w.steps * w.ranks;
    *result = (naive_result_t){0};
    w.server = require(calloc((size_t)(2 * w.ranks * w.ports), sizeof *w.server));
    w.cell = require(calloc((size_t)cells + 1, sizeof *w.cell));
    w.cpu_free_at = require(calloc((size_t)w.ranks, sizeof *w.cpu_free_at));
    make_servers(&w);

    trv_step_t step = TRV_STEP_INIT;
    for (int number = 0; number < cells; number++)
        read_cell(&w, number, vector_bytes, &step);
    trv_step_clear(&step);

    w.unfinished = w.steps > 0 ? w.streams * w.ranks : 0;
    for (int number = 0; number < cells; number++)
        if (number / w.ranks % w.steps == 0)
            push(&w, (event_t){.kind = ENTER, .which = number});
    while (w.heap.events > 0) {
        event_t event = naive_pop(&w.heap);
        w.now = event.at;
        handle(&w, &event);
    }
    result->time_fs = w.last;
    destroy(&w);
    return w.unfinished == 0;
}
