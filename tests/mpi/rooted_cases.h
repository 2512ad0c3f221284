/*
 * Broadcast, Reduce, Gather, Scatter, All-to-All, AllGather and Reduce-Scatter on one communicator, with several roots,
 * counts, also of blocks of different sizes, and types, in place and not. Each result is compared with that of the MPI
 * library's function (PMPI_), including the bytes around it.
 *
 * The including file defines COLLECTIVE(Name), the function under test (TRV_Bcast or MPI_Bcast), and
 * EXPECT(holds, format, …).
 */
#ifndef TRIVANCE_TESTS_MPI_ROOTED_CASES_H
#define TRIVANCE_TESTS_MPI_ROOTED_CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

typedef struct rooted_case {
    MPI_Comm comm;
    int rank, ranks, root, count;
    int *send, *receive, *expected; /* `ints` each */
    size_t ints;
} rooted_case_t;

/* Values for MPI_ arguments that have no meaning on a rank. */
#define NO_BUFFER ((void *)(uintptr_t)8)
#define NO_COUNT  (-77)

/* Avoids two defects of MPICH 4.0, which plain programs meet as well; to be called before MPI_Init. A large Allgatherv
 * fails if the extents of the receive type differ between ranks, unless whole blocks are sent; a large Reduce_scatter
 * in place copies between overlapping buffers, unless it halves recursively. */
static void avoid_defects_of_mpich(void)
{
    setenv("MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE", "-1", 1);
    setenv("MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM", "recursive_halving", 1);
}

static bool is_root(const rooted_case_t *c) { return c->rank == c->root; }

/* Fills the buffers: `send` differs by rank and position, the other two have the same bytes. */
static void rooted_fill(const rooted_case_t *c)
{
    for (size_t i = 0; i < c->ints; i++) {
        c->send[i] = (c->rank + 1) * 1000003 + (int)(i % 8191);
        c->receive[i] = c->expected[i] = -(c->rank + 1) * 5003 - (int)(i % 4093);
    }
}

static void rooted_compare(const rooted_case_t *c, int code, const char *what)
{
    size_t wrong = 0;
    for (size_t i = 0; i < c->ints; i++)
        wrong += c->receive[i] != c->expected[i];
    EXPECT(code == MPI_SUCCESS && wrong == 0, "%s, count %d, root %d of %d ranks: code %d, %zu wrong", what, c->count,
           c->root, c->ranks, code, wrong);
}

/* `count` ints, each followed by a gap. */
static MPI_Datatype gaps(int count)
{
    MPI_Datatype type;
    MPI_Type_vector(count, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* An int that is followed by a gap in its extent. */
static MPI_Datatype wide_int(void)
{
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    return type;
}

static void rooted_broadcast(const rooted_case_t *c)
{
    rooted_fill(c);
    PMPI_Bcast(c->expected, c->count, MPI_INT, c->root, c->comm);
    rooted_compare(c, COLLECTIVE(Bcast)(c->receive, c->count, MPI_INT, c->root, c->comm), "broadcast");
    /* On some ranks the type has gaps. The expected result is computed without types with gaps, because Open MPI's
     * segmented algorithms require the same type on all ranks. */
    for (int parity = 0; parity < 2; parity++) {
        MPI_Datatype type = gaps(c->count);
        const bool has_gaps = c->rank % 2 == parity;
        rooted_fill(c);
        for (int i = 0; i < c->count; i++)
            c->send[i] = c->expected[has_gaps ? 2 * i : i];
        PMPI_Bcast(c->send, c->count, MPI_INT, c->root, c->comm);
        for (int i = 0; i < c->count; i++)
            c->expected[has_gaps ? 2 * i : i] = c->send[i];
        int code = COLLECTIVE(Bcast)(c->receive, has_gaps ? 1 : c->count, has_gaps ? type : MPI_INT, c->root, c->comm);
        rooted_compare(c, code, "broadcast of a type with gaps");
        MPI_Type_free(&type);
    }
    if (c->count == 0)
        return;
    /* The root's type has no gaps, but begins with its last element. */
    MPI_Datatype turned;
    MPI_Type_indexed(2, (int[2]){1, c->count - 1}, (int[2]){c->count - 1, 0}, MPI_INT, &turned);
    MPI_Type_commit(&turned);
    rooted_fill(c);
    memcpy(c->send, c->expected, (size_t)c->count * sizeof *c->send);
    PMPI_Bcast(c->send, c->count, MPI_INT, c->root, c->comm);
    for (int i = 0; !is_root(c) && i < c->count; i++)
        c->expected[(i + 1) % c->count] = c->send[i];
    int code = COLLECTIVE(Bcast)(c->receive, is_root(c) ? 1 : c->count, is_root(c) ? turned : MPI_INT, c->root,
                                 c->comm);
    rooted_compare(c, code, "broadcast of a type in another order");
    MPI_Type_free(&turned);
    MPI_Datatype absolute;
    MPI_Aint address;
    rooted_fill(c);
    MPI_Get_address(c->receive, &address);
    MPI_Type_create_hindexed(1, &c->count, &address, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    PMPI_Bcast(c->expected, c->count, MPI_INT, c->root, c->comm);
    rooted_compare(c, COLLECTIVE(Bcast)(MPI_BOTTOM, 1, absolute, c->root, c->comm), "broadcast from MPI_BOTTOM");
    MPI_Type_free(&absolute);
}

static void sum_and_mix(void *in, void *inout, int *count, MPI_Datatype *type) /* commutative */
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i] + 1;
}

static void keep_left(void *in, void *inout, int *count, MPI_Datatype *type) /* does not commute */
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] = ((int *)in)[i];
}

static void rooted_reduce_by(const rooted_case_t *c, int count, MPI_Datatype type, MPI_Op op, const char *what)
{
    rooted_fill(c);
    for (size_t i = 1; type == MPI_2INT && i < c->ints; i += 2)
        c->send[i] = c->rank;
    PMPI_Reduce(c->send, is_root(c) ? c->expected : NULL, count, type, op, c->root, c->comm);
    int code = COLLECTIVE(Reduce)(c->send, is_root(c) ? c->receive : NULL, count, type, op, c->root, c->comm);
    rooted_compare(c, code, what);
    rooted_fill(c);
    memcpy(c->receive, c->send, c->ints * sizeof *c->send);
    memcpy(c->expected, c->send, c->ints * sizeof *c->send);
    PMPI_Reduce(c->send, is_root(c) ? c->expected : NULL, count, type, op, c->root, c->comm);
    code = COLLECTIVE(Reduce)(is_root(c) ? MPI_IN_PLACE : c->receive, is_root(c) ? c->receive : NULL, count, type, op,
                              c->root, c->comm);
    rooted_compare(c, code, what);
}

static void rooted_reduce(const rooted_case_t *c)
{
    MPI_Op mix, left;
    MPI_Op_create(sum_and_mix, 1, &mix);
    MPI_Op_create(keep_left, 0, &left);
    rooted_reduce_by(c, c->count, MPI_INT, MPI_SUM, "reduce");
    rooted_reduce_by(c, c->count, MPI_UNSIGNED, MPI_MAX, "reduce by the maximum");
    rooted_reduce_by(c, c->count / 2, MPI_2INT, MPI_MINLOC, "reduce of pairs");
    rooted_reduce_by(c, c->count, MPI_INT, mix, "reduce by a user's operation");
    rooted_reduce_by(c, c->count, MPI_INT, left, "reduce by an operation that does not commute");
    MPI_Op_free(&mix);
    MPI_Op_free(&left);
}

static void rooted_gather(const rooted_case_t *c)
{
    void *const to = is_root(c) ? (void *)c->receive : NO_BUFFER;
    const int count = c->count, to_count = is_root(c) ? count : NO_COUNT;
    MPI_Datatype wide = wide_int();
    rooted_fill(c);
    PMPI_Gather(c->send, count, MPI_INT, is_root(c) ? c->expected : NULL, count, MPI_INT, c->root, c->comm);
    int code = COLLECTIVE(Gather)(c->send, count, MPI_INT, to, to_count, is_root(c) ? MPI_INT : MPI_DATATYPE_NULL,
                                  c->root, c->comm);
    rooted_compare(c, code, "gather");
    rooted_fill(c);
    const bool own = is_root(c); /* in place: the root's block is in its place */
    PMPI_Gather(own ? MPI_IN_PLACE : c->send, count, MPI_INT, own ? c->expected : NULL, count, MPI_INT, c->root,
                c->comm);
    code = COLLECTIVE(Gather)(own ? MPI_IN_PLACE : c->send, own ? NO_COUNT : count, own ? MPI_DATATYPE_NULL : MPI_INT,
                              to, to_count, MPI_INT, c->root, c->comm);
    rooted_compare(c, code, "gather in place");
    for (int in_place = 0; in_place < 2; in_place++) {
        rooted_fill(c);
        const void *from = own && in_place ? MPI_IN_PLACE : c->send;
        const MPI_Datatype type = c->rank % 2 ? wide : MPI_INT;
        PMPI_Gather(from, count, type, own ? c->expected : NULL, count, wide, c->root, c->comm);
        code = COLLECTIVE(Gather)(from, count, type, to, to_count, wide, c->root, c->comm);
        rooted_compare(c, code, in_place ? "gather of types with gaps in place" : "gather of types with gaps");
    }
    MPI_Type_free(&wide);
}

static void rooted_scatter(const rooted_case_t *c)
{
    const void *from = is_root(c) ? c->send : NO_BUFFER;
    const int count = c->count, from_count = is_root(c) ? count : NO_COUNT;
    MPI_Datatype wide = wide_int();
    rooted_fill(c);
    PMPI_Scatter(c->send, count, MPI_INT, c->expected, count, MPI_INT, c->root, c->comm);
    int code = COLLECTIVE(Scatter)(from, from_count, is_root(c) ? MPI_INT : MPI_DATATYPE_NULL, c->receive, count,
                                   MPI_INT, c->root, c->comm);
    rooted_compare(c, code, "scatter");
    rooted_fill(c);
    PMPI_Scatter(c->send, count, MPI_INT, is_root(c) ? MPI_IN_PLACE : c->expected, count, MPI_INT, c->root, c->comm);
    code = COLLECTIVE(Scatter)(from, from_count, MPI_INT, is_root(c) ? MPI_IN_PLACE : c->receive,
                               is_root(c) ? NO_COUNT : count, MPI_INT, c->root, c->comm);
    rooted_compare(c, code, "scatter in place");
    for (int in_place = 0; in_place < 2; in_place++) {
        rooted_fill(c);
        const MPI_Datatype type = c->rank % 2 ? wide : MPI_INT;
        PMPI_Scatter(c->send, count, wide, is_root(c) && in_place ? MPI_IN_PLACE : c->expected, count, type, c->root,
                     c->comm);
        code = COLLECTIVE(Scatter)(from, from_count, wide, is_root(c) && in_place ? MPI_IN_PLACE : c->receive, count,
                                   type, c->root, c->comm);
        rooted_compare(c, code, in_place ? "scatter of types with gaps in place" : "scatter of types with gaps");
    }
    int *sent = malloc(c->ints * sizeof *sent); /* the send buffer is unchanged */
    memcpy(sent, c->send, c->ints * sizeof *sent);
    rooted_fill(c);
    EXPECT(memcmp(sent, c->send, c->ints * sizeof *sent) == 0, "scatter changes the send buffer");
    free(sent);
    MPI_Type_free(&wide);
}

static void rooted_alltoall(const rooted_case_t *c)
{
    const int count = c->count;
    MPI_Datatype wide = wide_int();
    rooted_fill(c);
    PMPI_Alltoall(c->send, count, MPI_INT, c->expected, count, MPI_INT, c->comm);
    rooted_compare(c, COLLECTIVE(Alltoall)(c->send, count, MPI_INT, c->receive, count, MPI_INT, c->comm), "all-to-all");
    rooted_fill(c);
    PMPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, c->expected, count, MPI_INT, c->comm);
    int code = COLLECTIVE(Alltoall)(MPI_IN_PLACE, NO_COUNT, MPI_DATATYPE_NULL, c->receive, count, MPI_INT, c->comm);
    rooted_compare(c, code, "all-to-all in place");
    for (int in_place = 0; in_place < 2; in_place++) {
        rooted_fill(c);
        const void *from = in_place ? MPI_IN_PLACE : c->send;
        const MPI_Datatype type = c->rank % 2 ? wide : MPI_INT; /* in place the program's types are those of receives */
        PMPI_Alltoall(from, count, wide, c->expected, count, in_place ? wide : type, c->comm);
        code = COLLECTIVE(Alltoall)(from, count, wide, c->receive, count, in_place ? wide : type, c->comm);
        rooted_compare(c, code, in_place ? "all-to-all of types with gaps in place" : "all-to-all of types with gaps");
    }
    MPI_Type_free(&wide);
}

static void rooted_allgather(const rooted_case_t *c)
{
    const int count = c->count;
    MPI_Datatype wide = wide_int();
    rooted_fill(c);
    PMPI_Allgather(c->send, count, MPI_INT, c->expected, count, MPI_INT, c->comm);
    int code = COLLECTIVE(Allgather)(c->send, count, MPI_INT, c->receive, count, MPI_INT, c->comm);
    rooted_compare(c, code, "allgather");
    for (int parity = 0; parity < 3; parity++) { /* of ranks whose type has gaps; 2: none */
        const MPI_Datatype type = parity == 2 || c->rank % 2 != parity ? MPI_INT : wide;
        rooted_fill(c);
        PMPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, c->expected, count, type, c->comm);
        code = COLLECTIVE(Allgather)(MPI_IN_PLACE, NO_COUNT, MPI_DATATYPE_NULL, c->receive, count, type, c->comm);
        rooted_compare(c, code, parity == 2 ? "allgather in place" : "allgather of types with gaps in place");
    }
    MPI_Type_free(&wide);
}

static void rooted_reduce_scatter(const rooted_case_t *c)
{
    const size_t bytes = c->ints * sizeof *c->send;
    rooted_fill(c);
    PMPI_Reduce_scatter_block(c->send, c->expected, c->count, MPI_INT, MPI_SUM, c->comm);
    int code = COLLECTIVE(Reduce_scatter_block)(c->send, c->receive, c->count, MPI_INT, MPI_SUM, c->comm);
    rooted_compare(c, code, "reduce-scatter");
    rooted_fill(c);
    memcpy(c->receive, c->send, bytes);
    memcpy(c->expected, c->send, bytes);
    PMPI_Reduce_scatter_block(MPI_IN_PLACE, c->expected, c->count, MPI_INT, MPI_SUM, c->comm);
    code = COLLECTIVE(Reduce_scatter_block)(MPI_IN_PLACE, c->receive, c->count, MPI_INT, MPI_SUM, c->comm);
    memcpy(c->receive + c->count, c->expected + c->count, bytes - (size_t)c->count * sizeof *c->send); /* undefined */
    rooted_compare(c, code, "reduce-scatter in place");
}

/* Blocks of different sizes: counts by a pattern, and displacements in sequence, with holes, or descending. */
static void rooted_counts(const rooted_case_t *c, int pattern, int layout, int *counts, int *displs)
{
    int next = 0;
    for (int i = 0; i < c->ranks; i++) {
        const int r = layout == 2 ? c->ranks - 1 - i : i;
        counts[r] = pattern == 0   ? c->count
                    : pattern == 1 ? (c->count * (r + 1) + 1) / (c->ranks + 1)
                    : pattern == 2 ? (r == c->root ? c->count : 0)
                                   : (r % 2 ? c->count : c->count / 3);
        displs[r] = next;
        next += counts[r] + (layout == 1 ? 1 : 0);
    }
}

/* Computes the expected result of an Allgatherv into elements of `stride` ints. */
static void rooted_expect_blocks(const rooted_case_t *c, const int *counts, const int *displs, int stride)
{
    int *at = malloc((size_t)c->ranks * sizeof *at), *all = malloc(c->ints * sizeof *all), next = 0;
    for (int r = 0; r < c->ranks; next += counts[r++])
        at[r] = next;
    PMPI_Allgatherv(c->send, counts[c->rank], MPI_INT, all, counts, at, MPI_INT, c->comm);
    for (int r = 0; r < c->ranks; r++)
        for (int i = 0; i < counts[r]; i++)
            c->expected[(displs[r] + i) * stride] = all[at[r] + i];
    free(at);
    free(all);
}

static void rooted_allgatherv(const rooted_case_t *c)
{
    int *counts = malloc(2 * (size_t)c->ranks * sizeof *counts), *displs = counts + c->ranks;
    MPI_Datatype wide = wide_int();
    for (int k = 0; k < 6; k++) {
        const int pattern = k % 4, layout = k % 3, own = k > 3; /* own: every rank has another layout */
        rooted_counts(c, pattern, own ? c->rank % 3 : layout, counts, displs);
        const int count = counts[c->rank];
        rooted_fill(c);
        rooted_expect_blocks(c, counts, displs, 1);
        int code = COLLECTIVE(Allgatherv)(c->send, count, MPI_INT, c->receive, counts, displs, MPI_INT, c->comm);
        rooted_compare(c, code, "allgatherv");
        rooted_fill(c);
        memcpy(c->receive + displs[c->rank], c->send, (size_t)count * sizeof(int));
        rooted_expect_blocks(c, counts, displs, 1);
        code = COLLECTIVE(Allgatherv)(MPI_IN_PLACE, NO_COUNT, MPI_DATATYPE_NULL, c->receive, counts, displs, MPI_INT,
                                      c->comm);
        rooted_compare(c, code, "allgatherv in place");
        rooted_fill(c);
        const MPI_Datatype type = c->rank % 2 == k % 2 ? wide : MPI_INT;
        rooted_expect_blocks(c, counts, displs, type == wide ? 2 : 1);
        code = COLLECTIVE(Allgatherv)(c->send, count, MPI_INT, c->receive, counts, displs, type, c->comm);
        rooted_compare(c, code, "allgatherv of types with gaps");
    }
    MPI_Type_free(&wide);
    free(counts);
}

static void rooted_reduce_scatter_counts(const rooted_case_t *c)
{
    const size_t bytes = c->ints * sizeof *c->send;
    int *counts = malloc(2 * (size_t)c->ranks * sizeof *counts), *displs = counts + c->ranks;
    for (int pattern = 0; pattern < 4; pattern++) {
        rooted_counts(c, pattern, 0, counts, displs);
        const size_t own = (size_t)counts[c->rank];
        rooted_fill(c);
        PMPI_Reduce_scatter(c->send, c->expected, counts, MPI_INT, MPI_SUM, c->comm);
        int code = COLLECTIVE(Reduce_scatter)(c->send, own > 0 ? c->receive : NULL, counts, MPI_INT, MPI_SUM, c->comm);
        rooted_compare(c, code, "reduce-scatter with counts");
        rooted_fill(c);
        memcpy(c->receive, c->send, bytes);
        memcpy(c->expected, c->send, bytes);
        PMPI_Reduce_scatter(MPI_IN_PLACE, c->expected, counts, MPI_INT, MPI_MAX, c->comm);
        code = COLLECTIVE(Reduce_scatter)(MPI_IN_PLACE, c->receive, counts, MPI_INT, MPI_MAX, c->comm);
        memcpy(c->receive + own, c->expected + own, bytes - own * sizeof *c->send); /* undefined */
        rooted_compare(c, code, "reduce-scatter with counts in place");
    }
    free(counts);
}

/* The collectives with a root, with one root and one count; if `all`, the others too. */
static void rooted_run(MPI_Comm comm, int root, int count, bool all)
{
    rooted_case_t c = {.comm = comm, .root = root, .count = count};
    MPI_Comm_rank(comm, &c.rank);
    MPI_Comm_size(comm, &c.ranks);
    c.ints = 2 * (size_t)(count + 1) * (size_t)c.ranks + 16;
    c.send = malloc(c.ints * sizeof(int));
    c.receive = malloc(c.ints * sizeof(int));
    c.expected = malloc(c.ints * sizeof(int));
    rooted_broadcast(&c);
    rooted_reduce(&c);
    rooted_gather(&c);
    rooted_scatter(&c);
    if (all) {
        rooted_alltoall(&c);
        rooted_allgather(&c);
        rooted_reduce_scatter(&c);
    }
    if (all && (count == 3 || count == 40000)) {
        rooted_allgatherv(&c);
        rooted_reduce_scatter_counts(&c);
    }
    free(c.send);
    free(c.receive);
    free(c.expected);
}

/* Roots and counts for a sample of all cases. The long vectors take nearly all of the time, so they have only three of
 * the roots: the first, the last and one between. */
static void rooted_run_all(MPI_Comm comm, int roots_max)
{
    static const int counts[] = {1, 0, 3, 40000};
    int ranks;
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < ranks && i < roots_max; i++) {
        const int root = i % 2 ? ranks - 1 - i / 2 : i / 2;
        const bool with_long = i < 2 || i == ranks - 1 || i == roots_max - 1;
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            if (with_long || counts[k] <= 3)
                rooted_run(comm, root, counts[k], i == 0);
    }
}

#endif
