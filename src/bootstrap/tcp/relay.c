/*
 * Relays: connections to rank 0 through other ranks, for hosts that are wired to each other and do not forward packets.
 * (net/relays.c relays the messages of the job.)
 *
 *     rank 2                          rank 1, connected                rank 0
 *       |  -------- query (UDP) ------->  |                              |
 *       |  <------- answer: port ------   |                              |
 *       |  -------- connection -------->  |  ------- connection ------>  |
 *       |  <=============== bytes, copied without knowledge of their content (splice.h) ==>
 *
 * A rank that does not reach rank 0 sends queries through all of its interfaces. Until all ranks are connected, a
 * connected rank that has several interfaces answers the queries of its job; it accepts connections from the address
 * of the query only, and relays them until the end of the job. Rank 0 also answers, and accepts the connections itself,
 * so that it is reached by each of its addresses. The ends authenticate each other, so they need not trust the relay.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "bootstrap/tcp/files.h"
#include "bootstrap/tcp/inside.h"

#define QUERY_NS   100e6
#define ANSWER_NS  500e6
#define PARTING_NS 300e6 /* from a failure to the end of the relayed connections, over which it is sent */
enum { BACKLOG = 1024 };

void trv_relay_begin(trv_relay_t *relay)
{
    *relay = (trv_relay_t){.query = -1, .answer = -1, .splices = TRV_SPLICES};
    for (int i = 0; i < TRV_RELAY_LISTENERS_MAX; i++)
        relay->listener[i].fd = -1;
}

static void file_close(int *file)
{
    trv_file_close(*file); /* which also removes it from epoll */
    *file = -1;
}

static bool file_watch(const trv_bootstrap_t *bootstrap, int file, void *source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
    return file >= 0 && epoll_ctl(bootstrap->epoll, EPOLL_CTL_ADD, file, &event) == 0;
}

/* ---- Datagrams --------------------------------------------------------------------------------------------------- */

/* A datagram with its remote address and, on this host, the interface and the address through which it is sent or was
 * received. */
typedef struct datagram {
    uint8_t data[TRV_RELAY_MESSAGE_BYTES + 1];
    size_t bytes;
    struct sockaddr_in remote;
    struct in_pktinfo local;
} datagram_t;

typedef union control {
    char bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
    struct cmsghdr align;
} control_t;

static struct msghdr datagram_header(datagram_t *datagram, struct iovec *data, control_t *control)
{
    *data = (struct iovec){datagram->data, datagram->bytes};
    return (struct msghdr){.msg_name = &datagram->remote,
                           .msg_namelen = sizeof datagram->remote,
                           .msg_iov = data,
                           .msg_iovlen = 1,
                           .msg_control = control->bytes,
                           .msg_controllen = sizeof control->bytes};
}

static void datagram_send(int file, datagram_t *datagram)
{
    control_t control = {.bytes = {0}};
    struct iovec data;
    struct msghdr header = datagram_header(datagram, &data, &control);
    struct cmsghdr *at = CMSG_FIRSTHDR(&header);
    *at = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof datagram->local),
                           .cmsg_level = IPPROTO_IP,
                           .cmsg_type = IP_PKTINFO};
    memcpy(CMSG_DATA(at), &datagram->local, sizeof datagram->local);
    const ssize_t sent = sendmsg(file, &header, MSG_NOSIGNAL);
    (void)sent; /* a lost datagram is replaced by that of the next query */
}

/* False if none has arrived. */
static bool datagram_receive(int file, datagram_t *datagram)
{
    control_t control;
    struct iovec data;
    *datagram = (datagram_t){.bytes = sizeof datagram->data};
    struct msghdr header = datagram_header(datagram, &data, &control);
    const ssize_t got = recvmsg(file, &header, 0);
    if (got < 0 || datagram->remote.sin_family != AF_INET)
        return false;
    datagram->bytes = (size_t)got;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(&header); at; at = CMSG_NXTHDR(&header, at))
        if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_PKTINFO)
            memcpy(&datagram->local, CMSG_DATA(at), sizeof datagram->local);
    return true;
}

/* ---- A rank that does not reach rank 0 --------------------------------------------------------------------------- */

static bool query_open(trv_bootstrap_t *bootstrap)
{
    trv_relay_t *relay = &bootstrap->relay;
    const int one = 1;
    relay->query = trv_file_socket(AF_INET, SOCK_DGRAM);
    if (setsockopt(relay->query, SOL_SOCKET, SO_BROADCAST, &one, sizeof one) == 0 &&
        setsockopt(relay->query, IPPROTO_IP, IP_PKTINFO, &one, sizeof one) == 0 &&
        getrandom(relay->nonce, sizeof relay->nonce, 0) == sizeof relay->nonce &&
        file_watch(bootstrap, relay->query, &relay->query))
        return true;
    file_close(&relay->query);
    return false;
}

static void query_send(trv_bootstrap_t *bootstrap)
{
    trv_relay_message_t message = {.rank = (uint32_t)bootstrap->options.rank};
    trv_host_interface_t interface[TRV_HOST_INTERFACES_MAX];
    datagram_t datagram = {.bytes = TRV_RELAY_MESSAGE_BYTES, .remote.sin_family = AF_INET};
    if (bootstrap->relay.query < 0 && !query_open(bootstrap))
        return;
    memcpy(message.nonce, bootstrap->relay.nonce, sizeof message.nonce);
    trv_relay_message_encode(bootstrap->options.secret, &message, datagram.data);
    datagram.remote.sin_port = htons((uint16_t)bootstrap->port);
    const int count = trv_host_interfaces(interface);
    for (int i = 0; i < count; i++) {
        datagram.remote.sin_addr = interface[i].neighbours;
        datagram.local = (struct in_pktinfo){.ipi_ifindex = (int)interface[i].index,
                                             .ipi_spec_dst = interface[i].address};
        if (interface[i].neighbours.s_addr != INADDR_ANY)
            datagram_send(bootstrap->relay.query, &datagram);
    }
}

static void answer_receive(trv_bootstrap_t *bootstrap)
{
    trv_relay_t *relay = &bootstrap->relay;
    trv_relay_message_t message;
    datagram_t datagram;
    if (!datagram_receive(relay->query, &datagram) || relay->found || bootstrap->to_rank_0 ||
        !trv_relay_message_decode(bootstrap->options.secret, datagram.data, datagram.bytes, &message) ||
        !message.is_answer || memcmp(message.nonce, relay->nonce, sizeof relay->nonce) != 0 ||
        message.rank >= (uint32_t)bootstrap->options.ranks || message.port > UINT16_MAX)
        return;
    relay->found = true;
    relay->rank = (int)message.rank;
    relay->address = (struct sockaddr_in){.sin_family = AF_INET,
                                          .sin_addr.s_addr = htonl(message.address),
                                          .sin_port = htons((uint16_t)message.port)};
    relay->local = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = datagram.local.ipi_addr};
    bootstrap->connect_ns = 0;
}

void trv_relay_missing(const trv_bootstrap_t *bootstrap, char *text, size_t size)
{
    enum { NAMED = 6 };
    trv_host_interface_t interface[TRV_HOST_INTERFACES_MAX];
    char tried[120];
    int named = 0;
    size_t used = 0;
    if (!bootstrap->options.relays) {
        snprintf(text, size,
                 "; ranks relay the connections of others only if TRIVANCE_SECRET is set, to the same value on all "
                 "ranks");
        return;
    }
    snprintf(tried, sizeof tried,
             ", and no connected rank with the same TRIVANCE_SECRET answers on UDP port %d through ", bootstrap->port);
    const int count = trv_host_interfaces(interface);
    for (int i = 0; i < count && named < NAMED && used < size; i++)
        if (interface[i].neighbours.s_addr != INADDR_ANY)
            used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", named++ ? ", " : tried, interface[i].name,
                                     interface[i].text);
    if (named == 0)
        snprintf(text, size, ", and this host has no interface through which a neighbour could relay the connection");
}

/* ---- A connected rank -------------------------------------------------------------------------------------------- */

/* True if this host has an interface other than that by which it reaches rank 0, or by which rank 0 is reached. */
static bool has_other_interface(const trv_bootstrap_t *bootstrap)
{
    trv_host_interface_t interface[TRV_HOST_INTERFACES_MAX];
    const int count = trv_host_interfaces(interface);
    int others = 0;
    for (int i = 0; i < count; i++)
        others += interface[i].neighbours.s_addr != INADDR_ANY && strcmp(interface[i].text, bootstrap->local) != 0;
    const bool unknown = bootstrap->options.rank == 0 && bootstrap->options.listen_everywhere &&
                         bootstrap->connected == 0;
    return others > unknown;
}

/* Several ranks on one host, of one or several jobs, may receive queries on the same port. */
static void answer_open(trv_bootstrap_t *bootstrap)
{
    trv_relay_t *relay = &bootstrap->relay;
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)bootstrap->port)};
    const int one = 1;
    if (trv_address_is_loopback(bootstrap->local) || !has_other_interface(bootstrap))
        return;
    relay->answer = trv_file_socket(AF_INET, SOCK_DGRAM);
    if (relay->answer >= 0 && setsockopt(relay->answer, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
        setsockopt(relay->answer, IPPROTO_IP, IP_PKTINFO, &one, sizeof one) == 0 &&
        bind(relay->answer, (const struct sockaddr *)&at, sizeof at) == 0 &&
        file_watch(bootstrap, relay->answer, &relay->answer))
        return;
    if (!relay->answer_failed)
        trv_bootstrap_log(
            bootstrap,
            "rank %d cannot open UDP port %d (%s), so it relays no connections to rank 0: ranks that reach "
            "rank 0 only through this host time out; select another port, for example MASTER_PORT=%d",
            bootstrap->options.rank, bootstrap->port, strerror(errno),
            bootstrap->port < 65535 ? bootstrap->port + 1 : bootstrap->port - 1);
    relay->answer_failed = true;
    file_close(&relay->answer);
}

static void answer_close(trv_relay_t *relay)
{
    file_close(&relay->answer);
    for (int i = 0; i < TRV_RELAY_LISTENERS_MAX; i++)
        file_close(&relay->listener[i].fd);
}

static bool listener_open(trv_bootstrap_t *bootstrap, trv_relay_listener_t *listener)
{
    trv_splices_t *splices = &bootstrap->relay.splices;
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = listener->address};
    if (splices->epoll < 0) {
        trv_file_limit_raise(bootstrap->options.ranks);
        if (!trv_splices_open(splices) || !file_watch(bootstrap, splices->epoll, splices)) {
            trv_splices_close(splices);
            return false;
        }
    }
    listener->fd = trv_file_socket(AF_INET, SOCK_STREAM);
    if (bind(listener->fd, (const struct sockaddr *)&at, sizeof at) == 0 && listen(listener->fd, BACKLOG) == 0 &&
        file_watch(bootstrap, listener->fd, listener))
        return true;
    file_close(&listener->fd);
    return false;
}

/* The listener at one of this host's addresses for one peer, which is opened if necessary; NULL if that fails. */
static trv_relay_listener_t *listener_find(trv_bootstrap_t *bootstrap, struct in_addr address, struct in_addr peer)
{
    trv_relay_listener_t *listener = bootstrap->relay.listener, *unused = NULL;
    for (int i = 0; i < TRV_RELAY_LISTENERS_MAX; i++) {
        if (listener[i].fd < 0)
            unused = &listener[i];
        else if (listener[i].address.s_addr == address.s_addr && listener[i].peer.s_addr == peer.s_addr)
            return &listener[i];
    }
    if (!unused)
        return NULL;
    *unused = (trv_relay_listener_t){.fd = -1, .address = address, .peer = peer};
    return listener_open(bootstrap, unused) ? unused : NULL;
}

/* The system selects the source of the answer to a broadcast by its routes, which may lead to another interface in the
 * same network. Replaces it by an address of the interface at which the broadcast has arrived. */
static void source_correct(struct in_pktinfo *local)
{
    trv_host_interface_t interface[TRV_HOST_INTERFACES_MAX];
    struct in_addr address = local->ipi_spec_dst;
    const int count = trv_host_interfaces(interface);
    for (int i = count - 1; i >= 0; i--)
        if (interface[i].index == (unsigned)local->ipi_ifindex) {
            address = interface[i].address;
            if (address.s_addr == local->ipi_spec_dst.s_addr)
                return;
        }
    local->ipi_spec_dst = address;
}

static void query_receive(trv_bootstrap_t *bootstrap)
{
    trv_relay_message_t message;
    datagram_t datagram;
    struct sockaddr_in at;
    socklen_t length = sizeof at;
    if (!datagram_receive(bootstrap->relay.answer, &datagram) ||
        !trv_relay_message_decode(bootstrap->options.secret, datagram.data, datagram.bytes, &message) ||
        message.is_answer)
        return;
    source_correct(&datagram.local);
    const trv_relay_listener_t *listener = listener_find(bootstrap, datagram.local.ipi_spec_dst,
                                                         datagram.remote.sin_addr);
    if (!listener || getsockname(listener->fd, (struct sockaddr *)&at, &length) != 0)
        return;
    message.is_answer = true;
    message.rank = (uint32_t)bootstrap->options.rank;
    message.address = ntohl(at.sin_addr.s_addr);
    message.port = ntohs(at.sin_port);
    trv_relay_message_encode(bootstrap->options.secret, &message, datagram.data);
    datagram_send(bootstrap->relay.answer, &datagram);
}

/* Connects to the process to which this rank itself is connected: rank 0, or the relay of this rank. */
static int upstream_connect(const trv_bootstrap_t *bootstrap)
{
    struct sockaddr_storage at, local;
    socklen_t length = sizeof at, local_length = sizeof local;
    if (!bootstrap->to_rank_0 || getpeername(bootstrap->to_rank_0->fd, (struct sockaddr *)&at, &length) != 0 ||
        getsockname(bootstrap->to_rank_0->fd, (struct sockaddr *)&local, &local_length) != 0)
        return -1;
    ((struct sockaddr_in *)(void *)&local)->sin_port = 0; /* at the same place in addresses of both families */
    int file = trv_file_socket(at.ss_family, SOCK_STREAM);
    if (file >= 0 && (bind(file, (struct sockaddr *)&local, local_length) != 0 ||
                      (connect(file, (struct sockaddr *)&at, length) != 0 && errno != EINPROGRESS)))
        file_close(&file);
    return file;
}

static void connection_relay(trv_bootstrap_t *bootstrap, int downstream)
{
    trv_splices_t *splices = &bootstrap->relay.splices;
    const int upstream = splices->count < bootstrap->options.ranks + TRV_UNAUTHENTICATED_MORE
                             ? upstream_connect(bootstrap)
                             : -1;
    if (upstream < 0) {
        trv_file_close(downstream);
        return;
    }
    trv_connection_set_options(downstream);
    trv_connection_set_options(upstream);
    trv_splices_add(splices, downstream, upstream);
}

/* If no connection can be accepted, for example because file descriptors are exhausted, the listener is closed. The
 * next query opens another one. */
static void listener_accept(trv_bootstrap_t *bootstrap, trv_relay_listener_t *listener)
{
    struct sockaddr_storage from = {0};
    socklen_t length = sizeof from;
    const struct sockaddr_in *ipv4 = (const void *)&from;
    const int file = trv_file_accept(listener->fd, &from, &length);
    if (file < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        file_close(&listener->fd);
    if (file < 0)
        return;
    if (ipv4->sin_addr.s_addr != listener->peer.s_addr)
        trv_file_close(file);
    else if (bootstrap->options.rank == 0)
        trv_server_take(bootstrap, file, &from);
    else
        connection_relay(bootstrap, file);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

void trv_relay_step(trv_bootstrap_t *bootstrap, double now_ns)
{
    trv_relay_t *relay = &bootstrap->relay;
    const trv_connection_t *to_rank_0 = bootstrap->to_rank_0;
    const bool connected = bootstrap->options.rank == 0 || (to_rank_0 && to_rank_0->link.received > 0);
    const bool failed = atomic_load(&bootstrap->failed);
    if (failed && relay->splices.count > 0 && relay->failed_ns == 0)
        relay->failed_ns = now_ns;
    if (failed && relay->failed_ns > 0 && now_ns - relay->failed_ns > PARTING_NS)
        trv_splices_close(&relay->splices); /* the ranks behind may not have received the failure: a cable is lost */
    const bool starting = bootstrap->options.relays && !bootstrap->joined && !failed;
    if (starting && relay->searching && !to_rank_0 && !relay->found && now_ns >= relay->query_ns) {
        query_send(bootstrap);
        relay->query_ns = now_ns + QUERY_NS;
    }
    if (relay->query >= 0 && (!starting || connected))
        file_close(&relay->query);
    if (relay->answer >= 0 && !(starting && connected))
        answer_close(relay);
    if (relay->answer < 0 && starting && connected && now_ns >= relay->answer_ns) {
        relay->answer_ns = now_ns + ANSWER_NS; /* another interface may come up */
        answer_open(bootstrap);
    }
}

bool trv_relay_event(trv_bootstrap_t *bootstrap, const void *source)
{
    trv_relay_t *relay = &bootstrap->relay;
    for (int i = 0; i < TRV_RELAY_LISTENERS_MAX; i++)
        if (source == &relay->listener[i]) {
            listener_accept(bootstrap, &relay->listener[i]);
            return true;
        }
    if (source == &relay->query)
        answer_receive(bootstrap);
    else if (source == &relay->answer)
        query_receive(bootstrap);
    else if (source == &relay->splices)
        trv_splices_event(&relay->splices);
    else
        return false;
    return true;
}

void trv_relay_end(trv_relay_t *relay)
{
    answer_close(relay);
    file_close(&relay->query);
    trv_splices_close(&relay->splices);
}
