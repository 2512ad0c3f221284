/*
 * The libfabric objects of one interface: endpoint, address vector, completion queue.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "transport/fabric/inside.h"

static int fail(const trv_port_end_t *port, const char *what, int code)
{
    return trv_fail(TRV_ERR_TRANSPORT, "libfabric's provider %s cannot open %s on %s: %s",
                    port->info->fabric_attr->prov_name, what, port->interface, fi_strerror(-code));
}

/* Opens the completion queue, with a file descriptor to wait for if the provider supports one. */
static int open_queue(trv_port_end_t *port)
{
    struct fi_cq_attr attributes = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD};
    port->wait_fd = -1;
    int code = fi_cq_open(port->domain, &attributes, &port->cq, NULL);
    if (code == 0) {
        if (fi_control(&port->cq->fid, FI_GETWAIT, &port->wait_fd) != 0)
            port->wait_fd = -1;
        return 0;
    }
    attributes.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(port->domain, &attributes, &port->cq, NULL);
}

/* Maps memory for the excess bytes of a message that is longer than its receive, unless that memory would have to be
 * registered. Without it, tcp closes the connection, and other operations that use the connection fail. shm, up to
 * libfabric 1.17 at least, copies long messages between processes until the whole message has been copied, and
 * therefore loops forever if the receiver's buffer is shorter. */
static void map_beyond(trv_port_end_t *port)
{
    if (port->info->rx_attr->iov_limit < 2 || (port->info->domain_attr->mr_mode & FI_MR_LOCAL))
        return;
    void *memory = mmap(NULL, TRV_BEYOND_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                        0);
    port->beyond = memory == MAP_FAILED ? NULL : memory;
}

int trv_port_open(trv_fabric_t *fabric, trv_port_end_t *port)
{
    struct fi_av_attr attributes = {.type = FI_AV_UNSPEC};
    struct fi_info *info = port->info;
    int code = fi_fabric(info->fabric_attr, &port->fabric, NULL);
    if (code != 0)
        return fail(port, "a fabric", code);
    if ((code = fi_domain(port->fabric, info, &port->domain, NULL)) != 0)
        return fail(port, "a domain", code);
    if ((code = fi_av_open(port->domain, &attributes, &port->av, NULL)) != 0)
        return fail(port, "a list of addresses", code);
    if ((code = open_queue(port)) != 0)
        return fail(port, "a queue of completions", code);
    if ((code = fi_endpoint(port->domain, info, &port->ep, NULL)) != 0)
        return fail(port, "an endpoint", code);
    if ((code = fi_ep_bind(port->ep, &port->av->fid, 0)) != 0 ||
        (code = fi_ep_bind(port->ep, &port->cq->fid, FI_TRANSMIT | FI_RECV)) != 0 || (code = fi_enable(port->ep)) != 0)
        return fail(port, "an endpoint that works", code);
    port->address_bytes = sizeof port->address;
    if ((code = fi_getname(&port->ep->fid, port->address, &port->address_bytes)) != 0)
        return fail(port, "an endpoint with an address", code);
    for (int kind = 0; kind < TRV_LATE_KINDS; kind++)
        port->end[kind] = &port->first[kind];
    port->patient_most[0] = info->rx_attr->size > 1 ? info->rx_attr->size / 2 : 1;
    port->patient_most[1] = info->tx_attr->size > 1 ? info->tx_attr->size / 2 : 1;
    map_beyond(port);
    const size_t beside = info->domain_attr->cq_data_size;
    const uint64_t most = beside == 0 ? 0 : beside >= sizeof most ? UINT64_MAX : (UINT64_C(1) << 8 * beside) - 1;
    fabric->cut_most = most < fabric->cut_most ? most : fabric->cut_most;
    fabric->needs_regions = fabric->needs_regions || (info->domain_attr->mr_mode & FI_MR_LOCAL);
    return TRV_OK;
}

static void close_one(struct fid *object)
{
    if (object)
        fi_close(object);
}

void trv_port_shut(trv_port_end_t *port)
{
    close_one(port->ep ? &port->ep->fid : NULL);
    close_one(port->cq ? &port->cq->fid : NULL);
    port->ep = NULL;
    port->cq = NULL;
}

void trv_port_close(trv_port_end_t *port)
{
    close_one(port->av ? &port->av->fid : NULL);
    close_one(port->domain ? &port->domain->fid : NULL);
    close_one(port->fabric ? &port->fabric->fid : NULL);
    port->av = NULL;
    port->domain = NULL;
    port->fabric = NULL;
    if (port->beyond)
        munmap(port->beyond, TRV_BEYOND_BYTES);
    port->beyond = NULL;
}
