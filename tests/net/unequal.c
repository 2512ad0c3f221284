/*
 * A program for any number of ranks: collectives with a size per rank, with random sizes that include zeros, one rank
 * with everything and nothing at all; in place, not blocking, on tori and on a part of the ranks; runs ahead of other
 * ranks; and invalid calls, after which the next one succeeds. All ranks compute all sizes from the same random
 * numbers.
 */
#include <stdbool.h>
#include <string.h>

#include "job.h"

enum { RANKS_MAX = 64, ROUNDS = 24, AHEAD = 300 };

static uint64_t seed = 1;

static size_t random_below(size_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % limit;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

typedef struct layout {
    size_t count[RANKS_MAX], displacement[RANKS_MAX], extent;
} layout_t;

/* Counts of up to `max` elements, by a pattern. */
static void set_counts(layout_t *layout, int size, int pattern, size_t max)
{
    const int chosen = (int)random_below((size_t)size);
    for (int r = 0; r < size; r++)
        layout->count[r] = pattern == 0   ? random_below(max + 1)
                           : pattern == 1 ? (r == chosen ? max : 0)
                           : pattern == 2 ? 0
                           : pattern == 3 ? max
                                          : (random_below(2) ? random_below(max + 1) : 0);
}

/* Displacements with gaps, in ascending or descending order; the same number of random numbers on every rank. */
static void set_displacements(layout_t *layout, int size)
{
    const bool reversed = random_below(2);
    size_t at = random_below(3);
    layout->extent = 0;
    for (int i = 0; i < size; i++) {
        const int r = reversed ? size - 1 - i : i;
        layout->displacement[r] = at;
        at += layout->count[r] + random_below(3);
        layout->extent = at;
    }
}

static int64_t *make_empty(size_t count)
{
    int64_t *data = malloc((count + 1) * sizeof *data);
    for (size_t i = 0; i <= count; i++)
        data[i] = -1000;
    return data;
}

/* ---- AllGather, Reduce-Scatter ----------------------------------------------------------------------------------- */

static void test_allgatherv(trv_net_comm_t *comm, const layout_t *layout, bool in_place, bool displaced)
{
    const int me = trv_net_rank(comm), size = trv_net_size(comm);
    int64_t *input = make(layout->count[me], me), *output = make_empty(layout->extent);
    size_t at = 0, own = 0;
    for (int r = 0; r < size; at += layout->count[r++])
        own = r == me ? (displaced ? layout->displacement[r] : at) : own;
    if (in_place)
        memcpy(output + own, input, layout->count[me] * sizeof *input);
    expect(trv_net_allgatherv(comm, in_place ? output : input, output, layout->count,
                              displaced ? layout->displacement : NULL, TRV_INT64) == TRV_OK);
    at = 0;
    for (int r = 0; r < size; at += layout->count[r++])
        for (size_t i = 0; i < layout->count[r]; i++)
            expect(output[(displaced ? layout->displacement[r] : at) + i] == value(r, i));
    free(input);
    free(output);
}

static void test_reduce_scatterv(trv_net_comm_t *comm, const layout_t *layout, bool in_place)
{
    const int me = trv_net_rank(comm), size = trv_net_size(comm);
    int64_t *input = make(layout->extent, me), *output = in_place ? input : make_empty(layout->count[me]);
    expect(trv_net_reduce_scatterv(comm, input, output, layout->count, layout->displacement, TRV_INT64, TRV_SUM) ==
           TRV_OK);
    for (size_t i = 0; i < layout->count[me]; i++)
        expect(output[i] == sum(size, layout->displacement[me] + i, NULL));
    if (!in_place)
        free(output);
    free(input);
}

/* ---- All-to-All, gather, scatter --------------------------------------------------------------------------------- */

/* Element i of the data of rank `from` for rank `to`. */
static int64_t datum(int from, int to, size_t i) { return value(from * 100 + to, i); }

static bool all_zero(const layout_t *layout)
{
    size_t count = 0;
    for (int r = 0; r < RANKS_MAX; r++)
        count += layout->count[r];
    return count == 0;
}

static void test_alltoallv(trv_net_comm_t *comm, int pattern, size_t max, bool in_place)
{
    static layout_t all[RANKS_MAX];
    const int me = trv_net_rank(comm), size = trv_net_size(comm);
    layout_t receive = {.extent = 0}, send;
    for (int r = 0; r < size; r++)
        set_counts(&all[r], size, pattern, max);
    for (int r = 0; in_place && r < size; r++) /* in place, both directions have the same size */
        for (int to = 0; to < r; to++)
            all[r].count[to] = all[to].count[r];
    for (int r = 0; r < size; r++)
        receive.count[r] = all[r].count[me];
    send = all[me];
    set_displacements(&send, size);
    set_displacements(&receive, size);
    int64_t *input = make_empty(send.extent), *output = make_empty(receive.extent);
    for (int r = 0; r < size; r++)
        for (size_t i = 0; i < send.count[r]; i++)
            *(in_place ? &output[receive.displacement[r] + i] : &input[send.displacement[r] + i]) = datum(me, r, i);
    trv_net_request_t request;
    int64_t *to = all_zero(&receive) ? NULL : output; /* a rank without data has no buffer */
    expect(trv_net_alltoallv_start(comm, in_place ? to : input, in_place ? NULL : send.count,
                                   in_place ? NULL : send.displacement, to, receive.count, receive.displacement,
                                   TRV_INT64, &request) == TRV_OK);
    expect(trv_net_wait(&request) == TRV_OK);
    for (int r = 0; r < size; r++)
        for (size_t i = 0; i < receive.count[r]; i++)
            expect(output[receive.displacement[r] + i] == datum(r, me, i));
    free(input);
    free(output);
}

static void test_scatterv_gatherv(trv_net_comm_t *comm, const layout_t *layout, int root, bool in_place)
{
    const int me = trv_net_rank(comm), size = trv_net_size(comm);
    const bool is_root = me == root;
    int64_t *whole = make_empty(layout->extent), *block = make_empty(layout->count[me]);
    for (int r = 0; is_root && r < size; r++)
        for (size_t i = 0; i < layout->count[r]; i++)
            whole[layout->displacement[r] + i] = datum(root, r, i);
    expect(trv_net_scatterv(comm, is_root ? whole : NULL, is_root ? layout->count : NULL, layout->displacement,
                            in_place && is_root ? whole : block, layout->count[me], TRV_INT64, root) == TRV_OK);
    for (size_t i = 0; i < layout->count[me]; i++)
        expect((in_place && is_root ? whole + layout->displacement[me] : block)[i] == datum(root, me, i));
    for (int r = 0; is_root && r < size; r++)
        for (size_t i = 0; i < layout->count[r]; i++)
            whole[layout->displacement[r] + i] = in_place && r == root ? datum(root, r, i) : -1000;
    expect(trv_net_gatherv(comm, in_place && is_root ? whole : block, layout->count[me], is_root ? whole : NULL,
                           is_root ? layout->count : NULL, layout->displacement, TRV_INT64, root) == TRV_OK);
    for (int r = 0; is_root && r < size; r++)
        for (size_t i = 0; i < layout->count[r]; i++)
            expect(whole[layout->displacement[r] + i] == datum(root, r, i));
    free(whole);
    free(block);
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

static void test_rounds(trv_net_comm_t *comm)
{
    static const size_t max[] = {3, 100, 5000, 60001};
    const int size = trv_net_size(comm);
    for (int round = 0; round < ROUNDS; round++) {
        const int pattern = round % 5, root = (int)random_below((size_t)size);
        const bool in_place = random_below(2);
        layout_t layout;
        set_counts(&layout, size, pattern, max[round % 4]);
        set_displacements(&layout, size);
        test_allgatherv(comm, &layout, in_place, true);
        test_allgatherv(comm, &layout, in_place, false);
        test_reduce_scatterv(comm, &layout, in_place);
        test_scatterv_gatherv(comm, &layout, root, in_place);
        test_alltoallv(comm, pattern, max[round % 4] / (size_t)size + 1, in_place);
    }
}

/* One rank sends everything, often, and the others are late; then the opposite. Requests are outstanding together. */
static void test_ahead(trv_net_comm_t *comm)
{
    const int me = trv_net_rank(comm), size = trv_net_size(comm);
    static int64_t data[AHEAD], result[AHEAD][2];
    static trv_net_request_t request[AHEAD];
    size_t count[RANKS_MAX] = {1};
    for (int i = 0; i < AHEAD; i++) {
        data[i] = i;
        expect(trv_net_allgatherv_start(comm, &data[i], result[i], count, NULL, TRV_INT64, &request[i]) == TRV_OK);
    }
    expect(trv_net_wait_all(request, AHEAD) == TRV_OK);
    for (int i = 0; i < AHEAD; i++)
        expect(result[i][0] == i);
    for (int i = 0; i < AHEAD; i++)
        expect(trv_net_reduce_scatterv(comm, &data[i], result[i], count, NULL, TRV_INT64, TRV_SUM) == TRV_OK);
    for (int i = 0; me == 0 && i < AHEAD; i++)
        expect(result[i][0] == i * size);
    for (int i = 0; i < AHEAD; i++)
        expect(trv_net_scatterv_start(comm, result, (size_t[RANKS_MAX]){[1] = size > 1}, NULL, &data[i],
                                      me == 1 && size > 1, TRV_INT64, 0, &request[i]) == TRV_OK);
    expect(trv_net_wait_all(request, AHEAD) == TRV_OK);
}

static void expect_error(int code, const char *words)
{
    expect(code == TRV_ERR_ARGUMENT);
    if (!strstr(trv_last_error(), words)) {
        fprintf(stderr, "'%s' does not contain '%s'\n", trv_last_error(), words);
        exit(1);
    }
}

/* Invalid calls send nothing. */
static void test_errors(trv_net_comm_t *comm)
{
    size_t count[RANKS_MAX] = {2, 1}, displacement[RANKS_MAX] = {1, 1}, huge[RANKS_MAX] = {SIZE_MAX / 4};
    int64_t in[4] = {0}, out[RANKS_MAX];
    expect_error(trv_net_allgatherv(comm, in, out, NULL, NULL, TRV_INT64), "the counts of the blocks are NULL");
    expect_error(trv_net_allgatherv(comm, in, out, huge, NULL, TRV_INT64), "exceeds the address space");
    if (ranks > 1)
        expect_error(trv_net_allgatherv(comm, in, out, count, displacement, TRV_INT64), "overlaps the one before it");
    expect_error(trv_net_alltoallv(comm, in, NULL, NULL, out, count, NULL, TRV_INT64),
                 "the counts of the blocks to send are NULL");
    expect_error(trv_net_gatherv(comm, in, 1, out, count, NULL, TRV_INT64, ranks), "there is no root");
    expect_error(trv_net_gatherv(comm, in, 1, out, NULL, NULL, TRV_INT64, rank), "counts of the blocks to receive");
    expect_error(trv_net_gatherv(comm, in, 1, out, count, NULL, (trv_type_t)99, 0), "element type 99 does not exist");
    expect_error(trv_net_gatherv(comm, in, SIZE_MAX / 2, out, count, NULL, TRV_INT64, 0), "exceeds the address space");
    expect_error(trv_net_scatterv(comm, in, count, NULL, out, SIZE_MAX / 2, TRV_INT64, 0), "exceeds the address space");
    const size_t sent[RANKS_MAX] = {1, 1, 1, 1}, far[RANKS_MAX] = {SIZE_MAX - 1};
    expect_error(trv_net_alltoallv(comm, in, sent, far, out, sent, NULL, TRV_INT64), "exceeds the address space");
    if (ranks <= 2)
        expect_error(trv_net_alltoallv(comm, in, sent, NULL, out, rank ? huge : count, NULL, TRV_INT64),
                     rank ? "exceeds the address space" : "bytes to itself, but receives");
    layout_t layout;
    set_counts(&layout, ranks, 0, 5);
    set_displacements(&layout, ranks);
    test_allgatherv(comm, &layout, false, true);
    test_alltoallv(comm, 0, 5, false);
}

int main(void)
{
    trv_net_t *net;
    trv_net_comm_t *half;
    expect(trv_net_init(&net, NULL) == TRV_OK);
    trv_net_comm_t *world = trv_net_world(net);
    rank = trv_net_rank(world);
    ranks = trv_net_size(world);
    expect(ranks <= RANKS_MAX);
    test_rounds(world);
    test_ahead(world);
    test_errors(world);
    if (ranks == 4 || ranks == 9) {
        expect(trv_net_comm_set(world, ranks == 4 ? "2x2" : "3x3", NULL) == TRV_OK);
        test_rounds(world);
        expect(trv_net_comm_set(world, ranks == 4 ? "2mx2m" : "9m", "bucket") == TRV_OK);
        test_rounds(world);
    }
    expect(trv_net_split(world, rank % 2, -rank, &half) == TRV_OK);
    seed = (uint64_t)(rank % 2);
    test_rounds(half);
    trv_net_comm_free(&half);
    expect(trv_net_finalize(&net) == TRV_OK);
    return 0;
}
