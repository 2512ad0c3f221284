/*
 * User-defined operations.
 */
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>
#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "topics.h"

/* ---- Commutative: modular sums of triples ------------------------------------------------------------------------ */

typedef struct triple {
    int64_t a, b, c;
} triple_t;

static void add_triples(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const triple_t *x = in;
    triple_t *y = inout;
    (void)type;
    for (int i = 0; i < *count; i++)
        y[i] = (triple_t){x[i].a + y[i].a, x[i].b ^ y[i].b, x[i].c > y[i].c ? x[i].c : y[i].c};
}

static triple_t triple(int rank, int i)
{
    return (triple_t){rank + 10 * i, (int64_t)(test_random((uint64_t)(rank * 7 + i)) >> 1), (rank * 31 + i * 17) % 101};
}

static void commutative(MPI_Comm comm, int count)
{
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_contiguous(3, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_triples, 1, &op);
    triple_t *mine = malloc(sizeof *mine * (size_t)count), *got = malloc(sizeof *got * (size_t)count);
    for (int i = 0; i < count; i++)
        mine[i] = triple(test_rank, i);
    expect_class(TRV_Allreduce(mine, got, count, type, op, comm), MPI_SUCCESS, NULL, "a user-defined operation");
    int one = 1, wrong = 0;
    for (int i = 0; i < count; i++) {
        triple_t want = triple(0, i);
        for (int r = 1; r < test_ranks; r++) {
            triple_t next = triple(r, i);
            add_triples(&next, &want, &one, NULL);
        }
        wrong += memcmp(&want, &got[i], sizeof want) != 0;
    }
    expect(wrong == 0, "%d of %d triples are wrong", wrong, count);
    expect_class(TRV_Allreduce(MPI_IN_PLACE, mine, count, type, op, comm), MPI_SUCCESS, NULL, "the same in place");
    expect(memcmp(mine, got, sizeof *mine * (size_t)count) == 0, "in place is not the same");
    free(mine);
    free(got);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* ---- Not commutative: maps x -> ax + b modulo a prime ------------------------------------------------------------ */

#define PRIME 1000003

typedef struct affine {
    int64_t a, b;
} affine_t;

/* First x, then y. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const affine_t *x = in;
    affine_t *y = inout;
    (void)type;
    for (int i = 0; i < *count; i++)
        y[i] = (affine_t){x[i].a * y[i].a % PRIME, (x[i].b * y[i].a + y[i].b) % PRIME};
}

static affine_t affine(int rank, int i) { return (affine_t){2 + (rank * 5 + i) % 97, 1 + (rank * 11 + 3 * i) % 89}; }

/* Calls with small counts use the algorithm that adds in rank order, and calls with large counts fall back to the MPI
 * library; both keep the order. */
static void in_order(MPI_Comm comm, int count, const char *algorithm)
{
    MPI_Datatype type;
    MPI_Op op;
    TRV_Plan plan;
    TRV_Plan_info info = {TRV_PLAN_INFO};
    int one = 1, wrong = 0;
    MPI_Type_contiguous(2, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose, 0, &op);
    affine_t *mine = malloc(sizeof *mine * (size_t)count), *got = malloc(sizeof *got * (size_t)count);
    for (int i = 0; i < count; i++)
        mine[i] = affine(test_rank, i);
    expect_class(TRV_Allreduce(mine, got, count, type, op, comm), MPI_SUCCESS, NULL, "a non-commutative operation");
    for (int i = 0; i < count; i++) {
        affine_t want = affine(test_ranks - 1, i);
        for (int r = test_ranks - 2; r >= 0; r--) {
            affine_t before = affine(r, i);
            compose(&before, &want, &one, NULL);
        }
        wrong += memcmp(&want, &got[i], sizeof want) != 0;
    }
    expect(wrong == 0, "%d of %d maps are not composed in rank order", wrong, count);
    if (expect_class(TRV_Allreduce_plan_create(count, type, op, comm, &plan), MPI_SUCCESS, NULL, "its plan")) {
        TRV_Plan_query(plan, &info);
        expect(strcmp(info.algorithm, algorithm) == 0, "%d maps: the algorithm is %s, not %s", count, info.algorithm,
               algorithm);
        memset(got, 0, sizeof *got * (size_t)count);
        memcpy(got, mine, sizeof *got * (size_t)count);
        expect_class(TRV_Plan_run(plan, MPI_IN_PLACE, got), MPI_SUCCESS, NULL, "its plan in place");
        affine_t want = affine(test_ranks - 1, 0);
        for (int r = test_ranks - 2; r >= 0; r--) {
            affine_t before = affine(r, 0);
            compose(&before, &want, &one, NULL);
        }
        expect(memcmp(&want, got, sizeof want) == 0, "the plan in place does not compose in rank order");
        TRV_Plan_free(&plan);
    }
    free(mine);
    free(got);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* ---- Types with gaps --------------------------------------------------------------------------------------------- */

static void add_first(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *x = in;
    int *y = inout;
    (void)type;
    for (int i = 0; i < *count; i++)
        y[2 * i] += x[2 * i];
}

/* Calls with types that have gaps fall back to the MPI library. */
static void with_gaps(MPI_Comm comm)
{
    MPI_Datatype type;
    MPI_Op op;
    int mine[10], got[10];
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_first, 1, &op);
    for (int i = 0; i < 10; i++) {
        mine[i] = test_rank + i;
        got[i] = -7;
    }
    expect_class(TRV_Allreduce(mine, got, 5, type, op, comm), MPI_SUCCESS, NULL, "a type with gaps");
    for (int i = 0; i < 10; i++)
        expect(got[i] == (i % 2 ? -7 : test_ranks * (test_ranks - 1) / 2 + test_ranks * i), "element %d is %d", i,
               got[i]);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

void topic_operations(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(test_comm, &comm);
    commutative(comm, 1);
    commutative(comm, 50);
    commutative(comm, 9001);
    in_order(comm, 1, "trivance-l-gathered");
    in_order(comm, 100, "trivance-l-gathered");
    in_order(comm, 40000, "mpi");
    with_gaps(comm);
    MPI_Comm_free(&comm);
}
