/*
 * Random numbers, types with their operations, values, and the comparison of two results.
 *
 * An element is the unit of a count: one value of its type, with up to two significant parts (the real and the
 * imaginary part, or value and index of a MINLOC) and insignificant bytes between them.
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
void draw_skip(draw_t *draw, uint64_t numbers);
int draw_below(draw_t *draw, int limit);
/* True once in `times` calls on average. */
bool draw_once_in(draw_t *draw, int times);

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

typedef enum domain { INTEGER, LOGICAL, REAL } domain_t;

typedef struct part {
    size_t at, size; /* significant bytes; 10 for a long double */
    domain_t domain;
} part_t;

typedef struct element {
    MPI_Datatype type;
    MPI_Op op;
    const char *type_name, *op_name;
    size_t extent;
    part_t part[2];
    int parts;
    bool own_type, own_op; /* created for this element; element_free frees them */
    bool exact;            /* the result has the same bits in any order */
} element_t;

/* Must be called before threads start. */
void values_begin(void);

/* Draws an element of a type that reductions support, with an operation; or of any type, for data movement only. */
element_t element_draw(draw_t *draw, bool reduces);
void element_free(element_t *element);

/* Writes elements `first` to `first` + `count` - 1 of the vector that the seed determines. */
void element_fill(const element_t *element, void *buffer, size_t first, size_t count, uint64_t seed);

/* Returns the index of the first element whose difference exceeds the effect of another summation order, or `count`. */
size_t element_compare(const element_t *element, const void *got, const void *wanted, size_t count);

/* Returns a hash of the significant bytes. */
uint64_t element_hash(const element_t *element, const void *buffer, size_t count);

#endif
