/*
 * Requests: operations that run while the program continues. The MPI layer and libtrivance_net embed them in requests
 * of their own.
 *
 * A thread that waits for a request or tests it makes progress on all active requests of its list, in the order of
 * their starts, so that ranks may wait in different orders. The thread that makes progress on a request also ends it,
 * and detects that its timeout expires, whether or not another thread waits for it.
 *
 * Locks, in the order in which they are taken:
 *
 *     progress   of a list: held by the one thread that makes progress on all of its requests. Neither other threads
 *                nor nested calls of this thread wait for it: while a request is advanced, MPI may call
 *                trv_requests_progress again, which then does nothing
 *     request    held by the thread that advances, ends or describes the request. A thread that waits for the request
 *                blocks on it; the thread that makes progress on all requests skips a request whose lock is held
 *     list       protects the links and the cursor; no other lock is taken, and no callback called, while it is held
 *
 * A request is in the list if and only if it is active, and only the thread that holds its lock removes it. So the
 * owner, which finds it inactive under its lock, may free it at once.
 */
#ifndef TRIVANCE_COLLECTIVE_REQUESTS_H
#define TRIVANCE_COLLECTIVE_REQUESTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"
#include "collective/timeout.h"

typedef struct trv_request trv_request_t;

/* The operations of a kind of requests. They are called by the thread that holds the request's lock. */
typedef struct trv_request_kind {
    /* Makes progress. Returns 1 if the operation is complete, 0 if it is not, a negative code if it has failed. */
    int (*advance)(trv_request_t *request);
    /* Called once, when the operation has ended with TRV_OK or a negative code, before the request becomes inactive.
     * Returns the code of the request. */
    int (*end)(trv_request_t *request, int code);
    /* Describes as text what the request, a trv_request_t, waits for. */
    void (*describe)(const void *request, char *text, size_t size);
    bool only_awaited; /* the timeout applies only to requests that a thread has waited for or tested */
} trv_request_kind_t;

/* The callbacks of a list of requests. */
typedef struct trv_requests_transport {
    /* Called once when the timeout of a request has expired, by the thread that holds its lock, with the text of
     * `describe`. The request remains active. */
    void (*expire)(trv_request_t *request, const char *text);
    /* Whether an operation that has ended no longer accesses its buffers; before, the request does not end. May be
     * NULL. */
    bool (*released)(void *context);
    /* For trv_request_wait only. The first one makes progress on messages and returns the number of events so far. The
     * second one is called after `polls` consecutive polls without an event, the last of which returned `seen`; it
     * returns when there may be events, or after a while, and true if it has slept or yielded meanwhile. */
    uint64_t (*poll)(void *context);
    bool (*pause)(void *context, uint64_t seen, unsigned polls);
} trv_requests_transport_t;

/* A list of active requests, in the order of their starts. */
typedef struct trv_requests {
    const trv_requests_transport_t *transport;
    void *context;     /* of the transport */
    double timeout_ms; /* 0: none. Timeouts are examined if trv_recording is set */
    pthread_mutex_t progress, lock;
    atomic_int active; /* number of requests in the list */
    trv_request_t *first, **last;
    trv_request_t *cursor; /* the request that the thread which makes progress on all of them advances next */
    int64_t checked_ms;    /* of the latest examination of timeouts */
} trv_requests_t;

struct trv_request {
    const trv_request_kind_t *kind;
    trv_requests_t *requests;
    void (*notify)(void *context, int status); /* called after the end, by the thread that has ended the request, when
                                                  its owner may have freed it; may be NULL. Set by the owner */
    void *context;
    int status;           /* the argument of `notify`, which `end` may set */
    pthread_mutex_t lock; /* protects the members below: */
    bool active, awaited;
    int result; /* of `advance`, once that is not 0 */
    int code;
    char reason[TRV_REASON_MAX]; /* message of a failure */
    trv_watch_t watch;
    trv_request_t *next, **link; /* protected by the lock of the list */
    int64_t checked_ms;          /* of the latest examination of its timeout by the thread that waits for it */
};

/* Initializes a list whose bytes are all 0; trv_requests_progress may be called before. The caller sets the timeout. */
void trv_requests_init(trv_requests_t *requests, const trv_requests_transport_t *transport, void *context);
/* The list must be empty, or its requests abandoned. */
void trv_requests_clear(trv_requests_t *requests);

/* Initializes a request whose bytes are all 0. */
void trv_request_init(trv_request_t *request, trv_requests_t *requests, const trv_request_kind_t *kind);
void trv_request_clear(trv_request_t *request);

/* Makes an inactive request active: from now on any thread may advance and end it. */
void trv_request_begin(trv_request_t *request);
bool trv_request_is_active(trv_request_t *request);
/* The code of a request that is not active, with the message in trv_last_error() if it is negative. */
int trv_request_outcome(const trv_request_t *request);

/* Advances each active request once and returns the number of those that have ended. Never blocks; does nothing while
 * another thread makes progress. */
int trv_requests_progress(trv_requests_t *requests);
/* Waits for a request, or tests it: makes progress until it has ended, or until_ns (trv_now_ns; 0: once) is reached. If
 * it has ended, *ended is true, and its code is returned. One thread at a time may wait for a request. */
int trv_request_wait(trv_request_t *request, double until_ns, bool *ended);

#endif
