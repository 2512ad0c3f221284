/*
 * Subgroups of a torus, represented as lattices: the integer vectors that are in the subgroup modulo the sizes.
 *
 * A lattice is stored in its Hermite normal form: upper triangular rows, each entry above a pivot smaller than the
 * pivot. The form is unique, so subgroups are equal if and only if their rows are equal. The product of the pivots is
 * the index of the subgroup.
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

/* The subgroup that contains 0 only: its lattice consists of all multiples of the sizes. */
void trv_lattice_init(trv_lattice_t *lattice, const trv_torus_t *torus);

/* Adds a vector (|coordinates| below the sizes) to the generators of the subgroup. */
void trv_lattice_add(trv_lattice_t *lattice, const int *vector);

/* The index of the subgroup: the number of displacements of the torus per element of the subgroup. */
int trv_lattice_index(const trv_lattice_t *lattice);

/* Whether the vector is in the subgroup. If so, `multiple` (may be NULL) is set to the coefficients of the rows whose
 * sum it is, up to multiples of the sizes. */
bool trv_lattice_has(const trv_lattice_t *lattice, const int *vector, int *multiple);

#endif
