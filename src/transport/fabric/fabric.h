/*
 * Messages over libfabric: endpoints for connectionless, reliable, tagged messages (FI_EP_RDM), one for each interface
 * that a port of the torus leads by. Whatever provider gives these serves; what it needs besides (registered memory,
 * addresses in receives) is told by its capability bits.
 *
 * A message is an operation, which its owner keeps until it is over. Operations on the same (sender, receiver, tag, port)
 * match in the order in which they are posted. Peers are connected when the first message is for them.
 *
 * An operation longer than its `fragment` travels in fragments, all of the same tag, each with the whole message's length
 * beside it (remote completion data). Both sides have the same `fragment`, so that as long as lengths agree each receive
 * takes the fragment that is its own; where they do not, the first fragment says so, the receive is wrong, and whoever
 * owns it uses that tag no more: what follows would be out of step.
 *
 * Thread-safe, by one lock: providers need not be.
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
    TRV_NO_WAY = -1,     /* of messages that no schedule sends: the first interface */
    TRV_RANKS_BITS = 20, /* a tag's upper bits are the sender, where the provider's tags are long enough */
    TRV_TAG_BITS = 64 - TRV_RANKS_BITS
};

typedef struct trv_fabric trv_fabric_t;

typedef struct trv_fabric_options {
    trv_oob_t oob;        /* used while it opens */
    trv_torus_t torus;    /* the network, the same on all ranks; all 0: a ring of the ranks */
    int place;            /* of this rank on the torus; negative: unknown. If any rank's is, the torus is a ring. */
    const char *provider; /* rank 0's holds for all; NULL: the first that serves */
    const char *ports;    /* "+0=eth1,-0=eth2"; "eth1,10.1.0.0/16": of these it is found; NULL: of all */
    const char *local;    /* the number of an address of this host, by which it reaches the others; NULL: any */
    /* Called, once or more, when messages fail for good, by whoever comes upon it; it is to end in trv_fabric_break. What
     * has failed stays pending until then. */
    void (*fail)(void *context, const char *sentence);
    /* Called when a message has another length than the one due; NULL: its operation alone tells. */
    void (*wrong)(void *context, const char *sentence);
    int (*reason)(void *context); /* after a break: leaves the reason as the last error, and returns its code */
    void *context;
} trv_fabric_options_t;

/* Opens the fabric, together with all other ranks: every rank opens its network interfaces and publishes them, the ranks
 * find out which interface leads to which neighbour, and exchange addresses. Either all ranks have a fabric afterwards, or
 * all have the same error and *fabric is NULL. TRV_ERR_ARGUMENT for an interface that is not there, TRV_ERR_UNSUPPORTED if
 * no provider serves, rank 0's provider does not serve on another rank, or ranks differ in its limits or kind of
 * addresses. */
int trv_fabric_open(trv_fabric_t **fabric, const trv_fabric_options_t *options);
/* Bits of the dimensions whose two ways take one interface on any rank that has neighbours on other hosts both ways, or
 * has been told so (TRIVANCE_PORTS); *one: several take the same. Known to all ranks alike, once it is settled. */
unsigned trv_fabric_narrow(const trv_fabric_t *fabric, bool *one);
/* "+0 by eth1 and -0 by eth2": this rank's, as the end of a sentence. */
void trv_fabric_tell(const trv_fabric_t *fabric, char *text, size_t size);

/* Whatever is pending is over, and nobody but their owners has the buffers; then nothing of it is used any more. */
void trv_fabric_end(trv_fabric_t *fabric);
void trv_fabric_close(trv_fabric_t *fabric);
const char *trv_fabric_provider(const trv_fabric_t *fabric);

/* Memory that the provider knows, on every interface. */
typedef struct trv_region {
    struct fid_mr *on[TRV_WAYS];
} trv_region_t;

typedef enum trv_op_state { TRV_OP_FREE, TRV_OP_PENDING, TRV_OP_DONE, TRV_OP_WRONG } trv_op_state_t;

/* What the provider is handed at once: an operation, or a fragment of it. */
typedef struct trv_fragment {
    struct fi_context2 context; /* the provider's */
    struct trv_fabric_op *op;
    bool pending; /* the provider has it */
} trv_fragment_t;

typedef struct trv_fabric_op {
    bool sends;
    int way;  /* the sender's port */
    int peer; /* in the job */
    uint64_t tag;
    void *data;
    size_t bytes;
    size_t fragment;            /* the most that travels in one; 0: all of it */
    const trv_region_t *region; /* that has the data; NULL: it is registered for this operation alone, if it must be */
    bool patient;               /* of a user, which may begin many before these end: it leaves entries for others */
    /* Ours, all 0 before the first post: */
    atomic_int state;
    int port;
    struct fid_mr *own;
    size_t got;
    bool longer; /* than `got`, by how much the provider does not say */
    int end;     /* the state that it ends in */
    trv_fragment_t whole, *cut;
    size_t capacity, fragments, handed, pending; /* of `cut`; of this message; of those: handed over, not complete */
    struct trv_fabric_op *next;
} trv_fabric_op_t;

/* Posts an operation, whose fields above are set. What fails later, or for all, is told by its test. */
int trv_fabric_post(trv_fabric_t *fabric, trv_fabric_op_t *op);
/* 1: complete; 0: not yet; negative: over, with the reason. Makes no progress. */
int trv_fabric_test(trv_fabric_t *fabric, trv_fabric_op_t *op);
/* Returns when the operation is over one way or the other; if that takes seconds, since its peer is gone, all is lost. */
void trv_fabric_cancel(trv_fabric_t *fabric, trv_fabric_op_t *op);
/* The same without waiting: what the provider has not been handed is taken back, the rest ends when it ends. */
void trv_fabric_abandon(trv_fabric_t *fabric, trv_fabric_op_t *op);
/* Frees what an operation with fragments keeps for its next post. */
void trv_fabric_op_clear(trv_fabric_op_t *op);

/* Registers memory where the provider needs that, else does nothing; the region is empty (all 0) before and after. */
int trv_fabric_register(trv_fabric_t *fabric, const void *data, size_t bytes, trv_region_t *region);
void trv_fabric_unregister(trv_fabric_t *fabric, trv_region_t *region);
/* Whether it does. */
bool trv_fabric_registers(const trv_fabric_t *fabric);

/* Makes progress, and says how much has happened so far: a number that grows. */
uint64_t trv_fabric_poll(trv_fabric_t *fabric);
/* After `polls` polls in vain, the last of which returned `seen`: returns when there may be more, or after a while;
 * whether it has slept meanwhile. */
bool trv_fabric_pause(trv_fabric_t *fabric, uint64_t seen, unsigned polls);
/* Wakes all waiting threads. */
void trv_fabric_wake(trv_fabric_t *fabric);

/* From now on every operation fails, and so do those that are pending, as soon as nobody but their owners has their
 * buffers. Called at any time, by any thread. */
void trv_fabric_break(trv_fabric_t *fabric);
/* Not broken, or broken and nobody has those buffers any more. */
bool trv_fabric_settled(const trv_fabric_t *fabric);

/* Which of the peer's interfaces messages of that way arrive by; and which of this rank's they leave by. */
int trv_fabric_arrival(const trv_fabric_t *fabric, int peer, int way);
int trv_fabric_departure(const trv_fabric_t *fabric, int way);

typedef struct trv_fabric_port_info {
    const char *interface, *provider, *number; /* its address as a number; "": it is of another kind */
    char address[128];
    unsigned ways, arrivals; /* bit w: way w leaves, arrives by it */
    trv_device_t device;
    uint64_t bytes[2], messages[2]; /* received, sent */
} trv_fabric_port_info_t;
int trv_fabric_ports(const trv_fabric_t *fabric);
void trv_fabric_port_info(trv_fabric_t *fabric, int index, trv_fabric_port_info_t *info);

#endif
