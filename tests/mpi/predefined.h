/*
 * The predefined types and operations of MPI, the pairs of them that the MPI standard defines, and values of each type.
 * Programs with and without Trivance's interfaces use them.
 */
#ifndef TRIVANCE_TESTS_MPI_PREDEFINED_H
#define TRIVANCE_TESTS_MPI_PREDEFINED_H

#include <stdbool.h>

#include <mpi.h>

typedef struct named_type {
    const char *name;
    MPI_Datatype type;
    char class; /* i integer of C, m of Fortran or of several languages, f floating, c complex, l logical, b byte,
                   p pair, n: the standard defines no operation */
} named_type_t;

typedef struct named_op {
    const char *name;
    MPI_Op op;
    const char *classes; /* the classes of types on which the standard defines it */
} named_op_t;

/* Those that this MPI library has. */
const named_type_t *predefined_types(int *count);
const named_op_t *predefined_ops(int *count);

/* Whether the MPI library ends the program although it accepts the arguments: MPICH 4.0, logical operations on
 * floating-point numbers. */
bool predefined_crashes(const named_type_t *type, const named_op_t *op);

/* Fills a buffer with numbers that are exact in every type. */
void predefined_fill(const named_type_t *type, void *buffer, int count, int rank);

/* Compares what the type maps, not the padding: both are packed. */
bool predefined_same(const named_type_t *type, const void *a, const void *b, int count);

#endif
