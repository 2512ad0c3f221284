/*
 * Bootstrap protocol of rank 0. A peer that has not yet proved that it knows the secret is unauthenticated: it may
 * connect, and must send one short frame within UNAUTHENTICATED_NS. The number of such connections is limited to
 * TRV_UNAUTHENTICATED_MORE more than the number of ranks; beyond that a new connection replaces the oldest one.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/error.h"
#include "bootstrap/tcp/files.h"
#include "bootstrap/tcp/inside.h"

#define UNAUTHENTICATED_NS 10e9
#define ACCEPT_AGAIN_NS    100e6
#define LOST_NS            200e6
enum { BACKLOG = 4096, LOGGED_MAX = 100 };

/* ---- Listening --------------------------------------------------------------------------------------------------- */

/* A socket that is bound to all IPv6 addresses also accepts IPv4 connections. */
static int listener_open(const struct addrinfo *at)
{
    const int one = 1, zero = 0;
    int fd = trv_file_socket(at->ai_family, SOCK_STREAM);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    trv_file_close(fd);
    return -1;
}

static void local_address_find(trv_bootstrap_t *bootstrap, int fd)
{
    struct sockaddr_storage local;
    socklen_t length = sizeof local;
    if (getsockname(fd, (struct sockaddr *)&local, &length) != 0)
        return;
    trv_address_text((const struct sockaddr *)&local, bootstrap->local);
    bootstrap->port = ntohs(((const struct sockaddr_in *)(const void *)&local)->sin_port); /* as in sockaddr_in6 */
}

static void listener_watch(trv_bootstrap_t *bootstrap, bool watched)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &bootstrap->listener};
    epoll_ctl(bootstrap->epoll, watched ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, bootstrap->listener, &event);
}

/* The first address of the family on which this rank can listen; -1 and errno if there is none. */
static int listener_find(const struct addrinfo *found, int family)
{
    int fd = -1;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
        if (family == AF_UNSPEC || at->ai_family == family)
            fd = listener_open(at);
    return fd;
}

/* True if the address is the own name of this host, for which it has a loopback address of its own in /etc/hosts, such
 * as 127.0.1.1. Other hosts resolve that name to another address. */
static bool is_own_name(const char *address, const struct addrinfo *found)
{
    char text[TRV_NUMERIC_MAX];
    trv_address_text(found->ai_addr, text);
    return trv_address_is_loopback(text) && strcmp(text, address) != 0 && strcmp(text, "127.0.0.1") != 0 &&
           strcmp(text, "::1") != 0;
}

static int addresses_find(trv_bootstrap_t *bootstrap, struct addrinfo **found)
{
    trv_bootstrap_options_t *options = &bootstrap->options;
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    char port[16];
    snprintf(port, sizeof port, "%d", options->port);
    const int code = getaddrinfo(options->listen_everywhere ? NULL : bootstrap->address, port, &hints, found);
    if (code != 0 || options->listen_everywhere || !is_own_name(bootstrap->address, *found))
        return code;
    freeaddrinfo(*found);
    options->listen_everywhere = true;
    return getaddrinfo(NULL, port, &hints, found);
}

int trv_server_listen(trv_bootstrap_t *bootstrap)
{
    const trv_bootstrap_options_t *options = &bootstrap->options;
    struct addrinfo *found = NULL;
    const int code = addresses_find(bootstrap, &found);
    if (code != 0)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "rank 0 cannot resolve the address '%s' (%s); expected an address of its host, "
                        "for example MASTER_ADDR=10.0.0.1",
                        bootstrap->address, gai_strerror(code));
    if (options->listen_everywhere)
        bootstrap->listener = listener_find(found, AF_INET6);
    if (bootstrap->listener < 0)
        bootstrap->listener = listener_find(found, AF_UNSPEC);
    const int error = errno;
    freeaddrinfo(found);
    if (bootstrap->listener < 0)
        return trv_fail(TRV_ERR_TRANSPORT, "rank 0 cannot listen on %s, port %d: %s%s", bootstrap->address,
                        options->port, strerror(error),
                        error == EADDRINUSE      ? "; select another port, for example MASTER_PORT=29501"
                        : error == EADDRNOTAVAIL ? "; MASTER_ADDR must be an address of rank 0's host"
                                                 : "");
    trv_file_limit_raise(options->ranks);
    local_address_find(bootstrap, bootstrap->listener);
    listener_watch(bootstrap, true);
    return TRV_OK;
}

static void unauthenticated_drop(trv_bootstrap_t *bootstrap, trv_connection_t *connection, bool kept)
{
    for (trv_connection_t **at = &bootstrap->unauthenticated; *at; at = &(*at)->next)
        if (*at == connection) {
            *at = connection->next;
            bootstrap->unauthenticated_count--;
            if (!kept)
                trv_connection_free(bootstrap, connection);
            return;
        }
}

static trv_connection_t *unauthenticated_oldest(const trv_bootstrap_t *bootstrap)
{
    trv_connection_t *connection = bootstrap->unauthenticated; /* the newest is first */
    while (connection && connection->next)
        connection = connection->next;
    return connection;
}

/* If file descriptors are exhausted, the oldest unauthenticated connection is closed, so that the pending one can be
 * accepted. If there is none, or after another error, the listener is not watched for ACCEPT_AGAIN_NS, because epoll
 * would report the pending connection continuously. */
static void accept_error(trv_bootstrap_t *bootstrap, int error)
{
    const bool files = error == EMFILE || error == ENFILE;
    if (error == EAGAIN || error == EINTR || error == ECONNABORTED)
        return;
    if (files && bootstrap->unauthenticated) {
        unauthenticated_drop(bootstrap, unauthenticated_oldest(bootstrap), false);
        return;
    }
    if (!bootstrap->accept_failed)
        trv_bootstrap_log(bootstrap, "rank 0 cannot accept another connection: %s%s", strerror(error),
                          files ? "; raise the limit on open files (ulimit -n)" : "");
    bootstrap->accept_failed = true;
    bootstrap->accept_ns = trv_now_ns() + ACCEPT_AGAIN_NS;
    listener_watch(bootstrap, false);
}

void trv_server_take(trv_bootstrap_t *bootstrap, int fd, const struct sockaddr_storage *from)
{
    trv_connection_set_options(fd);
    trv_connection_t *connection = trv_connection_create(bootstrap, fd, true);
    if (!connection)
        return;
    trv_address_text((const struct sockaddr *)from, connection->from);
    if (bootstrap->unauthenticated_count >= bootstrap->options.ranks + TRV_UNAUTHENTICATED_MORE)
        unauthenticated_drop(bootstrap, unauthenticated_oldest(bootstrap), false);
    connection->next = bootstrap->unauthenticated;
    bootstrap->unauthenticated = connection;
    bootstrap->unauthenticated_count++;
}

void trv_server_accept(trv_bootstrap_t *bootstrap)
{
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    int fd = trv_file_accept(bootstrap->listener, &from, &length);
    if (fd < 0) {
        accept_error(bootstrap, errno);
        return;
    }
    bootstrap->accept_failed = false;
    trv_server_take(bootstrap, fd, &from);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* If rank 0 listens on all addresses, its own address is one by which a rank has connected, preferably from another
 * host: a connection on this host may use an address that other hosts cannot reach. */
static void local_address_update(trv_bootstrap_t *bootstrap, const trv_connection_t *connection)
{
    if (!bootstrap->options.listen_everywhere || bootstrap->local_is_final)
        return;
    local_address_find(bootstrap, connection->fd);
    bootstrap->local_is_final = !trv_address_is_loopback(bootstrap->local) &&
                                strcmp(bootstrap->local, connection->from) != 0;
}

static void hello_handle(trv_bootstrap_t *bootstrap, trv_connection_t *connection, const trv_frame_t *frame)
{
    char version[32];
    trv_reader_t reader = trv_reader(frame->content, frame->bytes);
    trv_read_text(&reader, version, sizeof version);
    const uint32_t rank = trv_read_number(&reader), ranks = trv_read_number(&reader);
    size_t bytes;
    const uint8_t *greeting = trv_read_block(&reader, TRV_GREETING_BYTES_MAX, &bytes);
    const uint32_t relay = trv_read_number(&reader);
    char local[TRV_NUMERIC_MAX];
    trv_read_text(&reader, local, sizeof local);
    if (!reader.bad && relay > 0 && relay < ranks)
        snprintf(connection->from, sizeof connection->from, "%s (relayed by rank %u)", local, relay);
    if (!trv_reader_ends(&reader) || strcmp(version, TRV_VERSION) != 0) {
        trv_bootstrap_fail_locked(bootstrap, "rank %u at %s has version %s of Trivance, and rank 0 has version %s",
                                  rank, connection->from, version, TRV_VERSION);
    } else if (ranks != (uint32_t)bootstrap->options.ranks) {
        trv_bootstrap_fail_locked(bootstrap, "rank %u at %s expects %u ranks (WORLD_SIZE), and rank 0 expects %d", rank,
                                  connection->from, ranks, bootstrap->options.ranks);
    } else if (rank == 0 || rank >= ranks || bootstrap->connection[rank]) {
        trv_bootstrap_fail_locked(bootstrap, "two processes have rank %u (RANK); the second one is at %s", rank,
                                  connection->from);
    } else if (bytes > 0 && !trv_payload_set(&bootstrap->greeting[rank], greeting, bytes)) {
        trv_bootstrap_fail_locked(bootstrap, "rank 0 is out of memory for the greeting of rank %u", rank);
    } else {
        unauthenticated_drop(bootstrap, connection, true);
        local_address_update(bootstrap, connection);
        connection->rank = (int)rank;
        connection->link.frame_bytes_max = TRV_RECORD_BYTES_MAX;
        bootstrap->connection[rank] = connection;
        bootstrap->relay_rank[rank] = relay < ranks ? (int)relay : 0;
        bootstrap->connected++;
        if (trv_link_send(&connection->link, TRV_FRAME_ACCEPTED, NULL, 0) < 0)
            trv_bootstrap_fail_locked(bootstrap, "rank 0 is out of memory");
        trv_connection_write(bootstrap, connection);
        return;
    }
    trv_link_send(&connection->link, TRV_FRAME_FAIL, bootstrap->reason, strlen(bootstrap->reason));
    trv_connection_write(bootstrap, connection);
}

void trv_server_frame(trv_bootstrap_t *bootstrap, trv_connection_t *connection, const trv_frame_t *frame)
{
    const bool authenticated = connection->rank != TRV_RANK_UNKNOWN;
    if (!authenticated && frame->type == TRV_FRAME_HELLO) {
        hello_handle(bootstrap, connection, frame);
    } else if (authenticated && frame->type == TRV_FRAME_RECORD && connection->records == bootstrap->sent) {
        connection->records++; /* may now exceed bootstrap->round: rank 0 may not have begun this exchange yet */
        if (trv_payload_set(&bootstrap->record[connection->records % 2][connection->rank], frame->content,
                            frame->bytes))
            bootstrap->recorded++;
        else
            trv_bootstrap_fail_locked(bootstrap, "rank 0 is out of memory for the record of rank %d", connection->rank);
    } else if (authenticated && frame->type == TRV_FRAME_FAIL) {
        trv_bootstrap_fail_frame(bootstrap, frame);
    } else if (authenticated && frame->type == TRV_FRAME_BYE && !connection->leaving) {
        connection->leaving = true;
        bootstrap->leaving_ranks++;
    } else {
        trv_bootstrap_fail_locked(bootstrap, "rank %d sent an unexpected frame", connection->rank);
    }
}

static void unauthenticated_closed(trv_bootstrap_t *bootstrap, trv_connection_t *connection, bool wrong)
{
    if (wrong) {
        if (bootstrap->refused_count++ < LOGGED_MAX)
            trv_bootstrap_log(bootstrap, "a connection from %s was refused: it %s", connection->from, trv_last_error());
        trv_link_refuse(&connection->link, trv_last_error());
        trv_connection_write(bootstrap, connection);
    }
    unauthenticated_drop(bootstrap, connection, false);
}

/* True if the connection of a rank passes through `relay`. */
static bool is_behind(const trv_bootstrap_t *bootstrap, int rank, int relay)
{
    for (int hops = 0; hops < bootstrap->options.ranks && rank > 0; hops++) {
        rank = bootstrap->relay_rank[rank];
        if (rank == relay)
            return true;
    }
    return false;
}

/* If a rank dies that relays connections, those are closed, too, in any order. Therefore the loss of a relayed
 * connection takes effect after LOST_NS, and the sentence is that of the rank that is the nearest to rank 0. */
static void relayed_lost(trv_bootstrap_t *bootstrap, int rank, const char *sentence)
{
    const double now_ns = trv_now_ns();
    if (trv_bootstrap_failure_is_due(bootstrap, now_ns) ||
        (bootstrap->lost_rank > 0 && !is_behind(bootstrap, bootstrap->lost_rank, rank)))
        return;
    snprintf(bootstrap->reported_failure, sizeof bootstrap->reported_failure, "%s", sentence);
    if (bootstrap->lost_rank == 0)
        bootstrap->failure_due_ns = now_ns + LOST_NS;
    bootstrap->lost_rank = rank;
}

void trv_server_closed(trv_bootstrap_t *bootstrap, trv_connection_t *connection, bool wrong)
{
    const int rank = connection->rank;
    char sentence[TRV_REASON_MAX], without_link[TRV_WITHOUT_LINK_MAX];
    if (rank == TRV_RANK_UNKNOWN) {
        unauthenticated_closed(bootstrap, connection, wrong);
        return;
    }
    if (wrong)
        snprintf(sentence, sizeof sentence, "rank %d at %s %s", rank, connection->from, trv_last_error());
    else if (trv_error_is_unreachable(connection->error))
        snprintf(sentence, sizeof sentence,
                 "rank 0 can no longer reach rank %d at %s (%s): its host, or the network or a cable to it, has "
                 "failed%s",
                 rank, connection->from, strerror(connection->error), trv_host_without_link(without_link));
    else
        snprintf(sentence, sizeof sentence,
                 "rank %d at %s has died or has exited before the end of the job: its connection to rank 0 was closed",
                 rank, connection->from);
    if (!wrong && !bootstrap->all_left && bootstrap->relay_rank[rank] > 0)
        relayed_lost(bootstrap, rank, sentence);
    else if (wrong || !bootstrap->all_left)
        trv_bootstrap_fail_locked(bootstrap, "%s", sentence);
    bootstrap->connection[rank] = NULL;
    trv_connection_free(bootstrap, connection);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static void frame_broadcast(trv_bootstrap_t *bootstrap, trv_frame_type_t type, const void *content, size_t bytes)
{
    for (int r = 1; r < bootstrap->options.ranks; r++) {
        trv_connection_t *connection = bootstrap->connection[r];
        if (!connection)
            continue;
        if (trv_link_send(&connection->link, type, content, bytes) < 0)
            trv_bootstrap_fail_locked(bootstrap, "rank 0 is out of memory");
        connection->closing = type == TRV_FRAME_FAIL;
        trv_connection_write(bootstrap, connection); /* an error is detected by the next read */
    }
}

static void welcome_send(trv_bootstrap_t *bootstrap)
{
    while (bootstrap->unauthenticated)
        unauthenticated_drop(bootstrap, bootstrap->unauthenticated, false);
    listener_watch(bootstrap, false);
    trv_file_close(bootstrap->listener);
    bootstrap->listener = -1;
    bootstrap->accept_ns = 0;
    bootstrap->joined = true;
    frame_broadcast(bootstrap, TRV_FRAME_WELCOME, bootstrap->welcome.data, bootstrap->welcome.bytes);
}

static void table_send(trv_bootstrap_t *bootstrap)
{
    uint8_t digest[TRV_SHA256_BYTES];
    bootstrap->table.used = 0; /* all ranks have read the previous table, since they have sent a new record */
    for (int r = 0; r < bootstrap->options.ranks; r++)
        trv_write_block(&bootstrap->table, trv_bootstrap_payload(bootstrap, r)->data,
                        trv_bootstrap_payload(bootstrap, r)->bytes);
    bootstrap->exchanged = true;
    bootstrap->recorded = 0;
    bootstrap->sent = bootstrap->round;
    if (bootstrap->table.failed || bootstrap->table.used > UINT32_MAX) {
        trv_bootstrap_fail_locked(bootstrap, "rank 0 is out of memory for the records of all ranks");
        return;
    }
    trv_sha256(bootstrap->table.data, bootstrap->table.used, digest);
    for (int r = 1; r < bootstrap->options.ranks; r++) {
        trv_connection_t *connection = bootstrap->connection[r];
        if (!connection)
            continue;
        if (trv_link_share(&connection->link, TRV_FRAME_TABLE, bootstrap->table.data, bootstrap->table.used, digest) <
            0)
            trv_bootstrap_fail_locked(bootstrap, "rank 0 is out of memory");
        trv_connection_write(bootstrap, connection);
    }
}

static void unauthenticated_expire(trv_bootstrap_t *bootstrap, double now_ns)
{
    trv_connection_t *connection = unauthenticated_oldest(bootstrap);
    if (!connection || now_ns - connection->since_ns < UNAUTHENTICATED_NS)
        return;
    if (bootstrap->refused_count++ < LOGGED_MAX)
        trv_bootstrap_log(bootstrap, "a connection from %s was closed: it was not authenticated within %g s",
                          connection->from, UNAUTHENTICATED_NS / 1e9);
    unauthenticated_drop(bootstrap, connection, false);
}

void trv_server_step(trv_bootstrap_t *bootstrap, double now_ns)
{
    const int others = bootstrap->options.ranks - 1;
    if (bootstrap->unauthenticated)
        unauthenticated_expire(bootstrap, now_ns);
    if (bootstrap->accept_ns > 0 && now_ns >= bootstrap->accept_ns) {
        bootstrap->accept_ns = 0;
        listener_watch(bootstrap, true);
    }
    if (trv_bootstrap_failure_is_due(bootstrap, now_ns))
        trv_bootstrap_fail_locked(bootstrap, "%s", bootstrap->reported_failure);
    if (atomic_load(&bootstrap->failed)) {
        if (!bootstrap->failure_shared)
            frame_broadcast(bootstrap, TRV_FRAME_FAIL, bootstrap->reason, strlen(bootstrap->reason));
        bootstrap->failure_shared = true;
        return;
    }
    const int before = bootstrap->gathered + bootstrap->joined + bootstrap->exchanged + bootstrap->all_left;
    bootstrap->gathered = bootstrap->connected == others;
    if (bootstrap->joining && !bootstrap->joined && bootstrap->connected == others)
        welcome_send(bootstrap);
    if (bootstrap->joined && bootstrap->sent < bootstrap->round && bootstrap->recorded == others)
        table_send(bootstrap);
    if (bootstrap->leaving && !bootstrap->all_left && bootstrap->leaving_ranks == others) {
        bootstrap->all_left = true;
        frame_broadcast(bootstrap, TRV_FRAME_GONE, NULL, 0);
    }
    if (bootstrap->gathered + bootstrap->joined + bootstrap->exchanged + bootstrap->all_left > before)
        pthread_cond_broadcast(&bootstrap->changed);
}

void trv_server_missing(const trv_bootstrap_t *bootstrap, char *text, size_t size)
{
    enum { NAMED = 8 };
    int missing = 0;
    size_t used = 0;
    for (int r = 1; r < bootstrap->options.ranks; r++) {
        const trv_connection_t *connection = bootstrap->connection[r];
        if (connection &&
            (!bootstrap->joined || (bootstrap->leaving ? connection->leaving : connection->records > bootstrap->sent)))
            continue;
        if (missing++ < NAMED && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%d%s%s", missing == 1 ? "; missing: " : ", ", r,
                                     connection ? " at " : "", connection ? connection->from : "");
    }
    if (missing > NAMED && used < size)
        used += (size_t)snprintf(text + used, size - used, " and %d more", missing - NAMED);
    if (bootstrap->refused_count > 0 && used < size)
        used += (size_t)snprintf(text + used, size - used, "; %d connection%s refused", bootstrap->refused_count,
                                 bootstrap->refused_count == 1 ? " was" : "s were");
    if (bootstrap->accept_failed && used < size)
        snprintf(text + used, size - used,
                 "; rank 0 cannot accept more connections; raise the limit on open files (ulimit -n)");
}
