/*
 * Bootstrap protocol of rank 0. A peer that has not yet proved that it knows the secret is unauthenticated: it may
 * connect, and must send one short frame within STRANGER_NS. The number of such connections is limited to
 * STRANGERS_MORE more than the number of ranks; beyond that a new connection replaces the oldest one.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/error.h"
#include "bootstrap/tcp/files.h"
#include "bootstrap/tcp/inside.h"

#define STRANGER_NS     10e9
#define ACCEPT_AGAIN_NS 100e6
enum { STRANGERS_MORE = 64, BACKLOG = 4096, FILES_MORE = 256, LOGGED_MAX = 100 };

/* ---- Listening --------------------------------------------------------------------------------------------------- */

/* Raises the limit on open files to what the connections to all ranks and the rest of the process need. */
static void raise_limit(int ranks)
{
    struct rlimit limit;
    const rlim_t wanted = 2 * (rlim_t)ranks + STRANGERS_MORE + FILES_MORE;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int listen_on(const struct addrinfo *at)
{
    const int one = 1;
    int fd = trv_file_socket(at->ai_family, SOCK_STREAM);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    trv_file_close(fd);
    return -1;
}

static void find_local(trv_meeting_t *meeting, int fd)
{
    struct sockaddr_storage local;
    socklen_t length = sizeof local;
    char port[16];
    if (getsockname(fd, (struct sockaddr *)&local, &length) == 0 &&
        getnameinfo((struct sockaddr *)&local, length, meeting->local, sizeof meeting->local, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        meeting->port = atoi(port);
}

static void watch_listener(trv_meeting_t *meeting, bool watched)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &meeting->listener};
    epoll_ctl(meeting->epoll, watched ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, meeting->listener, &event);
}

int trv_serve_listen(trv_meeting_t *meeting)
{
    const trv_meeting_options_t *options = &meeting->options;
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char port[16];
    snprintf(port, sizeof port, "%d", options->port);
    int code = getaddrinfo(options->everywhere ? NULL : meeting->address, port, &hints, &found);
    if (code != 0)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "rank 0 cannot find the address '%s' (%s); it is to be one of this host, "
                        "as in MASTER_ADDR=10.0.0.1",
                        meeting->address, gai_strerror(code));
    for (const struct addrinfo *at = found; at && meeting->listener < 0; at = at->ai_next)
        meeting->listener = listen_on(at);
    const int error = errno;
    freeaddrinfo(found);
    if (meeting->listener < 0)
        return trv_fail(TRV_ERR_TRANSPORT, "rank 0 cannot listen on %s, port %d: %s%s", meeting->address, options->port,
                        strerror(error),
                        error == EADDRINUSE      ? "; give another port, as in MASTER_PORT=29501"
                        : error == EADDRNOTAVAIL ? "; MASTER_ADDR is to be an address of rank 0's host"
                                                 : "");
    raise_limit(options->ranks);
    find_local(meeting, meeting->listener);
    watch_listener(meeting, true);
    return TRV_OK;
}

static void drop_stranger(trv_meeting_t *meeting, trv_end_t *end, bool kept)
{
    for (trv_end_t **at = &meeting->stranger; *at; at = &(*at)->next)
        if (*at == end) {
            *at = end->next;
            meeting->strangers--;
            if (!kept)
                trv_end_free(meeting, end);
            return;
        }
}

static trv_end_t *oldest_stranger(const trv_meeting_t *meeting)
{
    trv_end_t *end = meeting->stranger; /* the newest is first */
    while (end && end->next)
        end = end->next;
    return end;
}

/* If file descriptors are exhausted, an unauthenticated connection is closed in favour of the pending one. Otherwise
 * the listener is not watched for ACCEPT_AGAIN_NS, because epoll would report the pending connection continuously. */
static void cannot_accept(trv_meeting_t *meeting, int error)
{
    const bool files = error == EMFILE || error == ENFILE;
    if (error == EAGAIN || error == EINTR || error == ECONNABORTED)
        return;
    if (files && meeting->stranger) {
        drop_stranger(meeting, oldest_stranger(meeting), false);
        return;
    }
    if (!meeting->full)
        trv_meeting_log(meeting, "rank 0 cannot take another connection: %s%s", strerror(error),
                        files ? "; raise the limit on open files (ulimit -n)" : "");
    meeting->full = true;
    meeting->accept_again_ns = trv_now_ns() + ACCEPT_AGAIN_NS;
    watch_listener(meeting, false);
}

void trv_serve_accept(trv_meeting_t *meeting)
{
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    int fd = trv_file_accept(meeting->listener, &from, &length);
    if (fd < 0) {
        cannot_accept(meeting, errno);
        return;
    }
    meeting->full = false;
    trv_end_prepare(fd);
    trv_end_t *end = trv_end_make(meeting, fd, true);
    if (!end)
        return;
    getnameinfo((struct sockaddr *)&from, length, end->from, sizeof end->from, NULL, 0, NI_NUMERICHOST);
    if (meeting->strangers >= meeting->options.ranks + STRANGERS_MORE)
        drop_stranger(meeting, oldest_stranger(meeting), false);
    end->next = meeting->stranger;
    meeting->stranger = end;
    meeting->strangers++;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static void fail(trv_meeting_t *meeting, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(trv_meeting_t *meeting, const char *format, ...)
{
    char sentence[TRV_REASON_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    trv_meeting_fail_locked(meeting, sentence);
}

static bool is_loop(const char *address) { return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0; }

/* If rank 0 listens on all addresses, its own address is one by which a rank has connected, preferably not a loopback
 * address, because other hosts cannot reach those. */
static void learn_local(trv_meeting_t *meeting, const trv_end_t *end)
{
    if (meeting->options.everywhere && (meeting->come == 0 || is_loop(meeting->local)))
        find_local(meeting, end->fd);
}

static void take_hello(trv_meeting_t *meeting, trv_end_t *end, const trv_frame_t *frame)
{
    char version[32];
    trv_reader_t reader = trv_reader(frame->content, frame->bytes);
    trv_read_text(&reader, version, sizeof version);
    const uint32_t rank = trv_read_number(&reader), ranks = trv_read_number(&reader);
    if (!trv_reader_ends(&reader) || strcmp(version, TRV_VERSION) != 0) {
        fail(meeting, "rank %u at %s has version %s of Trivance, and rank 0 %s", rank, end->from, version, TRV_VERSION);
    } else if (ranks != (uint32_t)meeting->options.ranks) {
        fail(meeting, "rank %u at %s counts %u ranks (WORLD_SIZE), and rank 0 counts %d", rank, end->from, ranks,
             meeting->options.ranks);
    } else if (rank == 0 || rank >= ranks || meeting->end[rank]) {
        fail(meeting, "two processes are rank %u (RANK): the second is at %s", rank, end->from);
    } else {
        drop_stranger(meeting, end, true);
        learn_local(meeting, end);
        end->rank = (int)rank;
        end->link.frame_bytes_max = TRV_RECORD_BYTES_MAX;
        meeting->end[rank] = end;
        meeting->come++;
        return;
    }
    trv_link_send(&end->link, TRV_FRAME_FAIL, meeting->reason, strlen(meeting->reason));
    trv_end_write(meeting, end);
}

static void take_failure(trv_meeting_t *meeting, const trv_frame_t *frame)
{
    fail(meeting, "%.*s", (int)(frame->bytes < TRV_REASON_MAX ? frame->bytes : TRV_REASON_MAX),
         (const char *)frame->content);
}

void trv_serve_frame(trv_meeting_t *meeting, trv_end_t *end, const trv_frame_t *frame)
{
    const bool known = end->rank != TRV_NOBODY;
    if (!known && frame->type == TRV_FRAME_HELLO) {
        take_hello(meeting, end, frame);
    } else if (known && frame->type == TRV_FRAME_RECORD && end->records == meeting->sent) {
        end->records++; /* rank 0 may not have begun this exchange yet */
        if (trv_saying_set(&meeting->record[end->records % 2][end->rank], frame->content, frame->bytes))
            meeting->spoken++;
        else
            fail(meeting, "rank 0 has no memory for what rank %d says", end->rank);
    } else if (known && frame->type == TRV_FRAME_FAIL) {
        take_failure(meeting, frame);
    } else if (known && frame->type == TRV_FRAME_BYE && !end->leaves) {
        end->leaves = true;
        meeting->left++;
    } else {
        fail(meeting, "rank %d said something that was not its turn", end->rank);
    }
}

static void over_stranger(trv_meeting_t *meeting, trv_end_t *end, bool wrong)
{
    if (wrong) {
        if (meeting->refused++ < LOGGED_MAX)
            trv_meeting_log(meeting, "a connection from %s was refused: it %s", end->from, trv_last_error());
        trv_link_refuse(&end->link, trv_last_error());
        trv_end_write(meeting, end);
    }
    drop_stranger(meeting, end, false);
}

void trv_serve_over(trv_meeting_t *meeting, trv_end_t *end, bool wrong)
{
    if (end->rank == TRV_NOBODY) {
        over_stranger(meeting, end, wrong);
        return;
    }
    if (wrong)
        fail(meeting, "rank %d at %s %s", end->rank, end->from, trv_last_error());
    else if (!meeting->gone)
        fail(meeting, "rank %d at %s has died, or left without a word: its connection to rank 0 was closed", end->rank,
             end->from);
    meeting->end[end->rank] = NULL;
    trv_end_free(meeting, end);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static void send_to_all(trv_meeting_t *meeting, trv_frame_type_t type, const void *content, size_t bytes)
{
    for (int r = 1; r < meeting->options.ranks; r++) {
        trv_end_t *end = meeting->end[r];
        if (!end)
            continue;
        if (trv_link_send(&end->link, type, content, bytes) < 0)
            trv_meeting_fail_locked(meeting, "rank 0 is out of memory");
        end->closing = type == TRV_FRAME_FAIL;
        trv_end_write(meeting, end); /* an error is detected by the next read */
    }
}

static void welcome(trv_meeting_t *meeting)
{
    while (meeting->stranger)
        drop_stranger(meeting, meeting->stranger, false);
    watch_listener(meeting, false);
    trv_file_close(meeting->listener);
    meeting->listener = -1;
    meeting->accept_again_ns = 0;
    meeting->joined = true;
    send_to_all(meeting, TRV_FRAME_WELCOME, meeting->welcome.data, meeting->welcome.bytes);
}

static void send_table(trv_meeting_t *meeting)
{
    uint8_t digest[TRV_SHA256_BYTES];
    trv_sha256_t hash;
    meeting->table.used = 0; /* all ranks have read the previous table, since they have sent a new record */
    for (int r = 0; r < meeting->options.ranks; r++)
        trv_write_block(&meeting->table, trv_meeting_saying(meeting, r)->data, trv_meeting_saying(meeting, r)->bytes);
    meeting->exchanged = true;
    meeting->spoken = 0;
    meeting->sent = meeting->round;
    if (meeting->table.failed || meeting->table.used > UINT32_MAX) {
        trv_meeting_fail_locked(meeting, "rank 0 has no memory for the addresses of all ranks");
        return;
    }
    trv_sha256_begin(&hash);
    trv_sha256_add(&hash, meeting->table.data, meeting->table.used);
    trv_sha256_end(&hash, digest);
    for (int r = 1; r < meeting->options.ranks; r++) {
        trv_end_t *end = meeting->end[r];
        if (!end)
            continue;
        if (trv_link_share(&end->link, TRV_FRAME_TABLE, meeting->table.data, meeting->table.used, digest) < 0)
            trv_meeting_fail_locked(meeting, "rank 0 is out of memory");
        trv_end_write(meeting, end);
    }
}

static void drop_old_strangers(trv_meeting_t *meeting, double now_ns)
{
    trv_end_t *end = oldest_stranger(meeting);
    if (!end || now_ns - end->since_ns < STRANGER_NS)
        return;
    if (meeting->refused++ < LOGGED_MAX)
        trv_meeting_log(meeting, "a connection from %s was closed: it said nothing for %g s", end->from,
                        STRANGER_NS / 1e9);
    drop_stranger(meeting, end, false);
}

void trv_serve_step(trv_meeting_t *meeting, double now_ns)
{
    const int others = meeting->options.ranks - 1;
    if (meeting->stranger)
        drop_old_strangers(meeting, now_ns);
    if (meeting->accept_again_ns > 0 && now_ns >= meeting->accept_again_ns) {
        meeting->accept_again_ns = 0;
        watch_listener(meeting, true);
    }
    if (trv_meeting_proposes(meeting, now_ns))
        trv_meeting_fail_locked(meeting, meeting->proposal);
    if (atomic_load(&meeting->failed)) {
        if (!meeting->told)
            send_to_all(meeting, TRV_FRAME_FAIL, meeting->reason, strlen(meeting->reason));
        meeting->told = true;
        return;
    }
    const int before = meeting->joined + meeting->exchanged + meeting->gone;
    if (meeting->joins && !meeting->joined && meeting->come == others)
        welcome(meeting);
    if (meeting->joined && meeting->sent < meeting->round && meeting->spoken == others)
        send_table(meeting);
    if (meeting->leaves && !meeting->gone && meeting->left == others) {
        meeting->gone = true;
        send_to_all(meeting, TRV_FRAME_GONE, NULL, 0);
    }
    if (meeting->joined + meeting->exchanged + meeting->gone > before)
        pthread_cond_broadcast(&meeting->changed);
}

void trv_serve_missing(const trv_meeting_t *meeting, char *text, size_t size)
{
    enum { NAMED = 8 };
    int missing = 0;
    size_t used = 0;
    for (int r = 1; r < meeting->options.ranks; r++) {
        const trv_end_t *end = meeting->end[r];
        if (end && (!meeting->joined || (meeting->leaves ? end->leaves : end->records > meeting->sent)))
            continue;
        if (missing++ < NAMED && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%d", missing == 1 ? "; missing: " : ", ", r);
    }
    if (missing > NAMED && used < size)
        used += (size_t)snprintf(text + used, size - used, " and %d more", missing - NAMED);
    if (meeting->refused > 0 && used < size)
        used += (size_t)snprintf(text + used, size - used, "; %d connection%s refused", meeting->refused,
                                 meeting->refused == 1 ? " was" : "s were");
    if (meeting->full && used < size)
        snprintf(text + used, size - used, "; rank 0 can hold no more connections, as `ulimit -n` bounds them");
}
