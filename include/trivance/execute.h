/*
 * The executor: a schedule, real data, a transport.
 *
 * trv_plan_create compiles one rank's schedule once into work descriptors; the plan is then run any number of times
 * without allocating anything. The vector is cut into chunks; every (stream, chunk) is a *lane* that goes through the
 * steps on its own, so that the steps of different chunks overlap (chunk-level pipelining, paper appendix E).
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

/* What a transport implements. Requests are numbered 0 … requests - 1 by the plan; each slot holds one operation at a
 * time. Messages of the same (sender, receiver, tag) match in the order of their calls. Functions return 0 or a
 * negative TRV_ERR_*; `test` returns 1 when the operation in the slot is complete, 0 when not yet. A send may be
 * complete before the receiver has posted its receive, but need not; its buffer must stay untouched until it is.
 * `cancel` gives up an operation that is still pending (error paths only). Tags are 0 … tags - 1 as announced to
 * `open`: at most TRV_PLAN_TAGS_MAX of them, and one more (the first) with trv_plan_options_t.check.
 *
 * Failure. A receive whose message had another length than was asked for is TRV_ERR_TRANSPORT. After a negative `test`
 * the operation is over, its message taken or lost. Plans never send empty messages, except one: when a rank's part of a
 * run fails, its plan sends every peer that still expects something of it on a tag one message of 0 bytes there, and
 * then only receives what is due to it, so that everybody's operations come to an end. `test` of a receive returns
 * TRV_REFUSED for it. `refuse` sends such a message and forgets it, without a slot; with NULL, or where it fails, the
 * plan uses `send` with 0 bytes. */
enum { TRV_REFUSED = 2, TRV_PLAN_TAGS_MAX = 64 };
typedef struct trv_transport {
    void *context;
    int (*open)(void *context, int requests, int tags, int *base); /* *base: handle of this plan's requests and tags */
    void (*close)(void *context, int base);
    int (*send)(void *context, int base, int slot, int peer, int tag, const void *data, size_t bytes);
    int (*receive)(void *context, int base, int slot, int peer, int tag, void *data, size_t bytes);
    int (*test)(void *context, int base, int slot);
    int (*cancel)(void *context, int base, int slot);
    int (*refuse)(void *context, int base, int peer, int tag); /* may be NULL */
} trv_transport_t;

/* The in-process transport: n ranks of one process, one thread or many. A hub outlives its endpoints. */
typedef struct trv_hub trv_hub_t;
TRV_API int trv_hub_create(trv_hub_t **hub, int ranks);
TRV_API void trv_hub_destroy(trv_hub_t *hub);
/* The transport of one rank; owned by the hub. An endpoint is used by one thread at a time. */
TRV_API const trv_transport_t *trv_hub_transport(trv_hub_t *hub, int rank);

/* ---- Plans ----------------------------------------------------------------------------------------------------- */

/* Elements and how they are combined. Either a built-in type and operation, or (reduce != NULL) elements of
 * `element_size` bytes and a callback that does destination := source[0] op source[1] op …, with the contract of
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
    size_t chunk_bytes; /* pipeline in chunks of about this many bytes of the vector; 0: chosen by the library */
    bool check;         /* debug: ranks compare count, element size, collective and algorithm before every run and
                           return TRV_ERR_INVALID on all of them alike where they differ */
    /* Where the scratch of a run comes from: taken at its start (none if it needs none), aligned to 64 bytes, given back
     * at its end, whatever the end is. NULL is out of memory. Without them the plan keeps its own. */
    void *(*scratch_take)(void *context, size_t bytes);
    void (*scratch_give)(void *context, void *memory, size_t bytes);
    void *scratch_context;
} trv_plan_options_t;
#define TRV_PLAN_OPTIONS .size = sizeof(trv_plan_options_t)

typedef struct trv_plan trv_plan_t;

/* Compiles `rank`'s part of the schedule, for vectors of `count` elements at first: the whole vector for AllReduce, one
 * rank's block for Reduce-Scatter and AllGather (as MPI's recvcount and sendcount). The schedule must outlive the plan.
 * Any count, 0 too. Refuses (TRV_ERR_INVALID) a schedule that only covers, unless the operation is idempotent, and
 * (TRV_ERR_UNSUPPORTED) one of more than TRV_PLAN_TAGS_MAX streams. */
TRV_API int trv_plan_create(trv_plan_t **plan, const trv_schedule_t *schedule, int rank, size_t count,
                            const trv_elements_t *elements, const trv_transport_t *transport,
                            const trv_plan_options_t *options /* may be NULL */);
/* A second plan of the same schedule, rank, count and options over the same compiled program, for other elements or
 * another transport. Both plans are equal from then on; they may be used by different threads at the same time, and the
 * program goes with the last one. */
TRV_API int trv_plan_create_like(trv_plan_t **made, const trv_plan_t *plan, const trv_elements_t *elements,
                                 const trv_transport_t *transport);
TRV_API void trv_plan_destroy(trv_plan_t *plan);

/* Starts the collective. AllReduce: input and output hold `count` elements. Reduce-Scatter: input n * count, output
 * count. AllGather: input count, output n * count. input == output means in place, as MPI_IN_PLACE does: for
 * Reduce-Scatter the result lies at the start of the buffer, for AllGather rank r's block is taken from block r of the
 * output. Otherwise the two must not overlap (TRV_ERR_ARGUMENT). The buffers stay the plan's until the end.
 *
 * What fails after others may have begun, memory for scratch too, is told by trv_plan_test or trv_plan_wait: the plan
 * first tells its peers, and lets those messages end that are on their way. */
TRV_API int trv_plan_start(trv_plan_t *plan, const void *input, void *output);
/* The same with another count, which is that of later starts, too. A start with the count of the one before, or a
 * smaller one, allocates nothing. */
TRV_API int trv_plan_start_count(trv_plan_t *plan, size_t count, const void *input, void *output);
/* An AllReduce as trv_plan_start_count starts it, whose input is not there yet (TRV_ERR_UNSUPPORTED for the other
 * collectives). trv_plan_feed says that the first so many elements are; the plan begins with what it has, and touches
 * nothing behind it. The run ends when all were there. The other ranks' runs are started as ever. */
TRV_API int trv_plan_start_fed(trv_plan_t *plan, size_t count, const void *input, void *output);
TRV_API void trv_plan_feed(trv_plan_t *plan, size_t elements);
/* Of the present run: so many elements of the result, from the first one on, are final. They may be read, but not be
 * written before the run has ended. 0 in a run that fails. */
TRV_API size_t trv_plan_ready(const trv_plan_t *plan);
/* Makes a run that is not over fail on this rank, with the code and this thread's trv_last_error(); drive it to its end,
 * as ever: the others hear of it. */
TRV_API void trv_plan_give_up(trv_plan_t *plan, int code);
/* For a rank that cannot take part in a run, with a code and this thread's last error: starts one that touches no buffer
 * and fails, so that the other ranks hear of it. Drive it to its end with trv_plan_test or trv_plan_wait. */
TRV_API int trv_plan_refuse(trv_plan_t *plan, size_t count, int code);
/* Makes progress; 1 when complete, 0 when not yet, negative on failure (the buffers are then the caller's again). Never
 * blocks. */
TRV_API int trv_plan_test(trv_plan_t *plan);
/* Polls until complete, with sched_yield() after a few empty polls. */
TRV_API int trv_plan_wait(trv_plan_t *plan);
/* start and wait. */
TRV_API int trv_plan_run(trv_plan_t *plan, const void *input, void *output);

/* Bytes of payload this rank sends in one run of the present count (the executor's, element-exact), bytes of scratch
 * that such a run needs, and bytes of the compiled program, which plans that are alike share. */
TRV_API size_t trv_plan_bytes_sent(const trv_plan_t *plan);
TRV_API size_t trv_plan_scratch_bytes(const trv_plan_t *plan);
TRV_API size_t trv_plan_memory_bytes(const trv_plan_t *plan);
/* One line for a hang's diagnosis: "rank 0: lane 3 of 8, chunk 11 of 16, step 2 of 4, waits for ranks 1, 8; …" for the
 * lanes that are not done, the first four of them. Writes at most text_size bytes. */
TRV_API void trv_plan_describe(const trv_plan_t *plan, char *text, size_t text_size);
/* The same, with rank r of the plan called name[r]; name may be NULL. */
TRV_API void trv_plan_describe_as(const trv_plan_t *plan, const int *name, char *text, size_t text_size);

#ifdef __cplusplus
}
#endif
#endif
