/*
 * Declarations shared by the files of the fabric: bring_up.c (collective initialization), parameters.c (parameters of
 * libfabric), interfaces.c (candidate interfaces), assign.c (assignment of interfaces to ports), probe.c (proof of the
 * routes), cables.c (hosts that do not forward), cable_order.c (the order of the hosts along their cables), interface.c
 * (one interface), open.c (creation and closing), post.c (operations), wait.c (progress).
 */
#ifndef TRIVANCE_TRANSPORT_FABRIC_INSIDE_H
#define TRIVANCE_TRANSPORT_FABRIC_INSIDE_H

#include <pthread.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include "settings/ports_text.h"
#include "transport/fabric/fabric.h"

enum { TRV_ADDRESS_BYTES_MAX = 512, TRV_IP_ADDRESS_MAX = 80, TRV_PARAMETERS_MAX = 256, TRV_HOST_MAX = 65 };

#define TRV_EXCESS_BYTES ((size_t)1 << 32) /* of address space; only the part that a message overwrites takes memory */

/* An operation is deferred while the provider's queue is full or there is no connection. The index of its list of
 * deferred operations consists of these bits: it is a send; it is limited. Operations of one list to the same peer keep
 * their order; other operations do not wait for them. */
enum { TRV_DEFERRED_SENDS = 1, TRV_DEFERRED_LIMITED = 2, TRV_DEFERRED_LISTS = 4 };

/* A network interface of this rank, with its endpoint. */
typedef struct trv_interface {
    char name[TRV_INTERFACE_MAX];
    unsigned departures, arrivals;       /* as in trv_fabric_interface_info_t */
    char ip_address[TRV_IP_ADDRESS_MAX]; /* "" if the address has another format */
    char device_name[TRV_INTERFACE_MAX];
    int device_index; /* 0: unknown */
    int network_bits; /* length of the prefix of the address's network; 0: unknown */
    trv_device_t device;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    int wait_fd; /* to wait for completions; -1: not supported */
    uint8_t address[TRV_ADDRESS_BYTES_MAX];
    size_t address_bytes;
    uint64_t bytes[2], messages[2];                                                    /* received, sent */
    trv_fabric_op_t *deferred[TRV_DEFERRED_LISTS], **deferred_end[TRV_DEFERRED_LISTS]; /* linked lists */
    size_t limited[2], limited_max[2]; /* limited receives and sends posted to the provider, and their maximum */
    void *excess;                      /* receives the excess bytes of a message that is too long; NULL: no memory */
} trv_interface_t;

/* Interfaces of a rank (other or own): addresses, and assignment to ports. */
typedef struct trv_peer {
    int interfaces;
    trv_map_t map;
    const uint8_t **address;
    size_t *address_bytes;
    fi_addr_t *av_address; /* in the address vectors: [own interface * interfaces + interface of the peer] */
    size_t deferred[TRV_DEFERRED_LISTS]; /* number of deferred operations */
    uint64_t rejected_in_pass; /* the latest pass over deferred operations that the provider rejected for this peer */
    /* If hosts do not forward, for the route to the peer and that from it: port of its first hop; of its last hop. */
    uint8_t first_port, last_port;
} trv_peer_t;

/* Properties of addresses that must be equal on all ranks. */
typedef struct trv_address_format {
    char provider[64];
    uint32_t format;
    size_t bytes; /* of an address */
} trv_address_format_t;

struct trv_fabric {
    trv_fabric_options_t options;
    int interfaces;
    trv_interface_t interface[TRV_PORTS_MAX];
    trv_map_t map;
    bool assigned;                 /* the user has assigned interfaces to ports */
    uint32_t named_ports;          /* bit mask of these ports */
    uint32_t selecting;            /* bit mask of the entries of the user's list that select an interface of any host
                                    * with the same list */
    char available[320];           /* the interfaces of this host and their networks, for error messages */
    char cable_order[400];         /* trv_fabric_cable_order */
    trv_topology_record_t *record; /* topology records by rank, until trv_fabric_assign */
    trv_reader_t *published;       /* published interfaces by rank, until trv_fabric_probe */
    void *addresses;               /* records of the second exchange: the addresses of all ranks */
    trv_torus_t torus;
    unsigned shared_paths; /* result of trv_fabric_shared_paths */
    bool one_path;
    bool relays;      /* hosts do not forward: a message reaches neighbours only, and the next members are valid */
    bool became_line; /* a cable is missing, and the ring is used as a line */
    int neighbour[TRV_PORTS_MAX]; /* by port of this rank; -1: none */
    char no_route[640];           /* a route or cable that is missing, as a sentence */
    char (*host)[TRV_HOST_MAX];   /* the hosts of the ranks by rank */
    trv_peer_t *peer;
    trv_address_format_t address_format;      /* of rank 0 */
    bool registers_memory, directed_receives; /* memory is registered; receives specify the source address */
    bool selects_provider; /* no provider was named: the fabric selects one that reaches other hosts */
    bool local;            /* the provider reaches only ranks of this host */
    bool oversubscribed;   /* this host has more ranks than cores: waiting threads poll only briefly */
    uint64_t next_key;
    uint64_t passes;                     /* number of passes over deferred operations */
    char parameters[TRV_PARAMETERS_MAX]; /* of rank 0 */
    uint64_t fragmented_bytes_max;       /* maximum length of a message that can be sent in fragments */
    size_t fragment_bytes_max;           /* maximum length of a fragment, of all messages; 0: no maximum */
    pthread_mutex_t lock;                /* protects the objects of the provider, and deferred operations */
    atomic_bool broken;
    bool shut;             /* the endpoints are closed */
    atomic_bool shut_copy; /* copy of `shut` for readers without the lock */
    atomic_ullong events;
    int wake;                /* an eventfd */
    pthread_mutex_t waiting; /* protects `has_leader` and `changed` */
    pthread_cond_t changed;
    bool has_leader;    /* a thread, the leader, sleeps on the file descriptors */
    atomic_int waiters; /* number of threads that may have to be woken */
};

/* Initialization takes two exchanges of records among all ranks (bring_up.c), so that all ranks compute the same
 * assignment of interfaces to ports:
 *
 *     create               finds interfaces; provider: on rank 0 its setting (NULL: the first suitable one), on other
 *                          ranks the one that rank 0 selected; parameters: those of rank 0, NULL on rank 0
 *     publish_interfaces   writes a record of the interfaces
 *     collect_interfaces   reads the record of one rank; called for every rank
 *     query_routes         queries the system's routes to the neighbours
 *     probe                on all ranks, if interfaces of any host share a network: proves the routes by connections
 *     open_interfaces      opens the interfaces that may be used
 *     publish_addresses    writes a record of the addresses
 *     collect_addresses    reads the record of one rank; called for every rank, for rank 0 first
 *     assign               assigns interfaces to ports
 *
 * The caller keeps the records in memory: those of the interfaces until probe returns, those of the addresses until the
 * fabric is closed. */
int trv_fabric_create(trv_fabric_t **fabric, const trv_fabric_options_t *options, const char *provider,
                      const char *parameters);
void trv_fabric_publish_interfaces(const trv_fabric_t *fabric, trv_writer_t *writer);
/* Reads the next interface of a published list; returns the length of the prefix of its network in bits. */
int trv_fabric_read_interface(trv_reader_t *reader, char address[TRV_IP_ADDRESS_MAX]);
/* host: the same text for all ranks of a host; coordinate: on the torus. */
int trv_fabric_collect_interfaces(trv_fabric_t *fabric, int rank, const char *host, int coordinate,
                                  trv_reader_t *reader);
int trv_fabric_query_routes(trv_fabric_t *fabric);
/* probe.c. shares_network: whether two interfaces of some host have addresses in one network; the same on all ranks. */
bool trv_fabric_shares_network(const trv_fabric_t *fabric);
int trv_fabric_probe(trv_fabric_t *fabric);
void trv_fabric_publish_addresses(const trv_fabric_t *fabric, trv_writer_t *writer);
int trv_fabric_collect_addresses(trv_fabric_t *fabric, int rank, trv_reader_t *reader);
int trv_fabric_assign(trv_fabric_t *fabric);
/* cables.c: determines whether hosts forward. If they do not, checks that a cable joins all neighbours, and determines
 * the routes of relayed messages. A ring of which one link is missing becomes a line, unless the user has set it. */
int trv_fabric_find_cables(trv_fabric_t *fabric, trv_topology_records_t *records, trv_map_t *map);
/* parameters.c: returns the parameters of libfabric that must be equal at both ends of a connection, as "NAME=VALUE
 * NAME=VALUE". The first call in a process determines them. first: those of rank 0; NULL on rank 0. */
const char *trv_fabric_parameters(const char *first);
/* The length above which ofi_rxm would transfer a message by a rendezvous by writes; 0: it does not use writes. */
size_t trv_fabric_rendezvous_limit(const char *parameters);
/* interfaces.c: selects the provider and the candidate interfaces; fills in interface[i].info. */
int trv_fabric_select_interfaces(trv_fabric_t *fabric, const char *provider);
/* Fails if an entry of the user's list selects no interface of any host with the same list. After
 * collect_interfaces. */
int trv_fabric_check_list(const trv_fabric_t *fabric);
/* Fails with a sentence that lists the interfaces of this host. */
int trv_fabric_no_interface(const trv_fabric_t *fabric, const char *name);
/* cable_order.c: sets fabric->cable_order from the published interfaces. */
void trv_fabric_find_order(trv_fabric_t *fabric);
/* open.c: opens the interfaces that the topology record of this rank may use. */
int trv_fabric_open_interfaces(trv_fabric_t *fabric);
/* interface.c */
int trv_interface_open(trv_fabric_t *fabric, trv_interface_t *interface);
/* trv_interface_shut closes the endpoint and its completion queue: no operation is pending afterwards.
 * trv_interface_close closes the other objects; no memory may be registered then. */
void trv_interface_shut(trv_interface_t *interface);
void trv_interface_close(trv_interface_t *interface);
/* post.c: the caller holds the lock. Retries deferred operations. */
void trv_fabric_retry(trv_fabric_t *fabric, trv_interface_t *interface);
/* True if a retry may succeed even if no operation has completed since the last one. */
bool trv_interface_retries(const trv_interface_t *interface);
/* The error message for a message whose length differs from that of its receive. */
const char *trv_fabric_wrong_length(const trv_fabric_t *fabric, const trv_fabric_op_t *op, char sentence[256]);
/* Ends the operation unless fragments are pending or not yet posted. */
void trv_fabric_op_end(trv_fabric_op_t *op);
/* Stops the operation: it ends in `state` when the provider has completed or cancelled its fragments. */
void trv_fabric_op_stop(trv_fabric_t *fabric, trv_fabric_op_t *op, trv_op_state_t state);
/* Fails the whole fabric, because the peer of the operation is lost. */
void trv_fabric_fail_peer(trv_fabric_t *fabric, const trv_fabric_op_t *op, const char *why);
size_t trv_fragment_bytes(const trv_fabric_op_t *op, size_t index);
/* open.c: the caller holds the lock. Closes the endpoints. */
void trv_fabric_shut(trv_fabric_t *fabric);

#endif
