/*
 * Bootstrap protocol of all ranks except rank 0: a rank attempts to connect until rank 0 listens, and then follows the
 * frames that rank 0 sends. If rank 0 has published several addresses, another process may answer at some of them, of
 * this host (docker0 has the same address on all hosts) or of another one. The next address is tried unless the process
 * greets within GREETING_NS and proves within ACCEPTED_NS that it knows the secret.
 */
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/error.h"
#include "bootstrap/one_network.h"
#include "bootstrap/tcp/files.h"
#include "bootstrap/tcp/inside.h"

#define RETRY_NS    50e6
#define DECISION_NS 500e6
#define GREETING_NS 3e9
/* If rank 0 itself takes longer, it regards this rank as dead, because it has received HELLO. */
#define ACCEPTED_NS 10e9
/* Time between direct attempts to connect to rank 0, while neighbours are asked for a relay */
#define DIRECT_NS               1e9
#define DIRECT_AFTER_TIMEOUT_NS 5e9
/* Time for attempts to connect, to all addresses together and at least to each */
enum { CONNECT_MS = 2000, CONNECT_MS_MIN = 250, ADDRESSES_MAX = 64 };

/* ---- Connecting -------------------------------------------------------------------------------------------------- */

/* True if the socket is connected to itself: a connection to a local port on which no process listens succeeds if the
 * system selects that same port as its source. */
static bool is_self_connected(int fd)
{
    struct sockaddr_storage local = {0}, other = {0};
    socklen_t length = sizeof local, other_length = sizeof other;
    return getsockname(fd, (struct sockaddr *)&local, &length) == 0 &&
           getpeername(fd, (struct sockaddr *)&other, &other_length) == 0 && length == other_length &&
           memcmp(&local, &other, length) == 0;
}

/* local: the address to which the socket is bound; NULL: any. */
static int address_connect(const struct sockaddr *at, socklen_t at_length, const struct sockaddr_in *local,
                           int timeout_ms, int *error)
{
    socklen_t length = sizeof *error;
    int fd = trv_file_socket(at->sa_family, SOCK_STREAM);
    if (fd < 0) {
        *error = errno;
        return -1;
    }
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    const bool bound = !local || bind(fd, (const struct sockaddr *)local, sizeof *local) == 0;
    *error = bound && connect(fd, at, at_length) == 0 ? 0 : errno;
    if (*error == EINPROGRESS && poll(&ready, 1, timeout_ms) == 1)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, error, &length);
    if (*error == 0 && !is_self_connected(fd)) {
        trv_connection_set_options(fd);
        return fd;
    }
    if (*error == 0) /* connected to itself: reset it, so that rank 0 can listen on the port at once */
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    trv_file_close(fd);
    return -1;
}

bool trv_error_is_unreachable(int error)
{
    return error == ENETUNREACH || error == EHOSTUNREACH || error == ENETDOWN || error == EHOSTDOWN ||
           error == ETIMEDOUT || error == EINPROGRESS;
}

/* After an attempt in which no address of rank 0 was reached, connected neighbours are asked to relay the connection.
 * Direct attempts are then rare, because one that times out takes CONNECT_MS. */
static void unreachable_handle(trv_bootstrap_t *bootstrap, int error)
{
    char missing[320];
    const bool timed_out = error == EINPROGRESS;
    bootstrap->relay.searching = true;
    trv_relay_missing(bootstrap, missing, sizeof missing);
    snprintf(bootstrap->connect_error, sizeof bootstrap->connect_error, "is not reached (%s)%s",
             strerror(timed_out ? ETIMEDOUT : error), missing);
    if (bootstrap->options.relays)
        bootstrap->connect_ns = trv_now_ns() + (timed_out ? DIRECT_AFTER_TIMEOUT_NS : DIRECT_NS);
}

typedef struct addresses {
    struct sockaddr_storage at[ADDRESSES_MAX];
    socklen_t length[ADDRESSES_MAX];
    int count;
} addresses_t;

static void address_add(addresses_t *list, const struct addrinfo *found, unsigned scope)
{
    if (list->count == ADDRESSES_MAX)
        return;
    struct sockaddr_storage *at = &list->at[list->count];
    memcpy(at, found->ai_addr, found->ai_addrlen);
    if (scope > 0)
        ((struct sockaddr_in6 *)(void *)at)->sin6_scope_id = scope;
    list->length[list->count++] = found->ai_addrlen;
}

/* Adds an address. A link-local one without a scope is added for each interface of this host. */
static void address_add_scopes(addresses_t *list, const struct addrinfo *found)
{
    const struct sockaddr_in6 *ipv6 = (const void *)found->ai_addr;
    struct if_nameindex *interface = NULL;
    if (found->ai_family != AF_INET6 || ipv6->sin6_scope_id > 0 || !IN6_IS_ADDR_LINKLOCAL(&ipv6->sin6_addr))
        address_add(list, found, 0);
    else
        interface = if_nameindex();
    for (const struct if_nameindex *at = interface; at && at->if_index > 0; at++)
        address_add(list, found, at->if_index);
    if (interface)
        if_freenameindex(interface);
}

/* Resolves the addresses of rank 0; false if one cannot be resolved. */
static bool addresses_resolve(const trv_bootstrap_t *bootstrap, addresses_t *list)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    char port[16], entry[TRV_ADDRESSES_MAX];
    snprintf(port, sizeof port, "%d", bootstrap->port);
    list->count = 0;
    for (const char *at = bootstrap->address; *at; at += strcspn(at, ","), at += *at == ',') {
        struct addrinfo *found = NULL;
        snprintf(entry, sizeof entry, "%.*s", (int)strcspn(at, ","), at);
        if (getaddrinfo(entry, port, &hints, &found) != 0)
            return false;
        for (const struct addrinfo *one = found; one; one = one->ai_next)
            address_add_scopes(list, one);
        freeaddrinfo(found);
    }
    return list->count > 0;
}

/* True if rank 0 has published several addresses, at which it listens already. */
static bool has_alternatives(const trv_bootstrap_t *bootstrap) { return strchr(bootstrap->address, ',') != NULL; }

/* True if this host has the address. */
static bool is_own_address(const struct sockaddr_storage *at, socklen_t length)
{
    const int fd = trv_file_socket(at->ss_family, SOCK_DGRAM);
    const bool own = fd >= 0 && (bind(fd, (const struct sockaddr *)at, length) == 0 || errno == EADDRINUSE);
    trv_file_close(fd);
    return own;
}

/* Tries to connect to the addresses of rank 0 in turn, from that after the last process that answered. Releases the
 * lock meanwhile: name resolution may block. A refused connection shows that rank 0's host is reached, which does not
 * listen yet, unless this host has the address itself, or rank 0 listened when it published the address. */
static int server_connect(trv_bootstrap_t *bootstrap)
{
    addresses_t list;
    int error = 0, unreachable = 0, fd = -1, at = bootstrap->skipped;
    bool refused = false; /* by rank 0's host */
    pthread_mutex_unlock(&bootstrap->lock);
    const bool resolved = addresses_resolve(bootstrap, &list);
    const int share_ms = CONNECT_MS / (list.count > 0 ? list.count : 1);
    for (at = at < list.count ? at : 0; resolved && at < list.count && fd < 0; at++) {
        fd = address_connect((const struct sockaddr *)&list.at[at], list.length[at], NULL,
                             share_ms > CONNECT_MS_MIN ? share_ms : CONNECT_MS_MIN, &error);
        if (fd >= 0 || (!trv_error_is_unreachable(error) && is_own_address(&list.at[at], list.length[at])))
            continue;
        if (!trv_error_is_unreachable(error) && !has_alternatives(bootstrap))
            refused = true;
        else if (unreachable != EINPROGRESS)
            unreachable = error;
    }
    pthread_mutex_lock(&bootstrap->lock);
    bootstrap->skipped = fd >= 0 ? at : 0;
    bootstrap->connect_ns = trv_now_ns() + RETRY_NS;
    if (fd < 0 && unreachable > 0 && !refused)
        unreachable_handle(bootstrap, unreachable);
    else
        snprintf(bootstrap->connect_error, sizeof bootstrap->connect_error, "%s",
                 fd >= 0     ? ""
                 : !resolved ? "has an address that cannot be resolved"
                             : "does not accept connections");
    return fd;
}

/* Connects to the relay that has answered, by the interface at which it has: routes may lead to another one if both are
 * in one network. If that fails, this rank begins anew. */
static int relay_connect(trv_bootstrap_t *bootstrap)
{
    const struct sockaddr_in at = bootstrap->relay.address, local = bootstrap->relay.local;
    int error = 0;
    pthread_mutex_unlock(&bootstrap->lock);
    const int fd = address_connect((const struct sockaddr *)&at, sizeof at, &local, CONNECT_MS, &error);
    pthread_mutex_lock(&bootstrap->lock);
    bootstrap->connect_ns = trv_now_ns() + RETRY_NS;
    bootstrap->relay.found = fd >= 0;
    if (fd < 0)
        snprintf(bootstrap->connect_error, sizeof bootstrap->connect_error,
                 "is not reached, and rank %d, which offered to relay the connection, does not accept connections%s",
                 bootstrap->relay.rank, trv_host_shares_network() ? "; this host " TRV_ONE_NETWORK : "");
    return fd;
}

static void connection_attempt(trv_bootstrap_t *bootstrap, double now_ns)
{
    if (now_ns < bootstrap->connect_ns)
        return;
    struct sockaddr_storage local, peer;
    socklen_t length = sizeof local, peer_length = sizeof peer;
    if (!bootstrap->relay.found)
        bootstrap->relay.rank = 0;
    int fd = bootstrap->relay.found ? relay_connect(bootstrap) : server_connect(bootstrap);
    if (fd < 0)
        return;
    if (getsockname(fd, (struct sockaddr *)&local, &length) == 0)
        trv_address_text((const struct sockaddr *)&local, bootstrap->local);
    bootstrap->to_rank_0 = trv_connection_create(bootstrap, fd, false);
    if (bootstrap->to_rank_0 && getpeername(fd, (struct sockaddr *)&peer, &peer_length) == 0)
        trv_address_text((const struct sockaddr *)&peer, bootstrap->to_rank_0->from);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* Fails with a sentence about rank 0, or the process that listens at its address: `what`, the address, and the
 * predicate `why`. */
static void client_fail_server(trv_bootstrap_t *bootstrap, const char *what, const char *why)
{
    trv_bootstrap_fail_locked(bootstrap, "%s at %.200s, port %d, %s", what,
                              has_alternatives(bootstrap) ? bootstrap->to_rank_0->from : bootstrap->address,
                              bootstrap->port, why);
}

/* True if the process that has answered is not rank 0, which may answer at its next address. Logs the first one. */
static bool is_other_process(trv_bootstrap_t *bootstrap, const char *why)
{
    if (!has_alternatives(bootstrap) || bootstrap->to_rank_0->link.received > 0)
        return false;
    if (bootstrap->refused_count++ == 0)
        trv_bootstrap_log(bootstrap,
                          "the process at %s, port %d, is not rank 0 of this job, whose next address is tried: it %s",
                          bootstrap->to_rank_0->from, bootstrap->port, why);
    return true;
}

void trv_client_frame(trv_bootstrap_t *bootstrap, const trv_frame_t *frame)
{
    trv_link_t *link = &bootstrap->to_rank_0->link;
    if (frame->type == TRV_FRAME_REFUSED && is_other_process(bootstrap, "does not have the secret of this job")) {
        shutdown(bootstrap->to_rank_0->fd, SHUT_RDWR);
    } else if (frame->type == TRV_FRAME_ACCEPTED && link->received == 1) {
        return; /* the deadline of client_step is met */
    } else if (frame->type == TRV_FRAME_REFUSED) {
        client_fail_server(bootstrap, "rank 0",
                           "rejected this rank as unauthenticated: TRIVANCE_SECRET must be the same on all ranks; "
                           "without it, WORLD_SIZE and the run id must be the same");
        bootstrap->failure_shared = true;
    } else if (frame->type == TRV_FRAME_WELCOME && !bootstrap->joined) {
        bootstrap->joined = trv_payload_set(&bootstrap->welcome, frame->content, frame->bytes);
        link->frame_bytes_max = TRV_RECORD_BYTES_MAX;
    } else if (frame->type == TRV_FRAME_TABLE && bootstrap->sent == bootstrap->round && !bootstrap->exchanged) {
        bootstrap->exchanged = trv_bootstrap_read_table(bootstrap, frame->content, frame->bytes);
        if (!bootstrap->exchanged)
            trv_bootstrap_fail_locked(bootstrap, "the table of records that rank 0 sent is corrupted");
        link->frame_bytes_max = TRV_RECORD_BYTES_MAX;
    } else if (frame->type == TRV_FRAME_FAIL) {
        bootstrap->failure_shared = true;
        trv_bootstrap_fail_frame(bootstrap, frame);
    } else if (frame->type == TRV_FRAME_GONE) {
        bootstrap->all_left = true;
    } else {
        trv_bootstrap_fail_locked(bootstrap, "rank 0 sent an unexpected frame");
    }
    pthread_cond_broadcast(&bootstrap->changed);
}

/* Describes the end of a connection that is relayed. The rank that has died is unknown here: the relay, rank 0, or
 * another relay. */
static void client_fail_relayed(trv_bootstrap_t *bootstrap)
{
    trv_bootstrap_fail_locked(
        bootstrap,
        "rank %d has lost its connection to rank 0 at %.200s, port %d, which rank %d relays: a rank on the way has "
        "died or has exited before the end of the job, or a cable is unplugged",
        bootstrap->options.rank, bootstrap->address, bootstrap->port, bootstrap->relay.rank);
}

/* Describes the end of a connection on which no answers arrive any more. */
static void client_fail_unreachable(trv_bootstrap_t *bootstrap)
{
    char why[TRV_WITHOUT_LINK_MAX + 80], without_link[TRV_WITHOUT_LINK_MAX];
    snprintf(why, sizeof why, "can no longer be reached: its host, or the network or a cable to it, has failed%s",
             trv_host_without_link(without_link));
    client_fail_server(bootstrap, "rank 0", why);
}

void trv_client_closed(trv_bootstrap_t *bootstrap, bool wrong)
{
    if (wrong && !is_other_process(bootstrap, trv_last_error()))
        client_fail_server(bootstrap, "the process", trv_last_error());
    else if (bootstrap->joined && !bootstrap->all_left && bootstrap->relay.rank > 0)
        client_fail_relayed(bootstrap);
    else if (bootstrap->joined && !bootstrap->all_left && trv_error_is_unreachable(bootstrap->to_rank_0->error))
        client_fail_unreachable(bootstrap);
    else if (bootstrap->joined && !bootstrap->all_left)
        client_fail_server(bootstrap, "rank 0",
                           "has died or has exited before the end of the job: its connection was closed");
    else
        snprintf(bootstrap->connect_error, sizeof bootstrap->connect_error, "closed the connection");
    trv_connection_free(bootstrap, bootstrap->to_rank_0);
    bootstrap->to_rank_0 = NULL;
    bootstrap->relay.found = false;
    bootstrap->connect_ns = trv_now_ns() + RETRY_NS;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static void frame_send(trv_bootstrap_t *bootstrap, trv_frame_type_t type, const void *content, size_t bytes)
{
    if (trv_link_send(&bootstrap->to_rank_0->link, type, content, bytes) < 0)
        trv_bootstrap_fail_locked(bootstrap, "this rank is out of memory");
    bootstrap->to_rank_0->closing = type == TRV_FRAME_FAIL;
    trv_connection_write(bootstrap, bootstrap->to_rank_0);
}

static void hello_send(trv_bootstrap_t *bootstrap)
{
    trv_writer_t writer = {.data = NULL};
    trv_write_text(&writer, TRV_VERSION);
    trv_write_number(&writer, (uint32_t)bootstrap->options.rank);
    trv_write_number(&writer, (uint32_t)bootstrap->options.ranks);
    trv_write_block(&writer, bootstrap->options.greeting, bootstrap->options.greeting_bytes);
    trv_write_number(&writer, (uint32_t)bootstrap->relay.rank);
    trv_write_text(&writer, bootstrap->local);
    bootstrap->to_rank_0->link.frame_bytes_max = TRV_WELCOME_BYTES_MAX;
    if (writer.failed)
        trv_bootstrap_fail_locked(bootstrap, "this rank is out of memory");
    else
        frame_send(bootstrap, TRV_FRAME_HELLO, writer.data, writer.used);
    trv_writer_clear(&writer);
}

/* Sends the reported failure to rank 0, which decides with which sentence the job fails. If there is no connection, or
 * no answer within ANSWER_NS, this rank fails with its own sentence. */
static void failure_propose(trv_bootstrap_t *bootstrap, double now_ns)
{
    const bool reports = bootstrap->to_rank_0 && bootstrap->to_rank_0->link.sent > 0;
    if (reports && !bootstrap->failure_reported) {
        frame_send(bootstrap, TRV_FRAME_FAIL, bootstrap->reported_failure, strlen(bootstrap->reported_failure));
        bootstrap->failure_reported = bootstrap->failure_shared = true;
    }
    if (!reports || now_ns - bootstrap->failure_due_ns > DECISION_NS)
        trv_bootstrap_fail_locked(bootstrap, "%s", bootstrap->reported_failure);
}

void trv_client_step(trv_bootstrap_t *bootstrap, double now_ns)
{
    if (!atomic_load(&bootstrap->failed) && trv_bootstrap_failure_is_due(bootstrap, now_ns))
        failure_propose(bootstrap, now_ns);
    if (atomic_load(&bootstrap->failed)) {
        if (bootstrap->to_rank_0 && !bootstrap->failure_shared && bootstrap->to_rank_0->link.sent > 0)
            frame_send(bootstrap, TRV_FRAME_FAIL, bootstrap->reason, strlen(bootstrap->reason));
        else if (bootstrap->to_rank_0 && !bootstrap->to_rank_0->closing && bootstrap->to_rank_0->fd >= 0)
            shutdown(bootstrap->to_rank_0->fd, SHUT_WR);
        bootstrap->failure_shared = true;
        return;
    }
    if (bootstrap->to_rank_0 &&
        now_ns - bootstrap->to_rank_0->since_ns > (bootstrap->to_rank_0->link.greeted ? ACCEPTED_NS : GREETING_NS) &&
        is_other_process(bootstrap, "does not answer"))
        trv_client_closed(bootstrap, false);
    if (!bootstrap->to_rank_0 && !bootstrap->joined && bootstrap->joining)
        connection_attempt(bootstrap, now_ns);
    if (!bootstrap->to_rank_0 || bootstrap->failure_reported)
        return;
    if (bootstrap->to_rank_0->link.greeted && bootstrap->to_rank_0->link.sent == 0)
        hello_send(bootstrap);
    if (bootstrap->joined && bootstrap->sent < bootstrap->round) {
        const trv_payload_t *own = trv_bootstrap_payload(bootstrap, bootstrap->options.rank);
        bootstrap->sent = bootstrap->round;
        bootstrap->to_rank_0->link.frame_bytes_max = (size_t)bootstrap->options.ranks * (TRV_RECORD_BYTES_MAX + 4);
        frame_send(bootstrap, TRV_FRAME_RECORD, own->data, own->bytes);
    }
    if (bootstrap->leaving && !bootstrap->to_rank_0->leaving) {
        bootstrap->to_rank_0->leaving = true;
        frame_send(bootstrap, TRV_FRAME_BYE, NULL, 0);
    }
}
