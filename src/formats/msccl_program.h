/*
 * Programs in MSCCL's XML, ours and those of others: read, and run symbolically.
 */
#ifndef TRIVANCE_FORMATS_MSCCL_PROGRAM_H
#define TRIVANCE_FORMATS_MSCCL_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/schedule.h>

#define TRV_MSCCL_GPUS_MAX  1024
#define TRV_MSCCL_TIMES_MAX 1000000 /* that a contribution may count */

/* What a step does, as bits. */
enum {
    TRV_MSCCL_RECEIVE = 1, /* from the threadblock's peer … */
    TRV_MSCCL_SOURCE = 2,  /* … and, or, from the source buffer, both of which are added */
    TRV_MSCCL_TARGET = 4,  /* to which what is in the target buffer is added, too */
    TRV_MSCCL_STORE = 8,   /* into the target buffer */
    TRV_MSCCL_SEND = 16    /* to the threadblock's peer */
};

typedef struct trv_msccl_step {
    int what; /* bits; 0: it only waits */
    char source, target;
    int source_at, target_at, count;
    int wait_block, wait_step; /* of the same GPU; -1: for nothing */
    bool waited;               /* others may wait for it */
} trv_msccl_step_t;

typedef struct trv_msccl_block { /* a threadblock */
    int gpu, number, send, receive, channel;
    int first_step, steps;
} trv_msccl_block_t;

typedef struct trv_msccl {
    char name[64];
    trv_collective_t collective;
    int gpus, chunks; /* of the vector */
    int mode[2];      /* in place, out of place: whether it is for that */
    int *scratch;     /* of each GPU, in chunks */
    int *first_block; /* of each GPU; one more */
    trv_msccl_block_t *block;
    trv_msccl_step_t *step;
    int steps;
} trv_msccl_t;

/* Reads a text, which it cuts up. TRV_ERR_INVALID with the line where it is not such a program, TRV_ERR_UNSUPPORTED where
 * it has what is not known here. */
int trv_msccl_read(char *text, const char *file, trv_msccl_t *program);
void trv_msccl_clear(trv_msccl_t *program);

/* What input and output of a GPU have; where a chunk of a buffer is in its memory, -1 where there is none (in place the
 * shorter one of input and output is the GPU's part of the longer one); and whether the memory, which chunk of the vector
 * and per GPU how often, is the result there. */
int trv_msccl_input(const trv_msccl_t *program);
int trv_msccl_output(const trv_msccl_t *program);
int trv_msccl_cell(const trv_msccl_t *program, bool in_place, int gpu, char buffer, int at);
bool trv_msccl_is_result(const trv_msccl_t *program, int gpu, int at, const int32_t *row, char fault[256]);

typedef struct trv_msccl_verdict {
    bool valid;
    int64_t messages;
    double seconds;
    int gpu, block, step; /* of the fault; -1: of none */
    char fault[256];
} trv_msccl_verdict_t;

/* About how long trv_msccl_verify takes, which says how far it is (base/advance.h). */
double trv_msccl_seconds(const trv_msccl_t *program);

/* Proves that it ends, whatever the order in which threadblocks run, and that every GPU then has every contribution
 * exactly once; or finds the first fault. TRV_ERR_UNSUPPORTED where it is too large. */
int trv_msccl_verify(const trv_msccl_t *program, trv_msccl_verdict_t *verdict);

#endif
