/*
 * Schedules for networks that do not forward, with real data: every algorithm whose messages are passed on, and both
 * forms of neighbour, on rings, tori and meshes, for all collectives, out of place and in place, also in chunks.
 */
#include "test_execute_world.h"

#include "schedule/collective.h"

static const char *const tori[] = {"2",   "3",   "4",   "5",   "8",  "9",     "2x2",  "3x3",
                                   "2x3", "4x4", "5x7", "1x5", "8m", "5mx4m", "3mx4", "2x3x2"};

static void run(const trv_torus_t *torus, const char *name, trv_collective_t collective, int root)
{
    const trv_network_t network = {TRV_NETWORK, .torus = *torus, .no_forwarding = true};
    trv_schedule_t *schedule;
    char text[TRV_TORUS_TEXT_MAX];
    const int rc = trv_schedule_create_on(&schedule, &network, name, collective, root);
    if (rc == TRV_ERR_UNSUPPORTED)
        return;
    if (rc)
        fail_msg("%s on %s: %s", name, trv_torus_format(torus, text, sizeof text), trv_last_error());
    world_try(schedule, 5, 0);
    world_try(schedule, 131, exhaustive() ? 4 * 17 * (size_t)torus->ranks : 0);
    trv_schedule_destroy(schedule);
}

static void test_relayed(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof tori / sizeof *tori; t++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
        if (!exhaustive() && torus.ranks > 16)
            continue;
        run(&torus, "neighbour:gathered", TRV_ALLREDUCE, 0);
        run(&torus, "neighbour:2", TRV_ALLREDUCE, 0);
        for (int i = 0; i < trv_algorithms_count(); i++)
            for (int c = 0; c < TRV_COLLECTIVES; c++) {
                const trv_algorithm_t *algorithm = trv_algorithm_at(i);
                char name[TRV_ALGORITHM_NAME_MAX];
                if (!trv_algorithm_has_collective(algorithm, (trv_collective_t)c) ||
                    trv_algorithm_exactness(algorithm) == TRV_COVERS ||
                    strcmp(trv_algorithm_name(algorithm), "relayed") == 0)
                    continue;
                snprintf(name, sizeof name, "relayed:%s", trv_algorithm_name(algorithm));
                run(&torus, name, (trv_collective_t)c,
                    trv_collective_has_root((trv_collective_t)c) ? (c + (int)t) % torus.ranks : 0);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_relayed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
