/*
 * Orders of a set of nodes: a line or ring of ranks is embedded in the torus along such an order.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "torus/torus.h"

#include <trivance/network.h>

/* A node and its coordinates, counted from the origin of the set (start_after_gap). */
typedef struct position {
    int node, coordinate[TRV_DIMS_MAX];
} node_position_t;

const char *trv_order_name(trv_order_t order) { return order == TRV_ORDER_SNAKE ? "snake" : "thirds"; }

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

int trv_order_nodes(const trv_torus_t *torus, trv_order_t order, int nodes, int *node)
{
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
    if (!rc && order == TRV_ORDER_THIRDS)
        divide_in_thirds(position, nodes);
    for (int i = 0; i < nodes && !rc; i++)
        node[i] = position[i].node;
    free(position);
    return rc;
}
