/*
 * Enlarged packets: beyond a number of packet-hops packets are doubled in size. On small networks with a small limit
 * the time must be about that of the simulation of every packet: the order of messages that arrive at once may differ.
 */
#include "exhaustive.h"
#include "simulate_check.h"

#include <math.h>
#include <stdlib.h>

#include "simulate/simulator.h"

#define LIMIT     2e5 /* packet-hops; at least half of them are left, or one packet per message */
#define HOPS_MAX  4e6 /* of the simulations of every packet */
#define WITHIN    0.01
#define NEVER     0.25
#define SAMPLES   60
#define QUESTIONS (exhaustive() ? 4 * SAMPLES : SAMPLES)

static uint64_t state = 20261130;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static trv_simulate_options_t draw_options(void)
{
    static const double alphas[] = {100, 1500, 20000}, rates[] = {25e9, 200e9, 800e9, 3200e9};
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.alpha_ns = alphas[draw(3)];
    options.bandwidth_bps = rates[draw(4)];
    options.injection_bps = draw(4) ? 0 : 30e9;
    options.packet_bytes = draw(4) ? 8192 : 300;
    options.delivery = draw(4) ? TRV_DELIVERY_HEAD : TRV_DELIVERY_TAIL;
    options.model = draw(4) ? TRV_FIFO : TRV_DATELINE;
    options.gamma_ns = draw(3) ? 0 : 0.02;
    return options;
}

/* A simulator of a random schedule, or NULL. */
static trv_simulator_t *draw_simulator(void)
{
    static const char *const tori[] = {"9", "16", "8m", "4x4", "3x5", "4x4m", "3mx6", "2x3x4", "3x3x3m"};
    static const char *const names[] = {"trivance-l",       "trivance-b",
                                        "bucket",           "swing-b",
                                        "hybrid",           "star",
                                        "line-b",           "recdoub-b",
                                        "line-pipelined:8", "spanning-trees:16:4"};
    const trv_torus_t torus = torus_of(tori[draw(COUNT(tori))]);
    const char *name = names[draw(COUNT(names))];
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    if (trv_schedule_create(&schedule, &torus, name, TRV_ALLREDUCE))
        return NULL;
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    trv_schedule_destroy(schedule);
    return simulator;
}

/* How far the time with enlarged packets is from that of every packet; -1: every packet is little work. */
static double deviation(const trv_simulator_t *simulator, const trv_simulate_options_t *options, uint64_t bytes)
{
    trv_simulate_options_t every = *options;
    trv_simulation_t enlarged, all;
    assert_int_equal(trv_simulate_until(simulator, options, bytes, LIMIT, (trv_span_t){0}, 0, &enlarged), TRV_OK);
    assert_true((double)enlarged.simulated_hops <= LIMIT + trv_simulate_hops(simulator, options, 1));
    if (enlarged.packet_bytes == options->packet_bytes)
        return -1;
    every.full = true;
    assert_int_equal(trv_simulate(simulator, &every, bytes, &all), TRV_OK);
    assert_int_equal(all.packet_bytes, options->packet_bytes);
    return fabs(enlarged.time_ns / all.time_ns - 1);
}

static void test_enlarged(void **unused)
{
    int compared = 0, close = 0;
    double worst = 0;
    (void)unused;
    if (exhaustive())
        state = sample_seed();
    while (compared < QUESTIONS) {
        trv_simulator_t *simulator = draw_simulator();
        const trv_simulate_options_t options = draw_options();
        if (!simulator)
            continue;
        uint64_t bytes = 1 << 20;
        trv_simulate_options_t every = options;
        every.full = true; /* counts the packets of all ranks */
        while (trv_simulate_hops(simulator, &options, bytes) < 1.5 * LIMIT)
            bytes += bytes / 2 + draw(1000);
        const double apart = trv_simulate_hops(simulator, &every, bytes) <= HOPS_MAX
                                 ? deviation(simulator, &options, bytes)
                                 : -1;
        if (apart > NEVER)
            fail_msg("%s on %d ranks, %llu bytes in packets of %u: the times differ by %.2f %%", simulator->name,
                     simulator->torus.ranks, (unsigned long long)bytes, options.packet_bytes, 100 * apart);
        compared += apart >= 0;
        worst = fmax(worst, apart);
        close += apart >= 0 && apart <= WITHIN;
        trv_simulator_destroy(simulator);
    }
    print_message("%d of %d times are within %g %%; the worst is %.1f %% off\n", close, compared, 100 * WITHIN,
                  100 * worst);
    assert_true(close >= 0.93 * compared); /* it is 0.975 */
}

/* Below the limit, and with `full`, link loads, an observer or finite buffers, every packet is simulated. */
static void test_own_packets(void **unused)
{
    const trv_torus_t torus = torus_of("9");
    const uint64_t large = (uint64_t)1 << 36;
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS, changed = options;
    trv_simulation_t result;
    (void)unused;
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLREDUCE), TRV_OK);
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    assert_int_equal(trv_simulate(simulator, &options, 1 << 20, &result), TRV_OK);
    assert_int_equal(result.packet_bytes, 8192);
    assert_int_equal(trv_simulate(simulator, &options, large, &result), TRV_OK);
    assert_true(result.packet_bytes > 8192 && (double)result.simulated_hops < 2 * TRV_SIMULATE_HOPS_MAX);
    changed.link_loads = true;
    assert_int_equal(trv_simulate_packets(simulator, &changed, large, LIMIT).packet_bytes, 8192);
    changed = options;
    changed.full = true;
    assert_int_equal(trv_simulate_packets(simulator, &changed, large, LIMIT).packet_bytes, 8192);
    changed = options;
    changed.observer = &(trv_simulate_observer_t){TRV_SIMULATE_OBSERVER};
    assert_int_equal(trv_simulate_packets(simulator, &changed, large, LIMIT).packet_bytes, 8192);
    changed = options;
    changed.balance_ties = true;
    assert_int_equal(trv_simulate_packets(simulator, &changed, large, LIMIT).packet_bytes, 8192);
    changed = options;
    changed.buffer_bytes = 1 << 16;
    assert_int_equal(trv_simulate_packets(simulator, &changed, large, LIMIT).packet_bytes, 8192);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_enlarged), cmocka_unit_test(test_own_packets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
