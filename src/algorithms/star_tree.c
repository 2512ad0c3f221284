/*
 * Star trees: the sums of a star chain, from a root (docs/stars.md has the mathematics of chains).
 *
 * In step k every rank r that has the data sends it to r - v for each displacement v of the chain's step, through all
 * 2D ports at once, so that up to 2D + 1 times as many ranks have it: ceil(log_(2D+1) n) steps where such a chain is
 * known, for example 4 on 8x8x8. A tree needs a chain that covers: a displacement that several sums reach is reached
 * over the first of them.
 * The name is star-tree[:CHAIN][:STREAMS], with the chain as text or as a number of trv_star_find; by default it is the
 * covering chain with the fewest steps. Streams as in star.c.
 * Streams: 1 to 2D.   Steps: those of the chain.   Exact: yes.   Symmetry: translation (all-to-all).
 */
#include <stdlib.h>
#include <string.h>

#include "algorithms/star_name.h"
#include "algorithms/builders/exchange.h"
#include "algorithms/builders/star_streams.h"
#include "algorithms/registry.h"
#include "base/error.h"

static const char form[] = "overlap"; /* of a star: whole vectors, of a chain that covers */

/* Fills in the edges of one stream: in every step, those of the ranks that have the data before it. */
static void fill_edges(const trv_schedule_t *schedule, const trv_star_stream_t *stream, int steps, int *reached,
                       trv_tree_edge_t *edge)
{
    int count = 1;
    for (int rank = 0; rank < schedule->torus.ranks; rank++)
        edge[rank].parent = -1;
    reached[0] = schedule->root;
    for (int k = 0; k < steps; k++)
        for (int i = 0, holders = count; i < holders; i++)
            for (int v = 0; v < stream->star[k].vectors; v++) {
                const trv_star_vector_t *vector = &stream->star[k].vector[v];
                const int to = trv_star_peer(&schedule->torus, reached[i], vector, true);
                if (to == schedule->root || edge[to].parent >= 0)
                    continue;
                edge[to] = (trv_tree_edge_t){reached[i], k, vector->port};
                reached[count++] = to;
            }
}

static int star_tree_create(trv_schedule_t *schedule)
{
    const size_t ranks = (size_t)schedule->torus.ranks;
    trv_star_t *star = malloc(sizeof *star);
    trv_star_streams_t streams;
    trv_arena_t *arena = trv_arena_create();
    int rc = star && arena ? trv_star_choose(form, schedule->parameters->value, &schedule->torus, star)
                           : trv_fail_memory();
    if (!rc)
        rc = trv_star_streams_make(&streams, star, arena);
    trv_tree_edge_t *edge = rc ? NULL : malloc((size_t)streams.layout.streams * ranks * sizeof *edge);
    int *reached = rc ? NULL : malloc(ranks * sizeof *reached);
    if (!rc && (!edge || !reached))
        rc = trv_fail_memory();
    for (int s = 0; !rc && s < streams.layout.streams; s++)
        fill_edges(schedule, &streams.stream[s], streams.steps, reached, edge + (size_t)s * ranks);
    if (!rc)
        rc = schedule->collective == TRV_ALLTOALL ? trv_exchange_create(schedule, streams.layout.streams, edge)
                                                  : trv_spanning_create(schedule, streams.layout.streams, edge, 1);
    free(edge);
    free(reached);
    free(star);
    trv_arena_destroy(arena);
    return rc;
}

static int star_tree_complete(trv_parameters_t *parameters, const trv_torus_t *torus, trv_collective_t collective)
{
    trv_star_t star;
    (void)collective;
    const int rc = trv_star_choose(form, parameters->value, torus, &star);
    return rc ? rc : trv_star_complete(&star, parameters->value, parameters->text, sizeof parameters->text);
}

static int star_tree_supports(const trv_torus_t *torus, trv_collective_t collective)
{
    char text[TRV_TORUS_TEXT_MAX];
    trv_star_chain_t *chain = malloc(sizeof *chain);
    (void)collective;
    int rc = chain ? TRV_OK : trv_fail_memory();
    if (!rc && torus->lines)
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "star-tree supports only tori, not the mesh %s; use trivance-tree",
                      trv_torus_format(torus, text, sizeof text));
    else if (!rc && torus->ranks > 1)
        rc = trv_star_cover(torus, chain);
    free(chain);
    return rc;
}

const trv_algorithm_t trv_star_tree = {
    .name = "star-tree",
    .family = "star",
    .title = "Star, tree through all ports",
    .use = "short broadcasts and reduces",
    .source = "this project, docs/stars.md",
    .sizes = "tori with a known chain",
    .steps_formula = "at least log_(2D+1) n",
    .bytes_formula = "m per child; blocks: those below",
    .parameters = "[CHAIN][:STREAMS]",
    .example = "star-tree:0:2",
    .field = {{.kind = TRV_FIELD_TEXT}, {.kind = TRV_FIELD_TEXT}},
    .collectives = TRV_TREE_COLLECTIVES,
    .latency_optimal = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .supports = star_tree_supports,
    .create = star_tree_create,
    .complete = star_tree_complete,
};
