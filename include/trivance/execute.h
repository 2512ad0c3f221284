/*
 * The executor: runs a schedule on data over a transport.
 *
 * trv_plan_create compiles one rank's schedule once into work descriptors; the plan is then run any number of times
 * without allocating anything. The vector is cut into chunks; every (stream, chunk) is a *lane* that executes the steps
 * independently, so that the steps of different chunks overlap (chunk-level pipelining, paper appendix D).
 *
 * Stability: stable.
 */
#ifndef TRIVANCE_EXECUTE_H
#define TRIVANCE_EXECUTE_H

#include <stdbool.h>
#include <stddef.h>

#include <trivance/common.h>
#include <trivance/reduce.h>
#include <trivance/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Transport ------------------------------------------------------------------------------------------------- */

/* The functions of a transport. Requests have the slots 0 … requests - 1; each slot holds one operation at a time.
 * Messages of the same (sender, receiver, tag) match in call order. Functions return 0 or a negative TRV_ERR_*;
 * `test` returns 1 if the operation in the slot is complete and 0 if it is not. A send may complete before the
 * receiver posts its receive, but need not; its buffer must not be modified until it completes. `cancel` (error paths
 * only) abandons the operation of a slot: a pending one, or a `send` that has failed, of which a part may have been
 * posted, or nothing; then it returns 0. It returns 0 when nothing accesses the operation's buffer any more, or 1 for a
 * send that cannot be cancelled and may still read its buffer; the plan then neither frees nor reuses its scratch.
 * Tags are 0 … tags - 1, as passed to `open`: at most TRV_PLAN_TAGS_MAX, and one more (the first) with
 * trv_plan_options_t.check. Plans do not send empty messages.
 *
 * A receive whose message has an unexpected length fails with TRV_ERR_TRANSPORT, and nothing is written past its
 * buffer. After a negative `test` the operation is over. */
enum { TRV_PLAN_TAGS_MAX = 64 };
typedef struct trv_transport {
    size_t size; /* of this struct, as the caller knows it: begin with {TRV_TRANSPORT} */
    void *context;
    int (*open)(void *context, int requests, int tags, int *base); /* *base: handle of this plan's requests and tags */
    void (*close)(void *context, int base);
    int (*send)(void *context, int base, int slot, int peer, int tag, const void *data, size_t bytes);
    int (*receive)(void *context, int base, int slot, int peer, int tag, void *data, size_t bytes);
    int (*test)(void *context, int base, int slot);
    int (*cancel)(void *context, int base, int slot);
    /* May be NULL. Else called before every send and receive of a schedule's message: the sender's port (trv_port) by
     * which it leaves, for transports that have a connection for each. */
    void (*port)(void *context, int base, int port);
} trv_transport_t;
#define TRV_TRANSPORT TRV_SIZED(trv_transport_t)

/* The in-process transport: n ranks of one process, one thread or many. The loopback must outlive its endpoints. */
typedef struct trv_loopback trv_loopback_t;
TRV_API int trv_loopback_create(trv_loopback_t **loopback, int ranks);
TRV_API void trv_loopback_destroy(trv_loopback_t *loopback);
/* The transport of one rank; owned by the loopback. An endpoint is used by one thread at a time. */
TRV_API const trv_transport_t *trv_loopback_transport(trv_loopback_t *loopback, int rank);

/* ---- Plans ----------------------------------------------------------------------------------------------------- */

/* Elements and how they are combined: either a built-in type and operation, or (reduce != NULL) elements of
 * `element_size` bytes and a callback that computes destination := source[0] op source[1] op …, with the contract of
 * trv_reduce. */
typedef struct trv_elements {
    trv_type_t type;
    trv_op_t op;
    size_t element_size;
    int (*reduce)(void *context, void *destination, const void *const *source, int sources, size_t count);
    void *reduce_context;
} trv_elements_t;

typedef struct trv_plan_options {
    size_t size;        /* of this struct, as the caller knows it: begin with {TRV_PLAN_OPTIONS} */
    size_t chunk_bytes; /* approximate bytes of the vector per chunk; 0: the library chooses */
    bool check;         /* debug: ranks compare count (or sizes of blocks), element size, collective and algorithm
                           before every run; all return TRV_ERR_INVALID if these differ */
    /* Allocate and free the scratch memory of a run. A run that needs scratch allocates it at its start, aligned to
     * 64 bytes, and frees it at its end; after a failed run it is not freed if a send may still read it
     * (trv_transport_t.cancel). A result of NULL means out of memory. Without these functions the plan allocates
     * scratch itself. */
    void *(*scratch_allocate)(void *context, size_t bytes);
    void (*scratch_free)(void *context, void *memory, size_t bytes);
    void *scratch_context;
} trv_plan_options_t;
#define TRV_PLAN_OPTIONS TRV_SIZED(trv_plan_options_t)

typedef struct trv_plan trv_plan_t;

/* Compiles `rank`'s part of the schedule, initially for `count` elements: the whole vector for AllReduce, one rank's
 * block for Reduce-Scatter and AllGather (as MPI's recvcount and sendcount). Any count is valid, including 0. The
 * schedule must outlive the plan. TRV_ERR_INVALID if the schedule only covers and the operation is not idempotent;
 * TRV_ERR_UNSUPPORTED if it has more than TRV_PLAN_TAGS_MAX streams. */
TRV_API int trv_plan_create(trv_plan_t **plan, const trv_schedule_t *schedule, int rank, size_t count,
                            const trv_elements_t *elements, const trv_transport_t *transport,
                            const trv_plan_options_t *options /* may be NULL */);
/* Creates a second plan of the same schedule, rank, count and options that shares the compiled program, for other
 * elements or another transport. The two plans are peers: different threads may use them at the same time, and the
 * program is freed with the last of them. */
TRV_API int trv_plan_create_like(trv_plan_t **made, const trv_plan_t *plan, const trv_elements_t *elements,
                                 const trv_transport_t *transport);
TRV_API void trv_plan_destroy(trv_plan_t *plan);

/* Starts the collective. AllReduce: input and output hold `count` elements. Reduce-Scatter: input n * count, output
 * count. AllGather: input count, output n * count. input == output means in place, as MPI_IN_PLACE does: for
 * Reduce-Scatter the result is at the start of the buffer, for AllGather rank r's block is taken from block r of the
 * output. Otherwise the two must not overlap (TRV_ERR_ARGUMENT). The plan owns the buffers until the run ends.
 *
 * A start that fails has sent nothing, and the plan can be started again (except with trv_plan_options_t.check). A run
 * that fails later does so on this rank alone: trv_plan_test or trv_plan_wait return the error, and the plan cannot be
 * used any more. Nothing writes to the buffers any more, but a send that the transport cannot cancel may still read
 * them. Other ranks are not notified; they may wait for messages of this one. */
TRV_API int trv_plan_start(trv_plan_t *plan, const void *input, void *output);
/* The same with another count, which also applies to later starts. A start with the previous count, or a smaller one,
 * allocates nothing. */
TRV_API int trv_plan_start_count(trv_plan_t *plan, size_t count, const void *input, void *output);
/* The same for blocks of different sizes, in AllGather, Reduce-Scatter, Gather and Scatter: count[r] elements in the
 * block of rank r, which begins at element displacement[r] of a buffer with all blocks (displacement == NULL: one after
 * the other). All ranks pass the same counts; displacements may differ between ranks, and a rank's own input or output
 * begins at its address. Blocks in an output must not overlap (TRV_ERR_ARGUMENT). Blocks of 0 elements are not sent. In
 * place, a rank's own input (AllGather, Gather on the root) or output (Scatter on the root) is its block at its
 * displacement; the result of Reduce-Scatter is at the start of the buffer, and needs scratch of its size. The arrays
 * are copied, and apply to later calls of trv_plan_start. The first start with different sizes allocates, and so may a
 * start with larger ones; a start with the previous sizes does not. TRV_ERR_UNSUPPORTED for the other collectives. */
TRV_API int trv_plan_start_blocks(trv_plan_t *plan, const size_t *count, const size_t *displacement, const void *input,
                                  void *output);
/* Starts an AllReduce with streamed input: as trv_plan_start_count, but before the input is available
 * (TRV_ERR_UNSUPPORTED for the other collectives). trv_plan_input_ready sets the number of elements, from the first on,
 * that are available; the plan processes these and does not access later ones. The run cannot complete before all are
 * available. Other ranks may start their runs in any way. */
TRV_API int trv_plan_start_streamed(trv_plan_t *plan, size_t count, const void *input, void *output);
TRV_API void trv_plan_input_ready(trv_plan_t *plan, size_t elements);
/* Returns the number of result elements of the current run, from the first on, that are final. They may be read, but
 * not written before the run has ended. */
TRV_API size_t trv_plan_output_ready(const trv_plan_t *plan);
/* Ends an active run on this rank, which then has failed: pending messages are cancelled. */
TRV_API void trv_plan_cancel(trv_plan_t *plan);
/* Makes progress and returns 1 if the run is complete, 0 if it is not, or a negative error (the caller owns the buffers
 * again). Never blocks. */
TRV_API int trv_plan_test(trv_plan_t *plan);
/* Polls until complete, with sched_yield() after a few empty polls. */
TRV_API int trv_plan_wait(trv_plan_t *plan);
/* Starts and waits. */
TRV_API int trv_plan_run(trv_plan_t *plan, const void *input, void *output);

/* Bytes of payload that this rank sends in a run of the current count (exact to the element), bytes of scratch that
 * such a run needs, and bytes of the compiled program, which plans created by trv_plan_create_like share. */
TRV_API size_t trv_plan_bytes_sent(const trv_plan_t *plan);
TRV_API size_t trv_plan_scratch_bytes(const trv_plan_t *plan);
TRV_API size_t trv_plan_memory_bytes(const trv_plan_t *plan);
/* Writes one line to diagnose a hang: "rank 0: lane 3 of 8, chunk 11 of 16, step 2 of 4, waits for ranks 1, 8; …", for
 * the first four incomplete lanes. Writes at most text_size bytes. */
TRV_API void trv_plan_describe(const trv_plan_t *plan, char *text, size_t text_size);
/* The same, where rank r of the plan is printed as name[r]; name may be NULL. */
TRV_API void trv_plan_describe_as(const trv_plan_t *plan, const int *name, char *text, size_t text_size);

/* ---- Direct exchanges ------------------------------------------------------------------------------------------ */

/* All-to-all, gather and scatter with sizes that only the ranks concerned know. Every rank sends its data for another
 * rank in one direct message, in the order of `pairwise`: first those for the next rank, then those for the one after
 * it, and so on. At most TRV_DIRECT_WINDOW sends and as many receives of a rank are in flight: an exchange uses
 * 2 * TRV_DIRECT_WINDOW request slots and one tag. Empty messages are not sent. A receive whose size is not that of the
 * send fails (TRV_ERR_TRANSPORT). If one of the two is 0, this is not detected: the receiver waits for ever, or the
 * message is never received. */
typedef struct trv_direct trv_direct_t;
enum { TRV_DIRECT_WINDOW = 32 };

/* Prepares exchanges of any sizes between the ranks of the torus, which determines the ports and the order. Of the
 * options (may be NULL) only the functions for scratch apply; scratch is needed for an all-to-all in place. */
TRV_API int trv_direct_create(trv_direct_t **direct, const trv_torus_t *torus, int rank,
                              const trv_transport_t *transport, const trv_plan_options_t *options);
TRV_API void trv_direct_destroy(trv_direct_t *direct);

/* Blocks in a buffer: count[r] elements of rank r at element displacement[r] (NULL: one after the other). */
typedef struct trv_direct_blocks {
    const size_t *count, *displacement;
} trv_direct_blocks_t;

/* Start an exchange of elements of `element_size` bytes. The arrays are copied; the exchange owns the buffers until it
 * ends. Failures are those of trv_plan_start. Blocks of an output must not overlap, nor may input and output, except in
 * place (TRV_ERR_ARGUMENT). A start allocates nothing but scratch.
 *
 * All-to-all: the rank sends block r of its input to rank r, and receives block r of its output from it. In place
 * (input == output): the blocks of the output are replaced by those that are received; `send` is not read. */
TRV_API int trv_direct_start_alltoall(trv_direct_t *direct, size_t element_size, const void *input,
                                      const trv_direct_blocks_t *send, void *output,
                                      const trv_direct_blocks_t *receive);
/* Gather: the root receives the `count` elements of rank r as block r of its output. Other ranks pass no `blocks`. In
 * place, on the root only (input == output), its own block stays. */
TRV_API int trv_direct_start_gather(trv_direct_t *direct, int root, size_t element_size, const void *input,
                                    size_t count, void *output, const trv_direct_blocks_t *blocks);
/* Scatter: rank r receives block r of the root's input, `count` elements. The same in the opposite direction. */
TRV_API int trv_direct_start_scatter(trv_direct_t *direct, int root, size_t element_size, const void *input,
                                     const trv_direct_blocks_t *blocks, void *output, size_t count);
/* As the functions of plans with these names. */
TRV_API int trv_direct_test(trv_direct_t *direct);
TRV_API int trv_direct_wait(trv_direct_t *direct);
TRV_API void trv_direct_cancel(trv_direct_t *direct);
/* "rank 0: waits for ranks 1, 8 and for 2 to receive its data", where rank r is printed as name[r] (NULL: r). */
TRV_API void trv_direct_describe_as(const trv_direct_t *direct, const int *name, char *text, size_t text_size);

#ifdef __cplusplus
}
#endif
#endif
