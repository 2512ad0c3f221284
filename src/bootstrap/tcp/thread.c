/*
 * The thread of the bootstrap, and the functions that wait for it. The thread sleeps in epoll_wait until a connection
 * is ready or another thread of the process wakes it; with unauthenticated connections or a pending failure it wakes
 * periodically.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
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
#include "bootstrap/tcp/files.h"
#include "bootstrap/tcp/inside.h"

#define GRACE_NS     1e9
#define FOLLOWS_NS   300e6
#define MEANWHILE_NS 1e6
enum { READ_BYTES = 1 << 16, TICK_MS = 20, QUIET_S = 20, ASK_AGAIN_S = 10, ASKED_TIMES = 4 };

static void wake(const trv_meeting_t *meeting)
{
    const uint64_t one = 1;
    ssize_t written = write(meeting->wake, &one, sizeof one);
    (void)written; /* the write fails only if the thread is already being woken */
}

void trv_meeting_log(trv_meeting_t *meeting, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (meeting->options.log)
        meeting->options.log(meeting->options.context, sentence);
}

void trv_meeting_fail_locked(trv_meeting_t *meeting, const char *sentence)
{
    if (atomic_load(&meeting->failed))
        return;
    snprintf(meeting->reason, sizeof meeting->reason, "%s", sentence);
    atomic_store(&meeting->failed, true);
    pthread_cond_broadcast(&meeting->changed);
    if (meeting->options.failed)
        meeting->options.failed(meeting->options.context);
}

bool trv_saying_set(trv_saying_t *saying, const void *data, size_t bytes)
{
    free(saying->data);
    *saying = (trv_saying_t){.data = malloc(bytes + 1), .bytes = bytes};
    saying->there = saying->data;
    if (saying->there && bytes > 0)
        memcpy(saying->data, data, bytes);
    return saying->there;
}

trv_saying_t *trv_meeting_saying(const trv_meeting_t *meeting, int rank)
{
    return &meeting->record[meeting->round % 2][rank];
}

bool trv_meeting_read_table(trv_meeting_t *meeting, const void *table, size_t bytes)
{
    trv_reader_t reader = trv_reader(table, bytes);
    for (int r = 0; r < meeting->options.ranks && !reader.bad; r++) {
        size_t length;
        const uint8_t *record = trv_read_block(&reader, TRV_RECORD_BYTES_MAX, &length);
        if (!reader.bad && !trv_saying_set(trv_meeting_saying(meeting, r), record, length))
            return false;
    }
    return trv_reader_ends(&reader);
}

/* ---- Connections ------------------------------------------------------------------------------------------------- */

static void watch(const trv_meeting_t *meeting, trv_end_t *end, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | (end->writes ? EPOLLOUT : 0u), .data.ptr = end};
    epoll_ctl(meeting->epoll, operation, end->fd, &event);
}

/* Detects within a minute that a host is gone, whether or not data are in flight to it. */
void trv_end_prepare(int fd)
{
    const struct {
        int level, name, value;
    } option[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                  {SOL_SOCKET, SO_KEEPALIVE, 1},
                  {IPPROTO_TCP, TCP_KEEPIDLE, QUIET_S},
                  {IPPROTO_TCP, TCP_KEEPINTVL, ASK_AGAIN_S},
                  {IPPROTO_TCP, TCP_KEEPCNT, ASKED_TIMES},
                  {IPPROTO_TCP, TCP_USER_TIMEOUT, 1000 * (QUIET_S + ASK_AGAIN_S * ASKED_TIMES)}};
    for (size_t i = 0; i < sizeof option / sizeof option[0]; i++)
        setsockopt(fd, option[i].level, option[i].name, &option[i].value, sizeof option[i].value);
}

trv_end_t *trv_end_make(trv_meeting_t *meeting, int fd, bool serves)
{
    uint8_t nonce[TRV_NONCE_BYTES];
    trv_end_t *end = calloc(1, sizeof *end);
    if (!end || getrandom(nonce, sizeof nonce, 0) != sizeof nonce) {
        free(end);
        trv_file_close(fd);
        return NULL;
    }
    end->fd = fd;
    end->rank = TRV_NOBODY;
    end->writes = true;
    end->since_ns = trv_now_ns();
    trv_link_begin(&end->link, serves, meeting->options.secret, nonce);
    watch(meeting, end, EPOLL_CTL_ADD);
    return end;
}

void trv_end_free(trv_meeting_t *meeting, trv_end_t *end)
{
    if (!end)
        return;
    epoll_ctl(meeting->epoll, EPOLL_CTL_DEL, end->fd, NULL);
    trv_file_close(end->fd);
    trv_link_clear(&end->link);
    free(end);
}

bool trv_end_write(trv_meeting_t *meeting, trv_end_t *end)
{
    size_t bytes;
    const void *out;
    ssize_t written = 0;
    while ((out = trv_link_out(&end->link, &bytes)) && (written = send(end->fd, out, bytes, MSG_NOSIGNAL)) > 0)
        trv_link_wrote(&end->link, (size_t)written);
    const bool waits = out && written < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOTCONN);
    if (end->writes != waits) {
        end->writes = waits;
        watch(meeting, end, EPOLL_CTL_MOD);
    }
    if (!out && end->closing) {
        end->closing = false;
        shutdown(end->fd, SHUT_WR);
    }
    return !out || waits;
}

/* Reads the available bytes and processes their frames; false if the connection is closed or has failed. */
static bool read_end(trv_meeting_t *meeting, trv_end_t *end, bool *wrong)
{
    static _Thread_local uint8_t buffer[READ_BYTES];
    ssize_t got = recv(end->fd, buffer, sizeof buffer, 0);
    *wrong = false;
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    int rc = trv_link_feed(&end->link, buffer, (size_t)got);
    trv_frame_t frame;
    while (rc >= 0 && (rc = trv_link_next(&end->link, &frame)) > 0) {
        if (end->link.serves)
            trv_serve_frame(meeting, end, &frame);
        else
            trv_join_frame(meeting, &frame);
    }
    *wrong = rc < 0;
    return rc >= 0;
}

static void serve_event(trv_meeting_t *meeting, const struct epoll_event *event)
{
    trv_end_t *end = event->data.ptr;
    bool wrong = false, lives = true;
    if (event->events & EPOLLIN)
        lives = read_end(meeting, end, &wrong);
    if (lives && (event->events & EPOLLOUT))
        lives = trv_end_write(meeting, end);
    if (lives && !(event->events & EPOLLIN) && (event->events & (EPOLLERR | EPOLLHUP)))
        lives = false;
    if (lives)
        return;
    if (end->link.serves)
        trv_serve_over(meeting, end, wrong);
    else
        trv_join_over(meeting, wrong);
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

static void drain(const trv_meeting_t *meeting)
{
    uint64_t count;
    ssize_t got = read(meeting->wake, &count, sizeof count);
    (void)got;
}

/* Processes one event per iteration, since an event may free the connection of another event. */
static void *run(void *context)
{
    trv_meeting_t *meeting = context;
    struct epoll_event event;
    pthread_mutex_lock(&meeting->lock);
    while (!meeting->stop) {
        const double now_ns = trv_now_ns();
        if (meeting->options.rank == 0)
            trv_serve_step(meeting, now_ns);
        else
            trv_join_step(meeting, now_ns);
        const bool settled = meeting->joined && !meeting->strangers &&
                             (meeting->propose_ns == 0 || atomic_load(&meeting->failed));
        pthread_mutex_unlock(&meeting->lock);
        const bool any = epoll_wait(meeting->epoll, &event, 1, settled ? -1 : TICK_MS) == 1;
        pthread_mutex_lock(&meeting->lock);
        if (any && event.data.ptr == &meeting->wake)
            drain(meeting);
        else if (any && event.data.ptr == &meeting->listener)
            trv_serve_accept(meeting);
        else if (any)
            serve_event(meeting, &event);
    }
    pthread_mutex_unlock(&meeting->lock);
    return NULL;
}

static int start_thread(trv_meeting_t *meeting)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &meeting->wake};
    meeting->epoll = trv_file_epoll();
    meeting->wake = trv_file_event();
    if (meeting->epoll < 0 || meeting->wake < 0 || epoll_ctl(meeting->epoll, EPOLL_CTL_ADD, meeting->wake, &event) != 0)
        return trv_fail(TRV_ERR_TRANSPORT, "no file descriptors are left to wait for connections with: %s",
                        strerror(errno));
    int rc = meeting->options.rank == 0 ? trv_serve_listen(meeting) : TRV_OK;
    if (rc < 0)
        return rc;
    /* Signals are to be delivered to the program's own threads. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    rc = pthread_create(&meeting->thread, NULL, run, meeting);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    meeting->threaded = rc == 0;
    return rc == 0 ? TRV_OK : trv_fail(TRV_ERR_MEMORY, "the system cannot create a thread: %s", strerror(rc));
}

/* ---- Public functions -------------------------------------------------------------------------------------------- */

int trv_meeting_open(trv_meeting_t **opened, const trv_meeting_options_t *options)
{
    pthread_condattr_t clock;
    trv_meeting_t *meeting = calloc(1, sizeof *meeting);
    *opened = NULL;
    if (!meeting)
        return trv_fail_memory();
    meeting->options = *options;
    meeting->port = options->port;
    meeting->listener = meeting->epoll = meeting->wake = -1;
    snprintf(meeting->address, sizeof meeting->address, "%s", options->address);
    pthread_mutex_init(&meeting->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&meeting->changed, &clock);
    pthread_condattr_destroy(&clock);
    for (int i = 0; i < 2; i++)
        meeting->record[i] = calloc((size_t)options->ranks, sizeof *meeting->record[i]);
    meeting->end = calloc((size_t)options->ranks, sizeof(trv_end_t *));
    int rc = meeting->record[0] && meeting->record[1] && meeting->end ? TRV_OK : trv_fail_memory();
    if (rc == TRV_OK && options->ranks > 1)
        rc = start_thread(meeting);
    if (rc < 0)
        trv_meeting_close(meeting);
    else
        *opened = meeting;
    return rc;
}

int trv_meeting_port(const trv_meeting_t *meeting) { return meeting->port; }

bool trv_meeting_has_failed(const trv_meeting_t *meeting) { return atomic_load(&meeting->failed); }

int trv_meeting_state(const trv_meeting_t *meeting)
{
    return atomic_load(&meeting->failed) ? trv_fail(TRV_ERR_TRANSPORT, "%s", meeting->reason) : TRV_OK;
}

static struct timespec as_time(double ns)
{
    const time_t seconds = (time_t)(ns / 1e9);
    return (struct timespec){seconds, (long)(ns - 1e9 * (double)seconds)};
}

static int too_late(trv_meeting_t *meeting, const char *what)
{
    char missing[512] = "", sentence[TRV_REASON_MAX];
    if (meeting->options.rank == 0)
        trv_serve_missing(meeting, missing, sizeof missing);
    else if (!meeting->joined)
        snprintf(missing, sizeof missing, ": rank 0 at %s, port %d, %s", meeting->address, meeting->port,
                 meeting->why_not ? meeting->why_not : "does not answer, or not all ranks have come");
    snprintf(sentence, sizeof sentence, "rank %d waited %.3g s in vain %s%s", meeting->options.rank,
             meeting->options.timeout_ns / 1e9, what, missing);
    trv_meeting_fail_locked(meeting, sentence);
    wake(meeting);
    return trv_meeting_state(meeting);
}

/* Waits until *reached is set; the caller holds the lock. Rank 0 times out first, because it knows which ranks are
 * missing. */
static int wait_for(trv_meeting_t *meeting, const bool *reached, const char *what, void (*meanwhile)(void *),
                    void *context)
{
    const double end_ns = trv_now_ns() + meeting->options.timeout_ns + (meeting->options.rank == 0 ? 0 : GRACE_NS);
    wake(meeting);
    while (!*reached && !atomic_load(&meeting->failed)) {
        const double now_ns = trv_now_ns(), next_ns = meanwhile ? now_ns + MEANWHILE_NS : end_ns;
        const struct timespec next = as_time(next_ns < end_ns ? next_ns : end_ns);
        if (now_ns >= end_ns)
            return too_late(meeting, what);
        pthread_cond_timedwait(&meeting->changed, &meeting->lock, &next);
        if (!meanwhile)
            continue;
        pthread_mutex_unlock(&meeting->lock);
        meanwhile(context);
        pthread_mutex_lock(&meeting->lock);
    }
    return trv_meeting_state(meeting);
}

int trv_meeting_join(trv_meeting_t *meeting, const void *welcome, size_t bytes)
{
    pthread_mutex_lock(&meeting->lock);
    int rc = TRV_OK;
    if (meeting->options.rank == 0 && !trv_saying_set(&meeting->welcome, welcome, bytes))
        rc = trv_fail_memory();
    meeting->joins = true;
    meeting->joined = meeting->options.ranks == 1;
    if (rc == TRV_OK && !meeting->joined)
        rc = wait_for(meeting, &meeting->joined, "for all ranks to come", NULL, NULL);
    pthread_mutex_unlock(&meeting->lock);
    return rc;
}

const void *trv_meeting_welcome(const trv_meeting_t *meeting, size_t *bytes)
{
    *bytes = meeting->welcome.bytes;
    return meeting->welcome.data;
}

const char *trv_meeting_local(const trv_meeting_t *meeting) { return meeting->local; }

int trv_meeting_exchange(trv_meeting_t *meeting, const void *record, size_t bytes)
{
    pthread_mutex_lock(&meeting->lock);
    meeting->round++;
    int rc = trv_saying_set(trv_meeting_saying(meeting, meeting->options.rank), record, bytes) ? TRV_OK
                                                                                               : trv_fail_memory();
    meeting->exchanged = meeting->options.ranks == 1;
    if (rc == TRV_OK && !meeting->exchanged)
        rc = wait_for(meeting, &meeting->exchanged, "for the addresses of all ranks", NULL, NULL);
    pthread_mutex_unlock(&meeting->lock);
    return rc;
}

const void *trv_meeting_record(const trv_meeting_t *meeting, int rank, size_t *bytes)
{
    const trv_saying_t *saying = trv_meeting_saying(meeting, rank);
    *bytes = saying->bytes;
    return saying->data;
}

static void propose(trv_meeting_t *meeting, const char *sentence, double when_ns)
{
    if (meeting->propose_ns > 0 && meeting->propose_ns <= when_ns)
        return; /* an earlier failure takes precedence */
    snprintf(meeting->proposal, sizeof meeting->proposal, "%s", sentence);
    meeting->propose_ns = when_ns;
}

bool trv_meeting_proposes(const trv_meeting_t *meeting, double now_ns)
{
    return meeting->propose_ns > 0 && now_ns >= meeting->propose_ns;
}

void trv_meeting_report(trv_meeting_t *meeting, const char *sentence, bool follows)
{
    pthread_mutex_lock(&meeting->lock);
    propose(meeting, sentence, trv_now_ns() + (follows ? FOLLOWS_NS : 0));
    pthread_mutex_unlock(&meeting->lock);
    wake(meeting);
}

void trv_meeting_fail(trv_meeting_t *meeting, const char *sentence)
{
    pthread_mutex_lock(&meeting->lock);
    const double end_ns = trv_now_ns() + GRACE_NS;
    const struct timespec end = as_time(end_ns);
    propose(meeting, sentence, trv_now_ns());
    wake(meeting);
    while (meeting->threaded && !atomic_load(&meeting->failed) && trv_now_ns() < end_ns)
        pthread_cond_timedwait(&meeting->changed, &meeting->lock, &end);
    trv_meeting_fail_locked(meeting, meeting->proposal);
    pthread_mutex_unlock(&meeting->lock);
    wake(meeting);
}

int trv_meeting_leave(trv_meeting_t *meeting, void (*meanwhile)(void *context), void *context)
{
    pthread_mutex_lock(&meeting->lock);
    meeting->leaves = true;
    int rc = trv_meeting_state(meeting);
    if (rc == TRV_OK && meeting->options.ranks > 1)
        rc = wait_for(meeting, &meeting->gone, "for all ranks to leave", meanwhile, context);
    pthread_mutex_unlock(&meeting->lock);
    return rc;
}

/* True while a connection is open: output may be pending, or the peer has not closed its end yet. */
static bool is_busy(const trv_meeting_t *meeting)
{
    for (int r = 0; r < meeting->options.ranks; r++)
        if (meeting->end[r])
            return true;
    return meeting->up;
}

/* After a failure, waits until the peers have received it and closed their connections; closing a connection earlier
 * could discard frames in flight. */
static void part(trv_meeting_t *meeting)
{
    enum { PARTING_MS = 1000, PAUSE_MS = 2 };
    for (int ms = 0; ms < PARTING_MS; ms += PAUSE_MS) {
        pthread_mutex_lock(&meeting->lock);
        const bool busy = atomic_load(&meeting->failed) && is_busy(meeting);
        pthread_mutex_unlock(&meeting->lock);
        if (!busy)
            return;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    }
}

void trv_meeting_close(trv_meeting_t *meeting)
{
    if (!meeting)
        return;
    if (meeting->threaded) {
        part(meeting);
        pthread_mutex_lock(&meeting->lock);
        meeting->stop = true;
        pthread_mutex_unlock(&meeting->lock);
        wake(meeting);
        pthread_join(meeting->thread, NULL);
    }
    for (int r = 0; r < meeting->options.ranks; r++) {
        if (meeting->end)
            trv_end_free(meeting, meeting->end[r]);
        for (int i = 0; i < 2; i++)
            if (meeting->record[i])
                free(meeting->record[i][r].data);
    }
    while (meeting->stranger) {
        trv_end_t *next = meeting->stranger->next;
        trv_end_free(meeting, meeting->stranger);
        meeting->stranger = next;
    }
    trv_end_free(meeting, meeting->up);
    const int file[] = {meeting->listener, meeting->epoll, meeting->wake};
    for (int i = 0; i < 3; i++)
        trv_file_close(file[i]);
    trv_writer_clear(&meeting->table);
    free(meeting->welcome.data);
    free(meeting->record[0]);
    free(meeting->record[1]);
    free(meeting->end);
    pthread_cond_destroy(&meeting->changed);
    pthread_mutex_destroy(&meeting->lock);
    free(meeting);
}
