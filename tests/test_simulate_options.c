/*
 * The effect of each parameter, compared with closed forms; and the error messages for invalid ones.
 *
 * One message of p full packets over h hops takes alpha + 300.40 + h (200.16 + F) + 32 F (p - 1) ns, F being the time
 * of a flit of 256 bytes on the link.
 */
#include "simulate_check.h"

#include <math.h>

static double flit_ns(double bps) { return 2048e9 / bps; }

static double message_ns(double bps, int hops, int packets)
{
    return 1500 + 300.40 + hops * (200.16 + flit_ns(bps)) + 32 * flit_ns(bps) * (packets - 1);
}

static void assert_ns(const trv_schedule_t *schedule, const trv_simulate_options_t *options, uint64_t bytes,
                      double expected_ns)
{
    double time_ns = (double)simulated_fs(schedule, options, bytes) / 1e6;
    if (fabs(time_ns - expected_ns) > 0.001)
        fail_msg("%s, %llu bytes: %.3f ns, expected %.3f", trv_schedule_name(schedule), (unsigned long long)bytes,
                 time_ns, expected_ns);
}

/* ---- Closed forms ------------------------------------------------------------------------------------------------ */

static void test_single_messages(void **state)
{
    static const double bandwidth[] = {100e9, 200e9, 400e9, 800e9, 1600e9, 3200e9};
    (void)state;
    for (int hops = 1; hops <= 4; hops++) {
        trv_schedule_t *schedule = single_message("3x9", hops, 2);
        for (size_t b = 0; b < COUNT(bandwidth); b++)
            for (int packets = 1; packets <= 50; packets += 7) {
                trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
                options.model = TRV_DATELINE;
                options.bandwidth_bps = bandwidth[b];
                uint64_t bytes = 8192 * (uint64_t)packets;
                assert_ns(schedule, &options, bytes, message_ns(bandwidth[b], hops, packets));
                options.model = TRV_FIFO;
                assert_ns(schedule, &options, bytes, message_ns(bandwidth[b], hops, packets));
                options.delivery = TRV_DELIVERY_TAIL;
                assert_ns(schedule, &options, bytes,
                          message_ns(bandwidth[b], hops, packets) + 32 * flit_ns(bandwidth[b]));
            }
        trv_schedule_destroy(schedule);
    }
}

/* More bandwidth never delays a single message; other latencies add up. */
static void test_single_messages_are_monotone(void **state)
{
    (void)state;
    trv_schedule_t *schedule = single_message("8", 3, 0);
    for (uint64_t bytes = 1; bytes < 1000000; bytes *= 7) {
        uint64_t before_fs = UINT64_MAX;
        for (double bps = 10e9; bps < 20e12; bps *= 1.37) {
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            options.bandwidth_bps = bps;
            uint64_t time_fs = simulated_fs(schedule, &options, bytes);
            assert_true(time_fs <= before_fs);
            before_fs = time_fs;
        }
    }
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.alpha_ns = 10;
    options.host_latency_ns = 7;
    options.router_in_ns = 3;
    options.router_out_ns = 2;
    options.link_latency_ns = 1000;
    assert_ns(schedule, &options, 100, 10 + (7 + 3 + 0.2) + 3 * (2 + 1000 + 3 + 0.16 + 2.56) + (2 + 7 + 0.2));
    trv_schedule_destroy(schedule);
}

/* The steps of a ring are equal: k packets to the next rank, 2(n - 1) times; from the second step on a step begins 0.08
 * ns late, when the interfaces synchronise with the router's clock. */
static void test_ring_closed_form(void **state)
{
    (void)state;
    for (int ranks = 3; ranks <= 16; ranks += 3)
        for (int packets = 1; packets <= 9; packets += 4) {
            char text[16];
            snprintf(text, sizeof text, "%d", ranks);
            trv_schedule_t *schedule = schedule_of("ring", text);
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            int steps = 2 * (ranks - 1);
            double expected_ns = steps * (2003.12 + (packets - 1) * 81.92) + (steps - 1) * 0.08;
            for (int model = 0; model < 2; model++) {
                options.model = model ? TRV_FIFO : TRV_DATELINE;
                assert_ns(schedule, &options, (uint64_t)(2 * ranks * packets) * 8192, expected_ns);
            }
            trv_schedule_destroy(schedule);
        }
}

/* An interface that is slower than the link determines the time, and its own packets keep it busy. */
static void test_slow_interface(void **state)
{
    (void)state;
    trv_schedule_t *schedule = single_message("8", 2, 0);
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.nic_bandwidth_bps = 200e9;
    options.host_latency_ns = 0;
    options.link_latency_ns = 0;
    double nic_ns = flit_ns(200e9), times[2];
    for (int i = 0; i < 2; i++)
        times[i] = (double)simulated_fs(schedule, &options, i ? 10 * 8192 : 8192) / 1e6;
    assert_true(fabs(times[1] - times[0] - 9 * 32 * nic_ns) < 0.001);
    trv_schedule_destroy(schedule);
}

static void test_slow_ranks_and_links(void **state)
{
    (void)state;
    trv_schedule_t *schedule = single_message("8", 3, 0);
    const trv_slow_rank_t ranks[] = {{0, 2.5}, {5, 100}};
    const trv_slow_link_t links[] = {{1, 0, 4}, {3, 0, 100}, {1, 1, 100}};
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.slow_ranks = (int)COUNT(ranks);
    options.slow_rank = ranks;
    assert_ns(schedule, &options, 5 * 8192, message_ns(800e9, 3, 5) + 1.5 * 1500);

    options.slow_ranks = 0;
    options.slow_links = (int)COUNT(links);
    options.slow_link = links; /* the second hop takes 4 F per flit; the other links are not on the route */
    assert_ns(schedule, &options, 5 * 8192, message_ns(800e9, 3, 5) + 3 * 2.56 + 3 * 4 * 81.92);
    trv_schedule_destroy(schedule);
}

/* The messages of a step follow each other: the second of two leaves two overheads after alpha. */
static void test_message_overhead(void **state)
{
    static const char *const names[] = {"trivance-l", "trivance-b"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        trv_schedule_t *schedule = schedule_of(names[i], "9"); /* one stream, two messages in every step */
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        double without_ns = (double)simulated_fs(schedule, &options, 512) / 1e6;
        options.message_overhead_ns = 50;
        assert_ns(schedule, &options, 512, without_ns + trv_schedule_steps(schedule) * 2 * 50.0);
        trv_schedule_destroy(schedule);
    }
}

/* A rank has one processor for all of its streams. If overheads are short compared with a message's latency, a stream
 * waits for the others once, in the first step; in later steps they no longer need the processor when it does. If
 * overheads are long the processor is never idle, and the last message leaves when the overheads of all are paid. */
static void test_streams_share_processor(void **state)
{
    (void)state;
    const struct {
        const char *algorithm, *torus;
        int streams, messages; /* messages of a stream in each of the steps; each goes to a neighbour */
    } expected[] = {{"ring", "9", 2, 1},
                    {"trivance-l", "3x3", 2, 2},
                    {"trivance-l", "3x3x3", 3, 2},
                    {"bucket", "3x3x3", 6, 1}};
    for (size_t i = 0; i < 2 * COUNT(expected); i++) {
        const int streams = expected[i / 2].streams, messages = expected[i / 2].messages;
        trv_schedule_t *schedule = schedule_of(expected[i / 2].algorithm, expected[i / 2].torus);
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        const int steps = trv_schedule_steps(schedule);
        options.model = i % 2 ? TRV_FIFO : TRV_DATELINE; /* TRV_FIFO: with the symmetry reduction */
        assert_int_equal(trv_schedule_streams(schedule), streams);
        double without_ns = (double)simulated_fs(schedule, &options, 512) / 1e6;
        options.message_overhead_ns = 50;
        assert_ns(schedule, &options, 512, without_ns + (steps + streams - 1) * messages * 50.0);
        options.message_overhead_ns = 20000;
        assert_ns(schedule, &options, 512, message_ns(800e9, 1, 1) + steps * streams * messages * 20000.0);
        trv_schedule_destroy(schedule);
    }
}

/* The paper's reduction volume (section 7): per rank 1.5 m (1 - 1/n) for Trivance B, whose joint reductions read
 * three operands, against 2 m (1 - 1/n) for the rings, of which each of the two streams reads half, at half the
 * rank's rate or at a rate of its own. */
static void test_gamma(void **state)
{
    (void)state;
    const uint64_t bytes = 9 * 9 * 1024;
    const struct {
        const char *algorithm;
        double volume; /* of a rank, as a part of the vector */
        int streams;
    } expected[] = {{"trivance-b", 1.5 * (1 - 1 / 9.0), 1}, {"ring", 2 * (1 - 1 / 9.0), 2}, {"trivance-l", 6, 1}};
    for (size_t i = 0; i < COUNT(expected); i++) {
        trv_schedule_t *schedule = schedule_of(expected[i].algorithm, "9");
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        double without_ns = (double)simulated_fs(schedule, &options, bytes) / 1e6;
        options.gamma_ns = 0.01;
        assert_ns(schedule, &options, bytes, without_ns + 0.01 * expected[i].volume * (double)bytes);
        options.gamma_per_stream = true;
        assert_ns(schedule, &options, bytes,
                  without_ns + 0.01 * expected[i].volume * (double)bytes / expected[i].streams);
        trv_schedule_destroy(schedule);
    }
}

static void test_jitter(void **state)
{
    (void)state;
    static const char *const names[] = {"trivance-l", "ring", "swing-b", "bruck-b"};
    for (size_t i = 0; i < COUNT(names); i++) {
        trv_schedule_t *schedule = schedule_of(names[i], "8");
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        uint64_t without_fs = simulated_fs(schedule, &options, 512);
        options.jitter = 0.5;
        uint64_t with_fs = simulated_fs(schedule, &options, 512);
        assert_int_equal(simulated_fs(schedule, &options, 512), with_fs);
        options.seed = 2;
        assert_true(simulated_fs(schedule, &options, 512) != with_fs);
        for (options.seed = 3; options.seed < 20; options.seed++) {
            double more_ns = ((double)simulated_fs(schedule, &options, 512) - (double)without_fs) / 1e6;
            /* with some tolerance: delayed packets may also avoid each other */
            assert_true(more_ns > 0 && more_ns < trv_schedule_steps(schedule) * (0.5 * 1500 + 20));
        }
        trv_schedule_destroy(schedule);
    }
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

/* With buffers of one packet a link waits until the packet ahead has left the buffer at the other end, and for the
 * credit (the link's latency). */
static void test_small_buffers(void **state)
{
    (void)state;
    for (int hops = 1; hops <= 3; hops++) {
        trv_schedule_t *schedule = single_message("9", hops, 0);
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        options.model = TRV_DATELINE;
        options.buffer_bytes = 8192;
        double wait_ns = 200.16 + 100 + (hops > 1 ? 2.56 : 0); /* the next link sleeps each time */
        assert_ns(schedule, &options, 4 * 8192, message_ns(800e9, hops, 1) + 3 * wait_ns);
        uint64_t before_fs = UINT64_MAX;
        for (; options.buffer_bytes <= 1 << 20; options.buffer_bytes *= 2) {
            uint64_t time_fs = simulated_fs(schedule, &options, 100 * 8192);
            assert_true(time_fs <= before_fs);
            before_fs = time_fs;
        }
        options.buffer_bytes = 0;
        assert_int_equal(simulated_fs(schedule, &options, 100 * 8192), before_fs);
        trv_schedule_destroy(schedule);
    }
}

/* Rings full of packets that wait for each other: the second channel resolves the deadlock. */
static void test_no_deadlock_with_one_packet_buffers(void **state)
{
    static const char *const tori[] = {"8", "9", "4x4", "3x5", "2x3x4"};
    (void)state;
    for (size_t t = 0; t < COUNT(tori); t++)
        for (int a = 0; a < trv_algorithms_count(); a++) {
            trv_torus_t torus = torus_of(tori[t]);
            if (trv_algorithm_supports(trv_algorithm_at(a), &torus, TRV_ALLREDUCE))
                continue;
            trv_schedule_t *schedule = schedule_of(trv_algorithm_name(trv_algorithm_at(a)), tori[t]);
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            options.model = TRV_DATELINE;
            options.packet_bytes = 512;
            options.buffer_bytes = 512;
            assert_true(turns_back(schedule) || simulated_fs(schedule, &options, 40000) > 0);
            trv_schedule_destroy(schedule);
        }
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Expects the error, with a message that contains `word`. */
static void assert_refused(const trv_schedule_t *schedule, const trv_simulate_options_t *options, int error,
                           const char *word)
{
    trv_simulator_t *simulator;
    trv_simulation_t result = {0};
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    assert_int_equal(trv_simulate(simulator, options, 1000, &result), error);
    if (!strstr(trv_last_error(), word))
        fail_msg("'%s' does not speak of '%s'", trv_last_error(), word);
    if (error == TRV_ERR_ARGUMENT) { /* the check of options reports it, and so does the lower bound */
        double bound_ns;
        assert_int_equal(trv_simulate_check(options, trv_schedule_torus(schedule)), error);
        assert_int_equal(trv_simulate_bound_ns(simulator, options, 1000, &bound_ns), error);
    }
    trv_simulator_destroy(simulator);
}

static void test_options_out_of_range(void **state)
{
    (void)state;
    trv_schedule_t *schedule = schedule_of("trivance-l", "9");
    const trv_simulate_options_t good = TRV_SIMULATE_DEFAULTS;
    const struct {
        size_t offset;
        double value;
    } bad[] = {
        {offsetof(trv_simulate_options_t, bandwidth_bps), 0},
        {offsetof(trv_simulate_options_t, bandwidth_bps), -1},
        {offsetof(trv_simulate_options_t, bandwidth_bps), NAN},
        {offsetof(trv_simulate_options_t, nic_bandwidth_bps), 0},
        {offsetof(trv_simulate_options_t, alpha_ns), -0.5},
        {offsetof(trv_simulate_options_t, alpha_ns), INFINITY},
        {offsetof(trv_simulate_options_t, link_latency_ns), -1},
        {offsetof(trv_simulate_options_t, host_latency_ns), NAN},
        {offsetof(trv_simulate_options_t, router_in_ns), -1},
        {offsetof(trv_simulate_options_t, router_out_ns), 1e30},
        {offsetof(trv_simulate_options_t, message_overhead_ns), -1},
        {offsetof(trv_simulate_options_t, gamma_ns), -1},
        {offsetof(trv_simulate_options_t, injection_bps), -1},
        {offsetof(trv_simulate_options_t, path_bps), -1},
        {offsetof(trv_simulate_options_t, part_overhead_ns), -1},
        {offsetof(trv_simulate_options_t, gamma_start_ns), -1},
        {offsetof(trv_simulate_options_t, gamma_small_ns), -1},
        {offsetof(trv_simulate_options_t, jitter), -0.1},
        {offsetof(trv_simulate_options_t, jitter), 1.1},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        trv_simulate_options_t options = good;
        memcpy((char *)&options + bad[i].offset, &bad[i].value, sizeof(double));
        assert_refused(schedule, &options, TRV_ERR_ARGUMENT, "");
    }
    static const uint32_t packet[] = {0, 255, (1 << 20) + 1};
    for (size_t i = 0; i < COUNT(packet); i++) {
        trv_simulate_options_t options = good;
        options.packet_bytes = packet[i];
        assert_refused(schedule, &options, TRV_ERR_ARGUMENT, "packet");
    }
    trv_simulate_options_t options = good;
    options.model = TRV_DATELINE;
    options.buffer_bytes = 8191; /* not even one packet */
    assert_refused(schedule, &options, TRV_ERR_ARGUMENT, "buffer");
    options.model = TRV_FIFO;
    options.buffer_bytes = 1 << 20; /* a ring with one queue deadlocks when it is full */
    assert_refused(schedule, &options, TRV_ERR_ARGUMENT, "buffer");
    options = good;
    const trv_slow_link_t slow = {0, 0, 2};
    options.balance_ties = true;
    options.slow_links = 1;
    options.slow_link = &slow;
    assert_refused(schedule, &options, TRV_ERR_ARGUMENT, "balanced ties");
    trv_schedule_destroy(schedule);
}

static void test_missing_slow_ranks_and_links(void **state)
{
    (void)state;
    trv_schedule_t *schedule = schedule_of("trivance-l", "9");
    const trv_slow_rank_t ranks[] = {{-1, 2}, {9, 2}, {0, 0.5}, {0, NAN}};
    const trv_slow_link_t links[] = {{-1, 0, 2}, {9, 0, 2}, {0, -1, 2}, {0, 2, 2}, {0, 0, 0.5}, {0, 0, NAN}};
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    for (size_t i = 0; i < COUNT(ranks); i++) {
        options.slow_ranks = 1;
        options.slow_rank = &ranks[i];
        assert_refused(schedule, &options, TRV_ERR_ARGUMENT, "rank");
    }
    options.slow_ranks = 0;
    for (size_t i = 0; i < COUNT(links); i++) {
        options.slow_links = 1;
        options.slow_link = &links[i];
        assert_refused(schedule, &options, TRV_ERR_ARGUMENT, "link");
    }
    trv_schedule_destroy(schedule);
}

static void test_cut_links(void **state)
{
    (void)state;
    const trv_slow_link_t cut = {4, 0, INFINITY};
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.slow_links = 1;
    options.slow_link = &cut;
    trv_schedule_t *through = single_message("9", 5, 0), *around = single_message("9", 5, 1);
    trv_schedule_t *all = schedule_of("trivance-b", "9");
    assert_refused(through, &options, TRV_ERR_UNSUPPORTED, "link");
    assert_refused(all, &options, TRV_ERR_UNSUPPORTED, "link");
    assert_ns(around, &options, 100, message_ns(800e9, 4, 1));
    trv_schedule_destroy(through);
    trv_schedule_destroy(around);
    trv_schedule_destroy(all);
}

/* Times are 64 bits of femtoseconds: longer ones are rejected, and never overflow. */
static void test_time_limit(void **state)
{
    (void)state;
    int fit = 0, refused = 0;
    trv_schedule_t *schedule = single_message("4", 1, 0);
    trv_simulator_t *simulator;
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    for (int packets = 1; packets <= 10000; packets *= 100)
        for (double bps = 1e3; bps <= 1e9; bps *= 10)
            for (double factor = 1; factor <= 1e6; factor *= 1000) {
                const trv_slow_link_t slow = {0, 0, factor};
                trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
                trv_simulation_t result = {0};
                options.bandwidth_bps = bps;
                options.slow_links = factor > 1;
                options.slow_link = &slow;
                /* until the start of the last packet */
                const double least_ns = 32 * flit_ns(bps / factor) * (packets - 1);
                const int rc = trv_simulate(simulator, &options, 8192 * (uint64_t)packets, &result);
                if (rc == TRV_OK)
                    assert_true(result.time_ns >= least_ns && result.time_ns <= 3600e9);
                else
                    assert_true(rc == TRV_ERR_UNSUPPORTED && least_ns + 32 * flit_ns(bps / factor) > 0.2 * 3600e9);
                fit += rc == TRV_OK;
                refused += rc != TRV_OK;
            }
    assert_true(fit > 20 && refused > 20);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
}

/* A message that only its sender, or only its receiver, lists ends the simulation with an error instead of a
 * deadlock. */
static void test_unmatched_messages(void **state)
{
    (void)state;
    for (int side = TRV_SEND; side <= TRV_RECEIVE; side++) {
        trv_torus_t torus = torus_of("4");
        trv_explicit_options_t shape = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1, .registers = 2, .units = 1};
        trv_explicit_part_t part = {.to_reg = 1, .count = 1, .unit = (int64_t[]){0}};
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        trv_schedule_t *schedule;
        assert_int_equal(trv_explicit_create(&schedule, &torus, "broken", &shape), TRV_OK);
        assert_int_equal(trv_explicit_message(schedule, 0, 0, 0, 1, 0, -1, side, 1, &part), TRV_OK);
        assert_refused(schedule, &options, TRV_ERR_INVALID, "");
        trv_schedule_destroy(schedule);
    }
}

static void test_one_rank(void **state)
{
    (void)state;
    trv_schedule_t *schedule = schedule_of("trivance-l", "1");
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    assert_int_equal(simulated_fs(schedule, &options, 1 << 20), 0);
    trv_schedule_destroy(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_messages),
        cmocka_unit_test(test_single_messages_are_monotone),
        cmocka_unit_test(test_ring_closed_form),
        cmocka_unit_test(test_slow_interface),
        cmocka_unit_test(test_slow_ranks_and_links),
        cmocka_unit_test(test_message_overhead),
        cmocka_unit_test(test_streams_share_processor),
        cmocka_unit_test(test_gamma),
        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_small_buffers),
        cmocka_unit_test(test_no_deadlock_with_one_packet_buffers),
        cmocka_unit_test(test_options_out_of_range),
        cmocka_unit_test(test_missing_slow_ranks_and_links),
        cmocka_unit_test(test_cut_links),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_unmatched_messages),
        cmocka_unit_test(test_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
