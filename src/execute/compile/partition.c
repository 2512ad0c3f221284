/*
 * The partition of a slice into classes, see space.h. It is refined by splitting: a set that contains only a part of a
 * leaf splits it into the common part and at most one product per axis for the rest. A set remains the union of its
 * nodes when leaves are split further, because a node is the union of its parts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "base/error.h"
#include "base/hash.h"
#include "execute/compile/program.h"
#include "base/array.h"
#include "execute/compile/space.h"
#include "schedule/collective.h"

static const int *sets_of(const trv_partition_t *p, int product)
{
    return p->space->id + (size_t)product * (size_t)p->space->axes;
}

/* ---- Splitting --------------------------------------------------------------------------------------------------- */

static int node_create(trv_partition_t *p, int product)
{
    if (product < 0 || trv_array_reserve(&p->node, &p->node_capacity, p->nodes, 1, sizeof *p->node))
        return TRV_ERR_MEMORY;
    p->node[p->nodes] = (trv_node_t){.product = product};
    return p->nodes++;
}

static int list_append(trv_partition_t *p, int node)
{
    if (trv_array_reserve(&p->list, &p->list_capacity, p->listed, 1, sizeof *p->list))
        return TRV_ERR_MEMORY;
    p->list[p->listed++] = node;
    return 0;
}

/* Splits a leaf into `shared`, which is a part of it, and the rest. */
static int node_split(trv_partition_t *p, int node, const int *shared)
{
    const int axes = p->space->axes;
    int whole[TRV_SPACE_AXES_MAX], piece[TRV_SPACE_AXES_MAX];
    memcpy(whole, sets_of(p, p->node[node].product), (size_t)axes * sizeof *whole);
    memcpy(piece, whole, sizeof piece);
    int first = node_create(p, trv_space_add(p->space, shared));
    for (int i = 0; first >= 0 && i < axes; i++) {
        if (whole[i] == shared[i])
            continue;
        piece[i] = trv_sets_difference(&p->space->sets, whole[i], shared[i]);
        int added = piece[i] < 0 ? piece[i] : node_create(p, trv_space_add(p->space, piece));
        if (added < 0)
            return added;
        p->last_rest = added;
        piece[i] = shared[i];
    }
    if (first < 0)
        return first;
    p->node[node].child = first;
    p->node[node].children = p->nodes - first;
    return 0;
}

/* Computes the intersection of a node and the product `id`. Returns 0 if it is empty, 1 if it is a part of the node, 2
 * if it is the whole node, or an error. */
static int intersect(trv_partition_t *p, int node, const int *id, int *shared)
{
    const int product = p->node[node].product;
    bool inside = true;
    for (int i = 0; i < p->space->axes; i++) {
        const int mine = sets_of(p, product)[i];
        shared[i] = trv_sets_intersection(&p->space->sets, mine, id[i]);
        if (shared[i] <= 0)
            return shared[i]; /* empty, or an error */
        inside = inside && shared[i] == mine;
    }
    return inside ? 2 : 1;
}

/* Lists the nodes under `node` whose union is its intersection with the product `id`, and splits leaves where
 * necessary. The rest of a split is the last part of a node; chains of such rests can be long, so they are followed
 * without recursion. */
static int cover_under(trv_partition_t *p, int node, const int *id)
{
    int shared[TRV_SPACE_AXES_MAX];
    for (;;) {
        int rc = intersect(p, node, id, shared);
        if (rc <= 0)
            return rc;
        if (rc == 2)
            return list_append(p, node);
        if (!p->node[node].children) {
            rc = node_split(p, node, shared);
            return rc < 0 ? rc : list_append(p, p->node[node].child);
        }
        const int child = p->node[node].child, last = child + p->node[node].children - 1;
        for (int c = child; c < last; c++)
            if ((rc = cover_under(p, c, id)) < 0)
                return rc;
        node = last;
    }
}

/* Lists the nodes of a product. Most products are in the rest of the last split, so that is tried first. */
static int cover_product(trv_partition_t *p, int product)
{
    int id[TRV_SPACE_AXES_MAX], from = p->last_rest;
    memcpy(id, sets_of(p, product), (size_t)p->space->axes * sizeof *id);
    for (int i = 0; from && i < p->space->axes; i++) {
        int shared = trv_sets_intersection(&p->space->sets, sets_of(p, p->node[p->last_rest].product)[i], id[i]);
        if (shared < 0)
            return shared;
        if (shared != id[i])
            from = 0;
    }
    return cover_under(p, from, id);
}

/* ---- Covers ------------------------------------------------------------------------------------------------------ */

static unsigned hash_of(const trv_partition_t *p, int product, int products)
{
    const unsigned h = trv_hash_ints(TRV_HASH_INTS_SEED, sets_of(p, product), products * p->space->axes);
    return h ^ h >> 15;
}

/* Doubles the number of buckets. */
static int grow_buckets(trv_partition_t *p)
{
    const int buckets = p->buckets ? 2 * p->buckets : 256;
    int *bucket = malloc((size_t)buckets * sizeof *bucket);
    if (!bucket)
        return trv_fail_memory();
    memset(bucket, 0xff, (size_t)buckets * sizeof *bucket);
    free(p->bucket);
    p->bucket = bucket;
    p->buckets = buckets;
    for (int i = 0; i < p->covers; i++) {
        int *head = &bucket[hash_of(p, p->cover[i].product, p->cover[i].products) % (unsigned)buckets];
        p->cover[i].next = *head;
        *head = i;
    }
    return 0;
}

/* The cover of the products from `product` to the end of the pool. */
static int find_cover(trv_partition_t *p, int product)
{
    const int products = p->space->products - product;
    const size_t bytes = (size_t)products * (size_t)p->space->axes * sizeof(int);
    if (p->covers >= p->buckets && grow_buckets(p))
        return TRV_ERR_MEMORY;
    int *head = &p->bucket[hash_of(p, product, products) % (unsigned)p->buckets];
    for (int i = *head; i >= 0; i = p->cover[i].next)
        if (p->cover[i].products == products &&
            (bytes == 0 || memcmp(sets_of(p, p->cover[i].product), sets_of(p, product), bytes) == 0)) {
            p->space->products = product;
            return i;
        }
    if (trv_array_reserve(&p->cover, &p->cover_capacity, p->covers, 1, sizeof *p->cover))
        return TRV_ERR_MEMORY;
    trv_cover_t cover = {product, products, p->listed, 0, *head};
    for (int i = 0; i < products; i++) {
        int rc = cover_product(p, product + i);
        if (rc < 0)
            return rc;
    }
    cover.nodes = p->listed - cover.node;
    p->cover[p->covers] = cover;
    return *head = p->covers++;
}

/* ---- Sets of the schedule ---------------------------------------------------------------------------------------- */

/* Adds a set on the one axis of a flat space. */
static int add_flat(trv_partition_t *p, const trv_blocks_t *blocks)
{
    const int64_t count = trv_blocks_count(blocks);
    if (trv_array_reserve(&p->unit, &p->unit_capacity, 0, count, sizeof *p->unit))
        return TRV_ERR_MEMORY;
    trv_blocks_list(blocks, p->unit);
    int ranges = 0;
    for (int64_t i = 0; i < count; i++) {
        if (p->unit[i] >= p->space->units)
            return trv_fail(TRV_ERR_INVALID, "'%s' names unit %lld, but has %lld units", trv_schedule_name(p->schedule),
                            (long long)p->unit[i], (long long)p->space->units);
        if (p->position)
            p->unit[i] = p->position[p->unit[i]];
    }
    if (p->position)
        qsort(p->unit, (size_t)count, sizeof *p->unit, trv_compare_int64);
    if (trv_array_reserve(&p->bound, &p->bound_capacity, 0, 2 * (int)count, sizeof *p->bound))
        return TRV_ERR_MEMORY;
    for (int64_t i = 0; i < count; i++)
        if (ranges && p->bound[2 * ranges - 1] == p->unit[i]) {
            p->bound[2 * ranges - 1]++;
        } else {
            p->bound[2 * ranges] = (int)p->unit[i];
            p->bound[2 * ranges++ + 1] = (int)p->unit[i] + 1;
        }
    int set = trv_sets_add(&p->space->sets, p->bound, ranges);
    return set <= 0 ? set : trv_space_add(p->space, &set);
}

/* If the values are all coordinates of the form r + i * m, returns m; otherwise 0. Such values agree in the lower
 * digits of the coordinate. */
static int common_modulus(const int *value, int count, int size)
{
    const int modulus = size / count;
    if (modulus * count != size || value[0] >= modulus)
        return 0;
    for (int i = 1; i < count; i++)
        if (value[i] != value[0] + i * modulus)
            return 0;
    return modulus;
}

/* The set of an axis that corresponds to a product's values; negative if they are not a product along the axes. */
static int axis_set(trv_partition_t *p, int i, const int *value, int count)
{
    const trv_axis_t *axis = &p->axis[i];
    const int size = trv_schedule_space(p->schedule)->size[axis->dimension];
    if (!value || count == size)
        return p->space->full[i];
    if (axis->divisor == 1 && axis->size == size)
        return trv_sets_values(&p->space->sets, value, count);
    const int modulus = common_modulus(value, count, size);
    if (modulus == 0 || (modulus > axis->divisor && modulus % (axis->divisor * axis->size)))
        return -1;
    if (modulus <= axis->divisor)
        return p->space->full[i];
    const int digit = value[0] / axis->divisor % axis->size;
    return trv_sets_range(&p->space->sets, digit, digit + 1);
}

static int add_product(trv_partition_t *p, const trv_product_t *product, int halves, bool *needs_flat)
{
    int id[TRV_SPACE_AXES_MAX];
    *needs_flat = product->shifts > 0;
    for (int i = 0; i < p->schedule_axes && !*needs_flat; i++) {
        const int d = p->axis[i].dimension;
        if (product->count[d] == 0)
            return 0;
        id[i] = axis_set(p, i, product->value[d], product->count[d]);
        *needs_flat = id[i] < 0;
    }
    if (*needs_flat)
        return 0;
    if (p->space->axes > p->schedule_axes) {
        const int first = product->halves & 1 ? 0 : 1, last = product->halves & 2 && halves > 1 ? 2 : 1;
        id[p->schedule_axes] = trv_sets_range(&p->space->sets, first, last);
    }
    return trv_space_add(p->space, id);
}

int trv_partition_cover(trv_partition_t *p, const trv_blocks_t *blocks, bool *needs_flat)
{
    const int product = p->space->products;
    int rc = 0;
    *needs_flat = false;
    if (p->flat)
        rc = add_flat(p, blocks);
    for (int t = 0; !p->flat && rc >= 0 && t < blocks->terms && !*needs_flat; t++)
        rc = add_product(p, &blocks->term[t], blocks->halves, needs_flat);
    if (rc >= 0 && !*needs_flat)
        rc = trv_space_join(p->space, product);
    return rc < 0 || *needs_flat ? rc : find_cover(p, product);
}

int trv_partition_run(trv_partition_t *p, int64_t first, int64_t units, bool *needs_flat)
{
    int id[TRV_SPACE_AXES_MAX];
    const int product = p->space->products;
    *needs_flat = false;
    for (int i = 0; i < p->space->axes; i++) {
        const int64_t weight = p->space->weight[i], at = first / weight % p->space->size[i];
        const int64_t end = units >= weight ? at + units / weight : at + 1;
        if (weight * p->space->size[i] <= units) {
            id[i] = p->space->full[i];
            continue;
        }
        *needs_flat = end > p->space->size[i] || (units >= weight && (units % weight || first % weight));
        if (*needs_flat)
            return 0;
        id[i] = trv_sets_range(&p->space->sets, (int)at, (int)end);
    }
    int added = trv_space_add(p->space, id);
    return added < 0 ? added : find_cover(p, product);
}

/* ---- Beginning and end ------------------------------------------------------------------------------------------- */

/* Lists the position of every unit, for positions that do not follow the axes. */
static int list_positions(trv_partition_t *p)
{
    const int64_t units = p->space->units;
    p->position = malloc((size_t)units * sizeof *p->position);
    p->order = malloc((size_t)units * sizeof *p->order);
    if (!p->position || !p->order)
        return trv_fail_memory();
    memset(p->order, 0xff, (size_t)units * sizeof *p->order);
    for (int64_t u = 0; u < units; u++) {
        int64_t at = trv_schedule_position(p->schedule, p->stream, u);
        if (at < 0 || at >= units || p->order[at] >= 0)
            return trv_fail(TRV_ERR_INVALID, "the positions of '%s' are not a permutation: unit %lld has position %lld",
                            trv_schedule_name(p->schedule), (long long)u, (long long)at);
        p->order[at] = u;
        p->position[u] = at;
    }
    return 0;
}

int trv_partition_begin(trv_partition_t *p, trv_space_t *space, const trv_schedule_t *schedule, int stream, bool flat)
{
    *p = (trv_partition_t){.space = space, .schedule = schedule, .stream = stream};
    memset(space, 0, sizeof *space);
    space->units = trv_schedule_units(schedule);
    if (space->units > INT32_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED, "'%s' has %lld units; a plan supports at most %d",
                        trv_schedule_name(schedule), (long long)space->units, INT32_MAX);
    p->schedule_axes = flat ? 0 : trv_schedule_axes(schedule, stream, p->axis);
    p->flat = p->schedule_axes == 0;
    for (int i = 0; i < p->schedule_axes; i++)
        space->size[space->axes++] = p->axis[i].size;
    if (p->flat)
        space->size[space->axes++] = (int)space->units;
    else if (trv_schedule_halves(schedule) > 1)
        space->size[space->axes++] = trv_schedule_halves(schedule);
    int rc = trv_sets_begin(&space->sets);
    int64_t weight = 1;
    for (int i = space->axes - 1; rc >= 0 && i >= 0; i--) {
        space->weight[i] = weight;
        weight *= space->size[i];
        rc = space->full[i] = trv_sets_range(&space->sets, 0, space->size[i]);
    }
    if (rc >= 0)
        rc = node_create(p, trv_space_add(space, space->full));
    if (rc >= 0 && p->flat && !trv_collective_has_blocks(trv_schedule_collective(schedule)))
        rc = list_positions(p);
    return rc < 0 ? rc : 0;
}

/* Children have higher numbers than their parents, so a pass in descending order counts the leaves and one in ascending
 * order numbers them. */
int trv_partition_end(trv_partition_t *p)
{
    for (int i = p->nodes - 1; i >= 0; i--) {
        trv_node_t *node = &p->node[i];
        node->eqclasses = !node->children;
        for (int c = 0; c < node->children; c++)
            node->eqclasses += p->node[node->child + c].eqclasses;
    }
    p->eqclasses = p->node[0].eqclasses;
    p->leaf = malloc((size_t)p->eqclasses * sizeof *p->leaf);
    if (!p->leaf)
        return trv_fail_memory();
    for (int i = 0; i < p->nodes; i++) {
        int eqclass = p->node[i].eqclass;
        if (!p->node[i].children)
            p->leaf[eqclass] = i;
        for (int c = 0; c < p->node[i].children; c++) {
            p->node[p->node[i].child + c].eqclass = eqclass;
            eqclass += p->node[p->node[i].child + c].eqclasses;
        }
    }
    return 0;
}

int64_t trv_partition_unit(const trv_partition_t *p, int64_t position)
{
    if (p->flat)
        return p->order ? p->order[position] : position;
    int coordinate[TRV_DIMS_MAX] = {0};
    for (int i = 0; i < p->schedule_axes; i++) {
        const int digit = (int)(position / p->space->weight[i] % p->space->size[i]);
        coordinate[p->axis[i].dimension] += digit * p->axis[i].divisor;
    }
    const int halves = trv_schedule_halves(p->schedule);
    return (int64_t)trv_torus_rank(trv_schedule_space(p->schedule), coordinate) * halves + position % halves;
}

void trv_partition_clear(trv_partition_t *p)
{
    free(p->position);
    free(p->order);
    free(p->node);
    free(p->list);
    free(p->leaf);
    free(p->bucket);
    free(p->cover);
    free(p->unit);
    free(p->bound);
    memset(p, 0, sizeof *p);
}
