/*
 * Compares the simulator with the naive one, to the femtosecond: every algorithm on many tori with random sizes and
 * parameters, with buffers of a few packets, and random schedules whose routes turn.
 */
#include "simulate_check.h"

#include "exhaustive.h"
#include "naive_simulator.h"

#define ALGORITHMS_MAX 64

/* Random parameters, each of them away from its default in some of the cases. */
typedef struct setting {
    trv_simulate_options_t options;
    trv_slow_rank_t slow_rank[2];
    trv_slow_link_t slow_link[2];
} setting_t;

static void random_setting(setting_t *setting, const trv_torus_t *torus)
{
    static const double bandwidth[] = {800e9, 800e9, 200e9, 2400e9, 100e9, 777e9}, latency[] = {100, 100, 0, 37.5, 500};
    static const double nic[] = {12800e9, 12800e9, 800e9, 400e9}, factor[] = {1, 1.5, 2, 7.25};
    static const double injection[] = {50e9, 300e9, 20000e9};
    static const double alpha[] = {1500, 1500, 0, 123.456}, small[] = {0, 0, 20, 0.125}, gamma[] = {0, 0, 0.001, 1e-5};
    static const uint32_t packet[] = {8192, 8192, 256, 1000, 4096};
    static unsigned settings;
    trv_simulate_options_t *options = &setting->options;
    *options = (trv_simulate_options_t)TRV_SIMULATE_DEFAULTS;
    options->model = random_below(2) ? TRV_DATELINE : TRV_FIFO;
    options->delivery = random_below(2) ? TRV_DELIVERY_HEAD : TRV_DELIVERY_TAIL;
    options->full = true;
    if (random_below(3) == 0)
        return;
    options->bandwidth_bps = ONE_OF(bandwidth);
    options->nic_bandwidth_bps = ONE_OF(nic);
    options->alpha_ns = ONE_OF(alpha);
    options->link_latency_ns = ONE_OF(latency);
    options->host_latency_ns = ONE_OF(latency);
    options->router_in_ns = ONE_OF(latency);
    options->router_out_ns = ONE_OF(latency);
    options->packet_bytes = ONE_OF(packet);
    options->message_overhead_ns = ONE_OF(small);
    const unsigned turn = settings++;
    options->shared_paths = turn % 2 ? turn / 2 % (1u << torus->dims) : 0;
    options->one_path = turn / 16 % 2;
    options->path_bps = turn / 32 % 2 ? ONE_OF(nic) : 0;
    options->gamma_ns = ONE_OF(gamma);
    options->gamma_per_stream = turn / 8 % 2;
    options->injection_bps = turn % 3 == 0 ? injection[turn / 3 % 3] : 0;
    options->part_overhead_ns = turn % 5 < 2 ? 33.5 * (turn % 5) : 0;
    options->gamma_start_ns = turn % 7 < 3 ? 100.0 * (turn % 7) : 0;
    options->gamma_small_ns = turn % 4 < 2 ? 0.01 * (turn % 4) : 0;
    options->slow_ranks = random_below(3);
    options->slow_rank = setting->slow_rank;
    for (int i = 0; i < options->slow_ranks; i++)
        setting->slow_rank[i] = (trv_slow_rank_t){(torus->ranks / 2 * i) % torus->ranks, ONE_OF(factor)};
    options->balance_ties = turn % 3 == 1;
    options->slow_links = torus->ranks > 1 && !options->balance_ties ? random_below(3) : 0;
    options->slow_link = setting->slow_link;
    for (int i = 0; i < options->slow_links; i++) {
        int dimension = 0;
        while (torus->size[dimension] == 1)
            dimension++;
        setting->slow_link[i] = (trv_slow_link_t){(3 * i + 1) % torus->ranks, 2 * dimension + i % 2, ONE_OF(factor)};
    }
}

/* Describes the options, for the report of a failure. */
static const char *describe(const trv_simulate_options_t *options)
{
    static char text[512];
    snprintf(text, sizeof text,
             "model %d, delivery %d, %g b/s, nic %g b/s, alpha %g, host %g, in %g, out %g, link %g ns, packets %u, "
             "overhead %g + %g, injection %g b/s, gamma %g, %g + %g, %d slow ranks, %d slow links, ties %d, shared "
             "paths %#x%s "
             "of %g b/s, buffers %llu",
             options->model, options->delivery, options->bandwidth_bps, options->nic_bandwidth_bps, options->alpha_ns,
             options->host_latency_ns, options->router_in_ns, options->router_out_ns, options->link_latency_ns,
             options->packet_bytes, options->message_overhead_ns, options->part_overhead_ns, options->injection_bps,
             options->gamma_small_ns, options->gamma_start_ns, options->gamma_ns, options->slow_ranks,
             options->slow_links, options->balance_ties, options->shared_paths, options->one_path ? " by one path" : "",
             options->path_bps, (unsigned long long)options->buffer_bytes);
    return text;
}

static void assert_equal(const trv_schedule_t *schedule, const trv_simulate_options_t *options, uint64_t bytes)
{
    char text[TRV_TORUS_TEXT_MAX];
    naive_result_t naive;
    assert_true(naive_simulate(schedule, options, bytes, &naive));
    trv_simulation_t engine = simulate(schedule, options, bytes);
    if (engine.time_fs != (uint64_t)naive.time_fs || engine.messages != naive.messages ||
        engine.packets != naive.packets || engine.packet_hops != naive.packet_hops)
        fail_msg("%s on %s, %llu bytes, %s: %llu fs, %llu packet-hops; expected %lld fs, %llu",
                 trv_schedule_name(schedule), trv_torus_format(trv_schedule_torus(schedule), text, sizeof text),
                 (unsigned long long)bytes, describe(options), (unsigned long long)engine.time_fs,
                 (unsigned long long)engine.packet_hops, (long long)naive.time_fs,
                 (unsigned long long)naive.packet_hops);
    trv_simulation_clear(&engine);
}

static void test_every_algorithm(void **state)
{
    static const char *const tori[] = {"1",   "2",   "3",   "5",   "8",   "9",     "12",    "3x3",
                                       "2x4", "4x4", "3x5", "8x2", "1x5", "2x2x2", "3x3x3", "2x3x4"};
    static const uint64_t bytes[] = {1, 1000, 8192, 50000, 131072, 300000};
    static const trv_collective_t collectives[] = {TRV_ALLREDUCE, TRV_ALLREDUCE, TRV_REDUCE_SCATTER, TRV_ALLGATHER};
    (void)state;
    int cases = 0;
    for (size_t t = 0; t < COUNT(tori); t++)
        for (int a = 0; a < trv_algorithms_count(); a++) {
            trv_torus_t torus = torus_of(tori[t]);
            if (!exhaustive() && torus.ranks > 16)
                continue;
            random_restart(ALGORITHMS_MAX * t + (size_t)a); /* adding an algorithm does not change the other cases */
            trv_collective_t collective = ONE_OF(collectives);
            setting_t setting;
            trv_schedule_t *schedule;
            if (trv_algorithm_supports(trv_algorithm_at(a), &torus, collective))
                continue;
            const char *name = trv_algorithm_name(trv_algorithm_at(a));
            assert_int_equal(trv_schedule_create(&schedule, &torus, name, collective), TRV_OK);
            random_setting(&setting, &torus);
            assert_equal(schedule, &setting.options, ONE_OF(bytes));
            trv_schedule_destroy(schedule);
            cases++;
        }
    assert_true(cases > 120);
}

/* Messages of random sizes between random ranks, several per step and port, by any port that leads there: long ways
 * round and routes that turn. */
static trv_schedule_t *random_schedule(const trv_torus_t *torus)
{
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS,
                                      .streams = 1 + random_below(3),
                                      .steps = 1 + random_below(3),
                                      .registers = 2,
                                      .units = 64,
                                      .messages_per_port = 64};
    options.mirrored_streams = random_below(2) ? options.streams / 2 : 0;
    trv_schedule_t *schedule;
    assert_int_equal(trv_explicit_create(&schedule, torus, "random", &options), TRV_OK);
    for (int i = 0; i < 3 * torus->ranks; i++) {
        int64_t unit[64];
        int count = 1 + random_below(64), from = random_below(torus->ranks), to = random_below(torus->ranks);
        int port = random_below(2 * torus->dims), at[TRV_DIMS_MAX], peer[TRV_DIMS_MAX];
        for (int u = 0; u < count; u++)
            unit[u] = u;
        trv_torus_coordinates(torus, from, at);
        trv_torus_coordinates(torus, to, peer);
        if (at[trv_port_dimension(port)] == peer[trv_port_dimension(port)])
            continue; /* the message takes the port's dimension first, so it must have a distance to travel in it */
        trv_explicit_part_t part = {.to_reg = 1, .count = count, .unit = unit};
        int nic = random_below(3) ? -1 : random_below(2 * torus->dims);
        assert_int_equal(trv_explicit_message(schedule, random_below(options.streams), random_below(options.steps),
                                              from, to, port, nic, TRV_SEND | TRV_RECEIVE, 1, &part),
                         TRV_OK);
    }
    return schedule;
}

static void test_random_schedules(void **state)
{
    static const char *const tori[] = {"4", "7", "3x4", "4x4", "5x2", "3x3x3", "2x4x2"};
    (void)state;
    random_restart(0);
    for (int i = 0; i < (exhaustive() ? 200 : 25); i++) {
        trv_torus_t torus = torus_of(ONE_OF(tori));
        setting_t setting;
        trv_schedule_t *schedule = random_schedule(&torus);
        random_setting(&setting, &torus);
        assert_equal(schedule, &setting.options, (uint64_t)(1 + random_below(600000)));
        trv_schedule_destroy(schedule);
    }
}

/* Buffers as small as one packet, so that packets wait for each other in many routers. */
static void test_small_buffers(void **state)
{
    static const char *const tori[] = {"4", "5", "9", "3x3", "4x4", "2x3x2"};
    (void)state;
    for (size_t t = 0; t < COUNT(tori); t++)
        for (int a = 0; a < trv_algorithms_count(); a++) {
            trv_torus_t torus = torus_of(tori[t]);
            setting_t setting;
            random_restart(ALGORITHMS_MAX * t + (size_t)a);
            if (trv_algorithm_supports(trv_algorithm_at(a), &torus, TRV_ALLREDUCE))
                continue;
            trv_schedule_t *schedule = schedule_of(trv_algorithm_name(trv_algorithm_at(a)), tori[t]);
            random_setting(&setting, &torus);
            setting.options.model = TRV_DATELINE;
            setting.options.buffer_bytes = setting.options.packet_bytes * (uint64_t)(1 + random_below(3)) + 255;
            if (!turns_back(schedule))
                assert_equal(schedule, &setting.options, (uint64_t)(1 + random_below(100000)));
            trv_schedule_destroy(schedule);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_algorithm),
        cmocka_unit_test(test_random_schedules),
        cmocka_unit_test(test_small_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
