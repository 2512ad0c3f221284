/*
 * All collectives: every algorithm is proved on random tori and meshes, also with cut links, for random roots; wrong
 * roots are errors; no schedule is faster than the limit, and plans of long vectors come close to it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trivance/trivance.h>

#include "exhaustive.h"
#include "schedule/collective.h"
#include "torus/torus.h"
#include "verify/verifier.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- Random networks --------------------------------------------------------------------------------------------- */

static uint64_t seed = 1;

static int draw(int below) { return (int)((seed = trv_mix(seed + 1)) % (uint64_t)below); }

/* A torus of 1 to 4 dimensions and up to `ranks_max` ranks, of which some are lines. */
static void draw_torus(int ranks_max, trv_torus_t *torus)
{
    int size[TRV_DIMS_MAX] = {0}, dims = 1 + draw(4), ranks = 1;
    for (int d = 0; d < dims; d++) {
        const int most = ranks_max / ranks < 9 ? ranks_max / ranks : 9;
        size[d] = 1 + draw(most);
        ranks *= size[d];
    }
    assert_int_equal(trv_torus_init(torus, dims, size), TRV_OK);
    unsigned lines = (unsigned)(draw(2) ? draw(1 << dims) : 0);
    for (int d = 0; d < dims; d++)
        lines &= ~(unsigned)((size[d] == 1) << d);
    assert_int_equal(trv_torus_set_lines(torus, lines), TRV_OK);
}

static void name_network(const trv_network_t *network, trv_collective_t collective, int root, const char *name,
                         char text[256])
{
    char torus[TRV_TORUS_TEXT_MAX], links[100] = "";
    for (int i = 0; i < network->slow_links; i++) {
        const size_t used = strlen(links);
        snprintf(links + used, sizeof links - used, " cut %d:%d", network->slow_link[i].rank,
                 network->slow_link[i].port);
    }
    snprintf(text, 256, "%s, %s from root %d on %s%s", name, trv_collective_shape(collective)->name, root,
             trv_torus_format(&network->torus, torus, sizeof torus), links);
}

/* Proves one schedule. Returns 1, or 0 if the algorithm does not support it. */
static int prove(const trv_network_t *network, trv_collective_t collective, int root, const char *name)
{
    char text[256];
    trv_verdict_t verdict = {TRV_VERDICT};
    trv_schedule_t *schedule;
    name_network(network, collective, root, name, text);
    const int rc = trv_schedule_create_on(&schedule, network, name, collective, root);
    if (rc == TRV_ERR_UNSUPPORTED && *trv_last_error())
        return 0;
    if (rc || trv_verify_on(schedule, network, TRV_VERIFY_EXHAUSTIVE, &verdict, NULL, NULL))
        fail_msg("%s: %s", text, trv_last_error());
    if (!verdict.valid && strstr(verdict.fault, "which is cut")) { /* the way of its messages cannot be changed */
        trv_schedule_destroy(schedule);
        return 0;
    }
    if (!verdict.valid)
        fail_msg("%s: %s", text, verdict.fault);
    assert_int_equal(trv_schedule_collective(schedule), collective);
    assert_int_equal(trv_schedule_root(schedule), root);
    trv_schedule_destroy(schedule);
    return 1;
}

static int prove_all(const trv_network_t *network, trv_collective_t collective, int root)
{
    int proved = 0;
    for (int i = 0; i < trv_algorithms_count(); i++)
        proved += prove(network, collective, root, trv_algorithm_name(trv_algorithm_at(i)));
    return proved;
}

static int draw_root(trv_collective_t collective, int ranks)
{
    return trv_collective_has_root(collective) ? draw(ranks) : 0;
}

static void test_every_algorithm(void **state)
{
    (void)state;
    seed = sample_seed();
    for (int i = 0; i < (exhaustive() ? 50 : 10); i++) {
        trv_network_t network = {TRV_NETWORK};
        draw_torus(exhaustive() ? 120 : 48, &network.torus);
        for (int c = 0; c < TRV_COLLECTIVES; c++)
            assert_true(prove_all(&network, (trv_collective_t)c, draw_root((trv_collective_t)c, network.torus.ranks)) >=
                        1);
    }
}

/* The schedules with parameters in their names. */
static void test_parameters(void **state)
{
    static const struct {
        const char *torus, *name;
        trv_collective_t first, last;
    } cases[] = {{"4x4", "disjoint-trees:1:1", TRV_BROADCAST, TRV_REDUCE},
                 {"3x3x3", "disjoint-trees:7:3", TRV_BROADCAST, TRV_REDUCE},
                 {"5mx4m", "disjoint-trees:4:2", TRV_BROADCAST, TRV_REDUCE},
                 {"5mx4m", "spanning-trees:4:5", TRV_ALLREDUCE, TRV_ALLREDUCE},
                 {"2x3x2", "spanning-trees:1:1", TRV_ALLREDUCE, TRV_ALLREDUCE},
                 {"3x5", "chain:9", TRV_BROADCAST, TRV_REDUCE},
                 {"3x3", "scatter-allgather:star-tree+trivance-b", TRV_BROADCAST, TRV_BROADCAST},
                 {"4x4", "scatter-allgather:binomial+swing-b", TRV_REDUCE, TRV_REDUCE},
                 {"2x3x2", "scatter-allgather:bucket", TRV_BROADCAST, TRV_REDUCE},
                 {"8x8", "star-tree:4", TRV_BROADCAST, TRV_ALLTOALL},
                 {"7x6", "linear:3", TRV_BROADCAST, TRV_ALLTOALL},
                 {"3x5m", "linear:1024", TRV_BROADCAST, TRV_ALLTOALL},
                 {"2x5mx2", "balanced-paths:3", TRV_SCATTER, TRV_GATHER}};
    (void)state;
    for (int i = 0; i < COUNT(cases); i++)
        for (int c = (int)cases[i].first; c <= (int)cases[i].last; c++) {
            trv_network_t network = {TRV_NETWORK};
            assert_int_equal(trv_torus_parse(cases[i].torus, &network.torus), TRV_OK);
            const int root = draw_root((trv_collective_t)c, network.torus.ranks);
            if (!prove(&network, (trv_collective_t)c, root, cases[i].name))
                fail_msg("%s, %s: %s", cases[i].torus, cases[i].name, trv_last_error());
        }
}

/* With cut links, where the algorithms that support them must not use these. */
static void test_cut_links(void **state)
{
    (void)state;
    int proved = 0;
    seed = sample_seed();
    for (int i = 0; i < (exhaustive() ? 40 : 10); i++) {
        trv_slow_link_t cut[4];
        trv_network_t network = {TRV_NETWORK, .slow_link = cut};
        draw_torus(30, &network.torus);
        for (int links = 1 + draw(2); links > 0; links--) {
            const int rank = draw(network.torus.ranks), port = draw(2 * network.torus.dims);
            const int d = trv_port_dimension(port), at = trv_torus_coordinate(&network.torus, rank, d);
            if (network.torus.size[d] == 1 || (trv_torus_is_line(&network.torus, d) &&
                                               at == (trv_port_sign(port) > 0 ? network.torus.size[d] - 1 : 0)))
                continue;
            const trv_slow_link_t back = {trv_torus_shift(&network.torus, rank, d, trv_port_sign(port)), port ^ 1,
                                          INFINITY};
            cut[network.slow_links++] = (trv_slow_link_t){rank, port, INFINITY};
            if (draw(3))
                cut[network.slow_links++] = back;
        }
        for (int c = 0; c < TRV_COLLECTIVES; c++)
            proved += prove_all(&network, (trv_collective_t)c, draw_root((trv_collective_t)c, network.torus.ranks));
    }
    assert_true(proved > (exhaustive() ? 800 : 150));
}

/* ---- Names and wrong roots --------------------------------------------------------------------------------------- */

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(trv_collective_name(TRV_ALLREDUCE), "allreduce");
    assert_string_equal(trv_collective_name(TRV_ALLTOALL), "alltoall");
    assert_string_equal(trv_collective_title(TRV_REDUCE_SCATTER), "Reduce-Scatter");
    assert_null(trv_collective_name((trv_collective_t)TRV_COLLECTIVES));
    assert_null(trv_collective_title((trv_collective_t)-1));
}

static void test_wrong_roots(void **state)
{
    static const int roots[] = {-1, 9, 1 << 30};
    const trv_hockney_t times = {8e9, 1000, 10, 0};
    const trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    trv_network_t network = {TRV_NETWORK};
    trv_schedule_t *schedule;
    trv_planner_choice_t choice;
    trv_limit_t limit;
    (void)state;
    assert_int_equal(trv_torus_parse("3x3", &network.torus), TRV_OK);
    for (int c = TRV_BROADCAST; c <= TRV_GATHER; c++)
        for (int i = 0; i < COUNT(roots); i++) {
            const trv_explicit_options_t own = {TRV_EXPLICIT_OPTIONS, .collective = (trv_collective_t)c,
                                                .root = roots[i],     .streams = 1,
                                                .steps = 1,           .registers = 1,
                                                .units = 9,           .messages_per_port = 1};
            const int code[] = {
                trv_schedule_create_on(&schedule, &network, "binomial", (trv_collective_t)c, roots[i]),
                trv_explicit_create(&schedule, &network.torus, "own", &own),
                trv_planner_best(&network.torus, (trv_collective_t)c, roots[i], 1, &options, NULL, &choice),
                trv_limit_find(&network, &times, (trv_collective_t)c, roots[i], 1, 0, &limit),
            };
            for (int f = 0; f < COUNT(code); f++)
                assert_int_equal(code[f], TRV_ERR_ARGUMENT);
            assert_non_null(strstr(trv_last_error(), "among 9 ranks; roots are 0 to 8"));
        }
    assert_int_equal(trv_schedule_create_on(&schedule, &network, "linear", TRV_ALLTOALL, 1), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "has no root"));
}

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

static double limit_ns(const trv_network_t *network, trv_collective_t collective, int root, uint64_t bytes)
{
    const trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    const trv_hockney_t times = {options.bandwidth_bps, options.alpha_ns, 200, 300};
    trv_limit_t limit;
    assert_int_equal(trv_limit_find(network, &times, collective, root, bytes, options.packet_bytes, &limit), TRV_OK);
    return limit.time_ns;
}

static void expect_slower(const trv_network_t *network, trv_collective_t collective, int root, const char *name)
{
    static const uint64_t bytes[] = {9, 4096, 100000, 16 << 20};
    const trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    char text[256];
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    if (trv_schedule_create_on(&schedule, network, name, collective, root))
        return;
    name_network(network, collective, root, name, text);
    trv_network_t allowing = *network; /* as many messages as the schedule has */
    allowing.messages_per_port = trv_schedule_messages_per_port(schedule);
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    for (int b = 0; b < COUNT(bytes); b++) {
        trv_simulation_t simulation;
        const double limit = limit_ns(&allowing, collective, root, bytes[b]);
        assert_int_equal(trv_simulate(simulator, &options, bytes[b], &simulation), TRV_OK);
        if (simulation.time_ns < limit)
            fail_msg("%s: %llu bytes take %.3f ns, the limit is %.3f ns", text, (unsigned long long)bytes[b],
                     simulation.time_ns, limit);
        trv_simulation_clear(&simulation);
    }
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
}

static const char *const small[] = {"2",   "3",   "4",   "5",   "8",     "9",  "16",
                                    "2x2", "3x3", "4x4", "2x5", "2x2x3", "7m", "4mx4m"};

static void test_no_schedule_is_faster(void **state)
{
    (void)state;
    seed = 1;
    for (int t = 0; t < COUNT(small); t++)
        for (int c = 0; c < TRV_COLLECTIVES; c++) {
            trv_network_t network = {TRV_NETWORK};
            assert_int_equal(trv_torus_parse(small[t], &network.torus), TRV_OK);
            const int root = draw_root((trv_collective_t)c, network.torus.ranks);
            for (int i = 0; i < trv_algorithms_count(); i++)
                expect_slower(&network, (trv_collective_t)c, root, trv_algorithm_name(trv_algorithm_at(i)));
        }
}

/* Plans of long vectors, in multiples of the limit. Broadcast and reduce follow disjoint trees through all ports of the
 * root; the trees of scatter and gather are balanced; an all-to-all by dimension uses all links of the longest
 * dimension equally if its size is odd, and nearly so if it is even. */
static void test_long_vectors_reach_the_limit(void **state)
{
    static const char *const tori[] = {"3", "4", "5", "8", "3x3", "4x4", "3x3x3"};
    static const double factor = 1.10;
    const trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    const uint64_t bytes = 512 << 20;
    (void)state;
    for (int t = 0; t < COUNT(tori); t++)
        for (int c = TRV_BROADCAST; c <= TRV_ALLTOALL; c++) {
            if (!try_case(t + c, 3))
                continue;
            trv_network_t network = {TRV_NETWORK};
            trv_planner_choice_t choice;
            char text[256];
            assert_int_equal(trv_torus_parse(tori[t], &network.torus), TRV_OK);
            const int root = draw_root((trv_collective_t)c, network.torus.ranks);
            const double limit = limit_ns(&network, (trv_collective_t)c, root, bytes);
            assert_int_equal(trv_planner_best(&network.torus, (trv_collective_t)c, root, bytes, &options, NULL,
                                              &choice),
                             TRV_OK);
            name_network(&network, (trv_collective_t)c, root, choice.algorithm, text);
            if (choice.time_ns > factor * limit)
                fail_msg("%s: %.3f of the limit, more than %.2f", text, choice.time_ns / limit, factor);
        }
}

/* On meshes too, scatter and gather of long vectors from any root use all ports of the root, or all links around the
 * most isolated ranks. With cut and slow links, paths are long compared with the number of blocks on a link. */
static void test_scatter_and_gather_reach_the_limit(void **state)
{
    static const char *const meshes[] = {"7m", "8x4m", "8mx9m", "8mx8m", "3mx4mx5m"};
    static const trv_slow_link_t link[] = {{1, 0, INFINITY}, {5, 2, 3}};
    const trv_simulate_options_t whole = TRV_SIMULATE_DEFAULTS;
    (void)state;
    for (int t = 0; t < COUNT(meshes); t++)
        for (int c = TRV_SCATTER; c <= TRV_GATHER; c++)
            for (int links = 0; links <= (t > 0 ? 2 : 0); links += 2) {
                trv_network_t network = {TRV_NETWORK, .slow_links = links, .slow_link = link};
                trv_simulate_options_t options = whole;
                trv_planner_choice_t choice;
                char text[256];
                assert_int_equal(trv_torus_parse(meshes[t], &network.torus), TRV_OK);
                options.slow_links = links;
                options.slow_link = link;
                options.messages_per_port = network.messages_per_port = 0;
                const int root = draw(network.torus.ranks);
                const double limit = limit_ns(&network, (trv_collective_t)c, root, 512 << 20);
                assert_int_equal(trv_planner_best(&network.torus, (trv_collective_t)c, root, 512 << 20, &options, NULL,
                                                  &choice),
                                 TRV_OK);
                name_network(&network, (trv_collective_t)c, root, choice.algorithm, text);
                if (choice.time_ns > (links ? 1.2 : 1.1) * limit)
                    fail_msg("%s: %.3f of the limit", text, choice.time_ns / limit);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_algorithm),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_cut_links),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_wrong_roots),
        cmocka_unit_test(test_no_schedule_is_faster),
        cmocka_unit_test(test_long_vectors_reach_the_limit),
        cmocka_unit_test(test_scatter_and_gather_reach_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
