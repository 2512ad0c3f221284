/*
 * Relayed messages, where hosts do not forward (transport/fabric/cables.c). A message to a rank that is not a neighbour
 * is sent to the next rank on the route, after a header with its origin, target, tag and length. That rank stores it
 * and sends it on. The last rank before the target sends it without a header, with the tag that the origin would have
 * used: for the receiver there is no difference. (bootstrap/tcp/relay.c relays connections to rank 0 at the start of a
 * job.)
 *
 *     origin            next rank                 neighbour of the target        target
 *       header, message -->    header, message -->               message -->
 *
 * Messages to the same next rank keep their order, and so do messages of one origin and tag to one target. A rank
 * stores any number of messages, because a limit could delay the messages without which the others are not received;
 * flow control limits those whose sends have completed (flow.c).
 *
 * Every thread that waits for a request passes messages on. Another thread does so while no thread waits, so that ranks
 * that compute do not delay others; it also detects cables that were pulled.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "net/inside.h"

#define CARRIER_NS 500e6 /* between two checks of the interfaces; a cable is pulled if two consecutive checks fail */
enum { ATTENDED_SLEEP_NS = 1000000, POLLS_MANY = 1 << 20 /* after which trv_fabric_pause sleeps */ };

typedef struct header {
    uint32_t origin, target; /* ranks in the job */
    uint64_t tag, bytes, fragment_bytes, limited;
} header_t;

/* The header of a message of this rank, until it is sent. */
typedef struct sent_header {
    trv_sent_t sent; /* the first member, so that pointers to both can be converted */
    header_t header;
} sent_header_t;

/* A message that is passed on. */
typedef struct passing {
    header_t header;
    int stream;
    bool is_posted; /* the sends to the next rank are posted */
    char *data;
    trv_fabric_op_t arrival, header_send, send;
    struct passing *next;
} passing_t;

/* The messages that arrive from one neighbour to be passed on. */
typedef struct stream {
    int neighbour; /* -1: none */
    header_t header;
    trv_fabric_op_t arrival; /* of the next header */
} stream_t;

struct trv_net_relay {
    trv_net_t *net;
    pthread_mutex_t lock; /* protects the members up to `end` */
    stream_t stream[TRV_PORTS_MAX];
    trv_sent_t *sent;          /* headers that may be in flight */
    passing_t *passing, **end; /* in the order of arrival */
    pthread_t thread;
    bool has_thread;
    atomic_bool stops;
    atomic_uint attended; /* number of times that a thread that waits for a request has passed on messages */
    unsigned unplugged;   /* bit mask of the ports whose interface had no carrier at the last check */
    double checked_ns;
};

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/* Limited messages are in an order of their own, because the fabric may send the others before them. */
static uint64_t message_tag(const header_t *header) { return TRV_TAG_RELAY + 1 + (header->limited != 0); }

static trv_fabric_op_t header_op(header_t *header, bool sends, int peer)
{
    return (trv_fabric_op_t){.sends = sends,
                             .port = TRV_NO_PORT,
                             .peer = peer,
                             .tag = TRV_TAG_RELAY,
                             .data = header,
                             .bytes = sizeof *header};
}

/* Sends the message of `op` to the next rank on its route. The caller holds the lock. */
static int relay_send(trv_net_relay_t *relay, trv_fabric_op_t *op, int next)
{
    trv_net_t *net = relay->net;
    trv_sent_free(&relay->sent, false);
    sent_header_t *own = calloc(1, sizeof *own);
    if (!own)
        return trv_fail_memory();
    own->header = (header_t){.origin = (uint32_t)net->rank,
                             .target = (uint32_t)op->peer,
                             .tag = op->tag,
                             .bytes = op->bytes,
                             .fragment_bytes = op->fragment_bytes,
                             .limited = op->limited};
    own->sent = (trv_sent_t){.op = header_op(&own->header, true, next), .next = relay->sent};
    relay->sent = &own->sent;
    const int rc = trv_fabric_post(net->fabric, &own->sent.op);
    if (rc < 0)
        return rc;
    op->peer = next;
    op->port = TRV_NO_PORT;
    op->tag = message_tag(&own->header);
    return trv_fabric_post(net->fabric, op);
}

int trv_net_post(trv_net_t *net, trv_fabric_op_t *op)
{
    const int next = net->relay && op->sends ? trv_fabric_next_rank(net->fabric, op->peer) : op->peer;
    if (next == op->peer)
        return trv_fabric_post(net->fabric, op);
    pthread_mutex_lock(&net->relay->lock);
    const int rc = relay_send(net->relay, op, next);
    pthread_mutex_unlock(&net->relay->lock);
    return rc;
}

/* ---- Passing on -------------------------------------------------------------------------------------------------- */

static void passing_free(passing_t *passing)
{
    trv_fabric_op_clear(&passing->arrival);
    trv_fabric_op_clear(&passing->send);
    free(passing->data);
    free(passing);
}

static int header_check(const trv_net_t *net, const stream_t *stream)
{
    const header_t *header = &stream->header;
    const uint32_t ranks = (uint32_t)net->ranks;
    return header->origin < ranks && header->target < ranks && header->target != (uint32_t)net->rank &&
                   header->bytes <= SIZE_MAX / 2
               ? TRV_OK
               : trv_fail(TRV_ERR_INVALID, "rank %d sent a corrupted header of a message to be passed on",
                          stream->neighbour);
}

/* Begins to receive the message whose header has arrived, and the next header. */
static int stream_accept(trv_net_relay_t *relay, int s)
{
    stream_t *stream = &relay->stream[s];
    trv_net_t *net = relay->net;
    int rc = header_check(net, stream);
    if (rc < 0)
        return rc;
    const size_t bytes = (size_t)stream->header.bytes;
    passing_t *passing = calloc(1, sizeof *passing);
    char *data = malloc(bytes + 1);
    if (!passing || !data) {
        free(passing);
        free(data);
        return trv_fail(TRV_ERR_MEMORY,
                        "rank %d has no memory to pass on a message of %zu bytes from rank %d to rank %d", net->rank,
                        bytes, (int)stream->header.origin, (int)stream->header.target);
    }
    passing->header = stream->header;
    passing->stream = s;
    passing->data = data;
    passing->arrival = (trv_fabric_op_t){.port = TRV_NO_PORT,
                                         .peer = stream->neighbour,
                                         .tag = message_tag(&passing->header),
                                         .data = data,
                                         .bytes = bytes,
                                         .fragment_bytes = (size_t)passing->header.fragment_bytes,
                                         .limited = passing->header.limited != 0};
    *relay->end = passing;
    relay->end = &passing->next;
    rc = trv_fabric_post(net->fabric, &passing->arrival);
    return rc < 0 ? rc : trv_fabric_post(net->fabric, &stream->arrival);
}

/* Sends a message on that has arrived. */
static int passing_send(const trv_net_relay_t *relay, passing_t *passing)
{
    header_t *header = &passing->header;
    trv_fabric_t *fabric = relay->net->fabric;
    const int target = (int)header->target, next = trv_fabric_next_rank(fabric, target);
    const bool is_last = next == target;
    int rc = TRV_OK;
    passing->is_posted = true;
    if (!is_last) {
        passing->header_send = header_op(header, true, next);
        rc = trv_fabric_post(fabric, &passing->header_send);
    }
    passing->send = (trv_fabric_op_t){.sends = true,
                                      .port = TRV_NO_PORT,
                                      .peer = next,
                                      .origin = is_last ? 1 + (int)header->origin : 0,
                                      .tag = is_last ? header->tag : message_tag(header),
                                      .data = passing->data,
                                      .bytes = (size_t)header->bytes,
                                      .fragment_bytes = (size_t)header->fragment_bytes,
                                      .limited = header->limited != 0};
    return rc < 0 ? rc : trv_fabric_post(fabric, &passing->send);
}

/* Returns 1 if the message is sent, 0 if it is not, or an error. */
static int passing_advance(const trv_net_relay_t *relay, passing_t *passing)
{
    trv_fabric_t *fabric = relay->net->fabric;
    int rc = 1;
    if (!passing->is_posted) {
        rc = trv_fabric_test(fabric, &passing->arrival);
        rc = rc > 0 ? passing_send(relay, passing) : rc;
        return rc;
    }
    if (trv_fabric_next_rank(fabric, (int)passing->header.target) != (int)passing->header.target)
        rc = trv_fabric_test(fabric, &passing->header_send);
    return rc > 0 ? trv_fabric_test(fabric, &passing->send) : rc;
}

/* Passes messages on, those of a stream in the order of their arrival. The caller holds the lock. */
static int relay_advance(trv_net_relay_t *relay)
{
    uint64_t blocked[2] = {0,
                           0}; /* bit masks of the streams with an earlier message that has not arrived, by `limited` */
    int rc = TRV_OK;
    for (int s = 0; rc >= 0 && s < TRV_PORTS_MAX; s++) {
        stream_t *stream = &relay->stream[s];
        while (stream->neighbour >= 0 && rc >= 0 && (rc = trv_fabric_test(relay->net->fabric, &stream->arrival)) > 0)
            rc = stream_accept(relay, s);
    }
    for (passing_t **at = &relay->passing; rc >= 0 && *at;) {
        passing_t *passing = *at;
        uint64_t *streams = &blocked[passing->header.limited != 0];
        rc = *streams >> passing->stream & 1 ? 0 : passing_advance(relay, passing);
        if (rc > 0) {
            *at = passing->next;
            relay->end = *at ? relay->end : at;
            passing_free(passing);
            continue;
        }
        *streams |= (uint64_t)!passing->is_posted << passing->stream;
        at = &passing->next;
    }
    return rc < 0 ? rc : TRV_OK;
}

/* Passes messages on. If another thread holds the lock, this function waits for it or, unless `waits`, does nothing. */
static void relay_pass(trv_net_relay_t *relay, bool waits)
{
    if (waits)
        pthread_mutex_lock(&relay->lock);
    else if (pthread_mutex_trylock(&relay->lock) != 0)
        return;
    const int rc = relay_advance(relay);
    pthread_mutex_unlock(&relay->lock);
    if (rc < 0)
        trv_net_break(relay->net);
}

void trv_net_relay_advance(trv_net_t *net)
{
    if (!net->relay)
        return;
    atomic_fetch_add_explicit(&net->relay->attended, 1, memory_order_relaxed);
    relay_pass(net->relay, false);
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

static void cables_check(trv_net_relay_t *relay)
{
    const double now_ns = trv_now_ns();
    char sentence[TRV_REASON_MAX / 2];
    unsigned unplugged = 0;
    if (now_ns - relay->checked_ns < CARRIER_NS)
        return;
    relay->checked_ns = now_ns;
    for (int p = 0; p < TRV_PORTS_MAX; p++) {
        if (!trv_fabric_is_unplugged(relay->net->fabric, p, sentence, sizeof sentence))
            continue;
        unplugged |= 1u << p;
        if (relay->unplugged >> p & 1) {
            trv_fail(TRV_ERR_TRANSPORT, "%s", sentence);
            trv_net_break(relay->net);
        }
    }
    relay->unplugged = unplugged;
}

static void *relay_run(void *context)
{
    trv_net_relay_t *relay = context;
    trv_fabric_t *fabric = relay->net->fabric;
    unsigned attended = 0;
    while (!atomic_load(&relay->stops) && !trv_bootstrap_has_failed(relay->net->bootstrap)) {
        const unsigned before = attended;
        cables_check(relay);
        attended = atomic_load_explicit(&relay->attended, memory_order_relaxed);
        if (attended != before) { /* another thread passes messages on at the moment */
            nanosleep(&(struct timespec){.tv_nsec = ATTENDED_SLEEP_NS}, NULL);
            continue;
        }
        const uint64_t seen = trv_fabric_poll(fabric);
        relay_pass(relay, true); /* a message that was left here would wait until the next event */
        trv_fabric_pause(fabric, seen, POLLS_MANY);
    }
    return NULL;
}

int trv_net_relay_start(trv_net_t *net)
{
    trv_net_relay_t *relay = calloc(1, sizeof *relay);
    int rc = relay ? TRV_OK : trv_fail_memory();
    if (rc < 0)
        return rc;
    relay->net = net;
    relay->end = &relay->passing;
    pthread_mutex_init(&relay->lock, NULL);
    net->relay = relay;
    for (int p = 0; p < TRV_PORTS_MAX; p++) {
        stream_t *stream = &relay->stream[p];
        stream->neighbour = trv_fabric_neighbour(net->fabric, p);
        for (int earlier = 0; earlier < p; earlier++)
            if (relay->stream[earlier].neighbour == stream->neighbour)
                stream->neighbour = -1; /* both ports lead to the same rank */
        stream->arrival = header_op(&stream->header, false, stream->neighbour);
        rc = rc == TRV_OK && stream->neighbour >= 0 ? trv_fabric_post(net->fabric, &stream->arrival) : rc;
    }
    if (rc == TRV_OK) {
        rc = trv_thread_create(&relay->thread, relay_run, relay);
        relay->has_thread = rc == TRV_OK;
    }
    return rc;
}

void trv_net_relay_stop(trv_net_t *net)
{
    if (!net->relay || !net->relay->has_thread)
        return;
    atomic_store(&net->relay->stops, true);
    trv_fabric_wake(net->fabric);
    pthread_join(net->relay->thread, NULL);
    net->relay->has_thread = false;
}

/* Operations that the end of the fabric has interrupted are cancelled, which closes their memory registrations. */
void trv_net_relay_free(trv_net_t *net)
{
    trv_net_relay_t *relay = net->relay;
    if (!relay)
        return;
    for (int s = 0; s < TRV_PORTS_MAX; s++)
        trv_fabric_cancel(net->fabric, &relay->stream[s].arrival);
    for (trv_sent_t *sent = relay->sent; sent; sent = sent->next)
        trv_fabric_cancel(net->fabric, &sent->op);
    trv_sent_free(&relay->sent, true);
    while (relay->passing) {
        passing_t *passing = relay->passing;
        relay->passing = passing->next;
        trv_fabric_cancel(net->fabric, &passing->arrival);
        trv_fabric_cancel(net->fabric, &passing->header_send);
        trv_fabric_cancel(net->fabric, &passing->send);
        passing_free(passing);
    }
    pthread_mutex_destroy(&relay->lock);
    free(relay);
    net->relay = NULL;
}
