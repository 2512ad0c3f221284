/*
 * Readers of the formats that `trivance export` writes, for tests: each reads a text strictly and executes it
 * symbolically, by the rules of the program for which the format was made.
 *
 * Concurrent operations are executed in an order that `seed` selects, so that a missing dependency causes a failure
 * with one of several seeds.
 */
#ifndef TRIVANCE_TESTS_FORMATS_H
#define TRIVANCE_TESTS_FORMATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FORMAT_RANKS_MAX 16

/* Contents of a chunk of memory: for each rank, how many of its contributions to a chunk of the vector are in the
 * sum. */
typedef struct value {
    int chunk; /* -1: no usable value */
    int launch;
    uint8_t count[FORMAT_RANKS_MAX];
} value_t;

typedef enum format_collective { FORMAT_ALLREDUCE, FORMAT_REDUCESCATTER, FORMAT_ALLGATHER } format_collective_t;

/* A GPU's buffers for an in-place collective over a vector of `chunks` chunks, and its scratch buffer. */
typedef struct memory {
    format_collective_t collective;
    int rank, ranks, chunks, input, output, scratch;
    value_t *value; /* the vector, then scratch */
} memory_t;

/* format_collective reads "allreduce", "reducescatter" or "allgather". format_at returns the value at an index of
 * the buffer with that letter, or NULL if there is none. */
bool format_collective(const char *text, format_collective_t *collective);
value_t *format_at(const memory_t *memory, const char *buffer, int index);
/* Fills the vector with the rank's contributions; the scratch buffer is not changed. */
void format_begin(memory_t *memory, int launch);
/* Returns whether the rank holds its complete result. */
bool format_complete(const memory_t *memory, int launch);
/* a += b; false if the two belong to different chunks, or a contribution would be counted twice. */
bool format_add(value_t *a, const value_t *b);

/* The following functions return NULL if the program is sound and ends with the right result, else a static text
 * that describes the error. */

/* `bytes` is the expected total size of all messages. */
const char *goal_run(const char *text, int ranks, uint64_t bytes);

typedef struct mscclpp_options {
    unsigned seed;
    bool no_handshake; /* ignore rlxwait: sound plans then fail when they are launched twice */
} mscclpp_options_t;
const char *mscclpp_run(const char *text, int ranks, const mscclpp_options_t *options);

/* For the readers: formats an error sentence into a static buffer and returns it. */
const char *format_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns the next number of a small pseudo-random generator. */
unsigned format_random(unsigned *seed);

#endif
