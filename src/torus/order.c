/*
 * Orders of a set of nodes: a line or ring of ranks is embedded in the torus along such an order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "torus/torus.h"

#include <trivance/network.h>

/* A node and its coordinates, counted from the origin of the set (behind_gap). */
typedef struct place {
    int node, at[TRV_DIMS_MAX];
} place_t;

const char *trv_order_name(trv_order_t order)
{
    static const char *const name[] =
        {[TRV_ORDER_SNAKE] = "snake", [TRV_ORDER_THIRDS] = "thirds", [TRV_ORDER_ROWS] = "rows"};
    return name[order];
}

/* ---- The origin of a set ----------------------------------------------------------------------------------------- */

/* The coordinate that follows the longest run of coordinates without a node, around the ring. Of runs of equal length
 * the one with the lowest first coordinate decides. */
static int behind_gap(const bool *taken, int size)
{
    int first = 0, begin = 0, longest = 0, longest_from = 0, run = 0;
    while (!taken[first])
        first++;
    for (int i = 1; i <= size; i++) {
        const int c = (first + i) % size, from = (c - run + size) % size;
        if (!taken[c]) {
            run++;
            continue;
        }
        if (run > longest || (run > 0 && run == longest && from < longest_from)) {
            longest = run;
            longest_from = from;
            begin = c;
        }
        run = 0;
    }
    return begin;
}

static int count_from_begin(const trv_torus_t *torus, int nodes, place_t *place)
{
    for (int d = 0; d < torus->dims; d++) {
        bool *taken = calloc((size_t)torus->size[d], sizeof *taken);
        if (!taken)
            return trv_fail_memory();
        for (int i = 0; i < nodes; i++)
            taken[place[i].at[d]] = true;
        const int begin = trv_torus_is_line(torus, d) ? 0 : behind_gap(taken, torus->size[d]);
        free(taken);
        for (int i = 0; i < nodes; i++)
            place[i].at[d] = (place[i].at[d] - begin + torus->size[d]) % torus->size[d];
    }
    return TRV_OK;
}

/* ---- Orders ------------------------------------------------------------------------------------------------------ */

/* Compares in snake order: a coordinate runs backwards where the coordinates before it have an odd sum. Nodes that are
 * consecutive in the order of a complete box are neighbours on the torus. */
static int by_snake(const void *left, const void *right)
{
    const place_t *a = left, *b = right;
    for (int d = 0, odd = 0; d < TRV_DIMS_MAX; d++) {
        if (a->at[d] != b->at[d])
            return odd ? b->at[d] - a->at[d] : a->at[d] - b->at[d];
        odd ^= a->at[d] & 1;
    }
    return 0;
}

static int by_rows(const void *left, const void *right)
{
    const place_t *a = left, *b = right;
    for (int d = 0; d < TRV_DIMS_MAX; d++)
        if (a->at[d] != b->at[d])
            return a->at[d] - b->at[d];
    return 0;
}

static int longest_side(const place_t *place, int nodes)
{
    int longest = 0, side = -1;
    for (int d = 0; d < TRV_DIMS_MAX; d++) {
        int low = place[0].at[d], high = low;
        for (int i = 1; i < nodes; i++) {
            low = place[i].at[d] < low ? place[i].at[d] : low;
            high = place[i].at[d] > high ? place[i].at[d] : high;
        }
        if (high - low > side) {
            side = high - low;
            longest = d;
        }
    }
    return longest;
}

static void exchange_sides(place_t *place, int nodes, int d)
{
    for (int i = 0; i < nodes && d > 0; i++) {
        const int at = place[i].at[0];
        place[i].at[0] = place[i].at[d];
        place[i].at[d] = at;
    }
}

/* Divides the nodes into thirds, recursively, with the sizes that a line's intervals have (algorithms/builders/line.h),
 * so that the nodes of every interval form a compact region. */
static void divide(place_t *place, int nodes)
{
    if (nodes < 2)
        return;
    const int side = longest_side(place, nodes), third = nodes / 3, rest = nodes % 3;
    exchange_sides(place, nodes, side);
    qsort(place, (size_t)nodes, sizeof *place, by_rows);
    exchange_sides(place, nodes, side);
    const int first = third + (rest == 2), second = third + (rest == 1);
    divide(place, first);
    divide(place + first, second);
    divide(place + first + second, nodes - first - second);
}

static int read_places(const trv_torus_t *torus, int nodes, const int *node, place_t *place)
{
    char text[TRV_TORUS_TEXT_MAX];
    memset(place, 0, (size_t)nodes * sizeof *place);
    for (int i = 0; i < nodes; i++) {
        if (node[i] < 0 || node[i] >= torus->ranks)
            return trv_fail(TRV_ERR_ARGUMENT, "there is no node %d on %s, whose nodes are 0 to %d", node[i],
                            trv_torus_format(torus, text, sizeof text), torus->ranks - 1);
        place[i].node = node[i];
        trv_torus_coordinates(torus, node[i], place[i].at);
    }
    return TRV_OK;
}

/* ---- Cut links --------------------------------------------------------------------------------------------------- */

static bool joins(const trv_torus_t *torus, const trv_slow_link_t *link, int a, int b)
{
    const int to = trv_torus_shift(torus, link->rank, trv_port_dimension(link->port), trv_port_sign(link->port));
    return (link->rank == a && to == b) || (link->rank == b && to == a);
}

/* The number of successive nodes between which a link is cut. */
static int cuts_passed(const trv_network_t *network, int nodes, const place_t *place)
{
    int passed = 0;
    for (int l = 0; l < network->slow_links; l++)
        for (int i = 1; i < nodes && isinf(network->slow_link[l].factor); i++)
            passed += joins(&network->torus, &network->slow_link[l], place[i - 1].node, place[i].node);
    return passed;
}

/* Turns a snake: rotates its dimensions by `first`, and reverses those of the mask `back`. */
static void turn(const trv_torus_t *torus, int first, unsigned back, int nodes, place_t *place)
{
    for (int i = 0; i < nodes; i++) {
        place_t turned = {.node = place[i].node};
        for (int d = 0; d < torus->dims; d++) {
            const int from = (d + first) % torus->dims;
            turned.at[d] = back >> from & 1 ? torus->size[from] - 1 - place[i].at[from] : place[i].at[from];
        }
        place[i] = turned;
    }
    qsort(place, (size_t)nodes, sizeof *place, by_snake);
}

/* Replaces a snake that passes cut links by the one, of all its turns, that passes the fewest. */
static int avoid_cuts(const trv_network_t *network, int nodes, place_t *place)
{
    const trv_torus_t *torus = &network->torus;
    const size_t bytes = (size_t)nodes * sizeof *place;
    int fewest = cuts_passed(network, nodes, place);
    if (fewest == 0)
        return TRV_OK;
    place_t *given = malloc(bytes), *turned = malloc(bytes);
    int rc = given && turned ? TRV_OK : trv_fail_memory();
    if (!rc)
        memcpy(given, place, bytes);
    for (int v = 1; v < torus->dims << torus->dims && fewest > 0 && !rc; v++) {
        memcpy(turned, given, bytes);
        turn(torus, v >> torus->dims, (unsigned)v & ((1u << torus->dims) - 1), nodes, turned);
        const int passed = cuts_passed(network, nodes, turned);
        if (passed < fewest) {
            fewest = passed;
            memcpy(place, turned, bytes);
        }
    }
    free(given);
    free(turned);
    return rc;
}

int trv_order_nodes(const trv_network_t *network, trv_order_t order, int nodes, int *node)
{
    const trv_torus_t *torus = &network->torus;
    if (nodes < 1)
        return trv_fail(TRV_ERR_ARGUMENT, "a set of %d nodes is none; it takes one at least", nodes);
    place_t *place = malloc((size_t)nodes * sizeof *place);
    int rc = place ? read_places(torus, nodes, node, place) : trv_fail_memory();
    if (!rc)
        rc = count_from_begin(torus, nodes, place);
    if (!rc) {
        qsort(place, (size_t)nodes, sizeof *place, by_snake);
        for (int i = 1; i < nodes && !rc; i++)
            if (place[i].node == place[i - 1].node)
                rc = trv_fail(TRV_ERR_ARGUMENT, "node %d is listed twice; each node takes one rank", place[i].node);
    }
    if (!rc && order == TRV_ORDER_SNAKE)
        rc = avoid_cuts(network, nodes, place);
    if (!rc && order == TRV_ORDER_THIRDS)
        divide(place, nodes);
    if (!rc && order == TRV_ORDER_ROWS)
        qsort(place, (size_t)nodes, sizeof *place, by_rows);
    for (int i = 0; i < nodes && !rc; i++)
        node[i] = place[i].node;
    free(place);
    return rc;
}
