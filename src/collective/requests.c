/*
 * The progress of requests; requests.h describes it and the order of its locks.
 */
#include "collective/requests.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "collective/recorder.h"

enum { TEXT_MAX = 1200 };

/* ---- Creation and release ---------------------------------------------------------------------------------------- */

void trv_requests_init(trv_requests_t *requests, const trv_requests_transport_t *transport, void *context)
{
    requests->transport = transport;
    requests->context = context;
    requests->last = &requests->first;
    pthread_mutex_init(&requests->progress, NULL);
    pthread_mutex_init(&requests->lock, NULL);
}

void trv_requests_clear(trv_requests_t *requests)
{
    pthread_mutex_destroy(&requests->progress);
    pthread_mutex_destroy(&requests->lock);
}

void trv_request_init(trv_request_t *request, trv_requests_t *requests, const trv_request_kind_t *kind)
{
    request->kind = kind;
    request->requests = requests;
    pthread_mutex_init(&request->lock, NULL);
}

void trv_request_clear(trv_request_t *request) { pthread_mutex_destroy(&request->lock); }

/* ---- The list ---------------------------------------------------------------------------------------------------- */

void trv_request_begin(trv_request_t *request)
{
    trv_requests_t *requests = request->requests;
    request->active = true;
    request->awaited = false;
    request->result = 0;
    request->code = TRV_OK;
    request->watch = (trv_watch_t){0};
    request->next = NULL;
    pthread_mutex_lock(&requests->lock);
    request->link = requests->last;
    *requests->last = request;
    requests->last = &request->next;
    atomic_fetch_add_explicit(&requests->active, 1, memory_order_release); /* after the initialization of the list */
    pthread_mutex_unlock(&requests->lock);
}

static void list_remove(trv_requests_t *requests, trv_request_t *request)
{
    pthread_mutex_lock(&requests->lock);
    *request->link = request->next;
    if (request->next)
        request->next->link = request->link;
    else
        requests->last = request->link;
    if (requests->cursor == request)
        requests->cursor = request->next;
    atomic_fetch_sub_explicit(&requests->active, 1, memory_order_relaxed);
    pthread_mutex_unlock(&requests->lock);
}

bool trv_request_is_active(trv_request_t *request)
{
    if (pthread_mutex_trylock(&request->lock) != 0)
        return true;
    const bool active = request->active;
    pthread_mutex_unlock(&request->lock);
    return active;
}

int trv_request_outcome(const trv_request_t *request)
{
    return request->code < 0 ? trv_fail(request->code, "%s", request->reason) : TRV_OK;
}

/* ---- One request ------------------------------------------------------------------------------------------------- */

static void request_fail(trv_request_t *request, int code)
{
    request->code = code;
    snprintf(request->reason, sizeof request->reason, "%s", trv_last_error());
}

/* A separate function, so that calls that report nothing do not reserve stack space for the text. */
static void request_expire(trv_request_t *request)
{
    char text[TEXT_MAX] = "";
    request->kind->describe(request, text, sizeof text);
    request->requests->transport->expire(request, text);
}

static void request_check_timeout(trv_request_t *request)
{
    if ((request->awaited || !request->kind->only_awaited) &&
        trv_watch_expires(&request->watch, request->requests->timeout_ms))
        request_expire(request);
}

/* Advances an active request, and examines its timeout if `checks`. Returns whether it has ended. The caller holds its
 * lock. */
static bool request_advance_locked(trv_request_t *request, bool checks)
{
    trv_requests_t *requests = request->requests;
    const trv_requests_transport_t *transport = requests->transport;
    if (request->result == 0) {
        request->result = request->kind->advance(request);
        if (request->result < 0)
            request_fail(request, request->result);
    }
    if (request->result == 0 && checks)
        request_check_timeout(request);
    if (request->result == 0 || (transport->released && !transport->released(requests->context)))
        return false;
    const int code = request->kind->end(request, request->code);
    if (code < 0 && request->code == TRV_OK)
        request_fail(request, code);
    list_remove(requests, request);
    request->active = false;
    return true;
}

/* The same, if the request is active. Unlocks it: if it has ended, its owner may then free it. */
static bool request_advance(trv_request_t *request, bool checks)
{
    const bool was_active = request->active, ended = !was_active || request_advance_locked(request, checks);
    void (*notify)(void *, int) = was_active && ended ? request->notify : NULL;
    void *context = request->context;
    const int status = request->status;
    pthread_mutex_unlock(&request->lock);
    if (notify)
        notify(context, status);
    return ended;
}

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

/* Whether timeouts are due to be examined: when the clock of the watches has advanced since the latest time. */
static bool check_is_due(int64_t *checked_ms)
{
    if (!trv_recording)
        return false;
    const int64_t now_ms = trv_watch_now_ms();
    if (now_ms == *checked_ms)
        return false;
    *checked_ms = now_ms;
    trv_recorder_print_if_requested();
    return true;
}

/* Advances the active requests, except `self` and those that another thread advances at the moment. Requests that begin
 * meanwhile are left to the next call, so that this one ends. */
static int requests_advance(trv_requests_t *requests, const trv_request_t *self)
{
    trv_request_t *request;
    int ended = 0;
    if (atomic_load_explicit(&requests->active, memory_order_acquire) == 0 ||
        pthread_mutex_trylock(&requests->progress) != 0)
        return 0;
    const bool checks = check_is_due(&requests->checked_ms);
    pthread_mutex_lock(&requests->lock);
    requests->cursor = requests->first;
    for (int left = atomic_load(&requests->active); left > 0 && (request = requests->cursor) != NULL; left--) {
        requests->cursor = request->next;
        if (request == self || pthread_mutex_trylock(&request->lock) != 0)
            continue;
        pthread_mutex_unlock(&requests->lock);
        ended += request_advance(request, checks);
        pthread_mutex_lock(&requests->lock);
    }
    pthread_mutex_unlock(&requests->lock);
    pthread_mutex_unlock(&requests->progress);
    return ended;
}

int trv_requests_progress(trv_requests_t *requests) { return requests_advance(requests, NULL); }

/* The latest round in which the other requests were advanced: its end and its duration. */
typedef struct round {
    double ended_ns, took_ns;
} round_t;

/* Advances the other requests. `idle_polls` is the number of polls since the last event. Even without events this is
 * useful, because a request may be able to progress as soon as another one has. Up to FEW requests are advanced at each
 * call. More than FEW are advanced if idle_polls is 0 or a power of two, and otherwise only if INTERVAL times the
 * duration of the latest such round has passed since its end. */
static void requests_advance_others(trv_requests_t *requests, const trv_request_t *self, unsigned idle_polls,
                                    round_t *latest)
{
    enum { FEW = 64, INTERVAL = 8 };
    const int active = atomic_load_explicit(&requests->active, memory_order_relaxed);
    const bool many = active > FEW;
    const double now_ns = many ? trv_now_ns() : 0;
    const bool soon = (idle_polls & (idle_polls - 1)) == 0;
    if (active <= 1 || (many && !soon && now_ns - latest->ended_ns < INTERVAL * latest->took_ns))
        return;
    requests_advance(requests, self);
    if (many) {
        latest->ended_ns = trv_now_ns();
        latest->took_ns = latest->ended_ns - now_ns;
    }
}

/* Advances the request that this thread waits for. Waits while another thread advances it. */
static bool request_advance_awaited(trv_request_t *request, bool checks)
{
    pthread_mutex_lock(&request->lock);
    request->awaited = true;
    return request_advance(request, checks);
}

/* A waiting thread advances the request before the first poll, because a poll without an event costs as much time as a
 * message. It looks whether the timeout is to be examined after each pause, and otherwise now and then. */
int trv_request_wait(trv_request_t *request, double until_ns, bool *ended)
{
    trv_requests_t *requests = request->requests;
    const trv_requests_transport_t *transport = requests->transport;
    const bool waits = until_ns > 0;
    round_t latest = {0, 0};
    uint64_t seen = 0;
    unsigned polls = 0;
    bool paused = false;
    for (bool first = waits;; first = false) {
        const uint64_t now = first ? seen : transport->poll(requests->context);
        const bool looks = !first && (paused || polls % 64 == 0);
        *ended = request_advance_awaited(request, looks && check_is_due(&request->checked_ms));
        if (*ended)
            return trv_request_outcome(request);
        requests_advance_others(requests, request, now == seen && !first ? polls + 1 : 0, &latest);
        if (first)
            continue;
        polls = now == seen ? polls + 1 : 0;
        seen = now;
        paused = waits && transport->pause(requests->context, seen, polls);
        if (!waits || (until_ns < INFINITY && trv_now_ns() >= until_ns))
            return TRV_OK;
    }
}
