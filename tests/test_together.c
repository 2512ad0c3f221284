/*
 * All streams in one (NAME:together): of every algorithm on random networks the messages are those of the algorithm,
 * the claims are proved, and the data arrive; Swing B becomes faster where links have two channels; and no such
 * schedule is faster than the plan.
 */
#include "test_execute_world.h"

#include "random_network.h"
#include "schedule/collective.h"

enum { NAME_MAX_HERE = 100 };

static trv_schedule_t *make(const trv_network_t *network, const char *name, trv_collective_t collective, int root)
{
    trv_schedule_t *schedule;
    return trv_schedule_create_on(&schedule, network, name, collective, root) ? NULL : schedule;
}

static int compare_messages(const void *left, const void *right)
{
    const trv_sent_message_t *a = left, *b = right;
    const int64_t difference[] = {a->step - b->step, a->from - b->from, a->to - b->to,
                                  a->port - b->port, a->nic - b->nic,   a->units - b->units};
    for (size_t i = 0; i < sizeof difference / sizeof *difference; i++)
        if (difference[i])
            return difference[i] < 0 ? -1 : 1;
    return 0;
}

/* The messages of both, by step, without their streams; a unit of a stream is as many as its weight. */
static void expect_same_messages(const trv_schedule_t *schedule, const trv_schedule_t *together, const char *text)
{
    trv_messages_t before, after;
    assert_int_equal(trv_schedule_messages(schedule, 1 << 20, &before, NULL, NULL), TRV_OK);
    assert_int_equal(trv_schedule_messages(together, 1 << 20, &after, NULL, NULL), TRV_OK);
    for (int64_t i = 0; i < before.count; i++)
        before.message[i].units *= trv_schedule_weight(schedule, before.message[i].stream);
    qsort(before.message, (size_t)before.count, sizeof *before.message, compare_messages);
    qsort(after.message, (size_t)after.count, sizeof *after.message, compare_messages);
    bool same = before.count == after.count;
    for (int64_t i = 0; same && i < before.count; i++)
        same = compare_messages(&before.message[i], &after.message[i]) == 0;
    if (!same)
        fail_msg("%s: other messages than the algorithm's", text);
    trv_messages_clear(&before);
    trv_messages_clear(&after);
}

static trv_verdict_t verdict_of(const trv_schedule_t *schedule, const trv_network_t *network)
{
    trv_verdict_t verdict = {TRV_VERDICT};
    assert_int_equal(trv_verify_on(schedule, network, TRV_VERIFY_EXHAUSTIVE, &verdict, NULL, NULL), TRV_OK);
    return verdict;
}

static int check(const trv_network_t *network, trv_collective_t collective, int root, const char *name)
{
    char text[300], merged[NAME_MAX_HERE], torus[TRV_TORUS_TEXT_MAX];
    snprintf(merged, sizeof merged, "%s:together", name);
    trv_schedule_t *schedule = make(network, name, collective, root), *together;
    snprintf(text, sizeof text, "%s, %s from root %d on %s with %d links, routes %d", merged,
             trv_collective_shape(collective)->name, root, trv_torus_format(&network->torus, torus, sizeof torus),
             network->slow_links, (int)network->routes);
    if (!schedule)
        return 0;
    together = make(network, merged, collective, root);
    if (!together)
        fail_msg("%s: %s", text, trv_last_error());
    assert_string_equal(trv_schedule_name(together), merged);
    assert_int_equal(trv_schedule_streams(together), 1);
    assert_int_equal(trv_schedule_steps(together), trv_schedule_steps(schedule));
    for (int d = 0; d < network->torus.dims; d++)
        assert_int_equal(trv_schedule_period(together, d), trv_schedule_period(schedule, d));
    expect_same_messages(schedule, together, text);
    const trv_verdict_t expected = verdict_of(schedule, network), verdict = verdict_of(together, network);
    if (verdict.valid != expected.valid || verdict.consistent != expected.consistent)
        fail_msg("%s: %s", text, verdict.valid ? "other claims than the algorithm's" : verdict.fault);
    if (verdict.valid && draw(4) == 0)
        world_try(together, (size_t)draw(200), draw(2) ? 0 : 256);
    const int streams = trv_schedule_streams(schedule);
    trv_schedule_destroy(together);
    trv_schedule_destroy(schedule);
    return streams > 1;
}

static void test_random_networks(void **state)
{
    static const char *const more[] = {"bucket:9/7", "hybrid:weights5/3", "hybrid:streams2", "recdoub-b:3",
                                       "star:l",     "relayed:swing-b",   "swing-b:2"};
    const int extra = (int)(sizeof more / sizeof *more);
    int merged = 0;
    (void)state;
    seed = sample_seed();
    for (int i = 0; i < (exhaustive() ? 12 : 6); i++) {
        trv_network_t network;
        trv_slow_link_t link[2];
        draw_network(exhaustive() ? 30 : 20, &network, link);
        for (int c = 0; c < TRV_COLLECTIVES; c++) {
            const trv_collective_t collective = (trv_collective_t)c;
            const int root = trv_collective_has_root(collective) ? draw(network.torus.ranks) : 0;
            for (int a = 0; a < trv_algorithms_count() + extra; a++)
                merged += check(&network, collective, root,
                                a < extra ? more[a] : trv_algorithm_name(trv_algorithm_at(a - extra)));
        }
    }
    assert_true(merged > 20);
}

/* p streams with one message each have one message for each of p ports. */
static void test_per_port(void **state)
{
    static const char *const name[] = {"swing-b:together", "recdoub-b:together", "trivance-b:together"};
    (void)state;
    for (int i = 0; i < 6; i++) {
        trv_network_t network = {TRV_NETWORK};
        assert_int_equal(trv_torus_parse(i % 2 ? "4x8" : "8", &network.torus), TRV_OK);
        trv_schedule_t *schedule = make(&network, name[i / 2], TRV_ALLREDUCE, 0);
        assert_non_null(schedule);
        assert_int_equal(trv_schedule_messages_per_port(schedule), 1);
        trv_schedule_destroy(schedule);
    }
}

/* Weights, on tori with unequal sides. */
static void test_weights(void **state)
{
    static const char *const torus[] = {"2x3", "3x5", "4x6"};
    static const char *const name[] = {"bucket:9/7", "hybrid:3x5/2:weights5/3", "hybrid:2x6/3/2:grouped:weights2/3"};
    (void)state;
    seed = sample_seed();
    for (int i = 0; i < 3; i++) {
        trv_network_t network = {TRV_NETWORK};
        assert_int_equal(trv_torus_parse(torus[i], &network.torus), TRV_OK);
        assert_int_equal(check(&network, TRV_ALLREDUCE, 0, name[i]), 1);
    }
}

static void test_names(void **state)
{
    char text[NAME_MAX_HERE];
    trv_torus_t torus;
    (void)state;
    assert_int_equal(trv_torus_parse("8", &torus), TRV_OK);
    assert_ptr_equal(trv_algorithm_find("ring:together@2"), trv_algorithm_find("ring"));
    assert_null(trv_algorithm_find("ring:togethe"));
    assert_int_equal(trv_schedule_full_name(&torus, "hybrid:together@2", TRV_ALLREDUCE, text, sizeof text), TRV_OK);
    assert_string_equal(strchr(text, '\0') - strlen(":together@2"), ":together@2");
    trv_schedule_t *schedule;
    assert_int_equal(trv_schedule_create(&schedule, &torus, text, TRV_ALLREDUCE), TRV_OK);
    assert_int_equal(trv_schedule_streams(schedule), 1);
    assert_string_equal(trv_schedule_name(schedule), text);
    trv_schedule_destroy(schedule);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "swing-b:together:2", TRV_ALLREDUCE), TRV_ERR_ARGUMENT);
}

static double time_of(const char *name, trv_link_model_t model)
{
    trv_network_t network = {TRV_NETWORK};
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    trv_simulator_t *simulator;
    trv_simulation_t result;
    assert_int_equal(trv_torus_parse("8", &network.torus), TRV_OK);
    trv_schedule_t *schedule = make(&network, name, TRV_ALLREDUCE, 0);
    assert_non_null(schedule);
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    options.model = model;
    assert_int_equal(trv_simulate(simulator, &options, 32 << 20, &result), TRV_OK);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
    return result.time_ns;
}

/* The two numbers of docs/simulator.md: with two channels per link, the streams of Swing B delay each other, and in one
 * stream they take as long as with one queue. */
static void test_faster(void **state)
{
    (void)state;
    const double apart = time_of("swing-b", TRV_DATELINE), one_queue = time_of("swing-b", TRV_FIFO);
    const double together = time_of("swing-b:together", TRV_DATELINE);
    assert_true(apart > 501e3 && apart < 503e3);
    assert_true(together > 388.5e3 && together < 389.5e3);
    assert_true(together < 1.001 * one_queue);
}

/* No algorithm with all streams in one is faster than the plan: with one queue none gains enough, and with two channels
 * these are candidates (docs/planner.md). */
static void test_planned(void **state)
{
    static const char *const tori[] = {"8", "4x4", "16", "4x8"};
    int compared = 0;
    (void)state;
    for (int i = 0; i < (exhaustive() ? 16 : 4); i++) {
        trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
        trv_torus_t torus;
        trv_planner_t *planner;
        const char *text = tori[exhaustive() ? i / 4 : i / 2];
        assert_int_equal(trv_torus_parse(text, &torus), TRV_OK);
        network.model = i % 2 ? TRV_FIFO : TRV_DATELINE;
        network.shared_paths = i % 4 / 2 ? (1U << torus.dims) - 1 : 0;
        assert_int_equal(trv_planner_create(&planner, &torus, TRV_ALLREDUCE, 0, &network, NULL), TRV_OK);
        for (uint64_t bytes = 32 << 10; bytes <= 32 << 20; bytes *= 32)
            for (int a = 0; a < trv_algorithms_count(); a++) {
                const trv_algorithm_t *algorithm = trv_algorithm_at(a);
                trv_planner_choice_t best, choice;
                char name[NAME_MAX_HERE];
                snprintf(name, sizeof name, "%s:together", trv_algorithm_name(algorithm));
                if (trv_algorithm_supports(algorithm, &torus, TRV_ALLREDUCE) ||
                    trv_algorithm_exactness(algorithm) != TRV_EXACT)
                    continue;
                assert_int_equal(trv_planner_rank(planner, bytes, 1, &best), 1);
                assert_int_equal(trv_planner_time(planner, bytes, name, &choice), TRV_OK);
                if (choice.time_ns < 0.9999 * best.time_ns)
                    fail_msg("%s, %llu bytes: %s takes %.1f ns, the plan %s %.1f", text, (unsigned long long)bytes,
                             name, choice.time_ns, best.algorithm, best.time_ns);
                compared++;
            }
        trv_planner_destroy(planner);
    }
    assert_true(compared > 100);
}

/* With two channels a plan may be such a schedule. */
static void test_chosen(void **state)
{
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    trv_planner_choice_t choice;
    trv_torus_t torus;
    (void)state;
    assert_int_equal(trv_torus_parse("4x8", &torus), TRV_OK);
    network.model = TRV_DATELINE;
    assert_int_equal(trv_planner_best(&torus, TRV_ALLGATHER, 0, 64 << 20, &network, NULL, &choice), TRV_OK);
    assert_string_equal(choice.algorithm, "swing-b:together");
    assert_true(choice.time_ns < 200e3); /* 220.5 us without it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_networks), cmocka_unit_test(test_per_port),
                                       cmocka_unit_test(test_weights),         cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_faster),          cmocka_unit_test(test_planned),
                                       cmocka_unit_test(test_chosen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
