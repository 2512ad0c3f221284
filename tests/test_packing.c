/*
 * Packing of spanning trees: on small networks with random cuts there are as many trees as the smallest number of links
 * that enter a set of ranks without the root, which is found by trying all sets; every tree spans the network, and no
 * link belongs to two trees or is cut.
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

#include "algorithms/builders/packing.h"
#include "exhaustive.h"
#include "torus/torus.h"
#include "verify/verifier.h"

#define RANKS_MAX 12
#define CUTS_MAX  16

static uint64_t seed = 1;

static int draw(int below) { return (int)((seed = trv_mix(seed + 1)) % (uint64_t)below); }

/* The neighbour of a rank by a port; -1 if no link leaves there. */
static int neighbour(const trv_torus_t *torus, int rank, int port)
{
    const int d = trv_port_dimension(port), sign = trv_port_sign(port), size = torus->size[d];
    const int at = trv_torus_coordinate(torus, rank, d) + sign;
    return size == 1 || (trv_torus_is_line(torus, d) && (at < 0 || at == size)) ? -1
                                                                                : trv_torus_shift(torus, rank, d, sign);
}

static bool is_cut(const trv_network_t *network, int rank, int port)
{
    for (int i = 0; i < network->slow_links; i++)
        if (network->slow_link[i].rank == rank && network->slow_link[i].port == port)
            return true;
    return false;
}

/* Whether a tree may have the edge from a rank to its neighbour by a port. */
static bool is_usable(const trv_network_t *network, int directions, int rank, int port)
{
    const int other = neighbour(&network->torus, rank, port);
    return other >= 0 && !(directions & TRV_FROM_ROOT && is_cut(network, rank, port)) &&
           !(directions & TRV_TO_ROOT && is_cut(network, other, port ^ 1));
}

/* The smallest number of edges that enter a set of ranks without the root, by trying all sets. */
static int smallest_set(const trv_network_t *network, int root, int directions)
{
    const int ranks = network->torus.ranks, ports = 2 * network->torus.dims;
    int smallest = 2 * TRV_DIMS_MAX;
    for (unsigned set = 1; set < 1U << ranks; set++) {
        int entering = 0;
        if (set >> root & 1)
            continue;
        for (int rank = 0; rank < ranks; rank++)
            for (int port = 0; port < ports && !(set >> rank & 1); port++)
                entering += is_usable(network, directions, rank, port) &&
                            (set >> neighbour(&network->torus, rank, port) & 1);
        smallest = entering < smallest ? entering : smallest;
    }
    return smallest;
}

static void check_trees(const trv_network_t *network, int root, int directions, int trees, const trv_tree_edge_t *edge)
{
    const int ranks = network->torus.ranks;
    bool used[RANKS_MAX * 2 * TRV_DIMS_MAX] = {false};
    for (int t = 0; t < trees; t++)
        for (int rank = 0; rank < ranks; rank++) {
            const trv_tree_edge_t *own = &edge[t * ranks + rank];
            int depth = 0;
            if (rank == root) {
                assert_int_equal(own->parent, -1);
                continue;
            }
            assert_in_range(own->parent, 0, ranks - 1);
            assert_int_equal(neighbour(&network->torus, own->parent, own->port), rank);
            assert_true(is_usable(network, directions, own->parent, own->port));
            bool *link = &used[own->parent * 2 * TRV_DIMS_MAX + own->port];
            assert_false(*link);
            *link = true;
            for (int at = own->parent; at != root; at = edge[t * ranks + at].parent)
                assert_true(++depth < ranks);
            assert_int_equal(own->step, depth);
        }
}

static void try_network(const trv_network_t *network)
{
    const int root = draw(network->torus.ranks), directions = 1 + draw(3);
    const int expected = network->torus.ranks > 1 ? smallest_set(network, root, directions) : 1;
    trv_tree_edge_t *edge = NULL;
    char text[TRV_TORUS_TEXT_MAX];
    const int trees = trv_packing_find(network, root, directions, &edge);
    if (expected == 0) {
        assert_int_equal(trees, TRV_ERR_UNSUPPORTED);
        return;
    }
    if (network->torus.ranks > 1 && trees != expected)
        fail_msg("%s with %d cuts, root %d: %d trees, but there are %d",
                 trv_torus_format(&network->torus, text, sizeof text), network->slow_links, root, trees, expected);
    check_trees(network, root, directions, trees, edge);
    free(edge);
}

static void test_random_cuts(void **state)
{
    static const char *const tori[] = {"1",   "2",    "3",     "7",     "2x2",   "2x3",   "3x3", "3x4",
                                       "2x6", "3mx3", "3mx4m", "2x2x2", "2x2x3", "2mx5m", "11m", "2mx2mx3m"};
    (void)state;
    for (int i = 0; i < (exhaustive() ? 4000 : 400); i++) {
        trv_slow_link_t cut[CUTS_MAX];
        trv_network_t network = {TRV_NETWORK, .slow_link = cut};
        assert_int_equal(trv_torus_parse(tori[i % (int)(sizeof tori / sizeof *tori)], &network.torus), TRV_OK);
        for (int links = draw(CUTS_MAX / 2); links > 0; links--) {
            const int rank = draw(network.torus.ranks), port = draw(2 * network.torus.dims);
            const int other = neighbour(&network.torus, rank, port);
            if (other < 0 || is_cut(&network, rank, port))
                continue;
            cut[network.slow_links++] = (trv_slow_link_t){rank, port, INFINITY};
            if (draw(2) && !is_cut(&network, other, port ^ 1))
                cut[network.slow_links++] = (trv_slow_link_t){other, port ^ 1, INFINITY};
        }
        try_network(&network);
    }
}

/* A torus whose sides are at least 3 has a tree for each of the root's ports. */
static void test_whole_tori(void **state)
{
    static const char *const tori[] = {"9", "3x3", "4x4", "8x8", "5x7", "3x3x3", "8x8x8", "3x3x3x3"};
    (void)state;
    for (int i = 0; i < (int)(sizeof tori / sizeof *tori); i++) {
        trv_network_t network = {TRV_NETWORK};
        trv_tree_edge_t *edge;
        assert_int_equal(trv_torus_parse(tori[i], &network.torus), TRV_OK);
        assert_int_equal(trv_packing_find(&network, 1, TRV_FROM_ROOT, &edge), 2 * network.torus.dims);
        free(edge);
    }
}

/* A slow link is left out unless it slows the trees down by less than the tree that needs it gains. */
static void test_slow_links(void **state)
{
    static const struct {
        double factor;
        int trees;
    } cases[] = {{1.2, 4}, {1.4, 3}, {10, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const trv_slow_link_t slow = {5, 0, cases[i].factor};
        trv_network_t network = {TRV_NETWORK, .slow_links = 1, .slow_link = &slow};
        trv_tree_edge_t *edge;
        assert_int_equal(trv_torus_parse("3x4", &network.torus), TRV_OK);
        assert_int_equal(trv_packing_find(&network, 0, TRV_FROM_ROOT, &edge), cases[i].trees);
        check_trees(&network, 0, 0, cases[i].trees, edge);
        assert_true(trv_packing_slowness(&network, TRV_FROM_ROOT, cases[i].trees, edge) ==
                    (cases[i].trees == 4 ? cases[i].factor : 1));
        free(edge);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_cuts),
        cmocka_unit_test(test_slow_links),
        cmocka_unit_test(test_whole_tori),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
