/*
 * Programs of GPUs as plain data, independent of their file format, and their symbolic run. The reader of MSCCL++'s
 * execution plans (module formats) fills a trv_gpu_program_t; the symbolic engine runs it.
 *
 * A GPU has threadblocks that run concurrently, and a threadblock operations that it executes in order. GPUs write into
 * each other's memory; signals, waits and barriers order threadblocks.
 */
#ifndef TRIVANCE_VERIFY_GPU_PROGRAM_H
#define TRIVANCE_VERIFY_GPU_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/schedule.h>

#include "base/span.h"

#define TRV_GPUS_MAX         1024
#define TRV_GPU_BARRIERS_MAX 1024 /* per GPU */

typedef enum trv_op_kind {
    TRV_OP_NOP,     /* the threads of a threadblock wait for each other */
    TRV_OP_BARRIER, /* threadblocks of a GPU wait for each other */
    TRV_OP_SIGNAL,
    TRV_OP_WAIT,
    TRV_OP_MOVE, /* copies each source to the target with the same number */
    TRV_OP_SUM   /* writes the sum of all sources to every target */
} trv_op_kind_t;

/* Consecutive chunks of a GPU's buffer: input (i), output (o) or scratch (s). */
typedef struct trv_gpu_span {
    int gpu, at, size;
    char buffer;
} trv_gpu_span_t;

typedef struct trv_gpu_op {
    trv_op_kind_t kind;
    int first, sources, count; /* operands: spans (sources before targets) or channels of the GPU */
    bool relaxed;              /* a signal that publishes no written data, or a wait that acquires none */
    int barrier, blocks;       /* number of the barrier, and number of threadblocks that meet there */
} trv_gpu_op_t;

typedef struct trv_threadblock {
    int gpu, number;
    int first_op, ops;
} trv_threadblock_t;

typedef struct trv_gpu_program {
    char name[64];
    trv_collective_t collective;
    int gpus, chunks; /* chunks of the vector */
    bool in_place;    /* input and output share memory */
    int *scratch;     /* per GPU, in chunks */
    int *first_block; /* per GPU, and one more entry */
    trv_threadblock_t *block;
    trv_gpu_op_t *op;
    trv_gpu_span_t *span; /* operands */
    int *channel;         /* operands: the channel's end at this GPU, as a number among the ends of all GPUs */
    int *other;           /* per end: the other end of its channel, or -1 */
    int blocks, ops, spans, channels, ends;
    int64_t block_capacity, op_capacity, span_capacity, channel_capacity; /* used by trv_array_reserve */
} trv_gpu_program_t;

/* Allocates `scratch` and `first_block` for program->gpus GPUs. */
int trv_gpu_program_create_gpus(trv_gpu_program_t *program);
/* These append a copy. An operation is appended to the last threadblock. TRV_ERR_MEMORY. */
int trv_gpu_program_add_block(trv_gpu_program_t *program, const trv_threadblock_t *block);
int trv_gpu_program_add_op(trv_gpu_program_t *program, const trv_gpu_op_t *op);
int trv_gpu_program_add_span(trv_gpu_program_t *program, const trv_gpu_span_t *span);
int trv_gpu_program_add_channel(trv_gpu_program_t *program, int end);
void trv_gpu_program_clear(trv_gpu_program_t *program);

typedef struct trv_gpu_program_verdict {
    bool valid;
    int64_t messages;
    double seconds;
    int gpu; /* of the fault; -1: not applicable */
    char fault[256];
} trv_gpu_program_verdict_t;

/* Proves that the program terminates in every order in which threadblocks may run, that all conflicting accesses to
 * memory are ordered, and that every GPU then has every contribution exactly once; or finds the first fault. The
 * program is launched twice in succession. TRV_ERR_UNSUPPORTED if the program is too large. Progress is reported to
 * `progress`. */
int trv_gpu_program_verify(const trv_gpu_program_t *program, trv_span_t progress, trv_gpu_program_verdict_t *verdict);

#endif
