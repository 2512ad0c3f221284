/*
 * Limits against the optimum: the transmission of the limit is never more than the minimum time of a collective whose
 * data are divided arbitrarily finely and which has no start-up, and equals it on rings, tori, lines and meshes without
 * cuts. The optimum follows from theorems, by trying all sets of ranks or all partitions:
 *
 *   broadcast, reduce          max over all sets S with the root of m / capacity out of S (Edmonds 1973)
 *   scatter, gather            the same, with the blocks of the ranks outside S (Ford and Fulkerson 1956)
 *   allgather, reduce-scatter  max over all sets S of the blocks of S / capacity out of S (Edmonds 1973, with every
 *                              rank as the root of its block)
 *   allreduce                  max over all partitions of 2 m (parts - 1) / capacity between parts (Tutte,
 *                              Nash-Williams 1961), if links are equally fast in both directions
 *   all-to-all                 between the limit and the load of the shortest routes, which are divided equally where
 *                              there are two
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <trivance/trivance.h>

#include "exhaustive.h"
#include "schedule/collective.h"
#include "torus/torus.h"
#include "verify/verifier.h"

#define COUNT(list)    ((int)(sizeof(list) / sizeof *(list)))
#define RANKS_MAX      16
#define PARTITIONS_MAX 9 /* ranks of networks of which all partitions are tried */

static uint64_t seed = 1;

static int draw(int below) { return (int)((seed = trv_mix(seed + 1)) % (uint64_t)below); }

/* capacity[a][b]: of all links from a to b, in links. */
typedef struct net {
    trv_network_t network;
    int ranks;
    double capacity[RANKS_MAX][RANKS_MAX];
} net_t;

static void net_init(net_t *net)
{
    const trv_torus_t *torus = &net->network.torus;
    net->ranks = torus->ranks;
    memset(net->capacity, 0, sizeof net->capacity);
    for (int rank = 0; rank < net->ranks; rank++)
        for (int port = 0; port < 2 * torus->dims; port++) {
            const int other = trv_torus_neighbour(torus, rank, port);
            double factor = 1;
            for (int i = 0; i < net->network.slow_links; i++)
                if (net->network.slow_link[i].rank == rank && net->network.slow_link[i].port == port)
                    factor = net->network.slow_link[i].factor;
            if (other >= 0)
                net->capacity[rank][other] += 1 / factor;
        }
}

/* The time of a vector of one byte, at one byte per ns on a link. */
static double limit(const net_t *net, trv_collective_t collective, int root)
{
    const trv_hockney_t times = {.bandwidth_bps = 8e9};
    const uint64_t bytes = UINT64_C(1) << 40;
    trv_limit_t found;
    assert_int_equal(trv_limit_find(&net->network, &times, collective, root, bytes, 0, &found), TRV_OK);
    return fmax(found.sets_ns, found.links_ns) / (double)bytes;
}

/* ---- Optima ------------------------------------------------------------------------------------------------------ */

/* The capacity from the ranks of a set to the others, or in the other direction. */
static double out_of(const net_t *net, unsigned set, bool reverse)
{
    double all = 0;
    for (int a = 0; a < net->ranks; a++)
        for (int b = 0; b < net->ranks && set >> a & 1; b++)
            if (!(set >> b & 1))
                all += reverse ? net->capacity[b][a] : net->capacity[a][b];
    return all;
}

static int ranks_of(unsigned set)
{
    int ranks = 0;
    for (; set; set &= set - 1)
        ranks++;
    return ranks;
}

/* The maximum over all sets of the data that must leave the set, over the capacity. Data of reverse collectives must
 * enter it. */
static double optimum_of_sets(const net_t *net, trv_collective_t collective, int root)
{
    const bool reverse = collective == TRV_REDUCE || collective == TRV_GATHER || collective == TRV_REDUCE_SCATTER;
    double optimum = 0;
    for (unsigned set = 1; set < (1U << net->ranks) - 1; set++) {
        const double part = (double)ranks_of(set) / net->ranks;
        const double data = collective == TRV_ALLGATHER || collective == TRV_REDUCE_SCATTER ? part
                            : !(set >> root & 1)                                            ? 0
                            : collective == TRV_SCATTER || collective == TRV_GATHER         ? 1 - part
                                                                                            : 1;
        if (data > 0)
            optimum = fmax(optimum, data / out_of(net, set, reverse));
    }
    return optimum;
}

/* The maximum over all partitions that extend the parts of the first `ranks` ranks. */
static double optimum_of_partitions(const net_t *net, int *part, int ranks, int parts)
{
    double optimum = 0, capacity = 0;
    if (ranks < net->ranks) {
        for (part[ranks] = 0; part[ranks] <= parts; part[ranks]++)
            optimum = fmax(optimum, optimum_of_partitions(net, part, ranks + 1, parts + (part[ranks] == parts)));
        return optimum;
    }
    for (int a = 0; a < ranks; a++)
        for (int b = 0; b < ranks; b++)
            capacity += part[a] == part[b] ? 0 : net->capacity[a][b];
    return parts < 2 ? 0 : 2 * (parts - 1) / capacity;
}

/* The load of the busiest link if blocks travel by the shortest routes, dimension by dimension. On rings of equal sides
 * every link of a dimension has the same load; on lines the link in the middle is the busiest. */
static double shortest_routes(const net_t *net)
{
    const trv_torus_t *torus = &net->network.torus;
    double busiest = 0;
    for (int d = 0; d < torus->dims; d++) {
        const int size = torus->size[d];
        double load[2][RANKS_MAX] = {{0}};
        for (int from = 0; from < size; from++)
            for (int to = 0; to < size; to++) {
                const int up = (to - from + size) % size;
                const bool line = trv_torus_is_line(torus, d);
                const double forward = line ? to > from : 2 * up == size ? 0.5 : 2 * up < size;
                for (int i = 0; from != to && i < (line ? to - from : up); i++)
                    load[0][(from + i) % size] += forward;
                for (int i = 0; from != to && i < (line ? from - to : size - up); i++)
                    load[1][(from - i + size) % size] += 1 - forward;
            }
        for (int i = 0; i < 2 * size; i++) /* n / a blocks of 1/n of the vector for each pair of coordinates */
            busiest = fmax(busiest, load[i % 2][i / 2] / size);
    }
    return busiest;
}

static double optimum(const net_t *net, trv_collective_t collective, int root)
{
    int part[RANKS_MAX];
    if (collective == TRV_ALLTOALL)
        return shortest_routes(net);
    if (collective == TRV_ALLREDUCE)
        return optimum_of_partitions(net, part, 0, 0);
    return optimum_of_sets(net, collective, root);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static const trv_collective_t collectives[] = {TRV_ALLREDUCE, TRV_REDUCE_SCATTER, TRV_ALLGATHER, TRV_BROADCAST,
                                               TRV_REDUCE,    TRV_SCATTER,        TRV_GATHER,    TRV_ALLTOALL};

static void test_exact(void **state)
{
    static const char *const networks[] = {"2",   "3",   "4",     "5",     "8",    "9",    "13",    "2x2",   "2x3",
                                           "3x3", "4x2", "2x4",   "2x2x2", "3x4",  "4x4",  "5x3",   "2m",    "3m",
                                           "8m",  "9m",  "3mx3m", "2mx4m", "3x3m", "4x4m", "4mx4m", "2x2x3m"};
    (void)state;
    for (int t = 0; t < COUNT(networks); t++)
        for (int c = 0; c < COUNT(collectives); c++) {
            net_t net = {.network = {TRV_NETWORK}};
            assert_int_equal(trv_torus_parse(networks[t], &net.network.torus), TRV_OK);
            net_init(&net);
            if (collectives[c] == TRV_ALLREDUCE && net.ranks > PARTITIONS_MAX)
                continue;
            const int root = trv_collective_has_root(collectives[c]) ? draw(net.ranks) : 0;
            const double found = limit(&net, collectives[c], root), best = optimum(&net, collectives[c], root);
            if (fabs(found - best) > 1e-9 * best)
                fail_msg("%s, %s from root %d: the limit is %.6f, the optimum %.6f", networks[t],
                         trv_collective_shape(collectives[c])->name, root, found, best);
        }
}

/* With slow and cut links in both directions, of which some sets of ranks and partitions are not considered. */
static void test_never_above(void **state)
{
    static const char *const networks[] = {"5", "8", "3x3", "2x4", "3mx3m", "8m", "2x2x2", "3x2m"};
    static const double factors[] = {INFINITY, 2, 1.5, 10};
    (void)state;
    for (int i = 0; i < (exhaustive() ? 400 : 40); i++) {
        trv_slow_link_t link[8];
        net_t net = {.network = {TRV_NETWORK, .slow_link = link}};
        assert_int_equal(trv_torus_parse(networks[i % COUNT(networks)], &net.network.torus), TRV_OK);
        const trv_torus_t *torus = &net.network.torus;
        for (int k = 1 + draw(2); k > 0; k--) {
            const int rank = draw(torus->ranks), port = draw(2 * torus->dims);
            const int other = trv_torus_neighbour(torus, rank, port);
            const double factor = factors[draw(COUNT(factors))];
            if (other < 0)
                continue;
            link[net.network.slow_links++] = (trv_slow_link_t){rank, port, factor};
            link[net.network.slow_links++] = (trv_slow_link_t){other, port ^ 1, factor};
        }
        net_init(&net);
        if (trv_network_check_connected(&net.network))
            continue;
        for (int c = 0; c < COUNT(collectives); c++) {
            const int root = trv_collective_has_root(collectives[c]) ? draw(net.ranks) : 0;
            if (collectives[c] == TRV_ALLTOALL) /* the shortest routes may be cut */
                continue;
            const double found = limit(&net, collectives[c], root), best = optimum(&net, collectives[c], root);
            if (found > best * (1 + 1e-9))
                fail_msg("%s, %s from root %d: the limit is %.6f, the optimum %.6f", networks[i % COUNT(networks)],
                         trv_collective_shape(collectives[c])->name, root, found, best);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_never_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
