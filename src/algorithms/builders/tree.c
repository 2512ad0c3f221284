/*
 * The pattern that is defined by one tree of displacements, which is the same for the block of every owner (tree.h).
 *
 * In the allgather the block of owner b reaches displacement x (rank b + x) over the edge (level, offset) that first
 * covers x; the reduce-scatter uses the same edges towards the owner. So in a level of the reduce-scatter coordinate c
 * sends to c - offset the blocks c - x for every x that this edge covers, and before level k it holds the blocks c - x
 * for every x in C_k, the displacements covered by the levels k and above.
 */
#include "algorithms/builders/tree.h"

#include <stdlib.h>
#include <string.h>

typedef struct tree {
    trv_pattern_t base;
    int *offset; /* two per level */
    bool shortest;
    trv_residues_t *covers; /* displacements, ascending: [(2 * level + e) * halves + half] */
    trv_residues_t *held;   /* [level * halves + half], for levels 0 … levels */
    int *values;            /* memory of these lists */
} tree_t;

static int wrap(long long value, int size)
{
    int rest = (int)(value % size);
    return rest < 0 ? rest + size : rest;
}

/* The blocks c - x of displacements x, in ascending order: the reversed list, rotated so that the smallest block comes
 * first. */
static int tree_blocks(const trv_residues_t *displacements, int coordinate, int size, trv_residues_t *blocks,
                       trv_step_t *memory)
{
    int count = displacements->count;
    int *value = trv_step_alloc(memory, (size_t)count * sizeof *value);
    if (!value)
        return TRV_ERR_MEMORY;
    int below = 0; /* number of displacements <= coordinate: their blocks c - x do not wrap around */
    while (below < count && displacements->value[below] <= coordinate)
        below++;
    int written = 0;
    for (int i = below - 1; i >= 0; i--)
        value[written++] = coordinate - displacements->value[i];
    for (int i = count - 1; i >= below; i--)
        value[written++] = coordinate - displacements->value[i] + size;
    *blocks = (trv_residues_t){count, value};
    return TRV_OK;
}

/* The direction of a move by `offset`: the sign of the offset, or the shorter way. */
static int tree_direction(const tree_t *tree, int offset)
{
    int size = tree->base.size;
    if (!tree->shortest)
        return offset < 0 ? -1 : 1;
    return 2 * wrap(offset, size) <= size ? 1 : -1;
}

static int tree_edges(const trv_pattern_t *pattern, int coordinate, int level, bool outgoing, trv_edge_t *edge,
                      trv_step_t *memory)
{
    const tree_t *tree = (const tree_t *)pattern;
    int size = pattern->size, halves = pattern->halves, edges = 0;
    for (int e = 0; e < 2; e++) {
        const trv_residues_t *covers = &tree->covers[(2 * level + e) * halves];
        int offset = tree->offset[2 * level + e];
        if (covers[0].count == 0 && (halves == 1 || covers[1].count == 0))
            continue;
        trv_edge_t *out = &edge[edges++];
        out->from = outgoing ? coordinate : wrap((long long)coordinate + offset, size);
        out->to = outgoing ? wrap((long long)coordinate - offset, size) : coordinate;
        out->sign = tree_direction(tree, -offset);
        out->reverse_sign = tree_direction(tree, offset);
        out->move = false;
        for (int h = 0; h < halves; h++) {
            int rc = tree_blocks(&covers[h], out->from, size, &out->blocks[h], memory);
            if (rc)
                return rc;
        }
    }
    return edges;
}

static int tree_held(const trv_pattern_t *pattern, int coordinate, int level, int half, trv_residues_t *blocks,
                     trv_step_t *memory)
{
    const tree_t *tree = (const tree_t *)pattern;
    return tree_blocks(&tree->held[level * pattern->halves + half], coordinate, pattern->size, blocks, memory);
}

static void tree_destroy(trv_pattern_t *pattern)
{
    tree_t *tree = (tree_t *)pattern;
    free(tree->offset);
    free(tree->covers);
    free(tree->held);
    free(tree->values);
    free(tree);
}

/* The offset that reaches the new displacement x from a covered one: 0 for the first, 1 for the second, -1 if neither
 * does. */
static int tree_parent_edge(const tree_t *tree, const trv_tree_options_t *options, const unsigned char *covered,
                            int level, int half, int x)
{
    int size = options->size;
    bool first = covered[wrap((long long)x - tree->offset[2 * level], size)];
    bool second = covered[wrap((long long)x - tree->offset[2 * level + 1], size)];
    if (!first || !second)
        return first ? 0 : second ? 1 : -1;
    if (!options->balanced)
        return 0;
    return 2 * x == size ? half : 2 * x > size;
}

/* Collects the displacements marked with `mark`, ascending. */
static trv_residues_t collect_marked(const unsigned char *marks, int size, unsigned char mark, int **values)
{
    trv_residues_t residues = {0, *values};
    for (int x = 0; x < size; x++)
        if (marks[x] == mark)
            (*values)[residues.count++] = x;
    *values += residues.count;
    return residues;
}

enum { NOT_COVERED = 0, COVERED = 1, NEW = 2 }; /* NEW + e: covered by edge e of the present level */

/* Grows the tree of one half, from the owner outwards. `marks` is a scratch buffer of 2 * size bytes. */
static void tree_grow(tree_t *tree, const trv_tree_options_t *options, int half, unsigned char *marks, int **values)
{
    int size = options->size, halves = tree->base.halves;
    memset(marks, NOT_COVERED, (size_t)size);
    marks[0] = COVERED;
    tree->held[options->levels * halves + half] = collect_marked(marks, size, COVERED, values);
    for (int level = options->levels - 1; level >= 0; level--) {
        unsigned char *covered = marks + size; /* the marks before this level */
        for (int x = 0; x < size; x++)
            covered[x] = marks[x] == COVERED;
        for (int x = 0; x < size; x++) {
            bool later = options->level && options->level[x] != level;
            int e = covered[x] || later ? -1 : tree_parent_edge(tree, options, covered, level, half, x);
            if (e >= 0)
                marks[x] = (unsigned char)(NEW + e);
        }
        for (int e = 0; e < 2; e++)
            tree->covers[(2 * level + e) * halves + half] = collect_marked(marks, size, (unsigned char)(NEW + e),
                                                                           values);
        for (int x = 0; x < size; x++)
            if (marks[x])
                marks[x] = COVERED;
        tree->held[level * halves + half] = collect_marked(marks, size, COVERED, values);
    }
}

trv_pattern_t *trv_tree_pattern(const trv_tree_options_t *options)
{
    size_t size = (size_t)options->size, levels = (size_t)options->levels;
    size_t halves = options->balanced && size % 2 == 0 ? 2 : 1;
    tree_t *tree = calloc(1, sizeof *tree);
    unsigned char *marks = malloc(2 * size);
    if (tree) {
        tree->base = (trv_pattern_t){.size = options->size,
                                     .levels = options->levels,
                                     .halves = (int)halves,
                                     .radix = options->radix,
                                     .edges = tree_edges,
                                     .held = tree_held,
                                     .destroy = tree_destroy};
        tree->shortest = options->shortest;
        tree->offset = malloc(2 * levels * sizeof(int));
        tree->covers = calloc(2 * levels * halves, sizeof *tree->covers);
        tree->held = calloc((levels + 1) * halves, sizeof *tree->held);
        tree->values = malloc(halves * size * (levels + 2) *
                              sizeof(int)); /* held: at most `size` per level; covers: in all */
    }
    if (!tree || !marks || !tree->offset || !tree->covers || !tree->held || !tree->values) {
        if (tree)
            tree_destroy(&tree->base);
        free(marks);
        return NULL;
    }
    memcpy(tree->offset, options->offset, 2 * levels * sizeof(int));
    int *values = tree->values;
    for (size_t h = 0; h < halves; h++)
        tree_grow(tree, options, (int)h, marks, &values);
    free(marks);
    return &tree->base;
}
