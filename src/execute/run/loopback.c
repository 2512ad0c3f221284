/*
 * The in-process (loopback) transport: all ranks are in one process, each with its own thread or all driven by one
 * thread.
 *
 * A send or receive whose partner is not posted yet waits in the receiver's mailbox. A waiting send is a pointer to its
 * data, so that data is copied only once and no memory is allocated. The side that is posted later copies the data. A
 * send is therefore complete only when its receive is posted and filled, which is the strictest behaviour that the
 * transport interface allows.
 *
 * A request is in one of three states: waiting (in a mailbox, under its lock), matched (removed from the mailbox, being
 * copied), complete. The states are atomic, so that testing needs no lock.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/execute.h>

#include "base/error.h"

enum { BUCKETS = 64 };

enum state { FREE, WAITING, MATCHED, COMPLETE, LENGTH_MISMATCH };

typedef struct request {
    atomic_int state;
    bool is_send;
    int handle, peer, tag; /* peer: the sender, as the mailbox sees it */
    int mailbox;           /* the mailbox in which it waits */
    void *data;
    size_t bytes, other_bytes;
    struct request *next;
} request_t;

/* Requests that wait for a partner, in the order of their calls. Those with the same (handle, sender, tag) are in the
 * same bucket. */
typedef struct mailbox {
    pthread_mutex_t lock;
    struct queue {
        request_t *first, **end;
    } bucket[BUCKETS];
} mailbox_t;

/* The handle that one plan opened on one rank. */
typedef struct opened {
    int handle;
    request_t *request;
    struct opened *next;
} opened_t;

typedef struct endpoint {
    trv_loopback_t *loopback;
    int rank, handles; /* number of handles opened so far; the n-th handles of all ranks belong together */
    opened_t *opened;
    trv_transport_t transport;
} endpoint_t;

struct trv_loopback {
    int ranks;
    endpoint_t *endpoint;
    mailbox_t *mailbox;
};

/* Finds the open handle and moves it to the front of the list, so that a handle in use is found immediately. */
static opened_t *find_opened(endpoint_t *endpoint, int handle)
{
    for (opened_t **at = &endpoint->opened; *at; at = &(*at)->next)
        if ((*at)->handle == handle) {
            opened_t *found = *at;
            *at = found->next;
            found->next = endpoint->opened;
            endpoint->opened = found;
            return found;
        }
    return NULL;
}

static int loopback_open(void *context, int requests, int tags, int *base)
{
    endpoint_t *endpoint = context;
    (void)tags;
    opened_t *opened = malloc(sizeof *opened);
    request_t *request = calloc((size_t)requests, sizeof *request);
    if (!opened || !request) {
        free(opened);
        free(request);
        return trv_fail_memory();
    }
    for (int i = 0; i < requests; i++)
        atomic_init(&request[i].state, FREE);
    *opened = (opened_t){endpoint->handles, request, endpoint->opened};
    endpoint->opened = opened;
    *base = endpoint->handles++;
    return 0;
}

static void loopback_close(void *context, int base)
{
    endpoint_t *endpoint = context;
    opened_t *opened = find_opened(endpoint, base);
    if (!opened)
        return;
    endpoint->opened = opened->next;
    free(opened->request);
    free(opened);
}

static struct queue *queue_of(mailbox_t *mailbox, int handle, int sender, int tag)
{
    unsigned hash = (unsigned)handle * 31u + (unsigned)sender * 7u + (unsigned)tag;
    return &mailbox->bucket[hash % BUCKETS];
}

/* Removes the first request that is the other side of `request`. */
static request_t *partner_take(struct queue *queue, const request_t *request)
{
    for (request_t **at = &queue->first; *at; at = &(*at)->next) {
        request_t *found = *at;
        if (found->is_send == request->is_send || found->handle != request->handle || found->peer != request->peer ||
            found->tag != request->tag)
            continue;
        *at = found->next;
        if (!found->next)
            queue->end = at;
        return found;
    }
    return NULL;
}

static void request_deliver(request_t *send, request_t *receive)
{
    const int state = send->bytes == receive->bytes ? COMPLETE : LENGTH_MISMATCH;
    send->other_bytes = receive->bytes;
    receive->other_bytes = send->bytes;
    if (state == COMPLETE)
        memcpy(receive->data, send->data, send->bytes);
    atomic_store_explicit(&receive->state, state, memory_order_release);
    atomic_store_explicit(&send->state, state, memory_order_release);
}

/* Adds a request to the receiver's mailbox, or completes it at once if its partner is waiting. */
static void request_enqueue(trv_loopback_t *loopback, request_t *request)
{
    mailbox_t *mailbox = &loopback->mailbox[request->mailbox];
    pthread_mutex_lock(&mailbox->lock);
    struct queue *queue = queue_of(mailbox, request->handle, request->peer, request->tag);
    request_t *partner = partner_take(queue, request);
    if (partner) {
        atomic_store_explicit(&partner->state, MATCHED, memory_order_relaxed);
        atomic_store_explicit(&request->state, MATCHED, memory_order_relaxed);
    } else {
        atomic_store_explicit(&request->state, WAITING, memory_order_relaxed);
        request->next = NULL;
        *queue->end = request;
        queue->end = &request->next;
    }
    pthread_mutex_unlock(&mailbox->lock);
    if (partner)
        request_deliver(request->is_send ? request : partner, request->is_send ? partner : request);
}

static int request_post(endpoint_t *endpoint, int base, int slot, bool is_send, int peer, int tag, void *data,
                        size_t bytes)
{
    opened_t *opened = find_opened(endpoint, base);
    if (!opened || peer < 0 || peer >= endpoint->loopback->ranks)
        return trv_fail(TRV_ERR_TRANSPORT, "rank %d of the loopback has no peer %d (its ranks are 0 … %d)",
                        endpoint->rank, peer, endpoint->loopback->ranks - 1);
    request_t *request = &opened->request[slot];
    request->is_send = is_send;
    request->handle = base;
    request->tag = tag;
    request->data = data;
    request->bytes = bytes;
    request->peer = is_send ? endpoint->rank : peer;
    request->mailbox = is_send ? peer : endpoint->rank;
    request_enqueue(endpoint->loopback, request);
    return 0;
}

static int loopback_send(void *context, int base, int slot, int peer, int tag, const void *data, size_t bytes)
{
    return request_post(context, base, slot, true, peer, tag, (void *)data, bytes);
}

static int loopback_receive(void *context, int base, int slot, int peer, int tag, void *data, size_t bytes)
{
    return request_post(context, base, slot, false, peer, tag, data, bytes);
}

static int loopback_test(void *context, int base, int slot)
{
    endpoint_t *endpoint = context;
    request_t *request = &find_opened(endpoint, base)->request[slot];
    int state = atomic_load_explicit(&request->state, memory_order_acquire);
    if (state == LENGTH_MISMATCH) {
        size_t sent = request->is_send ? request->bytes : request->other_bytes;
        size_t capacity = request->is_send ? request->other_bytes : request->bytes;
        return trv_fail(TRV_ERR_TRANSPORT,
                        "rank %d sent %zu bytes to rank %d, which expected %zu; all ranks must use the same count and "
                        "schedule",
                        request->peer, sent, request->mailbox, capacity);
    }
    return state == COMPLETE;
}

static int loopback_cancel(void *context, int base, int slot)
{
    endpoint_t *endpoint = context;
    request_t *request = &find_opened(endpoint, base)->request[slot];
    mailbox_t *mailbox = &endpoint->loopback->mailbox[request->mailbox];
    pthread_mutex_lock(&mailbox->lock);
    bool waiting = atomic_load_explicit(&request->state, memory_order_relaxed) == WAITING;
    if (waiting) {
        struct queue *queue = queue_of(mailbox, request->handle, request->peer, request->tag);
        request_t **at = &queue->first;
        while (*at != request)
            at = &(*at)->next;
        *at = request->next;
        if (!*at)
            queue->end = at;
        atomic_store_explicit(&request->state, FREE, memory_order_relaxed);
    }
    pthread_mutex_unlock(&mailbox->lock);
    while (atomic_load_explicit(&request->state, memory_order_acquire) == MATCHED)
        sched_yield(); /* the partner is copying */
    return 0;
}

int trv_loopback_create(trv_loopback_t **loopback, int ranks)
{
    *loopback = NULL;
    if (ranks < 1)
        return trv_fail(TRV_ERR_ARGUMENT, "a loopback of %d ranks: expected at least 1", ranks);
    trv_loopback_t *created = calloc(1, sizeof *created);
    if (created) {
        created->endpoint = calloc((size_t)ranks, sizeof *created->endpoint);
        created->mailbox = calloc((size_t)ranks, sizeof *created->mailbox);
    }
    if (!created || !created->endpoint || !created->mailbox) {
        trv_loopback_destroy(created);
        return trv_fail_memory();
    }
    for (; created->ranks < ranks; created->ranks++) {
        endpoint_t *endpoint = &created->endpoint[created->ranks];
        mailbox_t *mailbox = &created->mailbox[created->ranks];
        endpoint->loopback = created;
        endpoint->rank = created->ranks;
        endpoint->transport = (trv_transport_t){TRV_TRANSPORT,  endpoint,        loopback_open,
                                                loopback_close, loopback_send,   loopback_receive,
                                                loopback_test,  loopback_cancel, NULL};
        pthread_mutex_init(&mailbox->lock, NULL);
        for (int b = 0; b < BUCKETS; b++)
            mailbox->bucket[b].end = &mailbox->bucket[b].first;
    }
    *loopback = created;
    return 0;
}

void trv_loopback_destroy(trv_loopback_t *loopback)
{
    if (!loopback)
        return;
    for (int r = 0; r < loopback->ranks; r++) {
        while (loopback->endpoint[r].opened)
            loopback_close(&loopback->endpoint[r], loopback->endpoint[r].opened->handle);
        pthread_mutex_destroy(&loopback->mailbox[r].lock);
    }
    free(loopback->endpoint);
    free(loopback->mailbox);
    free(loopback);
}

const trv_transport_t *trv_loopback_transport(trv_loopback_t *loopback, int rank)
{
    if (!loopback || rank < 0 || rank >= loopback->ranks) {
        trv_fail(TRV_ERR_ARGUMENT, "the loopback has no rank %d", rank);
        return NULL;
    }
    return &loopback->endpoint[rank].transport;
}
