/*
 * Internal declarations of libtrivance_net: nets, communicators, requests, plans.
 *
 *     start.c        trv_net_init, trv_net_finalize, failure of the net
 *     options.c      options and environment
 *     discover.c     the torus that Slurm or PMIx reports to the ranks
 *     comm.c         communicators
 *     request.c      testing, waiting, sequence numbers
 *     message.c      sends and receives
 *     votes.c        messages by which ranks agree on decisions
 *     flow.c         flow control of messages and collectives with a root
 *     relays.c       messages to ranks that are not neighbours, where hosts do not forward
 *     channel.c      the executor's transport
 *     choose.c       choice of the algorithm by rank 0
 *     entry.c        an operation signature on a communicator: its decision and its pool of prepared plans
 *     collective.c   collectives: their public functions, and the start of those with schedules
 *     exchange.c     the start of collectives whose sizes only some ranks know, as direct exchanges
 *     plan.c         plans
 *
 * Locks, in the order in which they are taken: communicator, net, those of collective/requests.h, entry, flow control,
 * relay, fabric, bootstrap.
 */
#ifndef TRIVANCE_NET_INSIDE_H
#define TRIVANCE_NET_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include <trivance/algorithms.h>
#include <trivance/net.h>
#include <trivance/simulate.h>

#include "bootstrap/wire.h"
#include "collective/agreement.h"
#include "collective/cache.h"
#include "collective/prepared.h"
#include "collective/recorder.h"
#include "collective/requests.h"
#include "transport/fabric/fabric.h"
#include "bootstrap/tcp/bootstrap.h"
#include "settings/settings.h"
#include "topology/sources/record.h"

/* ---- Tags -------------------------------------------------------------------------------------------------------- */

/* Layout of a tag, from high to low bits. The sender's rank has the highest bits, and the context id that the receiver
 * has assigned to the communicator has the next ones. The rest is the caller's tag for a message, and sequence number,
 * port and lane for a collective. The sequence number of a call counts the calls on the communicator; that of a plan
 * counts the plans of the communicator, and all runs of a plan use the same one. */
enum {
    TRV_CONTEXT_BITS = 18,
    TRV_INNER_BITS = TRV_TAG_BITS - TRV_CONTEXT_BITS,
    TRV_LANE_BITS = 7,
    TRV_PORT_BITS = 4,
    TRV_SEQUENCE_BITS = 13,
    TRV_SEQUENCES = 1 << TRV_SEQUENCE_BITS
};
#define TRV_TAG_COLLECTIVE (UINT64_C(1) << (TRV_INNER_BITS - 1))
#define TRV_TAG_PLAN       (UINT64_C(1) << (TRV_INNER_BITS - 2))
#define TRV_TAG_CREDIT     (UINT64_C(1) << (TRV_INNER_BITS - 3)) /* above the callers' tags; + the kind of flow */
#define TRV_TAG_RELAY      (TRV_TAG_CREDIT + 8) /* headers of relayed messages; + 1 and + 2: the messages */

static inline uint64_t trv_collective_tag(bool plan, unsigned number)
{
    return TRV_TAG_COLLECTIVE | (plan ? TRV_TAG_PLAN : 0) |
           (uint64_t)(number % TRV_SEQUENCES) << (TRV_LANE_BITS + TRV_PORT_BITS);
}

/* ---- The net ----------------------------------------------------------------------------------------------------- */

typedef struct trv_net_relay trv_net_relay_t;

struct trv_net {
    int rank, ranks;
    trv_settings_t settings;  /* from the environment; the members below override some of them */
    bool discovers;           /* no torus is set: rank 0 asks the sources of coordinates */
    trv_rank_record_t record; /* of this rank, if `discovers` is set */
    char torus[TRV_TORUS_TEXT_MAX], algorithm[TRV_ALGORITHM_NAME_MAX], provider[64];
    double timeout_ns, start_timeout_ns;
    size_t fragment; /* maximum bytes of a fragment of a schedule's message; 0: messages are not fragmented */
    void (*log)(void *context, const char *sentence);
    void *log_context;
    trv_bootstrap_t *bootstrap;
    trv_fabric_t *fabric;
    _Atomic(trv_fabric_t *) breakable; /* the fabric while it is open; for the threads that break it */
    pthread_mutex_t lock;              /* protects the lists: */
    trv_net_comm_t *world, *comm;
    trv_net_plan_t *plan;
    struct trv_net_request *request; /* those that are initialized */
    trv_requests_t requests;
    atomic_int pending; /* number of requests whose end no thread has observed */
    atomic_uint comms;  /* number of context ids assigned so far */
    pthread_mutex_t flow_lock;
    struct trv_flow **flow; /* per peer and kind of communication (flow.c) */
    trv_net_relay_t *relay; /* NULL: hosts forward */
};

struct trv_net_comm {
    trv_net_t *net;
    int rank, size;
    int *member;           /* world ranks of the members; NULL: all ranks of the world in order */
    uint32_t *context_ids; /* that each member has assigned to this communicator; NULL: 0 for all */
    uint32_t context_id;   /* that this rank has assigned */
    trv_torus_t torus;     /* of the ranks */
    char algorithm[TRV_ALGORITHM_NAME_MAX];
    atomic_uint calls, plans;                  /* sequence numbers */
    pthread_mutex_t lock;                      /* protects the torus and the members below: */
    trv_cache_t entries, roots;                /* entries, and those that are prepared for further roots */
    trv_pool_t exchanges;                      /* direct exchanges that no request uses */
    _Atomic uint64_t held[TRV_SEQUENCES / 64]; /* a bit for each sequence number that an active request holds */
    trv_recorder_t *recorder;                  /* NULL: calls are not recorded */
    unsigned torus_version;                    /* number of times that the torus was set */
    trv_net_comm_t *next;
};

static inline int trv_member(const trv_net_comm_t *comm, int rank) { return comm->member ? comm->member[rank] : rank; }

/* The network of the ranks. Members that are not neighbours on the net's torus may be neighbours on that of a
 * communicator: messages between them are relayed. */
static inline trv_network_t trv_comm_network(const trv_net_comm_t *comm)
{
    return (trv_network_t){TRV_NETWORK, .torus = comm->torus, .no_forwarding = comm->net->relay != NULL};
}

static inline uint64_t trv_peer_tag(const trv_net_comm_t *comm, int peer, bool sends, uint64_t inner)
{
    const uint64_t context_id = !sends ? comm->context_id : comm->context_ids ? comm->context_ids[peer] : 0;
    return context_id << TRV_INNER_BITS | inner;
}

/* TRV_OK; or an error if the argument is NULL, or if the net is broken (with the reason as the last error). */
int trv_net_check(const trv_net_t *net);
int trv_comm_check(const trv_net_comm_t *comm);
/* Breaks the net with "rank 3: " and the last error as the reason, unless it is already broken. Returns
 * TRV_ERR_TRANSPORT with the reason of the net as the last error, as all calls on all ranks do from then on. */
int trv_net_break(trv_net_t *net);

/* options.c: determines the settings of the net and creates the bootstrap. If an option is invalid, it
 * returns the error but creates the bootstrap where possible, so that the error can be reported to the other ranks. */
int trv_net_read_options(trv_net_t *net, const trv_net_options_t *options, trv_bootstrap_options_t *bootstrap,
                         char address[TRV_ADDRESSES_MAX]);

/* discover.c: reads the record of this rank, which is sent to rank 0 as its greeting. by_pmix: PMIx has started it. */
void trv_net_read_record(trv_net_t *net, bool by_pmix, trv_bootstrap_options_t *bootstrap);
/* Rank 0 finds the torus from the greetings of all ranks, and sets net->torus if it finds one. Waits for all ranks. */
int trv_net_discover(trv_net_t *net);

/* plan.c */
void trv_net_free_members(trv_net_t *net); /* frees communicators, plans and pending requests */

/* comm.c */
int trv_comm_create(trv_net_comm_t **comm, trv_net_t *net, int rank, int size);
void trv_comm_destroy(trv_net_comm_t *comm);

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

struct trv_net_request {
    trv_request_t base; /* the first member, so that pointers to both can be converted */
    trv_net_comm_t *comm;
    /* Frees or recycles the request; called when a thread has observed its end. */
    void (*done)(struct trv_net_request *request);
    const char *what;                     /* name of the operation, such as "AllReduce" */
    int sequence;                         /* number that the request holds, modulo TRV_SEQUENCES; -1: none */
    bool pending;                         /* it has begun, and no thread has observed its end */
    struct trv_net_request *next, **link; /* of the net's list; link is NULL: it is not in the list */
};

/* Initializes the requests of a net. */
void trv_net_requests_init(trv_net_t *net);

/* Sets the handle of a request to TRV_NET_REQUEST_NULL, or returns an error if its address is NULL. */
int trv_net_request_reset(trv_net_request_t *request);
/* Initializes a request whose bytes are all 0. */
void trv_net_request_init(struct trv_net_request *request, trv_net_comm_t *comm, const char *what,
                          const trv_request_kind_t *kind, void (*done)(struct trv_net_request *));
void trv_net_request_clear(struct trv_net_request *request);
/* Calls `done` of all pending requests, after the end of the fabric. */
void trv_net_requests_abandon(trv_net_t *net);
/* trv_request_kind_t.end of all requests */
int trv_net_request_end(trv_request_t *request, int code);
/* Marks the sequence number of a call as in use until the request has ended. Called before trv_net_request_begin. */
void trv_net_request_hold(struct trv_net_request *request, unsigned number);
/* Waits until the sequence numbers of the next call are free: tags repeat after TRV_SEQUENCES calls. The caller holds
 * comm->lock, so no advance function may take that lock. TRV_OK, or an error for which the caller breaks the net. */
int trv_comm_await_sequence(trv_net_comm_t *comm);
/* Makes the request active: from now on any thread may advance it. */
void trv_net_request_begin(struct trv_net_request *request);
/* As trv_request_wait. A request that has ended no longer counts as pending; called once after the end. */
int trv_net_request_progress(struct trv_net_request *request, double until_ns, bool *ended);
/* Waits until an active request has ended, and calls `done`. */
int trv_net_request_run(struct trv_net_request *request);

/* ---- Sends without a request ------------------------------------------------------------------------------------- */

/* A send that is freed after it has completed. */
typedef struct trv_sent {
    trv_fabric_op_t op;
    struct trv_sent *next;
} trv_sent_t;

/* Removes the sends from the list that have completed or, with `all`, every one, and frees them. */
void trv_sent_free(trv_sent_t **list, bool all);

/* ---- Relayed messages -------------------------------------------------------------------------------------------- */

/* Posts an operation. A send to a rank that only others reach goes to the next rank on the route: its members `peer`,
 * `port` and `tag` change. */
int trv_net_post(trv_net_t *net, trv_fabric_op_t *op);
/* Passes messages of other ranks on; does nothing if hosts forward. */
void trv_net_relay_advance(trv_net_t *net);
/* Called after the fabric has been opened, if trv_fabric_relays. Starts a thread. */
int trv_net_relay_start(trv_net_t *net);
/* Ends the thread. trv_net_relay_free frees the relay, after trv_fabric_end. */
void trv_net_relay_stop(trv_net_t *net);
void trv_net_relay_free(trv_net_t *net);

/* ---- Flow control ------------------------------------------------------------------------------------------------ */

typedef struct trv_flow trv_flow_t;

/* An operation under flow control. */
typedef struct trv_flow_op {
    trv_fabric_op_t op;
    int peer;        /* set by trv_flow_post, because a relayed message has another peer in `op` */
    uint64_t number; /* send: sequence number to this peer; receive: 1 once it has been counted */
} trv_flow_op_t;

int trv_flow_post(trv_net_t *net, trv_flow_op_t *op);
/* Like trv_fabric_test; a send is complete only when flow control permits it. */
int trv_flow_test(trv_net_t *net, trv_flow_op_t *op);

/* The messages of one run under flow control to and from one peer. All 0 between runs. */
typedef struct trv_flow_run {
    uint64_t number; /* sequence number of this run to the peer; 0: it sends nothing to the peer */
    bool receives;   /* it receives from the peer */
    unsigned weight; /* for which the receives count */
} trv_flow_run_t;

/* Called before every message of the run, whose vector has `bytes`, to or from the peer is posted. */
int trv_flow_post_run(trv_net_t *net, trv_flow_run_t *run, size_t bytes, bool sends, int peer);
/* Called when all messages of the run have completed. Returns 1 when flow control permits the run to complete, 0
 * before, or an error. */
int trv_flow_test_run(trv_net_t *net, trv_flow_run_t *run, int peer);
/* Called when no operation is pending any more. */
void trv_flow_free(trv_net_t *net);

/* ---- Exchanges --------------------------------------------------------------------------------------------------- */

/* The messages of an exchange between the ranks of a communicator (collective/group.h), with the tags of a call. */
typedef struct trv_net_votes {
    trv_net_comm_t *comm;
    uint64_t inner; /* tag */
    trv_group_t group;
    trv_fabric_op_t op[TRV_EXCHANGE_SLOTS];
} trv_net_votes_t;

void trv_net_votes_init(trv_net_votes_t *votes, trv_net_comm_t *comm, unsigned number);
void trv_net_votes_clear(trv_net_votes_t *votes);

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* The transport of one plan of the executor. */
typedef struct trv_channel {
    trv_net_comm_t *comm;
    uint64_t inner; /* tag of the current run */
    int port;
    trv_fabric_op_t *op;
    int ops;
    trv_transport_t transport;
    trv_region_t region[3]; /* registered memory: input, output, scratch; empty if the provider needs no registration */
    const char *start[3];
    size_t bytes[3];
    void *scratch; /* registered as region 2, and kept for later runs */
    size_t scratch_bytes;
    trv_flow_run_t *run; /* per rank of the communicator, of a run under flow control; otherwise NULL */
    size_t run_bytes;    /* of the vector of the run; 0: each message counts with its own bytes */
    int awaited_rank;    /* rank of the communicator for whose credit the run waits */
} trv_channel_t;

void trv_channel_init(trv_channel_t *channel, trv_net_comm_t *comm);
/* Enables flow control, for collectives whose runs may complete on a rank before others have begun them. */
int trv_channel_limit(trv_channel_t *channel);
/* Ends a run of the executor that returned `code`: unregisters the buffers, and returns an error, or 1 when flow
 * control permits the run to complete, and 0 before; it is then called again. */
int trv_channel_complete(trv_channel_t *channel, int code);
/* Describes as text for which rank that waits. */
void trv_channel_describe(const trv_channel_t *channel, char *text, size_t size);
void trv_channel_clear(trv_channel_t *channel);
/* trv_plan_options_t.scratch_allocate; the context is a channel. */
void *trv_channel_scratch(void *channel, size_t bytes);
int trv_channel_register(trv_channel_t *channel, int which, const void *data, size_t bytes);
void trv_channel_unregister(trv_channel_t *channel, int which);

/* A plan or a direct exchange of the executor, and the request that runs it. */
typedef struct trv_instance {
    trv_pooled_t pooled; /* the first member, so that pointers to both can be converted */
    struct trv_net_request request;
    struct trv_net_entry *entry; /* NULL: of a direct exchange */
    trv_channel_t channel;
    trv_plan_t *plan;
    trv_direct_t *direct;
    unsigned torus_version; /* of the torus for which a direct exchange was created: it is not used for later ones */
    bool started;
    bool sent;          /* the messages of the run have completed */
    unsigned long call; /* its number in the flight recorder; 0: not recorded */
    bool only_create;   /* the request only creates the plan, and has no buffers */
    const void *input;
    void *output;
    size_t count;
    size_t *counts, *displacements; /* of blocks of different sizes: copies of the caller's; else NULL */
    trv_block_totals_t totals;      /* of these blocks */
} trv_instance_t;

/* Arguments of a call. Blocks of different sizes are described by `counts` and `displacements`, or NULL, instead of
 * `count`, or, in a direct exchange, by `send` and `receive`: on the root, and in an all-to-all on all ranks. */
typedef struct trv_net_call {
    trv_collective_t collective;
    int root; /* 0 if the collective has none */
    const void *input;
    void *output;
    size_t count;
    trv_elements_t elements;
    bool is_barrier; /* an AllReduce whose result is ignored */
    bool unequal;    /* blocks differ in size, and all ranks know the sizes */
    const size_t *counts, *displacements;
    bool is_direct; /* only some ranks know the sizes (exchange.c) */
    trv_direct_blocks_t send, receive;
} trv_net_call_t;

/* An operation signature with a class of sizes on a communicator, prepared for calls with one root. */
typedef struct trv_net_entry {
    trv_prepared_t base; /* the first member, as above; each instance in use holds a reference */
    trv_net_comm_t *comm;
    trv_network_t network; /* of the communicator when the entry was created */
    bool unequal, is_barrier;
    trv_elements_t elements;
    size_t element_size;
    uint64_t bytes;                         /* the class of sizes */
    size_t count;                           /* of the first call; 0 if blocks differ */
    char requested[TRV_ALGORITHM_NAME_MAX]; /* requested algorithm or family; "": the planner's choice */
    pthread_mutex_t lock;                   /* protects the members below */
    bool decided;
    int code;                          /* of the decision; if it is negative, base.reason is the message */
    struct trv_net_deciding *deciding; /* the state of the agreement; NULL before and after it */
} trv_net_entry_t;

/* choose.c: the network model of the planner, and the choice, which rank 0 of the communicator makes. */
trv_simulate_options_t trv_net_simulation(const trv_net_t *net, const trv_network_t *network);
void trv_net_choose(const trv_net_entry_t *entry, trv_decision_t *decision);

/* entry.c. Before trv_net_entry_decide the caller may set base.schedule to a schedule that it owns; then no decision is
 * made. */
int trv_net_entry_create(trv_net_entry_t **entry, trv_net_comm_t *comm, const trv_net_call_t *call, uint64_t bytes,
                         const char *requested);
/* The entry prepared for calls with this root: itself, or one that shares its decision. NULL: no memory. */
trv_net_entry_t *trv_net_entry_at_root(trv_net_entry_t *entry, int root);
/* Starts the decision, for which the requests of instances wait. Collective. The caller must have taken an instance
 * before. count: elements of the first call, or of all its blocks; counts: their sizes, or NULL. */
int trv_net_entry_decide(trv_net_entry_t *entry, size_t count, const size_t *counts);
/* Releases the caller's reference; the entry is freed now or when its last instance is given back. */
void trv_net_entry_release(trv_net_entry_t *entry);
/* Initializes an instance whose bytes are all 0. */
void trv_instance_init(trv_instance_t *instance, trv_net_comm_t *comm, const char *what);
void trv_instance_destroy(trv_pooled_t *instance);
/* Takes an instance from the pool, or creates one. */
int trv_instance_take(trv_net_entry_t *entry, trv_instance_t **instance);
/* Returns an instance to the pool of its entry, or to that of the communicator's direct exchanges. */
void trv_instance_give(trv_instance_t *instance);
/* Sets the sizes of the next run, for blocks of different sizes. The arrays are copied; displacements may be NULL. */
int trv_instance_set_blocks(trv_instance_t *instance, const size_t *counts, const size_t *displacements,
                            const trv_block_totals_t *totals);
/* Begin the request of the instance: to run the collective on these buffers, or to create the plan for runs with this
 * count. */
void trv_instance_begin(trv_instance_t *instance, uint64_t inner, const void *input, void *output, size_t count);
void trv_instance_begin_creation(trv_instance_t *instance, size_t count);
/* exchange.c: starts a direct exchange; and frees those of a communicator. */
int trv_net_exchange_start(trv_net_comm_t *comm, const trv_net_call_t *call, trv_instance_t **started);
void trv_exchanges_clear(trv_net_comm_t *comm);
/* collective.c: checks the count, and the buffers like trv_buffers_check. */
int trv_net_check_buffers(const trv_net_comm_t *comm, trv_collective_t collective, int root, size_t element_size,
                          size_t count, const void *input, const void *output);

#endif
