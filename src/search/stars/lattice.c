/*
 * Hermite normal forms, updated one vector at a time (H. Cohen, A Course in Computational Algebraic Number Theory,
 * 2.4). Every lattice here contains all multiples of the sizes, so vectors are reduced modulo the sizes, and nothing
 * overflows.
 */
#include "search/stars/lattice.h"

#include <stdint.h>
#include <string.h>

static int floor_divide(int value, int by) { return value / by - (value % by < 0); }

/* to -= times * row, from column `first` on; the columns to the right of it are reduced modulo the sizes. */
static void lattice_subtract(const trv_lattice_t *lattice, int *to, const int *row, int times, int first)
{
    if (times == 0)
        return;
    to[first] -= times * row[first];
    for (int d = first + 1; d < lattice->dims; d++)
        if (row[d])
            to[d] = (int)((to[d] - (int64_t)times * row[d]) % lattice->size[d]);
}

/* Reduces the columns to the right of `first` modulo the pivots. */
static void lattice_reduce(const trv_lattice_t *lattice, int *vector, int first)
{
    for (int d = first; d < lattice->dims; d++)
        lattice_subtract(lattice, vector, lattice->row[d], floor_divide(vector[d], lattice->row[d][d]), d);
}

void trv_lattice_init(trv_lattice_t *lattice, const trv_torus_t *torus)
{
    memset(lattice, 0, sizeof *lattice);
    lattice->dims = torus->dims;
    for (int d = 0; d < torus->dims; d++)
        lattice->row[d][d] = lattice->size[d] = torus->size[d];
}

void trv_lattice_add(trv_lattice_t *lattice, const int *vector)
{
    int rest[TRV_DIMS_MAX], swap[TRV_DIMS_MAX], dims = lattice->dims;
    memcpy(rest, vector, (size_t)dims * sizeof *rest);
    for (int d = 0; d < dims; d++) {
        int *row = lattice->row[d];
        lattice_reduce(lattice, rest, d + 1);
        while (rest[d]) { /* Euclid's algorithm on whole rows; the columns left of d are 0 in both */
            memcpy(swap, rest, sizeof swap);
            memcpy(rest + d, row + d, (size_t)(dims - d) * sizeof *row);
            memcpy(row + d, swap + d, (size_t)(dims - d) * sizeof *row);
            lattice_subtract(lattice, rest, row, rest[d] / row[d], d);
        }
        for (int e = dims - 1; row[d] < 0 && e >= d; e--) /* the pivot is changed last */
            row[e] = -row[e];
    }
    for (int d = dims - 2; d >= 0; d--)
        lattice_reduce(lattice, lattice->row[d], d + 1);
}

int trv_lattice_index(const trv_lattice_t *lattice)
{
    int index = 1;
    for (int d = 0; d < lattice->dims; d++)
        index *= lattice->row[d][d];
    return index;
}

bool trv_lattice_has(const trv_lattice_t *lattice, const int *vector, int *multiple)
{
    int rest[TRV_DIMS_MAX], dims = lattice->dims;
    memcpy(rest, vector, (size_t)dims * sizeof *rest);
    for (int d = 0; d < dims; d++) {
        const int *row = lattice->row[d];
        if (rest[d] % row[d])
            return false;
        int times = rest[d] / row[d];
        lattice_subtract(lattice, rest, row, times, d);
        if (multiple)
            multiple[d] = times;
    }
    return true;
}
