/*
 * Opening and closing, and who is where.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/error.h"
#include "net/fabric/inside.h"

static int open_all(trv_fabric_t *fabric)
{
    int rc = trv_fabric_choose(fabric);
    for (int p = 0; rc == TRV_OK && p < fabric->ports; p++)
        rc = trv_port_open(fabric, &fabric->port[p]);
    fabric->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return rc == TRV_OK && fabric->wake < 0 ? trv_fail(TRV_ERR_TRANSPORT, "no files are left to wait with") : rc;
}

int trv_fabric_open(trv_fabric_t **opened, const trv_fabric_options_t *options)
{
    pthread_condattr_t clock;
    *opened = NULL;
    trv_fabric_t *fabric = calloc(1, sizeof *fabric);
    if (!fabric)
        return trv_fail_memory();
    fabric->options = *options;
    fabric->wake = -1;
    pthread_mutex_init(&fabric->lock, NULL);
    pthread_mutex_init(&fabric->waiting, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&fabric->changed, &clock);
    pthread_condattr_destroy(&clock);
    fabric->peer = calloc((size_t)options->ranks, sizeof *fabric->peer);
    int rc = fabric->peer ? open_all(fabric) : trv_fail_memory();
    fabric->options.provider = fabric->options.ports = fabric->options.local = NULL; /* which may go */
    if (rc < 0)
        trv_fabric_close(fabric);
    else
        *opened = fabric;
    return rc;
}

void trv_fabric_shut(trv_fabric_t *fabric)
{
    if (fabric->shut)
        return;
    for (int p = 0; p < fabric->ports; p++)
        trv_port_shut(&fabric->port[p]);
    fabric->shut = true;
    atomic_store(&fabric->shut_too, true);
}

void trv_fabric_end(trv_fabric_t *fabric)
{
    pthread_mutex_lock(&fabric->lock);
    trv_fabric_shut(fabric);
    pthread_mutex_unlock(&fabric->lock);
}

void trv_fabric_close(trv_fabric_t *fabric)
{
    if (!fabric)
        return;
    trv_fabric_end(fabric);
    for (int p = 0; p < TRV_WAYS; p++) {
        trv_port_close(&fabric->port[p]);
        fi_freeinfo(fabric->port[p].info);
    }
    for (int r = 0; fabric->peer && r < fabric->options.ranks; r++) {
        free(fabric->peer[r].address);
        free(fabric->peer[r].address_bytes);
        free(fabric->peer[r].known);
    }
    if (fabric->wake >= 0)
        close(fabric->wake);
    pthread_cond_destroy(&fabric->changed);
    pthread_mutex_destroy(&fabric->waiting);
    pthread_mutex_destroy(&fabric->lock);
    free(fabric->peer);
    free(fabric);
}

void trv_fabric_crowd(trv_fabric_t *fabric) { fabric->options.crowded = true; }

bool trv_fabric_settled(const trv_fabric_t *fabric)
{
    return !atomic_load(&fabric->broken) || atomic_load(&fabric->shut_too);
}

const char *trv_fabric_provider(const trv_fabric_t *fabric) { return fabric->port[0].info->fabric_attr->prov_name; }

/* ---- Who is where ------------------------------------------------------------------------------------------------ */

void trv_fabric_describe(const trv_fabric_t *fabric, trv_writer_t *writer)
{
    trv_write_block(writer, fabric->way, sizeof fabric->way);
    trv_write_number(writer, (uint32_t)fabric->ports);
    for (int p = 0; p < fabric->ports; p++) {
        const trv_port_end_t *port = &fabric->port[p];
        trv_write_text(writer, port->info->fabric_attr->prov_name);
        trv_write_number(writer, port->info->addr_format);
        trv_write_block(writer, port->address, port->address_bytes);
    }
}

static const char *format_name(uint32_t format)
{
    switch (format) {
    case FI_SOCKADDR_IN: return "IPv4";
    case FI_SOCKADDR_IN6: return "IPv6";
    case FI_ADDR_STR: return "names";
    default: return "a kind of its own";
    }
}

/* Addresses serve those only who have the same kind. All ranks compare all others with rank 0, and so say the same. */
static int read_kind(trv_fabric_t *fabric, int rank, trv_reader_t *reader, trv_peer_kind_t *kind)
{
    const trv_peer_kind_t *first = &fabric->kind;
    trv_read_text(reader, kind->provider, sizeof kind->provider);
    kind->format = trv_read_number(reader);
    if (reader->bad || !*first->provider)
        return TRV_OK;
    if (strcmp(kind->provider, first->provider) != 0)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "rank %d has libfabric's provider %s, and rank 0 %s; name one that both have, as in "
                        "TRIVANCE_PROVIDER=tcp",
                        rank, kind->provider, first->provider);
    if (kind->format != first->format)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "rank %d has an interface with addresses of another kind than rank 0 (%s; rank 0: %s): name "
                        "interfaces that reach each other in TRIVANCE_PORTS, as in +0=10.0.0.1,-0=10.0.1.1",
                        rank, format_name(kind->format), format_name(first->format));
    return TRV_OK;
}

static int allocate_peer(const trv_fabric_t *fabric, trv_peer_t *peer)
{
    const size_t ports = (size_t)peer->ports, pairs = ports * (size_t)fabric->ports;
    peer->address = calloc(ports, sizeof *peer->address);
    peer->address_bytes = calloc(ports, sizeof *peer->address_bytes);
    peer->known = malloc(pairs * sizeof *peer->known);
    if (!peer->address || !peer->address_bytes || !peer->known)
        return trv_fail_memory();
    for (size_t i = 0; i < pairs; i++)
        peer->known[i] = FI_ADDR_UNSPEC;
    return TRV_OK;
}

int trv_fabric_learn(trv_fabric_t *fabric, int rank, trv_reader_t *reader)
{
    trv_peer_t *peer = &fabric->peer[rank];
    size_t ways;
    peer->ways = trv_read_block(reader, TRV_WAYS, &ways);
    const uint32_t ports = trv_read_number(reader);
    bool right = !reader->bad && ways == TRV_WAYS && ports >= 1 && ports <= TRV_WAYS;
    for (int w = 0; right && w < TRV_WAYS; w++)
        right = peer->ways[w] < ports;
    if (!right)
        return trv_fail(TRV_ERR_INVALID, "the interfaces of rank %d came damaged", rank);
    peer->ports = (int)ports;
    int rc = allocate_peer(fabric, peer);
    for (int p = 0; rc == TRV_OK && p < peer->ports; p++) {
        trv_peer_kind_t kind;
        rc = read_kind(fabric, rank, reader, &kind);
        peer->address[p] = trv_read_block(reader, TRV_ADDRESS_BYTES_MAX, &peer->address_bytes[p]);
        kind.bytes = peer->address_bytes[p];
        if (rc < 0)
            break;
        if (reader->bad || (*fabric->kind.provider && kind.bytes != fabric->kind.bytes))
            return trv_fail(TRV_ERR_INVALID, "the addresses of rank %d came damaged", rank);
        if (rank == 0 && p == 0)
            fabric->kind = kind;
    }
    return rc;
}

int trv_fabric_arrival(const trv_fabric_t *fabric, int peer, int way) { return fabric->peer[peer].ways[way ^ 1]; }

int trv_fabric_ports(const trv_fabric_t *fabric) { return fabric->ports; }

void trv_fabric_port_info(trv_fabric_t *fabric, int index, trv_fabric_port_info_t *info)
{
    pthread_mutex_lock(&fabric->lock);
    const trv_port_end_t *port = &fabric->port[index];
    *info = (trv_fabric_port_info_t){port->interface, port->info->fabric_attr->prov_name, "", port->ways, {0}, {0}};
    for (int sends = 0; sends < 2; sends++) {
        info->bytes[sends] = port->bytes[sends];
        info->messages[sends] = port->messages[sends];
    }
    size_t room = sizeof info->address;
    if (port->av)
        fi_av_straddr(port->av, port->address, info->address, &room);
    info->address[sizeof info->address - 1] = '\0';
    pthread_mutex_unlock(&fabric->lock);
}

void trv_fabric_break(trv_fabric_t *fabric)
{
    atomic_store(&fabric->broken, true);
    trv_fabric_wake(fabric);
}
