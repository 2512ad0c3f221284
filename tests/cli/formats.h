/*
 * Readers of the formats that `trivance export` writes, for tests: each reads a text strictly and runs it symbolically,
 * with the rules of the programs that it is meant for.
 *
 * What runs side by side is run in an order that `seed` chooses, so that a missing dependency shows under one of them.
 */
#ifndef TRIVANCE_TESTS_FORMATS_H
#define TRIVANCE_TESTS_FORMATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FORMAT_RANKS_MAX 16

/* What a chunk of memory holds: the sum of so many contributions of each rank to a chunk of the vector. */
typedef struct value {
    int chunk; /* -1: nothing that may be used */
    int launch;
    uint8_t count[FORMAT_RANKS_MAX];
} value_t;

typedef enum format_collective { FORMAT_ALLREDUCE, FORMAT_REDUCESCATTER, FORMAT_ALLGATHER } format_collective_t;

/* A GPU's buffers for an in-place collective over `chunks` of a vector, and its scratch. */
typedef struct memory {
    format_collective_t collective;
    int rank, ranks, chunks, input, output, scratch;
    value_t *value; /* the vector, then scratch */
} memory_t;

/* Reads "allreduce", "reducescatter" or "allgather", and from a buffer's letter and index finds the value; NULL if
 * there is none. */
bool format_collective(const char *text, format_collective_t *collective);
value_t *format_at(const memory_t *memory, const char *buffer, int index);
/* Fills the vector with the rank's contributions; scratch keeps what it has. */
void format_begin(memory_t *memory, int launch);
/* Whether the rank has what it must end with. */
bool format_complete(const memory_t *memory, int launch);
/* a += b; false if the two do not belong together, or a contribution would be there twice. */
bool format_add(value_t *a, const value_t *b);

/* All return NULL if the program is sound and ends with the right result, or what is wrong (a static text). */

/* `bytes` of all messages together must be these. */
const char *goal_run(const char *text, int ranks, uint64_t bytes);

typedef struct msccl_options {
    unsigned seed;
    bool no_dependencies; /* ignore them: sound programs then fail */
} msccl_options_t;
const char *msccl_run(const char *text, int ranks, const msccl_options_t *options);

typedef struct mscclpp_options {
    unsigned seed;
    bool no_handshake; /* take no notice of rlxwait: sound plans then fail when they are launched twice */
} mscclpp_options_t;
const char *mscclpp_run(const char *text, int ranks, const mscclpp_options_t *options);

/* For the readers: keeps a sentence and returns it. */
const char *format_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A small random number generator. */
unsigned format_random(unsigned *seed);

#endif
