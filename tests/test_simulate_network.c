/*
 * The simulator behaves like a network: every message arrives once, over the links of its route; no link carries two
 * packets at a time, or one too fast; queues are first come, first served; and equal runs give equal results.
 */
#include "simulate_check.h"

#include <math.h>

#define FLIT_BYTES 256
static const double flit_ns = FLIT_BYTES * 8 / 800.0; /* at 800 Gb/s */

static const char *const tori[] = {"3", "8", "9", "4x4", "3x5", "2x3x4"};
static const uint64_t sizes[] = {100, 40000, 300000};

/* Calls `run` for every algorithm on every torus of the list, with sizes that vary. */
static void for_all(void (*run)(const trv_schedule_t *schedule, uint64_t bytes))
{
    int turn = 0;
    for (size_t t = 0; t < COUNT(tori); t++)
        for (int a = 0; a < trv_algorithms_count(); a++) {
            trv_torus_t torus = torus_of(tori[t]);
            if (trv_algorithm_supports(trv_algorithm_at(a), &torus, TRV_ALLREDUCE))
                continue;
            trv_schedule_t *schedule = schedule_of(trv_algorithm_name(trv_algorithm_at(a)), tori[t]);
            run(schedule, sizes[turn++ % (int)COUNT(sizes)]);
            trv_schedule_destroy(schedule);
        }
}

/* ---- Conservation ----------------------------------------------------------------------------------------------- */

static uint64_t packets_of(uint64_t bytes, uint64_t packet_bytes) { return (bytes + packet_bytes - 1) / packet_bytes; }

/* Adds a message to the links of its route. */
static void route(const trv_torus_t *torus, int from, const trv_message_t *message, bool mirrored, uint64_t bytes,
                  trv_link_load_t *load)
{
    trv_route_t way;
    trv_route_begin(&way, torus, from, message->peer, message->port, mirrored);
    for (int node = from, port; (port = trv_route_next(&way, &node)) >= 0;) {
        trv_link_load_t *link = &load[node * 2 * torus->dims + port];
        link->packets += packets_of(bytes, 8192);
        link->bytes += bytes;
        for (uint64_t left = bytes; left > 0; left -= left < 8192 ? left : 8192)
            link->busy_ns += flit_ns * ceil((double)(left < 8192 ? left : 8192) / FLIT_BYTES);
    }
}

static void check_link_loads(const trv_schedule_t *schedule, uint64_t bytes)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    int links = torus->ranks * 2 * torus->dims;
    trv_link_load_t *expected = calloc((size_t)links, sizeof *expected);
    trv_step_t step = TRV_STEP_INIT;
    uint64_t messages = 0;
    for (int stream = 0; stream < trv_schedule_streams(schedule); stream++)
        for (int k = 0; k < trv_schedule_steps(schedule); k++)
            for (int rank = 0; rank < torus->ranks; rank++) {
                assert_int_equal(trv_schedule_step(schedule, rank, stream, k, &step), TRV_OK);
                for (int m = 0; m < step.sends; m++, messages++)
                    route(torus, rank, &step.send[m], trv_schedule_mirrored(schedule, stream),
                          trv_message_bytes(schedule, stream, &step.send[m], bytes), expected);
            }
    trv_step_clear(&step);

    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.link_loads = true;
    for (int model = 0; model < 2; model++) {
        options.model = model ? TRV_FIFO : TRV_DATELINE;
        trv_simulation_t result = simulate(schedule, &options, bytes);
        uint64_t hops = 0;
        assert_int_equal(result.messages, messages);
        for (int i = 0; i < links; i++) {
            hops += expected[i].packets;
            if (result.link[i].packets != expected[i].packets || result.link[i].bytes != expected[i].bytes ||
                fabs(result.link[i].busy_ns - expected[i].busy_ns) > 0.001)
                fail_msg("%s, link %d: %llu packets, %llu bytes, %.3f ns; routed %llu, %llu, %.3f",
                         trv_schedule_name(schedule), i, (unsigned long long)result.link[i].packets,
                         (unsigned long long)result.link[i].bytes, result.link[i].busy_ns,
                         (unsigned long long)expected[i].packets, (unsigned long long)expected[i].bytes,
                         expected[i].busy_ns);
            assert_true(result.link[i].busy_ns <= result.time_ns);
        }
        assert_int_equal(result.packet_hops, hops);
        trv_simulation_clear(&result);
    }
    free(expected);
}

static void test_conserves_packets_and_bytes(void **state)
{
    (void)state;
    for_all(check_link_loads);
}

/* ---- Observer ---------------------------------------------------------------------------------------------------- */

typedef struct passage { /* a packet on a link */
    int rank, port;
    uint64_t message;
    uint32_t packet;
    double begin_ns, end_ns;
} passage_t;

typedef struct seen {
    passage_t *passage;
    size_t count, capacity;
    double last_ns, end_ns;
    int steps;
} seen_t;

static void observe_packet(void *context, int rank, int port, uint64_t message, uint32_t packet, double begin_ns,
                           double end_ns)
{
    seen_t *seen = context;
    if (seen->count == seen->capacity) {
        seen->capacity = 2 * seen->capacity + 1000;
        seen->passage = realloc(seen->passage, seen->capacity * sizeof *seen->passage);
    }
    assert_true(begin_ns >= seen->last_ns); /* events are reported in order of time */
    seen->last_ns = begin_ns;
    seen->passage[seen->count++] = (passage_t){rank, port, message, packet, begin_ns, end_ns};
}

static void observe_step(void *context, int rank, int stream, int step, double begin_ns, double end_ns)
{
    seen_t *seen = context;
    (void)rank;
    (void)stream;
    (void)step;
    assert_true(end_ns >= begin_ns + 1499.999);
    seen->end_ns = end_ns > seen->end_ns ? end_ns : seen->end_ns;
    seen->steps++;
}

static int by_packet(const void *a, const void *b)
{
    const passage_t *x = a, *y = b;
    if (x->message != y->message)
        return x->message < y->message ? -1 : 1;
    if (x->packet != y->packet)
        return x->packet < y->packet ? -1 : 1;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int by_link(const void *a, const void *b)
{
    const passage_t *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank - y->rank;
    if (x->port != y->port)
        return x->port - y->port;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* A packet travels from neighbour to neighbour, and takes at least the latency of a hop for each. */
static void assert_packets_travel(const trv_torus_t *torus, const seen_t *seen)
{
    for (size_t i = 1; i < seen->count; i++) {
        const passage_t *from = &seen->passage[i - 1], *to = &seen->passage[i];
        if (from->message != to->message || from->packet != to->packet)
            continue;
        trv_route_t hop;
        int node = from->rank;
        trv_route_begin(&hop, torus, from->rank, to->rank, from->port, 0);
        assert_int_equal(trv_route_length(&hop), 1);
        assert_int_equal(trv_route_next(&hop, &node), from->port);
        assert_true(to->begin_ns >= from->begin_ns + 200.16 - 1e-6);
    }
}

/* A link carries one packet at a time, for as long as its flits take, and those of one message in order. */
static void assert_links_are_serial(const seen_t *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        const passage_t *this = &seen->passage[i], *next = this + 1;
        double flits = (this->end_ns - this->begin_ns) / flit_ns;
        assert_true(flits > 0.999 && flits < 32.001 && fabs(flits - round(flits)) < 0.001);
        if (i + 1 == seen->count || next->rank != this->rank || next->port != this->port)
            continue;
        assert_true(next->begin_ns >= this->end_ns - 1e-6);
        if (next->message == this->message)
            assert_int_equal(next->packet, this->packet + 1);
    }
}

static void check_observer(const trv_schedule_t *schedule, uint64_t bytes)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    for (int model = 0; model < 2; model++) {
        seen_t seen = {0};
        const trv_simulate_observer_t observer = {TRV_SIMULATE_OBSERVER, &seen, observe_step, observe_packet};
        options.model = model ? TRV_FIFO : TRV_DATELINE;
        options.observer = &observer;
        trv_simulation_t result = simulate(schedule, &options, bytes);
        assert_int_equal(seen.count, result.packet_hops);
        assert_true(seen.steps > 0);
        assert_true(fabs(seen.end_ns - result.time_ns) < 1e-3);
        qsort(seen.passage, seen.count, sizeof *seen.passage, by_packet);
        assert_packets_travel(trv_schedule_torus(schedule), &seen);
        qsort(seen.passage, seen.count, sizeof *seen.passage, by_link);
        assert_links_are_serial(&seen);
        trv_simulation_clear(&result);
        free(seen.passage);

        trv_simulator_t *simulator;
        options.observer = &(trv_simulate_observer_t){0};
        assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
        assert_int_equal(trv_simulate(simulator, &options, bytes, &result), TRV_ERR_ARGUMENT);
        assert_non_null(strstr(trv_last_error(), "TRV_SIMULATE_OBSERVER"));
        trv_simulator_destroy(simulator);

        options.observer = NULL; /* observing does not change the result */
        assert_int_equal(simulated_fs(schedule, &options, bytes), (uint64_t)llround(seen.end_ns * 1e6));
    }
}

static void test_links_are_serial(void **state)
{
    (void)state;
    for_all(check_observer);
}

/* Messages of one packet each, from ten ranks, meet on one link of a ring. With one queue they leave it in the order of
 * their arrival. */
static void test_queue_order(void **state)
{
    (void)state;
    enum { SENDERS = 10 };
    trv_torus_t torus = torus_of("24");
    trv_explicit_options_t shape = {TRV_EXPLICIT_OPTIONS, .streams = SENDERS, .steps = 1, .registers = 2, .units = 1};
    trv_explicit_part_t part = {.to_reg = 1, .count = 1, .unit = (int64_t[]){0}};
    trv_schedule_t *schedule;
    assert_int_equal(trv_explicit_create(&schedule, &torus, "incast", &shape), TRV_OK);
    for (int rank = 0; rank < SENDERS; rank++)
        assert_int_equal(trv_explicit_message(schedule, rank, 0, rank, SENDERS, 0, -1, TRV_SEND | TRV_RECEIVE, 1,
                                              &part),
                         TRV_OK);
    seen_t seen = {0};
    const trv_simulate_observer_t observer = {TRV_SIMULATE_OBSERVER, &seen, NULL, observe_packet};
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.model = TRV_FIFO;
    options.observer = &observer;
    options.link_loads = true;
    options.bandwidth_bps = 10e9; /* 6.5 us per packet: all but the first wait */
    trv_simulation_t result = simulate(schedule, &options, SENDERS * 8192);
    double last_ns = 0;
    for (int rank = SENDERS - 1; rank >= 0; rank--) /* the last link: the nearest sender first */
        for (size_t i = 0; i < seen.count; i++)
            if (seen.passage[i].rank == SENDERS - 1 && seen.passage[i].message == (uint64_t)rank) {
                assert_true(seen.passage[i].begin_ns > last_ns - 1e-6);
                last_ns = seen.passage[i].end_ns;
            }
    assert_int_equal(result.link[2 * (SENDERS - 1)].packets, SENDERS);
    assert_true(result.link[2 * (SENDERS - 1)].queue_max >= 1);
    assert_int_equal(result.link[2 * SENDERS].packets, 0);
    trv_simulation_clear(&result);
    trv_schedule_destroy(schedule);
    free(seen.passage);
}

/* ---- Repeated runs, and lower bounds ----------------------------------------------------------------------------- */

static void check_determined(const trv_schedule_t *schedule, uint64_t bytes)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.link_loads = true;
    options.jitter = 0.25;
    options.seed = 99;
    trv_simulation_t once = simulate(schedule, &options, bytes), again = simulate(schedule, &options, bytes);
    assert_int_equal(once.time_fs, again.time_fs);
    for (int i = 0; i < torus->ranks * 2 * torus->dims; i++) {
        assert_int_equal(once.link[i].packets, again.link[i].packets);
        assert_int_equal(once.link[i].queue_max, again.link[i].queue_max);
    }
    trv_simulation_clear(&once);
    trv_simulation_clear(&again);
}

static void test_determined(void **state)
{
    (void)state;
    for_all(check_determined);
}

static void check_lower_bound(const trv_schedule_t *schedule, uint64_t bytes)
{
    static const double bandwidth[] = {800e9, 10e9, 3200e9}, alpha[] = {1500, 0}, latency[] = {100, 2000};
    static const double overhead[] = {0, 30, 9000};
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    trv_simulator_t *simulator;
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    for (int i = 0; i < 6; i++) {
        const trv_slow_rank_t slow_rank = {1, 3};
        const trv_slow_link_t slow_link = {0, 0, 4};
        options.model = i % 2 ? TRV_FIFO : TRV_DATELINE;
        options.bandwidth_bps = ONE_OF(bandwidth);
        options.alpha_ns = ONE_OF(alpha);
        options.link_latency_ns = ONE_OF(latency);
        options.gamma_ns = random_below(2) ? 0.01 : 0;
        options.gamma_start_ns = random_below(2) ? 700 : 0;
        options.gamma_small_ns = random_below(2) ? 0.1 : 0;
        options.injection_bps = random_below(2) ? 50e9 : 0;
        options.message_overhead_ns = ONE_OF(overhead);
        options.part_overhead_ns = ONE_OF(overhead);
        options.slow_ranks = random_below(2);
        options.slow_rank = &slow_rank;
        options.balance_ties = random_below(2);
        options.slow_links = options.balance_ties ? 0 : random_below(2);
        options.slow_link = &slow_link;
        double bound_ns;
        trv_simulation_t result = {0};
        assert_int_equal(trv_simulate_bound_ns(simulator, &options, bytes, &bound_ns), TRV_OK);
        assert_int_equal(trv_simulate(simulator, &options, bytes, &result), TRV_OK);
        assert_true(bound_ns > 0);
        if (bound_ns > result.time_ns + 1e-3)
            fail_msg("%s, %llu bytes, model %d: %.3f ns, the bound is %.3f", trv_schedule_name(schedule),
                     (unsigned long long)bytes, options.model, result.time_ns, bound_ns);
        trv_simulation_clear(&result);
    }
    trv_simulator_destroy(simulator);
}

static void test_lower_bound(void **state)
{
    (void)state;
    for_all(check_lower_bound);
}

/* In a step of bruck-b on 8x2 the message from farthest away is not the largest one: the bound must not combine the
 * two. */
static void test_lower_bound_of_one_message(void **state)
{
    (void)state;
    trv_schedule_t *schedule = schedule_of("bruck-b", "8x2");
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    trv_simulator_t *simulator;
    double bound_ns;
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    for (options.link_latency_ns = 100; options.link_latency_ns < 4000; options.link_latency_ns *= 2) {
        assert_int_equal(trv_simulate_bound_ns(simulator, &options, 100000, &bound_ns), TRV_OK);
        assert_true(bound_ns <= (double)simulated_fs(schedule, &options, 100000) / 1e6);
    }
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
}

/* The bound is close on small vectors if nothing waits, or if everything waits for the processor. */
static void test_lower_bound_without_contention(void **state)
{
    (void)state;
    static const char *const names[] = {"trivance-l", "trivance-b", "swing-b", "bucket"};
    for (size_t i = 0; i < COUNT(names); i++) {
        trv_schedule_t *schedule = schedule_of(names[i], "8x8");
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        trv_simulator_t *simulator;
        double bound_ns;
        assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
        assert_int_equal(trv_simulate_bound_ns(simulator, &options, 32, &bound_ns), TRV_OK);
        assert_true(bound_ns > 0.9 * (double)simulated_fs(schedule, &options, 32) / 1e6);
        options.message_overhead_ns = 20000;
        options.part_overhead_ns = i < 2 ? 0 : 20000;
        assert_int_equal(trv_simulate_bound_ns(simulator, &options, 32, &bound_ns), TRV_OK);
        assert_true(bound_ns > 0.9 * (double)simulated_fs(schedule, &options, 32) / 1e6);
        trv_simulator_destroy(simulator);
        trv_schedule_destroy(schedule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conserves_packets_and_bytes),
        cmocka_unit_test(test_links_are_serial),
        cmocka_unit_test(test_queue_order),
        cmocka_unit_test(test_determined),
        cmocka_unit_test(test_lower_bound),
        cmocka_unit_test(test_lower_bound_of_one_message),
        cmocka_unit_test(test_lower_bound_without_contention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
