/*
 * The thread of the bootstrap, and the functions that wait for it. The thread sleeps in epoll_wait until a connection
 * is ready or another thread of the process wakes it; with unauthenticated connections or a pending failure it wakes
 * periodically.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/thread.h"
#include "bootstrap/tcp/files.h"
#include "bootstrap/tcp/inside.h"

#define GRACE_NS       1e9
#define CONSEQUENCE_NS 300e6
#define PROGRESS_NS    1e6
enum { READ_BYTES = 1 << 16, TICK_MS = 20, KEEPALIVE_IDLE_S = 20, KEEPALIVE_INTERVAL_S = 10, KEEPALIVE_PROBES = 4 };

static void wake(const trv_bootstrap_t *bootstrap)
{
    const uint64_t one = 1;
    ssize_t written = write(bootstrap->wake, &one, sizeof one);
    (void)written; /* the write fails only if the thread is already being woken */
}

void trv_bootstrap_log(trv_bootstrap_t *bootstrap, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    trv_vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (bootstrap->options.log)
        bootstrap->options.log(bootstrap->options.context, sentence);
}

void trv_bootstrap_fail_locked(trv_bootstrap_t *bootstrap, const char *format, ...)
{
    va_list arguments;
    if (atomic_load(&bootstrap->failed))
        return;
    va_start(arguments, format);
    trv_vsnprintf(bootstrap->reason, sizeof bootstrap->reason, format, arguments);
    va_end(arguments);
    atomic_store(&bootstrap->failed, true);
    pthread_cond_broadcast(&bootstrap->changed);
    if (bootstrap->options.failed)
        bootstrap->options.failed(bootstrap->options.context);
}

void trv_bootstrap_fail_frame(trv_bootstrap_t *bootstrap, const trv_frame_t *frame)
{
    trv_bootstrap_fail_locked(bootstrap, "%.*s", (int)(frame->bytes < TRV_REASON_MAX ? frame->bytes : TRV_REASON_MAX),
                              (const char *)frame->content);
}

bool trv_payload_set(trv_payload_t *payload, const void *data, size_t bytes)
{
    free(payload->data);
    *payload = (trv_payload_t){.data = malloc(bytes + 1), .bytes = bytes};
    if (payload->data && bytes > 0)
        memcpy(payload->data, data, bytes);
    return payload->data != NULL;
}

trv_payload_t *trv_bootstrap_payload(const trv_bootstrap_t *bootstrap, int rank)
{
    return &bootstrap->record[bootstrap->round % 2][rank];
}

bool trv_bootstrap_read_table(trv_bootstrap_t *bootstrap, const void *table, size_t bytes)
{
    trv_reader_t reader = trv_reader(table, bytes);
    for (int r = 0; r < bootstrap->options.ranks && !reader.bad; r++) {
        size_t length;
        const uint8_t *record = trv_read_block(&reader, TRV_RECORD_BYTES_MAX, &length);
        if (!reader.bad && !trv_payload_set(trv_bootstrap_payload(bootstrap, r), record, length))
            return false;
    }
    return trv_reader_ends(&reader);
}

/* ---- Connections ------------------------------------------------------------------------------------------------- */

static void connection_watch(const trv_bootstrap_t *bootstrap, trv_connection_t *connection, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | (connection->output_pending ? EPOLLOUT : 0u),
                                .data.ptr = connection};
    epoll_ctl(bootstrap->epoll, operation, connection->fd, &event);
}

/* Detects within a minute that a host is gone, whether or not data are in flight to it. */
void trv_connection_set_options(int fd)
{
    const struct {
        int level, name, value;
    } option[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                  {SOL_SOCKET, SO_KEEPALIVE, 1},
                  {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
                  {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
                  {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES},
                  {IPPROTO_TCP, TCP_USER_TIMEOUT, 1000 * (KEEPALIVE_IDLE_S + KEEPALIVE_INTERVAL_S * KEEPALIVE_PROBES)}};
    for (size_t i = 0; i < sizeof option / sizeof option[0]; i++)
        setsockopt(fd, option[i].level, option[i].name, &option[i].value, sizeof option[i].value);
}

trv_connection_t *trv_connection_create(trv_bootstrap_t *bootstrap, int fd, bool is_server)
{
    uint8_t nonce[TRV_NONCE_BYTES];
    trv_connection_t *connection = calloc(1, sizeof *connection);
    if (!connection || getrandom(nonce, sizeof nonce, 0) != sizeof nonce) {
        free(connection);
        trv_file_close(fd);
        return NULL;
    }
    connection->fd = fd;
    connection->rank = TRV_RANK_UNKNOWN;
    connection->output_pending = true;
    connection->since_ns = trv_now_ns();
    trv_link_begin(&connection->link, is_server, bootstrap->options.secret, nonce);
    connection_watch(bootstrap, connection, EPOLL_CTL_ADD);
    return connection;
}

void trv_connection_free(trv_bootstrap_t *bootstrap, trv_connection_t *connection)
{
    if (!connection)
        return;
    epoll_ctl(bootstrap->epoll, EPOLL_CTL_DEL, connection->fd, NULL);
    trv_file_close(connection->fd);
    trv_link_clear(&connection->link);
    free(connection);
}

bool trv_connection_write(trv_bootstrap_t *bootstrap, trv_connection_t *connection)
{
    size_t bytes;
    const void *out;
    ssize_t written = 0;
    while ((out = trv_link_out(&connection->link, &bytes)) &&
           (written = send(connection->fd, out, bytes, MSG_NOSIGNAL)) > 0)
        trv_link_wrote(&connection->link, (size_t)written);
    const bool blocked = out && written < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOTCONN);
    if (out && !blocked)
        connection->error = errno; /* recv would not report it again */
    if (connection->output_pending != blocked) {
        connection->output_pending = blocked;
        connection_watch(bootstrap, connection, EPOLL_CTL_MOD);
    }
    if (!out && connection->closing) {
        connection->closing = false;
        shutdown(connection->fd, SHUT_WR);
    }
    return !out || blocked;
}

/* Reads the available bytes and processes their frames; false if the connection is closed or has failed. */
static bool connection_read(trv_bootstrap_t *bootstrap, trv_connection_t *connection, bool *wrong)
{
    static _Thread_local uint8_t buffer[READ_BYTES];
    ssize_t got = recv(connection->fd, buffer, sizeof buffer, 0);
    *wrong = false;
    if (got <= 0) {
        if (got < 0)
            connection->error = errno;
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    int rc = trv_link_feed(&connection->link, buffer, (size_t)got);
    trv_frame_t frame;
    while (rc >= 0 && (rc = trv_link_next(&connection->link, &frame)) > 0) {
        if (connection->link.is_server)
            trv_server_frame(bootstrap, connection, &frame);
        else
            trv_client_frame(bootstrap, &frame);
    }
    *wrong = rc < 0;
    return rc >= 0;
}

static void connection_event(trv_bootstrap_t *bootstrap, const struct epoll_event *event)
{
    trv_connection_t *connection = event->data.ptr;
    bool wrong = false, open = true;
    if (event->events & EPOLLIN)
        open = connection_read(bootstrap, connection, &wrong);
    if (open && (event->events & EPOLLOUT))
        open = trv_connection_write(bootstrap, connection);
    if (open && !(event->events & EPOLLIN) && (event->events & (EPOLLERR | EPOLLHUP)))
        open = false;
    if (open)
        return;
    if (connection->link.is_server)
        trv_server_closed(bootstrap, connection, wrong);
    else
        trv_client_closed(bootstrap, wrong);
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

static void wake_drain(const trv_bootstrap_t *bootstrap)
{
    uint64_t count;
    ssize_t got = read(bootstrap->wake, &count, sizeof count);
    (void)got;
}

/* Processes one event per iteration, since an event may free the connection of another event. */
static void *thread_run(void *context)
{
    trv_bootstrap_t *bootstrap = context;
    struct epoll_event event;
    pthread_mutex_lock(&bootstrap->lock);
    while (!bootstrap->stop) {
        const double now_ns = trv_now_ns();
        if (bootstrap->options.rank == 0)
            trv_server_step(bootstrap, now_ns);
        else
            trv_client_step(bootstrap, now_ns);
        trv_relay_step(bootstrap, now_ns);
        const bool failed = atomic_load(&bootstrap->failed);
        const bool quiet = bootstrap->joined && !bootstrap->unauthenticated_count &&
                           (failed ? bootstrap->relay.splices.count == 0 : bootstrap->failure_due_ns == 0);
        pthread_mutex_unlock(&bootstrap->lock);
        const bool any = epoll_wait(bootstrap->epoll, &event, 1, quiet ? -1 : TICK_MS) == 1;
        pthread_mutex_lock(&bootstrap->lock);
        if (any && event.data.ptr == &bootstrap->wake)
            wake_drain(bootstrap);
        else if (any && event.data.ptr == &bootstrap->listener)
            trv_server_accept(bootstrap);
        else if (any && !trv_relay_event(bootstrap, event.data.ptr))
            connection_event(bootstrap, &event);
    }
    pthread_mutex_unlock(&bootstrap->lock);
    return NULL;
}

static int thread_start(trv_bootstrap_t *bootstrap)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &bootstrap->wake};
    bootstrap->epoll = trv_file_epoll();
    bootstrap->wake = trv_file_event();
    if (bootstrap->epoll < 0 || bootstrap->wake < 0 ||
        epoll_ctl(bootstrap->epoll, EPOLL_CTL_ADD, bootstrap->wake, &event) != 0)
        return trv_fail(TRV_ERR_TRANSPORT, "no file descriptor is available for the connections of the job: %s",
                        strerror(errno));
    int rc = bootstrap->options.rank == 0 ? trv_server_listen(bootstrap) : TRV_OK;
    if (rc < 0)
        return rc;
    rc = trv_thread_create(&bootstrap->thread, thread_run, bootstrap);
    bootstrap->threaded = rc == TRV_OK;
    return rc;
}

/* ---- Public functions -------------------------------------------------------------------------------------------- */

int trv_bootstrap_open(trv_bootstrap_t **opened, const trv_bootstrap_options_t *options)
{
    pthread_condattr_t clock;
    trv_bootstrap_t *bootstrap = calloc(1, sizeof *bootstrap);
    *opened = NULL;
    if (!bootstrap)
        return trv_fail_memory();
    bootstrap->options = *options;
    bootstrap->port = options->port;
    bootstrap->listener = bootstrap->epoll = bootstrap->wake = -1;
    trv_relay_begin(&bootstrap->relay);
    snprintf(bootstrap->address, sizeof bootstrap->address, "%s", options->address);
    pthread_mutex_init(&bootstrap->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&bootstrap->changed, &clock);
    pthread_condattr_destroy(&clock);
    for (int i = 0; i < 2; i++)
        bootstrap->record[i] = calloc((size_t)options->ranks, sizeof *bootstrap->record[i]);
    bootstrap->greeting = calloc((size_t)options->ranks, sizeof *bootstrap->greeting);
    bootstrap->connection = calloc((size_t)options->ranks, sizeof(trv_connection_t *));
    bootstrap->relay_rank = calloc((size_t)options->ranks, sizeof *bootstrap->relay_rank);
    int rc = bootstrap->record[0] && bootstrap->record[1] && bootstrap->greeting && bootstrap->connection &&
                     bootstrap->relay_rank
                 ? TRV_OK
                 : trv_fail_memory();
    if (rc == TRV_OK && options->ranks > 1)
        rc = thread_start(bootstrap);
    if (rc < 0)
        trv_bootstrap_close(bootstrap);
    else
        *opened = bootstrap;
    return rc;
}

int trv_bootstrap_port(const trv_bootstrap_t *bootstrap) { return bootstrap->port; }

bool trv_bootstrap_has_failed(const trv_bootstrap_t *bootstrap) { return atomic_load(&bootstrap->failed); }

int trv_bootstrap_state(const trv_bootstrap_t *bootstrap)
{
    return atomic_load(&bootstrap->failed) ? trv_fail(TRV_ERR_TRANSPORT, "%s", bootstrap->reason) : TRV_OK;
}

static struct timespec timespec_of(double ns)
{
    const time_t seconds = (time_t)(ns / 1e9);
    return (struct timespec){seconds, (long)(ns - 1e9 * (double)seconds)};
}

static int timeout_fail(trv_bootstrap_t *bootstrap, const char *what)
{
    char missing[640] = "", without_link[TRV_WITHOUT_LINK_MAX];
    if (bootstrap->options.rank == 0)
        trv_server_missing(bootstrap, missing, sizeof missing);
    else if (!bootstrap->joined)
        snprintf(missing, sizeof missing, ": rank 0 at %.200s, port %d, %s", bootstrap->address, bootstrap->port,
                 *bootstrap->connect_error ? bootstrap->connect_error
                                           : "does not answer, or not all ranks are connected");
    trv_bootstrap_fail_locked(bootstrap, "rank %d timed out after %.3g s while it waited %s%.*s%s",
                              bootstrap->options.rank, bootstrap->options.timeout_ns / 1e9, what,
                              (int)(sizeof missing - sizeof without_link), missing,
                              trv_host_without_link(without_link));
    wake(bootstrap);
    return trv_bootstrap_state(bootstrap);
}

/* Waits until *reached is set; the caller holds the lock. Rank 0 times out first, because it knows which ranks are
 * missing. */
static int step_wait(trv_bootstrap_t *bootstrap, const bool *reached, const char *what, void (*meanwhile)(void *),
                     void *context)
{
    const double end_ns = trv_now_ns() + bootstrap->options.timeout_ns + (bootstrap->options.rank == 0 ? 0 : GRACE_NS);
    wake(bootstrap);
    while (!*reached && !atomic_load(&bootstrap->failed)) {
        const double now_ns = trv_now_ns(), next_ns = meanwhile ? now_ns + PROGRESS_NS : end_ns;
        const struct timespec next = timespec_of(next_ns < end_ns ? next_ns : end_ns);
        if (now_ns >= end_ns)
            return timeout_fail(bootstrap, what);
        pthread_cond_timedwait(&bootstrap->changed, &bootstrap->lock, &next);
        if (!meanwhile)
            continue;
        pthread_mutex_unlock(&bootstrap->lock);
        meanwhile(context);
        pthread_mutex_lock(&bootstrap->lock);
    }
    return trv_bootstrap_state(bootstrap);
}

int trv_bootstrap_gather(trv_bootstrap_t *bootstrap)
{
    int rc = TRV_OK;
    pthread_mutex_lock(&bootstrap->lock);
    if (bootstrap->options.ranks > 1)
        rc = step_wait(bootstrap, &bootstrap->gathered, "for all ranks to connect", NULL, NULL);
    pthread_mutex_unlock(&bootstrap->lock);
    return rc;
}

const void *trv_bootstrap_greeting(const trv_bootstrap_t *bootstrap, int rank, size_t *bytes)
{
    *bytes = bootstrap->greeting[rank].bytes;
    return bootstrap->greeting[rank].data;
}

int trv_bootstrap_join(trv_bootstrap_t *bootstrap, const void *welcome, size_t bytes)
{
    pthread_mutex_lock(&bootstrap->lock);
    int rc = TRV_OK;
    if (bootstrap->options.rank == 0 && !trv_payload_set(&bootstrap->welcome, welcome, bytes))
        rc = trv_fail_memory();
    bootstrap->joining = true;
    bootstrap->joined = bootstrap->options.ranks == 1;
    if (rc == TRV_OK && !bootstrap->joined)
        rc = step_wait(bootstrap, &bootstrap->joined, "for all ranks to connect", NULL, NULL);
    pthread_mutex_unlock(&bootstrap->lock);
    return rc;
}

const void *trv_bootstrap_welcome(const trv_bootstrap_t *bootstrap, size_t *bytes)
{
    *bytes = bootstrap->welcome.bytes;
    return bootstrap->welcome.data;
}

const char *trv_bootstrap_local(const trv_bootstrap_t *bootstrap) { return bootstrap->local; }

int trv_bootstrap_relay(const trv_bootstrap_t *bootstrap) { return bootstrap->relay.rank; }

int trv_bootstrap_exchange(trv_bootstrap_t *bootstrap, const void *record, size_t bytes)
{
    pthread_mutex_lock(&bootstrap->lock);
    bootstrap->round++;
    int rc = trv_payload_set(trv_bootstrap_payload(bootstrap, bootstrap->options.rank), record, bytes)
                 ? TRV_OK
                 : trv_fail_memory();
    bootstrap->exchanged = bootstrap->options.ranks == 1;
    if (rc == TRV_OK && !bootstrap->exchanged)
        rc = step_wait(bootstrap, &bootstrap->exchanged, "for the records of all ranks", NULL, NULL);
    pthread_mutex_unlock(&bootstrap->lock);
    return rc;
}

const void *trv_bootstrap_record(const trv_bootstrap_t *bootstrap, int rank, size_t *bytes)
{
    const trv_payload_t *payload = trv_bootstrap_payload(bootstrap, rank);
    *bytes = payload->bytes;
    return payload->data;
}

static void failure_report(trv_bootstrap_t *bootstrap, const char *sentence, double when_ns)
{
    if (bootstrap->failure_due_ns > 0 && bootstrap->failure_due_ns <= when_ns)
        return; /* an earlier failure takes precedence */
    snprintf(bootstrap->reported_failure, sizeof bootstrap->reported_failure, "%s", sentence);
    bootstrap->failure_due_ns = when_ns;
}

bool trv_bootstrap_failure_is_due(const trv_bootstrap_t *bootstrap, double now_ns)
{
    return bootstrap->failure_due_ns > 0 && now_ns >= bootstrap->failure_due_ns;
}

void trv_bootstrap_report(trv_bootstrap_t *bootstrap, const char *sentence, bool consequence)
{
    pthread_mutex_lock(&bootstrap->lock);
    failure_report(bootstrap, sentence, trv_now_ns() + (consequence ? CONSEQUENCE_NS : 0));
    pthread_mutex_unlock(&bootstrap->lock);
    wake(bootstrap);
}

void trv_bootstrap_fail(trv_bootstrap_t *bootstrap, const char *sentence)
{
    pthread_mutex_lock(&bootstrap->lock);
    const double end_ns = trv_now_ns() + GRACE_NS;
    const struct timespec end = timespec_of(end_ns);
    failure_report(bootstrap, sentence, trv_now_ns());
    wake(bootstrap);
    while (bootstrap->threaded && !atomic_load(&bootstrap->failed) && trv_now_ns() < end_ns)
        pthread_cond_timedwait(&bootstrap->changed, &bootstrap->lock, &end);
    trv_bootstrap_fail_locked(bootstrap, "%s", bootstrap->reported_failure);
    pthread_mutex_unlock(&bootstrap->lock);
    wake(bootstrap);
}

int trv_bootstrap_leave(trv_bootstrap_t *bootstrap, void (*meanwhile)(void *context), void *context)
{
    pthread_mutex_lock(&bootstrap->lock);
    bootstrap->leaving = true;
    int rc = trv_bootstrap_state(bootstrap);
    if (rc == TRV_OK && bootstrap->options.ranks > 1)
        rc = step_wait(bootstrap, &bootstrap->all_left, "for all ranks to end the job", meanwhile, context);
    pthread_mutex_unlock(&bootstrap->lock);
    return rc;
}

/* True while a connection is open: output may be pending, or the peer has not closed its end yet. */
static bool has_connections(const trv_bootstrap_t *bootstrap)
{
    for (int r = 0; r < bootstrap->options.ranks; r++)
        if (bootstrap->connection[r])
            return true;
    return bootstrap->to_rank_0;
}

/* After a failure, waits until the peers have received it and closed their connections; closing a connection earlier
 * could discard frames in flight. For the same reason a rank that relays connections waits for their ends, also at the
 * regular end of the job. */
static void connections_drain(trv_bootstrap_t *bootstrap)
{
    enum { PARTING_MS = 1000, PAUSE_MS = 2 };
    const double start_ns = trv_now_ns();
    for (;;) {
        pthread_mutex_lock(&bootstrap->lock);
        const bool failed = atomic_load(&bootstrap->failed), relays = bootstrap->relay.splices.count > 0,
                   busy = failed ? has_connections(bootstrap) || relays : bootstrap->all_left && relays;
        pthread_mutex_unlock(&bootstrap->lock);
        if (!busy || trv_now_ns() - start_ns > (failed ? PARTING_MS * 1e6 : bootstrap->options.timeout_ns))
            return;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    }
}

void trv_bootstrap_close(trv_bootstrap_t *bootstrap)
{
    if (!bootstrap)
        return;
    if (bootstrap->threaded) {
        connections_drain(bootstrap);
        pthread_mutex_lock(&bootstrap->lock);
        bootstrap->stop = true;
        pthread_mutex_unlock(&bootstrap->lock);
        wake(bootstrap);
        pthread_join(bootstrap->thread, NULL);
    }
    for (int r = 0; r < bootstrap->options.ranks; r++) {
        if (bootstrap->connection)
            trv_connection_free(bootstrap, bootstrap->connection[r]);
        for (int i = 0; i < 2; i++)
            if (bootstrap->record[i])
                free(bootstrap->record[i][r].data);
        if (bootstrap->greeting)
            free(bootstrap->greeting[r].data);
    }
    while (bootstrap->unauthenticated) {
        trv_connection_t *next = bootstrap->unauthenticated->next;
        trv_connection_free(bootstrap, bootstrap->unauthenticated);
        bootstrap->unauthenticated = next;
    }
    trv_connection_free(bootstrap, bootstrap->to_rank_0);
    trv_relay_end(&bootstrap->relay);
    const int file[] = {bootstrap->listener, bootstrap->epoll, bootstrap->wake};
    for (int i = 0; i < 3; i++)
        trv_file_close(file[i]);
    trv_writer_clear(&bootstrap->table);
    free(bootstrap->welcome.data);
    free(bootstrap->record[0]);
    free(bootstrap->record[1]);
    free(bootstrap->greeting);
    free(bootstrap->connection);
    free(bootstrap->relay_rank);
    pthread_cond_destroy(&bootstrap->changed);
    pthread_mutex_destroy(&bootstrap->lock);
    free(bootstrap);
}
