/*
 * Requests (collective/requests.h), and the sequence numbers that they hold.
 */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "net/inside.h"

/* ---- The list of requests ---------------------------------------------------------------------------------------- */

static uint64_t net_poll(void *context)
{
    trv_net_t *net = context;
    const uint64_t events = trv_fabric_poll(net->fabric);
    trv_net_relay_advance(net);
    return events;
}

static bool net_pause(void *context, uint64_t seen, unsigned polls)
{
    const trv_net_t *net = context;
    return trv_fabric_pause(net->fabric, seen, polls);
}

static bool net_released(void *context)
{
    const trv_net_t *net = context;
    return trv_fabric_buffers_released(net->fabric);
}

static void request_expire(trv_request_t *base, const char *text)
{
    const struct trv_net_request *request = (const struct trv_net_request *)(const void *)base;
    trv_net_t *net = request->comm->net;
    trv_recorder_print(request->comm->recorder);
    trv_fail(TRV_ERR_TRANSPORT, "%s on rank %d took longer than %.4g s%s%.*s", request->what, net->rank,
             net->timeout_ns / 1e9, *text ? "; " : "", TRV_REASON_MAX / 2, text);
    trv_net_break(net);
}

void trv_net_requests_init(trv_net_t *net)
{
    static const trv_requests_transport_t transport = {.expire = request_expire,
                                                       .released = net_released,
                                                       .poll = net_poll,
                                                       .pause = net_pause};
    trv_requests_init(&net->requests, &transport, net);
}

int trv_net_progress(trv_net_t *net)
{
    int rc = trv_net_check(net);
    if (rc < 0)
        return rc;
    net_poll(net);
    trv_requests_progress(&net->requests);
    return trv_net_check(net);
}

/* ---- Sequence numbers -------------------------------------------------------------------------------------------- */

void trv_net_request_hold(struct trv_net_request *request, unsigned number)
{
    request->sequence = (int)(number % TRV_SEQUENCES);
    atomic_fetch_or(&request->comm->held[request->sequence / 64], UINT64_C(1) << request->sequence % 64);
}

int trv_net_request_end(trv_request_t *base, int code)
{
    struct trv_net_request *request = (struct trv_net_request *)(void *)base;
    if (request->sequence >= 0)
        atomic_fetch_and(&request->comm->held[request->sequence / 64], ~(UINT64_C(1) << request->sequence % 64));
    request->sequence = -1;
    return code;
}

static bool sequence_is_held(const trv_net_comm_t *comm, unsigned number)
{
    return atomic_load(&comm->held[number % TRV_SEQUENCES / 64]) >> number % 64 & 1;
}

/* A call uses one number, or two with a decision. That of the decision is in use as long as the next one. */
static bool next_are_held(const trv_net_comm_t *comm)
{
    const unsigned next = atomic_load(&comm->calls);
    return sequence_is_held(comm, next) || sequence_is_held(comm, next + 1) || sequence_is_held(comm, next + 2);
}

int trv_comm_await_sequence(trv_net_comm_t *comm)
{
    trv_net_t *net = comm->net;
    uint64_t seen = 0;
    int rc = TRV_OK;
    for (unsigned polls = 0; rc == TRV_OK && next_are_held(comm); polls++) {
        const uint64_t now = net_poll(net);
        polls = now == seen ? polls : 0;
        seen = now;
        trv_requests_progress(&net->requests);
        rc = trv_net_check(net);
        if (rc == TRV_OK)
            trv_fabric_pause(net->fabric, seen, polls);
    }
    return rc;
}

/* ---- Starting, testing, waiting ---------------------------------------------------------------------------------- */

void trv_net_request_init(struct trv_net_request *request, trv_net_comm_t *comm, const char *what,
                          const trv_request_kind_t *kind, void (*done)(struct trv_net_request *))
{
    trv_request_init(&request->base, &comm->net->requests, kind);
    request->comm = comm;
    request->what = what;
    request->done = done;
    request->sequence = -1;
    trv_net_t *net = comm->net;
    pthread_mutex_lock(&net->lock);
    request->next = net->request;
    request->link = &net->request;
    if (net->request)
        net->request->link = &request->next;
    net->request = request;
    pthread_mutex_unlock(&net->lock);
}

static void request_unlink(struct trv_net_request *request)
{
    pthread_mutex_lock(&request->comm->net->lock);
    if (request->link)
        *request->link = request->next;
    if (request->link && request->next)
        request->next->link = request->link;
    request->link = NULL;
    pthread_mutex_unlock(&request->comm->net->lock);
}

void trv_net_request_clear(struct trv_net_request *request)
{
    request_unlink(request);
    trv_request_clear(&request->base);
}

void trv_net_requests_abandon(trv_net_t *net)
{
    while (net->request) {
        struct trv_net_request *request = net->request;
        request_unlink(request);
        if (request->pending)
            request->done(request);
    }
}

void trv_net_request_begin(struct trv_net_request *request)
{
    atomic_fetch_add(&request->comm->net->pending, 1);
    request->pending = true;
    trv_request_begin(&request->base);
}

int trv_net_request_progress(struct trv_net_request *request, double until_ns, bool *ended)
{
    const int rc = trv_request_wait(&request->base, until_ns, ended);
    if (*ended) {
        atomic_fetch_sub(&request->comm->net->pending, 1);
        request->pending = false;
    }
    return rc;
}

int trv_net_request_run(struct trv_net_request *request)
{
    bool ended;
    int rc = trv_net_request_progress(request, INFINITY, &ended);
    request->done(request);
    return rc;
}

int trv_net_request_reset(trv_net_request_t *request)
{
    if (!request)
        return trv_fail(TRV_ERR_ARGUMENT, "the argument `request` is NULL; pass the address of a trv_net_request_t");
    *request = TRV_NET_REQUEST_NULL;
    return TRV_OK;
}

static int request_test(trv_net_request_t *request, double until_ns, bool *done)
{
    if (!request || !done)
        return trv_fail(TRV_ERR_ARGUMENT, "the arguments `request` and `done` must not be NULL");
    *done = true;
    if (!*request)
        return TRV_OK;
    int rc = trv_net_request_progress(*request, until_ns, done);
    if (*done) {
        (*request)->done(*request);
        *request = TRV_NET_REQUEST_NULL;
    }
    return rc;
}

int trv_net_test(trv_net_request_t *request, bool *done) { return request_test(request, 0, done); }

int trv_net_wait_for(trv_net_request_t *request, double seconds, bool *done)
{
    return request_test(request, seconds > 0 ? trv_now_ns() + 1e9 * seconds : 0, done);
}

int trv_net_wait(trv_net_request_t *request)
{
    bool done;
    if (!request)
        return trv_fail(TRV_ERR_ARGUMENT, "the argument `request` is NULL; pass the address of a trv_net_request_t");
    return request_test(request, INFINITY, &done);
}

int trv_net_wait_all(trv_net_request_t *request, int requests)
{
    char reason[TRV_REASON_MAX];
    int first = TRV_OK;
    for (int i = 0; i < requests; i++) {
        const int rc = trv_net_wait(&request[i]);
        if (rc == TRV_OK || first < 0)
            continue;
        first = rc;
        snprintf(reason, sizeof reason, "%s", trv_last_error());
    }
    return first < 0 ? trv_fail(first, "%s", reason) : TRV_OK;
}
