/*
 * Types and operations for programs that compare collectives with the MPI library's own: functions that fill a buffer
 * and compare two results. These programs do not use Trivance's interfaces.
 */
#ifndef TRIVANCE_TESTS_PRELOAD_ELEMENTS_H
#define TRIVANCE_TESTS_PRELOAD_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

typedef enum class {
    INTEGER,
    LOGICAL,
    BITS,
    FLOAT,
    DOUBLE,
    LONG_DOUBLE,
    FLOATS,
    DOUBLES,
    PAIR_INT,
    PAIR_DOUBLE
} class_t;

typedef struct element {
    MPI_Datatype type;
    size_t size; /* distance between consecutive elements in bytes */
    class_t class;
    MPI_Op op;
    bool exact; /* the result has the same bits in any order */
} element_t;

/* Returns a pseudo-random number that depends only on the seed. */
uint64_t number(uint64_t seed);

/* Draws a type and one of its operations, predefined or user-defined. elements_begin must have been called. */
element_t elements_draw(uint64_t seed);
void elements_begin(void);
void elements_end(void);

/* Returns a text such as "MPI_INT, MPI_SUM", valid until the next call. */
const char *elements_name(const element_t *element);

void elements_fill(const element_t *element, void *buffer, size_t count, uint64_t seed);

/* Returns the index of the first element whose difference exceeds the effect of another summation order, or `count`. */
size_t elements_compare(const element_t *element, const void *got, const void *expected, size_t count);

#endif
