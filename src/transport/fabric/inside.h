/*
 * Declarations shared by the files of the fabric: bring_up.c (what all ranks do together first), parameters.c (what libfabric reads),
 * ports.c (which interfaces there are), settle.c (which lead which way), port.c (one of them), open.c (all of them),
 * post.c (messages), wait.c (progress).
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

#define TRV_BEYOND_BYTES ((size_t)1 << 32) /* of addresses; memory only as far as a message reaches */

/* Operations that are put off, while the provider's queue is full or there is no connection, are of one of four kinds,
 * by these bits. Those of one kind to the same peer keep the order of the calls; no others wait for them. */
enum { TRV_LATE_SENDS = 1, TRV_LATE_PATIENT = 2, TRV_LATE_KINDS = 4 };

/* An interface. */
typedef struct trv_port_end {
    char interface[TRV_INTERFACE_MAX];
    unsigned ways, arrivals;
    char number[TRV_NUMBER_MAX]; /* its address, without a port; "": it is of another kind */
    char device_name[TRV_INTERFACE_MAX];
    int device_index; /* 0: there is none */
    trv_device_t device;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    int wait_fd; /* -1: it cannot be waited for */
    uint8_t address[TRV_ADDRESS_BYTES_MAX];
    size_t address_bytes;
    uint64_t bytes[2], messages[2]; /* received, sent */
    trv_fabric_op_t *first[TRV_LATE_KINDS], **end[TRV_LATE_KINDS];
    size_t patient[2], patient_most[2]; /* receives, sends of users that the provider has, and is to have */
    void *beyond;                       /* where a message's bytes go that are more than those due; NULL: nowhere */
} trv_port_end_t;

/* Another rank, or this one: where its interfaces are, and which way leads by which. */
typedef struct trv_peer {
    int ports;
    trv_map_t map;
    const uint8_t **address;
    size_t *address_bytes;
    fi_addr_t *known;            /* [ours * ports + theirs] */
    size_t late[TRV_LATE_KINDS]; /* how many are put off */
    uint64_t stuck;              /* the pass over what is put off in which it took nothing */
} trv_peer_t;

/* What all must have in common. */
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
    bool told;           /* the user has said which leads which way */
    trv_seat_t *seat;    /* of every rank, until it is settled */
    trv_reader_t *offer; /* likewise, until the survey */
    void *records;       /* of all ranks: their addresses */
    trv_torus_t torus;
    unsigned narrow; /* trv_fabric_narrow's */
    bool one_path;
    trv_peer_t *peer;
    trv_peer_kind_t kind;             /* rank 0's */
    bool needs_regions, names_sender; /* from the capability bits */
    bool selects;                     /* no provider was named: one must be found that reaches other hosts */
    bool local;                       /* the provider reaches this host's ranks only */
    bool crowded;                     /* ranks outnumber this host's cores: waiting threads poll briefly */
    uint64_t next_key;
    uint64_t passes;                     /* over what is put off */
    char parameters[TRV_PARAMETERS_MAX]; /* rank 0's */
    uint64_t cut_most;                   /* the longest message whose length goes along with its fragments */
    pthread_mutex_t lock;                /* of all that is the provider's */
    atomic_bool broken;
    bool shut; /* the endpoints are closed */
    atomic_bool shut_too;
    atomic_ullong events;
    int wake;                /* an eventfd */
    pthread_mutex_t waiting; /* of `leads` and `changed` */
    pthread_cond_t changed;
    bool leads;         /* somebody waits for the files */
    atomic_int waiters; /* threads that may have to be woken */
};

/* Bringing up takes two exchanges of records among all ranks (bring_up.c), so that all assign interfaces to ports alike:
 *
 *     create     finds interfaces; provider: on rank 0 its setting (NULL: the first that serves), on other ranks what rank
 *                0 selected; parameters: rank 0's, NULL on rank 0
 *     offer      writes a record of them; hear reads the record of every rank
 *     survey     asks the system for its routes to the neighbours, and opens the interfaces that may serve
 *     describe   writes a record of the addresses; learn reads the record of every rank, rank 0's first
 *     settle     assigns interfaces to ports
 *
 * The records stay in memory: those that hear reads until survey returns, those that learn reads until the fabric is
 * closed. */
int trv_fabric_create(trv_fabric_t **fabric, const trv_fabric_options_t *options, const char *provider,
                      const char *parameters);
void trv_fabric_offer(const trv_fabric_t *fabric, trv_writer_t *writer);
/* host: the same text for ranks of one host; place: on the torus. */
int trv_fabric_hear(trv_fabric_t *fabric, int rank, const char *host, int place, trv_reader_t *reader);
int trv_fabric_survey(trv_fabric_t *fabric);
void trv_fabric_describe(const trv_fabric_t *fabric, trv_writer_t *writer);
int trv_fabric_learn(trv_fabric_t *fabric, int rank, trv_reader_t *reader);
int trv_fabric_settle(trv_fabric_t *fabric);
/* parameters.c: the parameters of libfabric that must be equal at both ends of a connection, as "NAME=VALUE NAME=VALUE":
 * fixed by the first call in a process. told: rank 0's; NULL: this is rank 0. */
const char *trv_fabric_parameters(const char *told);
/* ports.c: which provider and interfaces there may be; fills in port[i].info. */
int trv_fabric_choose(trv_fabric_t *fabric, const char *provider);
/* open.c: opens the ports of these bits. */
int trv_fabric_open_ports(trv_fabric_t *fabric, unsigned which);
/* port.c */
int trv_port_open(trv_fabric_t *fabric, trv_port_end_t *port);
/* Nothing is pending any more; and the rest, once no memory is registered. */
void trv_port_shut(trv_port_end_t *port);
void trv_port_close(trv_port_end_t *port);
/* post.c, with the lock: what was put off is tried again. */
void trv_fabric_retry(trv_fabric_t *fabric, trv_port_end_t *port);
/* Whether it may succeed without anything having completed. */
bool trv_port_retries(const trv_port_end_t *port);
/* The sentence about a message of another length than the one due. */
const char *trv_fabric_wrong_length(const trv_fabric_t *fabric, const trv_fabric_op_t *op, char sentence[256]);
/* It is over, unless fragments are still to come or to go. */
void trv_fabric_settle_op(trv_fabric_op_t *op);
/* It ends in that state as soon as the provider has nothing of it any more. */
void trv_fabric_stop(trv_fabric_t *fabric, trv_fabric_op_t *op, trv_op_state_t state);
/* Its peer is lost to the whole fabric. */
void trv_fabric_lose(trv_fabric_t *fabric, const trv_fabric_op_t *op, const char *why);
size_t trv_fragment_bytes(const trv_fabric_op_t *op, size_t index);
/* open.c, with the lock. */
void trv_fabric_shut(trv_fabric_t *fabric);

#endif
