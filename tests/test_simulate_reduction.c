/*
 * The symmetry reduction: with one queue per link, a schedule that is the same as seen from every rank (or from every
 * second one) is simulated on the ranks that differ. Time and counts must be those of the full simulation, to the
 * femtosecond.
 */
#include "exhaustive.h"
#include "simulate_check.h"

#include "progress_callbacks.h"

#include <math.h>

#include "simulate/simulator.h"

static int simulate_until(const trv_simulator_t *simulator, const trv_simulate_options_t *options, double cutoff_ns,
                          trv_simulation_t *result)
{
    return trv_simulate_until(simulator, options, 1 << 20, TRV_SIMULATE_HOPS_MAX, (trv_span_t){0}, cutoff_ns, result);
}

/* A run that is stopped at its own time is unchanged. If it is stopped a moment earlier, its time is INFINITY; if it is
 * stopped at half of it, fewer hops were made. */
static void test_cutoff(void **state)
{
    static const char *const tori[] = {"27", "9x9", "4mx4m", "5x3"};
    (void)state;
    for (size_t t = 0; t < COUNT(tori); t++)
        for (int fifo = 0; fifo < 2; fifo++) {
            trv_torus_t torus = torus_of(tori[t]);
            trv_schedule_t *schedule;
            trv_simulator_t *simulator;
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            trv_simulation_t result, ended;
            options.model = fifo ? TRV_FIFO : TRV_DATELINE;
            assert_int_equal(trv_schedule_create(&schedule, &torus, "bucket", TRV_ALLREDUCE), TRV_OK);
            assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
            assert_int_equal(trv_simulate(simulator, &options, 1 << 20, &result), TRV_OK);
            assert_int_equal(simulate_until(simulator, &options, result.time_ns, &ended), TRV_OK);
            assert_true(ended.time_ns == result.time_ns && ended.time_fs == result.time_fs);
            assert_int_equal(simulate_until(simulator, &options, result.time_ns - 0.001, &ended), TRV_OK);
            assert_true(isinf(ended.time_ns));
            assert_int_equal(simulate_until(simulator, &options, result.time_ns / 2, &ended), TRV_OK);
            assert_true(isinf(ended.time_ns) && ended.packet_hops < result.packet_hops);
            trv_simulator_destroy(simulator);
            trv_schedule_destroy(schedule);
        }
}

/* A run that reports progress gives the same result, with about as many hops as trv_simulate_hops returns. */
static void test_progress_changes_nothing(void **state)
{
    static const char *const tori[] = {"27", "9x9", "8x8", "5x3"};
    (void)state;
    for (size_t t = 0; t < COUNT(tori); t++)
        for (int fifo = 0; fifo < 2; fifo++) {
            trv_torus_t torus = torus_of(tori[t]);
            trv_schedule_t *schedule;
            trv_simulator_t *simulator;
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            trv_simulation_t result, reported;
            double last = 0;
            options.model = fifo ? TRV_FIFO : TRV_DATELINE;
            options.packet_bytes = 256;
            assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLREDUCE), TRV_OK);
            assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
            assert_int_equal(trv_simulate(simulator, &options, 4 << 20, &result), TRV_OK);
            const double hops = trv_simulate_hops(simulator, &options, 4 << 20);
            assert_true(hops >= (double)result.simulated_hops &&
                        hops <= (double)result.simulated_hops + trv_simulate_hops(simulator, &options, 1));
            options.progress = progress_check;
            options.progress_context = &last;
            assert_int_equal(trv_simulate(simulator, &options, 4 << 20, &reported), TRV_OK);
            assert_memory_equal(&reported, &result, sizeof result);
            assert_true(fifo || last > 0);
            trv_simulator_destroy(simulator);
            trv_schedule_destroy(schedule);
        }
}

static void assert_same(const trv_simulator_t *simulator, const trv_schedule_t *schedule,
                        const trv_simulate_options_t *options, uint64_t bytes)
{
    trv_simulate_options_t all = *options;
    trv_simulation_t reduced = {0}, full = {0};
    char text[TRV_TORUS_TEXT_MAX];
    all.full = true;
    assert_int_equal(trv_simulate(simulator, options, bytes, &reduced), TRV_OK);
    assert_int_equal(trv_simulate(simulator, &all, bytes, &full), TRV_OK);
    assert_int_equal(full.simulated_ranks, trv_schedule_torus(schedule)->ranks);
    if (reduced.time_fs != full.time_fs || reduced.packet_hops != full.packet_hops || reduced.packets != full.packets ||
        reduced.messages != full.messages)
        fail_msg("%s on %s, %llu bytes: %llu fs and %llu packet-hops by %d ranks, %llu fs and %llu by all",
                 trv_schedule_name(schedule), trv_torus_format(trv_schedule_torus(schedule), text, sizeof text),
                 (unsigned long long)bytes, (unsigned long long)reduced.time_fs,
                 (unsigned long long)reduced.packet_hops, reduced.simulated_ranks, (unsigned long long)full.time_fs,
                 (unsigned long long)full.packet_hops);
    trv_simulation_clear(&reduced);
    trv_simulation_clear(&full);
}

/* Random parameters that do not make ranks differ. */
static trv_simulate_options_t random_options(void)
{
    static const double bandwidth[] = {800e9, 200e9, 2400e9, 777e9}, nic[] = {12800e9, 12800e9, 800e9, 300e9};
    static const double alpha[] = {1500, 0, 400.5}, latency[] = {100, 0, 12.5};
    static const uint32_t packet[] = {8192, 512, 1000};
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.model = TRV_FIFO;
    options.delivery = random_below(2) ? TRV_DELIVERY_HEAD : TRV_DELIVERY_TAIL;
    options.bandwidth_bps = ONE_OF(bandwidth);
    options.nic_bandwidth_bps = ONE_OF(nic);
    options.alpha_ns = ONE_OF(alpha);
    options.link_latency_ns = ONE_OF(latency);
    options.packet_bytes = ONE_OF(packet);
    options.gamma_ns = random_below(2) ? 0 : 0.01;
    options.message_overhead_ns = random_below(2) ? 0 : 7.5;
    return options;
}

/* Compares the algorithm on the network for `sizes` random sizes; returns whether it has a symmetry there. */
static bool check_on(const trv_network_t *network, const char *algorithm, int sizes, int bytes_max)
{
    const trv_torus_t *torus = &network->torus;
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    bool symmetric = false;
    if (trv_schedule_create_on(&schedule, network, algorithm, TRV_ALLREDUCE, 0) == TRV_ERR_UNSUPPORTED)
        return false;
    for (int d = 0; d < torus->dims; d++)
        symmetric = symmetric || trv_schedule_period(schedule, d) < torus->size[d];
    if (symmetric) {
        assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
        for (int i = 0; i < sizes; i++) {
            trv_simulate_options_t options = random_options();
            options.slow_links = network->slow_links;
            options.slow_link = network->slow_link;
            assert_same(simulator, schedule, &options, (uint64_t)(1 + random_below(bytes_max)));
        }
        trv_simulator_destroy(simulator);
    }
    trv_schedule_destroy(schedule);
    return symmetric;
}

static bool check(const trv_torus_t *torus, const char *algorithm, int sizes, int bytes_max)
{
    return check_on(&(trv_network_t){TRV_NETWORK, .torus = *torus}, algorithm, sizes, bytes_max);
}

static bool is_selected(const trv_algorithm_t *algorithm, const trv_torus_t *torus)
{
    return trv_algorithm_supports(algorithm, torus, TRV_ALLREDUCE) == TRV_OK;
}

/* All tori of up to three dimensions with sides of up to 8, in every order of the sides; on larger ones only a few of
 * the algorithms each. The quick tier takes sides of up to 4, and few algorithms on tori of more than 32 ranks. */
static void test_every_torus(void **state)
{
    (void)state;
    int turn = 0, compared = 0, algorithms = trv_algorithms_count();
    for (int a = 1; a <= (exhaustive() ? 8 : 4); a++)
        for (int b = 1; b <= a; b++)
            for (int c = 1; c <= b; c++) {
                int size[2][3] = {{a, b, c}, {c, a, b}};
                trv_torus_t torus;
                assert_int_equal(trv_torus_init(&torus, 3, size[turn % 2]), TRV_OK);
                int step = torus.ranks <= 32 ? 1 : exhaustive() ? 1 + (torus.ranks > 128) : 3;
                for (int i = turn++ % step; i < algorithms; i += step)
                    if (is_selected(trv_algorithm_at(i), &torus))
                        compared += check(&torus, trv_algorithm_name(trv_algorithm_at(i)), 1, 3000);
            }
    assert_true(compared > (exhaustive() ? 600 : 150));
}

/* Larger vectors, where queues form, on a few tori. */
static void test_queues(void **state)
{
    static const char *const tori[] = {"7", "9", "12", "16", "27", "4x4", "5x3", "9x3", "8x8", "3x3x3", "2x4x6"};
    (void)state;
    for (size_t t = 0; t < COUNT(tori); t++)
        for (int i = 0; i < trv_algorithms_count(); i++) {
            trv_torus_t torus = torus_of(tori[t]);
            if (is_selected(trv_algorithm_at(i), &torus))
                check(&torus, trv_algorithm_name(trv_algorithm_at(i)), 2, 5000000 / torus.ranks);
        }
}

/* Dimensions that are rings keep their symmetry if others are lines, also behind a cut, which no message passes, and
 * beside a slow link that is avoided. */
static void test_lines(void **state)
{
    static const struct {
        const char *torus, *ending;
        int links;
        trv_slow_link_t link[2];
    } cases[] = {{"8x8m", "", 0, {{0}}},
                 {"5mx3", "", 0, {{0}}},
                 {"3x4mx5", "", 0, {{0}}},
                 {"4mx4x2m", "", 0, {{0}}},
                 {"9x9", "", 1, {{40, 0, INFINITY}}},
                 {"4x8", "", 2, {{5, 2, INFINITY}, {6, 3, INFINITY}}},
                 {"3x3x3", "", 1, {{13, 5, INFINITY}}},
                 {"5x5m", "", 1, {{7, 1, INFINITY}}},
                 {"8x8", "@4", 1, {{9, 0, 4}}},
                 {"8x4", "@2", 2, {{9, 0, 4}, {13, 1, 2}}}};
    int compared = 0;
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++)
        for (int i = 0; i < trv_algorithms_count(); i++) {
            const trv_network_t network = {TRV_NETWORK, .torus = torus_of(cases[c].torus), .slow_links = cases[c].links,
                                           .slow_link = cases[c].link};
            const char *algorithm = trv_algorithm_name(trv_algorithm_at(i));
            char name[TRV_ALGORITHM_NAME_MAX];
            if (strncmp(algorithm, "star", 4) == 0 && cases[c].links > 0)
                continue; /* its routes turn and pass the link */
            snprintf(name, sizeof name, "%s%s", algorithm, cases[c].ending);
            compared += check_on(&network, name, 1, 3000);
            compared += check_on(&network, name, 1, 5000000 / network.torus.ranks);
        }
    assert_true(compared > 150);
}

/* A slow link that a message passes is not left out. */
static void test_used_links_are_kept(void **state)
{
    (void)state;
    for (int port = 0; port < 4; port++)
        for (int rank = 0; rank < 12; rank++) {
            trv_schedule_t *schedule = single_message("3x4", 7, 0); /* two hops: by +0 and -0, or along dimension 1 */
            const trv_slow_link_t link = {rank, port, 1000};
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            const uint64_t plain_fs = simulated_fs(schedule, &options, 100000);
            options.slow_links = 1;
            options.slow_link = &link;
            const uint64_t time_fs = simulated_fs(schedule, &options, 100000);
            options.full = true;
            assert_true(time_fs == simulated_fs(schedule, &options, 100000) && time_fs >= plain_fs);
            trv_schedule_destroy(schedule);
        }
}

/* The purpose of the reduction: its cost does not grow with the torus. */
static void test_few_ranks_simulated(void **state)
{
    (void)state;
    const struct {
        const char *algorithm, *torus;
        int ranks_max;
    } expected[] = {{"trivance-b", "64x64", 64}, {"trivance-l", "27x27", 64}, {"swing-b", "32x32", 64},
                    {"bucket", "8x8x8", 64},     {"bruck-b", "27x27", 64},    {"trivance-l-grouped", "32x32", 64},
                    {"line-l", "64x8m", 8},      {"swing-b", "8mx64", 64}};
    for (size_t i = 0; i < COUNT(expected); i++) {
        trv_schedule_t *schedule = schedule_of(expected[i].algorithm, expected[i].torus);
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        options.model = TRV_FIFO;
        trv_simulation_t result = simulate(schedule, &options, 1 << 20);
        if (result.simulated_ranks > expected[i].ranks_max)
            fail_msg("%s on %s: %d ranks were simulated", expected[i].algorithm, expected[i].torus,
                     result.simulated_ranks);
        assert_true(result.simulated_hops < result.packet_hops);
        trv_simulation_clear(&result);
        trv_schedule_destroy(schedule);
    }
}

/* If ranks differ, all of them are simulated, even without `full`. */
static void test_symmetry_breaking_options(void **state)
{
    (void)state;
    trv_schedule_t *schedule = schedule_of("trivance-b", "9");
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS, plain = options;
    plain.model = options.model = TRV_FIFO;
    plain.full = true;
    uint64_t all_alike_fs = simulated_fs(schedule, &plain, 100000);
    const trv_slow_rank_t slow_rank = {5, 2};
    const trv_slow_link_t slow_link = {4, 1, 3};

    options.slow_ranks = 1;
    options.slow_rank = &slow_rank;
    trv_simulation_t result = simulate(schedule, &options, 100000);
    assert_int_equal(result.simulated_ranks, 9);
    assert_true(result.time_fs > all_alike_fs);
    trv_simulation_clear(&result);

    options.slow_ranks = 0;
    options.slow_links = 1;
    options.slow_link = &slow_link;
    result = simulate(schedule, &options, 100000);
    assert_int_equal(result.simulated_ranks, 9);
    assert_true(result.time_fs > all_alike_fs);
    trv_simulation_clear(&result);

    options.slow_links = 0;
    options.jitter = 0.5;
    result = simulate(schedule, &options, 100000);
    assert_int_equal(result.simulated_ranks, 9);
    trv_simulation_clear(&result);
    trv_schedule_destroy(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress_changes_nothing),
        cmocka_unit_test(test_cutoff),
        cmocka_unit_test(test_every_torus),
        cmocka_unit_test(test_queues),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_used_links_are_kept),
        cmocka_unit_test(test_few_ranks_simulated),
        cmocka_unit_test(test_symmetry_breaking_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
