/*
 * Choices for meshes, slow and cut links: never slower than the choice that ignores them, over no cut link, and the
 * same every time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <trivance/algorithms.h>
#include <trivance/network.h>
#include <trivance/planner.h>
#include <trivance/verify.h>

#include "algorithms/algorithm.h"
#include "planner/ranking.h"
#include "planner/timing.h"
#include "exhaustive.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

typedef struct {
    const char *torus;
    int links;
    trv_slow_link_t link[3];
} case_t;

static const case_t cases[] = {
    {"9", 1, {{3, 0, INFINITY}}},
    {"9", 2, {{3, 0, INFINITY}, {4, 1, INFINITY}}},
    {"9", 1, {{0, 0, 10}}},
    {"9", 3, {{0, 0, 10}, {4, 1, 2.5}, {5, 0, 1.2}}},
    {"9m", 0, {{0}}},
    {"27m", 1, {{13, 0, 4}}},
    {"8x8m", 0, {{0}}},
    {"4mx4m", 0, {{0}}},
    {"9x9", 1, {{40, 2, 10}}},
    {"4x4", 2, {{5, 0, INFINITY}, {2, 3, INFINITY}}},
    {"9x9", 2, {{0, 0, INFINITY}, {10, 0, INFINITY}}}, /* rows that begin at different coordinates */
    {"4x4x4", 1, {{21, 4, INFINITY}}},
    {"2x3", 1, {{0, 0, INFINITY}}},
};
static const uint64_t sizes[] = {32, 8 << 10, 1 << 20, 64 << 20};

static trv_network_t network_of(const case_t *c)
{
    trv_network_t network = {TRV_NETWORK, .slow_links = c->links, .slow_link = c->link};
    assert_int_equal(trv_torus_parse(c->torus, &network.torus), TRV_OK);
    return network;
}

static trv_simulate_options_t options_of(const case_t *c)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.slow_links = c->links;
    options.slow_link = c->link;
    options.messages_per_port = 0;
    return options;
}

/* The time of a name on the network; INFINITY if it passes a cut link, or is not supported where rows are lines. */
static double time_of(const trv_network_t *network, const trv_simulate_options_t *options, const char *name,
                      trv_collective_t collective, uint64_t bytes)
{
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    trv_simulation_t result;
    int rc = trv_schedule_create_on(&schedule, network, name, collective, 0);
    if (rc == TRV_ERR_UNSUPPORTED)
        return INFINITY;
    assert_int_equal(rc, TRV_OK);
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    rc = trv_simulate(simulator, options, bytes, &result);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
    assert_true(rc == TRV_OK || rc == TRV_ERR_UNSUPPORTED);
    return rc ? INFINITY : result.time_ns;
}

/* Choices are timed with packets that may be larger, so times may differ by a few percent. The quick tier takes one
 * size of every other network, and all sizes of the last. */
static void test_never_slower(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(cases); i++)
        for (int s = 0; s < COUNT(sizes); s++) {
            if (!exhaustive() && (i % 2 || s != i / 2 % (COUNT(sizes) - 1)) && i != COUNT(cases) - 1)
                continue;
            trv_network_t network = network_of(&cases[i]);
            trv_simulate_options_t options = options_of(&cases[i]), plain = options;
            trv_torus_t torus = network.torus;
            trv_planner_choice_t choice, uniform;
            trv_verdict_t verdict = {TRV_VERDICT};
            trv_schedule_t *schedule;
            torus.lines = 0;
            plain.slow_links = 0;
            assert_int_equal(trv_planner_best(&torus, TRV_ALLREDUCE, 0, sizes[s], &plain, NULL, &uniform), TRV_OK);
            assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, sizes[s], &options, NULL, &choice),
                             TRV_OK);
            const double uniform_ns = time_of(&network, &options, uniform.algorithm, TRV_ALLREDUCE, sizes[s]);
            const double choice_ns = time_of(&network, &options, choice.algorithm, TRV_ALLREDUCE, sizes[s]);
            assert_true(isfinite(choice_ns));
            if (choice_ns > 1.02 * uniform_ns)
                fail_msg("%s of %llu bytes: %s takes %.0f ns, %s %.0f", cases[i].torus, (unsigned long long)sizes[s],
                         choice.algorithm, choice_ns, uniform.algorithm, uniform_ns);
            assert_int_equal(trv_schedule_create_on(&schedule, &network, choice.algorithm, TRV_ALLREDUCE, 0), TRV_OK);
            assert_int_equal(trv_verify_on(schedule, &network, TRV_VERIFY_AUTO, &verdict, NULL, NULL), TRV_OK);
            if (!verdict.valid)
                fail_msg("%s: %s: %s", cases[i].torus, choice.algorithm, verdict.fault);
            trv_schedule_destroy(schedule);
        }
}

/* At least 1.5 times as fast as the choice that ignores a link of a tenth of the bandwidth, on 9x9 at 1 MiB. */
static void test_gains(void **state)
{
    const case_t slow = {"9x9", 1, {{40, 2, 10}}}, none = {"9x9", 0, {{0}}};
    const trv_network_t network = network_of(&slow);
    const trv_simulate_options_t options = options_of(&slow), plain = options_of(&none);
    trv_planner_choice_t choice, uniform;
    (void)state;
    assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 1 << 20, &plain, NULL, &uniform), TRV_OK);
    assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 1 << 20, &options, NULL, &choice), TRV_OK);
    assert_non_null(strstr(choice.algorithm, "@10"));
    assert_true(time_of(&network, &options, uniform.algorithm, TRV_ALLREDUCE, 1 << 20) > 1.5 * choice.time_ns);
}

/* One cut link makes a choice for 32x32 at most 1.5 times as slow, with one message per port. */
static void test_loss_by_a_cut_is_small(void **state)
{
    static const uint64_t bytes[] = {16 << 20, 32, 256 << 10, 1 << 20, 4 << 20, 64 << 20};
    const case_t cut = {"32x32", 2, {{0, 0, INFINITY}, {32, 1, INFINITY}}}, none = {"32x32", 0, {{0}}};
    const trv_network_t network = network_of(&cut);
    trv_simulate_options_t options = options_of(&cut), plain = options_of(&none);
    (void)state;
    options.messages_per_port = plain.messages_per_port = 1;
    for (int i = 0; i < (exhaustive() ? COUNT(bytes) : 1); i++) {
        trv_planner_choice_t choice, uniform;
        assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, bytes[i], &plain, NULL, &uniform), TRV_OK);
        assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, bytes[i], &options, NULL, &choice), TRV_OK);
        if (choice.time_ns > 1.5 * uniform.time_ns)
            fail_msg("%llu bytes: %s takes %.0f ns, %s on the whole torus %.0f", (unsigned long long)bytes[i],
                     choice.algorithm, choice.time_ns, uniform.algorithm, uniform.time_ns);
    }
}

/* A cached answer for one network is not returned for another: neither for other links, nor for a mesh. The same
 * question has the same answer, however many others were asked in between. */
static void test_cache_separates_networks(void **state)
{
    trv_planner_choice_t choice, again;
    trv_torus_t torus;
    (void)state;
    assert_int_equal(trv_torus_parse("9", &torus), TRV_OK);
    double before_ns = 0;
    for (int i = 0; i < 70; i++) { /* more sets of links than the 64 that are kept */
        const trv_slow_link_t link = {4, 0, 1 + i};
        const case_t c = {"9", 1, {link}};
        const trv_simulate_options_t options = options_of(&c);
        assert_int_equal(trv_planner_best(&torus, TRV_REDUCE_SCATTER, 0, 1 << 20, &options, NULL, &choice), TRV_OK);
        assert_true(choice.time_ns >=
                    before_ns); /* the choice for a faster link is valid for a slower one, but slower */
        before_ns = choice.time_ns;
        assert_int_equal(trv_planner_best(&torus, TRV_REDUCE_SCATTER, 0, 1 << 20, &options, NULL, &again), TRV_OK);
        assert_memory_equal(&choice, &again, sizeof choice);
    }
    const trv_simulate_options_t plain = options_of(&(case_t){"9", 0, {{0}}});
    assert_int_equal(trv_planner_best(&torus, TRV_ALLREDUCE, 0, 1 << 20, &plain, NULL, &choice), TRV_OK);
    assert_int_equal(trv_torus_set_lines(&torus, 1), TRV_OK);
    assert_int_equal(trv_planner_best(&torus, TRV_ALLREDUCE, 0, 1 << 20, &plain, NULL, &again), TRV_OK);
    assert_true(again.time_ns > choice.time_ns);
}

/* Two new planners, whose links were freed after their creation, agree with the one that caches choices. */
static void test_determined(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        trv_planner_choice_t choice[2], best;
        trv_network_t network = network_of(&cases[i]);
        for (int k = 0; k < 2; k++) {
            trv_planner_t *planner;
            trv_slow_link_t copy[3];
            trv_simulate_options_t options = options_of(&cases[i]);
            memcpy(copy, cases[i].link, sizeof copy);
            options.slow_link = copy;
            assert_int_equal(trv_planner_create(&planner, &network.torus, TRV_ALLREDUCE, 0, &options, NULL), TRV_OK);
            memset(copy, 0x55, sizeof copy);
            assert_int_equal(trv_planner_rank(planner, 64 << 10, 1, &choice[k]), 1);
            trv_planner_destroy(planner);
        }
        const trv_simulate_options_t options = options_of(&cases[i]);
        assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 64 << 10, &options, NULL, &best), TRV_OK);
        assert_string_equal(choice[0].algorithm, choice[1].algorithm);
        assert_string_equal(choice[0].algorithm, best.algorithm);
        assert_float_equal(choice[0].time_ns, best.time_ns, 0);
    }
}

/* The result does not depend on earlier questions. Several schedules that avoid the link take equally long here. */
static void test_determined_with_warm_cache(void **state)
{
    const case_t c = {"2x2m", 1, {{2, 0, 4}}};
    const trv_network_t network = network_of(&c);
    const trv_planner_constraints_t few = {TRV_PLANNER_CONSTRAINTS, .memory_bytes = 15};
    trv_simulate_options_t options = options_of(&c);
    trv_planner_choice_t choice[2], other[3];
    (void)state;
    options.alpha_ns = 2e5;
    for (int warm = 0; warm < 2; warm++) {
        trv_planner_t *planner;
        assert_int_equal(trv_planner_create(&planner, &network.torus, TRV_ALLREDUCE, 0, &options, &few), TRV_OK);
        if (warm) {
            (void)trv_planner_rank(planner, 32, 1, other);
            (void)trv_planner_rank(planner, 4 << 20, 3, other);
        }
        assert_int_equal(trv_planner_rank(planner, 15, 1, &choice[warm]), 1);
        trv_planner_destroy(planner);
    }
    assert_string_equal(choice[0].algorithm, choice[1].algorithm);
}

/* If packets are enlarged because there are too many, links carry no more payload than with packets that waste a part
 * of their flits: 300 bytes occupy two flits of 256. */
static void test_packets_keep_payload_rate(void **state)
{
    const case_t c = {"8m", 0, {{0}}};
    const trv_network_t network = network_of(&c);
    trv_simulate_options_t options = options_of(&c);
    trv_planner_choice_t choice;
    (void)state;
    options.packet_bytes = 300;
    assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 32 << 20, &options, NULL, &choice), TRV_OK);
    const double time_ns = time_of(&network, &options, choice.algorithm, TRV_ALLREDUCE, 32 << 20);
    assert_true(fabs(choice.time_ns / time_ns - 1) < 0.02); /* it was 0.6 */
}

/* ---- Listed algorithms ------------------------------------------------------------------------------------------- */

static unsigned draw(uint64_t *state, unsigned below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % below;
}

typedef struct {
    trv_network_t network;
    trv_slow_link_t link[4];
    trv_simulate_options_t options;
    trv_collective_t collective;
    uint64_t bytes;
} drawn_t;

/* A small torus or mesh with up to three slow links and perhaps a cut one. The cut link may not exist, or may split a
 * row in two. */
static void draw_network(uint64_t *state, drawn_t *d)
{
    static const double factors[] = {1.5, 4, 10};
    static const double rates[] = {800e9, 25e9, 50e6};
    *d = (drawn_t){.network = {TRV_NETWORK}, .options = TRV_SIMULATE_DEFAULTS};
    trv_torus_t *torus = &d->network.torus;
    const int dims = 1 + (int)draw(state, 3);
    int size[3];
    unsigned lines = 0;
    for (int i = 0; i < dims; i++) {
        size[i] = dims == 1 ? 3 + (int)draw(state, 9) : 2 + (int)draw(state, dims == 2 ? 4 : 2);
        lines |= (size[i] > 2 && draw(state, 2) ? 1u : 0u) << i;
    }
    assert_int_equal(trv_torus_init(torus, dims, size), TRV_OK);
    assert_int_equal(trv_torus_set_lines(torus, lines), TRV_OK);
    const int slow = (int)draw(state, 4), links = slow + (int)draw(state, 2);
    for (int i = 0; i < links; i++)
        d->link[i] = (trv_slow_link_t){(int)draw(state, (unsigned)torus->ranks), (int)draw(state, 2 * (unsigned)dims),
                                       i == slow ? INFINITY : factors[draw(state, 3)]};
    d->network.routes = d->options.routes = draw(state, 4) ? TRV_ROUTES_CHOSEN : TRV_ROUTES_FIXED;
    d->network.slow_links = d->options.slow_links = links;
    d->network.slow_link = d->options.slow_link = d->link;
    d->options.bandwidth_bps = rates[draw(state, 3)];
    d->collective = draw(state, 2) ? TRV_ALLREDUCE : draw(state, 2) ? TRV_REDUCE_SCATTER : TRV_ALLGATHER;
    d->bytes = 32u << 2 * draw(state, 9);
}

/* Whether a schedule has more messages per port than the network allows. */
static bool exceeds(const drawn_t *d, const char *name)
{
    trv_schedule_t *schedule;
    if (d->options.messages_per_port == 0 ||
        trv_schedule_create_on(&schedule, &d->network, name, d->collective, 0) == TRV_ERR_UNSUPPORTED)
        return false;
    const int messages = trv_schedule_messages_per_port(schedule);
    trv_schedule_destroy(schedule);
    return messages > (int)d->options.messages_per_port;
}

/* No choice for a small network is slower than an algorithm of the table, except those for networks that do not
 * forward and, on one half of the networks, those with more than one message per port. */
static void test_never_slower_than_listed(void **unused)
{
    (void)unused;
    uint64_t state = 17;
    for (int compared = 0; compared < (exhaustive() ? 16 : 2);) {
        drawn_t d;
        trv_planner_choice_t choice;
        draw_network(&state, &d);
        d.options.messages_per_port = (uint32_t)(compared % 2);
        if (trv_planner_best(&d.network.torus, d.collective, 0, d.bytes, &d.options, NULL, &choice))
            continue;
        compared++;
        for (int i = 0; i < trv_algorithms_count(); i++) {
            const char *name = trv_algorithm_name(trv_algorithm_at(i));
            if (trv_algorithm_exactness(trv_algorithm_at(i)) == TRV_COVERS || trv_algorithm_at(i)->relays ||
                exceeds(&d, name))
                continue;
            const double time_ns = time_of(&d.network, &d.options, name, d.collective, d.bytes);
            char torus[TRV_TORUS_TEXT_MAX];
            if (choice.time_ns > time_ns * (1 + 1e-9))
                fail_msg("%s with %d links, %llu bytes: %s takes %.0f ns, %s %.0f",
                         trv_torus_format(&d.network.torus, torus, sizeof torus), d.network.slow_links,
                         (unsigned long long)d.bytes, choice.algorithm, choice.time_ns, name, time_ns);
        }
    }
}

/* No schedule is faster than the bound that one rank's messages give. */
static void test_bounds_of_one_rank(void **unused)
{
    (void)unused;
    uint64_t state = 29;
    int bounded = 0;
    for (int drawn = 0; drawn < (exhaustive() ? 60 : 8); drawn++) {
        drawn_t d;
        draw_network(&state, &d);
        d.collective = (trv_collective_t)draw(&state, TRV_ALLTOALL + 1);
        d.options.alpha_ns = draw(&state, 3) ? 1500 : 0;
        d.options.link_latency_ns = draw(&state, 3) ? 100 : 5000;
        for (int i = 0; i < trv_algorithms_count(); i++) {
            const char *name = trv_algorithm_name(trv_algorithm_at(i));
            const int rank = (int)draw(&state, (unsigned)d.network.torus.ranks);
            trv_timing_traffic_t traffic = {0};
            trv_schedule_t *schedule;
            if (trv_schedule_create_on(&schedule, &d.network, name, d.collective, 0))
                continue;
            assert_int_equal(trv_timing_add_traffic(schedule, rank, &d.options, d.bytes, &traffic), TRV_OK);
            trv_schedule_destroy(schedule);
            const double time_ns = time_of(&d.network, &d.options, name, d.collective, d.bytes);
            const double bound_ns = trv_timing_bound_ns(&d.options, &traffic);
            if (bound_ns > time_ns * (1 + 1e-9))
                fail_msg("%s, %llu bytes: %.3f ns, the bound of rank %d is %.3f", name, (unsigned long long)d.bytes,
                         time_ns, rank, bound_ns);
            bounded += bound_ns > time_ns / 2;
        }
    }
    assert_true(bounded > 20);
}

/* Networks on which one simulation would take minutes are rejected at once. */
static void test_too_large_networks(void **state)
{
    static const case_t large[] = {{"1000000m", 0, {{0}}},
                                   {"1000000", 1, {{3, 0, INFINITY}}},
                                   {"1000x1000m", 0, {{0}}}};
    (void)state;
    for (int i = 0; i < COUNT(large); i++) {
        const trv_network_t network = network_of(&large[i]);
        const trv_simulate_options_t options = options_of(&large[i]);
        trv_planner_choice_t choice;
        assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 1024, &options, NULL, &choice),
                         TRV_ERR_UNSUPPORTED);
        assert_non_null(strstr(trv_last_error(), "is too large for the planner"));
    }
}

/* A link over which one packet takes 36 hours: the choice avoids it. */
static void test_avoids_unsimulable_links(void **state)
{
    (void)state;
    const case_t slow = {"9", 1, {{0, 0, 1e5}}};
    const trv_network_t network = network_of(&slow);
    trv_simulate_options_t options = options_of(&slow);
    trv_planner_choice_t choice;
    options.bandwidth_bps = 50e3;
    assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 65536, &options, NULL, &choice), TRV_OK);
    assert_true(choice.time_ns < 60e9);
}

static void test_impossible_networks(void **state)
{
    static const struct {
        case_t network;
        int code;
        const char *words;
    } bad[] = {
        {{"9", 2, {{0, 0, INFINITY}, {4, 0, INFINITY}}}, TRV_ERR_UNSUPPORTED, "is cut in two places"},
        {{"9m", 1, {{0, 0, INFINITY}}},
         TRV_ERR_UNSUPPORTED,
         "divides the row of rank 0 along dimension 0 of 9m into two parts"},
        {{"9", 1, {{9, 0, 2}}}, TRV_ERR_ARGUMENT, "no link leaves rank 9"},
        {{"9", 1, {{0, 2, 2}}}, TRV_ERR_ARGUMENT, "9 has fewer dimensions"},
        {{"9m", 1, {{8, 0, 2}}}, TRV_ERR_ARGUMENT, "the last of its line"},
        {{"9", 1, {{0, 0, 0.5}}}, TRV_ERR_ARGUMENT, "a factor from 1 to 1000000"},
    };
    (void)state;
    for (int i = 0; i < COUNT(bad); i++) {
        const trv_network_t network = network_of(&bad[i].network);
        const trv_simulate_options_t options = options_of(&bad[i].network);
        trv_planner_choice_t choice;
        assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 1024, &options, NULL, &choice),
                         bad[i].code);
        assert_non_null(strstr(trv_last_error(), bad[i].words));
    }
}

static trv_planner_t *planner_of(const case_t *c)
{
    const trv_simulate_options_t options = options_of(c);
    const trv_network_t network = network_of(c);
    trv_planner_t *planner;
    assert_int_equal(trv_planner_create(&planner, &network.torus, TRV_ALLREDUCE, 0, &options, NULL), TRV_OK);
    return planner;
}

/* Streams that begin in a short side have hundreds of chunks in flight. Models and estimates stay within bounds there
 * (it once took half a minute), and the choice is a good one. */
static void test_shared_paths_on_lines(void **state)
{
    const case_t c = {"2x2x100m", 0, {{0}}};
    trv_planner_choice_t choice, named;
    trv_planner_t *planner = planner_of(&c);
    (void)state;
    assert_int_equal(trv_planner_rank(planner, 1 << 20, 1, &choice), 1);
    assert_int_equal(trv_planner_time(planner, 1 << 20, "hybrid:2x2x20:streams4", &named), TRV_OK);
    assert_true(choice.time_ns <= named.time_ns);
    trv_planner_destroy(planner);
}

/* A choice has the time that trv_simulate has, also where packets are enlarged, and a time has parts. */
static void test_time_as_simulated(void **state)
{
    const case_t cases[] = {{"4mx4mx8m", 0, {{0}}},
                            {"8x8", 0, {{0}}},
                            {"44m", 0, {{0}}},
                            {"5x2", 2, {{2, 2, INFINITY}, {3, 3, INFINITY}}}};
    (void)state;
    for (int i = 0; i < 2 * COUNT(cases); i++) {
        const case_t *c = &cases[i / 2];
        const trv_network_t network = network_of(c);
        trv_simulate_options_t options = options_of(c);
        const uint64_t bytes = i % 2 ? (uint64_t)1 << 40 : 64 << 20;
        trv_planner_choice_t choice, small;
        if (i / 2 == 2)
            options.gamma_ns = 0.01;
        if (i / 2 == 3)
            options.packet_bytes = 300;
        if (i % 2 && i / 2 != 1 && !exhaustive())
            continue; /* seconds */
        assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, bytes, &options, NULL, &choice), TRV_OK);
        const double simulated_ns = time_of(&network, &options, choice.algorithm, TRV_ALLREDUCE, bytes);
        if (fabs(choice.time_ns / simulated_ns - 1) > 1e-9)
            fail_msg("%s on %s: %.0f ns, simulated %.0f", choice.algorithm, c->torus, choice.time_ns, simulated_ns);
        assert_true(choice.approximate || i % 2 == 0);
        assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 32, &options, NULL, &small), TRV_OK);
        assert_false(small.approximate);
        assert_true(fabs((choice.alpha_ns + choice.hops_ns + choice.transmission_ns) / choice.time_ns - 1) < 1e-6);
    }
}

/* No schedule with a model passes a cut link. */
static void test_modelled_avoid_cuts(void **state)
{
    static const char *const tori[] = {"9", "8x8", "5x9", "4x4m", "4x4x4", "3x5x2"};
    uint64_t random = 20261123;
    int served[2] = {0}; /* by the routes */
    (void)state;
    for (int i = 0; i < (exhaustive() ? 12 : 6); i++) {
        case_t c = {tori[i % COUNT(tori)], 0, {{0}}};
        trv_network_t network = network_of(&c);
        trv_planner_t *planner;
        for (c.links = 0; c.links < 1 + i % 3; c.links++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const int rank = (int)(random >> 33) % network.torus.ranks, port = (int)(random >> 20) % network.torus.dims;
            c.link[c.links] = (trv_slow_link_t){rank, 2 * port, INFINITY};
        }
        network.slow_links = c.links;
        network.routes = i % 4 == 3 ? TRV_ROUTES_FIXED : TRV_ROUTES_CHOSEN;
        trv_simulate_options_t options = options_of(&c);
        options.routes = network.routes;
        if (trv_planner_create(&planner, &network.torus, TRV_ALLREDUCE, 0, &options, NULL))
            continue; /* a row in two parts */
        for (int k = 0; k < planner->list.count; k++) {
            trv_schedule_t *schedule;
            const char *name = planner->list.candidate[k].name;
            const trv_model_t *model = &planner->list.candidate[k].model;
            if (model->steps <= 0 || model->messages > 2000 ||
                trv_schedule_create_on(&schedule, &network, name, TRV_ALLREDUCE, 0))
                continue;
            trv_schedule_destroy(schedule);
            if (isinf(time_of(&network, &options, name, TRV_ALLREDUCE, 4096)))
                fail_msg("%s passes a cut link of %s: %d:+%d, …: %s", name, c.torus, c.link[0].rank, c.link[0].port / 2,
                         trv_last_error());
            served[network.routes == TRV_ROUTES_FIXED]++;
        }
        trv_planner_destroy(planner);
    }
    assert_true(served[0] > 100 && served[1] > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_paths_on_lines),
        cmocka_unit_test(test_time_as_simulated),
        cmocka_unit_test(test_modelled_avoid_cuts),
        cmocka_unit_test(test_never_slower),
        cmocka_unit_test(test_gains),
        cmocka_unit_test(test_loss_by_a_cut_is_small),
        cmocka_unit_test(test_cache_separates_networks),
        cmocka_unit_test(test_determined),
        cmocka_unit_test(test_determined_with_warm_cache),
        cmocka_unit_test(test_packets_keep_payload_rate),
        cmocka_unit_test(test_impossible_networks),
        cmocka_unit_test(test_too_large_networks),
        cmocka_unit_test(test_never_slower_than_listed),
        cmocka_unit_test(test_bounds_of_one_rank),
        cmocka_unit_test(test_avoids_unsimulable_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
