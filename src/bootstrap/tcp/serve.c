/*
 * Bootstrap protocol of rank 0. A peer that has not yet proved that it knows the secret is unauthenticated: it may
 * connect, and must send one short frame within UNAUTHENTICATED_NS. The number of such connections is limited to
 * UNAUTHENTICATED_MORE more than the number of ranks; beyond that a new connection replaces the oldest one.
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

#define UNAUTHENTICATED_NS 10e9
#define ACCEPT_AGAIN_NS    100e6
enum { UNAUTHENTICATED_MORE = 64, BACKLOG = 4096, FILES_MORE = 256, LOGGED_MAX = 100 };

/* ---- Listening --------------------------------------------------------------------------------------------------- */

/* Raises the limit on open files to what the connections to all ranks and the rest of the process need. */
static void raise_limit(int ranks)
{
    struct rlimit limit;
    const rlim_t wanted = 2 * (rlim_t)ranks + UNAUTHENTICATED_MORE + FILES_MORE;
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

static void find_local(trv_bootstrap_t *bootstrap, int fd)
{
    struct sockaddr_storage local;
    socklen_t length = sizeof local;
    char port[16];
    if (getsockname(fd, (struct sockaddr *)&local, &length) == 0 &&
        getnameinfo((struct sockaddr *)&local, length, bootstrap->local, sizeof bootstrap->local, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        bootstrap->port = atoi(port);
}

static void watch_listener(trv_bootstrap_t *bootstrap, bool watched)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &bootstrap->listener};
    epoll_ctl(bootstrap->epoll, watched ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, bootstrap->listener, &event);
}

int trv_serve_listen(trv_bootstrap_t *bootstrap)
{
    const trv_bootstrap_options_t *options = &bootstrap->options;
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char port[16];
    snprintf(port, sizeof port, "%d", options->port);
    int code = getaddrinfo(options->everywhere ? NULL : bootstrap->address, port, &hints, &found);
    if (code != 0)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "rank 0 cannot find the address '%s' (%s); it is to be one of this host, "
                        "as in MASTER_ADDR=10.0.0.1",
                        bootstrap->address, gai_strerror(code));
    for (const struct addrinfo *at = found; at && bootstrap->listener < 0; at = at->ai_next)
        bootstrap->listener = listen_on(at);
    const int error = errno;
    freeaddrinfo(found);
    if (bootstrap->listener < 0)
        return trv_fail(TRV_ERR_TRANSPORT, "rank 0 cannot listen on %s, port %d: %s%s", bootstrap->address,
                        options->port, strerror(error),
                        error == EADDRINUSE      ? "; give another port, as in MASTER_PORT=29501"
                        : error == EADDRNOTAVAIL ? "; MASTER_ADDR is to be an address of rank 0's host"
                                                 : "");
    raise_limit(options->ranks);
    find_local(bootstrap, bootstrap->listener);
    watch_listener(bootstrap, true);
    return TRV_OK;
}

static void drop_unauthenticated(trv_bootstrap_t *bootstrap, trv_end_t *end, bool kept)
{
    for (trv_end_t **at = &bootstrap->unauthenticated; *at; at = &(*at)->next)
        if (*at == end) {
            *at = end->next;
            bootstrap->unauthenticated_count--;
            if (!kept)
                trv_end_free(bootstrap, end);
            return;
        }
}

static trv_end_t *oldest_unauthenticated(const trv_bootstrap_t *bootstrap)
{
    trv_end_t *end = bootstrap->unauthenticated; /* the newest is first */
    while (end && end->next)
        end = end->next;
    return end;
}

/* If file descriptors are exhausted, the oldest unauthenticated connection is closed, so that the pending one can be
 * accepted. If there is none, or after another error, the listener is not watched for ACCEPT_AGAIN_NS, because epoll
 * would report the pending connection continuously. */
static void cannot_accept(trv_bootstrap_t *bootstrap, int error)
{
    const bool files = error == EMFILE || error == ENFILE;
    if (error == EAGAIN || error == EINTR || error == ECONNABORTED)
        return;
    if (files && bootstrap->unauthenticated) {
        drop_unauthenticated(bootstrap, oldest_unauthenticated(bootstrap), false);
        return;
    }
    if (!bootstrap->full)
        trv_bootstrap_log(bootstrap, "rank 0 cannot take another connection: %s%s", strerror(error),
                          files ? "; raise the limit on open files (ulimit -n)" : "");
    bootstrap->full = true;
    bootstrap->accept_again_ns = trv_now_ns() + ACCEPT_AGAIN_NS;
    watch_listener(bootstrap, false);
}

void trv_serve_accept(trv_bootstrap_t *bootstrap)
{
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    int fd = trv_file_accept(bootstrap->listener, &from, &length);
    if (fd < 0) {
        cannot_accept(bootstrap, errno);
        return;
    }
    bootstrap->full = false;
    trv_end_prepare(fd);
    trv_end_t *end = trv_end_make(bootstrap, fd, true);
    if (!end)
        return;
    getnameinfo((struct sockaddr *)&from, length, end->from, sizeof end->from, NULL, 0, NI_NUMERICHOST);
    if (bootstrap->unauthenticated_count >= bootstrap->options.ranks + UNAUTHENTICATED_MORE)
        drop_unauthenticated(bootstrap, oldest_unauthenticated(bootstrap), false);
    end->next = bootstrap->unauthenticated;
    bootstrap->unauthenticated = end;
    bootstrap->unauthenticated_count++;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static void fail(trv_bootstrap_t *bootstrap, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(trv_bootstrap_t *bootstrap, const char *format, ...)
{
    char sentence[TRV_REASON_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    trv_bootstrap_fail_locked(bootstrap, sentence);
}

static bool is_loop(const char *address) { return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0; }

/* If rank 0 listens on all addresses, its own address is one by which a rank has connected, preferably not a loopback
 * address, because other hosts cannot reach those. */
static void learn_local(trv_bootstrap_t *bootstrap, const trv_end_t *end)
{
    if (bootstrap->options.everywhere && (bootstrap->come == 0 || is_loop(bootstrap->local)))
        find_local(bootstrap, end->fd);
}

static void take_hello(trv_bootstrap_t *bootstrap, trv_end_t *end, const trv_frame_t *frame)
{
    char version[32];
    trv_reader_t reader = trv_reader(frame->content, frame->bytes);
    trv_read_text(&reader, version, sizeof version);
    const uint32_t rank = trv_read_number(&reader), ranks = trv_read_number(&reader);
    if (!trv_reader_ends(&reader) || strcmp(version, TRV_VERSION) != 0) {
        fail(bootstrap, "rank %u at %s has version %s of Trivance, and rank 0 %s", rank, end->from, version,
             TRV_VERSION);
    } else if (ranks != (uint32_t)bootstrap->options.ranks) {
        fail(bootstrap, "rank %u at %s counts %u ranks (WORLD_SIZE), and rank 0 counts %d", rank, end->from, ranks,
             bootstrap->options.ranks);
    } else if (rank == 0 || rank >= ranks || bootstrap->end[rank]) {
        fail(bootstrap, "two processes are rank %u (RANK): the second is at %s", rank, end->from);
    } else {
        drop_unauthenticated(bootstrap, end, true);
        learn_local(bootstrap, end);
        end->rank = (int)rank;
        end->link.frame_bytes_max = TRV_RECORD_BYTES_MAX;
        bootstrap->end[rank] = end;
        bootstrap->come++;
        return;
    }
    trv_link_send(&end->link, TRV_FRAME_FAIL, bootstrap->reason, strlen(bootstrap->reason));
    trv_end_write(bootstrap, end);
}

static void take_failure(trv_bootstrap_t *bootstrap, const trv_frame_t *frame)
{
    fail(bootstrap, "%.*s", (int)(frame->bytes < TRV_REASON_MAX ? frame->bytes : TRV_REASON_MAX),
         (const char *)frame->content);
}

void trv_serve_frame(trv_bootstrap_t *bootstrap, trv_end_t *end, const trv_frame_t *frame)
{
    const bool known = end->rank != TRV_NOBODY;
    if (!known && frame->type == TRV_FRAME_HELLO) {
        take_hello(bootstrap, end, frame);
    } else if (known && frame->type == TRV_FRAME_RECORD && end->records == bootstrap->sent) {
        end->records++; /* may now exceed bootstrap->round: rank 0 may not have begun this exchange yet */
        if (trv_payload_set(&bootstrap->record[end->records % 2][end->rank], frame->content, frame->bytes))
            bootstrap->spoken++;
        else
            fail(bootstrap, "rank 0 has no memory for what rank %d says", end->rank);
    } else if (known && frame->type == TRV_FRAME_FAIL) {
        take_failure(bootstrap, frame);
    } else if (known && frame->type == TRV_FRAME_BYE && !end->leaves) {
        end->leaves = true;
        bootstrap->left++;
    } else {
        fail(bootstrap, "rank %d said something that was not its turn", end->rank);
    }
}

static void over_unauthenticated(trv_bootstrap_t *bootstrap, trv_end_t *end, bool wrong)
{
    if (wrong) {
        if (bootstrap->refused++ < LOGGED_MAX)
            trv_bootstrap_log(bootstrap, "a connection from %s was refused: it %s", end->from, trv_last_error());
        trv_link_refuse(&end->link, trv_last_error());
        trv_end_write(bootstrap, end);
    }
    drop_unauthenticated(bootstrap, end, false);
}

void trv_serve_over(trv_bootstrap_t *bootstrap, trv_end_t *end, bool wrong)
{
    if (end->rank == TRV_NOBODY) {
        over_unauthenticated(bootstrap, end, wrong);
        return;
    }
    if (wrong)
        fail(bootstrap, "rank %d at %s %s", end->rank, end->from, trv_last_error());
    else if (!bootstrap->gone)
        fail(bootstrap, "rank %d at %s has died, or left without a word: its connection to rank 0 was closed",
             end->rank, end->from);
    bootstrap->end[end->rank] = NULL;
    trv_end_free(bootstrap, end);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static void send_to_all(trv_bootstrap_t *bootstrap, trv_frame_type_t type, const void *content, size_t bytes)
{
    for (int r = 1; r < bootstrap->options.ranks; r++) {
        trv_end_t *end = bootstrap->end[r];
        if (!end)
            continue;
        if (trv_link_send(&end->link, type, content, bytes) < 0)
            trv_bootstrap_fail_locked(bootstrap, "rank 0 is out of memory");
        end->closing = type == TRV_FRAME_FAIL;
        trv_end_write(bootstrap, end); /* an error is detected by the next read */
    }
}

static void welcome(trv_bootstrap_t *bootstrap)
{
    while (bootstrap->unauthenticated)
        drop_unauthenticated(bootstrap, bootstrap->unauthenticated, false);
    watch_listener(bootstrap, false);
    trv_file_close(bootstrap->listener);
    bootstrap->listener = -1;
    bootstrap->accept_again_ns = 0;
    bootstrap->joined = true;
    send_to_all(bootstrap, TRV_FRAME_WELCOME, bootstrap->welcome.data, bootstrap->welcome.bytes);
}

static void send_table(trv_bootstrap_t *bootstrap)
{
    uint8_t digest[TRV_SHA256_BYTES];
    trv_sha256_t hash;
    bootstrap->table.used = 0; /* all ranks have read the previous table, since they have sent a new record */
    for (int r = 0; r < bootstrap->options.ranks; r++)
        trv_write_block(&bootstrap->table, trv_bootstrap_payload(bootstrap, r)->data,
                        trv_bootstrap_payload(bootstrap, r)->bytes);
    bootstrap->exchanged = true;
    bootstrap->spoken = 0;
    bootstrap->sent = bootstrap->round;
    if (bootstrap->table.failed || bootstrap->table.used > UINT32_MAX) {
        trv_bootstrap_fail_locked(bootstrap, "rank 0 has no memory for the addresses of all ranks");
        return;
    }
    trv_sha256_begin(&hash);
    trv_sha256_add(&hash, bootstrap->table.data, bootstrap->table.used);
    trv_sha256_end(&hash, digest);
    for (int r = 1; r < bootstrap->options.ranks; r++) {
        trv_end_t *end = bootstrap->end[r];
        if (!end)
            continue;
        if (trv_link_share(&end->link, TRV_FRAME_TABLE, bootstrap->table.data, bootstrap->table.used, digest) < 0)
            trv_bootstrap_fail_locked(bootstrap, "rank 0 is out of memory");
        trv_end_write(bootstrap, end);
    }
}

static void drop_old_unauthenticated(trv_bootstrap_t *bootstrap, double now_ns)
{
    trv_end_t *end = oldest_unauthenticated(bootstrap);
    if (!end || now_ns - end->since_ns < UNAUTHENTICATED_NS)
        return;
    if (bootstrap->refused++ < LOGGED_MAX)
        trv_bootstrap_log(bootstrap, "a connection from %s was closed: it said nothing for %g s", end->from,
                          UNAUTHENTICATED_NS / 1e9);
    drop_unauthenticated(bootstrap, end, false);
}

void trv_serve_step(trv_bootstrap_t *bootstrap, double now_ns)
{
    const int others = bootstrap->options.ranks - 1;
    if (bootstrap->unauthenticated)
        drop_old_unauthenticated(bootstrap, now_ns);
    if (bootstrap->accept_again_ns > 0 && now_ns >= bootstrap->accept_again_ns) {
        bootstrap->accept_again_ns = 0;
        watch_listener(bootstrap, true);
    }
    if (trv_bootstrap_proposes(bootstrap, now_ns))
        trv_bootstrap_fail_locked(bootstrap, bootstrap->proposal);
    if (atomic_load(&bootstrap->failed)) {
        if (!bootstrap->told)
            send_to_all(bootstrap, TRV_FRAME_FAIL, bootstrap->reason, strlen(bootstrap->reason));
        bootstrap->told = true;
        return;
    }
    const int before = bootstrap->joined + bootstrap->exchanged + bootstrap->gone;
    if (bootstrap->joins && !bootstrap->joined && bootstrap->come == others)
        welcome(bootstrap);
    if (bootstrap->joined && bootstrap->sent < bootstrap->round && bootstrap->spoken == others)
        send_table(bootstrap);
    if (bootstrap->leaves && !bootstrap->gone && bootstrap->left == others) {
        bootstrap->gone = true;
        send_to_all(bootstrap, TRV_FRAME_GONE, NULL, 0);
    }
    if (bootstrap->joined + bootstrap->exchanged + bootstrap->gone > before)
        pthread_cond_broadcast(&bootstrap->changed);
}

void trv_serve_missing(const trv_bootstrap_t *bootstrap, char *text, size_t size)
{
    enum { NAMED = 8 };
    int missing = 0;
    size_t used = 0;
    for (int r = 1; r < bootstrap->options.ranks; r++) {
        const trv_end_t *end = bootstrap->end[r];
        if (end && (!bootstrap->joined || (bootstrap->leaves ? end->leaves : end->records > bootstrap->sent)))
            continue;
        if (missing++ < NAMED && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%d", missing == 1 ? "; missing: " : ", ", r);
    }
    if (missing > NAMED && used < size)
        used += (size_t)snprintf(text + used, size - used, " and %d more", missing - NAMED);
    if (bootstrap->refused > 0 && used < size)
        used += (size_t)snprintf(text + used, size - used, "; %d connection%s refused", bootstrap->refused,
                                 bootstrap->refused == 1 ? " was" : "s were");
    if (bootstrap->full && used < size)
        snprintf(text + used, size - used, "; rank 0 can hold no more connections, as `ulimit -n` bounds them");
}
