/*
 * Balanced paths: on small networks with random cut and slow links the busiest link has the minimum load that the sets
 * of ranks with the root allow, which is found by trying all of them; every path leads from the root to its rank over
 * links that are not cut.
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

#include "algorithms/builders/flow_paths.h"
#include "exhaustive.h"
#include "torus/torus.h"
#include "verify/verifier.h"

#define RANKS_MAX 12
#define LINKS_MAX 8

static uint64_t seed = 1;

static int draw(int below) { return (int)((seed = trv_mix(seed + 1)) % (uint64_t)below); }

/* By how much the link of a rank's port is slow. */
static double slowness(const trv_network_t *network, int rank, int port)
{
    double factor = 1;
    for (int i = 0; i < network->slow_links; i++)
        if (network->slow_link[i].rank == rank && network->slow_link[i].port == port)
            factor = network->slow_link[i].factor;
    return factor;
}

/* The number of blocks that can leave a set of ranks, or enter it, if a regular link passes `load` of them. */
static double set_capacity(const trv_network_t *network, unsigned set, bool enters, double load)
{
    double capacity = 0;
    for (int rank = 0; rank < network->torus.ranks; rank++)
        for (int port = 0; port < 2 * network->torus.dims; port++) {
            const int other = trv_torus_neighbour(&network->torus, rank, port);
            if (other >= 0 && (set >> rank & 1) != (set >> other & 1) && (set >> other & 1) == enters)
                capacity += floor(load / slowness(network, rank, port) + 1e-9);
        }
    return capacity;
}

/* The minimum load, by trying all sets with the root; 0 if there is none. */
static double minimum_load(const trv_network_t *network, int root, bool to_root)
{
    const int ranks = network->torus.ranks;
    double load = 1;
    for (unsigned set = 1; set < (1U << ranks) - 1; set++) {
        int outside = 0;
        for (int rank = 0; rank < ranks; rank++)
            outside += !(set >> rank & 1);
        if (!(set >> root & 1))
            continue;
        while (set_capacity(network, set, to_root, load) < outside)
            if (++load > 8 * ranks)
                return 0;
    }
    return load;
}

static void check_paths(const trv_network_t *network, int root, bool to_root, const trv_paths_t *paths)
{
    int at[RANKS_MAX], last[RANKS_MAX];
    for (int block = 0; block < network->torus.ranks; block++) {
        at[block] = to_root ? block : root;
        last[block] = -1;
    }
    for (int i = 0; i < paths->hops; i++) {
        const trv_hop_t *hop = &paths->hop[i];
        assert_int_equal(hop->from, at[hop->block]);
        assert_int_equal(hop->to, trv_torus_neighbour(&network->torus, hop->from, hop->port));
        assert_true(isfinite(slowness(network, hop->from, hop->port)));
        assert_true(hop->step > last[hop->block] && hop->step < paths->steps);
        for (int k = i - 1; k >= 0 && paths->hop[k].step == hop->step; k--)
            assert_false(paths->hop[k].from == hop->from && paths->hop[k].port == hop->port);
        at[hop->block] = hop->to;
        last[hop->block] = hop->step;
    }
    for (int block = 0; block < network->torus.ranks; block++)
        assert_int_equal(at[block], to_root ? root : block);
}

static void test_random_networks(void **state)
{
    static const char *const tori[] = {"1",   "2",   "3",    "7",     "2x2",   "2x3",      "3x3",
                                       "3x4", "2x5", "3mx3", "3mx4m", "2x2x2", "2mx2mx3m", "9m"};
    static const double factors[] = {INFINITY, INFINITY, 2, 1.5, 4};
    (void)state;
    for (int i = 0; i < (exhaustive() ? 3000 : 200); i++) {
        trv_slow_link_t link[LINKS_MAX];
        trv_network_t network = {TRV_NETWORK, .slow_link = link};
        trv_paths_t paths;
        char text[TRV_TORUS_TEXT_MAX];
        assert_int_equal(trv_torus_parse(tori[i % (int)(sizeof tori / sizeof *tori)], &network.torus), TRV_OK);
        for (int links = draw(LINKS_MAX); links > 0; links--) {
            const int rank = draw(network.torus.ranks), port = draw(2 * network.torus.dims);
            if (trv_torus_neighbour(&network.torus, rank, port) >= 0)
                link[network.slow_links++] = (trv_slow_link_t){rank, port, factors[draw(5)]};
        }
        const int root = draw(network.torus.ranks);
        const bool to_root = draw(2);
        const double load = network.torus.ranks > 1 ? minimum_load(&network, root, to_root) : 0;
        const int rc = trv_flow_paths_find(&network, root, to_root, &paths);
        if (network.torus.ranks > 1 && load == 0) {
            assert_int_equal(rc, TRV_ERR_UNSUPPORTED);
            continue;
        }
        assert_int_equal(rc, TRV_OK);
        if (paths.load != load)
            fail_msg("%s, root %d: a load of %g instead of %g", trv_torus_format(&network.torus, text, sizeof text),
                     root, paths.load, load);
        check_paths(&network, root, to_root, &paths);
        free(paths.hop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
