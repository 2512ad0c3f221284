/*
 * Blocks of different sizes (trv_plan_start_blocks): every algorithm of AllGather, Reduce-Scatter, Gather and Scatter
 * on rings, tori, meshes and lines, with random sizes that include zeros, one rank with everything, and nothing at all;
 * with gaps between blocks and blocks in another order; in place, in chunks, and with one plan for many sizes. The
 * results are compared with sums and copies that are computed element by element. The quick tier takes tori of up to 16
 * ranks, the exhaustive tier the others.
 *
 * The linker wraps the allocations of the library: a warm run allocates nothing, and a start without memory fails and
 * can be repeated.
 */
#include "test_execute_world.h"

enum { ROUNDS = 7, COUNT_MAX = 60 };

static uint64_t seed = 1;

static size_t random_below(size_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % limit;
}

/* ---- Allocations ------------------------------------------------------------------------------------------------- */

static long allocations, failing = -1; /* number of allocations so far; the one that fails */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

static bool fails(void) { return allocations++ == failing; }
void *__wrap_malloc(size_t bytes) { return fails() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { return fails() ? NULL : __real_calloc(count, bytes); }
void *__wrap_realloc(void *memory, size_t bytes) { return fails() ? NULL : __real_realloc(memory, bytes); }

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

typedef enum pattern { RANDOM, ONE_HAS_ALL, NOTHING, ASCENDING, SPARSE, ALMOST_EQUAL, EQUAL, PATTERNS } pattern_t;

/* The sizes of a run: per rank a count, the number of elements before it, and a displacement; displaced: pass the
 * displacements, otherwise NULL. If the counts are equal, only some ranks have displacements. */
typedef struct sizes {
    size_t *count, *before, *displacement;
    size_t total, extent;
    bool displaced, some;
} sizes_t;

static bool is_displaced(const sizes_t *sizes, int rank) { return sizes->displaced && (!sizes->some || rank % 3 == 1); }

/* The displacements of the blocks in the buffers of a rank. */
static const size_t *displacements_of(const sizes_t *sizes, int rank)
{
    return is_displaced(sizes, rank) ? sizes->displacement : sizes->before;
}

static sizes_t sizes_make(int ranks)
{
    sizes_t sizes = {.count = calloc(3 * (size_t)ranks, sizeof(size_t))};
    assert_non_null(sizes.count);
    sizes.before = sizes.count + ranks;
    sizes.displacement = sizes.before + ranks;
    return sizes;
}

static size_t random_count(pattern_t pattern, size_t max, int rank, int ranks, int chosen)
{
    switch (pattern) {
    case ONE_HAS_ALL: return rank == chosen ? max : 0;
    case NOTHING: return 0;
    case ASCENDING: return (size_t)rank * max / (size_t)ranks;
    case SPARSE: return random_below(3) ? 0 : random_below(max + 1);
    case EQUAL: return max;
    case ALMOST_EQUAL: return max - (rank == chosen);
    default: return random_below(4) ? random_below(max + 1) : 0;
    }
}

/* Blocks at random displacements are in the order of the ranks, or in the opposite order, with gaps. */
static void sizes_set(sizes_t *sizes, int ranks, pattern_t pattern, size_t max)
{
    const int chosen = (int)random_below((size_t)ranks);
    const bool reversed = random_below(2);
    size_t at = random_below(3);
    sizes->some = pattern == EQUAL;
    sizes->displaced = sizes->some || random_below(2);
    sizes->total = sizes->extent = 0;
    for (int r = 0; r < ranks; r++) {
        sizes->count[r] = random_count(pattern, max, r, ranks, chosen);
        sizes->before[r] = sizes->total;
        sizes->total += sizes->count[r];
    }
    for (int i = 0; i < ranks; i++) {
        const int r = reversed ? ranks - 1 - i : i;
        sizes->displacement[r] = sizes->displaced ? at : sizes->before[r];
        at += sizes->count[r] + random_below(3);
        if (sizes->count[r] > 0 && sizes->displacement[r] + sizes->count[r] > sizes->extent)
            sizes->extent = sizes->displacement[r] + sizes->count[r];
    }
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static bool all_in(const world_t *w, int rank)
{
    return w->collective == TRV_REDUCE_SCATTER || (w->collective == TRV_SCATTER && rank == w->root);
}

static bool all_out(const world_t *w, int rank)
{
    return w->collective == TRV_ALLGATHER || (w->collective == TRV_GATHER && rank == w->root);
}

static bool own_in(const world_t *w) { return w->collective == TRV_ALLGATHER || w->collective == TRV_GATHER; }

static bool own_out(const world_t *w) { return w->collective == TRV_SCATTER || w->collective == TRV_REDUCE_SCATTER; }

/* Buffers of exact sizes, so that AddressSanitizer and valgrind detect overruns. In place, the larger one is used. */
static void allocate_buffers(world_t *w, const sizes_t *sizes, bool in_place)
{
    for (int r = 0; r < w->ranks; r++) {
        const size_t own = sizes->count[r], extent = sizes->extent;
        const size_t in = all_in(w, r) ? extent
                          : own_in(w)  ? own
                                       : 0,
                     out = all_out(w, r) ? extent
                           : own_out(w)  ? own
                                         : 0;
        const size_t larger = in_place && in > out ? in : out;
        free(w->input[r]);
        free(w->output[r]);
        w->input[r] = in && !in_place ? malloc(in * sizeof(uint32_t)) : NULL;
        w->output[r] = larger ? malloc(larger * sizeof(uint32_t)) : NULL;
        if (w->output[r])
            memset(w->output[r], 0xee, larger * sizeof(uint32_t));
        if (w->input[r])
            memset(w->input[r], 0xdd, in * sizeof(uint32_t));
    }
}

/* Rank r contributes contribution(r, i) at the i-th element of all blocks or, if it has one block, at its i-th
 * element. */
static void fill_inputs(const world_t *w, const sizes_t *sizes, bool in_place)
{
    for (int r = 0; r < w->ranks; r++) {
        uint32_t *to = (uint32_t *)(void *)(in_place ? w->output[r] : w->input[r]);
        for (int b = 0; all_in(w, r) && b < w->ranks; b++)
            for (size_t i = 0; i < sizes->count[b]; i++)
                to[displacements_of(sizes, r)[b] + i] = contribution(r, sizes->before[b] + i);
        for (size_t i = 0; own_in(w) && i < sizes->count[r]; i++)
            to[(in_place && all_out(w, r) ? displacements_of(sizes, r)[r] : 0) + i] = contribution(r, i);
    }
}

static void start_all(const world_t *w, const sizes_t *sizes, bool in_place)
{
    for (int r = 0; r < w->ranks; r++)
        if (trv_plan_start_blocks(w->plan[r], sizes->count, is_displaced(sizes, r) ? sizes->displacement : NULL,
                                  in_place ? w->output[r] : w->input[r], w->output[r]))
            fail_msg("%s, rank %d: %s", trv_schedule_name(w->schedule), r, trv_last_error());
}

static uint32_t expected(const world_t *w, const sizes_t *sizes, int block, size_t i)
{
    uint32_t result = 0;
    if (own_in(w))
        return contribution(block, i);
    if (w->collective == TRV_SCATTER)
        return contribution(w->root, sizes->before[block] + i);
    for (int r = 0; r < w->ranks; r++) {
        const uint32_t value = contribution(r, sizes->before[block] + i);
        result = trv_schedule_exactness(w->schedule) != TRV_COVERS ? result + value : value > result ? value : result;
    }
    return result;
}

static void check_block(const world_t *w, const sizes_t *sizes, int rank, int block, size_t at, char *covered)
{
    if (sizes->count[block] == 0)
        return;
    const uint32_t *result = (const uint32_t *)(const void *)w->output[rank] + at;
    for (size_t i = 0; i < sizes->count[block]; i++) {
        char torus[TRV_TORUS_TEXT_MAX];
        if (result[i] != expected(w, sizes, block, i))
            fail_msg("%s on %s, %d ranks, collective %d: rank %d has element %zu of block %d wrong",
                     trv_schedule_name(w->schedule),
                     trv_torus_format(trv_schedule_torus(w->schedule), torus, sizeof torus), w->ranks, w->collective,
                     rank, i, block);
        if (covered)
            covered[at + i] = 1;
    }
}

static void check_results(const world_t *w, const sizes_t *sizes, bool in_place)
{
    char *covered = malloc(sizes->extent + 1);
    for (int r = 0; r < w->ranks; r++) {
        if (own_out(w))
            check_block(w, sizes, r, r,
                        in_place && w->collective == TRV_SCATTER && r == w->root ? displacements_of(sizes, r)[r] : 0,
                        NULL);
        if (!all_out(w, r))
            continue;
        memset(covered, 0, sizes->extent + 1);
        for (int b = 0; b < w->ranks; b++)
            check_block(w, sizes, r, b, displacements_of(sizes, r)[b], covered);
        for (size_t i = 0; i < sizes->extent; i++) /* gaps are not written */
            assert_true(covered[i] || ((const uint32_t *)(const void *)w->output[r])[i] == 0xeeeeeeee);
    }
    free(covered);
}

/* The ranks send as many elements as must move, at least, and nothing if there is nothing. */
static void check_bytes(const world_t *w, const sizes_t *sizes)
{
    size_t sent = 0;
    for (int r = 0; r < w->ranks; r++)
        sent += trv_plan_bytes_sent(w->plan[r]);
    if (sizes->total == 0)
        assert_int_equal(sent, 0);
    if (w->collective == TRV_ALLGATHER)
        assert_true(sent >= sizes->total * (size_t)(w->ranks - 1) * sizeof(uint32_t));
}

static void run(world_t *w, const sizes_t *sizes, bool in_place)
{
    allocate_buffers(w, sizes, in_place);
    for (int repetition = 0; repetition < 3; repetition++) { /* from the third on, plans use a list of moves */
        fill_inputs(w, sizes, in_place);
        const long before = allocations;
        start_all(w, sizes, in_place);
        world_drive(w);
        assert_true(repetition == 0 || allocations == before);
        check_results(w, sizes, in_place);
        check_bytes(w, sizes);
    }
}

static void run_schedule(const trv_schedule_t *schedule, const trv_plan_options_t *options, size_t count_max)
{
    const bool covers = trv_schedule_exactness(schedule) == TRV_COVERS;
    const trv_elements_t elements = {.type = TRV_UINT32, .op = covers ? TRV_MAX : TRV_SUM};
    world_t w = world_make(schedule, 3, &elements, options);
    sizes_t sizes = sizes_make(w.ranks);
    for (int round = 0; round < ROUNDS; round++) {
        sizes_set(&sizes, w.ranks, (pattern_t)(round % PATTERNS), 1 + random_below(count_max));
        run(&w, &sizes, random_below(2));
    }
    free(sizes.count);
    world_destroy(&w);
}

static void whole(const trv_schedule_t *schedule) { run_schedule(schedule, NULL, COUNT_MAX); }

static void chunked(const trv_schedule_t *schedule)
{
    const size_t n = (size_t)trv_schedule_torus(schedule)->ranks;
    const trv_plan_options_t options = {TRV_PLAN_OPTIONS, .chunk_bytes = 4 * n * (1 + random_below(9)), .check = true};
    run_schedule(schedule, &options, COUNT_MAX / 2);
}

static void every_torus(void (*work)(const trv_schedule_t *schedule))
{
    static const char *const tori[] = {"1",   "2",   "3",   "5",   "8",     "9",       "10",   "16",   "2x2",
                                       "3x3", "2x3", "4x4", "1x9", "2x2x2", "8m",      "9m",   "3mx4", "4mx4m",
                                       "27",  "5x7", "29m", "4x8", "3x3x3", "2x3x2x2", "5mx4m"};
    const size_t odd = (size_t)sample_draw(2); /* the exhaustive tier draws every other larger torus */
    int tried = 0;
    seed = sample_seed();
    for (size_t t = 0; t < sizeof tori / sizeof *tori; t++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
        if (exhaustive() == (torus.ranks <= 16) || (exhaustive() && t % 2 == odd))
            continue;
        tried += world_every(&torus, TRV_REDUCE_SCATTER, work) + world_every(&torus, TRV_ALLGATHER, work);
        for (int root = 0; root < torus.ranks; root += 1 + torus.ranks / 2) {
            tried += world_every_root(&torus, TRV_GATHER, root, work);
            tried += world_every_root(&torus, TRV_SCATTER, root, work);
        }
    }
    assert_true(tried > (exhaustive() ? 60 : 200));
}

static void test_whole(void **state)
{
    (void)state;
    every_torus(whole);
}

static void test_chunks(void **state)
{
    (void)state;
    every_torus(chunked);
}

/* More units than plans have tables for (TRV_SMALL_UNITS), in one of two collectives, which is drawn. */
static void test_large_space(void **state)
{
    (void)state;
    const trv_elements_t elements = {.type = TRV_UINT32, .op = TRV_SUM};
    trv_torus_t torus;
    trv_schedule_t *schedule;
    if (!exhaustive())
        return;
    const trv_collective_t collective = sample_draw(2) ? TRV_ALLGATHER : TRV_REDUCE_SCATTER;
    assert_int_equal(trv_torus_parse("65x64", &torus), 0);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-b", collective), 0);
    world_t w = world_make(schedule, 0, &elements, NULL);
    sizes_t sizes = sizes_make(w.ranks);
    sizes_set(&sizes, w.ranks, SPARSE, 3);
    run(&w, &sizes, false);
    free(sizes.count);
    world_destroy(&w);
    trv_schedule_destroy(schedule);
}

/* ---- Single cases ------------------------------------------------------------------------------------------------ */

static trv_schedule_t *allgather_of(int ranks)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    assert_int_equal(trv_torus_init(&torus, 1, &ranks), 0);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLGATHER), 0);
    return schedule;
}

static void refuse(trv_plan_t *plan, const size_t *count, const size_t *displacement, int code, const char *words)
{
    uint32_t in[4] = {0}, out[16];
    assert_int_equal(trv_plan_start_blocks(plan, count, displacement, in, out), code);
    if (!strstr(trv_last_error(), words))
        fail_msg("'%s' does not contain '%s'", trv_last_error(), words);
}

static void test_refused(void **state)
{
    (void)state;
    const trv_elements_t elements = {.type = TRV_UINT32, .op = TRV_SUM};
    trv_schedule_t *schedule = allgather_of(3);
    world_t w = world_make(schedule, 1, &elements, NULL);
    uint32_t data[16] = {0};
    refuse(w.plan[0], NULL, NULL, TRV_ERR_ARGUMENT,
           "the counts of the blocks are NULL; there must be one for each of 3 ranks");
    refuse(w.plan[0], (size_t[]){1, SIZE_MAX / 8, 1}, NULL, TRV_ERR_ARGUMENT, "exceeds the address space");
    refuse(w.plan[0], (size_t[]){1, 2, 1}, (size_t[]){0, SIZE_MAX, 3}, TRV_ERR_ARGUMENT, "exceeds the address space");
    refuse(w.plan[0], (size_t[]){4, 2, 3}, (size_t[]){5, 4, 0}, TRV_ERR_ARGUMENT,
           "the block at displacement 5 overlaps the one before it, which ends at 6");
    const size_t count[] = {4, 0, 3}, displacement[] = {8, 0, 0};
    assert_int_equal(trv_plan_start_blocks(w.plan[0], count, displacement, data + 10, data), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "input and output overlap"));
    assert_int_equal(trv_plan_start_blocks(w.plan[0], count, displacement, data, NULL), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "the output buffer is NULL"));
    assert_int_equal(trv_plan_start_blocks(w.plan[0], count, displacement, data + 3, data), 0); /* in a gap */
    assert_int_equal(trv_plan_start_blocks(w.plan[0], count, displacement, data, data), TRV_ERR_STATE);
    trv_plan_cancel(w.plan[0]);
    world_destroy(&w);
    trv_schedule_destroy(schedule);

    trv_torus_t torus;
    assert_int_equal(trv_torus_parse("3", &torus), 0);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-l", TRV_ALLREDUCE), 0);
    w = world_make(schedule, 1, &elements, NULL);
    refuse(w.plan[0], (size_t[]){1, 2, 3}, NULL, TRV_ERR_UNSUPPORTED, "AllReduce has no blocks of different sizes");
    world_destroy(&w);
    trv_schedule_destroy(schedule);
}

/* With the check, ranks that pass different sizes all return an error, also if the largest ones are equal. */
static void test_check(void **state)
{
    (void)state;
    const trv_elements_t elements = {.type = TRV_UINT32, .op = TRV_SUM};
    const trv_plan_options_t options = {TRV_PLAN_OPTIONS, .check = true};
    const size_t count[2][3] = {{1, 2, 1}, {1, 2, 0}};
    trv_schedule_t *schedule = allgather_of(3);
    world_t w = world_make(schedule, 3, &elements, &options);
    for (int r = 0; r < 3; r++)
        assert_int_equal(trv_plan_start_blocks(w.plan[r], count[r == 1], NULL, w.input[r], w.output[r]), 0);
    int rc[3] = {0};
    for (int turn = 0; turn < 100; turn++)
        for (int r = 0; r < 3; r++)
            rc[r] = rc[r] ? rc[r] : trv_plan_test(w.plan[r]);
    for (int r = 0; r < 3; r++)
        assert_int_equal(rc[r], TRV_ERR_INVALID);
    assert_non_null(strstr(trv_last_error(), "the ranks differ in the sizes of the blocks"));
    world_destroy(&w);
    trv_schedule_destroy(schedule);
}

/* Equal and different sizes in turn; trv_plan_start repeats the last sizes. */
static void test_in_turn(void **state)
{
    (void)state;
    const trv_elements_t elements = {.type = TRV_UINT32, .op = TRV_SUM};
    trv_schedule_t *schedule = allgather_of(4);
    world_t w = world_make(schedule, 3, &elements, NULL);
    sizes_t sizes = sizes_make(w.ranks);
    for (int turn = 0; turn < 4; turn++) {
        sizes_set(&sizes, w.ranks, ASCENDING, 3);
        run(&w, &sizes, false);
        fill_inputs(&w, &sizes, false);
        world_run(&w, false);
        check_results(&w, &sizes, false);
        for (int r = 0; r < w.ranks; r++) {
            free(w.input[r]);
            free(w.output[r]);
            w.input[r] = malloc(w.in * w.size);
            w.output[r] = malloc(w.out * w.size);
            assert_true(w.input[r] && w.output[r]);
        }
        world_fill(&w, false);
        for (int r = 0; r < w.ranks; r++)
            assert_int_equal(trv_plan_start_count(w.plan[r], 3, w.input[r], w.output[r]), 0);
        world_drive(&w);
        world_check(&w, false, NULL);
    }
    free(sizes.count);
    world_destroy(&w);
    trv_schedule_destroy(schedule);
}

/* Every allocation of a start fails once. The start returns an error, and can be repeated. A plan that has no memory
 * for the new sizes keeps those of before, which trv_plan_start uses. */
static void test_memory(void **state)
{
    (void)state;
    const trv_elements_t elements = {.type = TRV_UINT32, .op = TRV_SUM};
    trv_schedule_t *schedule = allgather_of(9);
    bool failed = true, kept = false;
    for (int number = 0; failed; number++) {
        world_t w = world_make(schedule, 3, &elements, NULL);
        sizes_t sizes = sizes_make(w.ranks);
        sizes_set(&sizes, w.ranks, ASCENDING, 20);
        allocate_buffers(&w, &sizes, false);
        const size_t bytes = trv_plan_bytes_sent(w.plan[8]);
        failing = allocations + number;
        const int rc = trv_plan_start_blocks(w.plan[8], sizes.count, sizes.displaced ? sizes.displacement : NULL,
                                             w.input[8], w.output[8]);
        failing = -1;
        failed = rc != 0;
        assert_true(rc == 0 || rc == TRV_ERR_MEMORY);
        const size_t bytes_after = trv_plan_bytes_sent(w.plan[8]);
        if (rc && bytes_after == bytes) {
            kept = true;
            for (int r = 0; r < w.ranks; r++) {
                free(w.input[r]);
                free(w.output[r]);
                w.input[r] = malloc(w.in * w.size);
                w.output[r] = malloc(w.out * w.size);
            }
            world_fill(&w, false);
            world_run(&w, false); /* trv_plan_start */
            world_check(&w, false, NULL);
        }
        if (rc) {
            run(&w, &sizes, false);
            assert_true(bytes_after == bytes || bytes_after == trv_plan_bytes_sent(w.plan[8]));
        }
        assert_true(number > 0 || failed);
        free(sizes.count);
        world_destroy(&w);
    }
    assert_true(kept);
    trv_schedule_destroy(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),   cmocka_unit_test(test_chunks), cmocka_unit_test(test_large_space),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_check),  cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
