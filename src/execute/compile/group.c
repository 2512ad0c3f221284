/*
 * Groups of work, see group.h. Atoms with the same operands (a *tuple*) become one piece, and their products are joined
 * where possible. A piece whose operands are all in the user's buffers, or in containers that are one run of positions,
 * becomes a separate work. The other pieces access containers of several runs and need a walk (walk.h); as many of them
 * share one work as the bit masks of a walk allow.
 */
#include "execute/compile/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"

static bool same_place(trv_place_t a, trv_place_t b) { return a.base == b.base && a.container == b.container; }

int trv_group_make(trv_group_t *group, trv_program_t *program, const trv_partition_t *partition)
{
    const size_t atoms = (size_t)partition->atoms;
    *group = (trv_group_t){.program = program, .partition = partition};
    group->of = malloc(atoms * sizeof *group->of);
    group->atom = malloc(atoms * sizeof *group->atom);
    if (!group->of || !group->atom)
        return trv_fail_memory();
    memset(group->of, 0xff, atoms * sizeof *group->of);
    return 0;
}

static bool is_tuple(const trv_group_t *group, int t, trv_place_t to, const trv_place_t *source, int sources)
{
    const trv_tuple_t *tuple = &group->tuple[t];
    bool same = tuple->sources == sources && same_place(tuple->to, to);
    for (int s = 0; same && s < sources; s++)
        same = same_place(group->program->source[tuple->source + s], source[s]);
    return same;
}

int trv_group_add(trv_group_t *group, int atom, trv_place_t to, const trv_place_t *source, int sources)
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
    group->of[atom] = t;
    group->atom[group->atoms++] = atom;
    return 0;
}

/* ---- From atoms to products -------------------------------------------------------------------------------------- */

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

/* Returns the tuple that all atoms under a node have. If they have several, appends the largest nodes below it whose
 * atoms have one tuple to group->entry, and returns MIXED. At DEPTH_MAX the atoms are appended one by one. *rc: set on
 * error. */
static int collapse(trv_group_t *group, int number, int depth, int *rc)
{
    const trv_node_t *node = &group->partition->node[number];
    int tuple[TRV_SPACE_AXES_MAX + 1];
    bool same = true;
    if (!node->children)
        return group->of[node->atom];
    if (depth == DEPTH_MAX) {
        for (int i = node->atom; !*rc && i < node->atom + node->atoms; i++)
            *rc = add_entry(group, group->partition->leaf[i], group->of[i]);
        return MIXED;
    }
    for (int i = 0; i < node->children; i++) {
        tuple[i] = collapse(group, node->child + i, depth + 1, rc);
        same = same && tuple[i] == tuple[0];
    }
    if (same)
        return tuple[0];
    for (int i = 0; !*rc && i < node->children; i++)
        *rc = add_entry(group, node->child + i, tuple[i]);
    return MIXED;
}

static int collapse_cover(trv_group_t *group, const trv_cover_t *cover)
{
    int rc = 0;
    group->entries = 0;
    for (int i = 0; !rc && i < cover->nodes; i++) {
        const int node = group->partition->list[cover->node + i], tuple = collapse(group, node, 0, &rc);
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

static void reset(trv_group_t *group)
{
    for (int i = 0; i < group->atoms; i++)
        group->of[group->atom[i]] = -1;
    group->atoms = group->tuples = group->entries = 0;
}

int trv_group_products(trv_group_t *group, const trv_cover_t *cover)
{
    const int first = group->program->space.products;
    int rc = collapse_cover(group, cover);
    if (!rc)
        rc = add_products(group, -1);
    reset(group);
    return rc < 0 ? rc : group->program->space.products - first;
}

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

/* Adds a place's container to those of the work if it has several runs. Returns the number of products that this adds
 * to the walk. */
static int walk_along(trv_group_t *group, trv_work_t *work, trv_place_t place)
{
    trv_program_t *program = group->program;
    if (place.base != TRV_AT_SCRATCH || program->container[place.container].run)
        return 0;
    for (int i = work->walk; i < work->walk + work->walks; i++)
        if (program->walked[i] == place.container)
            return 0;
    if (trv_array_reserve(&program->walked, &group->walk_capacity, program->walks, 1, sizeof *program->walked))
        return TRV_ERR_MEMORY;
    program->walked[program->walks++] = place.container;
    work->walks++;
    return program->container[place.container].products;
}

/* Does the same for all places of a piece. */
static int walk_piece(trv_group_t *group, trv_work_t *work, const trv_piece_t *piece)
{
    int products = walk_along(group, work, piece->to);
    for (int s = 0; products >= 0 && s < piece->sources; s++) {
        int more = walk_along(group, work, group->program->source[piece->source + s]);
        products = more < 0 ? more : products + more;
    }
    return products;
}

/* Appends a piece: to the last work if both need a walk and it fits, otherwise as a new work. *used is the
 * number of products in the walk of the last work; 0 if that work accepts no more pieces. */
static int add_piece(trv_group_t *group, trv_piece_t piece, int *used)
{
    trv_program_t *program = group->program;
    if (trv_array_reserve(&program->piece, &group->piece_capacity, program->pieces, 1, sizeof *program->piece) ||
        trv_array_reserve(&program->work, &group->work_capacity, program->works, 1, sizeof *program->work))
        return TRV_ERR_MEMORY;
    if (*used > 0) {
        trv_work_t *last = &program->work[program->works - 1], before = *last;
        int more = walk_piece(group, last, &piece);
        if (more < 0)
            return more;
        if (before.walks > 0 && *used + more + piece.products <= TRV_WALK_PRODUCTS_MAX) {
            program->piece[program->pieces++] = piece;
            last->pieces++;
            *used += more + piece.products;
            return 0;
        }
        program->walks -= last->walks - before.walks;
        *last = before;
    }
    trv_work_t work = {.piece = program->pieces, .pieces = 1, .walk = program->walks};
    int walked = walk_piece(group, &work, &piece);
    if (walked < 0)
        return walked;
    *used = work.walks ? walked + piece.products : 0;
    if (*used > TRV_WALK_PRODUCTS_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the schedule adds up %d scattered sets of units at once, more than an "
                        "executor can",
                        piece.sources);
    program->piece[program->pieces++] = piece;
    program->work[program->works++] = work;
    return 0;
}

/* Appends the pieces of one tuple. */
static int add_tuple(trv_group_t *group, int t, int first, int count, int *used)
{
    const trv_tuple_t *tuple = &group->tuple[t];
    trv_piece_t piece = {.to = tuple->to, .source = tuple->source, .sources = tuple->sources};
    int rc = 0;
    if (!trv_space_run(&group->program->space, first, count, &piece.first, &piece.units) ||
        count > TRV_PIECE_PRODUCTS_MAX)
        piece.units = 0;
    for (int i = 0; rc >= 0 && i < count; i += TRV_PIECE_PRODUCTS_MAX) {
        const int left = count - i;
        piece.product = first + i;
        piece.products = left < TRV_PIECE_PRODUCTS_MAX ? left : TRV_PIECE_PRODUCTS_MAX;
        rc = add_piece(group, piece, used);
    }
    return rc;
}

int trv_group_end(trv_group_t *group, const trv_cover_t *cover)
{
    trv_space_t *space = &group->program->space;
    int used = 0, rc = 0, atoms = 0;
    for (int i = 0; i < cover->nodes; i++)
        atoms += group->partition->node[group->partition->list[cover->node + i]].atoms;
    if (group->tuples == 1 && group->atoms == atoms) {
        rc = add_tuple(group, 0, cover->product, cover->products, &used);
    } else if (group->tuples > 0) {
        rc = collapse_cover(group, cover);
        for (int t = 0; rc >= 0 && t < group->tuples; t++) {
            const int first = space->products;
            rc = add_products(group, t);
            if (rc >= 0)
                rc = add_tuple(group, t, first, space->products - first, &used);
        }
    }
    reset(group);
    return rc < 0 ? rc : 0;
}

void trv_group_clear(trv_group_t *group)
{
    free(group->tuple);
    free(group->of);
    free(group->atom);
    free(group->entry);
    memset(group, 0, sizeof *group);
}
