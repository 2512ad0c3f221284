/*
 * Direct exchanges (trv_direct_*): all-to-all, gather and scatter with random sizes on rings, tori and meshes, with
 * zeros, gaps and more ranks than messages in flight; in place; errors. A warm exchange allocates nothing: the linker
 * wraps the allocations of the library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/trivance.h>

enum { RANKS_MAX = 100, COUNT_MAX = 40 };

static uint64_t seed = 1;

static size_t random_below(size_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % limit;
}

static long allocations;
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes) { return allocations++, __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { return allocations++, __real_calloc(count, bytes); }
void *__wrap_realloc(void *memory, size_t bytes) { return allocations++, __real_realloc(memory, bytes); }

/* ---- All ranks in one thread ------------------------------------------------------------------------------------- */

static trv_loopback_t *loopback;
static trv_direct_t *direct[RANKS_MAX];
static int ranks;
static uint32_t *input[RANKS_MAX], *output[RANKS_MAX];

/* Per rank: its blocks in the input and in the output; and the elements of a buffer that contains them. */
typedef struct layout {
    size_t count[RANKS_MAX], displacement[RANKS_MAX], extent;
} layout_t;
static layout_t sent[RANKS_MAX], received[RANKS_MAX];

static void create(const char *text)
{
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(text, &torus), 0);
    ranks = torus.ranks;
    assert_int_equal(trv_loopback_create(&loopback, ranks), 0);
    for (int r = 0; r < ranks; r++)
        assert_int_equal(trv_direct_create(&direct[r], &torus, r, trv_loopback_transport(loopback, r), NULL), 0);
}

static void destroy(void)
{
    for (int r = 0; r < ranks; r++) {
        trv_direct_destroy(direct[r]);
        free(input[r]);
        free(output[r]);
        input[r] = output[r] = NULL;
    }
    trv_loopback_destroy(loopback);
}

/* Places the blocks with gaps, in the order of the ranks or in the opposite one. */
static void place(layout_t *layout)
{
    const bool reversed = random_below(2);
    size_t at = random_below(2);
    layout->extent = 0;
    for (int i = 0; i < ranks; i++) {
        const int r = reversed ? ranks - 1 - i : i;
        layout->displacement[r] = at;
        at += layout->count[r] + random_below(3);
        if (layout->count[r] > 0)
            layout->extent = at > layout->extent ? at : layout->extent;
    }
}

static size_t random_count(int density) { return (int)random_below(4) < density ? random_below(COUNT_MAX) : 0; }

/* Element i of the data of rank `from` for rank `to`. */
static uint32_t value(int from, int to, size_t i) { return (uint32_t)(from * 1000003 + to * 1009) + (uint32_t)i; }

static void allocate(bool in_place)
{
    for (int r = 0; r < ranks; r++) {
        free(input[r]);
        free(output[r]);
        input[r] = in_place || sent[r].extent == 0 ? NULL : malloc(sent[r].extent * sizeof **input);
        output[r] = received[r].extent == 0 ? NULL : malloc(received[r].extent * sizeof **output);
        if (output[r])
            memset(output[r], 0xee, received[r].extent * sizeof **output);
        if (input[r])
            memset(input[r], 0xdd, sent[r].extent * sizeof **input);
    }
}

static void fill(uint32_t *const data[], const layout_t layout[])
{
    for (int r = 0; r < ranks; r++)
        for (int to = 0; to < ranks; to++)
            for (size_t i = 0; i < layout[r].count[to]; i++)
                data[r][layout[r].displacement[to] + i] = value(r, to, i);
}

static void drive(void)
{
    int running = ranks;
    for (long turns = 0; running > 0; turns++) {
        running = 0;
        for (int r = 0; r < ranks; r++) {
            const int rc = trv_direct_test(direct[r]);
            if (rc < 0)
                fail_msg("rank %d: %s", r, trv_last_error());
            running += rc == 0;
        }
        assert_true(turns < 100000);
    }
}

static void check(void)
{
    for (int r = 0; r < ranks; r++)
        for (int from = 0; from < ranks; from++)
            for (size_t i = 0; i < received[r].count[from]; i++)
                assert_int_equal(output[r][received[r].displacement[from] + i], value(from, r, i));
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

static void start_alltoall(bool in_place)
{
    for (int r = 0; r < ranks; r++) {
        const trv_direct_blocks_t send = {sent[r].count, sent[r].displacement};
        const trv_direct_blocks_t receive = {received[r].count, received[r].displacement};
        if (trv_direct_start_alltoall(direct[r], sizeof(uint32_t), in_place ? output[r] : input[r],
                                      in_place ? NULL : &send, output[r], &receive))
            fail_msg("rank %d: %s", r, trv_last_error());
    }
}

static void alltoall(int density)
{
    const bool in_place = random_below(3) == 0; /* then a rank sends as much to another as it receives from it */
    for (int r = 0; r < ranks; r++)
        for (int to = 0; to < ranks; to++)
            sent[r].count[to] = in_place && to < r ? sent[to].count[r] : random_count(density);
    for (int r = 0; r < ranks; r++)
        for (int from = 0; from < ranks; from++)
            received[r].count[from] = sent[from].count[r];
    for (int r = 0; r < ranks; r++) {
        place(&sent[r]);
        place(&received[r]);
    }
    allocate(in_place);
    for (int repetition = 0; repetition < 2; repetition++) {
        fill(in_place ? output : input, in_place ? received : sent);
        const long before = allocations;
        start_alltoall(in_place);
        drive();
        assert_true(repetition == 0 || allocations == before);
        check();
    }
}

static void clear_layouts(void)
{
    memset(sent, 0, sizeof sent);
    memset(received, 0, sizeof received);
}

static void gather(int root, int density)
{
    const bool in_place = random_below(2);
    clear_layouts();
    for (int r = 0; r < ranks; r++)
        received[root].count[r] = sent[r].count[root] = sent[r].extent = random_count(density);
    place(&received[root]);
    allocate(false);
    fill(input, sent);
    const size_t own = received[root].count[root], at = received[root].displacement[root];
    if (in_place && own > 0)
        memcpy(output[root] + at, input[root], own * sizeof **input);
    const trv_direct_blocks_t blocks = {received[root].count, received[root].displacement};
    for (int r = 0; r < ranks; r++)
        assert_int_equal(trv_direct_start_gather(direct[r], root, sizeof(uint32_t),
                                                 in_place && r == root ? output[r] : input[r], sent[r].count[root],
                                                 output[r], r == root ? &blocks : NULL),
                         0);
    drive();
    check();
}

static void scatter(int root, int density)
{
    const bool in_place = random_below(2);
    clear_layouts();
    for (int r = 0; r < ranks; r++)
        sent[root].count[r] = received[r].count[root] = received[r].extent = random_count(density);
    place(&sent[root]);
    allocate(false);
    fill(input, sent);
    const trv_direct_blocks_t blocks = {sent[root].count, sent[root].displacement};
    for (int r = 0; r < ranks; r++)
        assert_int_equal(trv_direct_start_scatter(direct[r], root, sizeof(uint32_t), input[r],
                                                  r == root ? &blocks : NULL,
                                                  in_place && r == root ? input[r] : output[r],
                                                  received[r].count[root]),
                         0);
    drive();
    if (in_place)
        received[root].count[root] = 0;
    check();
}

static void test_random(void **state)
{
    (void)state;
    static const char *const tori[] = {"1", "2", "3", "8", "3x3", "4x2", "3mx4", "40", "10x10"};
    for (size_t t = 0; t < sizeof tori / sizeof *tori; t++) {
        create(tori[t]);
        for (int density = 0; density <= 4; density += 1 + (ranks > 9)) {
            alltoall(density);
            gather((int)random_below((size_t)ranks), density);
            scatter((int)random_below((size_t)ranks), density);
        }
        destroy();
    }
}

static void expect_error(int rc, int code, const char *words)
{
    assert_int_equal(rc, code);
    if (!strstr(trv_last_error(), words))
        fail_msg("'%s' does not contain '%s'", trv_last_error(), words);
}

static void test_errors(void **state)
{
    (void)state;
    trv_torus_t torus;
    trv_direct_t *refused;
    uint32_t data[8] = {0};
    const size_t count[] = {1, 2, 1}, overlapping[] = {0, 1, 2};
    const trv_direct_blocks_t blocks = {count, NULL}, overlap = {count, overlapping}, none = {NULL, NULL};
    create("3");
    assert_int_equal(trv_torus_parse("3", &torus), 0);
    expect_error(trv_direct_create(&refused, &torus, 3, trv_loopback_transport(loopback, 0), NULL), TRV_ERR_ARGUMENT,
                 "rank 3 is not on the torus");
    expect_error(trv_direct_create(&refused, NULL, 0, NULL, NULL), TRV_ERR_ARGUMENT, "needs a torus and a transport");
    expect_error(trv_direct_test(direct[0]), TRV_ERR_STATE, "was not started");
    expect_error(trv_direct_start_alltoall(direct[0], 4, data, &none, data + 4, &blocks), TRV_ERR_ARGUMENT,
                 "the counts of the blocks to send are NULL; there must be one for each of 3 ranks");
    expect_error(trv_direct_start_alltoall(direct[0], 4, data, &blocks, data + 4, &overlap), TRV_ERR_ARGUMENT,
                 "the block at displacement 2 overlaps the one before it, which ends at 3");
    expect_error(trv_direct_start_alltoall(direct[0], 4, data, &blocks, data + 3, &blocks), TRV_ERR_ARGUMENT,
                 "input and output overlap");
    expect_error(trv_direct_start_alltoall(direct[0], 4, NULL, &blocks, data, &blocks), TRV_ERR_ARGUMENT,
                 "the input buffer is NULL");
    expect_error(trv_direct_start_alltoall(direct[0], 4, data, &blocks, NULL, &blocks), TRV_ERR_ARGUMENT,
                 "the output buffer is NULL");
    expect_error(trv_direct_start_gather(direct[0], 3, 4, data, 1, data, &blocks), TRV_ERR_ARGUMENT,
                 "there is no root 3 among 3 ranks; roots are 0 to 2");
    expect_error(trv_direct_start_gather(direct[0], 0, 4, data, 2, data + 4, &blocks), TRV_ERR_ARGUMENT,
                 "rank 0 sends 8 bytes to itself, but receives 4 bytes from itself");
    expect_error(trv_direct_start_gather(direct[0], 0, 0, data, 1, data + 4, &blocks), TRV_ERR_ARGUMENT, "0 bytes");
    expect_error(trv_direct_start_scatter(direct[0], 1, 4, NULL, NULL, data, SIZE_MAX / 8), TRV_ERR_ARGUMENT,
                 "exceeds the address space");

    /* A rank that waits, its description, and the end of a run that is cancelled. */
    char text[100];
    assert_int_equal(trv_direct_start_gather(direct[1], 1, 4, data, 2, data + 4, &blocks), 0);
    assert_int_equal(trv_direct_test(direct[1]), 0);
    trv_direct_describe_as(direct[1], (int[]){10, 11, 12}, text, sizeof text);
    assert_string_equal(text, "rank 11: waits for ranks 10, 12");
    expect_error(trv_direct_start_gather(direct[1], 1, 4, data, 2, data + 4, &blocks), TRV_ERR_STATE, "is running");
    trv_direct_cancel(direct[1]);
    expect_error(trv_direct_test(direct[1]), TRV_ERR_STATE, "failed earlier");
    expect_error(trv_direct_start_gather(direct[1], 1, 4, data, 2, data + 4, &blocks), TRV_ERR_STATE, "failed earlier");
    destroy();

    /* Sizes that differ. */
    create("2");
    assert_int_equal(trv_direct_start_scatter(direct[1], 0, 4, NULL, NULL, data, 3), 0);
    assert_int_equal(trv_direct_start_scatter(direct[0], 0, 4, data, &blocks, data + 6, 1), 0);
    int rc = 0;
    for (int turn = 0; turn < 10 && rc == 0; turn++)
        rc = trv_direct_test(direct[1]);
    assert_int_equal(rc, TRV_ERR_TRANSPORT);
    destroy();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
