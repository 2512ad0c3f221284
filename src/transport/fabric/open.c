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
    const char *own = trv_fabric_parameters(parameters); /* before libfabric reads them */
    int rc = trv_fabric_select_interfaces(fabric, provider);
    if (rc == TRV_OK && strstr(trv_fabric_provider(fabric), "ofi_rxm"))
        fabric->fragment_bytes_max = trv_fabric_rendezvous_limit(own);
    /* Shared memory has no rendezvous that fragments could avoid, and shm buffers at most 1024 unreceived messages. */
    fabric->fragmented_bytes_max = fabric->local ? 0 : UINT64_MAX;
    fabric->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return rc == TRV_OK && fabric->wake < 0
               ? trv_fail(
                     TRV_ERR_TRANSPORT,
                     "no file descriptor is available for events; raise the limit, for example with ulimit -n 4096")
               : rc;
}

int trv_fabric_open_interfaces(trv_fabric_t *fabric)
{
    const unsigned which = trv_topology_record_usable(&fabric->record[fabric->options.oob.rank]);
    int rc = TRV_OK;
    for (int i = 0; rc == TRV_OK && i < fabric->interfaces; i++)
        rc = which >> i & 1 ? trv_interface_open(fabric, &fabric->interface[i]) : TRV_OK;
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
    fabric->selects_provider = !provider;
    fabric->wake = -1;
    pthread_mutex_init(&fabric->lock, NULL);
    pthread_mutex_init(&fabric->waiting, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&fabric->changed, &clock);
    pthread_condattr_destroy(&clock);
    fabric->peer = calloc(ranks, sizeof *fabric->peer);
    fabric->record = calloc(ranks, sizeof *fabric->record);
    fabric->published = calloc(ranks, sizeof *fabric->published);
    fabric->host = calloc(ranks, sizeof *fabric->host);
    int rc = fabric->peer && fabric->record && fabric->published && fabric->host
                 ? open_all(fabric, provider, parameters)
                 : trv_fail_memory();
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
    for (int i = 0; i < fabric->interfaces; i++)
        trv_interface_shut(&fabric->interface[i]);
    fabric->shut = true;
    atomic_store(&fabric->shut_copy, true);
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
    for (int i = 0; i < TRV_PORTS_MAX; i++) {
        trv_interface_close(&fabric->interface[i]);
        fi_freeinfo(fabric->interface[i].info);
    }
    for (int r = 0; fabric->peer && r < fabric->options.oob.ranks; r++) {
        free(fabric->peer[r].address);
        free(fabric->peer[r].address_bytes);
        free(fabric->peer[r].av_address);
    }
    if (fabric->wake >= 0)
        close(fabric->wake);
    pthread_cond_destroy(&fabric->changed);
    pthread_mutex_destroy(&fabric->waiting);
    pthread_mutex_destroy(&fabric->lock);
    free(fabric->peer);
    free(fabric->record);
    free(fabric->published);
    free(fabric->host);
    free(fabric->addresses);
    free(fabric);
}

bool trv_fabric_buffers_released(const trv_fabric_t *fabric)
{
    return !atomic_load(&fabric->broken) || atomic_load(&fabric->shut_copy);
}

const char *trv_fabric_provider(const trv_fabric_t *fabric)
{
    return fabric->interface[0].info->fabric_attr->prov_name;
}

int trv_fabric_arrival(const trv_fabric_t *fabric, int peer, int port) { return fabric->peer[peer].map.arrive[port]; }

int trv_fabric_departure(const trv_fabric_t *fabric, int port) { return fabric->map.leave[port]; }

int trv_fabric_interfaces(const trv_fabric_t *fabric) { return fabric->interfaces; }

void trv_fabric_interface_info(trv_fabric_t *fabric, int index, trv_fabric_interface_info_t *info)
{
    pthread_mutex_lock(&fabric->lock);
    const trv_interface_t *interface = &fabric->interface[index];
    *info = (trv_fabric_interface_info_t){.name = interface->name,
                                          .provider = interface->info->fabric_attr->prov_name,
                                          .ip_address = interface->ip_address,
                                          .departures = interface->departures,
                                          .arrivals = interface->arrivals,
                                          .device = interface->device};
    for (int sends = 0; sends < 2; sends++) {
        info->bytes[sends] = interface->bytes[sends];
        info->messages[sends] = interface->messages[sends];
    }
    size_t size = sizeof info->address;
    if (interface->av)
        fi_av_straddr(interface->av, interface->address, info->address, &size);
    info->address[sizeof info->address - 1] = '\0';
    pthread_mutex_unlock(&fabric->lock);
}

void trv_fabric_break(trv_fabric_t *fabric)
{
    atomic_store(&fabric->broken, true);
    trv_fabric_wake(fabric);
}
