/*
 * The libfabric objects of one interface: endpoint, address vector, completion queue.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "transport/fabric/inside.h"

static int interface_fail(const trv_interface_t *interface, const char *action, int code)
{
    return trv_fail(TRV_ERR_TRANSPORT, "libfabric's provider %s cannot %s on %s: %s",
                    interface->info->fabric_attr->prov_name, action, interface->name, fi_strerror(-code));
}

/* Opens the completion queue, with a file descriptor to wait for if the provider supports one. */
static int completion_queue_open(trv_interface_t *interface)
{
    struct fi_cq_attr attributes = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD};
    interface->wait_fd = -1;
    int code = fi_cq_open(interface->domain, &attributes, &interface->cq, NULL);
    if (code == 0) {
        if (fi_control(&interface->cq->fid, FI_GETWAIT, &interface->wait_fd) != 0)
            interface->wait_fd = -1;
        return 0;
    }
    attributes.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(interface->domain, &attributes, &interface->cq, NULL);
}

/* Maps memory for the excess bytes of a message that is longer than its receive, unless that memory would have to be
 * registered. Without it, tcp closes the connection, and other operations that use the connection fail. shm, up to
 * libfabric 1.17 at least, copies long messages between processes until the whole message has been copied, and
 * therefore loops forever if the receiver's buffer is shorter. */
static void excess_map(trv_interface_t *interface)
{
    if (interface->info->rx_attr->iov_limit < 2 || (interface->info->domain_attr->mr_mode & FI_MR_LOCAL))
        return;
    void *memory = mmap(NULL, TRV_EXCESS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                        0);
    interface->excess = memory == MAP_FAILED ? NULL : memory;
}

int trv_interface_open(trv_fabric_t *fabric, trv_interface_t *interface)
{
    struct fi_av_attr attributes = {.type = FI_AV_UNSPEC};
    struct fi_info *info = interface->info;
    int code = fi_fabric(info->fabric_attr, &interface->fabric, NULL);
    if (code != 0)
        return interface_fail(interface, "open a fabric", code);
    if ((code = fi_domain(interface->fabric, info, &interface->domain, NULL)) != 0)
        return interface_fail(interface, "open a domain", code);
    if ((code = fi_av_open(interface->domain, &attributes, &interface->av, NULL)) != 0)
        return interface_fail(interface, "open an address vector", code);
    if ((code = completion_queue_open(interface)) != 0)
        return interface_fail(interface, "open a completion queue", code);
    if ((code = fi_endpoint(interface->domain, info, &interface->ep, NULL)) != 0)
        return interface_fail(interface, "open an endpoint", code);
    if ((code = fi_ep_bind(interface->ep, &interface->av->fid, 0)) != 0 ||
        (code = fi_ep_bind(interface->ep, &interface->cq->fid, FI_TRANSMIT | FI_RECV)) != 0 ||
        (code = fi_enable(interface->ep)) != 0)
        return interface_fail(interface, "enable an endpoint", code);
    interface->address_bytes = sizeof interface->address;
    if ((code = fi_getname(&interface->ep->fid, interface->address, &interface->address_bytes)) != 0)
        return interface_fail(interface, "find the address of an endpoint", code);
    for (int list = 0; list < TRV_DEFERRED_LISTS; list++)
        interface->deferred_end[list] = &interface->deferred[list];
    interface->limited_max[0] = info->rx_attr->size > 1 ? info->rx_attr->size / 2 : 1;
    interface->limited_max[1] = info->tx_attr->size > 1 ? info->tx_attr->size / 2 : 1;
    excess_map(interface);
    const size_t data_bytes = info->domain_attr->cq_data_size;
    const uint64_t length_max = data_bytes == 0                   ? 0
                                : data_bytes >= sizeof length_max ? UINT64_MAX
                                                                  : (UINT64_C(1) << 8 * data_bytes) - 1;
    if (length_max < fabric->fragmented_bytes_max) /* each fragment carries the length of the message */
        fabric->fragmented_bytes_max = length_max;
    fabric->registers_memory = fabric->registers_memory || (info->domain_attr->mr_mode & FI_MR_LOCAL);
    return TRV_OK;
}

static void object_close(struct fid *object)
{
    if (object)
        fi_close(object);
}

void trv_interface_shut(trv_interface_t *interface)
{
    object_close(interface->ep ? &interface->ep->fid : NULL);
    object_close(interface->cq ? &interface->cq->fid : NULL);
    interface->ep = NULL;
    interface->cq = NULL;
}

void trv_interface_close(trv_interface_t *interface)
{
    object_close(interface->av ? &interface->av->fid : NULL);
    object_close(interface->domain ? &interface->domain->fid : NULL);
    object_close(interface->fabric ? &interface->fabric->fid : NULL);
    interface->av = NULL;
    interface->domain = NULL;
    interface->fabric = NULL;
    if (interface->excess)
        munmap(interface->excess, TRV_EXCESS_BYTES);
    interface->excess = NULL;
}
