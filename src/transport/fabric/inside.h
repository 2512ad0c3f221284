/*
 * Declarations shared by the files of the fabric: bring_up.c (collective initialization), parameters.c (parameters of
 * libfabric), ports.c (candidate interfaces), settle.c (assignment of interfaces to ports), port.c (one interface),
 * open.c (creation and closing), post.c (operations), wait.c (progress).
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

enum { TRV_ADDRESS_BYTES_MAX = 512, TRV_NUMBER_MAX = 80, TRV_PARAMETERS_MAX = 256 };

#define TRV_BEYOND_BYTES ((size_t)1 << 32) /* of address space; only the part that a message overwrites takes memory */

/* Bits of the kind of an operation that is deferred while the provider's queue is full or there is no connection.
 * Operations of one kind to the same peer keep their order; other operations do not wait for them. */
enum { TRV_LATE_SENDS = 1, TRV_LATE_PATIENT = 2, TRV_LATE_KINDS = 4 };

/* An interface. */
typedef struct trv_port_end {
    char interface[TRV_INTERFACE_MAX];
    unsigned ways, arrivals;
    char number[TRV_NUMBER_MAX]; /* its IP address; "" if the address has another format */
    char device_name[TRV_INTERFACE_MAX];
    int device_index; /* 0: unknown */
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
    uint64_t bytes[2], messages[2];                                /* received, sent */
    trv_fabric_op_t *first[TRV_LATE_KINDS], **end[TRV_LATE_KINDS]; /* lists of deferred operations */
    size_t patient[2], patient_most[2]; /* patient receives and sends that the provider has, and their maximum */
    void *beyond;                       /* receives the excess bytes of a message that is too long; NULL: no memory */
} trv_port_end_t;

/* Interfaces of a rank (other or own): addresses, and assignment to ports. */
typedef struct trv_peer {
    int ports;
    trv_map_t map;
    const uint8_t **address;
    size_t *address_bytes;
    fi_addr_t *known;            /* [own interface * ports + interface of the peer] */
    size_t late[TRV_LATE_KINDS]; /* number of deferred operations */
    uint64_t stuck;              /* latest pass over deferred operations in which a send to this peer was rejected */
} trv_peer_t;

/* Properties of addresses that must be equal on all ranks. */
typedef struct trv_peer_kind {
    char provider[64];
    uint32_t format;
    size_t bytes; /* of an address */
} trv_peer_kind_t;

struct trv_fabric {
    trv_fabric_options_t options;
    int ports;
    trv_port_end_t port[TRV_WAYS];
    trv_map_t map;
    bool told;           /* the user has assigned interfaces to ports */
    trv_seat_t *seat;    /* topology records by rank, until trv_fabric_settle */
    trv_reader_t *offer; /* published interfaces by rank, until trv_fabric_survey */
    void *records;       /* of the second exchange: the addresses of all ranks */
    trv_torus_t torus;
    unsigned shared_paths; /* result of trv_fabric_shared_paths */
    bool one_path;
    trv_peer_t *peer;
    trv_peer_kind_t kind;             /* of rank 0 */
    bool needs_regions, names_sender; /* memory is registered; receives specify the source address */
    bool selects;                     /* no provider was named: the fabric selects one that reaches other hosts */
    bool local;                       /* the provider reaches only ranks of this host */
    bool crowded;                     /* this host has more ranks than cores: waiting threads poll only briefly */
    uint64_t next_key;
    uint64_t passes;                     /* number of passes over deferred operations */
    char parameters[TRV_PARAMETERS_MAX]; /* of rank 0 */
    uint64_t cut_most;                   /* maximum length of a message that can be sent in fragments */
    pthread_mutex_t lock;                /* protects the objects of the provider, and deferred operations */
    atomic_bool broken;
    bool shut;            /* the endpoints are closed */
    atomic_bool shut_too; /* copy of `shut` for readers without the lock */
    atomic_ullong events;
    int wake;                /* an eventfd */
    pthread_mutex_t waiting; /* protects `leads` and `changed` */
    pthread_cond_t changed;
    bool leads;         /* a thread waits for the file descriptors */
    atomic_int waiters; /* number of threads that may have to be woken */
};

/* Initialization takes two exchanges of records among all ranks (bring_up.c), so that all ranks compute the same
 * assignment of interfaces to ports:
 *
 *     create     finds interfaces; provider: on rank 0 its setting (NULL: the first suitable one), on other ranks the
 *                one that rank 0 selected; parameters: those of rank 0, NULL on rank 0
 *     offer      writes a record of the interfaces; `hear` reads the record of each rank
 *     survey     queries the system's routes to the neighbours, and opens the interfaces that may be used
 *     describe   writes a record of the addresses; `learn` reads the record of each rank, rank 0's first
 *     settle     assigns interfaces to ports
 *
 * The caller keeps the records in memory: those of `hear` until `survey` returns, those of `learn` until the fabric is
 * closed. */
int trv_fabric_create(trv_fabric_t **fabric, const trv_fabric_options_t *options, const char *provider,
                      const char *parameters);
void trv_fabric_offer(const trv_fabric_t *fabric, trv_writer_t *writer);
/* host: the same text for all ranks of a host; place: position on the torus. */
int trv_fabric_hear(trv_fabric_t *fabric, int rank, const char *host, int place, trv_reader_t *reader);
int trv_fabric_survey(trv_fabric_t *fabric);
void trv_fabric_describe(const trv_fabric_t *fabric, trv_writer_t *writer);
int trv_fabric_learn(trv_fabric_t *fabric, int rank, trv_reader_t *reader);
int trv_fabric_settle(trv_fabric_t *fabric);
/* parameters.c: returns the parameters of libfabric that must be equal at both ends of a connection, as "NAME=VALUE
 * NAME=VALUE". The first call in a process determines them. told: those of rank 0; NULL on rank 0. */
const char *trv_fabric_parameters(const char *told);
/* ports.c: selects the provider and the candidate interfaces; fills in port[i].info. */
int trv_fabric_choose(trv_fabric_t *fabric, const char *provider);
/* open.c: opens the interfaces in the bit mask. */
int trv_fabric_open_ports(trv_fabric_t *fabric, unsigned which);
/* port.c */
int trv_port_open(trv_fabric_t *fabric, trv_port_end_t *port);
/* trv_port_shut closes the endpoint and its completion queue: no operation is pending afterwards. trv_port_close closes
 * the other objects; no memory may be registered. */
void trv_port_shut(trv_port_end_t *port);
void trv_port_close(trv_port_end_t *port);
/* post.c: the caller holds the lock. Retries deferred operations. */
void trv_fabric_retry(trv_fabric_t *fabric, trv_port_end_t *port);
/* True if a retry may succeed even if no operation has completed since the last one. */
bool trv_port_retries(const trv_port_end_t *port);
/* The error message for a message whose length differs from that of its receive. */
const char *trv_fabric_wrong_length(const trv_fabric_t *fabric, const trv_fabric_op_t *op, char sentence[256]);
/* Ends the operation unless fragments are pending or not yet handed over. */
void trv_fabric_settle_op(trv_fabric_op_t *op);
/* Stops the operation: it ends in `state` as soon as the provider has completed or cancelled its fragments. */
void trv_fabric_stop(trv_fabric_t *fabric, trv_fabric_op_t *op, trv_op_state_t state);
/* Reports that the peer of the operation is lost, a failure of the whole fabric. */
void trv_fabric_lose(trv_fabric_t *fabric, const trv_fabric_op_t *op, const char *why);
size_t trv_fragment_bytes(const trv_fabric_op_t *op, size_t index);
/* open.c: the caller holds the lock. Closes the endpoints. */
void trv_fabric_shut(trv_fabric_t *fabric);

#endif
