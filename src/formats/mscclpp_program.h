/*
 * Execution plans of MSCCL++ in JSON, ours and those of others: read, and run symbolically.
 */
#ifndef TRIVANCE_FORMATS_MSCCLPP_PROGRAM_H
#define TRIVANCE_FORMATS_MSCCLPP_PROGRAM_H

#include <stddef.h>

#include "formats/msccl_program.h"

typedef enum trv_pp_kind {
    TRV_PP_NOP,     /* the threads of a threadblock wait for each other */
    TRV_PP_BARRIER, /* so do threadblocks */
    TRV_PP_SIGNAL,
    TRV_PP_WAIT,
    TRV_PP_MOVE, /* from each source to the target with the same number */
    TRV_PP_SUM   /* of all sources, to every target */
} trv_pp_kind_t;

typedef struct trv_pp_chunks { /* of a GPU's buffer: i, o or s */
    int gpu, at, size;
    char buffer;
} trv_pp_chunks_t;

typedef struct trv_pp_op {
    trv_pp_kind_t kind;
    bool relaxed;              /* a signal that publishes nothing that was written */
    int first, sources, count; /* operands: chunks, sources before targets, or channels of the GPU */
    int barrier, blocks;
} trv_pp_op_t;

typedef struct trv_mscclpp {
    trv_msccl_t head; /* name, collective, GPUs, chunks, mode, scratch, first_block; no blocks and steps */
    struct trv_pp_block {
        int gpu, number, first_op, ops;
    } * block;
    trv_pp_op_t *op;
    trv_pp_chunks_t *chunks; /* operands */
    int *channel;            /* operands: the end at this GPU, of all ends of all GPUs */
    int *other;              /* of each end the other one, or -1 */
    int blocks, op_count, chunks_count, channel_count, ends;
} trv_mscclpp_t;

/* Whether JSON text looks like one: it has "gpus". TRV_ERR_INVALID with a sentence where it is broken, TRV_ERR_UNSUPPORTED
 * where it has what is not known here: packets, switches, port channels. */
int trv_mscclpp_read(const char *text, size_t length, const char *file, trv_mscclpp_t *program);
void trv_mscclpp_clear(trv_mscclpp_t *program);

/* About how long trv_mscclpp_verify takes, which says how far it is (base/advance.h). */
double trv_mscclpp_seconds(const trv_mscclpp_t *program);

/* Runs it twice, one launch behind the other: proves that it ends, that nothing is read or written unordered, and that
 * every GPU then has every contribution exactly once; or finds the first fault. TRV_ERR_UNSUPPORTED where it is too large. */
int trv_mscclpp_verify(const trv_mscclpp_t *program, trv_msccl_verdict_t *verdict);

#endif
