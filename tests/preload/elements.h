/*
 * Types and operations for programs that compare collectives with the MPI library's own: how to fill a buffer, and
 * whether two results are the same. No Trivance here: these programs know nothing of it.
 */
#ifndef TRIVANCE_TESTS_PRELOAD_ELEMENTS_H
#define TRIVANCE_TESTS_PRELOAD_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

typedef enum kind { INTEGER, LOGICAL, BITS, FLOAT, DOUBLE, LONG_DOUBLE, FLOATS, DOUBLES, PAIR_INT, PAIR_DOUBLE } kind_t;

typedef struct element {
    MPI_Datatype type;
    size_t size; /* from one element to the next */
    kind_t kind;
    MPI_Op op;
    bool exact; /* any order gives the same bits */
} element_t;

/* A number that looks random and is the same everywhere. */
uint64_t number(uint64_t seed);

/* A type and one of its operations: predefined ones, and user-defined ones. Call elements_begin first. */
element_t elements_draw(uint64_t seed);
void elements_begin(void);
void elements_end(void);

/* "MPI_INT, MPI_SUM", until the next call. */
const char *elements_name(const element_t *element);

void elements_fill(const element_t *element, void *buffer, size_t count, uint64_t seed);

/* The first element that differs more than another order of adding explains, or `count`. */
size_t elements_compare(const element_t *element, const void *got, const void *wanted, size_t count);

#endif
