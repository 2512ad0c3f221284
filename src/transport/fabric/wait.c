/*
 * Progress, and waiting for events: after some polls without an event, one thread sleeps on the file descriptors of the
 * completion queues, and other waiting threads sleep until that thread wakes them.
 */
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "transport/fabric/inside.h"

enum {
    ENTRIES = 32,
    SPINS = 400,
    SPINS_OVERSUBSCRIBED = 16,
    YIELDS = 32,
    SLEEP_MS = 100,
    RETRY_MS = 1,
    SHORT_SLEEP_NS = 20000
};

/* ---- Completions ------------------------------------------------------------------------------------------------- */

/* Checks a received fragment of `bytes` bytes. total: length of the whole message; longer: it exceeds total by an
 * unknown number of bytes. */
static void fragment_check(trv_fabric_t *fabric, trv_fabric_op_t *op, size_t index, size_t bytes, uint64_t total,
                           bool longer)
{
    char sentence[256];
    if (op->final_state != TRV_OP_DONE)
        return; /* the operation is being stopped */
    if (!longer && total == op->bytes && bytes == trv_fragment_bytes(op, index))
        return;
    op->bytes_received = (size_t)total;
    op->longer = longer;
    if (fabric->options.wrong_length)
        fabric->options.wrong_length(fabric->options.context, trv_fabric_wrong_length(fabric, op, sentence));
    trv_fabric_op_stop(fabric, op, TRV_OP_WRONG);
}

/* Accounts for a fragment that the provider has completed, and returns its operation. */
static trv_fabric_op_t *fragment_complete(trv_fabric_t *fabric, trv_fragment_t *fragment)
{
    trv_fabric_op_t *op = fragment->op;
    fragment->pending = false;
    op->fragments_pending--;
    fabric->interface[op->interface].limited[op->sends] -= op->limited;
    return op;
}

static size_t index_of(const trv_fragment_t *fragment)
{
    return fragment == &fragment->op->single_fragment ? 0 : (size_t)(fragment - fragment->op->fragment_list);
}

static void completion_handle(trv_fabric_t *fabric, const struct fi_cq_tagged_entry *entry)
{
    trv_fragment_t *fragment = entry->op_context;
    const size_t index = index_of(fragment);
    trv_fabric_op_t *op = fragment_complete(fabric, fragment);
    trv_interface_t *interface = &fabric->interface[op->interface];
    if (!op->sends) {
        interface->bytes[0] += entry->len;
        interface->messages[0] += index == 0;
        const bool has_total = entry->flags & FI_REMOTE_CQ_DATA, longer = !has_total && entry->len > op->bytes;
        fragment_check(fabric, op, index, entry->len,
                       has_total ? entry->data
                       : longer  ? op->bytes
                                 : entry->len,
                       longer);
    }
    trv_fabric_op_end(op);
}

static void interface_fail(trv_fabric_t *fabric, const trv_interface_t *interface, const trv_fabric_op_t *op, int code)
{
    char sentence[512];
    if (op) {
        trv_fabric_fail_peer(fabric, op, fi_strerror(code));
        return;
    }
    snprintf(sentence, sizeof sentence, "rank %d can no longer use %s: %s", fabric->options.oob.rank, interface->name,
             fi_strerror(code));
    fabric->options.fail(fabric->options.context, sentence);
}

/* Handles an entry of the error queue; false if there is none, although the completion queue has reported one. */
static bool error_handle(trv_fabric_t *fabric, trv_interface_t *interface)
{
    struct fi_cq_err_entry entry = {.op_context = NULL};
    if (fi_cq_readerr(interface->cq, &entry, 0) < 1)
        return false;
    if (!entry.op_context)
        return true; /* not the error of an operation; operations that fail because of it have separate entries */
    trv_fragment_t *fragment = entry.op_context;
    const size_t index = index_of(fragment);
    trv_fabric_op_t *op = fragment_complete(fabric, fragment);
    const int error = entry.err < 0 ? -entry.err : entry.err; /* providers differ in the sign */
    if (!op->sends && (error == FI_ETRUNC || error == FI_ETOOSMALL)) {
        fragment_check(fabric, op, index, op->bytes, op->bytes, true);
    } else {
        if (error != FI_ECANCELED)
            interface_fail(fabric, interface, op, error);
        if (op->final_state == TRV_OP_DONE)
            trv_fabric_op_stop(fabric, op, TRV_OP_FREE);
    }
    trv_fabric_op_end(op);
    return true;
}

/* Returns the number of completions. */
static int interface_poll(trv_fabric_t *fabric, trv_interface_t *interface)
{
    struct fi_cq_tagged_entry entry[ENTRIES];
    int events = 0;
    for (;;) {
        const ssize_t got = fi_cq_read(interface->cq, entry, ENTRIES);
        for (ssize_t i = 0; i < got; i++)
            completion_handle(fabric, &entry[i]);
        events += got > 0 ? (int)got : 0;
        if (got == -FI_EAVAIL && error_handle(fabric, interface)) {
            events++;
            continue;
        }
        if (got < 0 && got != -FI_EAVAIL && got != -FI_EAGAIN && got != -FI_EINTR)
            interface_fail(fabric, interface, NULL, (int)-got);
        if (got < ENTRIES)
            break;
    }
    trv_fabric_retry(fabric, interface);
    return events;
}

/* Closes the endpoints. If a thread sleeps on their file descriptors, it is woken instead, and the next poll closes
 * them. */
static void fabric_shut(trv_fabric_t *fabric)
{
    pthread_mutex_lock(&fabric->waiting);
    const bool sleeps = fabric->has_leader;
    pthread_mutex_unlock(&fabric->waiting);
    if (sleeps)
        trv_fabric_wake(fabric);
    else
        trv_fabric_shut(fabric);
}

uint64_t trv_fabric_poll(trv_fabric_t *fabric)
{
    int events = 0;
    if (pthread_mutex_trylock(&fabric->lock) != 0)
        return atomic_load(&fabric->events);
    if (atomic_load(&fabric->broken) && !fabric->shut)
        fabric_shut(fabric);
    for (int p = 0; p < fabric->interfaces && !fabric->shut; p++)
        events += interface_poll(fabric, &fabric->interface[p]);
    if (events > 0)
        atomic_fetch_add(&fabric->events, (unsigned)events);
    const uint64_t seen = atomic_load(&fabric->events);
    pthread_mutex_unlock(&fabric->lock);
    if (events > 0 && atomic_load(&fabric->waiters) > 0)
        trv_fabric_wake(fabric);
    return seen;
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

void trv_fabric_wake(trv_fabric_t *fabric)
{
    const uint64_t one = 1;
    ssize_t written = write(fabric->wake, &one, sizeof one);
    (void)written; /* the write fails only if the thread is already being woken */
}

/* Determines how long to sleep, in ms; 0: not to sleep. The file descriptors report every event, except that a deferred
 * operation may be retried, for which the sleep is short. Called while no other thread can close the file
 * descriptors. */
static int leader_sleep_ms(trv_fabric_t *fabric)
{
    bool may = !atomic_load(&fabric->broken), retries = false;
    pthread_mutex_lock(&fabric->lock);
    for (int p = 0; may && p < fabric->interfaces && !fabric->shut; p++) {
        trv_interface_t *interface = &fabric->interface[p];
        struct fid *queue = &interface->cq->fid;
        may = fi_trywait(interface->fabric, &queue, 1) == FI_SUCCESS;
        retries = retries || trv_interface_retries(interface);
    }
    pthread_mutex_unlock(&fabric->lock);
    return !may ? 0 : retries ? RETRY_MS : SLEEP_MS;
}

static void leader_sleep(trv_fabric_t *fabric)
{
    struct pollfd file[TRV_PORTS_MAX + 1];
    for (int p = 0; p < fabric->interfaces; p++)
        file[p] = (struct pollfd){.fd = fabric->interface[p].wait_fd, .events = POLLIN};
    file[fabric->interfaces] = (struct pollfd){.fd = fabric->wake, .events = POLLIN};
    const int ms = leader_sleep_ms(fabric);
    if (ms == 0)
        return;
    uint64_t count;
    if (poll(file, (nfds_t)fabric->interfaces + 1, ms) > 0 && (file[fabric->interfaces].revents & POLLIN) &&
        read(fabric->wake, &count, sizeof count) < 0)
        return; /* another thread has read it */
}

static void follower_sleep(pthread_cond_t *changed, pthread_mutex_t *lock)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += SLEEP_MS * 1000000L;
    end.tv_sec += end.tv_nsec / 1000000000L;
    end.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(changed, lock, &end);
}

static bool has_files(const trv_fabric_t *fabric)
{
    bool has = true;
    for (int p = 0; p < fabric->interfaces; p++)
        has = has && fabric->interface[p].wait_fd >= 0;
    return has;
}

bool trv_fabric_pause(trv_fabric_t *fabric, uint64_t seen, unsigned polls)
{
    const unsigned spins = fabric->oversubscribed ? SPINS_OVERSUBSCRIBED : SPINS;
    if (polls <= spins)
        return false;
    if (!has_files(fabric)) {
        if (polls <= 2 * spins)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = SHORT_SLEEP_NS}, NULL);
        return true;
    }
    /* On an oversubscribed host the rank that this thread waits for is likely to run next. Yielding to it takes less
     * time than sleeping until it wakes this thread. */
    if (fabric->oversubscribed && polls <= spins + YIELDS) {
        sched_yield();
        return true;
    }
    atomic_fetch_add(&fabric->waiters, 1);
    pthread_mutex_lock(&fabric->waiting);
    if (fabric->has_leader && atomic_load(&fabric->events) == seen && !atomic_load(&fabric->broken)) {
        follower_sleep(&fabric->changed, &fabric->waiting);
    } else if (!fabric->has_leader && atomic_load(&fabric->events) == seen) {
        fabric->has_leader = true;
        pthread_mutex_unlock(&fabric->waiting);
        leader_sleep(fabric);
        pthread_mutex_lock(&fabric->waiting);
        fabric->has_leader = false;
        pthread_cond_broadcast(&fabric->changed);
    }
    pthread_mutex_unlock(&fabric->waiting);
    atomic_fetch_sub(&fabric->waiters, 1);
    return true;
}
