/*
 * Programs of GPUs as plain data, whichever file they come from, and their symbolic run. Readers of MSCCL's XML and of
 * MSCCL++'s execution plans (formats) fill a trv_gpu_program_t; the symbolic engine runs it.
 *
 * Both formats have GPUs, threadblocks that run side by side, and operations that a threadblock does in order. They
 * differ in what orders threadblocks: in MSCCL (TRV_OP_STEP) messages over connections and dependencies between steps
 * of a GPU, in MSCCL++ (all other kinds, `plan` is true) signals, waits and barriers; GPUs write into each other's
 * memory.
 */
#ifndef TRIVANCE_VERIFY_GPU_PROGRAM_H
#define TRIVANCE_VERIFY_GPU_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/schedule.h>

#include "base/span.h"

#define TRV_GPUS_MAX         1024
#define TRV_GPU_BARRIERS_MAX 1024 /* of a GPU */

typedef enum trv_op_kind {
    TRV_OP_NOP,     /* the threads of a threadblock wait for each other */
    TRV_OP_BARRIER, /* so do threadblocks */
    TRV_OP_SIGNAL,
    TRV_OP_WAIT,
    TRV_OP_MOVE, /* from each source to the target with the same number */
    TRV_OP_SUM,  /* of all sources, to every target */
    TRV_OP_STEP  /* of MSCCL: `actions` */
} trv_op_kind_t;

/* Actions of a step, in this order; none: it only waits for another step. */
enum {
    TRV_ACT_RECEIVE = 1, /* from the threadblock's peer … */
    TRV_ACT_SOURCE = 2,  /* … and, or, from the source, both of which are added … */
    TRV_ACT_TARGET = 4,  /* … and the target is added, too */
    TRV_ACT_STORE = 8,   /* to the target */
    TRV_ACT_SEND = 16    /* to the threadblock's peer */
};

/* Consecutive chunks of a GPU's buffer: input (i), output (o) or scratch (s). */
typedef struct trv_gpu_span {
    int gpu, at, size;
    char buffer;
} trv_gpu_span_t;

typedef struct trv_gpu_op {
    trv_op_kind_t kind;
    int first, sources, count; /* operands: spans, sources before targets, or channels of the GPU */
    bool relaxed;              /* a signal that publishes nothing that was written, or a wait that takes nothing over */
    int barrier, blocks;       /* its number, and for how many threadblocks it is */
    int actions;               /* of a step, with one source and one target, unless there are none */
    int wait_block, wait_step; /* of the same GPU, before a step; -1: for nothing */
    bool waited;               /* other steps may wait for this one */
} trv_gpu_op_t;

typedef struct trv_threadblock {
    int gpu, number;
    int first_op, ops;
    int send, receive, channel; /* MSCCL: the GPUs of its connections, or -1 */
} trv_threadblock_t;

typedef struct trv_gpu_program {
    char name[64];
    bool plan; /* of MSCCL++ */
    trv_collective_t collective;
    int gpus, chunks; /* of the vector */
    int mode[2];      /* whether it is for buffers that are in place, out of place */
    int *scratch;     /* of each GPU, in chunks */
    int *first_block; /* of each GPU; one more */
    trv_threadblock_t *block;
    trv_gpu_op_t *op;
    trv_gpu_span_t *span; /* operands */
    int *channel;         /* operands: the end at this GPU, of all ends of all GPUs */
    int *other;           /* of each end the other one, or -1 */
    int blocks, ops, spans, channels, ends;
    int64_t block_capacity, op_capacity, span_capacity, channel_capacity; /* trv_array_reserve's */
} trv_gpu_program_t;

/* Makes scratch and first_block for program->gpus GPUs. */
int trv_gpu_program_create_gpus(trv_gpu_program_t *program);
/* Append a copy. An operation goes to the last threadblock. TRV_ERR_MEMORY. */
int trv_gpu_program_add_block(trv_gpu_program_t *program, const trv_threadblock_t *block);
int trv_gpu_program_add_op(trv_gpu_program_t *program, const trv_gpu_op_t *op);
int trv_gpu_program_add_span(trv_gpu_program_t *program, const trv_gpu_span_t *span);
int trv_gpu_program_add_channel(trv_gpu_program_t *program, int end);
void trv_gpu_program_clear(trv_gpu_program_t *program);

typedef struct trv_gpu_program_verdict {
    bool valid;
    int64_t messages;
    double seconds;
    int gpu, block, step; /* of the fault; -1: of none */
    char fault[256];
} trv_gpu_program_verdict_t;

/* Proves that the program ends, whatever the order in which threadblocks run, that nothing is read or written
 * unordered, and that every GPU then has every contribution exactly once; or finds the first fault. A plan is launched
 * twice, one launch behind the other. TRV_ERR_UNSUPPORTED where it is too large. Progress is reported to the part. */
int trv_gpu_program_verify(const trv_gpu_program_t *program, trv_span_t part, trv_gpu_program_verdict_t *verdict);

#endif
