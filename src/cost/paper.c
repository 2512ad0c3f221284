/*
 * The paper's closed forms: the exact sums of its appendix B ("Calculations of transmission delay bounds") and the
 * limits of its tables 1 (rings) and 2 (tori, n to infinity).
 *
 * With a the side of the torus, D its dimensions, r the radix of the algorithm, s = log_r a and c(k) the congestion
 * that the appendix gives for the k-th step along a dimension:
 *
 *     bandwidth-optimal   Theta = f * sum over d < D, k < s of c(k) / r^(1 + d + D k)
 *                         f = 2 for Trivance and Bruck, whose streams use both ports of a dimension; 1 for the others
 *     latency-optimal     Theta = D * sum over k < s of c(k)        Trivance and Bruck: D streams of m/D each
 *                         Theta = D^2 * sum over k < s of c(k)      the others: one stream of m
 *
 * (The appendix writes the latency-optimal sums relative to m, the table relative to m/D as Theta is defined: one
 * more D.) Ring and Bucket move the least that is possible over the least busy links, (1 - 1/n) m/D; the paper rounds
 * that to 1, and likewise Delta = 1 - 1/n of all bandwidth-optimal algorithms and Lambda = 2 (n - 1) / log3 n of Ring
 * to 2n / log3 n.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <trivance/cost.h>

static double power_of_2(int k) { return ldexp(1.0, k); }

static double power_of_3(int k) { return pow(3.0, k); }

static double three_powers_of_3(int k) { return 3.0 * pow(3.0, k); }

static double swing_distance(int k) { return (ldexp(1.0, k + 1) - (k % 2 ? 1.0 : -1.0)) / 3.0; }

static double half_swing_distance(int k) { return ceil(swing_distance(k) / 2.0); }

typedef struct form {
    const char *name;
    int radix; /* 2: one port per stream; 3: both ports of a dimension */
    bool latency_optimal;
    double (*congestion)(int k);
    double limit; /* latency-optimal: Theta / (D^2 a) or Theta / (D a); else Theta / log_radix(n) on a ring */
} form_t;

static const form_t forms[] = {
    /* clang-format off */
    { "trivance-l",      3, true,  power_of_3,          0.5 },
    { "trivance-b",      3, false, power_of_3,          2.0 / 3.0 },
    { "recdoub-l",       2, true,  power_of_2,          1.0 },
    { "recdoub-b",       2, false, power_of_2,          0.5 },
    { "recdoub-b-split", 2, false, power_of_2,          0.5 },
    { "swing-l",         2, true,  half_swing_distance, 1.0 / 3.0 },
    { "swing-b",         2, false, swing_distance,      1.0 / 3.0 },
    { "bruck-l",         3, true,  three_powers_of_3,   1.5 },
    { "bruck-b",         3, false, three_powers_of_3,   2.0 },
    /* clang-format on */
};

/* The side of a square torus and its dimensions, those of size 1 left out; 0 if it is not square or has one rank. */
static int square_side(const trv_torus_t *torus, int *dims)
{
    int side = 0;
    *dims = 0;
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

/* log_radix(side) if side is a power of the radix, else 0. */
static int exact_logarithm(int side, int radix)
{
    int s = 0;
    for (; side % radix == 0; side /= radix)
        s++;
    return side == 1 ? s : 0;
}

static void exact_sums(const form_t *form, int dims, int s, int ranks, trv_paper_cost_t *paper)
{
    double log3 = log(ranks) / log(3.0);
    double theta = 0;
    for (int d = 0; d < dims; d++)
        for (int k = 0; k < s; k++)
            theta += form->congestion(k) / (form->latency_optimal ? 1.0 : pow(form->radix, 1 + d + dims * k));
    if (form->latency_optimal) {
        paper->lambda = dims * s / log3;
        paper->delta = dims * s * (form->radix == 3 ? 2.0 : 1.0) / 2.0;
        paper->theta = form->radix == 3 ? theta : dims * theta;
    } else {
        paper->lambda = 2 * dims * s / log3;
        paper->delta = 1.0 - 1.0 / ranks;
        paper->theta = form->radix == 3 ? 2 * theta : theta;
    }
}

static double theta_limit(const form_t *form, int dims, int side, int ranks)
{
    double two = ldexp(1.0, dims), three = pow(3.0, dims);
    if (form->latency_optimal)
        return form->limit * side * (form->radix == 3 ? dims : dims * dims);
    if (dims == 1)
        return form->limit * log(ranks) / log(form->radix);
    if (form->radix == 3)
        return form->congestion(0) * (three - 1) / (three - 3);
    if (form->congestion == swing_distance)
        return two * (two - 1) / ((two - 2) * (two + 1));
    return (two - 1) / (two - 2);
}

void trv_cost_paper(const char *algorithm, const trv_torus_t *torus, trv_paper_cost_t *paper)
{
    int dims, side = square_side(torus, &dims);
    *paper = (trv_paper_cost_t){NAN, NAN, NAN, NAN};
    if (side == 0)
        return;
    if (strcmp(algorithm, "bucket") == 0 || (strcmp(algorithm, "ring") == 0 && dims == 1)) {
        paper->lambda = 2.0 * dims * (side - 1) * log(3.0) / log(torus->ranks);
        paper->delta = paper->theta = 1.0 - 1.0 / torus->ranks;
        paper->theta_limit = 1.0;
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp(algorithm, forms[i].name) != 0)
            continue;
        int s = exact_logarithm(side, forms[i].radix);
        if (s > 0)
            exact_sums(&forms[i], dims, s, torus->ranks, paper);
        paper->theta_limit = theta_limit(&forms[i], dims, side, torus->ranks);
    }
}
