/*
 * Computes a torus modulo a subgroup, see quotient.h.
 *
 * The torus is Z^D modulo the lattice of its sizes, diag(a0, a1, …); one more generator makes the lattice finer. Row
 * operations change only its basis, column operations change the coordinates. Together they turn the matrix of the
 * sizes and the generator into a diagonal matrix again (as for the Smith normal form); the new sizes are on its
 * diagonal. Every entry may be reduced modulo the number of ranks, because the lattice contains that multiple of every
 * unit vector.
 */
#include "algorithms/builders/quotient.h"

#include <stdbool.h>
#include <string.h>

typedef struct matrix {
    int dims;
    long long modulus;
    long long entry[TRV_DIMS_MAX + 1][TRV_DIMS_MAX]; /* the lattice's basis and the new generator */
    trv_quotient_t *quotient;                        /* its coordinates follow the column operations */
} matrix_t;

static long long modulo(long long value, long long modulus)
{
    value %= modulus;
    return value < 0 ? value + modulus : value;
}

static long long gcd(long long a, long long b) { return b == 0 ? a : gcd(b, a % b); }

void trv_quotient_begin(trv_quotient_t *quotient, const trv_torus_t *torus)
{
    memset(quotient, 0, sizeof *quotient);
    quotient->torus = quotient->space = *torus;
    for (int d = 0; d < torus->dims; d++)
        quotient->factor[d][d] = 1;
}

void trv_quotient_map(const trv_quotient_t *quotient, const int *at, int *block)
{
    const int dims = quotient->torus.dims;
    int image[TRV_DIMS_MAX];
    for (int i = 0; i < dims; i++) {
        const int size = quotient->space.size[i];
        long long sum = 0;
        for (int d = 0; d < dims; d++)
            sum = (sum + quotient->factor[i][d] * at[d]) % size;
        image[i] = (int)modulo(sum, size);
    }
    memcpy(block, image, (size_t)dims * sizeof *block);
}

/* Subtracts `times` times row t from row i. */
static void subtract_row(matrix_t *m, int i, int t, long long times)
{
    for (int d = 0; d < m->dims; d++)
        m->entry[i][d] = modulo(m->entry[i][d] - times * m->entry[t][d], m->modulus);
}

/* Subtracts `times` times column t from column j, and changes the coordinates accordingly. */
static void subtract_column(matrix_t *m, int j, int t, long long times)
{
    for (int i = 0; i <= m->dims; i++)
        m->entry[i][j] = modulo(m->entry[i][j] - times * m->entry[i][t], m->modulus);
    for (int d = 0; d < m->dims; d++)
        m->quotient->factor[j][d] = modulo(m->quotient->factor[j][d] - times * m->quotient->factor[t][d], m->modulus);
}

static void entries_swap(long long *a, long long *b)
{
    long long kept = *a;
    *a = *b;
    *b = kept;
}

/* Moves the smallest nonzero entry of the remaining matrix to position (t, t). Returns false if all remaining entries
 * are zero. */
static bool find_pivot(matrix_t *m, int t)
{
    int row = -1, column = -1;
    for (int i = t; i <= m->dims; i++)
        for (int j = t; j < m->dims; j++)
            if (m->entry[i][j] != 0 && (row < 0 || m->entry[i][j] < m->entry[row][column])) {
                row = i;
                column = j;
            }
    if (row < 0)
        return false;
    for (int d = 0; d < m->dims; d++)
        entries_swap(&m->entry[t][d], &m->entry[row][d]);
    for (int i = 0; i <= m->dims; i++)
        entries_swap(&m->entry[i][t], &m->entry[i][column]);
    for (int d = 0; d < m->dims; d++)
        entries_swap(&m->quotient->factor[t][d], &m->quotient->factor[column][d]);
    return true;
}

/* Reduces the pivot's row and column modulo the pivot. Returns true when all their other entries are zero. */
static bool eliminate(matrix_t *m, int t)
{
    const long long pivot = m->entry[t][t];
    bool done = true;
    for (int i = t + 1; i <= m->dims; i++) {
        subtract_row(m, i, t, m->entry[i][t] / pivot);
        done = done && m->entry[i][t] == 0;
    }
    for (int j = t + 1; j < m->dims; j++) {
        subtract_column(m, j, t, m->entry[t][j] / pivot);
        done = done && m->entry[t][j] == 0;
    }
    return done;
}

void trv_quotient_divide(trv_quotient_t *quotient, const int *displacement)
{
    const int dims = quotient->torus.dims;
    matrix_t m = {.dims = dims, .modulus = quotient->torus.ranks, .quotient = quotient};
    int image[TRV_DIMS_MAX], size[TRV_DIMS_MAX];
    bool zero = true;
    trv_quotient_map(quotient, displacement, image);
    for (int d = 0; d < dims; d++) {
        m.entry[d][d] = quotient->space.size[d] % m.modulus;
        m.entry[dims][d] = image[d];
        zero = zero && image[d] == 0;
    }
    if (zero) /* the displacement is in the subgroup already: the coordinates do not change */
        return;
    for (int t = 0; t < dims; t++)
        while (find_pivot(&m, t) && !eliminate(&m, t))
            continue;
    for (int d = 0; d < dims; d++)
        size[d] = (int)gcd(m.entry[d][d], m.modulus);
    trv_torus_init(&quotient->space, dims, size);
}
