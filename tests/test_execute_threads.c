/*
 * One thread per rank on the loopback transport: many runs back to back, so that ranks overtake each other.
 * ThreadSanitizer must find nothing here (build with -fsanitize=thread).
 */
#include <pthread.h>

#include "test_execute_world.h"

enum { RUNS = 8 }; /* of one plan */

typedef struct job {
    world_t *world;
    int rank, rc;
} job_t;

static void *run_rank(void *argument)
{
    job_t *job = argument;
    world_t *world = job->world;
    for (int i = 0; !job->rc && i < RUNS; i++)
        job->rc = trv_plan_run(world->plan[job->rank], world->input[job->rank], world->output[job->rank]);
    if (job->rc)
        fprintf(stderr, "rank %d: %s\n", job->rank, trv_last_error());
    return NULL;
}

static void threaded(const trv_schedule_t *schedule, size_t count, const trv_plan_options_t *options)
{
    bool covers = trv_schedule_exactness(schedule) == TRV_COVERS;
    const trv_elements_t elements = {.type = TRV_UINT32, .op = covers ? TRV_MAX : TRV_SUM};
    world_t world = world_make(schedule, count, &elements, options);
    uint32_t *maximum = covers ? world_maximum(&world) : NULL;
    pthread_t *thread = calloc((size_t)world.ranks, sizeof *thread);
    job_t *job = calloc((size_t)world.ranks, sizeof *job);
    assert_true(thread && job);
    world_fill(&world, false);
    for (int r = 0; r < world.ranks; r++) {
        job[r] = (job_t){&world, r, 0};
        assert_int_equal(pthread_create(&thread[r], NULL, run_rank, &job[r]), 0);
    }
    for (int r = 0; r < world.ranks; r++) {
        pthread_join(thread[r], NULL);
        assert_int_equal(job[r].rc, 0);
    }
    world_check(&world, false, maximum);
    free(maximum);
    free(thread);
    free(job);
    world_destroy(&world);
}

static void every_way(const trv_schedule_t *schedule)
{
    const trv_plan_options_t chunks = {TRV_PLAN_OPTIONS, .chunk_bytes = 4000},
                             check = {TRV_PLAN_OPTIONS, .check = true};
    threaded(schedule, 1, NULL);
    threaded(schedule, 10007, &chunks);
    threaded(schedule, 1003, &check);
}

static void test_threads(void **state)
{
    (void)state;
    static const char *const tori[] = {"3", "2x2", "2x3x2", "8", "3x3"};
    for (size_t t = 0; t < (exhaustive() ? sizeof tori / sizeof *tori : 2); t++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
        assert_true(world_every(&torus, TRV_ALLREDUCE, every_way) >= 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
