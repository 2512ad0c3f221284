/*
 * What the parts of the library share: a net, its communicators, and what is under way.
 *
 *     start.c        trv_net_init and its opposite
 *     options.c      what holds: options, environment
 *     comm.c         communicators
 *     request.c      progress, testing, waiting
 *     message.c      sends and receives
 *     spread.c       broadcasts
 *     flow.c         how far those get ahead of a slow receiver
 *     channel.c      the executor's transport
 *     choose.c       algorithms: rank 0's choice
 *     kind.c         one kind of collective of a communicator: its decision, and its plans that are free
 *     collective.c   collectives
 *     plan.c         plans
 *
 * Locks, in the order in which they are taken: the net's, a request's, a kind's, the flow's, the fabric's, the meeting's.
 */
#ifndef TRIVANCE_NET_INSIDE_H
#define TRIVANCE_NET_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include <trivance/algorithms.h>
#include <trivance/net.h>
#include <trivance/simulate.h>

#include "bootstrap/wire.h"
#include "collective/cache.h"
#include "collective/decision.h"
#include "collective/pool.h"
#include "transport/fabric/fabric.h"
#include "bootstrap/tcp/meeting.h"
#include "settings/settings.h"

/* ---- Tags -------------------------------------------------------------------------------------------------------- */

/* Below the sender: the receiver's number for the communicator; then, of messages, the caller's tag; of collectives,
 * number, port and lane. Numbers of collectives count the communicator's calls, of plans its plans. */
enum {
    TRV_COMM_BITS = 18,
    TRV_INNER_BITS = TRV_TAG_BITS - TRV_COMM_BITS,
    TRV_LANE_BITS = 7,
    TRV_WAY_BITS = 4,
    TRV_NUMBER_BITS = 13,
    TRV_NUMBERS = 1 << TRV_NUMBER_BITS
};
#define TRV_TAG_COLLECTIVE (UINT64_C(1) << (TRV_INNER_BITS - 1))
#define TRV_TAG_PLAN       (UINT64_C(1) << (TRV_INNER_BITS - 2))
#define TRV_TAG_CREDIT     (UINT64_C(1) << (TRV_INNER_BITS - 3)) /* above all of messages; + 1: of broadcasts */

static inline uint64_t trv_collective_tag(bool plan, unsigned number)
{
    return TRV_TAG_COLLECTIVE | (plan ? TRV_TAG_PLAN : 0) |
           (uint64_t)(number % TRV_NUMBERS) << (TRV_LANE_BITS + TRV_WAY_BITS);
}

/* ---- The net ----------------------------------------------------------------------------------------------------- */

struct trv_net {
    int rank, ranks;
    trv_settings_t settings; /* of the environment, of which these are rank 0's, or the options': */
    char torus[TRV_TORUS_TEXT_MAX], algorithm[TRV_ALGORITHM_NAME_MAX], provider[64];
    double timeout_ns, start_timeout_ns;
    size_t fragment; /* the most of a schedule's message that travels in one; 0: all of it */
    void (*log)(void *context, const char *sentence);
    void *log_context;
    trv_meeting_t *meeting;
    trv_fabric_t *fabric;
    _Atomic(trv_fabric_t *) breakable; /* the same, once it is there */
    pthread_mutex_t lock;              /* of the lists */
    trv_net_comm_t *world, *comm;
    trv_net_plan_t *plan;
    trv_net_request_t request; /* those that are under way */
    atomic_int requests;
    atomic_uint comms; /* numbers given so far */
    pthread_mutex_t flow_lock;
    struct trv_flow **flow; /* by rank, of messages and of broadcasts */
};

struct trv_net_comm {
    trv_net_t *net;
    int rank, size;
    int *member;       /* in the world; NULL: the world's ranks */
    uint32_t *number;  /* every member's for this communicator; NULL: 0 */
    uint32_t own;      /* this one's */
    trv_torus_t torus; /* how the ranks are wired */
    char algorithm[TRV_ALGORITHM_NAME_MAX];
    atomic_uint calls, plans;
    pthread_mutex_t lock; /* of: */
    trv_cache_t kinds;
    trv_net_comm_t *next;
};

static inline int trv_member(const trv_net_comm_t *comm, int rank) { return comm->member ? comm->member[rank] : rank; }

static inline uint64_t trv_peer_tag(const trv_net_comm_t *comm, int peer, bool sends, uint64_t inner)
{
    const uint64_t number = !sends ? comm->own : comm->number ? comm->number[peer] : 0;
    return number << TRV_INNER_BITS | inner;
}

/* 0, or the reason why the net is broken, or a NULL is no communicator. */
int trv_net_check(const trv_net_t *net);
int trv_comm_check(const trv_net_comm_t *comm);
/* Breaks the net: "rank 3: " and the last error, or another sentence. Returns TRV_ERR_TRANSPORT, or the code. */
int trv_net_break(trv_net_t *net, int code);

/* options.c: fills in what holds, and opens the meeting; also, if it can, where an option is wrong. */
int trv_net_take_options(trv_net_t *net, const trv_net_options_t *options, trv_meeting_options_t *meeting,
                         char address[256]);

/* comm.c */
void trv_net_free_all(trv_net_t *net); /* communicators and plans */
int trv_comm_make(trv_net_comm_t **comm, trv_net_t *net, int rank, int size);
void trv_comm_destroy(trv_net_comm_t *comm);

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

struct trv_net_request {
    trv_net_comm_t *comm;
    /* Makes progress: 1, complete; 0, not yet; negative, over. */
    int (*advance)(struct trv_net_request *request);
    /* Called when it is complete and no longer referenced. */
    void (*done)(struct trv_net_request *request);
    /* What it waits for, in words; may be NULL. */
    void (*describe)(const struct trv_net_request *request, char *text, size_t size);
    const char *what; /* "AllReduce" */
    double started_ns;
    pthread_mutex_t lock; /* of all that advances */
    bool over;
    int code;
    char reason[TRV_REASON_MAX];
    struct trv_net_request *next, **before; /* among those under way */
};

void trv_request_init(struct trv_net_request *request, trv_net_comm_t *comm, const char *what,
                      int (*advance)(struct trv_net_request *), void (*done)(struct trv_net_request *));
/* It is under way from now on. */
void trv_request_begin(struct trv_net_request *request);
/* Drives it: to its end, or once. *over says whether that is reached; then it is no longer under way, and the code is
 * returned. */
int trv_request_drive(struct trv_net_request *request, bool waits, bool *over);
/* Once all that are under way. */
void trv_requests_advance(trv_net_t *net);
void trv_request_clear(struct trv_net_request *request);
/* Starts it, drives it to its end, is done with it. */
int trv_request_run(struct trv_net_request *request);

/* ---- Flow -------------------------------------------------------------------------------------------------------- */

typedef struct trv_flow trv_flow_t;

/* A message whose sender may get ahead of its receiver. */
typedef struct trv_flow_op {
    trv_fabric_op_t op;
    uint64_t number; /* of a send; of a receive, whether it is counted */
} trv_flow_op_t;

int trv_flow_post(trv_net_t *net, trv_flow_op_t *op);
/* As trv_fabric_test. */
int trv_flow_test(trv_net_t *net, trv_flow_op_t *op);
/* Nothing is pending any more. */
void trv_flow_free(trv_net_t *net);

/* ---- Broadcasts -------------------------------------------------------------------------------------------------- */

enum { TRV_CHILDREN_MAX = TRV_RANKS_BITS };

typedef struct trv_spread {
    trv_net_comm_t *comm;
    void *data;
    size_t bytes;
    uint64_t inner; /* tag */
    int place, children, posted;
    int child[TRV_CHILDREN_MAX];
    bool here;  /* the data */
    int awaits; /* the rank of the job that it waits for */
    trv_flow_op_t up, down[TRV_CHILDREN_MAX];
} trv_spread_t;

int trv_spread_begin(trv_spread_t *spread, trv_net_comm_t *comm, void *data, size_t bytes, int root, unsigned number);
int trv_spread_advance(trv_spread_t *spread);
/* What it waits for, in words. */
void trv_spread_describe(const trv_spread_t *spread, char *text, size_t size);

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* The executor's transport for one plan of it. */
typedef struct trv_channel {
    trv_net_comm_t *comm;
    uint64_t inner; /* of the tags of the present run */
    int way;
    trv_fabric_op_t *op;
    int ops;
    trv_transport_t transport;
    trv_region_t region[3]; /* where the provider must know memory: input, output, scratch */
    const char *start[3];
    size_t bytes[3];
} trv_channel_t;

void trv_channel_init(trv_channel_t *channel, trv_net_comm_t *comm);
int trv_channel_register(trv_channel_t *channel, int which, const void *data, size_t bytes);
void trv_channel_unregister(trv_channel_t *channel, int which);

/* A plan of the executor, and the request that runs it. */
typedef struct trv_instance {
    trv_pooled_t pooled; /* first: the address of one is that of the other */
    struct trv_net_request request;
    struct trv_kind *kind;
    trv_channel_t channel;
    trv_plan_t *plan;
    void *scratch;
    size_t scratch_bytes;
    bool started;
    bool only_makes; /* the request is over once the plan is there, and has no buffers */
    const void *input;
    void *output;
    size_t count;
} trv_instance_t;

/* The broadcast of the communicator's rank 0. */
typedef struct trv_broadcast {
    trv_decision_t decision;
    int32_t collective, type, op; /* rank 0's call, which the other ranks compare with theirs */
} trv_broadcast_t;

/* One kind of collective on a communicator. */
typedef struct trv_kind {
    trv_cached_t cached; /* first: the address of one is that of the other; each instance in use holds a reference */
    trv_net_comm_t *comm;
    trv_collective_t collective;
    trv_elements_t elements;
    uint64_t bytes; /* the class of sizes */
    char wanted[TRV_ALGORITHM_NAME_MAX];
    pthread_mutex_t lock; /* of all below */
    bool decided;
    trv_broadcast_t broadcast;
    trv_spread_t spread;
    const trv_schedule_t *schedule;
    trv_schedule_t *made;
    trv_pool_t pool; /* of instances that no request uses */
} trv_kind_t;

/* choose.c: what is planned for, and the choice of comm's rank 0. */
trv_simulate_options_t trv_net_simulation(const trv_net_t *net, const trv_network_t *network);
void trv_net_choose(const trv_kind_t *kind, trv_decision_t *decision);

/* kind.c. The caller may set kind->schedule, which it owns, before trv_kind_decide; then nothing is decided. */
int trv_kind_make(trv_kind_t **kind, trv_net_comm_t *comm, trv_collective_t collective, const trv_elements_t *elements,
                  uint64_t bytes, const char *wanted);
/* Lets the decision be made. Collective. An instance is taken before, which waits for it. */
int trv_kind_decide(trv_kind_t *kind);
/* Frees it, at once or when its last instance is given back. */
void trv_kind_release(trv_kind_t *kind);
/* One that is free, or new. */
int trv_instance_take(trv_kind_t *kind, trv_instance_t **instance);
void trv_instance_give(trv_instance_t *instance);
/* Its request is to run the collective on these buffers; or to make the plan for runs of that count. */
void trv_instance_begin(trv_instance_t *instance, uint64_t inner, const void *input, void *output, size_t count);
void trv_instance_make(trv_instance_t *instance, size_t count);
/* collective.c: as trv_buffers_check, and of a count that memory can hold. */
int trv_net_check_buffers(const trv_net_comm_t *comm, trv_collective_t collective, const trv_elements_t *elements,
                          size_t count, const void *input, const void *output);
uint64_t trv_net_vector_bytes(const trv_net_comm_t *comm, trv_collective_t collective, const trv_elements_t *elements,
                              size_t count);

#endif
