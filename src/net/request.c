/*
 * Requests. A thread that waits for one request makes progress on all active requests, so that ranks may wait in
 * different orders.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "net/inside.h"

void trv_request_init(struct trv_net_request *request, trv_net_comm_t *comm, const char *what,
                      int (*advance)(struct trv_net_request *), void (*done)(struct trv_net_request *))
{
    *request = (struct trv_net_request){.comm = comm, .what = what, .advance = advance, .done = done, .sequence = -1};
    pthread_mutex_init(&request->lock, NULL);
}

void trv_request_clear(struct trv_net_request *request) { pthread_mutex_destroy(&request->lock); }

void trv_request_hold(struct trv_net_request *request, unsigned number)
{
    request->sequence = (int)(number % TRV_SEQUENCES);
    atomic_fetch_or(&request->comm->held[request->sequence / 64], UINT64_C(1) << request->sequence % 64);
}

static void request_release_sequence(struct trv_net_request *request)
{
    if (request->sequence >= 0)
        atomic_fetch_and(&request->comm->held[request->sequence / 64], ~(UINT64_C(1) << request->sequence % 64));
    request->sequence = -1;
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
    const double begun_ns = trv_now_ns();
    uint64_t seen = 0;
    for (unsigned polls = 0; next_are_held(comm); polls++) {
        const uint64_t now = trv_fabric_poll(net->fabric);
        polls = now == seen ? polls : 0;
        seen = now;
        const int rc = trv_net_progress(net);
        if (rc < 0)
            return rc;
        if (!trv_fabric_pause(net->fabric, seen, polls))
            continue;
        trv_recorder_print_if_requested();
        if (net->timeout_ns > 0 && trv_now_ns() - begun_ns >= net->timeout_ns) {
            trv_recorder_print(comm->recorder);
            return trv_fail(TRV_ERR_TRANSPORT,
                            "a collective that rank %d started %d calls before was not complete after %.4g s",
                            net->rank, TRV_SEQUENCES, net->timeout_ns / 1e9);
        }
    }
    return TRV_OK;
}

void trv_request_begin(struct trv_net_request *request)
{
    trv_net_t *net = request->comm->net;
    request->ended = false;
    request->code = TRV_OK;
    request->started_ns = trv_now_ns();
    pthread_mutex_lock(&net->lock);
    request->next = net->request;
    request->before = &net->request;
    if (request->next)
        request->next->before = &request->next;
    net->request = request;
    atomic_fetch_add(&net->requests, 1);
    pthread_mutex_unlock(&net->lock);
}

static void request_end(struct trv_net_request *request)
{
    trv_net_t *net = request->comm->net;
    pthread_mutex_lock(&net->lock);
    *request->before = request->next;
    if (request->next)
        request->next->before = request->before;
    atomic_fetch_sub(&net->requests, 1);
    pthread_mutex_unlock(&net->lock);
}

/* Advances the request; the caller holds its lock. */
static void request_advance(struct trv_net_request *request)
{
    if (request->ended)
        return;
    const int rc = request->code < 0 ? request->code : request->advance(request);
    if (rc < 0 && request->code == TRV_OK) {
        request->code = rc;
        snprintf(request->reason, sizeof request->reason, "%s", trv_last_error());
    }
    request->ended = rc != 0 &&
                     trv_fabric_buffers_released(request->comm->net->fabric); /* otherwise the memory may be in use */
    if (request->ended)
        request_release_sequence(request);
}

/* Advances the active requests, except `self` and those that another thread advances at the moment. */
static void requests_advance_others(trv_net_t *net, const struct trv_net_request *self)
{
    if (pthread_mutex_trylock(&net->lock) != 0)
        return;
    for (struct trv_net_request *other = net->request; other; other = other->next) {
        if (other == self || pthread_mutex_trylock(&other->lock) != 0)
            continue;
        request_advance(other);
        pthread_mutex_unlock(&other->lock);
    }
    pthread_mutex_unlock(&net->lock);
}

void trv_requests_advance(trv_net_t *net) { requests_advance_others(net, NULL); }

static void request_check_timeout(struct trv_net_request *request)
{
    trv_net_t *net = request->comm->net;
    trv_recorder_print_if_requested();
    if (net->timeout_ns <= 0 || trv_now_ns() - request->started_ns < net->timeout_ns)
        return;
    char text[TRV_REASON_MAX / 2] = "";
    pthread_mutex_lock(&request->lock);
    if (request->describe)
        request->describe(request, text, sizeof text);
    pthread_mutex_unlock(&request->lock);
    trv_recorder_print(request->comm->recorder);
    trv_fail(TRV_ERR_TRANSPORT, "%s on rank %d took longer than %.4g s%s%s", request->what, net->rank,
             net->timeout_ns / 1e9, *text ? "; " : "", text);
    trv_net_break(net, TRV_ERR_TRANSPORT);
}

/* Time at which the other requests were last advanced, and how long that took. */
typedef struct rounds {
    double ended_ns, took_ns;
} rounds_t;

/* Advances the other requests. `idle_polls` is the number of polls since the last event. Even without events this is
 * useful, because a request may be able to progress as soon as another one has. Up to FEW requests are advanced at each
 * call. More than FEW are advanced if in_vain is 0 or a power of two, and otherwise only if PART times the duration of
 * the last such round has passed since its end. */
static void requests_poll_others(trv_net_t *net, const struct trv_net_request *self, unsigned idle_polls,
                                 rounds_t *rounds)
{
    enum { FEW = 64, PART = 8 };
    const int requests = atomic_load_explicit(&net->requests, memory_order_relaxed);
    const bool many = requests > FEW;
    const double now_ns = many ? trv_now_ns() : 0;
    const bool soon = (idle_polls & (idle_polls - 1)) == 0;
    if (requests <= 1 || (many && !soon && now_ns - rounds->ended_ns < PART * rounds->took_ns))
        return;
    requests_advance_others(net, self);
    if (many) {
        rounds->ended_ns = trv_now_ns();
        rounds->took_ns = rounds->ended_ns - now_ns;
    }
}

/* Makes progress until the request has ended or until_ns is reached, at least once. A waiting thread advances the
 * request before the first poll, because a poll without an event costs as much time as a message. */
static int request_progress(struct trv_net_request *request, double until_ns, bool *ended)
{
    trv_net_t *net = request->comm->net;
    const bool waits = until_ns > 0;
    rounds_t rounds = {0, 0};
    uint64_t seen = 0;
    unsigned polls = 0;
    for (bool first = waits;; first = false) {
        const uint64_t now = first ? seen : trv_fabric_poll(net->fabric);
        trv_net_relay_advance(net);
        pthread_mutex_lock(&request->lock);
        request_advance(request);
        *ended = request->ended;
        pthread_mutex_unlock(&request->lock);
        if (*ended)
            break;
        requests_poll_others(net, request, now == seen && !first ? polls + 1 : 0, &rounds);
        if (first)
            continue;
        polls = now == seen ? polls + 1 : 0;
        seen = now;
        if (!waits || trv_fabric_pause(net->fabric, seen, polls))
            request_check_timeout(request);
        if (!waits || (until_ns < INFINITY && trv_now_ns() >= until_ns))
            return TRV_OK;
    }
    request_end(request);
    return request->code < 0 ? trv_fail(request->code, "%s", request->reason) : TRV_OK;
}

int trv_request_progress(struct trv_net_request *request, bool waits, bool *ended)
{
    return request_progress(request, waits ? INFINITY : 0, ended);
}

int trv_request_run(struct trv_net_request *request)
{
    bool ended;
    int rc = trv_request_progress(request, true, &ended);
    request->done(request);
    return rc;
}

static int request_test(trv_net_request_t *request, double until_ns, bool *done)
{
    if (!request || !done)
        return trv_fail(TRV_ERR_ARGUMENT, "the arguments `request` and `done` must not be NULL");
    *done = true;
    if (!*request)
        return TRV_OK;
    int rc = request_progress(*request, until_ns, done);
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
    if (!request)
        return trv_fail(TRV_ERR_ARGUMENT, "the argument `request` is NULL; pass the address of a trv_net_request_t");
    if (!*request)
        return TRV_OK;
    int rc = trv_request_run(*request);
    *request = TRV_NET_REQUEST_NULL;
    return rc;
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
