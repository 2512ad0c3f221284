/*
 * Groups of work, see group.h. Classes with the same operands (a *tuple*) become one piece, and their products are
 * joined where possible. A piece whose operands are all in the user's buffers, or in containers that are one run of
 * positions, becomes a separate work. The other pieces access containers of several runs and need a walk (walk.h); as
 * many of them share one work as the bit masks of a walk allow.
 */
#include "execute/compile/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"

static bool same_location(trv_location_t a, trv_location_t b) { return a.base == b.base && a.container == b.container; }

int trv_group_create(trv_group_t *group, trv_program_t *program, const trv_partition_t *partition)
{
    const size_t eqclasses = (size_t)partition->eqclasses;
    *group = (trv_group_t){.program = program, .partition = partition};
    group->tuple_of = malloc(eqclasses * sizeof *group->tuple_of);
    group->eqclass = malloc(eqclasses * sizeof *group->eqclass);
    if (!group->tuple_of || !group->eqclass)
        return trv_fail_memory();
    memset(group->tuple_of, 0xff, eqclasses * sizeof *group->tuple_of);
    return 0;
}

static bool is_tuple(const trv_group_t *group, int t, trv_location_t to, const trv_location_t *source, int sources)
{
    const trv_tuple_t *tuple = &group->tuple[t];
    bool same = tuple->sources == sources && same_location(tuple->to, to);
    for (int s = 0; same && s < sources; s++)
        same = same_location(group->program->source[tuple->source + s], source[s]);
    return same;
}

int trv_group_add(trv_group_t *group, int eqclass, trv_location_t to, const trv_location_t *source, int sources)
{
    trv_program_t *program = group->program;
    int t = group->tuples - 1; /* most likely the last tuple */
    while (t >= 0 && !is_tuple(group, t, to, source, sources))
        t--;
    if (t < 0) {
        if (trv_array_reserve(&group->tuple, &group->tuple_capacity, group->tuples, 1, sizeof *group->tuple) ||
            trv_array_reserve(&program->source, &group->source_capacity, program->sources, sources,
                              sizeof *program->source))
            return TRV_ERR_MEMORY;
        t = group->tuples++;
        group->tuple[t] = (trv_tuple_t){to, program->sources, sources};
        memcpy(program->source + program->sources, source, (size_t)sources * sizeof *source);
        program->sources += sources;
    }
    group->tuple_of[eqclass] = t;
    group->eqclass[group->eqclasses++] = eqclass;
    return 0;
}

/* ---- From classes to products ------------------------------------------------------------------------------------ */

enum { MIXED = -2, DEPTH_MAX = 500 };

static int add_entry(trv_group_t *group, int node, int tuple)
{
    if (tuple < 0)
        return 0;
    if (trv_array_reserve(&group->entry, &group->entry_capacity, group->entries, 1, sizeof *group->entry))
        return TRV_ERR_MEMORY;
    group->entry[group->entries].product = group->partition->node[node].product;
    group->entry[group->entries++].tuple = tuple;
    return 0;
}

/* Returns the tuple that all classes under a node have. If they have several, appends the largest nodes below it
 * whose classes have one tuple to group->entry, and returns MIXED. At DEPTH_MAX the classes are appended one by one.
 * *rc: set on error. */
static int node_collapse(trv_group_t *group, int number, int depth, int *rc)
{
    const trv_node_t *node = &group->partition->node[number];
    int tuple[TRV_SPACE_AXES_MAX + 1];
    bool same = true;
    if (!node->children)
        return group->tuple_of[node->eqclass];
    if (depth == DEPTH_MAX) {
        for (int i = node->eqclass; !*rc && i < node->eqclass + node->eqclasses; i++)
            *rc = add_entry(group, group->partition->leaf[i], group->tuple_of[i]);
        return MIXED;
    }
    for (int i = 0; i < node->children; i++) {
        tuple[i] = node_collapse(group, node->child + i, depth + 1, rc);
        same = same && tuple[i] == tuple[0];
    }
    if (same)
        return tuple[0];
    for (int i = 0; !*rc && i < node->children; i++)
        *rc = add_entry(group, node->child + i, tuple[i]);
    return MIXED;
}

static int cover_collapse(trv_group_t *group, const trv_cover_t *cover)
{
    int rc = 0;
    group->entries = 0;
    for (int i = 0; !rc && i < cover->nodes; i++) {
        const int node = group->partition->list[cover->node + i], tuple = node_collapse(group, node, 0, &rc);
        if (!rc)
            rc = add_entry(group, node, tuple);
    }
    return rc;
}

/* Appends the products of the entries with one tuple (-1: of all entries) to the pool. */
static int add_products(trv_group_t *group, int tuple)
{
    trv_space_t *space = &group->program->space;
    const int first = space->products;
    int rc = 0;
    for (int e = 0; rc >= 0 && e < group->entries; e++)
        if (tuple < 0 || group->entry[e].tuple == tuple)
            rc = trv_space_add(space, space->id + (size_t)group->entry[e].product * (size_t)space->axes);
    return rc < 0 ? rc : trv_space_join(space, first);
}

static void group_reset(trv_group_t *group)
{
    for (int i = 0; i < group->eqclasses; i++)
        group->tuple_of[group->eqclass[i]] = -1;
    group->eqclasses = group->tuples = group->entries = 0;
}

int trv_group_products(trv_group_t *group, const trv_cover_t *cover)
{
    const int first = group->program->space.products;
    int rc = cover_collapse(group, cover);
    if (!rc)
        rc = add_products(group, -1);
    group_reset(group);
    return rc < 0 ? rc : group->program->space.products - first;
}

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

/* Adds a location's container to those of the work if it has several runs. Returns the number of products that this
 * adds to the walk. */
static int work_add_container(trv_group_t *group, trv_work_t *work, trv_location_t location)
{
    trv_program_t *program = group->program;
    if (location.base != TRV_AT_SCRATCH || program->container[location.container].run)
        return 0;
    for (int i = work->walk; i < work->walk + work->walks; i++)
        if (program->walked[i] == location.container)
            return 0;
    if (trv_array_reserve(&program->walked, &group->walk_capacity, program->walks, 1, sizeof *program->walked))
        return TRV_ERR_MEMORY;
    program->walked[program->walks++] = location.container;
    work->walks++;
    return program->container[location.container].products;
}

/* Does the same for all locations of a piece. */
static int work_add_containers(trv_group_t *group, trv_work_t *work, const trv_piece_t *piece)
{
    int products = work_add_container(group, work, piece->to);
    for (int s = 0; products >= 0 && s < piece->sources; s++) {
        int added = work_add_container(group, work, group->program->source[piece->source + s]);
        products = added < 0 ? added : products + added;
    }
    return products;
}

/* Appends a piece: to the last work if both need a walk and it fits, otherwise as a new work. *walk_products is the
 * number of products in the walk of the last work; 0 if that work accepts no more pieces. */
static int add_piece(trv_group_t *group, trv_piece_t piece, int *walk_products)
{
    trv_program_t *program = group->program;
    if (trv_array_reserve(&program->piece, &group->piece_capacity, program->pieces, 1, sizeof *program->piece) ||
        trv_array_reserve(&program->work, &group->work_capacity, program->works, 1, sizeof *program->work))
        return TRV_ERR_MEMORY;
    if (*walk_products > 0) {
        trv_work_t *last = &program->work[program->works - 1], before = *last;
        int added = work_add_containers(group, last, &piece);
        if (added < 0)
            return added;
        if (before.walks > 0 && *walk_products + added + piece.products <= TRV_WALK_PRODUCTS_MAX) {
            program->piece[program->pieces++] = piece;
            last->pieces++;
            *walk_products += added + piece.products;
            return 0;
        }
        program->walks -= last->walks - before.walks;
        *last = before;
    }
    trv_work_t work = {.piece = program->pieces, .pieces = 1, .walk = program->walks};
    int walked = work_add_containers(group, &work, &piece);
    if (walked < 0)
        return walked;
    *walk_products = work.walks ? walked + piece.products : 0;
    if (*walk_products > TRV_WALK_PRODUCTS_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the schedule combines %d scattered sets of units at once, more than the executor supports",
                        piece.sources);
    program->piece[program->pieces++] = piece;
    program->work[program->works++] = work;
    return 0;
}

/* Appends the pieces of one tuple. */
static int add_tuple(trv_group_t *group, int t, int first, int count, int *walk_products)
{
    const trv_tuple_t *tuple = &group->tuple[t];
    trv_piece_t piece = {.to = tuple->to, .source = tuple->source, .sources = tuple->sources};
    int rc = 0;
    if (!trv_space_run(&group->program->space, first, count, &piece.first, &piece.units) ||
        count > TRV_PIECE_PRODUCTS_MAX)
        piece.units = 0;
    for (int i = 0; rc >= 0 && i < count; i += TRV_PIECE_PRODUCTS_MAX) {
        const int remaining = count - i;
        piece.product = first + i;
        piece.products = remaining < TRV_PIECE_PRODUCTS_MAX ? remaining : TRV_PIECE_PRODUCTS_MAX;
        rc = add_piece(group, piece, walk_products);
    }
    return rc;
}

int trv_group_flush(trv_group_t *group, const trv_cover_t *cover)
{
    trv_space_t *space = &group->program->space;
    int walk_products = 0, rc = 0, eqclasses = 0;
    for (int i = 0; i < cover->nodes; i++)
        eqclasses += group->partition->node[group->partition->list[cover->node + i]].eqclasses;
    if (group->tuples == 1 && group->eqclasses == eqclasses) {
        rc = add_tuple(group, 0, cover->product, cover->products, &walk_products);
    } else if (group->tuples > 0) {
        rc = cover_collapse(group, cover);
        for (int t = 0; rc >= 0 && t < group->tuples; t++) {
            const int first = space->products;
            rc = add_products(group, t);
            if (rc >= 0)
                rc = add_tuple(group, t, first, space->products - first, &walk_products);
        }
    }
    group_reset(group);
    return rc < 0 ? rc : 0;
}

void trv_group_clear(trv_group_t *group)
{
    free(group->tuple);
    free(group->tuple_of);
    free(group->eqclass);
    free(group->entry);
    memset(group, 0, sizeof *group);
}
