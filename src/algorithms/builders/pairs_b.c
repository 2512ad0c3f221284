/*
 * The reduce-scatter pattern of pairwise exchanges: in level l a core member sends its partner the blocks of all
 * members that the partner reaches in the later levels, and keeps those of the members that it reaches itself.
 *
 * On folded sizes there is an additional first level, in which the even coordinates send all blocks to their odd
 * neighbours; from then on each odd neighbour is responsible for two blocks. Unless an allgather follows, there is an
 * additional last level, in which the odd neighbours return the blocks of the even coordinates.
 */
#include <stdlib.h>

#include "algorithms/builders/pairs.h"
#include "algorithms/builders/range.h"
#include "base/ascending.h"

typedef struct pattern {
    trv_pattern_t base;
    trv_pairs_t pairs;
} pattern_t;

enum { FOLD, EXCHANGE, UNFOLD };

/* Whether a level of the pattern folds, exchanges or unfolds. *level is changed to the corresponding level of the
 * pairs. */
static int level_phase(const pattern_t *p, int *level)
{
    if (p->pairs.extra > 0 && (*level)-- == 0)
        return FOLD;
    return *level < p->pairs.levels ? EXCHANGE : UNFOLD;
}

/* The blocks of all coordinates that core member `index` reaches in the levels from `level` on, including its own. */
static int pairs_reach(const pattern_t *p, int index, int level, trv_residues_t *blocks, trv_step_t *memory)
{
    int members = 1, count = 0, core = 1 << p->pairs.levels;
    int *member = trv_step_alloc(memory, ((size_t)1 << (p->pairs.levels - level)) * sizeof *member);
    int *value = trv_step_alloc(memory, ((size_t)2 << (p->pairs.levels - level)) * sizeof *value);
    if (!member || !value)
        return TRV_ERR_MEMORY;
    member[0] = index;
    for (; level < p->pairs.levels; level++, members *= 2)
        for (int i = 0; i < members; i++)
            member[members + i] = p->pairs.partner(member[i], level, core);
    qsort(member, (size_t)members, sizeof *member, trv_compare_int);
    for (int i = 0; i < members; i++) {
        int coordinate = trv_pairs_coordinate(&p->pairs, member[i]);
        if (member[i] < p->pairs.extra)
            value[count++] = coordinate - 1;
        value[count++] = coordinate;
    }
    *blocks = (trv_residues_t){count, value};
    return TRV_OK;
}

static int pairs_range(int size, int first, int count, trv_residues_t *blocks, trv_step_t *memory)
{
    int *value = trv_range(memory, size, first, count);
    if (!value)
        return TRV_ERR_MEMORY;
    *blocks = (trv_residues_t){count, value};
    return TRV_OK;
}

static int pairs_fill_edge(const pattern_t *p, trv_edge_t *edge, int from, int to, bool move)
{
    edge->from = from;
    edge->to = to;
    edge->sign = trv_pairs_sign(&p->pairs, from, to);
    edge->reverse_sign = trv_pairs_sign(&p->pairs, to, from);
    edge->move = move;
    return 1;
}

static int pairs_edges(const trv_pattern_t *base, int coordinate, int level, bool outgoing, trv_edge_t *edge,
                       trv_step_t *memory)
{
    const pattern_t *p = (const pattern_t *)base;
    int phase = level_phase(p, &level);
    int rc, index = trv_pairs_index(&p->pairs, coordinate);
    if (phase == EXCHANGE) {
        if (index < 0)
            return 0;
        int partner = p->pairs.partner(index, level, 1 << p->pairs.levels);
        int other = trv_pairs_coordinate(&p->pairs, partner);
        rc = pairs_reach(p, outgoing ? partner : index, level + 1, &edge->blocks[0], memory);
        return rc ? rc : pairs_fill_edge(p, edge, outgoing ? coordinate : other, outgoing ? other : coordinate, false);
    }
    if (coordinate >= 2 * p->pairs.extra)
        return 0;
    int even = coordinate & ~1; /* FOLD sends from the even to the odd coordinate, UNFOLD back */
    bool sender = (coordinate == even) == (phase == FOLD);
    if (sender != outgoing)
        return 0;
    rc = pairs_range(base->size, phase == FOLD ? 0 : even, phase == FOLD ? base->size : 1, &edge->blocks[0], memory);
    if (rc)
        return rc;
    return phase == FOLD ? pairs_fill_edge(p, edge, even, even + 1, false)
                         : pairs_fill_edge(p, edge, even + 1, even, true);
}

static int pairs_held(const trv_pattern_t *base, int coordinate, int level, int half, trv_residues_t *blocks,
                      trv_step_t *memory)
{
    (void)half;
    const pattern_t *p = (const pattern_t *)base;
    int index = trv_pairs_index(&p->pairs, coordinate);
    int phase = level_phase(p, &level);
    if (phase == FOLD)
        return pairs_range(base->size, 0, base->size, blocks, memory);
    if (phase == EXCHANGE || level == p->pairs.levels) {
        if (index >= 0)
            return pairs_reach(p, index, level, blocks, memory);
        *blocks = (trv_residues_t){0, NULL};
        return TRV_OK;
    }
    /* after the unfolding every coordinate holds its own block */
    return pairs_range(base->size, coordinate, 1, blocks, memory);
}

static void pairs_destroy(trv_pattern_t *base) { free(base); }

trv_pattern_t *trv_pairs_pattern(const trv_pairs_t *pairs, trv_collective_t collective)
{
    pattern_t *p = malloc(sizeof *p);
    if (!p)
        return NULL;
    int folding = pairs->extra == 0 ? 0 : collective == TRV_ALLREDUCE ? 1 : 2;
    p->pairs = *pairs;
    p->base = (trv_pattern_t){.size = pairs->size,
                              .levels = pairs->levels + folding,
                              .halves = 1,
                              .edges = pairs_edges,
                              .held = pairs_held,
                              .destroy = pairs_destroy};
    if (pairs->extra == 0 && pairs->partner == trv_recdoub_partner)
        p->base.radix = 2;
    return &p->base;
}
