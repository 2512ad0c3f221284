/*
 * Orders of a set of nodes: rank i of a schedule for a line, a ring or a box runs on the i-th node.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "torus/reach.h"
#include "torus/torus.h"

#include <trivance/network.h>

/* A node and its coordinates, counted from the origin of the set (start_after_gap). */
typedef struct position {
    int node, coordinate[TRV_DIMS_MAX];
} node_position_t;

const char *trv_order_name(trv_order_t order)
{
    static const char *const name[] =
        {[TRV_ORDER_SNAKE] = "snake", [TRV_ORDER_THIRDS] = "thirds", [TRV_ORDER_ROWS] = "rows"};
    return name[order];
}

/* ---- The origin of a set ----------------------------------------------------------------------------------------- */

/* The coordinate that follows the longest run of coordinates without a node, around the ring; if several runs are
 * equally long, the run with the lowest first coordinate. */
static int start_after_gap(const bool *occupied, int size)
{
    int first = 0, begin = 0, longest = 0, longest_from = 0, run = 0;
    while (!occupied[first])
        first++;
    for (int i = 1; i <= size; i++) {
        const int c = (first + i) % size, from = (c - run + size) % size;
        if (!occupied[c]) {
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

static int set_origin(const trv_torus_t *torus, int nodes, node_position_t *position)
{
    for (int d = 0; d < torus->dims; d++) {
        bool *occupied = calloc((size_t)torus->size[d], sizeof *occupied);
        if (!occupied)
            return trv_fail_memory();
        for (int i = 0; i < nodes; i++)
            occupied[position[i].coordinate[d]] = true;
        const int begin = trv_torus_is_line(torus, d) ? 0 : start_after_gap(occupied, torus->size[d]);
        free(occupied);
        for (int i = 0; i < nodes; i++)
            position[i].coordinate[d] = (position[i].coordinate[d] - begin + torus->size[d]) % torus->size[d];
    }
    return TRV_OK;
}

/* ---- Orders ------------------------------------------------------------------------------------------------------ */

/* Compares in snake order: a coordinate runs backwards where the coordinates before it have an odd sum. Nodes that are
 * consecutive in the order of a complete box are neighbours on the torus. */
static int compare_snake(const void *left, const void *right)
{
    const node_position_t *a = left, *b = right;
    for (int d = 0, odd = 0; d < TRV_DIMS_MAX; d++) {
        if (a->coordinate[d] != b->coordinate[d])
            return odd ? b->coordinate[d] - a->coordinate[d] : a->coordinate[d] - b->coordinate[d];
        odd ^= a->coordinate[d] & 1;
    }
    return 0;
}

static int compare_rows(const void *left, const void *right)
{
    const node_position_t *a = left, *b = right;
    for (int d = 0; d < TRV_DIMS_MAX; d++)
        if (a->coordinate[d] != b->coordinate[d])
            return a->coordinate[d] - b->coordinate[d];
    return 0;
}

static int longest_dimension(const node_position_t *position, int nodes)
{
    int longest = 0, side = -1;
    for (int d = 0; d < TRV_DIMS_MAX; d++) {
        int low = position[0].coordinate[d], high = low;
        for (int i = 1; i < nodes; i++) {
            low = position[i].coordinate[d] < low ? position[i].coordinate[d] : low;
            high = position[i].coordinate[d] > high ? position[i].coordinate[d] : high;
        }
        if (high - low > side) {
            side = high - low;
            longest = d;
        }
    }
    return longest;
}

static void exchange_sides(node_position_t *position, int nodes, int d)
{
    for (int i = 0; i < nodes && d > 0; i++) {
        const int coordinate = position[i].coordinate[0];
        position[i].coordinate[0] = position[i].coordinate[d];
        position[i].coordinate[d] = coordinate;
    }
}

/* Divides the nodes into thirds, recursively, with the sizes that a line's intervals have (algorithms/builders/line.h),
 * so that the nodes of every interval form a compact region. */
static void divide_in_thirds(node_position_t *position, int nodes)
{
    if (nodes < 2)
        return;
    const int side = longest_dimension(position, nodes), third = nodes / 3, rest = nodes % 3;
    exchange_sides(position, nodes, side);
    qsort(position, (size_t)nodes, sizeof *position, compare_rows);
    exchange_sides(position, nodes, side);
    const int first = third + (rest == 2), second = third + (rest == 1);
    divide_in_thirds(position, first);
    divide_in_thirds(position + first, second);
    divide_in_thirds(position + first + second, nodes - first - second);
}

static int positions_read(const trv_torus_t *torus, int nodes, const int *node, node_position_t *position)
{
    char text[TRV_TORUS_TEXT_MAX];
    memset(position, 0, (size_t)nodes * sizeof *position);
    for (int i = 0; i < nodes; i++) {
        if (node[i] < 0 || node[i] >= torus->ranks)
            return trv_fail(TRV_ERR_ARGUMENT, "there is no node %d on %s, whose nodes are 0 to %d", node[i],
                            trv_torus_format(torus, text, sizeof text), torus->ranks - 1);
        position[i].node = node[i];
        trv_torus_coordinates(torus, node[i], position[i].coordinate);
    }
    return TRV_OK;
}

/* ---- Cut links --------------------------------------------------------------------------------------------------- */

static bool link_joins(const trv_torus_t *torus, const trv_slow_link_t *link, int a, int b)
{
    const int to = trv_torus_shift(torus, link->rank, trv_port_dimension(link->port), trv_port_sign(link->port));
    return (link->rank == a && to == b) || (link->rank == b && to == a);
}

/* The number of successive nodes between which a link is cut. */
static int cuts_passed(const trv_network_t *network, int nodes, const node_position_t *position)
{
    int passed = 0;
    for (int l = 0; l < network->slow_links; l++) {
        const bool cut = trv_link_is_cut(network, l);
        for (int i = 1; cut && i < nodes; i++)
            passed += link_joins(&network->torus, &network->slow_link[l], position[i - 1].node, position[i].node);
    }
    return passed;
}

/* Turns a snake: rotates its dimensions by `first`, and reverses those of the mask `back`. */
static void snake_turn(const trv_torus_t *torus, int first, unsigned back, int nodes, node_position_t *position)
{
    for (int i = 0; i < nodes; i++) {
        node_position_t turned = {.node = position[i].node};
        for (int d = 0; d < torus->dims; d++) {
            const int from = (d + first) % torus->dims;
            turned.coordinate[d] = back >> from & 1 ? torus->size[from] - 1 - position[i].coordinate[from]
                                                    : position[i].coordinate[from];
        }
        position[i] = turned;
    }
    qsort(position, (size_t)nodes, sizeof *position, compare_snake);
}

/* Replaces a snake that passes cut links by the one, of all its turns, that passes the fewest. */
static int avoid_cuts(const trv_network_t *network, int nodes, node_position_t *position)
{
    const trv_torus_t *torus = &network->torus;
    const size_t bytes = (size_t)nodes * sizeof *position;
    int fewest = cuts_passed(network, nodes, position);
    if (fewest == 0)
        return TRV_OK;
    node_position_t *given = malloc(bytes), *turned = malloc(bytes);
    int rc = given && turned ? TRV_OK : trv_fail_memory();
    if (!rc)
        memcpy(given, position, bytes);
    for (int v = 1; v < torus->dims << torus->dims && fewest > 0 && !rc; v++) {
        memcpy(turned, given, bytes);
        snake_turn(torus, v >> torus->dims, (unsigned)v & ((1u << torus->dims) - 1), nodes, turned);
        const int passed = cuts_passed(network, nodes, turned);
        if (passed < fewest) {
            fewest = passed;
            memcpy(position, turned, bytes);
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
        return trv_fail(TRV_ERR_ARGUMENT, "a set of nodes has at least 1 node, not %d", nodes);
    node_position_t *position = malloc((size_t)nodes * sizeof *position);
    int rc = position ? positions_read(torus, nodes, node, position) : trv_fail_memory();
    if (!rc)
        rc = set_origin(torus, nodes, position);
    if (!rc) {
        qsort(position, (size_t)nodes, sizeof *position, compare_snake);
        for (int i = 1; i < nodes && !rc; i++)
            if (position[i].node == position[i - 1].node)
                rc = trv_fail(TRV_ERR_ARGUMENT, "node %d is listed twice; a node can have only one rank",
                              position[i].node);
    }
    if (!rc && order == TRV_ORDER_SNAKE)
        rc = avoid_cuts(network, nodes, position);
    if (!rc && order == TRV_ORDER_THIRDS)
        divide_in_thirds(position, nodes);
    if (!rc && order == TRV_ORDER_ROWS)
        qsort(position, (size_t)nodes, sizeof *position, compare_rows);
    for (int i = 0; i < nodes && !rc; i++)
        node[i] = position[i].node;
    free(position);
    return rc;
}
