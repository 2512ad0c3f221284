/*
 * Trivance without MPI: the processes of a job connect through the address of rank 0, and run collectives and
 * point-to-point messages over libfabric. Each message of a schedule uses the network interface of the port that the
 * schedule assigns to it. Link libtrivance_net (pkg-config trivance-net, CMake trivance::net).
 *
 *     trv_net_t *net;
 *     if (trv_net_init(&net, NULL) != 0 ||             // MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE, TRIVANCE_SECRET
 *         trv_net_allreduce(trv_net_world(net), gradient, gradient, count, TRV_FLOAT, TRV_SUM) != 0)
 *         fprintf(stderr, "%s\n", trv_last_error());
 *     trv_net_finalize(&net);
 *
 * Return values: 0 or a negative TRV_ERR_*, with the reason as a sentence in trv_last_error() of the calling thread.
 * If a call that starts an operation returns TRV_ERR_ARGUMENT, TRV_ERR_UNSUPPORTED, TRV_ERR_STATE or TRV_ERR_MEMORY,
 * nothing was sent, and the next call may succeed. TRV_ERR_TRANSPORT: the net is *broken*. A net breaks on all its
 * ranks together, and permanently: when a rank dies, aborts, receives another message than it expects, or waits longer
 * than the timeout. Then every call, including those that wait, returns the same sentence on every rank, the caller
 * owns its buffers again, and only trv_net_finalize is allowed (after which a new net may be created).
 *
 * Order: all ranks of a communicator call its collectives (blocking and non-blocking ones, creation of plans, splits)
 * in the same order, as MPI requires. Non-blocking collectives of different communicators may be started in any order.
 *
 * Progress: any call that tests or waits makes progress on all operations that this process has started, by any thread.
 * Between such calls nothing progresses except what the provider does asynchronously. Where hosts do not forward
 * (docs/small-clusters.md), a thread of each process relays messages between other ranks.
 *
 * Threads: any function may be called by any number of threads at the same time, except that a request, a plan, or a
 * communicator is not freed while another thread uses it; that one request or plan is tested and waited for by one
 * thread at a time; and that threads which share a communicator agree on the order of its collectives. trv_net_abort
 * may be called at any time, also while other threads wait. Nets are independent of each other; a process may have
 * several. After fork(), the child may not use its parent's nets.
 *
 * Results are bitwise identical on all ranks, whatever the type, unless an algorithm is named that is not consistent
 * (trivance-l adds floating-point numbers in a different order on every rank).
 *
 * Stability: experimental.
 */
#ifndef TRIVANCE_NET_H
#define TRIVANCE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/common.h>
#include <trivance/execute.h>
#include <trivance/reduce.h>
#include <trivance/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct trv_net trv_net_t;                  /* this process's membership in a job */
typedef struct trv_net_comm trv_net_comm_t;        /* a communicator: an ordered set of ranks of the job */
typedef struct trv_net_plan trv_net_plan_t;        /* a prepared collective */
typedef struct trv_net_request *trv_net_request_t; /* an operation that was started */
#define TRV_NET_REQUEST_NULL ((trv_net_request_t)0)

/* ---- Start and end ----------------------------------------------------------------------------------------------- */

/* Members that are NULL or 0, and a negative rank, are taken from the environment. If the environment specifies none of
 * rank, ranks and address, a launcher that provides PMIx supplies them. Strings are copied. The provider, torus,
 * algorithm and timeout of rank 0 apply to all ranks. */
typedef struct trv_net_options {
    size_t size;            /* of this struct, as the caller knows it: begin with {TRV_NET_OPTIONS} */
    int rank;               /* 0 … ranks - 1; negative: RANK */
    int ranks;              /* 0: WORLD_SIZE */
    const char *address;    /* on which rank 0 listens: a host name or a numeric address; NULL: MASTER_ADDR */
    int port;               /* of rank 0, TCP; 0: MASTER_PORT, or the next one if torchrun itself uses that */
    const char *secret;     /* shared by the job's ranks, any text; NULL: TRIVANCE_SECRET. See docs/connections.md for
                              a job without one */
    const char *provider;   /* of libfabric, "tcp" for example; NULL: TRIVANCE_PROVIDER, else the first that works */
    const char *ports;      /* the interface of each port, "+0=eth1,-0=eth2", or the interfaces among which they are
                              detected, "eth1,eth2", "10.1.0.0/16"; NULL: TRIVANCE_PORTS, else all interfaces */
    const char *torus;      /* that the ranks form, "3x3"; NULL: TRIVANCE_TORUS, else a ring */
    const char *algorithm;  /* a name or a family of `trivance list`; NULL: TRIVANCE_ALGORITHM, else the planner's
                              choice */
    double start_timeout_s; /* until all ranks are connected; 0: TRIVANCE_START_TIMEOUT, else 30 */
    double timeout_s;       /* of a collective from its start, and of a message from the first time that a thread waits
                               for it or tests it; only time counts in which threads make progress. 0:
                               TRIVANCE_TIMEOUT, else unlimited. It enables the flight recorder, which handles SIGUSR1,
                               too */
    bool listen_everywhere; /* rank 0 listens on all addresses of its host instead of `address` */
    /* Alternative bootstrap by the broadcast of a launcher or framework: `bootstrap_broadcast` broadcasts the `bytes`
     * bytes at `data` from rank 0 to all ranks (MPI_Bcast, or set and get of a key-value store). It is called once,
     * also on ranks with invalid options. Rank 0 then listens on a free port of `address` (NULL: of all addresses of
     * its host, which the other ranks try in turn), and generates a random secret; all ranks receive these by the
     * broadcast. It returns 0, or a negative code, which trv_net_init returns. NULL: all ranks have the address, or
     * PMIx provides it. */
    int (*bootstrap_broadcast)(void *context, void *data, size_t bytes);
    void *bootstrap_context;
    /* Receives messages that are not errors of this process, for example about refused connections. May be called from
     * a thread of the library; must not call functions of this library. NULL: stderr, unless TRIVANCE_DEBUG is off. */
    void (*log)(void *context, const char *sentence);
    void *log_context;
} trv_net_options_t;
#define TRV_NET_OPTIONS TRV_SIZED_WITH(trv_net_options_t, TRV_MEMBER(rank) = -1)

/* Joins the job. Collective: returns when all ranks have joined, or with an error within start_timeout_s. options may
 * be NULL. */
TRV_API int trv_net_init(trv_net_t **net, const trv_net_options_t *options);
/* Leaves the job and frees everything, communicators, plans and requests included; sets *net to NULL. Waits until all
 * ranks leave (for up to start_timeout_s), unless the net is broken. Nothing may be pending, unless the net is broken:
 * then its requests end with it, and must not be waited for afterwards. */
TRV_API int trv_net_finalize(trv_net_t **net);
/* Breaks the net on all ranks: their calls fail with "rank 3 has aborted: REASON". */
TRV_API void trv_net_abort(trv_net_t *net, const char *reason);
/* Makes progress without waiting. Returns 0, or the error of the net if it is broken. */
TRV_API int trv_net_progress(trv_net_t *net);

/* ---- Communicators ----------------------------------------------------------------------------------------------- */

/* All ranks of the job; lives as long as the net. */
TRV_API trv_net_comm_t *trv_net_world(trv_net_t *net);
TRV_API int trv_net_rank(const trv_net_comm_t *comm); /* of this process, 0 … size - 1 */
TRV_API int trv_net_size(const trv_net_comm_t *comm);
/* The rank in the world of a rank of the communicator; negative if the communicator has no such rank. */
TRV_API int trv_net_world_rank(const trv_net_comm_t *comm, int rank);

/* Collective over `comm`: the ranks with the same color form a communicator, ordered by key, then by rank. On a rank
 * with a negative color *created is NULL. */
TRV_API int trv_net_split(trv_net_comm_t *comm, int color, int key, trv_net_comm_t **created);
/* Not collective. Free the communicator's plans first; no operation may be pending, also if the net is broken
 * (trv_net_finalize frees the communicators of pending requests). The world is not freed. */
TRV_API void trv_net_comm_free(trv_net_comm_t **comm);
/* Sets the torus that the communicator's ranks form, numbered row-major with the last dimension fastest, and the
 * algorithm of later collectives. Collective. All ranks pass the same values, which is not checked; the algorithm of
 * rank 0 applies. NULL leaves either unchanged; "" selects a ring, or the planner's choice. */
TRV_API int trv_net_comm_set(trv_net_comm_t *comm, const char *torus, const char *algorithm);

/* ---- Collectives ------------------------------------------------------------------------------------------------- */

/* Counts are in elements: of the whole vector for AllReduce and reduce, of one rank's block for the other collectives
 * (the input of Reduce-Scatter, scatter and all-to-all, and the output of AllGather, gather and all-to-all, have
 * size * count elements). All ranks pass the same root, which is one of the communicator's ranks.
 *
 * input == output means in place: for Reduce-Scatter the result is at the start of the buffer; for AllGather, and for
 * gather on the root, rank r's block is read from block r of the output; for scatter on the root, its own block stays
 * in the input. Otherwise the buffers must not overlap. Only the root has an output of reduce and gather, and an input
 * of scatter; the other ranks may pass NULL, and what they pass is not accessed.
 *
 * In the first call with an operation signature (collective, type, operation) and class of sizes on a communicator,
 * rank 0 selects an algorithm and broadcasts its choice, and all ranks vote whether they can execute it: such a call
 * returns when all ranks have called it, and fails on all ranks if their arguments differ. Later calls with any count
 * in the class and any root neither select nor wait for a vote. On a torus with a dimension that is a line each root
 * has a choice of its own. A communicator keeps the 256 that were used last, prepared for at most 128 further roots.
 *
 * Later calls of broadcast, reduce, scatter and gather may return before other ranks have called them: when this rank
 * has sent and received its own messages, and is at most 64 such calls (of vectors above 1 MiB, two) ahead of each rank
 * to which it has sent one. */
TRV_API int trv_net_allreduce(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                              trv_op_t op);
TRV_API int trv_net_reduce_scatter(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                                   trv_op_t op);
TRV_API int trv_net_allgather(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type);
/* Returns when all ranks have called it. */
TRV_API int trv_net_barrier(trv_net_comm_t *comm);
/* Copies the buffer of the root to the buffers of all other ranks. */
TRV_API int trv_net_broadcast(trv_net_comm_t *comm, void *buffer, size_t bytes, int root);
/* The root receives the result. Inputs are not changed, except in place on the root. */
TRV_API int trv_net_reduce(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                           trv_op_t op, int root);
/* Rank r receives block r of the root's input. */
TRV_API int trv_net_scatter(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                            int root);
/* The root receives the input of rank r as block r of its output. */
TRV_API int trv_net_gather(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                           int root);
/* Rank r receives block r of the input of rank s as block s of its output. */
TRV_API int trv_net_alltoall(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type);

/* With a size per rank. Counts and displacements are in elements: block r, of rank r, has counts[r] elements and begins
 * at element displacements[r] of a buffer with all blocks; displacements == NULL: one after the other. Blocks of an
 * output must not overlap (TRV_ERR_ARGUMENT). Blocks of 0 elements are not sent. The arrays are copied. In place is as
 * above.
 *
 * All ranks pass the same counts to allgatherv and reduce_scatterv, which execute the schedules of AllGather and
 * Reduce-Scatter; displacements may differ between ranks. Rank 0 selects an algorithm for each class of the size of all
 * blocks together.
 *
 * In the other three no rank knows all sizes. gatherv and scatterv read counts and displacements on the root only, and
 * every rank passes its own count. Each rank sends at most one message to each other rank. Both sides must pass the
 * same length: a difference breaks the net; if one of them is 0, a rank waits until the timeout, or a message remains.
 *
 * Each of these calls may return before other ranks have called it, as broadcast does (for long messages, see
 * there). */
TRV_API int trv_net_allgatherv(trv_net_comm_t *comm, const void *input, void *output, const size_t *counts,
                               const size_t *displacements, trv_type_t type);
TRV_API int trv_net_reduce_scatterv(trv_net_comm_t *comm, const void *input, void *output, const size_t *counts,
                                    const size_t *displacements, trv_type_t type, trv_op_t op);
/* The rank sends block r of its input to rank r, whose data become block r of its output. In place the blocks to send
 * are those of the output; send_counts and send_displacements are not read. */
TRV_API int trv_net_alltoallv(trv_net_comm_t *comm, const void *input, const size_t *send_counts,
                              const size_t *send_displacements, void *output, const size_t *receive_counts,
                              const size_t *receive_displacements, trv_type_t type);
TRV_API int trv_net_gatherv(trv_net_comm_t *comm, const void *input, size_t count, void *output, const size_t *counts,
                            const size_t *displacements, trv_type_t type, int root);
TRV_API int trv_net_scatterv(trv_net_comm_t *comm, const void *input, const size_t *counts, const size_t *displacements,
                             void *output, size_t count, trv_type_t type, int root);

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

/* Messages between two ranks with the same tag (0 … TRV_NET_TAG_MAX) on the same communicator match in order. The
 * receiver specifies the exact length; a message of another length breaks the net. 0 bytes are allowed. A rank may send
 * to itself if it does not wait for the send before it receives. A send may complete before its receive is posted; at
 * most 64 messages to a rank do so. Messages are sent at once, so receives may be posted in any order; but a send that
 * is more than 64 messages ahead completes only after the messages before it have been received. */
#define TRV_NET_TAG_MAX 0x7fffff
TRV_API int trv_net_send(trv_net_comm_t *comm, const void *data, size_t bytes, int peer, int tag);
TRV_API int trv_net_receive(trv_net_comm_t *comm, void *data, size_t bytes, int peer, int tag);

/* ---- Non-blocking ------------------------------------------------------------------------------------------------ */

/* The same operations without waiting. The library owns the buffers until the request is complete. If a start fails,
 * *request is TRV_NET_REQUEST_NULL. Any number of requests may be pending, but the start of a collective may wait for
 * one that was started up to 8192 calls before on the same communicator. */
TRV_API int trv_net_allreduce_start(trv_net_comm_t *comm, const void *input, void *output, size_t count,
                                    trv_type_t type, trv_op_t op, trv_net_request_t *request);
TRV_API int trv_net_reduce_scatter_start(trv_net_comm_t *comm, const void *input, void *output, size_t count,
                                         trv_type_t type, trv_op_t op, trv_net_request_t *request);
TRV_API int trv_net_allgather_start(trv_net_comm_t *comm, const void *input, void *output, size_t count,
                                    trv_type_t type, trv_net_request_t *request);
TRV_API int trv_net_barrier_start(trv_net_comm_t *comm, trv_net_request_t *request);
TRV_API int trv_net_broadcast_start(trv_net_comm_t *comm, void *buffer, size_t bytes, int root,
                                    trv_net_request_t *request);
TRV_API int trv_net_reduce_start(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                                 trv_op_t op, int root, trv_net_request_t *request);
TRV_API int trv_net_scatter_start(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                                  int root, trv_net_request_t *request);
TRV_API int trv_net_gather_start(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                                 int root, trv_net_request_t *request);
TRV_API int trv_net_alltoall_start(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                                   trv_net_request_t *request);
TRV_API int trv_net_allgatherv_start(trv_net_comm_t *comm, const void *input, void *output, const size_t *counts,
                                     const size_t *displacements, trv_type_t type, trv_net_request_t *request);
TRV_API int trv_net_reduce_scatterv_start(trv_net_comm_t *comm, const void *input, void *output, const size_t *counts,
                                          const size_t *displacements, trv_type_t type, trv_op_t op,
                                          trv_net_request_t *request);
TRV_API int trv_net_alltoallv_start(trv_net_comm_t *comm, const void *input, const size_t *send_counts,
                                    const size_t *send_displacements, void *output, const size_t *receive_counts,
                                    const size_t *receive_displacements, trv_type_t type, trv_net_request_t *request);
TRV_API int trv_net_gatherv_start(trv_net_comm_t *comm, const void *input, size_t count, void *output,
                                  const size_t *counts, const size_t *displacements, trv_type_t type, int root,
                                  trv_net_request_t *request);
TRV_API int trv_net_scatterv_start(trv_net_comm_t *comm, const void *input, const size_t *counts,
                                   const size_t *displacements, void *output, size_t count, trv_type_t type, int root,
                                   trv_net_request_t *request);
TRV_API int trv_net_send_start(trv_net_comm_t *comm, const void *data, size_t bytes, int peer, int tag,
                               trv_net_request_t *request);
TRV_API int trv_net_receive_start(trv_net_comm_t *comm, void *data, size_t bytes, int peer, int tag,
                                  trv_net_request_t *request);

/* Makes progress. If the request is complete, also with an error, *done is true, and the request is freed and set to
 * TRV_NET_REQUEST_NULL. TRV_NET_REQUEST_NULL is complete. */
TRV_API int trv_net_test(trv_net_request_t *request, bool *done);
TRV_API int trv_net_wait(trv_net_request_t *request);
/* Waits for about `seconds`; if there is no progress, for up to 0.1 s longer. *done as in trv_net_test. */
TRV_API int trv_net_wait_for(trv_net_request_t *request, double seconds, bool *done);
/* Waits for all requests, even after an error; returns the first error. */
TRV_API int trv_net_wait_all(trv_net_request_t *request, int requests);

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* A prepared collective: create it once, run it any number of times, on any buffers, with the count for which it was
 * created. The runs of one plan follow each other; different plans may run at the same time and may be started in any
 * order. After its first run a plan does not allocate memory. */
typedef struct trv_net_plan_options {
    size_t size;                    /* of this struct, as the caller knows it: begin with {TRV_NET_PLAN_OPTIONS} */
    const char *algorithm;          /* NULL: the communicator's, else the planner's choice */
    const trv_schedule_t *schedule; /* a user-defined schedule, the same on all ranks, which must outlive the plan and
                                       should have passed trv_verify; or NULL */
    const trv_elements_t *elements; /* user-defined elements and reduction, which replace type and op; the reduction
                                       must be commutative and associative; or NULL */
    int root;                       /* of a collective with a root; otherwise 0 */
} trv_net_plan_options_t;
#define TRV_NET_PLAN_OPTIONS TRV_SIZED(trv_net_plan_options_t)

/* Collective; options may be NULL. */
TRV_API int trv_net_plan_create(trv_net_plan_t **plan, trv_net_comm_t *comm, trv_collective_t collective, size_t count,
                                trv_type_t type, trv_op_t op, const trv_net_plan_options_t *options);
/* TRV_ERR_STATE if the plan is running. */
TRV_API int trv_net_plan_start(trv_net_plan_t *plan, const void *input, void *output);
/* *done is also true if the plan was never started. */
TRV_API int trv_net_plan_test(trv_net_plan_t *plan, bool *done);
TRV_API int trv_net_plan_wait(trv_net_plan_t *plan);
TRV_API int trv_net_plan_run(trv_net_plan_t *plan, const void *input, void *output); /* starts and waits */
/* Not collective; sets *plan to NULL. TRV_ERR_STATE if it is running. */
TRV_API int trv_net_plan_free(trv_net_plan_t **plan);

typedef struct trv_net_plan_info {
    size_t size;           /* of this struct, as the caller knows it: begin with {TRV_NET_PLAN_INFO} */
    const char *algorithm; /* valid as long as the plan */
    char torus[96];        /* "3x3" */
    int steps;
    size_t bytes_sent;    /* payload that this rank sends in a run */
    size_t scratch_bytes; /* memory that the plan holds in addition to the user's buffers */
} trv_net_plan_info_t;
#define TRV_NET_PLAN_INFO TRV_SIZED(trv_net_plan_info_t)
TRV_API int trv_net_plan_query(const trv_net_plan_t *plan, trv_net_plan_info_t *info);

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

/* A network interface of this rank, and its traffic so far (payload of schedules, broadcasts and messages). */
typedef struct trv_net_port {
    size_t size;        /* of this struct, as the caller knows it: begin with {TRV_NET_PORT} */
    char interface[64]; /* name that the provider uses, such as "eth1" */
    char provider[64];  /* such as "tcp;ofi_rxm" */
    char address[128];  /* of the local endpoint, in the format of libfabric */
    char ports[128];    /* ports of the torus whose messages are sent through the interface, such as "+0,-1" */
    uint64_t bytes_sent, bytes_received, messages_sent, messages_received;
} trv_net_port_t;
#define TRV_NET_PORT TRV_SIZED(trv_net_port_t)
TRV_API int trv_net_ports(const trv_net_t *net); /* number of interfaces */
TRV_API int trv_net_port(const trv_net_t *net, int index, trv_net_port_t *port);

#ifdef __cplusplus
}
#endif
#endif
