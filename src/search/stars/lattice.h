/*
 * Subgroups of a torus, as lattices: the integer vectors that lie in the subgroup modulo the sizes.
 *
 * A lattice is kept as its Hermite normal form: upper triangular rows, each entry above a pivot smaller than the pivot.
 * It is unique, so subgroups are equal where their rows are. The pivots' product is the index of the subgroup.
 */
#ifndef TRIVANCE_SEARCH_STARS_LATTICE_H
#define TRIVANCE_SEARCH_STARS_LATTICE_H

#include <stdbool.h>

#include <trivance/torus.h>

typedef struct trv_lattice {
    int dims;
    int size[TRV_DIMS_MAX];              /* of the torus */
    int row[TRV_DIMS_MAX][TRV_DIMS_MAX]; /* 0 beyond dims */
} trv_lattice_t;

/* The subgroup that has 0 alone: all multiples of the sizes. */
void trv_lattice_init(trv_lattice_t *lattice, const trv_torus_t *torus);

/* Adds a vector (|coordinates| below the sizes) and all that it makes with the others. */
void trv_lattice_add(trv_lattice_t *lattice, const int *vector);

/* How many displacements of the torus there are per element of the subgroup. */
int trv_lattice_index(const trv_lattice_t *lattice);

/* Whether the vector lies in it; and if so, what multiples of the rows it is the sum of, up to multiples of the sizes.
 * `multiple` may be NULL. */
bool trv_lattice_has(const trv_lattice_t *lattice, const int *vector, int *multiple);

#endif
