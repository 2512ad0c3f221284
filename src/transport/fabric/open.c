/*
 * Creation, closing and properties of the fabric.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "transport/fabric/inside.h"

static int open_all(trv_fabric_t *fabric, const char *provider, const char *parameters)
{
    trv_fabric_parameters(parameters); /* before libfabric reads them */
    int rc = trv_fabric_choose(fabric, provider);
    /* Shared memory has no rendezvous that fragments could avoid, and shm buffers at most 1024 unreceived messages. */
    fabric->cut_most = fabric->local ? 0 : UINT64_MAX;
    fabric->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return rc == TRV_OK && fabric->wake < 0 ? trv_fail(TRV_ERR_TRANSPORT, "no files are left to wait with") : rc;
}

int trv_fabric_open_ports(trv_fabric_t *fabric, unsigned which)
{
    int rc = TRV_OK;
    for (int p = 0; rc == TRV_OK && p < fabric->ports; p++)
        rc = which >> p & 1 ? trv_port_open(fabric, &fabric->port[p]) : TRV_OK;
    return rc;
}

int trv_fabric_create(trv_fabric_t **created, const trv_fabric_options_t *options, const char *provider,
                      const char *parameters)
{
    pthread_condattr_t clock;
    const size_t ranks = (size_t)options->oob.ranks;
    *created = NULL;
    if (ranks > (size_t)1 << TRV_RANKS_BITS)
        return trv_fail(TRV_ERR_UNSUPPORTED, "a job has at most %d ranks", 1 << TRV_RANKS_BITS);
    trv_fabric_t *fabric = calloc(1, sizeof *fabric);
    if (!fabric)
        return trv_fail_memory();
    fabric->options = *options;
    fabric->selects = !provider;
    fabric->wake = -1;
    pthread_mutex_init(&fabric->lock, NULL);
    pthread_mutex_init(&fabric->waiting, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&fabric->changed, &clock);
    pthread_condattr_destroy(&clock);
    fabric->peer = calloc(ranks, sizeof *fabric->peer);
    fabric->seat = calloc(ranks, sizeof *fabric->seat);
    fabric->offer = calloc(ranks, sizeof *fabric->offer);
    int rc = fabric->peer && fabric->seat && fabric->offer ? open_all(fabric, provider, parameters) : trv_fail_memory();
    fabric->options.provider = fabric->options.ports = fabric->options.local = NULL; /* the caller may free them */
    if (rc < 0)
        trv_fabric_close(fabric);
    else
        *created = fabric;
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
    for (int r = 0; fabric->peer && r < fabric->options.oob.ranks; r++) {
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
    free(fabric->seat);
    free(fabric->offer);
    free(fabric->records);
    free(fabric);
}

bool trv_fabric_settled(const trv_fabric_t *fabric)
{
    return !atomic_load(&fabric->broken) || atomic_load(&fabric->shut_too);
}

const char *trv_fabric_provider(const trv_fabric_t *fabric) { return fabric->port[0].info->fabric_attr->prov_name; }

int trv_fabric_arrival(const trv_fabric_t *fabric, int peer, int way) { return fabric->peer[peer].map.arrive[way]; }

int trv_fabric_departure(const trv_fabric_t *fabric, int way) { return fabric->map.leave[way]; }

int trv_fabric_ports(const trv_fabric_t *fabric) { return fabric->ports; }

void trv_fabric_port_info(trv_fabric_t *fabric, int index, trv_fabric_port_info_t *info)
{
    pthread_mutex_lock(&fabric->lock);
    const trv_port_end_t *port = &fabric->port[index];
    *info = (trv_fabric_port_info_t){.interface = port->interface,
                                     .provider = port->info->fabric_attr->prov_name,
                                     .number = port->number,
                                     .ways = port->ways,
                                     .arrivals = port->arrivals,
                                     .device = port->device};
    for (int sends = 0; sends < 2; sends++) {
        info->bytes[sends] = port->bytes[sends];
        info->messages[sends] = port->messages[sends];
    }
    size_t size = sizeof info->address;
    if (port->av)
        fi_av_straddr(port->av, port->address, info->address, &size);
    info->address[sizeof info->address - 1] = '\0';
    pthread_mutex_unlock(&fabric->lock);
}

void trv_fabric_break(trv_fabric_t *fabric)
{
    atomic_store(&fabric->broken, true);
    trv_fabric_wake(fabric);
}
