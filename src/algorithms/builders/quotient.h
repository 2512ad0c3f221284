/*
 * A torus modulo a subgroup H of its displacements, represented as a torus again.
 *
 * The cosets of H are the blocks of a schedule in which the ranks of one coset hold the same block. They form a group,
 * and modules that add displacements to blocks need its numbering. Like every finite commutative group it is a torus in
 * suitable coordinates, each of which is a sum of multiples of the old ones. On 4x4 modulo {0, (2,1), (0,2), (2,3)}:
 *
 *   coset of (x, y) = (2 y - x) mod 4, so the torus of the cosets is 1x4, and (0,1) is two blocks on from (0,0)
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_QUOTIENT_H
#define TRIVANCE_ALGORITHMS_BUILDERS_QUOTIENT_H

#include <trivance/torus.h>

typedef struct trv_quotient {
    /* `space` has as many dimensions as `torus`; some of its sizes may be 1 */
    trv_torus_t torus, space;
    /* coordinate i in the space is the sum of factor[i][d] * at[d] over d */
    long long factor[TRV_DIMS_MAX][TRV_DIMS_MAX];
} trv_quotient_t;

/* The quotient modulo the trivial subgroup: the torus itself, with its own coordinates. */
void trv_quotient_begin(trv_quotient_t *quotient, const trv_torus_t *torus);

/* Adds a displacement (coordinates of any sign) to the generators of the subgroup. */
void trv_quotient_divide(trv_quotient_t *quotient, const int *displacement);

/* Computes the coordinates of a displacement's coset. `at` and `block` may be the same array. */
void trv_quotient_map(const trv_quotient_t *quotient, const int *at, int *block);

#endif
