/*
 * The paper's closed forms, see paper.h.
 */
#include "algorithms/paper.h"

#include "algorithms/algorithm.h"

/* Returns the side of a square torus and sets *dims to its number of dimensions, both without dimensions of size 1.
 * Returns 0 if the torus is not square, has lines or has one rank. */
static int square_side(const trv_torus_t *torus, int *dims)
{
    int side = 0;
    *dims = 0;
    if (torus->lines)
        return 0;
    for (int d = 0; d < torus->dims; d++) {
        if (torus->size[d] == 1)
            continue;
        if (side != 0 && torus->size[d] != side)
            return 0;
        side = torus->size[d];
        ++*dims;
    }
    return side;
}

void trv_algorithm_paper_cost(const trv_algorithm_t *algorithm, const trv_torus_t *torus, trv_paper_cost_t *paper)
{
    int dims, side = square_side(torus, &dims);
    *paper = (trv_paper_cost_t){NAN, NAN, NAN, NAN};
    if (algorithm && algorithm->paper_cost && side > 0)
        algorithm->paper_cost(side, dims, paper);
}

/* Returns log_radix(side) if side is a power of the radix, otherwise 0. */
static int exact_logarithm(int side, int radix)
{
    int s = 0;
    for (; side % radix == 0; side /= radix)
        s++;
    return side == 1 ? s : 0;
}

static double ranks_of(int side, int dims) { return pow(side, dims); }

static double log3(double value) { return log(value) / log(3); }

void trv_paper_whole(int side, int dims, int radix, trv_congestion_t *congestion, trv_paper_cost_t *paper)
{
    const int s = exact_logarithm(side, radix);
    double theta = 0;
    if (s == 0)
        return;
    for (int d = 0; d < dims; d++)
        for (int k = 0; k < s; k++)
            theta += congestion(k);
    paper->lambda = dims * s / log3(ranks_of(side, dims));
    paper->delta = dims * s * (radix == 3 ? 2.0 : 1.0) / 2.0;
    paper->theta = radix == 3 ? theta : dims * theta;
}

void trv_paper_scatter(int side, int dims, int radix, trv_congestion_t *congestion, trv_paper_cost_t *paper)
{
    const int s = exact_logarithm(side, radix);
    double theta = 0;
    if (s == 0)
        return;
    for (int d = 0; d < dims; d++)
        for (int k = 0; k < s; k++)
            theta += congestion(k) / pow(radix, 1 + d + dims * k);
    paper->lambda = 2 * dims * s / log3(ranks_of(side, dims));
    paper->delta = 1.0 - 1.0 / ranks_of(side, dims);
    paper->theta = radix == 3 ? 2 * theta : theta;
}

void trv_paper_neighbours(int side, int dims, trv_paper_cost_t *paper)
{
    const double ranks = ranks_of(side, dims);
    paper->lambda = 2.0 * dims * (side - 1) * log(3.0) / log(ranks);
    paper->delta = paper->theta = 1.0 - 1.0 / ranks;
    paper->theta_limit = 1.0;
}
