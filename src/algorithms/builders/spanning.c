/*
 * Schedules along spanning trees, see spanning.h.
 */
#include "algorithms/builders/spanning.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schedule/per_port.h"

typedef struct tree {
    trv_tree_edge_t *edge;
    int *first; /* the children of rank r: child[first[r] … first[r + 1] - 1], by step */
    int *child;
    /* scatter and gather only: the ranks below and including rank r, ascending: below[begin[r] … begin[r + 1] - 1] */
    int64_t *begin;
    int *below;
} tree_t;

typedef struct tables {
    int trees, ranks, chunks;
    int depth; /* steps of one chunk */
    tree_t tree[];
} tables_t;

static int larger(int a, int b) { return a > b ? a : b; }

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static void spanning_destroy(void *memory)
{
    tables_t *tables = memory;
    for (int t = 0; t < tables->trees; t++) {
        free(tables->tree[t].edge);
        free(tables->tree[t].first);
        free(tables->tree[t].child);
        free(tables->tree[t].begin);
        free(tables->tree[t].below);
    }
    free(tables);
}

/* Lists the children of every rank, the earliest first. */
static int list_children(tree_t *tree, int ranks, int depth)
{
    int *by_step = calloc((size_t)depth + 1, sizeof *by_step), *order = malloc((size_t)ranks * sizeof *order);
    int *next = calloc((size_t)ranks + 1, sizeof *next);
    if (!by_step || !order || !next) {
        free(by_step);
        free(order);
        free(next);
        return trv_fail_memory();
    }
    for (int r = 0; r < ranks; r++)
        if (tree->edge[r].parent >= 0) {
            by_step[tree->edge[r].step + 1]++;
            tree->first[tree->edge[r].parent + 1]++;
        }
    for (int k = 0; k < depth; k++)
        by_step[k + 1] += by_step[k];
    for (int r = 0; r < ranks; r++)
        next[r + 1] = tree->first[r + 1] += tree->first[r];
    for (int r = 0; r < ranks; r++)
        if (tree->edge[r].parent >= 0)
            order[by_step[tree->edge[r].step]++] = r;
    for (int i = 0; i < ranks - 1; i++)
        tree->child[next[tree->edge[order[i]].parent]++] = order[i];
    free(by_step);
    free(order);
    free(next);
    return TRV_OK;
}

/* Lists the ranks below every rank. Ranks are visited in ascending order, and each is added to the lists of all ranks
 * above it, so that the lists ascend. */
static int list_below(tree_t *tree, int ranks)
{
    int64_t *next = malloc(((size_t)ranks + 1) * sizeof *next);
    tree->begin = calloc((size_t)ranks + 1, sizeof *tree->begin);
    if (!next || !tree->begin) {
        free(next);
        return trv_fail_memory();
    }
    for (int r = 0; r < ranks; r++)
        for (int above = r; above >= 0; above = tree->edge[above].parent)
            tree->begin[above + 1]++;
    for (int r = 0; r < ranks; r++)
        tree->begin[r + 1] += tree->begin[r];
    memcpy(next, tree->begin, ((size_t)ranks + 1) * sizeof *next);
    tree->below = malloc((size_t)tree->begin[ranks] * sizeof *tree->below);
    for (int r = 0; tree->below && r < ranks; r++)
        for (int above = r; above >= 0; above = tree->edge[above].parent)
            tree->below[next[above]++] = r;
    free(next);
    return tree->below ? TRV_OK : trv_fail_memory();
}

static int tree_create(tree_t *tree, const trv_tree_edge_t *edge, const tables_t *tables, bool blocks)
{
    const size_t ranks = (size_t)tables->ranks;
    tree->edge = malloc(ranks * sizeof *tree->edge);
    tree->first = calloc(ranks + 1, sizeof *tree->first);
    tree->child = malloc(ranks * sizeof *tree->child);
    if (!tree->edge || !tree->first || !tree->child)
        return trv_fail_memory();
    memcpy(tree->edge, edge, ranks * sizeof *edge);
    int rc = list_children(tree, tables->ranks, tables->depth);
    return rc || !blocks ? rc : list_below(tree, tables->ranks);
}

/* The messages per port of a tree: those between a rank and its children in a step. With several chunks every edge may
 * be in use in one step; in an AllReduce a rank then also exchanges messages with its parent. Counted from the tree,
 * because reading all steps of a pipelined schedule takes too long. */
static int messages_per_port(const trv_schedule_t *schedule, const tree_t *tree)
{
    const tables_t *tables = schedule->tables;
    const bool pipelined = tables->chunks > 1, both = schedule->collective == TRV_ALLREDUCE;
    int most = 1;
    for (int rank = 0; rank < tables->ranks; rank++) {
        const int parents = pipelined && both && tree->edge[rank].parent >= 0;
        for (int i = tree->first[rank], step = -1, children = 0; i < tree->first[rank + 1]; i++) {
            const int own = tree->edge[tree->child[i]].step;
            children = pipelined || own == step ? children + 1 : 1;
            step = own;
            most = larger(most, children + parents);
        }
    }
    return trv_messages_per_port(&schedule->torus, most);
}

/* ---- One rank's step --------------------------------------------------------------------------------------------- */

typedef struct view {
    const trv_schedule_t *schedule;
    const tables_t *tables;
    const tree_t *tree;
    trv_step_t *out;
} view_t;

/* The data that is sent over the edge above `rank`: chunk `chunk`, or the blocks of the ranks below. */
static int edge_data(const view_t *view, int rank, int chunk, trv_blocks_t *blocks)
{
    trv_blocks_begin(blocks, &view->schedule->space, 1);
    trv_product_t *product = trv_blocks_add(blocks, 1);
    if (view->tree->below) {
        product->count[0] = (int)(view->tree->begin[rank + 1] - view->tree->begin[rank]);
        product->value[0] = view->tree->below + view->tree->begin[rank];
        return TRV_OK;
    }
    int *value = trv_step_alloc(view->out, sizeof *value);
    if (!value)
        return TRV_ERR_MEMORY;
    *value = chunk;
    product->value[0] = value;
    return TRV_OK;
}

static int add_message(const view_t *view, bool send, int peer, int port, int below, int chunk, int reg)
{
    trv_part_t *part = (send ? trv_step_send : trv_step_receive)(view->out, peer, port, 1);
    if (!part)
        return TRV_ERR_MEMORY;
    part->reg = reg;
    return edge_data(view, below, chunk, &part->blocks);
}

static bool is_chunk(const view_t *view, int chunk) { return chunk >= 0 && chunk < view->tables->chunks; }

/* From the root: in step `step` chunk step - edge.step moves over an edge. */
static int step_down(const view_t *view, int rank, int step)
{
    const tree_t *tree = view->tree;
    const trv_tree_edge_t *own = &tree->edge[rank];
    int rc = TRV_OK;
    if (own->parent >= 0 && is_chunk(view, step - own->step))
        rc = add_message(view, false, own->parent, own->port, rank, step - own->step, 0);
    for (int i = tree->first[rank]; i < tree->first[rank + 1] && !rc; i++) {
        const int child = tree->child[i], chunk = step - tree->edge[child].step;
        if (is_chunk(view, chunk))
            rc = add_message(view, true, child, tree->edge[child].port, child, chunk, 0);
    }
    return rc;
}

/* Adds the combines of the chunks that a rank has received from its children. Children whose edges have the same step
 * send the same chunk, which is reduced jointly. `reg` is the register of the first child. */
static int add_combines(const view_t *view, int rank, int last)
{
    const tree_t *tree = view->tree;
    int rc = TRV_OK, reg = 1;
    for (int i = tree->first[rank]; i < tree->first[rank + 1] && !rc;) {
        const int chunk = last + tree->edge[tree->child[i]].step;
        int source[TRV_PORTS_MAX * 2 + 1] = {0}, sources = 1, begin = i;
        while (i < tree->first[rank + 1] && tree->edge[tree->child[i]].step == tree->edge[tree->child[begin]].step &&
               sources <= 2 * TRV_PORTS_MAX) {
            source[sources++] = reg++;
            i++;
        }
        trv_blocks_t blocks;
        if (!is_chunk(view, chunk))
            continue;
        rc = edge_data(view, rank, chunk, &blocks);
        if (!rc)
            rc = trv_step_combine(view->out, 0, sources, source, 0, &blocks);
    }
    return rc;
}

/* Towards the root: an edge whose step is k in a broadcast sends its first chunk in step depth - 1 - k. */
static int step_up(const view_t *view, int rank, int step)
{
    const tree_t *tree = view->tree;
    const trv_tree_edge_t *own = &tree->edge[rank];
    const int last = step - (view->tables->depth - 1), chunk = last + own->step;
    const bool gathers = tree->below != NULL;
    int rc = TRV_OK;
    if (own->parent >= 0 && is_chunk(view, chunk))
        rc = add_message(view, true, own->parent, trv_port_opposite(own->port), rank, chunk, 0);
    for (int i = tree->first[rank]; i < tree->first[rank + 1] && !rc; i++) {
        const int child = tree->child[i], theirs = last + tree->edge[child].step;
        if (is_chunk(view, theirs))
            rc = add_message(view, false, child, trv_port_opposite(tree->edge[child].port), child, theirs,
                             gathers ? 0 : 1 + i - tree->first[rank]);
    }
    return rc || gathers ? rc : add_combines(view, rank, last);
}

static int spanning_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    const view_t view = {schedule, tables, &tables->tree[stream], out};
    const int children = view.tree->first[rank + 1] - view.tree->first[rank];
    int rc = trv_step_reserve(out, children + 1, children + 1, children);
    if (rc)
        return rc;
    switch (schedule->collective) {
    case TRV_REDUCE:
    case TRV_GATHER: return step_up(&view, rank, step);
    case TRV_ALLREDUCE: rc = step_up(&view, rank, step); return rc ? rc : step_down(&view, rank, step - tables->depth);
    default: return step_down(&view, rank, step);
    }
}

int trv_spanning_depth(int ranks, int trees, const trv_tree_edge_t *edge)
{
    int depth = 0;
    for (size_t i = 0; i < (size_t)trees * (size_t)ranks; i++)
        if (edge[i].parent >= 0 && edge[i].step >= depth)
            depth = edge[i].step + 1;
    return depth;
}

int trv_spanning_children(int ranks, int trees, const trv_tree_edge_t *edge)
{
    int *children = calloc((size_t)trees * (size_t)ranks, sizeof *children), most = 0;
    if (!children)
        return trv_fail_memory();
    for (size_t i = 0; i < (size_t)trees * (size_t)ranks; i++)
        if (edge[i].parent >= 0) {
            const size_t parent = i - i % (size_t)ranks + (size_t)edge[i].parent;
            most = ++children[parent] > most ? children[parent] : most;
        }
    free(children);
    return most;
}

/* Checks that every tree reaches all ranks from the collective's root or, in an AllReduce, from one rank. */
static int check_roots(const trv_schedule_t *schedule, int streams, const trv_tree_edge_t *edge)
{
    const int ranks = schedule->torus.ranks;
    for (int t = 0; t < streams; t++) {
        int root = schedule->collective == TRV_ALLREDUCE ? -1 : schedule->root;
        for (int rank = 0; rank < ranks; rank++) {
            const bool is_root = edge[(size_t)t * (size_t)ranks + (size_t)rank].parent < 0;
            if (is_root && root >= 0 && rank != root)
                return trv_fail(TRV_ERR_INVALID, "a tree of %s does not reach rank %d", schedule->name, rank);
            root = is_root ? rank : root;
        }
    }
    return TRV_OK;
}

int trv_spanning_create(trv_schedule_t *schedule, int streams, const trv_tree_edge_t *edge, int chunks)
{
    const int ranks = schedule->torus.ranks;
    const bool blocks = schedule->collective == TRV_SCATTER || schedule->collective == TRV_GATHER;
    tables_t *tables = calloc(1, sizeof *tables + (size_t)streams * sizeof *tables->tree);
    int rc = TRV_OK, children = 0;
    if (!tables)
        return trv_fail_memory();
    schedule->tables = tables;
    schedule->destroy = spanning_destroy;
    schedule->step = spanning_step;
    *tables = (tables_t){.trees = streams, .ranks = ranks, .chunks = chunks};
    tables->depth = trv_spanning_depth(ranks, streams, edge);
    rc = check_roots(schedule, streams, edge);
    for (int t = 0; t < streams && !rc; t++) {
        rc = tree_create(&tables->tree[t], edge + (size_t)t * (size_t)ranks, tables, blocks);
        for (int r = 0; r < ranks && !rc; r++) {
            const int own = tables->tree[t].first[r + 1] - tables->tree[t].first[r];
            children = own > children ? own : children;
        }
        schedule->messages_per_port = rc ? 0
                                         : larger(schedule->messages_per_port,
                                                  messages_per_port(schedule, &tables->tree[t]));
    }
    schedule->streams = streams;
    schedule->registers = schedule->collective == TRV_REDUCE || schedule->collective == TRV_ALLREDUCE ? 1 + children
                                                                                                      : 1;
    if (ranks > 1) /* otherwise there are no messages */
        schedule->steps = (schedule->collective == TRV_ALLREDUCE ? 2 : 1) * tables->depth + chunks - 1;
    schedule->owned = blocks;
    trv_torus_init(&schedule->space, 1, blocks ? &ranks : &chunks);
    return rc;
}
