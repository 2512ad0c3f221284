/*
 * Transport over libfabric. Each interface that a port of the torus uses has an endpoint for connectionless, reliable,
 * tagged messages (FI_EP_RDM). Any provider with such endpoints is suitable; its capability bits determine whether
 * memory is registered and receives specify the source address.
 *
 * A send or receive is an operation, whose memory its owner keeps until it has ended. Operations with the same sender,
 * receiver, tag and port match in the order in which they are posted. A peer is connected when the first message is
 * sent to it.
 *
 * An operation longer than its `fragment` is transferred in fragments, all with the same tag, and each with the length
 * of the whole message as remote completion data. Both sides have the same `fragment`, so that each receive matches its
 * own fragment if the lengths agree. If they differ, the first fragment reveals it, the receive ends with an error, and
 * its owner must not use the tag again, because the remaining fragments would match wrong receives.
 *
 * Thread-safe by one lock; providers need not be thread-safe. A *port* is a dimension and a direction of the torus, and
 * an *interface* is the network interface that an endpoint uses. Several ports may use one interface.
 */
#ifndef TRIVANCE_TRANSPORT_FABRIC_FABRIC_H
#define TRIVANCE_TRANSPORT_FABRIC_FABRIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>

#include <trivance/torus.h>

#include "topology/ports/device.h"
#include "topology/ports/map.h"
#include "bootstrap/oob.h"
#include "bootstrap/wire.h"

enum {
    TRV_NO_PORT = -1,    /* for messages that belong to no schedule: they use the first interface */
    TRV_RANKS_BITS = 20, /* the upper bits of a tag are the sender, if the provider's tags are long enough */
    TRV_TAG_BITS = 64 - TRV_RANKS_BITS
};

typedef struct trv_fabric trv_fabric_t;

typedef struct trv_fabric_options {
    trv_oob_t oob;        /* used only by trv_fabric_open */
    trv_torus_t torus;    /* the network, the same on all ranks; all 0: a ring of the ranks */
    int coordinate;       /* of this rank on the torus; if it is negative on any rank, the torus is a ring */
    const char *provider; /* rank 0's applies to all ranks; NULL: the first suitable one */
    const char *ports;    /* "+0=eth1,-0=eth2"; or "eth1,10.1.0.0/16": detected among these; NULL: among all */
    bool may_relay;       /* detect hosts that do not forward; the caller relays messages there, and every rank has the
                           * coordinate of its number */
    bool torus_is_set;    /* by the user; otherwise a ring without one of its links is used as a line */
    const char *local;    /* numeric address of this host by which it reaches the others; NULL: any */
    /* Called one or more times when messages fail permanently, by the thread that detects it. It must result in a call
     * of trv_fabric_break; until then the failed operations stay pending. */
    void (*fail)(void *context, const char *sentence);
    /* Called when a message has another length than its receive; NULL: only trv_fabric_test reports it. */
    void (*wrong_length)(void *context, const char *sentence);
    int (*reason)(void *context); /* after trv_fabric_break: sets the reason as the last error, and returns its code */
    void *context;
} trv_fabric_options_t;

/* Opens the fabric. Collective: every rank opens its network interfaces and publishes them, the ranks determine which
 * interface leads to which neighbour, and exchange addresses. Either all ranks have a fabric afterwards, or all return
 * the same error and *fabric is NULL. TRV_ERR_ARGUMENT if an interface does not exist; TRV_ERR_UNSUPPORTED if there is
 * no suitable provider, if rank 0's provider is not available on another rank, or if its limits or address formats
 * differ between ranks. */
int trv_fabric_open(trv_fabric_t **fabric, const trv_fabric_options_t *options);
/* Bit mask of the dimensions whose two ports share one interface on at least one rank. Ranks count only if their
 * neighbours in both directions are on other hosts, or if their user has assigned the interfaces (TRIVANCE_PORTS). Sets
 * *one if several dimensions share the same interface. All ranks return the same. */
unsigned trv_fabric_shared_paths(const trv_fabric_t *fabric, bool *one);
/* True if hosts do not forward (options.may_relay): messages reach only the neighbours on the torus. Those to other
 * ranks must be sent to trv_fabric_next_rank, which passes them on. */
bool trv_fabric_relays(const trv_fabric_t *fabric);
/* The route that is missing, as a sentence. Without trv_fabric_relays: the cable that is missing, so that a network
 * that joins all hosts is used instead of the others; "" if none is. */
const char *trv_fabric_no_route(const trv_fabric_t *fabric);
/* On rank 0, if options.may_relay and if the torus is a ring or line: the hosts in the order in which cables join them,
 * separated by commas, if these form a ring or a chain along which the ranks are not numbered; else "". */
const char *trv_fabric_cable_order(const trv_fabric_t *fabric);
/* The neighbour of this rank at a port; -1 if there is none. Only if trv_fabric_relays. */
int trv_fabric_neighbour(const trv_fabric_t *fabric, int port);
/* The neighbour to which a message to the peer is sent: the peer itself if it is a neighbour. The route is the shorter
 * way in each dimension in ascending order. */
int trv_fabric_next_rank(const trv_fabric_t *fabric, int peer);
const trv_torus_t *trv_fabric_torus(const trv_fabric_t *fabric);
/* True if the ring of the options has become a line, because no cable joins its ends (options.torus_is_set). */
bool trv_fabric_became_line(const trv_fabric_t *fabric);
/* True if the interface of the port has lost its carrier, as by a cable that is pulled. Then writes a sentence with
 * both hosts and the interface. */
bool trv_fabric_is_unplugged(const trv_fabric_t *fabric, int port, char *sentence, size_t size);
/* Describes the interface of each port of this rank: "+0 by eth1, -0 by eth2". */
void trv_fabric_describe(const trv_fabric_t *fabric, char *text, size_t size);

/* Closes the endpoints: pending operations have ended, and the provider no longer accesses their buffers. No operation
 * may be posted afterwards. */
void trv_fabric_end(trv_fabric_t *fabric);
void trv_fabric_close(trv_fabric_t *fabric);
const char *trv_fabric_provider(const trv_fabric_t *fabric);

/* Memory that is registered with the provider, on every interface. */
typedef struct trv_region {
    struct fid_mr *on[TRV_PORTS_MAX];
} trv_region_t;

typedef enum trv_op_state { TRV_OP_FREE, TRV_OP_PENDING, TRV_OP_DONE, TRV_OP_WRONG } trv_op_state_t;

/* A unit posted to the provider: a whole operation, or a fragment of it. */
typedef struct trv_fragment {
    struct fi_context2 context; /* used by the provider */
    struct trv_fabric_op *op;
    bool pending; /* posted to the provider and not completed */
} trv_fragment_t;

typedef struct trv_fabric_op {
    bool sends;
    int port;   /* of the sender; TRV_NO_PORT: the first interface */
    int peer;   /* rank in the job */
    int origin; /* send: 1 + the rank in whose name the message is sent; 0: this rank */
    uint64_t tag;
    void *data;
    size_t bytes;
    size_t fragment_bytes;      /* maximum length of a fragment, which the fabric may reduce; 0: no maximum */
    const trv_region_t *region; /* contains the data; NULL: they are registered for this operation if necessary */
    bool limited; /* such operations use at most half of the provider's queue, because a user may start any number */
    /* Members of the implementation, all 0 before the first post: */
    atomic_int state;
    int interface;             /* of this rank */
    struct fid_mr *own_region; /* registration for this operation only */
    size_t bytes_received;     /* length of the message received */
    bool longer;               /* the message is longer than `bytes_received` by an unknown number of bytes */
    int final_state;           /* the state in which it ends */
    trv_fragment_t single_fragment, *fragment_list;
    size_t capacity, fragments; /* entries of `fragment_list`; fragments of this message; if 1, it is single_fragment */
    size_t fragments_posted, fragments_pending; /* posted to the provider; those of them that are not complete */
    struct trv_fabric_op *next;
} trv_fabric_op_t;

/* Posts an operation whose first members, up to `limited`, are set. trv_fabric_test reports later errors. */
int trv_fabric_post(trv_fabric_t *fabric, trv_fabric_op_t *op);
/* Returns 1 if the operation is complete, 0 if it is not, a negative code if it has failed. Makes no progress. */
int trv_fabric_test(trv_fabric_t *fabric, trv_fabric_op_t *op);
/* Returns when the operation has ended, whether or not it is complete. If that takes seconds because its peer is gone,
 * the whole fabric fails. */
void trv_fabric_cancel(trv_fabric_t *fabric, trv_fabric_op_t *op);
/* Cancels without waiting: fragments that were not posted to the provider are dropped, the others end later. */
void trv_fabric_abandon(trv_fabric_t *fabric, trv_fabric_op_t *op);
/* Frees the memory of fragments, which an operation keeps for its next post. */
void trv_fabric_op_clear(trv_fabric_op_t *op);

/* Registers memory if the provider requires it; otherwise does nothing. The region must be empty (all 0) before, and is
 * empty after trv_fabric_unregister. */
int trv_fabric_register(trv_fabric_t *fabric, const void *data, size_t bytes, trv_region_t *region);
void trv_fabric_unregister(trv_fabric_t *fabric, trv_region_t *region);
/* True if the provider requires registered memory. */
bool trv_fabric_registers(const trv_fabric_t *fabric);

/* Makes progress. Returns the number of events so far. */
uint64_t trv_fabric_poll(trv_fabric_t *fabric);
/* Called after `polls` consecutive polls without an event, the last of which returned `seen`. Returns when there may be
 * events, or after a while. True if it has slept or yielded meanwhile. */
bool trv_fabric_pause(trv_fabric_t *fabric, uint64_t seen, unsigned polls);
/* Wakes all waiting threads. */
void trv_fabric_wake(trv_fabric_t *fabric);

/* Makes every operation fail from now on; pending operations fail as soon as the provider no longer accesses their
 * buffers. Any thread may call it at any time. */
void trv_fabric_break(trv_fabric_t *fabric);
/* True if the fabric is not broken, or if it is and the provider no longer accesses any buffers. */
bool trv_fabric_buffers_released(const trv_fabric_t *fabric);

/* The first function returns the peer's interface at which messages arrive that their sender sends through `port`.
 * The second one returns the interface of this rank by which its own messages through that port leave. */
int trv_fabric_arrival(const trv_fabric_t *fabric, int peer, int port);
int trv_fabric_departure(const trv_fabric_t *fabric, int port);

typedef struct trv_fabric_interface_info {
    const char *name, *provider, *ip_address; /* ip_address: "" if the address has another format */
    char address[128];
    unsigned departures, arrivals; /* bit p: messages through port p leave, or arrive, by this interface */
    trv_device_t device;
    uint64_t bytes[2], messages[2]; /* received, sent */
} trv_fabric_interface_info_t;
int trv_fabric_interfaces(const trv_fabric_t *fabric);
void trv_fabric_interface_info(trv_fabric_t *fabric, int index, trv_fabric_interface_info_t *info);

#endif
