/*
 * Selection of the provider and of the candidate interfaces. If the user has assigned interfaces to ports
 * (TRIVANCE_PORTS), the candidates are these, in that order; ports that are not named use the first one. Otherwise the
 * candidates are all interfaces of the provider, or those that the user has listed; the interface with the address by
 * which this host reaches rank 0 is the first.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "bootstrap/carrier.h"
#include "transport/fabric/inside.h"
#include "settings/ports_text.h"
#include "topology/ports/system_routes.h"

#define API_VERSION FI_VERSION(1, 14)

/* ---- TRIVANCE_PORTS ---------------------------------------------------------------------------------------------- */

/* Assigns an interface to a port of the torus. An interface that several ports use becomes one candidate. */
static void assign_interface(trv_fabric_t *fabric, int port, const char *name, size_t length)
{
    int at = 0;
    while (at < fabric->interfaces &&
           (strlen(fabric->interface[at].name) != length || strncmp(fabric->interface[at].name, name, length) != 0))
        at++;
    if (at == fabric->interfaces)
        snprintf(fabric->interface[fabric->interfaces++].name, TRV_INTERFACE_MAX, "%.*s", (int)length, name);
    fabric->map.leave[port] = (uint8_t)at;
    fabric->named_ports |= 1u << port;
}

static int read_ports(trv_fabric_t *fabric, const char *text)
{
    const char *rest = text, *name;
    size_t length;
    int port;
    if (!text)
        return TRV_OK;
    if (trv_ports_check(text) < 0)
        return trv_fail(TRV_ERR_ARGUMENT, "TRIVANCE_PORTS: %s", trv_last_error());
    fabric->assigned = trv_ports_assign(text);
    while (fabric->assigned && trv_ports_next(&rest, &port, &name, &length))
        assign_interface(fabric, port, name, length);
    return TRV_OK;
}

/* ---- Available interfaces ---------------------------------------------------------------------------------------- */

/* The numeric IP address of an interface; "" if its address is of another format. */
static void address_text(const struct fi_info *info, char *text, size_t size)
{
    *text = '\0';
    if (info->src_addr && (info->addr_format == FI_SOCKADDR || info->addr_format == FI_SOCKADDR_IN ||
                           info->addr_format == FI_SOCKADDR_IN6))
        getnameinfo(info->src_addr, (socklen_t)info->src_addrlen, text, (socklen_t)size, NULL, 0, NI_NUMERICHOST);
}

static bool is_interface(const struct fi_info *info, const char *name)
{
    char address[128];
    const struct fi_device_attr *device = info->nic ? info->nic->device_attr : NULL;
    address_text(info, address, sizeof address);
    return (info->domain_attr->name && strcmp(info->domain_attr->name, name) == 0) || strcmp(address, name) == 0 ||
           (device && device->name && strcmp(device->name, name) == 0);
}

static bool has_same_format(const struct fi_info *a, const struct fi_info *b)
{
    return a->fabric_attr->prov_name && b->fabric_attr->prov_name &&
           strcmp(a->fabric_attr->prov_name, b->fabric_attr->prov_name) == 0 && a->addr_format == b->addr_format;
}

static bool is_suitable(const trv_fabric_t *fabric, const struct fi_info *info)
{
    return !fabric->selects_provider || (info->caps & FI_REMOTE_COMM) ||
           !(info->caps & (FI_REMOTE_COMM | FI_LOCAL_COMM));
}

/* The first suitable interface, or the one of the same provider that has the local address, if there is one. */
static const struct fi_info *find_local(const trv_fabric_t *fabric, const struct fi_info *list)
{
    const struct fi_info *first = NULL;
    for (const struct fi_info *info = list; info; info = info->next) {
        char address[128];
        if (!is_suitable(fabric, info))
            continue;
        first = first ? first : info;
        address_text(info, address, sizeof address);
        if (fabric->options.local && strcmp(address, fabric->options.local) == 0 &&
            strcmp(info->fabric_attr->prov_name, first->fabric_attr->prov_name) == 0)
            return info;
    }
    return first;
}

/* The interface of that name, preferably with the address format of `like`, and with the provider of `like`. */
static const struct fi_info *find_named(const trv_fabric_t *fabric, const struct fi_info *list, const char *name,
                                        const struct fi_info *like)
{
    const struct fi_info *first = NULL;
    for (const struct fi_info *info = list; info; info = info->next) {
        if (!is_suitable(fabric, info) || !is_interface(info, name))
            continue;
        if (has_same_format(info, like))
            return info;
        if (!first && strcmp(info->fabric_attr->prov_name, like->fabric_attr->prov_name) == 0)
            first = info;
    }
    return first;
}

/* True if the text contains the word, up to a blank or comma. */
static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; *at; at += strcspn(at, " ,"), at += strspn(at, " ,"))
        if (strcspn(at, " ,") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

/* Describes the available interfaces with their networks, for error messages: "eth1 10.9.0.1/30, eth2 10.9.3.2/30". */
static void describe_available(trv_fabric_t *fabric, const struct fi_info *list)
{
    size_t used = 0;
    *fabric->available = '\0';
    for (const struct fi_info *info = list; info && used < sizeof fabric->available; info = info->next) {
        const char *name = info->domain_attr->name;
        char address[TRV_IP_ADDRESS_MAX], device[TRV_INTERFACE_MAX], network[TRV_IP_ADDRESS_MAX + 8] = "";
        int bits;
        if (!name || has_word(fabric->available, name) ||
            strcmp(info->fabric_attr->prov_name, list->fabric_attr->prov_name) != 0)
            continue;
        address_text(info, address, sizeof address);
        if (*address && trv_address_device(address, device, &bits))
            snprintf(network, sizeof network, " %s/%d", address, bits);
        used += (size_t)snprintf(fabric->available + used, sizeof fabric->available - used, "%s%s%s", used ? ", " : "",
                                 name, network);
    }
}

int trv_fabric_no_interface(const trv_fabric_t *fabric, const char *name)
{
    return trv_fail(TRV_ERR_ARGUMENT,
                    "TRIVANCE_PORTS: there is no active interface '%s' with an address for libfabric; expected "
                    "interfaces, addresses or networks of this host, which has %s",
                    name, fabric->available);
}

/* ---- Queries to libfabric ---------------------------------------------------------------------------------------- */

static struct fi_info *make_hints(const char *provider, uint64_t more)
{
    struct fi_info *hints = fi_allocinfo();
    if (!hints)
        return NULL;
    hints->caps = FI_TAGGED | more;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    if (provider && *provider)
        hints->fabric_attr->prov_name = strdup(provider);
    return hints;
}

/* True unless the interface has an IP address and no carrier. */
static bool has_link(const struct fi_info *info)
{
    char address[TRV_IP_ADDRESS_MAX], device[TRV_INTERFACE_MAX];
    int bits;
    address_text(info, address, sizeof address);
    return !*address || !trv_address_device(address, device, &bits) || trv_interface_has_link(device);
}

/* libfabric and the system's routes notice an unplugged cable up to a second after the carrier has changed. */
static void remove_unplugged(struct fi_info **list)
{
    while (*list) {
        struct fi_info *info = *list;
        if (has_link(info)) {
            list = &info->next;
        } else {
            *list = info->next;
            info->next = NULL;
            fi_freeinfo(info);
        }
    }
}

/* Finds an interface by address. An interface may have several addresses, and libfabric lists the further ones only on
 * request. */
static struct fi_info *find_address(const struct fi_info *like, const char *address, uint64_t more)
{
    struct in6_addr number;
    struct fi_info *list = NULL, *found = NULL;
    if (inet_pton(AF_INET, address, &number) != 1 && inet_pton(AF_INET6, address, &number) != 1)
        return NULL;
    struct fi_info *hints = make_hints(like->fabric_attr->prov_name, more);
    if (hints && fi_getinfo(API_VERSION, address, NULL, FI_SOURCE | FI_NUMERICHOST, hints, &list) == 0) {
        remove_unplugged(&list);
        found = list ? fi_dupinfo(list) : NULL;
        fi_freeinfo(list);
    }
    fi_freeinfo(hints);
    return found;
}

static int list_infos(const char *provider, uint64_t more, struct fi_info **list)
{
    struct fi_info *hints = make_hints(provider, more);
    if (!hints)
        return trv_fail_memory();
    int code = fi_getinfo(API_VERSION, NULL, NULL, 0, hints, list);
    fi_freeinfo(hints);
    if (code == 0) {
        remove_unplugged(list);
        return *list ? TRV_OK
                     : trv_fail(TRV_ERR_UNSUPPORTED, "no network interface of this host has a link: they are down, or "
                                                     "their cables are unplugged");
    }
    *list = NULL;
    return provider
               ? trv_fail(
                     TRV_ERR_UNSUPPORTED,
                     "libfabric has no provider '%s' for tagged messages on this host (%s); `fi_info -c FI_TAGGED -t "
                     "FI_EP_RDM` lists the available ones, for TRIVANCE_PROVIDER",
                     provider, fi_strerror(-code))
               : trv_fail(TRV_ERR_UNSUPPORTED, "libfabric has no provider for tagged messages on this host: %s",
                          fi_strerror(-code));
}

/* True if the provider reaches other hosts. Requests the capability explicitly, because a provider may report neither
 * FI_REMOTE_COMM nor FI_LOCAL_COMM without a request (shm of libfabric 1.17). */
static bool reaches_hosts(const char *provider)
{
    struct fi_info *list = NULL, *hints = make_hints(provider, FI_REMOTE_COMM);
    const bool reaches = hints && fi_getinfo(API_VERSION, NULL, NULL, 0, hints, &list) == 0;
    fi_freeinfo(list);
    fi_freeinfo(hints);
    return reaches;
}

/* ---- Interfaces that are not assigned to ports ------------------------------------------------------------------- */

/* True if the address is in the network, such as "10.1.0.0/16". */
static bool is_in(const char *address, const char *network, size_t length)
{
    uint8_t there[16], here[16];
    int family;
    const int bits = trv_ports_network(network, length, &family, there);
    if (bits < 0 || inet_pton(family, address, here) != 1)
        return false;
    return trv_ports_same_network(there, here, bits);
}

/* The entry of the list after this one; NULL if it is the last. */
static const char *next_entry(const char *entry)
{
    const char *comma = strchr(entry, ',');
    return comma && comma[1] ? comma + 1 : NULL;
}

/* True if the entry names the interface, its device, its address or a network that has its address. */
static bool selects(const char *entry, const struct fi_info *info)
{
    char name[TRV_INTERFACE_MAX], address[TRV_IP_ADDRESS_MAX];
    const size_t length = strcspn(entry, ",");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), entry);
    address_text(info, address, sizeof address);
    return is_interface(info, name) || is_in(address, entry, length);
}

/* True if the list contains the interface. NULL is the list of all interfaces. */
static bool is_listed_by_user(const char *list, const struct fi_info *info)
{
    bool listed = !list;
    for (const char *entry = list; entry && !listed; entry = next_entry(entry))
        listed = selects(entry, info);
    return listed;
}

/* Notes which entries of the user's list select an interface of this host. */
static void find_selecting(trv_fabric_t *fabric, const struct fi_info *list)
{
    uint32_t bit = 1;
    for (const char *entry = fabric->options.ports; entry && bit; entry = next_entry(entry), bit <<= 1)
        for (const struct fi_info *info = list; info; info = info->next)
            fabric->selecting |= selects(entry, info) ? bit : 0;
}

int trv_fabric_check_list(const trv_fabric_t *fabric)
{
    uint32_t bit = 1;
    char name[TRV_INTERFACE_MAX];
    for (const char *entry = fabric->assigned ? NULL : fabric->options.ports; entry && bit;
         entry = next_entry(entry), bit <<= 1)
        if (!(fabric->selecting & bit)) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(entry, ","), entry);
            return trv_fabric_no_interface(fabric, name);
        }
    return TRV_OK;
}

/* True for loopback and link-local addresses. */
static bool is_local_address(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 || strncmp(address, "fe80:", 5) == 0;
}

static bool is_candidate(const trv_fabric_t *fabric, const struct fi_info *info)
{
    for (int i = 0; i < fabric->interfaces; i++)
        if (is_interface(info, fabric->interface[i].name))
            return true;
    return false;
}

static int add_info(trv_fabric_t *fabric, const struct fi_info *info)
{
    trv_interface_t *interface = &fabric->interface[fabric->interfaces];
    snprintf(interface->name, TRV_INTERFACE_MAX, "%s", info->domain_attr->name ? info->domain_attr->name : "");
    interface->info = fi_dupinfo(info);
    fabric->interfaces += interface->info != NULL;
    return interface->info ? TRV_OK : trv_fail_memory();
}

/* Adds all interfaces in the user's list. The interface that reaches rank 0 is the first, if it is in the list. */
static int select_all(trv_fabric_t *fabric, const struct fi_info *list, const struct fi_info *local, const char *listed)
{
    char address[TRV_IP_ADDRESS_MAX];
    int rc = is_listed_by_user(listed, local) ? add_info(fabric, local) : TRV_OK;
    address_text(local, address, sizeof address);
    if (is_local_address(address) && fabric->interfaces > 0)
        return rc; /* rank 0 is reached by loopback: all ranks are on this host */
    for (const struct fi_info *info = list; rc == TRV_OK && info && fabric->interfaces < TRV_INTERFACES_MAX;
         info = info->next) {
        address_text(info, address, sizeof address);
        if (is_suitable(fabric, info) && has_same_format(info, local) && is_listed_by_user(listed, info) &&
            (listed || !is_local_address(address)) && !is_candidate(fabric, info))
            rc = add_info(fabric, info);
    }
    return rc == TRV_OK && fabric->interfaces == 0 ? trv_fabric_no_interface(fabric, listed) : rc;
}

static int select_named(trv_fabric_t *fabric, const struct fi_info *list, const struct fi_info *local, uint64_t more)
{
    for (int i = 0; i < fabric->interfaces; i++) {
        trv_interface_t *interface = &fabric->interface[i];
        const struct fi_info *named = find_named(fabric, list, interface->name, local);
        interface->info = named ? fi_dupinfo(named) : find_address(local, interface->name, more);
        if (!interface->info)
            return named ? trv_fail_memory() : trv_fabric_no_interface(fabric, interface->name);
    }
    return TRV_OK;
}

static void find_ip_addresses(trv_fabric_t *fabric)
{
    for (int i = 0; i < fabric->interfaces; i++) {
        trv_interface_t *interface = &fabric->interface[i];
        address_text(interface->info, interface->ip_address, sizeof interface->ip_address);
        interface->device_index = *interface->ip_address
                                      ? trv_address_device(interface->ip_address, interface->device_name,
                                                           &interface->network_bits)
                                      : 0;
        if (!*interface->device_name && interface->info->nic && interface->info->nic->device_attr &&
            interface->info->nic->device_attr->name)
            snprintf(interface->device_name, sizeof interface->device_name, "%s",
                     interface->info->nic->device_attr->name);
    }
}

static int select_infos(trv_fabric_t *fabric, const struct fi_info *list, uint64_t more)
{
    const char *listed = fabric->options.ports;
    const struct fi_info *local = find_local(fabric, list);
    if (!local)
        return trv_fail(TRV_ERR_UNSUPPORTED, "no provider of libfabric on this host reaches other hosts");
    for (int i = 0; i < fabric->interfaces; i++) {
        fi_freeinfo(fabric->interface[i].info);
        fabric->interface[i].info = NULL;
    }
    if (!fabric->assigned)
        fabric->interfaces = 0;
    describe_available(fabric, list);
    find_selecting(fabric, list);
    int rc = fabric->assigned ? select_named(fabric, list, local, more) : select_all(fabric, list, local, listed);
    if (rc == TRV_OK)
        find_ip_addresses(fabric);
    return rc;
}

static int tag_bits(const struct fi_info *info)
{
    const uint64_t format = info->ep_attr->mem_tag_format;
    return format ? 64 - __builtin_clzll(format) : 64;
}

int trv_fabric_select_interfaces(trv_fabric_t *fabric, const char *provider)
{
    const trv_fabric_options_t *options = &fabric->options;
    struct fi_info *list = NULL;
    int rc = read_ports(fabric, options->ports);
    if (rc == TRV_OK)
        rc = list_infos(provider, 0, &list);
    if (rc == TRV_OK)
        rc = select_infos(fabric, list, 0);
    /* If the tags are too short to contain the sender, the provider must match receives by source address. */
    if (rc == TRV_OK && tag_bits(fabric->interface[0].info) < 64) {
        char chosen[128];
        snprintf(chosen, sizeof chosen, "%s", fabric->interface[0].info->fabric_attr->prov_name);
        fi_freeinfo(list);
        fabric->directed_receives = true;
        rc = list_infos(chosen, FI_DIRECTED_RECV, &list);
        if (rc == TRV_OK)
            rc = select_infos(fabric, list, FI_DIRECTED_RECV);
        if (rc == TRV_OK && tag_bits(fabric->interface[0].info) < TRV_TAG_BITS)
            rc = trv_fail(TRV_ERR_UNSUPPORTED, "the tags of libfabric's provider %s have %d bits, and %d are needed",
                          chosen, tag_bits(fabric->interface[0].info), TRV_TAG_BITS);
    }
    fabric->local = rc == TRV_OK && !reaches_hosts(trv_fabric_provider(fabric));
    fi_freeinfo(list);
    return rc;
}
