/*
 * A typical solver: conjugate gradients for -u'' + u/4 = f on a chain of unknowns, distributed over all ranks. An
 * iteration exchanges one number with each neighbour and reduces two dot products over all ranks; with few unknowns per
 * rank, the two AllReduces of 8 bytes dominate the time.
 *
 *     mpicc.openmpi conjugate_gradient.c -lm -o conjugate_gradient
 *     mpirun.openmpi -n 9 ./conjugate_gradient                                 with the MPI library's own AllReduce
 *     trivance run --torus 3x3 -- mpirun.openmpi -n 9 ./conjugate_gradient     with Trivance's
 *
 * Arguments: unknowns per rank (1000), iterations (100). The program does not use Trivance's interfaces.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#define TOLERANCE 1e-6 /* maximum error for exit status 0 */

typedef struct chain {
    int rank, ranks, count;                            /* count: unknowns on every rank */
    double *solution, *residual, *direction, *product; /* direction has a neighbour's value at each end */
} chain_t;

/* Beyond this rank's ends, the direction's values are the neighbours'; beyond the chain they are 0. */
static void exchange(const chain_t *chain)
{
    double *p = chain->direction;
    int left = chain->rank > 0 ? chain->rank - 1 : MPI_PROC_NULL;
    int right = chain->rank < chain->ranks - 1 ? chain->rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&p[0], 1, MPI_DOUBLE, left, 0, &p[chain->count], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&p[chain->count - 1], 1, MPI_DOUBLE, right, 1, &p[-1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* product = A direction, where A has 2.25 on its diagonal and -1 beside it. */
static void multiply(const chain_t *chain)
{
    const double *p = chain->direction;
    exchange(chain);
    for (int i = 0; i < chain->count; i++)
        chain->product[i] = 2.25 * p[i] - p[i - 1] - p[i + 1];
}

static double dot(const chain_t *chain, const double *a, const double *b)
{
    double part = 0, whole;
    for (int i = 0; i < chain->count; i++)
        part += a[i] * b[i];
    MPI_Allreduce(&part, &whole, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return whole;
}

/* The right-hand side is chosen so that every unknown is 1. */
static void begin(chain_t *chain)
{
    chain->direction[-1] = chain->rank > 0;
    chain->direction[chain->count] = chain->rank < chain->ranks - 1;
    for (int i = 0; i < chain->count; i++)
        chain->direction[i] = 1;
    multiply(chain);
    for (int i = 0; i < chain->count; i++) {
        chain->solution[i] = 0;
        chain->residual[i] = chain->direction[i] = chain->product[i];
    }
}

/* Performs one iteration; `square` is the residual's squared norm, the new one is returned. */
static double iterate(const chain_t *chain, double square)
{
    multiply(chain);
    double alpha = square / dot(chain, chain->direction, chain->product);
    for (int i = 0; i < chain->count; i++) {
        chain->solution[i] += alpha * chain->direction[i];
        chain->residual[i] -= alpha * chain->product[i];
    }
    double next = dot(chain, chain->residual, chain->residual);
    for (int i = 0; i < chain->count; i++)
        chain->direction[i] = chain->residual[i] + next / square * chain->direction[i];
    return next;
}

static double error_of(const chain_t *chain)
{
    double most = 0, of_all;
    for (int i = 0; i < chain->count; i++)
        most = fmax(most, fabs(chain->solution[i] - 1));
    MPI_Allreduce(&most, &of_all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return of_all;
}

int main(int argc, char **argv)
{
    chain_t chain;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &chain.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &chain.ranks);
    chain.count = argc > 1 ? atoi(argv[1]) : 1000;
    int iterations = argc > 2 ? atoi(argv[2]) : 100, done = 0;
    if (chain.count < 1 || iterations < 1) {
        if (chain.rank == 0)
            fprintf(stderr, "Usage: conjugate_gradient [UNKNOWNS PER RANK [ITERATIONS]], both at least 1\n");
        MPI_Finalize();
        return 2;
    }
    size_t count = (size_t)chain.count;
    double *memory = calloc(4 * count + 2, sizeof *memory);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    chain.solution = memory;
    chain.residual = memory + count;
    chain.product = memory + 2 * count;
    chain.direction = memory + 3 * count + 1;
    begin(&chain);
    double square = dot(&chain, chain.residual, chain.residual), start = MPI_Wtime();
    for (; done < iterations && square > 1e-24; done++)
        square = iterate(&chain, square);
    double time = MPI_Wtime() - start, error = error_of(&chain);
    if (chain.rank == 0)
        printf("%d unknowns on %d ranks: %d iterations of %.3f ms, error %.1e\n", chain.count * chain.ranks,
               chain.ranks, done, 1e3 * time / done, error);
    if (chain.rank == 0 && !(error < TOLERANCE))
        fprintf(stderr, "after %d iterations the error is not below %.0e; allow more\n", done, TOLERANCE);
    free(memory);
    MPI_Finalize();
    return error < TOLERANCE ? 0 : 1;
}
