/*
 * A ring's pattern on a line: the ring is folded onto the line, outwards over every second position and back over the
 * others.
 *
 *   position on the line    0 ─ 1 ─ 2 ─ 3 ─ 4 ─ 5 ─ 6 ─ 7
 *   position on the ring    0   7   1   6   2   5   3   4
 *
 * Neighbours on the ring are at most two positions of the line apart. Every link of the line carries the traffic of two
 * links of the ring, and messages travel twice as far. In return all numbers of steps and distances of a ring are
 * available on a line (docs/distances.md).
 */
#include <stdlib.h>

#include "algorithms/builders/line.h"

typedef struct folded {
    trv_pattern_t pattern;
    trv_pattern_t *ring;
} folded_t;

static int line_position_of(int on_ring, int size)
{
    return 2 * on_ring < size ? 2 * on_ring : 2 * (size - on_ring) - 1;
}
static int ring_position_of(int on_line, int size) { return on_line % 2 ? size - (on_line + 1) / 2 : on_line / 2; }

/* Maps an ascending set of positions on the ring to an ascending set of positions on the line. In the order of the
 * ring, even positions on the line ascend and then odd positions descend, so the set is merged from its two ends. */
static int residues_fold(trv_residues_t *set, int size, trv_step_t *memory)
{
    int *value = trv_step_alloc(memory, (size_t)set->count * sizeof *value);
    if (!value)
        return TRV_ERR_MEMORY;
    for (int i = 0, first = 0, last = set->count - 1; i < set->count; i++) {
        const int ahead = line_position_of(set->value[first], size), back = line_position_of(set->value[last], size);
        value[i] = ahead < back ? ahead : back;
        if (ahead < back)
            first++;
        else
            last--;
    }
    set->value = value;
    return TRV_OK;
}

static int folded_held(const trv_pattern_t *pattern, int on_line, int level, int half, trv_residues_t *blocks,
                       trv_step_t *memory)
{
    const trv_pattern_t *ring = ((const folded_t *)pattern)->ring;
    int rc = ring->held(ring, ring_position_of(on_line, ring->size), level, half, blocks, memory);
    return rc ? rc : residues_fold(blocks, ring->size, memory);
}

static int folded_edges(const trv_pattern_t *pattern, int on_line, int level, bool outgoing, trv_edge_t *edge,
                        trv_step_t *memory)
{
    const trv_pattern_t *ring = ((const folded_t *)pattern)->ring;
    const int edges = ring->edges(ring, ring_position_of(on_line, ring->size), level, outgoing, edge, memory);
    for (int e = 0; e < edges; e++) {
        edge[e].from = line_position_of(edge[e].from, ring->size);
        edge[e].to = line_position_of(edge[e].to, ring->size);
        edge[e].sign = edge[e].to > edge[e].from ? 1 : -1;
        edge[e].reverse_sign = -edge[e].sign;
        for (int half = 0; half < ring->halves; half++) {
            int rc = residues_fold(&edge[e].blocks[half], ring->size, memory);
            if (rc)
                return rc;
        }
    }
    return edges;
}

static void folded_destroy(trv_pattern_t *pattern)
{
    folded_t *folded = (folded_t *)pattern;
    folded->ring->destroy(folded->ring);
    free(folded);
}

trv_pattern_t *trv_folded_pattern(trv_pattern_t *ring)
{
    folded_t *folded = ring ? malloc(sizeof *folded) : NULL;
    if (!folded) {
        if (ring)
            ring->destroy(ring);
        return NULL;
    }
    *folded = (folded_t){{.size = ring->size,
                          .levels = ring->levels,
                          .line = true,
                          .halves = ring->halves,
                          .edges = folded_edges,
                          .held = folded_held,
                          .destroy = folded_destroy},
                         ring};
    return &folded->pattern;
}
