/*
 * The benchmark program of `trivance testbed bench`: an MPI program that is not linked with anything of ours. Its calls
 * of MPI_Allreduce are served by whatever stands before the MPI library; what is to be the MPI library's own goes by
 * PMPI_Allreduce, in the same job and in turns.
 */
#include "testbed/programs/bench_program.h"
#include "base/ascending.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIMS_MAX 8
#define STEPS    5

typedef struct bench {
    int rank, ranks, rounds;
    int rivals;
    bench_rival_t rival[BENCH_RIVALS_MAX];
    size_t bytes;                          /* of the row … */
    int active[BENCH_RIVALS_MAX], actives; /* … and who takes part in it */
    int wrong[BENCH_RIVALS_MAX];
    void *input, *output;
    int neighbours, neighbour[2 * DIMS_MAX]; /* of the exchange … */
    int steps;                               /* … which is repeated */
    FILE *out;                               /* on rank 0 */
} bench_t;

/* ---- The calls --------------------------------------------------------------------------------------------------- */

static size_t element_bytes(const bench_rival_t *rival)
{
    return rival->type == MPI_DOUBLE ? sizeof(double) : sizeof(int);
}

/* Element i of rank r; sums are small whole numbers, exact in any order. */
static int value_of(int rank, size_t i) { return rank + (int)(i % 1000); }

static void fill(const bench_t *bench, const bench_rival_t *rival)
{
    for (size_t i = 0; i < bench->bytes / element_bytes(rival); i++)
        if (rival->type == MPI_DOUBLE)
            ((double *)bench->input)[i] = value_of(bench->rank, i);
        else
            ((int *)bench->input)[i] = value_of(bench->rank, i);
}

static int wrong_elements(const bench_t *bench, const bench_rival_t *rival)
{
    int wrong = 0;
    for (size_t i = 0; i < bench->bytes / element_bytes(rival); i++) {
        double got = rival->type == MPI_DOUBLE ? ((double *)bench->output)[i] : ((int *)bench->output)[i];
        int sum = bench->ranks * (bench->ranks - 1) / 2 + bench->ranks * value_of(0, i);
        wrong += got != (rival->op == MPI_MAX ? value_of(bench->ranks - 1, i) : sum);
    }
    return wrong;
}

static void reduce(void *context, int which)
{
    bench_t *bench = context;
    const bench_rival_t *rival = &bench->rival[bench->active[which]];
    int count = (int)(bench->bytes / element_bytes(rival));
    bench_rival_choose(rival);
    if (rival->own)
        PMPI_Allreduce(bench->input, bench->output, count, rival->type, rival->op, rival->comm);
    else
        MPI_Allreduce(bench->input, bench->output, count, rival->type, rival->op, rival->comm);
}

/* Steps without reductions: every rank sends 8 bytes to each of its neighbours and waits for as much from them. */
static void exchange(void *context, int which)
{
    (void)which;
    static double in[2 * DIMS_MAX], out[2 * DIMS_MAX];
    const bench_t *bench = context;
    MPI_Request request[4 * DIMS_MAX];
    MPI_Status status[4 * DIMS_MAX];
    for (int step = 0; step < bench->steps; step++) {
        for (int i = 0; i < bench->neighbours; i++) {
            MPI_Irecv(&in[i], 1, MPI_DOUBLE, bench->neighbour[i ^ 1], i, MPI_COMM_WORLD, &request[i]);
            MPI_Isend(&out[i], 1, MPI_DOUBLE, bench->neighbour[i], i, MPI_COMM_WORLD, &request[bench->neighbours + i]);
        }
        MPI_Waitall(2 * bench->neighbours, request, status);
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void gather_active(bench_t *bench)
{
    bench->actives = 0;
    for (int i = 0; i < bench->rivals; i++)
        if (bench->bytes <= bench->rival[i].most_bytes)
            bench->active[bench->actives++] = i;
}

/* Once by everybody, looking at what comes out; the buffers are all rivals'. */
static void check_sums(bench_t *bench)
{
    for (int i = 0; i < bench->actives; i++) {
        const bench_rival_t *rival = &bench->rival[bench->active[i]];
        fill(bench, rival);
        memset(bench->output, 0, bench->bytes);
        reduce(bench, i);
        bench->wrong[i] = wrong_elements(bench, rival);
    }
    PMPI_Allreduce(MPI_IN_PLACE, bench->wrong, bench->actives, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void tell_round(void *context)
{
    const bench_t *bench = context;
    if (bench->out) {
        fprintf(bench->out, "round %zu\n", bench->bytes);
        fflush(bench->out);
    }
}

static void measure_row(bench_t *bench)
{
    static bench_times_t times;
    gather_active(bench);
    check_sums(bench);
    fill(bench, &bench->rival[0]);
    bench_time_together(reduce, tell_round, bench, bench->actives, bench->rounds, &times);
    for (int i = 0; bench->out && i < bench->actives; i++) {
        double *own_ns = times.time_ns + i * bench->rounds;
        qsort(own_ns, (size_t)bench->rounds, sizeof *own_ns, trv_compare_double);
        fprintf(bench->out, "row %zu %d %d %.0f %.0f %.0f %d %.0f\n", bench->bytes, bench->active[i], bench->rounds,
                own_ns[bench->rounds / 2], own_ns[0], own_ns[bench->rounds - 1], bench->wrong[i], times.core_ns[i]);
    }
    if (bench->out)
        fflush(bench->out);
}

/* Several steps take more than one does by what a step costs, without what a common start does. */
static void measure_exchange(bench_t *bench)
{
    static const int steps[] = {1, STEPS};
    static bench_times_t times;
    for (int i = 0; i < 2; i++) {
        bench->steps = steps[i];
        bench_time_together(exchange, NULL, bench, 1, bench->rounds, &times);
        qsort(times.time_ns, (size_t)bench->rounds, sizeof(double), trv_compare_double);
        if (bench->out)
            fprintf(bench->out, "steps %d %d %.0f\n", bench->steps, bench->neighbours,
                    times.time_ns[bench->rounds / 2]);
    }
}

/* Dimensions of more than two, so that both neighbours are others. */
static void measure_steps(bench_t *bench, char *torus)
{
    int size[DIMS_MAX], dims = 0, stride = 1;
    for (char *text = strtok(torus, "x"); text && dims < DIMS_MAX; text = strtok(NULL, "x"))
        size[dims++] = atoi(text);
    bench->neighbours = 0;
    for (int d = dims - 1; d >= 0; stride *= size[d--]) {
        int at = bench->rank / stride % size[d], base = bench->rank - at * stride;
        if (size[d] <= 2)
            continue;
        bench->neighbour[bench->neighbours++] = base + (at + 1) % size[d] * stride;
        bench->neighbour[bench->neighbours++] = base + (at + size[d] - 1) % size[d] * stride;
        measure_exchange(bench);
    }
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static int fail(const bench_t *bench, const char *sentence)
{
    if (bench->rank == 0)
        fprintf(stderr, "trivance-testbed-bench: %s\n", sentence);
    MPI_Finalize();
    return 2;
}

static int read_sizes(char *text, size_t *size, size_t *most)
{
    int count = 0;
    *most = 8;
    for (char *item = strtok(text, ","); item && count < BENCH_SIZES_MAX; item = strtok(NULL, ",")) {
        size[count] = strtoull(item, NULL, 10) / 8 * 8;
        *most = size[count] > *most ? size[count] : *most;
        count += size[count] > 0;
    }
    return count;
}

int main(int argc, char **argv)
{
    static bench_t bench;
    size_t size[BENCH_SIZES_MAX], most;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.ranks);
    if (argc < 6 || argc - 5 > BENCH_RIVALS_MAX)
        return fail(&bench, "OUTPUT SIZES ITERATIONS TORUS RIVAL… are wanted; `trivance testbed bench` starts it");
    int sizes = read_sizes(argv[2], size, &most);
    bench.rounds = atoi(argv[3]);
    if (sizes == 0 || bench.rounds < 1 || bench.rounds > BENCH_ROUNDS_MAX)
        return fail(&bench, "sizes are bytes with commas between, at least 8; iterations are from 1 to 101");
    bench.rivals = argc - 5;
    const char *reason = bench_rivals_make(argv + 5, bench.rivals, bench.rival);
    if (reason)
        return fail(&bench, reason);
    bench.input = malloc(most);
    bench.output = malloc(most);
    bench.out = bench.rank == 0 ? fopen(argv[1], "w") : NULL;
    if (!bench.input || !bench.output || (bench.rank == 0 && !bench.out))
        MPI_Abort(MPI_COMM_WORLD, 1);
    measure_steps(&bench, argv[4]);
    for (int i = 0; i < sizes; i++) {
        bench.bytes = size[i];
        measure_row(&bench);
    }
    if (bench.out)
        fclose(bench.out);
    bench_rivals_free(bench.rival, bench.rivals);
    free(bench.input);
    free(bench.output);
    MPI_Finalize();
    return 0;
}
