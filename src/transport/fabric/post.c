/*
 * Operations: posted to the provider at once, or deferred while the provider's queue is full or it has no connection
 * yet. A connection is established when the peer makes progress, and a long message is sent when its receiver requests
 * it. Both may happen much later, and messages to other peers do not wait for them.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "transport/fabric/inside.h"

enum { RENDEZVOUS_TIMEOUT_S = 5 };

/* ---- Registered memory ------------------------------------------------------------------------------------------- */

static int register_on(trv_fabric_t *fabric, const trv_interface_t *interface, const void *data, size_t bytes,
                       struct fid_mr **region)
{
    const uint64_t key = interface->info->domain_attr->mr_mode & FI_MR_PROV_KEY ? 0 : ++fabric->next_key;
    int code = fi_mr_reg(interface->domain, data, bytes, FI_SEND | FI_RECV, 0, key, 0, region, NULL);
    if (code == 0 && (interface->info->domain_attr->mr_mode & FI_MR_ENDPOINT)) {
        code = fi_mr_bind(*region, &interface->ep->fid, 0);
        code = code ? code : fi_mr_enable(*region);
        if (code) {
            fi_close(&(*region)->fid);
            *region = NULL;
        }
    }
    return code == 0 ? TRV_OK
                     : trv_fail(TRV_ERR_TRANSPORT, "libfabric cannot register %zu bytes for %s: %s", bytes,
                                interface->name, fi_strerror(-code));
}

bool trv_fabric_registers(const trv_fabric_t *fabric) { return fabric->registers_memory; }

int trv_fabric_register(trv_fabric_t *fabric, const void *data, size_t bytes, trv_region_t *region)
{
    int rc = TRV_OK;
    if (!fabric->registers_memory || bytes == 0)
        return rc;
    pthread_mutex_lock(&fabric->lock);
    for (int p = 0; rc == TRV_OK && p < fabric->interfaces && !fabric->shut; p++)
        rc = register_on(fabric, &fabric->interface[p], data, bytes, &region->on[p]);
    pthread_mutex_unlock(&fabric->lock);
    if (rc < 0)
        trv_fabric_unregister(fabric, region);
    return rc;
}

void trv_fabric_unregister(trv_fabric_t *fabric, trv_region_t *region)
{
    if (!fabric->registers_memory)
        return;
    pthread_mutex_lock(&fabric->lock);
    for (int p = 0; p < fabric->interfaces; p++)
        if (region->on[p])
            fi_close(&region->on[p]->fid);
    pthread_mutex_unlock(&fabric->lock);
    *region = (trv_region_t){{NULL}};
}

/* ---- Posting ----------------------------------------------------------------------------------------------------- */

/* The port by which the message of the operation leaves the rank before its receiver: this rank, the peer, or the last
 * rank that relays it. TRV_NO_PORT: by the first interface. */
static int sender_port(const trv_fabric_t *fabric, const trv_fabric_op_t *op)
{
    const bool reaches = op->peer == fabric->options.oob.rank ||
                         (op->port >= 0 &&
                          fabric->neighbour[op->sends ? op->port : trv_port_opposite(op->port)] == op->peer);
    if (!fabric->relays || reaches)
        return op->port;
    return op->sends ? fabric->peer[op->peer].first_port : fabric->peer[op->peer].last_port;
}

/* The interface of this rank for the operation. */
static int own_interface(const trv_fabric_t *fabric, const trv_fabric_op_t *op)
{
    const int port = sender_port(fabric, op);
    return port < 0 ? 0 : op->sends ? fabric->map.leave[port] : fabric->map.arrive[port];
}

static int peer_interface(const trv_fabric_t *fabric, const trv_fabric_op_t *op)
{
    const trv_peer_t *peer = &fabric->peer[op->peer];
    const int port = sender_port(fabric, op);
    return port < 0 ? 0 : op->sends ? peer->map.arrive[port] : peer->map.leave[port];
}

/* Adds an address of a peer to the address vector of an interface. The scope of a link-local address is the number of
 * the interface on its own host, and must be that of this interface. */
static bool address_insert(const trv_interface_t *interface, const trv_peer_t *peer, int there, fi_addr_t *found)
{
    struct sockaddr_in6 remote, local;
    const void *address = peer->address[there];
    if (interface->info->addr_format == FI_SOCKADDR_IN6 && peer->address_bytes[there] == sizeof remote) {
        memcpy(&local, interface->address, sizeof local);
        memcpy(&remote, address, sizeof remote);
        remote.sin6_scope_id = remote.sin6_scope_id > 0 ? local.sin6_scope_id : 0;
        address = &remote;
    }
    return fi_av_insert(interface->av, address, 1, found, 0, NULL) == 1;
}

static int find_address(trv_fabric_t *fabric, const trv_fabric_op_t *op, fi_addr_t *address)
{
    const trv_peer_t *peer = &fabric->peer[op->peer];
    const int there = peer_interface(fabric, op);
    fi_addr_t *found = &peer->av_address[op->interface * peer->interfaces + there];
    if (*found == FI_ADDR_UNSPEC && !address_insert(&fabric->interface[op->interface], peer, there, found)) {
        *found = FI_ADDR_UNSPEC;
        return trv_fail(TRV_ERR_TRANSPORT, "libfabric cannot add the address of rank %d to the address vector of %s",
                        op->peer, fabric->interface[op->interface].name);
    }
    *address = *found;
    return TRV_OK;
}

/* ---- Fragments --------------------------------------------------------------------------------------------------- */

size_t trv_fragment_bytes(const trv_fabric_op_t *op, size_t index)
{
    return index + 1 < op->fragments ? op->fragment_bytes : op->bytes - index * op->fragment_bytes;
}

static trv_fragment_t *fragment_of(trv_fabric_op_t *op, size_t index)
{
    return op->fragments == 1 ? &op->single_fragment : &op->fragment_list[index];
}

/* Determines the length and number of fragments, and allocates them. */
static int op_divide(const trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    const size_t most = fabric->fragment_bytes_max;
    if (most > 0 && (op->fragment_bytes == 0 || op->fragment_bytes > most))
        op->fragment_bytes = most;
    const bool whole = op->fragment_bytes == 0 || op->bytes <= op->fragment_bytes ||
                       op->bytes > fabric->fragmented_bytes_max;
    op->fragments = whole ? 1 : (op->bytes - 1) / op->fragment_bytes + 1;
    if (whole || op->fragments <= op->capacity)
        return TRV_OK;
    trv_fragment_t *more = op->fragments < SIZE_MAX / sizeof *more
                               ? realloc(op->fragment_list, op->fragments * sizeof *more)
                               : NULL;
    if (!more)
        return trv_fail_memory();
    op->fragment_list = more;
    op->capacity = op->fragments;
    return TRV_OK;
}

void trv_fabric_op_clear(trv_fabric_op_t *op)
{
    free(op->fragment_list);
    op->fragment_list = NULL;
    op->capacity = 0;
}

static void op_set_final_state(trv_fabric_op_t *op)
{
    if (op->own_region)
        fi_close(&op->own_region->fid);
    op->own_region = NULL;
    atomic_store_explicit(&op->state, op->final_state, memory_order_release);
}

void trv_fabric_op_end(trv_fabric_op_t *op)
{
    if (op->fragments_pending == 0 && op->fragments_posted == op->fragments)
        op_set_final_state(op);
}

static int deferred_list_of(const trv_fabric_op_t *op)
{
    return (op->sends ? TRV_DEFERRED_SENDS : 0) | (op->limited ? TRV_DEFERRED_LIMITED : 0);
}

static void op_defer(trv_fabric_t *fabric, trv_interface_t *interface, trv_fabric_op_t *op)
{
    const int list = deferred_list_of(op);
    op->next = NULL;
    *interface->deferred_end[list] = op;
    interface->deferred_end[list] = &op->next;
    fabric->peer[op->peer].deferred[list]++;
}

/* Removes the operation at `*at` from the list of deferred ones, without access to the operation, which may be in use
 * again. */
static void deferred_remove_at(trv_interface_t *interface, int list, trv_fabric_op_t **at, trv_fabric_op_t *next,
                               trv_peer_t *peer)
{
    *at = next;
    if (!next)
        interface->deferred_end[list] = at;
    peer->deferred[list]--;
}

/* Removes an operation from the list of deferred ones if it is in the list. */
static void deferred_remove(trv_fabric_t *fabric, const trv_fabric_op_t *op)
{
    trv_interface_t *interface = &fabric->interface[op->interface];
    const int list = deferred_list_of(op);
    for (trv_fabric_op_t **at = &interface->deferred[list]; *at; at = &(*at)->next)
        if (*at == op) {
            deferred_remove_at(interface, list, at, op->next, &fabric->peer[op->peer]);
            return;
        }
}

void trv_fabric_op_stop(trv_fabric_t *fabric, trv_fabric_op_t *op, trv_op_state_t state)
{
    op->final_state = state;
    deferred_remove(fabric, op);
    for (size_t i = 0; i < op->fragments_posted; i++)
        if (fragment_of(op, i)->pending)
            fi_cancel(&fabric->interface[op->interface].ep->fid, &fragment_of(op, i)->context);
    for (; op->fragments_posted < op->fragments; op->fragments_posted++)
        fragment_of(op, op->fragments_posted)->pending = false;
}

/* ---- Posting to the provider ------------------------------------------------------------------------------------- */

static ssize_t fragment_receive(const trv_interface_t *interface, char *data, size_t bytes, void *region,
                                fi_addr_t from, uint64_t tag, void *context)
{
    const struct iovec vector[] = {{data, bytes}, {interface->excess, TRV_EXCESS_BYTES}};
    void *regions[] = {region, NULL};
    return interface->excess ? fi_trecvv(interface->ep, vector, regions, 2, from, tag, 0, context)
                             : fi_trecv(interface->ep, data, bytes, region, from, tag, 0, context);
}

/* Posts a fragment to the provider. Returns 0 or an error code of libfabric, never a TRV_ERR_*. */
static ssize_t fragment_post(trv_fabric_t *fabric, trv_fabric_op_t *op, size_t index)
{
    trv_interface_t *interface = &fabric->interface[op->interface];
    const int own = op->origin > 0 ? op->origin - 1 : fabric->options.oob.rank;
    const uint64_t sender = fabric->directed_receives ? 0 : (uint64_t)(op->sends ? own : op->peer);
    const uint64_t tag = sender << TRV_TAG_BITS | op->tag;
    struct fid_mr *memory = op->region ? op->region->on[op->interface] : op->own_region;
    void *region = memory ? fi_mr_desc(memory) : NULL;
    char *data = (char *)op->data + index * op->fragment_bytes;
    const size_t bytes = trv_fragment_bytes(op, index);
    trv_fragment_t *fragment = fragment_of(op, index);
    fi_addr_t address = FI_ADDR_UNSPEC;
    *fragment = (trv_fragment_t){.op = op, .pending = true};
    if ((op->sends || fabric->directed_receives) && find_address(fabric, op, &address) < 0)
        return -FI_EHOSTUNREACH;
    if (!op->sends) {
        const ssize_t code = fragment_receive(interface, data, bytes, region, address, tag, &fragment->context);
        interface->limited[0] += op->limited && code == 0;
        return code;
    }
    const bool injects = bytes <= interface->info->tx_attr->inject_size, whole = op->fragments == 1;
    ssize_t code;
    if (injects)
        code = whole ? fi_tinject(interface->ep, data, bytes, address, tag)
                     : fi_tinjectdata(interface->ep, data, bytes, op->bytes, address, tag);
    else
        code = whole ? fi_tsend(interface->ep, data, bytes, region, address, tag, &fragment->context)
                     : fi_tsenddata(interface->ep, data, bytes, region, op->bytes, address, tag, &fragment->context);
    if (code != 0)
        return code;
    fragment->pending = !injects;
    interface->limited[1] += op->limited && !injects;
    interface->messages[1] += index == 0;
    interface->bytes[1] += bytes;
    return 0;
}

/* True if no further operation of this list may be posted: limited ones leave half of the provider's queue to
 * others. */
static bool is_limit_reached(const trv_interface_t *interface, int list)
{
    const int sends = list & TRV_DEFERRED_SENDS;
    return (list & TRV_DEFERRED_LIMITED) && interface->limited[sends] >= interface->limited_max[sends];
}

/* Posts as many fragments as the provider accepts. */
static ssize_t op_post_fragments(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    ssize_t code = is_limit_reached(&fabric->interface[op->interface], deferred_list_of(op)) ? -FI_EAGAIN : 0;
    while (code == 0 && op->fragments_posted < op->fragments) {
        code = fragment_post(fabric, op, op->fragments_posted);
        if (code == 0)
            op->fragments_pending += fragment_of(op, op->fragments_posted++)->pending;
    }
    if (code == 0)
        trv_fabric_op_end(op);
    return code;
}

enum { SENTENCE_BYTES = 512 };

/* Describes the failure of an operation: `what` this rank could not do and `why`, unless its cable is unplugged. */
static void describe_failure(const trv_fabric_t *fabric, const trv_fabric_op_t *op, const char *what, const char *why,
                             char sentence[SENTENCE_BYTES])
{
    const int port = sender_port(fabric, op);
    char text[TRV_PORT_TEXT_MAX] = "";
    if (fabric->relays && port >= 0 &&
        trv_fabric_is_unplugged(fabric, op->sends ? port : trv_port_opposite(port), sentence, SENTENCE_BYTES))
        return;
    if (op->port >= 0)
        trv_port_format(op->port, text);
    snprintf(sentence, SENTENCE_BYTES, "rank %d %s rank %d through %s%s%s%s: %s", fabric->options.oob.rank, what,
             op->peer, fabric->interface[op->interface].name, *text ? " (port " : "", text, *text ? ")" : "", why);
}

static void op_fail(trv_fabric_t *fabric, trv_fabric_op_t *op, ssize_t code)
{
    char sentence[SENTENCE_BYTES];
    describe_failure(fabric, op, op->sends ? "cannot send to" : "cannot receive from", fi_strerror((int)-code),
                     sentence);
    trv_fabric_op_stop(fabric, op, TRV_OP_FREE);
    trv_fabric_op_end(op);
    fabric->options.fail(fabric->options.context, sentence);
}

void trv_fabric_fail_peer(trv_fabric_t *fabric, const trv_fabric_op_t *op, const char *why)
{
    char sentence[SENTENCE_BYTES];
    describe_failure(fabric, op, "lost its connection to", why, sentence);
    fabric->options.fail(fabric->options.context, sentence);
}

bool trv_interface_retries(const trv_interface_t *interface)
{
    bool any = false;
    for (int list = 0; list < TRV_DEFERRED_LISTS; list++)
        any = any || (interface->deferred[list] && !is_limit_reached(interface, list));
    return any;
}

/* Retries the deferred operations of one list, in order. When the provider rejects a send, further sends to the same
 * peer are skipped in this pass; when it rejects a receive, the pass ends, because the provider treats receives from
 * all peers alike. */
static ssize_t deferred_retry(trv_fabric_t *fabric, trv_interface_t *interface, int list)
{
    const uint64_t pass = ++fabric->passes;
    for (trv_fabric_op_t **at = &interface->deferred[list]; *at && !is_limit_reached(interface, list);) {
        trv_fabric_op_t *op = *at, *next = op->next;
        trv_peer_t *peer = &fabric->peer[op->peer];
        const ssize_t code = peer->rejected_in_pass == pass ? -FI_EAGAIN : op_post_fragments(fabric, op);
        if (code == -FI_EAGAIN && !(list & TRV_DEFERRED_SENDS))
            break;
        if (code == -FI_EAGAIN) {
            peer->rejected_in_pass = pass;
            at = &op->next;
            continue;
        }
        deferred_remove_at(interface, list, at, next, peer);
        if (code != 0) {
            op_fail(fabric, op, code);
            return code;
        }
    }
    return 0;
}

void trv_fabric_retry(trv_fabric_t *fabric, trv_interface_t *interface)
{
    for (int list = 0; list < TRV_DEFERRED_LISTS; list++)
        if (interface->deferred[list] && deferred_retry(fabric, interface, list) != 0)
            return;
}

static int op_post(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    if (atomic_load(&fabric->broken))
        return fabric->options.reason(fabric->options.context);
    op->own_region = NULL;
    op->bytes_received = op->fragments_posted = op->fragments_pending = 0;
    op->longer = false;
    op->final_state = TRV_OP_DONE;
    op->interface = own_interface(fabric, op);
    trv_interface_t *interface = &fabric->interface[op->interface];
    int rc = op_divide(fabric, op);
    if (rc == TRV_OK && fabric->registers_memory && !op->region && op->bytes > 0)
        rc = register_on(fabric, interface, op->data, op->bytes, &op->own_region);
    if (rc < 0)
        return rc;
    atomic_store_explicit(&op->state, TRV_OP_PENDING, memory_order_relaxed);
    const ssize_t code = fabric->peer[op->peer].deferred[deferred_list_of(op)] ? -FI_EAGAIN
                                                                               : op_post_fragments(fabric, op);
    if (code == -FI_EAGAIN)
        op_defer(fabric, interface, op);
    if (code != 0 && code != -FI_EAGAIN)
        op_fail(fabric, op, code);
    return TRV_OK;
}

int trv_fabric_post(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    pthread_mutex_lock(&fabric->lock);
    int rc = op_post(fabric, op);
    pthread_mutex_unlock(&fabric->lock);
    return rc;
}

const char *trv_fabric_wrong_length(const trv_fabric_t *fabric, const trv_fabric_op_t *op, char sentence[256])
{
    snprintf(sentence, 256,
             "rank %d sent %s%zu bytes to rank %d where %zu bytes are expected: the ranks' counts or types differ",
             op->peer, op->longer ? "more than " : "", op->bytes_received, fabric->options.oob.rank, op->bytes);
    return sentence;
}

int trv_fabric_test(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    char sentence[256];
    switch (atomic_load_explicit(&op->state, memory_order_acquire)) {
    case TRV_OP_DONE: return 1;
    case TRV_OP_WRONG: return trv_fail(TRV_ERR_TRANSPORT, "%s", trv_fabric_wrong_length(fabric, op, sentence));
    default:
        if (!atomic_load_explicit(&fabric->shut_copy, memory_order_acquire))
            return 0;
        pthread_mutex_lock(&fabric->lock);
        op->final_state = TRV_OP_FREE;
        op_set_final_state(op);
        pthread_mutex_unlock(&fabric->lock);
        return fabric->options.reason(fabric->options.context);
    }
}

void trv_fabric_abandon(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    pthread_mutex_lock(&fabric->lock);
    if (atomic_load(&op->state) == TRV_OP_PENDING && !fabric->shut) {
        trv_fabric_op_stop(fabric, op, TRV_OP_FREE);
        trv_fabric_op_end(op);
    }
    pthread_mutex_unlock(&fabric->lock);
}

/* A rendezvous that has begun cannot be cancelled. If its sender is gone, it ends only when the endpoints are closed;
 * until then the provider may write to the memory of the receive. Therefore this function waits, and after
 * RENDEZVOUS_TIMEOUT_S reports the peer as lost. */
void trv_fabric_cancel(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    trv_fabric_abandon(fabric, op);
    pthread_mutex_lock(&fabric->lock);
    bool ended = atomic_load(&op->state) != TRV_OP_PENDING || fabric->shut, lost = false;
    pthread_mutex_unlock(&fabric->lock);
    const double end_s = trv_now_s() + RENDEZVOUS_TIMEOUT_S;
    for (unsigned polls = 1; !ended; polls++) {
        const uint64_t seen = trv_fabric_poll(fabric);
        ended = atomic_load(&op->state) != TRV_OP_PENDING || atomic_load(&fabric->shut_copy);
        if (!ended && !lost && trv_now_s() > end_s) {
            trv_fabric_fail_peer(fabric, op, "an announced message did not arrive");
            lost = true;
        }
        if (!ended)
            trv_fabric_pause(fabric, seen, polls);
    }
    pthread_mutex_lock(&fabric->lock);
    if (atomic_load(&op->state) == TRV_OP_PENDING) { /* the endpoints are closed */
        op->final_state = TRV_OP_FREE;
        op_set_final_state(op);
    }
    pthread_mutex_unlock(&fabric->lock);
}
