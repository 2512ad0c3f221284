/*
 * Every algorithm on tori of this number of ranks, with every collective that it supports, with counts around the
 * number of ranks, in place and not, compared with the exact result; also the planner's choices, and names with
 * parameters. The sample has three tori and three counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "harness.h"
#include "topics.h"
#include "cli/mpi/bench.h"
#include "../../exhaustive.h"

#define COUNT_MAX 4099
#define TORI_MAX  64

static bool brief; /* the sample: fewer tori and counts */

/* The ring of n, products of two and of three sizes, and 1xnx1: at most `max` tori. */
static int tori_of(int n, trv_torus_t *torus, int max)
{
    int count = 0;
    trv_torus_init(&torus[count++], 1, (int[]){n});
    for (int a = 2; a < n && count < max; a++) {
        if (n % a != 0)
            continue;
        trv_torus_init(&torus[count++], 2, (int[]){a, n / a});
        for (int b = 2; b < n / a && count < max; b++)
            if ((n / a) % b == 0 && b >= a)
                trv_torus_init(&torus[count++], 3, (int[]){a, b, n / a / b});
    }
    if (count < max && n > 1)
        trv_torus_init(&torus[count++], 3, (int[]){1, n, 1});
    return count;
}

typedef struct run {
    MPI_Comm comm;
    bench_data_t data;
    char *send, *receive;
    trv_collective_t collective;
    MPI_Datatype type;
    MPI_Op op;
    const char *torus, *algorithm;
} run_t;

static int call(const run_t *run, int count, bool in_place)
{
    const void *send = in_place ? MPI_IN_PLACE : run->send;
    if (run->collective == TRV_ALLREDUCE)
        return TRV_Allreduce(send, run->receive, count, run->type, run->op, run->comm);
    if (run->collective == TRV_REDUCE_SCATTER)
        return TRV_Reduce_scatter_block(send, run->receive, count, run->type, run->op, run->comm);
    return TRV_Allgather(send, count, run->type, run->receive, count, run->type, run->comm);
}

static void try_count(const run_t *run, int count, bool in_place)
{
    static const char *const name[] = {"allreduce", "reduce-scatter", "allgather"};
    size_t size = trv_type_size(run->data.type), blocks = run->collective == TRV_ALLREDUCE ? 1 : (size_t)test_ranks;
    memset(run->receive, 0x5a, blocks * (size_t)count * size + 64);
    char *input = !in_place ? run->send : run->receive;
    if (in_place && run->collective == TRV_ALLGATHER)
        input += (size_t)test_rank * (size_t)count * size;
    bench_data_fill(&run->data, input, (uint64_t)count);
    int code = call(run, count, in_place);
    uint64_t wrong = bench_data_wrong(&run->data, run->receive, (uint64_t)count);
    expect(code == MPI_SUCCESS && wrong == 0, "%s by %s on %s, %d elements of %s%s: class %d (%s), %llu wrong",
           name[run->collective], run->algorithm, run->torus, count, trv_type_name(run->data.type),
           in_place ? " in place" : "", code, code ? trv_last_error() : "", (unsigned long long)wrong);
    size_t result = (run->collective == TRV_ALLGATHER ? blocks : 1) * (size_t)count * size;
    char guard[64];
    memset(guard, 0x5a, sizeof guard);
    if (!in_place || run->collective != TRV_REDUCE_SCATTER) /* there this rank's input is after the result */
        expect(memcmp(run->receive + result, guard, sizeof guard) == 0,
               "%s by %s on %s, %d elements: bytes after the result were written", name[run->collective],
               run->algorithm, run->torus, count);
}

static void try_all_counts(run_t *run)
{
    const int n = test_ranks, many[] = {0, 1, 2, n - 1, n, n + 1, 1000, COUNT_MAX}, few[] = {1, n + 1, 1000};
    int counts = brief ? 3 : 8;
    for (int i = 0; i < counts; i++) {
        int count = brief ? few[i] : many[i];
        try_count(run, count, false);
        if (i % 2 == 1 || brief)
            try_count(run, count, true);
    }
}

static void try_type(run_t *run, trv_type_t type, trv_op_t op)
{
    run->data = (bench_data_t){.collective = run->collective, .type = type, .op = op};
    run->type = call_mpi_type(type);
    run->op = call_mpi_op(op);
    if (expect(bench_data_init(&run->data, test_rank, test_ranks) == TRV_OK, "out of memory"))
        try_all_counts(run);
    bench_data_clear(&run->data);
}

static void try_algorithm(run_t *run, const trv_algorithm_t *algorithm, const trv_torus_t *torus)
{
    bool covers = trv_algorithm_exactness(algorithm) == TRV_COVERS;
    char text[TRV_TORUS_TEXT_MAX];
    run->torus = trv_torus_format(torus, text, sizeof text);
    run->algorithm = trv_algorithm_name(algorithm);
    if (trv_algorithm_supports(algorithm, torus, TRV_ALLREDUCE) < 0)
        return;
    if (!expect_class(TRV_Comm_set(run->comm, run->torus, run->algorithm), MPI_SUCCESS, NULL, "TRV_Comm_set"))
        return;
    for (int c = 0; c < 3; c++) {
        run->collective = (trv_collective_t)c;
        if (trv_algorithm_supports(algorithm, torus, run->collective) == TRV_OK)
            try_type(run, c == 1 ? TRV_DOUBLE : TRV_INT32, covers ? TRV_MAX : TRV_SUM);
    }
}

/* Writes a name like "hybrid:2x3:grouped", with the smallest factor of every dimension; it is a hybrid if a dimension
 * has two factors. */
static void name_hybrid(const trv_torus_t *torus, char name[TRV_ALGORITHM_NAME_MAX])
{
    int used = snprintf(name, TRV_ALGORITHM_NAME_MAX, "hybrid:");
    for (int d = 0; d < torus->dims; d++) {
        int factor = torus->size[d] > 1 ? 2 : 1;
        while (torus->size[d] % factor != 0)
            factor++;
        used += snprintf(name + used, (size_t)(TRV_ALGORITHM_NAME_MAX - used), "%s%d", d ? "x" : "", factor);
    }
    snprintf(name + used, (size_t)(TRV_ALGORITHM_NAME_MAX - used), ":grouped");
}

static void try_plans(run_t *run, const trv_torus_t *torus)
{
    char text[TRV_TORUS_TEXT_MAX], hybrid[TRV_ALGORITHM_NAME_MAX];
    const char *const name[] = {"auto", "planned", hybrid};
    name_hybrid(torus, hybrid);
    run->torus = trv_torus_format(torus, text, sizeof text);
    for (int i = 0; i < 3; i++) {
        run->algorithm = name[i];
        expect_class(TRV_Comm_set(run->comm, run->torus, name[i]), MPI_SUCCESS, NULL, name[i]);
        for (int c = 0; c < 3; c++) { /* the hybrid is an AllReduce: the others are planned */
            run->collective = (trv_collective_t)c;
            try_type(run, c == 1 ? TRV_INT64 : TRV_FLOAT, c == 1 ? TRV_MAX : TRV_SUM);
        }
    }
}

/* Streams with different weights, in both orders: on two dimensions, with all collectives. */
static void try_weights(run_t *run, const trv_torus_t *torus)
{
    static const char *const name[] = {"bucket:3/1", "hybrid:%dx%d:sequential:streams3:weights4/3"};
    static char text[TRV_TORUS_TEXT_MAX], weighted[TRV_ALGORITHM_NAME_MAX];
    if (torus->dims != 2 || torus->size[0] == 1 || torus->size[1] == 1)
        return;
    run->torus = trv_torus_format(torus, text, sizeof text);
    run->algorithm = weighted;
    for (int i = 0; i < 2; i++) {
        snprintf(weighted, sizeof weighted, name[i], torus->size[0], torus->size[1]);
        expect_class(TRV_Comm_set(run->comm, run->torus, weighted), MPI_SUCCESS, NULL, weighted);
        for (int c = 0; c < 3; c++) {
            run->collective = (trv_collective_t)c;
            try_type(run, TRV_INT32, TRV_SUM);
        }
    }
}

/* The variants of stars that support the torus, for AllReduce only. */
static void try_stars(run_t *run, const trv_torus_t *torus)
{
    static const char *const name[] = {"star:l", "star:0", "star:1", "star:l::1", "star:gathered"};
    char text[TRV_TORUS_TEXT_MAX];
    run->torus = trv_torus_format(torus, text, sizeof text);
    run->collective = TRV_ALLREDUCE;
    for (int i = 0; i < 5; i++) {
        trv_schedule_t *schedule;
        if (trv_schedule_create(&schedule, torus, name[i], TRV_ALLREDUCE) < 0)
            continue;
        trv_schedule_destroy(schedule);
        run->algorithm = name[i];
        expect_class(TRV_Comm_set(run->comm, run->torus, name[i]), MPI_SUCCESS, NULL, name[i]);
        try_type(run, TRV_INT32, TRV_SUM);
    }
}

void topic_collectives(void)
{
    brief = !exhaustive();
    size_t bytes = (size_t)test_ranks * COUNT_MAX * 16 + 64;
    run_t run = {.send = malloc(bytes), .receive = malloc(bytes)};
    trv_torus_t torus[TORI_MAX];
    MPI_Comm_dup(test_comm, &run.comm);
    int tori = tori_of(test_ranks, torus, brief ? 3 : 5);
    for (int t = 0; t < tori; t++) {
        for (int a = 0; a < trv_algorithms_count(); a++)
            try_algorithm(&run, trv_algorithm_at(a), &torus[t]);
        if (test_ranks <= 9)
            try_plans(&run, &torus[t]);
        try_weights(&run, &torus[t]);
        if (torus[t].dims > 1)
            try_stars(&run, &torus[t]);
    }
    MPI_Comm_free(&run.comm);
    free(run.send);
    free(run.receive);
}
