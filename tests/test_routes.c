/*
 * Fixed routes: the messages of every schedule leave by dimension-order routing, the shorter way in every row whose
 * links are whole, + half way round; and plans are the best for these routes.
 */
#include "verify_all.h"

#include <math.h>

#include <trivance/planner.h>
#include <trivance/simulate.h>

#include "torus/torus.h"

enum { NETWORKS = 400, NETWORKS_QUICK = 60, SLOW_MAX = 4 };

static const double factors[] = {1.5, 2, 4, 10};

/* A private random generator, so that all machines test the same networks. */
static unsigned pick(unsigned limit)
{
    static uint64_t seed = 17;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % limit;
}

static void random_network(trv_network_t *network, trv_slow_link_t link[SLOW_MAX + 1])
{
    static const char *const tori[] = {"2",  "3",  "5",   "7",    "8",     "9",    "12",  "4x4",   "3x5",
                                       "9m", "8m", "8x3", "4x4m", "6x2x3", "4mx6", "9x9", "4x4x4", "16"};
    *network = (trv_network_t){TRV_NETWORK, .slow_link = link, .routes = TRV_ROUTES_FIXED};
    assert_int_equal(trv_torus_parse(tori[pick(sizeof tori / sizeof tori[0])], &network->torus), TRV_OK);
    const trv_torus_t *torus = &network->torus;
    for (unsigned slow = pick(SLOW_MAX + 1); slow > 0; slow--) {
        trv_slow_link_t *l = &link[network->slow_links++];
        *l = (trv_slow_link_t){(int)pick((unsigned)torus->ranks), (int)pick(2 * (unsigned)torus->dims),
                               pick(4) == 0 ? INFINITY : factors[pick(4)]};
        if (trv_network_check(network) != TRV_OK) /* the link does not exist, or would split its row */
            network->slow_links--;
    }
}

/* Whether a link between the two, along d in that direction, is cut; examines one link after another. */
static bool way_is_cut(const trv_network_t *network, int from, int to, int d, int sign)
{
    const trv_torus_t *torus = &network->torus;
    const int end = trv_torus_coordinate(torus, to, d);
    for (int at = from; trv_torus_coordinate(torus, at, d) != end; at = trv_torus_shift(torus, at, d, sign)) {
        double factor = 1; /* of several entries the last counts */
        for (int i = 0; i < network->slow_links; i++)
            if (network->slow_link[i].rank == at && network->slow_link[i].port == trv_port(d, sign))
                factor = network->slow_link[i].factor;
        if (isinf(factor))
            return true;
    }
    return false;
}

/* The port by which the network sends, implemented from the description in trivance/network.h alone. */
static int port_between(const trv_network_t *network, int from, int to)
{
    const trv_torus_t *torus = &network->torus;
    int d = 0;
    while (trv_torus_coordinate(torus, from, d) == trv_torus_coordinate(torus, to, d))
        d++;
    const int size = torus->size[d], leaves = trv_torus_coordinate(torus, from, d);
    const int arrives = trv_torus_coordinate(torus, to, d), up = (arrives - leaves + size) % size;
    if (trv_torus_is_line(torus, d))
        return trv_port(d, arrives > leaves ? 1 : -1);
    const int sign = up <= size - up ? 1 : -1;
    return trv_port(d, way_is_cut(network, from, to, d, sign) ? -sign : sign);
}

static void check_message(const trv_network_t *network, const trv_schedule_t *schedule, int stream, int from, int to,
                          int port)
{
    const trv_torus_t *torus = &network->torus;
    if (port != port_between(network, from, to))
        fail_msg("%s: from %d to %d by port %d", trv_schedule_name(schedule), from, to, port);
    trv_route_t route;
    int node, last = -1, hops[TRV_PORTS_MAX] = {0};
    trv_route_begin(&route, torus, from, to, port, trv_schedule_mirrored(schedule, stream));
    while ((port = trv_route_next(&route, &node)) >= 0) {
        assert_true(trv_port_dimension(port) >= last); /* in ascending order */
        last = trv_port_dimension(port);
        hops[port]++;
        if (last > trv_port_dimension(port_between(network, from, to)) && !trv_torus_is_line(torus, last)) {
            assert_true(2 * hops[port] <= torus->size[last]);
            assert_true(2 * hops[port] < torus->size[last] || trv_port_sign(port) > 0);
        }
    }
}

static void check_schedule(const trv_network_t *network, const trv_schedule_t *schedule)
{
    trv_step_t step = TRV_STEP_INIT;
    const int streams = trv_schedule_streams(schedule), steps = trv_schedule_steps(schedule);
    for (int rank = 0; rank < network->torus.ranks; rank++)
        for (int at = 0; at < streams * steps; at++) {
            assert_int_equal(trv_schedule_step(schedule, rank, at / steps, at % steps, &step), TRV_OK);
            for (int i = 0; i < step.sends; i++)
                check_message(network, schedule, at / steps, rank, step.send[i].peer, step.send[i].port);
            for (int i = 0; i < step.receives; i++)
                check_message(network, schedule, at / steps, step.receive[i].peer, rank, step.receive[i].port);
        }
    trv_step_clear(&step);
}

static int cuts(const trv_network_t *network)
{
    int found = 0;
    for (int i = 0; i < network->slow_links; i++)
        found += isinf(network->slow_link[i].factor);
    return found;
}

static void messages_take_the_shorter_way(void **state)
{
    const int networks = exhaustive() ? NETWORKS : NETWORKS_QUICK;
    int made = 0;
    (void)state;
    for (int n = 0; n < networks; n++) {
        trv_slow_link_t link[SLOW_MAX + 1];
        trv_network_t network;
        random_network(&network, link);
        for (int form = 0; form < 2; form++) {
            char name[TRV_ALGORITHM_NAME_MAX];
            trv_schedule_t *schedule;
            trv_verdict_t verdict = {TRV_VERDICT};
            snprintf(name, sizeof name, form ? "%s@2" : "%s",
                     trv_algorithm_name(trv_algorithm_at((int)pick((unsigned)trv_algorithms_count()))));
            if (trv_schedule_create_on(&schedule, &network, name, TRV_ALLREDUCE, 0))
                continue; /* no such schedule, or two slow links in one row */
            made++;
            check_schedule(&network, schedule);
            assert_int_equal(trv_verify(schedule, TRV_VERIFY_AUTO, &verdict, NULL, NULL), TRV_OK);
            if (!verdict.valid) /* symmetry and messages per port included */
                fail_msg("%s: %s", name, verdict.fault);
            if (network.torus.dims == 1 || cuts(&network) == 0)
                assert_int_equal(trv_verify_on(schedule, &network, TRV_VERIFY_AUTO, &verdict, NULL, NULL), TRV_OK);
            if (!verdict.valid)
                fail_msg("%s: %s", name, verdict.fault);
            trv_schedule_destroy(schedule);
        }
    }
    assert_true(made > networks / 2);
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* The testbed's network: 50 Mb/s and 2 ms per hop. */
static trv_simulate_options_t testbed(const trv_network_t *network)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.delivery = TRV_DELIVERY_TAIL;
    options.bandwidth_bps = 50e6;
    options.alpha_ns = 200e3;
    options.link_latency_ns = 2e6;
    options.host_latency_ns = options.router_in_ns = options.router_out_ns = 0;
    options.packet_bytes = 8948;
    options.slow_links = network->slow_links;
    options.slow_link = network->slow_link;
    options.routes = network->routes;
    options.messages_per_port = 0;
    return options;
}

/* The simulated time; INFINITY if there is no such schedule here. */
static double time_of(const trv_network_t *network, const char *name, uint64_t bytes)
{
    const trv_simulate_options_t options = testbed(network);
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    trv_simulation_t result;
    if (trv_schedule_create_on(&schedule, network, name, TRV_ALLREDUCE, 0))
        return INFINITY;
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    const int rc = trv_simulate(simulator, &options, bytes, &result);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
    return rc ? INFINITY : result.time_ns;
}

/* The rings and meshes of the testbed: choices against all named algorithms, with the slow links avoided and
 * not. */
static void no_algorithm_beats_the_plan(void **state)
{
    static const struct {
        const char *torus;
        trv_slow_link_t link;
    } cases[] = {{"9", {0, 0, 10}},   {"9", {3, 1, 4}},   {"8", {0, 0, 10}},
                 {"3x3", {4, 2, 10}}, {"9m", {3, 0, 10}}, {"4x4", {5, 1, 3}}};
    static const char *const more[] = {"hybrid:1", "hybrid:3", "line-pipelined:1", "line-pipelined:2", "star:l"};
    static const uint64_t sizes[] = {8, 8 << 10, 64 << 10};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            trv_network_t network = {TRV_NETWORK, .slow_links = 1, .slow_link = &cases[i].link,
                                     .routes = TRV_ROUTES_FIXED};
            trv_planner_choice_t plan;
            assert_int_equal(trv_torus_parse(cases[i].torus, &network.torus), TRV_OK);
            const trv_simulate_options_t options = testbed(&network);
            assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, sizes[s], &options, NULL, &plan),
                             TRV_OK);
            const double planned_ns = time_of(&network, plan.algorithm, sizes[s]);
            assert_float_equal(planned_ns, plan.time_ns, 1e-9 * planned_ns);
            const int named = trv_algorithms_count(), extra = (int)(sizeof more / sizeof more[0]);
            for (int a = 0; a < 2 * (named + extra); a++) {
                char name[TRV_ALGORITHM_NAME_MAX];
                const int k = a / 2;
                snprintf(name, sizeof name, a % 2 ? "%s@2" : "%s",
                         k < named ? trv_algorithm_name(trv_algorithm_at(k)) : more[k - named]);
                const double other_ns = time_of(&network, name, sizes[s]);
                if (planned_ns > 1.0001 * other_ns)
                    fail_msg("%s, %llu bytes: %s takes %.0f ns, %s %.0f", cases[i].torus, (unsigned long long)sizes[s],
                             plan.algorithm, planned_ns, name, other_ns);
            }
        }
}

/* A cached answer for one kind of routes is not returned for the other; fixed routes are never faster. Longer
 * vectors have the same plan for both: one over single links. */
static void cache_distinguishes_routes(void **state)
{
    const trv_slow_link_t link = {0, 0, 10};
    trv_network_t network = {TRV_NETWORK, .slow_links = 1, .slow_link = &link};
    trv_planner_choice_t chosen, fixed;
    (void)state;
    assert_int_equal(trv_torus_parse("9", &network.torus), TRV_OK);
    trv_simulate_options_t options = testbed(&network);
    options.alpha_ns = 1500;
    options.link_latency_ns = 100;
    assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 64, &options, NULL, &chosen), TRV_OK);
    options.routes = TRV_ROUTES_FIXED;
    assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 64, &options, NULL, &fixed), TRV_OK);
    assert_string_not_equal(chosen.algorithm, fixed.algorithm);
    assert_true(fixed.time_ns > chosen.time_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_take_the_shorter_way),
        cmocka_unit_test(no_algorithm_beats_the_plan),
        cmocka_unit_test(cache_distinguishes_routes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
