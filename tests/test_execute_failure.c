/*
 * One rank fails at any point of a run: a reduction, a message, memory for scratch. That rank gets the error at once
 * and its buffers back. The other ranks either complete, with the right result, or wait until they cancel their runs.
 * No buffer is accessed after that, and the next plans on the same loopback transport find nothing left over.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "test_execute_world.h"

/* The operation that fails, and how many times it succeeds before. */
typedef enum { IN_REDUCE, IN_SEND, IN_RECEIVE, IN_ARRIVAL, IN_SCRATCH, KINDS } kind_t;

enum { SLOTS_MAX = 1 << 14, RANKS_MAX = 27, ALWAYS = -1 };

typedef struct faulty {
    kind_t kind;
    int left; /* number of successes before the failure; ALWAYS: never fails */
    const trv_transport_t *inner;
    bool is_receive[SLOTS_MAX];
    void *allocated; /* scratch memory that was not returned */
    int failed;
    bool sends_part; /* a send that fails has sent a part, which still reads its buffer */
    int part;        /* the slot of that send */
} faulty_t;

static int should_fail(faulty_t *faulty, kind_t kind)
{
    if (faulty->kind != kind || faulty->left == ALWAYS || faulty->left-- != 0)
        return 0;
    faulty->left = ALWAYS;
    faulty->failed++;
    return TRV_ERR_TRANSPORT;
}

static int faulty_open(void *context, int requests, int tags, int *base)
{
    faulty_t *f = context;
    assert_true(requests <= SLOTS_MAX && tags <= TRV_PLAN_TAGS_MAX);
    return f->inner->open(f->inner->context, requests, tags, base);
}

static void faulty_close(void *context, int base)
{
    faulty_t *f = context;
    f->inner->close(f->inner->context, base);
}

static int faulty_send(void *context, int base, int slot, int peer, int tag, const void *data, size_t bytes)
{
    faulty_t *f = context;
    f->is_receive[slot] = false;
    int rc = should_fail(f, IN_SEND);
    if (rc)
        f->part = slot;
    return rc ? rc : f->inner->send(f->inner->context, base, slot, peer, tag, data, bytes);
}

static int faulty_receive(void *context, int base, int slot, int peer, int tag, void *data, size_t bytes)
{
    faulty_t *f = context;
    f->is_receive[slot] = true;
    int rc = should_fail(f, IN_RECEIVE);
    return rc ? rc : f->inner->receive(f->inner->context, base, slot, peer, tag, data, bytes);
}

static int faulty_test(void *context, int base, int slot)
{
    faulty_t *f = context;
    int rc = f->inner->test(f->inner->context, base, slot);
    return rc == 1 && f->is_receive[slot] && should_fail(f, IN_ARRIVAL) ? TRV_ERR_TRANSPORT : rc;
}

static int faulty_cancel(void *context, int base, int slot)
{
    faulty_t *f = context;
    if (f->sends_part && f->failed && slot == f->part)
        return 1;
    return f->inner->cancel(f->inner->context, base, slot);
}

static int faulty_reduce(void *context, void *destination, const void *const *source, int sources, size_t count)
{
    int rc = should_fail(context, IN_REDUCE);
    return rc ? rc : trv_reduce(TRV_SUM, TRV_UINT32, destination, source, sources, count);
}

static void *faulty_allocate(void *context, size_t bytes)
{
    faulty_t *f = context;
    assert_null(f->allocated);
    return should_fail(f, IN_SCRATCH) ? NULL : (f->allocated = aligned_alloc(64, (bytes + 63) / 64 * 64));
}

static void faulty_free(void *context, void *memory, size_t bytes)
{
    faulty_t *f = context;
    assert_ptr_equal(memory, f->allocated);
    memset(memory, 0xdd, bytes);
    free(memory);
    f->allocated = NULL;
}

/* ---- Worlds ------------------------------------------------------------------------------------------------------ */

static faulty_t faulty[RANKS_MAX];
static trv_transport_t transport[RANKS_MAX];

static world_t world_make_faulty(const trv_schedule_t *schedule, size_t count, size_t chunk_bytes, kind_t kind,
                                 int rank, int after)
{
    const trv_elements_t own = {.type = TRV_UINT32, .op = TRV_SUM};
    world_t world = world_make(schedule, count, &own, NULL);
    assert_true(world.ranks <= RANKS_MAX);
    for (int r = 0; r < world.ranks; r++) {
        const trv_elements_t elements = {.type = TRV_UINT32,
                                         .element_size = 4,
                                         .reduce = faulty_reduce,
                                         .reduce_context = &faulty[r]};
        const trv_plan_options_t options = {TRV_PLAN_OPTIONS, .chunk_bytes = chunk_bytes,
                                            .scratch_allocate = faulty_allocate, .scratch_free = faulty_free,
                                            .scratch_context = &faulty[r]};
        memset(&faulty[r], 0, sizeof faulty[r]);
        faulty[r].kind = kind;
        faulty[r].left = r == rank ? after : ALWAYS;
        faulty[r].inner = trv_loopback_transport(world.loopback, r);
        transport[r] = (trv_transport_t){TRV_TRANSPORT,  &faulty[r],  faulty_open,   faulty_close, faulty_send,
                                         faulty_receive, faulty_test, faulty_cancel, NULL};
        trv_plan_destroy(world.plan[r]);
        assert_int_equal(trv_plan_create(&world.plan[r], schedule, r, count, &elements, &transport[r], &options), 0);
    }
    return world;
}

static bool is_correct(const world_t *world, int rank)
{
    uint32_t scales = 0, shifts = 0;
    for (int r = 0; r < world->ranks; r++) {
        scales += scale(r);
        shifts += shift(r);
    }
    for (size_t i = 0; i < world->out; i++)
        if (((uint32_t *)world->output[rank])[i] != world_expected(world, rank, i, scales, shifts, NULL))
            return false;
    return true;
}

/* Starts and drives all ranks. Ranks that are not complete when the others have completed or failed cancel. Returns how
 * many ranks failed by themselves. */
static int drive(world_t *world)
{
    enum { IDLE_TURNS = 100 };
    int rc[RANKS_MAX], left = world->ranks, errors = 0, idle = 0;
    size_t bytes = world->out * world->size;
    char *saved[RANKS_MAX];
    for (int r = 0; r < world->ranks; r++)
        rc[r] = trv_plan_start(world->plan[r], world->input[r], world->output[r]);
    for (int r = 0; r < world->ranks; r++)
        left -= rc[r] < 0;
    for (; left > 0 && idle < IDLE_TURNS; idle++)
        for (int r = 0; r < world->ranks; r++)
            if (rc[r] == 0 && (rc[r] = trv_plan_test(world->plan[r])) != 0) {
                left--;
                idle = 0;
            }
    for (int r = 0; r < world->ranks; r++) {
        errors += rc[r] < 0;
        assert_true(!faulty[r].failed == (rc[r] >= 0));
        if (rc[r] == 0)
            trv_plan_cancel(world->plan[r]);
        assert_null(faulty[r].allocated);
        if (rc[r] == 1)
            assert_true(is_correct(world, r));
        else if (rc[r] == 0)
            assert_int_equal(trv_plan_test(world->plan[r]), TRV_ERR_STATE);
        assert_non_null(saved[r] = malloc(bytes + 1));
        memcpy(saved[r], world->output[r], bytes);
    }
    for (int r = 0; r < world->ranks; r++) {
        trv_plan_destroy(world->plan[r]);
        world->plan[r] = NULL;
    }
    for (int r = 0; r < world->ranks; r++) {
        assert_memory_equal(saved[r], world->output[r], bytes);
        free(saved[r]);
    }
    assert_true(errors > 0 || left == 0);
    return errors;
}

static int injected;

/* Lets one kind of operation fail after 0, 1, 2 … successes on one rank, until it does not occur any more. From the
 * tenth on, the quick tier takes every 31st number, which still includes every rank, and the exhaustive tier draws
 * a quarter of the numbers. */
static void every_point(const trv_schedule_t *schedule, size_t count, size_t chunk_bytes, kind_t kind)
{
    const int ranks = trv_schedule_torus(schedule)->ranks;
    for (int after = 0, failed = 1; failed; after += after < 10 ? 1 : exhaustive() ? 1 + sample_draw(7) : 31) {
        const int rank = (after * 5 + 1) % ranks;
        world_t world = world_make_faulty(schedule, count, chunk_bytes, kind, rank, after);
        world_fill(&world, false);
        const int errors = drive(&world);
        failed = faulty[rank].failed;
        assert_int_equal(errors, failed);
        injected += failed;
        world_destroy(&world);
    }
}

static void every_kind(const trv_schedule_t *schedule)
{
    if (trv_schedule_exactness(schedule) == TRV_COVERS)
        return;
    for (int kind = 0; kind < KINDS; kind++) {
        if (try_case(kind, 2))
            every_point(schedule, 101, 0, (kind_t)kind);
        if (try_case(kind + 1, 2))
            every_point(schedule, 4, 0, (kind_t)kind);
        every_point(schedule, 37, trv_schedule_collective(schedule) == TRV_ALLREDUCE ? 32 : 700, (kind_t)kind);
    }
}

static void test_every_point(void **state)
{
    (void)state;
    static const char *const tori[] = {"2", "3", "4", "3x3", "2x5"};
    for (size_t t = 0; t < sizeof tori / sizeof *tori - !exhaustive(); t++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
        for (int collective = TRV_ALLREDUCE; collective <= TRV_ALLGATHER; collective++)
            world_every(&torus, (trv_collective_t)collective, every_kind);
    }
    assert_true(injected > 1000);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

typedef struct job {
    trv_plan_t *plan;
    const void *input;
    void *output;
    int rc;
} job_t;

static atomic_bool stop;

/* Drives the run until it is complete, fails, or is cancelled because another rank's has failed (0). */
static void *run_rank(void *argument)
{
    job_t *job = argument;
    job->rc = trv_plan_start(job->plan, job->input, job->output);
    while (job->rc == 0 && !atomic_load(&stop))
        job->rc = trv_plan_test(job->plan);
    if (job->rc < 0)
        atomic_store(&stop, true);
    if (job->rc == 0)
        trv_plan_cancel(job->plan);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse("3x3", &torus), 0);
    for (int after = 0; after < (exhaustive() ? 60 : 10); after++) {
        trv_schedule_t *schedule;
        pthread_t thread[RANKS_MAX];
        job_t job[RANKS_MAX];
        assert_int_equal(trv_schedule_create(&schedule, &torus, after % 2 ? "trivance-b" : "bucket", TRV_ALLREDUCE), 0);
        world_t world = world_make_faulty(schedule, 1000, after % 3 ? 0 : 400, (kind_t)(after % KINDS), after % 9,
                                          after / KINDS);
        world_fill(&world, false);
        atomic_store(&stop, false);
        for (int r = 0; r < world.ranks; r++) {
            job[r] = (job_t){world.plan[r], world.input[r], world.output[r], 0};
            assert_int_equal(pthread_create(&thread[r], NULL, run_rank, &job[r]), 0);
        }
        for (int r = 0; r < world.ranks; r++)
            pthread_join(thread[r], NULL);
        for (int r = 0; r < world.ranks; r++) {
            assert_true(job[r].rc == 1 ? is_correct(&world, r) : faulty[after % 9].failed);
            assert_true(!faulty[r].failed == (job[r].rc >= 0));
        }
        world_destroy(&world);
        trv_schedule_destroy(schedule);
    }
}

/* ---- Scratch ----------------------------------------------------------------------------------------------------- */

/* A start that failed for lack of scratch memory has sent nothing, so it can be repeated. */
static void test_repeated_start(void **state)
{
    (void)state;
    trv_torus_t torus;
    trv_schedule_t *schedule;
    assert_int_equal(trv_torus_parse("3", &torus), 0);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLREDUCE), 0);
    world_t world = world_make_faulty(schedule, 1000, 0, IN_SCRATCH, 2, 0);
    world_fill(&world, false);
    for (int r = 0; r < 3; r++)
        assert_int_equal(trv_plan_start(world.plan[r], world.input[r], world.output[r]), r == 2 ? TRV_ERR_MEMORY : 0);
    assert_string_equal(trv_last_error(), "out of memory");
    assert_int_equal(trv_plan_start(world.plan[2], world.input[2], world.output[2]), 0);
    for (int left = 3, rc[3] = {0}; left > 0;)
        for (int r = 0; r < 3; r++)
            if (!rc[r] && (rc[r] = trv_plan_test(world.plan[r]))) {
                assert_int_equal(rc[r], 1);
                assert_true(is_correct(&world, r));
                left--;
            }
    world_destroy(&world);
    trv_schedule_destroy(schedule);
}

/* The scratch memory of a run is not freed if a send that failed has sent a part, which still reads it. */
static void test_part_of_send(void **state)
{
    (void)state;
    trv_torus_t torus;
    trv_schedule_t *schedule;
    assert_int_equal(trv_torus_parse("3", &torus), 0);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLREDUCE), 0);
    for (int sends_part = 0; sends_part < 2; sends_part++) {
        world_t world = world_make_faulty(schedule, 1000, 0, IN_SEND, 1, 1);
        faulty[1].sends_part = sends_part;
        world_fill(&world, false);
        assert_int_equal(trv_plan_start(world.plan[1], world.input[1], world.output[1]), 0);
        assert_int_equal(trv_plan_test(world.plan[1]), TRV_ERR_TRANSPORT);
        assert_int_equal(faulty[1].failed, 1);
        assert_int_equal(faulty[1].allocated != NULL, sends_part);
        world_destroy(&world);
        assert_int_equal(faulty[1].allocated != NULL, sends_part);
        free(faulty[1].allocated);
    }
    trv_schedule_destroy(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_repeated_start), cmocka_unit_test(test_every_point),
                                       cmocka_unit_test(test_part_of_send), cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
