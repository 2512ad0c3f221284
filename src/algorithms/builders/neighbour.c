/*
 * The pattern of the ring algorithms, see neighbour.h. In each level every coordinate sends one block and receives one,
 * so all sets are ranges.
 */
#include "algorithms/builders/neighbour.h"
#include <stdlib.h>

#include "algorithms/builders/range.h"

static int neighbour_edges(const trv_pattern_t *pattern, int coordinate, int level, bool outgoing, trv_edge_t *edge,
                           trv_step_t *memory)
{
    int size = pattern->size;
    int *block = trv_step_alloc(memory, sizeof *block);
    if (!block)
        return TRV_ERR_MEMORY;
    edge->from = outgoing ? coordinate : (coordinate + size - 1) % size;
    edge->to = (edge->from + 1) % size;
    edge->sign = 1;
    edge->reverse_sign = size == 2 ? 1 : -1; /* direction + if both ways are equally long */
    edge->move = false;
    *block = (edge->from + size - 1 - level) % size;
    edge->blocks[0] = (trv_residues_t){1, block};
    return 1;
}

static int neighbour_held(const trv_pattern_t *pattern, int coordinate, int level, int half, trv_residues_t *blocks,
                          trv_step_t *memory)
{
    (void)half;
    int size = pattern->size, count = size - level;
    int *value = trv_range(memory, size, coordinate, count);
    if (!value)
        return TRV_ERR_MEMORY;
    *blocks = (trv_residues_t){count, value};
    return TRV_OK;
}

static void neighbour_destroy(trv_pattern_t *pattern) { free(pattern); }

trv_pattern_t *trv_neighbour_pattern(int size)
{
    trv_pattern_t *pattern = malloc(sizeof *pattern);
    if (pattern)
        *pattern = (trv_pattern_t){.size = size,
                                   .levels = size - 1,
                                   .halves = 1,
                                   .edges = neighbour_edges,
                                   .held = neighbour_held,
                                   .destroy = neighbour_destroy};
    return pattern;
}
