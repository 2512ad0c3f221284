/*
 * Numbers that are drawn, types with their operations, values, and whether two results are the same.
 *
 * An element is what a count counts: one value of its type, with up to two parts that matter (the real and the
 * imaginary part, value and place of a MINLOC) and bytes between them that do not.
 */
#ifndef TRIVANCE_TESTS_SOAK_VALUES_H
#define TRIVANCE_TESTS_SOAK_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

/* ---- Numbers: the same on all ranks that begin with the same seed ------------------------------------------------ */

typedef struct draw {
    uint64_t state;
} draw_t;

draw_t draw_begin(uint64_t seed, uint64_t stream, uint64_t number);
uint64_t draw_next(draw_t *draw);
int draw_below(draw_t *draw, int limit);
/* True once in `times`. */
bool draw_once_in(draw_t *draw, int times);

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

typedef enum domain { INTEGER, LOGICAL, REAL } domain_t;

typedef struct part {
    size_t at, size; /* bytes that matter; 10 is a long double */
    domain_t domain;
} part_t;

typedef struct element {
    MPI_Datatype type;
    MPI_Op op;
    const char *type_name, *op_name;
    size_t extent;
    part_t part[2];
    int parts;
    bool own_type, own_op; /* made for this element; element_free frees them */
    bool exact;            /* any order of the operation gives the same bits */
} element_t;

/* Before threads begin. */
void values_begin(void);

/* Of a type that reductions know, with an operation; or of any type, for moving only. */
element_t element_draw(draw_t *draw, bool reduces);
void element_free(element_t *element);

void element_fill(const element_t *element, void *buffer, size_t count, uint64_t seed);

/* The first element that differs more than another order of adding explains, or `count`. */
size_t element_compare(const element_t *element, const void *got, const void *wanted, size_t count);

/* Of the bytes that matter. */
uint64_t element_hash(const element_t *element, const void *buffer, size_t count);

#endif
