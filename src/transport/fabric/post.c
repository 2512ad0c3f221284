/*
 * Operations: handed to the provider at once, or deferred while the provider's queue is full or it has no connection
 * yet. A connection is established when the peer makes progress, and a long message is sent when its receiver requests
 * it. Both may happen much later, and messages to other peers do not wait for them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "transport/fabric/inside.h"

enum { ANNOUNCED_S = 5 };

/* ---- Registered memory ------------------------------------------------------------------------------------------- */

static int register_on(trv_fabric_t *fabric, const trv_port_end_t *port, const void *data, size_t bytes,
                       struct fid_mr **region)
{
    const uint64_t key = port->info->domain_attr->mr_mode & FI_MR_PROV_KEY ? 0 : ++fabric->next_key;
    int code = fi_mr_reg(port->domain, data, bytes, FI_SEND | FI_RECV, 0, key, 0, region, NULL);
    if (code == 0 && (port->info->domain_attr->mr_mode & FI_MR_ENDPOINT)) {
        code = fi_mr_bind(*region, &port->ep->fid, 0);
        code = code ? code : fi_mr_enable(*region);
        if (code) {
            fi_close(&(*region)->fid);
            *region = NULL;
        }
    }
    return code == 0 ? TRV_OK
                     : trv_fail(TRV_ERR_TRANSPORT, "libfabric cannot register %zu bytes for %s: %s", bytes,
                                port->interface, fi_strerror(-code));
}

bool trv_fabric_registers(const trv_fabric_t *fabric) { return fabric->needs_regions; }

int trv_fabric_register(trv_fabric_t *fabric, const void *data, size_t bytes, trv_region_t *region)
{
    int rc = TRV_OK;
    if (!fabric->needs_regions || bytes == 0)
        return rc;
    pthread_mutex_lock(&fabric->lock);
    for (int p = 0; rc == TRV_OK && p < fabric->ports && !fabric->shut; p++)
        rc = register_on(fabric, &fabric->port[p], data, bytes, &region->on[p]);
    pthread_mutex_unlock(&fabric->lock);
    if (rc < 0)
        trv_fabric_unregister(fabric, region);
    return rc;
}

void trv_fabric_unregister(trv_fabric_t *fabric, trv_region_t *region)
{
    if (!fabric->needs_regions)
        return;
    pthread_mutex_lock(&fabric->lock);
    for (int p = 0; p < fabric->ports; p++)
        if (region->on[p])
            fi_close(&region->on[p]->fid);
    pthread_mutex_unlock(&fabric->lock);
    *region = (trv_region_t){{NULL}};
}

/* ---- Posting ----------------------------------------------------------------------------------------------------- */

/* The interface of this rank for the operation. `way` is the port of the sender. */
static int our_port(const trv_fabric_t *fabric, const trv_fabric_op_t *op)
{
    return op->way < 0 ? 0 : op->sends ? fabric->map.leave[op->way] : fabric->map.arrive[op->way];
}

static int their_port(const trv_peer_t *peer, const trv_fabric_op_t *op)
{
    return op->way < 0 ? 0 : op->sends ? peer->map.arrive[op->way] : peer->map.leave[op->way];
}

static int find_address(trv_fabric_t *fabric, const trv_fabric_op_t *op, fi_addr_t *address)
{
    const trv_peer_t *peer = &fabric->peer[op->peer];
    const int theirs = their_port(peer, op);
    fi_addr_t *known = &peer->known[op->port * peer->ports + theirs];
    if (*known == FI_ADDR_UNSPEC &&
        fi_av_insert(fabric->port[op->port].av, peer->address[theirs], 1, known, 0, NULL) != 1) {
        *known = FI_ADDR_UNSPEC;
        return trv_fail(TRV_ERR_TRANSPORT, "libfabric cannot find rank %d from %s", op->peer,
                        fabric->port[op->port].interface);
    }
    *address = *known;
    return TRV_OK;
}

/* ---- Fragments --------------------------------------------------------------------------------------------------- */

size_t trv_fragment_bytes(const trv_fabric_op_t *op, size_t index)
{
    return index + 1 < op->fragments ? op->fragment : op->bytes - index * op->fragment;
}

static trv_fragment_t *fragment_of(trv_fabric_op_t *op, size_t index)
{
    return op->fragments == 1 ? &op->whole : &op->cut[index];
}

/* Determines the number of fragments, and allocates them. */
static int cut(const trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    const bool whole = op->fragment == 0 || op->bytes <= op->fragment || op->bytes > fabric->cut_most;
    op->fragments = whole ? 1 : (op->bytes - 1) / op->fragment + 1;
    if (whole || op->fragments <= op->capacity)
        return TRV_OK;
    trv_fragment_t *more = op->fragments < SIZE_MAX / sizeof *more ? realloc(op->cut, op->fragments * sizeof *more)
                                                                   : NULL;
    if (!more)
        return trv_fail_memory();
    op->cut = more;
    op->capacity = op->fragments;
    return TRV_OK;
}

void trv_fabric_op_clear(trv_fabric_op_t *op)
{
    free(op->cut);
    op->cut = NULL;
    op->capacity = 0;
}

static void over(trv_fabric_op_t *op)
{
    if (op->own)
        fi_close(&op->own->fid);
    op->own = NULL;
    atomic_store_explicit(&op->state, op->end, memory_order_release);
}

void trv_fabric_settle_op(trv_fabric_op_t *op)
{
    if (op->pending == 0 && op->handed == op->fragments)
        over(op);
}

static int kind_of(const trv_fabric_op_t *op)
{
    return (op->sends ? TRV_LATE_SENDS : 0) | (op->patient ? TRV_LATE_PATIENT : 0);
}

static void put_off(trv_fabric_t *fabric, trv_port_end_t *port, trv_fabric_op_t *op)
{
    const int kind = kind_of(op);
    op->next = NULL;
    *port->end[kind] = op;
    port->end[kind] = &op->next;
    fabric->peer[op->peer].late[kind]++;
}

/* Removes the operation at `*at` from the list of deferred ones, without access to the operation, which may be in use
 * again. */
static void take_out(trv_port_end_t *port, int kind, trv_fabric_op_t **at, trv_fabric_op_t *next, trv_peer_t *peer)
{
    *at = next;
    if (!next)
        port->end[kind] = at;
    peer->late[kind]--;
}

/* Removes an operation from the list of deferred ones if it is in the list. */
static void take_back(trv_fabric_t *fabric, const trv_fabric_op_t *op)
{
    trv_port_end_t *port = &fabric->port[op->port];
    const int kind = kind_of(op);
    for (trv_fabric_op_t **at = &port->first[kind]; *at; at = &(*at)->next)
        if (*at == op) {
            take_out(port, kind, at, op->next, &fabric->peer[op->peer]);
            return;
        }
}

void trv_fabric_stop(trv_fabric_t *fabric, trv_fabric_op_t *op, trv_op_state_t state)
{
    op->end = state;
    take_back(fabric, op);
    for (size_t i = 0; i < op->handed; i++)
        if (fragment_of(op, i)->pending)
            fi_cancel(&fabric->port[op->port].ep->fid, &fragment_of(op, i)->context);
    for (; op->handed < op->fragments; op->handed++)
        fragment_of(op, op->handed)->pending = false;
}

/* ---- Handing over to the provider -------------------------------------------------------------------------------- */

static ssize_t receive_into(const trv_port_end_t *port, char *data, size_t bytes, void *region, fi_addr_t from,
                            uint64_t tag, void *context)
{
    const struct iovec place[] = {{data, bytes}, {port->beyond, TRV_BEYOND_BYTES}};
    void *regions[] = {region, NULL};
    return port->beyond ? fi_trecvv(port->ep, place, regions, 2, from, tag, 0, context)
                        : fi_trecv(port->ep, data, bytes, region, from, tag, 0, context);
}

/* Hands a fragment to the provider. Returns 0 or an error code of libfabric, never a TRV_ERR_*. */
static ssize_t hand_over(trv_fabric_t *fabric, trv_fabric_op_t *op, size_t index)
{
    trv_port_end_t *port = &fabric->port[op->port];
    const uint64_t sender = fabric->names_sender ? 0 : (uint64_t)(op->sends ? fabric->options.oob.rank : op->peer);
    const uint64_t tag = sender << TRV_TAG_BITS | op->tag;
    struct fid_mr *known = op->region ? op->region->on[op->port] : op->own;
    void *region = known ? fi_mr_desc(known) : NULL;
    char *data = (char *)op->data + index * op->fragment;
    const size_t bytes = trv_fragment_bytes(op, index);
    trv_fragment_t *fragment = fragment_of(op, index);
    fi_addr_t address = FI_ADDR_UNSPEC;
    *fragment = (trv_fragment_t){.op = op, .pending = true};
    if ((op->sends || fabric->names_sender) && find_address(fabric, op, &address) < 0)
        return -FI_EHOSTUNREACH;
    if (!op->sends) {
        const ssize_t code = receive_into(port, data, bytes, region, address, tag, &fragment->context);
        port->patient[0] += op->patient && code == 0;
        return code;
    }
    const bool injects = bytes <= port->info->tx_attr->inject_size, whole = op->fragments == 1;
    ssize_t code;
    if (injects)
        code = whole ? fi_tinject(port->ep, data, bytes, address, tag)
                     : fi_tinjectdata(port->ep, data, bytes, op->bytes, address, tag);
    else
        code = whole ? fi_tsend(port->ep, data, bytes, region, address, tag, &fragment->context)
                     : fi_tsenddata(port->ep, data, bytes, region, op->bytes, address, tag, &fragment->context);
    if (code != 0)
        return code;
    fragment->pending = !injects;
    port->patient[1] += op->patient && !injects;
    port->messages[1] += index == 0;
    port->bytes[1] += bytes;
    return 0;
}

/* True if no further operation of this kind may be handed over: patient ones leave half of the provider's queue to
 * others. */
static bool is_full(const trv_port_end_t *port, int kind)
{
    const int sends = kind & TRV_LATE_SENDS;
    return (kind & TRV_LATE_PATIENT) && port->patient[sends] >= port->patient_most[sends];
}

/* Hands over as many fragments as the provider accepts. */
static ssize_t hand_on(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    ssize_t code = is_full(&fabric->port[op->port], kind_of(op)) ? -FI_EAGAIN : 0;
    while (code == 0 && op->handed < op->fragments) {
        code = hand_over(fabric, op, op->handed);
        if (code == 0)
            op->pending += fragment_of(op, op->handed++)->pending;
    }
    if (code == 0)
        trv_fabric_settle_op(op);
    return code;
}

static void fail(trv_fabric_t *fabric, trv_fabric_op_t *op, ssize_t code)
{
    char way[TRV_PORT_TEXT_MAX] = "", sentence[512];
    if (op->way >= 0)
        trv_port_format(op->way, way);
    snprintf(sentence, sizeof sentence, "rank %d cannot %s rank %d by %s%s%s%s: %s", fabric->options.oob.rank,
             op->sends ? "send to" : "receive from", op->peer, fabric->port[op->port].interface, *way ? " (port " : "",
             way, *way ? ")" : "", fi_strerror((int)-code));
    trv_fabric_stop(fabric, op, TRV_OP_FREE);
    trv_fabric_settle_op(op);
    fabric->options.fail(fabric->options.context, sentence);
}

void trv_fabric_lose(trv_fabric_t *fabric, const trv_fabric_op_t *op, const char *why)
{
    char way[TRV_PORT_TEXT_MAX] = "", sentence[512];
    if (op->way >= 0)
        trv_port_format(op->way, way);
    snprintf(sentence, sizeof sentence, "rank %d lost rank %d, over %s%s%s%s: %s", fabric->options.oob.rank, op->peer,
             fabric->port[op->port].interface, *way ? " (port " : "", way, *way ? ")" : "", why);
    fabric->options.fail(fabric->options.context, sentence);
}

bool trv_port_retries(const trv_port_end_t *port)
{
    bool any = false;
    for (int kind = 0; kind < TRV_LATE_KINDS; kind++)
        any = any || (port->first[kind] && !is_full(port, kind));
    return any;
}

/* Retries the deferred operations of one kind, in order. When the provider rejects a send, further sends to the same
 * peer are skipped in this pass; when it rejects a receive, the pass ends, because the provider treats receives from
 * all peers alike. */
static ssize_t retry(trv_fabric_t *fabric, trv_port_end_t *port, int kind)
{
    const uint64_t pass = ++fabric->passes;
    for (trv_fabric_op_t **at = &port->first[kind]; *at && !is_full(port, kind);) {
        trv_fabric_op_t *op = *at, *next = op->next;
        trv_peer_t *peer = &fabric->peer[op->peer];
        const ssize_t code = peer->stuck == pass ? -FI_EAGAIN : hand_on(fabric, op);
        if (code == -FI_EAGAIN && !(kind & TRV_LATE_SENDS))
            break;
        if (code == -FI_EAGAIN) {
            peer->stuck = pass;
            at = &op->next;
            continue;
        }
        take_out(port, kind, at, next, peer);
        if (code != 0) {
            fail(fabric, op, code);
            return code;
        }
    }
    return 0;
}

void trv_fabric_retry(trv_fabric_t *fabric, trv_port_end_t *port)
{
    for (int kind = 0; kind < TRV_LATE_KINDS; kind++)
        if (port->first[kind] && retry(fabric, port, kind) != 0)
            return;
}

static int post(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    if (atomic_load(&fabric->broken))
        return fabric->options.reason(fabric->options.context);
    op->own = NULL;
    op->got = op->handed = op->pending = 0;
    op->longer = false;
    op->end = TRV_OP_DONE;
    op->port = our_port(fabric, op);
    trv_port_end_t *port = &fabric->port[op->port];
    int rc = cut(fabric, op);
    if (rc == TRV_OK && fabric->needs_regions && !op->region && op->bytes > 0)
        rc = register_on(fabric, port, op->data, op->bytes, &op->own);
    if (rc < 0)
        return rc;
    atomic_store_explicit(&op->state, TRV_OP_PENDING, memory_order_relaxed);
    const ssize_t code = fabric->peer[op->peer].late[kind_of(op)] ? -FI_EAGAIN : hand_on(fabric, op);
    if (code == -FI_EAGAIN)
        put_off(fabric, port, op);
    if (code != 0 && code != -FI_EAGAIN)
        fail(fabric, op, code);
    return TRV_OK;
}

int trv_fabric_post(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    pthread_mutex_lock(&fabric->lock);
    int rc = post(fabric, op);
    pthread_mutex_unlock(&fabric->lock);
    return rc;
}

const char *trv_fabric_wrong_length(const trv_fabric_t *fabric, const trv_fabric_op_t *op, char sentence[256])
{
    snprintf(sentence, 256,
             "rank %d sent %s%zu bytes to rank %d where %zu bytes are due: the ranks' counts or types differ", op->peer,
             op->longer ? "more than " : "", op->got, fabric->options.oob.rank, op->bytes);
    return sentence;
}

int trv_fabric_test(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    char sentence[256];
    switch (atomic_load_explicit(&op->state, memory_order_acquire)) {
    case TRV_OP_DONE: return 1;
    case TRV_OP_WRONG: return trv_fail(TRV_ERR_TRANSPORT, "%s", trv_fabric_wrong_length(fabric, op, sentence));
    default:
        if (!atomic_load_explicit(&fabric->shut_too, memory_order_acquire))
            return 0;
        pthread_mutex_lock(&fabric->lock);
        op->end = TRV_OP_FREE;
        over(op);
        pthread_mutex_unlock(&fabric->lock);
        return fabric->options.reason(fabric->options.context);
    }
}

void trv_fabric_abandon(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    pthread_mutex_lock(&fabric->lock);
    if (atomic_load(&op->state) == TRV_OP_PENDING && !fabric->shut) {
        trv_fabric_stop(fabric, op, TRV_OP_FREE);
        trv_fabric_settle_op(op);
    }
    pthread_mutex_unlock(&fabric->lock);
}

/* A rendezvous that has begun cannot be cancelled. If its sender is gone, it ends only when the endpoints are closed;
 * until then the provider may write to the memory of the receive. Therefore this function waits, and after ANNOUNCED_S
 * reports the peer as lost. */
void trv_fabric_cancel(trv_fabric_t *fabric, trv_fabric_op_t *op)
{
    trv_fabric_abandon(fabric, op);
    pthread_mutex_lock(&fabric->lock);
    bool ended = atomic_load(&op->state) != TRV_OP_PENDING || fabric->shut, lost = false;
    pthread_mutex_unlock(&fabric->lock);
    const double end_s = trv_now_s() + ANNOUNCED_S;
    for (unsigned polls = 1; !ended; polls++) {
        const uint64_t seen = trv_fabric_poll(fabric);
        ended = atomic_load(&op->state) != TRV_OP_PENDING || atomic_load(&fabric->shut_too);
        if (!ended && !lost && trv_now_s() > end_s) {
            trv_fabric_lose(fabric, op, "a message that was announced does not come");
            lost = true;
        }
        if (!ended)
            trv_fabric_pause(fabric, seen, polls);
    }
    pthread_mutex_lock(&fabric->lock);
    if (atomic_load(&op->state) == TRV_OP_PENDING) { /* the endpoints are closed */
        op->end = TRV_OP_FREE;
        over(op);
    }
    pthread_mutex_unlock(&fabric->lock);
}
