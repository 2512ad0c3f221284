/*
 * Balanced spanning trees: on small networks with random cut and slow links, the busiest link carries hardly more than
 * the bound of Tutte and Nash-Williams, which is found by trying all partitions of the ranks; every tree spans the
 * network over links that are not cut, and has its centre as its root. Plans for meshes with cut links are near the
 * limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "algorithms/builders/balanced_trees.h"
#include "exhaustive.h"
#include "torus/torus.h"
#include "verify/verifier.h"

#define RANKS_MAX 8
#define LINKS_MAX 16
#define TREES     48

static uint64_t seed = 1;

static int draw(int below) { return (int)((seed = trv_mix(seed + 1)) % (uint64_t)below); }

/* By how much a link is slow, in the slower direction. */
static double slowness(const trv_network_t *network, int rank, int port)
{
    const int other = trv_torus_neighbour(&network->torus, rank, port);
    double there = 1, back = 1;
    for (int i = 0; i < network->slow_links; i++) {
        const trv_slow_link_t *link = &network->slow_link[i];
        if (link->rank == rank && link->port == port)
            there = link->factor;
        if (link->rank == other && link->port == (port ^ 1))
            back = link->factor;
    }
    return fmax(there, back);
}

/* The bound of one partition: its parts less one, over the capacity of the links between parts. */
static double partition_bound(const trv_network_t *network, const int *part, int parts)
{
    double capacity = 0;
    for (int rank = 0; rank < network->torus.ranks; rank++)
        for (int port = 0; port < 2 * network->torus.dims; port += 2) {
            const int other = trv_torus_neighbour(&network->torus, rank, port);
            if (other >= 0 && part[rank] != part[other])
                capacity += 1 / slowness(network, rank, port);
        }
    return (parts - 1) / capacity;
}

/* The maximum over all partitions in which the parts of the first `ranks` ranks are given. */
static double largest_bound(const trv_network_t *network, int *part, int ranks, int parts)
{
    double bound = 0;
    if (ranks == network->torus.ranks)
        return parts > 1 ? partition_bound(network, part, parts) : 0;
    for (part[ranks] = 0; part[ranks] <= parts; part[ranks]++)
        bound = fmax(bound, largest_bound(network, part, ranks + 1, part[ranks] == parts ? parts + 1 : parts));
    return bound;
}

static void check_tree(const trv_network_t *network, const trv_tree_edge_t *edge)
{
    const int ranks = network->torus.ranks;
    int roots = 0, depth = 0, farthest = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const trv_tree_edge_t *own = &edge[rank];
        int above = 0;
        if (own->parent < 0) {
            roots++;
            continue;
        }
        assert_int_equal(trv_torus_neighbour(&network->torus, own->parent, own->port), rank);
        assert_true(isfinite(slowness(network, own->parent, own->port)));
        for (int at = own->parent; edge[at].parent >= 0; at = edge[at].parent)
            assert_true(++above < ranks);
        assert_int_equal(own->step, above);
        depth = above + 1 > depth ? above + 1 : depth;
    }
    assert_int_equal(roots, 1);
    for (int a = 0; a < ranks; a++) /* the longest path of the tree is twice as long as it is deep, or one shorter */
        for (int b = 0; b < a; b++) {
            int x = a, y = b, length = 0;
            for (; x != y; length++)
                if (edge[x].parent >= 0 && (edge[y].parent < 0 || edge[x].step >= edge[y].step))
                    x = edge[x].parent;
                else
                    y = edge[y].parent;
            farthest = length > farthest ? length : farthest;
        }
    assert_int_equal(depth, (farthest + 1) / 2);
}

static void try_network(const trv_network_t *network)
{
    int part[RANKS_MAX];
    double load;
    char text[TRV_TORUS_TEXT_MAX];
    trv_tree_edge_t *edge;
    const double bound = largest_bound(network, part, 0, 0);
    const int rc = trv_balanced_trees_find(network, TREES, &edge);
    if (isinf(bound)) {
        assert_int_equal(rc, TRV_ERR_UNSUPPORTED);
        return;
    }
    assert_int_equal(rc, TRV_OK);
    for (int t = 0; t < TREES; t++)
        check_tree(network, edge + (size_t)t * (size_t)network->torus.ranks);
    assert_int_equal(trv_balanced_trees_load(network, TREES, edge, &load), TRV_OK);
    free(edge);
    if (load < bound - 1e-9 || load > 1.1 * bound)
        fail_msg("%s with %d slow or cut links: the busiest link takes %.3f, the bound is %.3f",
                 trv_torus_format(&network->torus, text, sizeof text), network->slow_links, load, bound);
}

static void test_random_networks(void **state)
{
    static const char *const tori[] = {"2",     "3",    "7",     "2x2", "2x3", "2mx3",
                                       "2mx4m", "3mx2", "2x2x2", "8",   "8m",  "4x2m"};
    static const double factors[] = {INFINITY, INFINITY, 2, 1.5, 4};
    (void)state;
    for (int i = 0; i < (exhaustive() ? 2000 : 100); i++) {
        trv_slow_link_t link[LINKS_MAX];
        trv_network_t network = {TRV_NETWORK, .slow_link = link};
        assert_int_equal(trv_torus_parse(tori[i % (int)(sizeof tori / sizeof *tori)], &network.torus), TRV_OK);
        for (int links = draw(5); links > 0; links--) {
            const int rank = draw(network.torus.ranks), port = draw(2 * network.torus.dims);
            if (trv_torus_neighbour(&network.torus, rank, port) >= 0)
                link[network.slow_links++] = (trv_slow_link_t){rank, port, factors[draw(5)]};
        }
        try_network(&network);
    }
}

/* The trees of these meshes use their links as evenly as possible: 16 trees need 16 (n - 1) links. */
static void test_meshes(void **state)
{
    static const struct {
        const char *torus;
        double load;
    } cases[] = {{"3mx3m", 11 / 16.}, {"4mx4m", 10 / 16.}, {"16mx16m", 9 / 16.}, {"8m", 1}, {"8", 14 / 16.}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trv_network_t network = {TRV_NETWORK};
        trv_tree_edge_t *edge;
        double load;
        assert_int_equal(trv_torus_parse(cases[i].torus, &network.torus), TRV_OK);
        assert_int_equal(trv_balanced_trees_find(&network, 16, &edge), TRV_OK);
        assert_int_equal(trv_balanced_trees_load(&network, 16, edge, &load), TRV_OK);
        if (load != cases[i].load)
            fail_msg("%s: %.4f instead of %.4f", cases[i].torus, load, cases[i].load);
        free(edge);
    }
}

/* An AllReduce of 64 MiB on a mesh with a cut link, which divides a row, is simulated. */
static void test_near_the_limit(void **state)
{
    const trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    const trv_hockney_t times = {options.bandwidth_bps, options.alpha_ns, 200, 300};
    const trv_slow_link_t cut[] = {{27, 0, INFINITY}, {35, 1, INFINITY}};
    trv_network_t network = {TRV_NETWORK, .slow_links = 2, .slow_link = cut};
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    trv_simulation_t simulation;
    trv_limit_t limit;
    (void)state;
    assert_int_equal(trv_torus_parse("8mx8m", &network.torus), TRV_OK);
    assert_int_equal(trv_schedule_create_on(&schedule, &network, "spanning-trees:128:32", TRV_ALLREDUCE, 0), TRV_OK);
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    assert_int_equal(trv_simulate(simulator, &options, 64 << 20, &simulation), TRV_OK);
    assert_int_equal(trv_limit_find(&network, &times, TRV_ALLREDUCE, 0, 64 << 20, options.packet_bytes, &limit),
                     TRV_OK);
    if (simulation.time_ns > 1.25 * limit.time_ns)
        fail_msg("%.3f of the limit", simulation.time_ns / limit.time_ns);
    trv_simulation_clear(&simulation);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_networks),
        cmocka_unit_test(test_meshes),
        cmocka_unit_test(test_near_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
