/*
 * Spanning trees that reach one dimension after another, see dimension_tree.h.
 */
#include "algorithms/builders/dimension_tree.h"

#include <stdlib.h>

#include "algorithms/builders/exchange.h"
#include "base/error.h"
#include "torus/torus.h"

typedef struct rows {
    int active, dimension[TRV_DIMS_MAX];
    int levels[TRV_DIMS_MAX];           /* of dimension[i] */
    trv_row_edge_t *edge[TRV_DIMS_MAX]; /* per coordinate */
} rows_t;

/* The edge that reaches `rank` in the tree that starts in dimension[first]: in the last dimension of the tree's order
 * in which the rank differs from the root. */
static trv_tree_edge_t edge_of(const trv_schedule_t *schedule, const rows_t *rows, int first, int rank)
{
    trv_tree_edge_t edge = {.parent = -1};
    for (int i = 0, before = 0; i < rows->active; i++) {
        const int at = (first + i) % rows->active, d = rows->dimension[at];
        const trv_row_edge_t *row = &rows->edge[at][trv_torus_coordinate(&schedule->torus, rank, d)];
        if (row->parent >= 0)
            edge = (trv_tree_edge_t){.parent = trv_torus_move(&schedule->torus, rank, d, row->parent),
                                     .step = before + row->level,
                                     .port = trv_port(d, row->sign)};
        before += rows->levels[at];
    }
    return edge;
}

/* In an all-to-all, the ranks of a line send as those of a ring; blocks travel the only way that there is. */
static bool is_line(const trv_schedule_t *schedule, int d)
{
    return schedule->collective != TRV_ALLTOALL && trv_torus_is_line(&schedule->torus, d);
}

int trv_dimension_trees_create(trv_schedule_t *schedule, trv_row_tree_t *tree, bool mirrored, int ports)
{
    const trv_torus_t *torus = &schedule->torus;
    rows_t rows = {0};
    rows.active = trv_torus_active(torus, rows.dimension);
    const int all = rows.active < 1 ? 1 : mirrored ? 2 * rows.active : rows.active;
    const int streams = ports > 0 && ports < all ? ports : all;
    trv_tree_edge_t *edge = malloc((size_t)streams * (size_t)torus->ranks * sizeof *edge);
    int rc = edge ? TRV_OK : trv_fail_memory();
    for (int i = 0; i < rows.active && !rc; i++) {
        rows.edge[i] = malloc((size_t)torus->size[rows.dimension[i]] * sizeof **rows.edge);
        rc = rows.edge[i] ? TRV_OK : trv_fail_memory();
    }
    for (int s = 0; s < streams && !rc; s++) {
        for (int i = 0; i < rows.active; i++) {
            const int d = rows.dimension[i];
            rows.levels[i] = tree(torus->size[d], is_line(schedule, d), trv_torus_coordinate(torus, schedule->root, d),
                                  s >= rows.active, rows.edge[i]);
        }
        for (int rank = 0; rank < torus->ranks; rank++)
            edge[(size_t)s * (size_t)torus->ranks + (size_t)rank] = edge_of(schedule, &rows, s, rank);
    }
    if (!rc)
        rc = schedule->collective == TRV_ALLTOALL ? trv_exchange_create(schedule, streams, edge)
                                                  : trv_spanning_create(schedule, streams, edge, 1);
    for (int i = 0; i < rows.active; i++)
        free(rows.edge[i]);
    free(edge);
    return rc;
}
