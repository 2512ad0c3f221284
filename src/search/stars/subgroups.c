/*
 * The subgroups in chains, from the whole torus down, and the steps between them.
 *
 * Subgroups that a symmetry of the torus (a permutation of dimensions of one size, a reversal of directions) maps onto
 * each other are one node, because all further steps cost the same from them; an edge records the symmetry. On tori
 * with very many subgroups, those of a size that are reached at the lowest cost are expanded first, until the work for
 * that size is used up.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/array.h"
#include "search/stars/search.h"

/* maximum number of symmetries; if there are more, none is used, because the comparisons would cost more than they
 * save */
#define SYMMETRIES_MAX 64
/* smaller subgroups tried per subgroup and factor; if there are more, a fixed selection is tried */
#define PARTS_MAX      2000
#define BUCKETS        65536 /* of the hash table of nodes */
#define NODES_PER_WORK 32    /* nodes examined, in the search for the cheapest one, per unit of work */
/* Costs by which subgroups of one size are ordered, in hops: that of a step, and that of a unit of load (for small
 * vectors). */
#define STEP_COST 7.5
#define LOAD_COST 0.1

typedef struct builder {
    trv_star_graph_t *graph;
    int node_capacity;
    int64_t edge_capacity;
    int *bucket, *next; /* hash table of nodes by their lattice; -1: none */
    trv_star_members_t members;
    trv_star_work_t work;
    int64_t all_work; /* limit of the work in total, which is divided among the sizes */
    trv_span_t part;
} builder_t;

/* ---- Members ----------------------------------------------------------------------------------------------------- */

static void members_list(builder_t *builder, const trv_lattice_t *lattice)
{
    const trv_star_displacements_t *all = &builder->graph->all;
    trv_star_members_t *members = &builder->members;
    members->count = 0;
    for (int i = 0; i < all->count; i++)
        if (trv_lattice_has(lattice, all->at[i], members->multiple[members->count]))
            members->displacement[members->count++] = i;
    builder->work.done += all->count;
}

/* ---- Symmetries -------------------------------------------------------------------------------------------------- */

/* Counts the symmetries that have the first `d` dimensions as in `symmetry`, and lists them if `to` is not NULL. The
 * first direction is never reversed, because subgroups are their own mirror images. */
static int list_symmetries(const trv_torus_t *torus, int d, trv_star_symmetry_t symmetry, trv_star_symmetry_t *to)
{
    int count = 0;
    if (d == torus->dims) {
        if (to)
            *to = symmetry;
        return 1;
    }
    for (int from = 0; from < torus->dims; from++) {
        bool used = torus->size[from] != torus->size[d];
        for (int e = 0; e < d; e++)
            used = used || symmetry.from[e] == from;
        for (int sign = 1; sign >= (d && torus->size[d] > 2 ? -1 : 1) && !used; sign -= 2) {
            symmetry.from[d] = (int8_t)from;
            symmetry.sign[d] = (int8_t)sign;
            count += list_symmetries(torus, d + 1, symmetry, to ? to + count : NULL);
            if (count > 1000)
                return count;
        }
    }
    return count;
}

static int find_symmetries(trv_star_graph_t *graph)
{
    const trv_torus_t *torus = &graph->all.torus;
    trv_star_symmetry_t none = {0};
    int count = list_symmetries(torus, 0, none, NULL);
    graph->symmetry = malloc((size_t)count * sizeof *graph->symmetry);
    if (!graph->symmetry)
        return trv_fail_memory();
    list_symmetries(torus, 0, none, graph->symmetry); /* the first is the identity */
    graph->symmetries = count > SYMMETRIES_MAX ? 1 : count;
    return TRV_OK;
}

static int compare_lattices(const trv_lattice_t *one, const trv_lattice_t *other)
{
    for (int d = 0; d < one->dims; d++)
        for (int e = d; e < one->dims; e++)
            if (one->row[d][e] != other->row[d][e])
                return one->row[d][e] < other->row[d][e] ? -1 : 1;
    return 0;
}

/* Replaces the lattice by the smallest of its images under the symmetries, and returns the index of the symmetry. */
static int smallest_image(const trv_star_graph_t *graph, trv_lattice_t *lattice)
{
    const trv_lattice_t original = *lattice;
    int smallest = 0;
    for (int g = 1; g < graph->symmetries; g++) {
        const trv_star_symmetry_t *symmetry = &graph->symmetry[g];
        trv_lattice_t image;
        int turned[TRV_DIMS_MAX];
        trv_lattice_init(&image, &graph->all.torus);
        for (int r = 0; r < original.dims; r++) {
            for (int d = 0; d < original.dims; d++)
                turned[d] = symmetry->sign[d] * original.row[r][symmetry->from[d]];
            trv_lattice_add(&image, turned);
        }
        if (compare_lattices(&image, lattice) < 0) {
            *lattice = image;
            smallest = g;
        }
    }
    return smallest;
}

/* ---- Parts: lattices of a given index ---------------------------------------------------------------------------- */

static int64_t integer_power(int64_t base, int exponent)
{
    return exponent ? base * integer_power(base, exponent - 1) : 1;
}

/* The number of normal forms of this index from dimension d on: above pivot f in dimension d there are d entries <
 * f. */
static int64_t count_parts(int dims, int d, int index)
{
    int64_t count = 0;
    if (d == dims)
        return index == 1;
    for (int f = 1; f <= index; f++)
        if (index % f == 0)
            count += integer_power(f, d) * count_parts(dims, d + 1, index / f);
    return count;
}

/* Creates the normal form with this number. */
static void make_part(trv_lattice_t *part, int dims, int index, int64_t number)
{
    memset(part, 0, sizeof *part);
    part->dims = dims;
    for (int d = 0, rest = index; d < dims; d++) {
        int f = 1;
        for (int64_t here; rest % f || number >= (here = integer_power(f, d) * count_parts(dims, d + 1, rest / f)); f++)
            number -= rest % f ? 0 : here;
        part->size[d] = index;
        part->row[d][d] = f;
        for (int e = 0; e < d; e++, number /= f)
            part->row[e][d] = (int)(number % f);
        rest /= f;
    }
}

/* Creates the subgroup whose rows are these multiples of the rows of a larger one. Returns false if its index in the
 * larger one is not that of `part`, because `part` did not contain the multiples of the sizes. */
static bool take_part(const trv_torus_t *torus, const trv_lattice_t *whole, const trv_lattice_t *part,
                      trv_lattice_t *smaller)
{
    trv_lattice_init(smaller, torus);
    for (int r = 0; r < whole->dims; r++) {
        int row[TRV_DIMS_MAX] = {0};
        for (int d = r; d < whole->dims; d++)
            for (int e = d; e < whole->dims; e++)
                row[e] = (row[e] + part->row[r][d] * whole->row[d][e]) % torus->size[e];
        trv_lattice_add(smaller, row);
    }
    return trv_lattice_index(smaller) == trv_lattice_index(whole) * trv_lattice_index(part);
}

/* ---- Nodes and edges --------------------------------------------------------------------------------------------- */

static unsigned lattice_hash(const trv_lattice_t *lattice)
{
    unsigned value = TRV_HASH_INTS_SEED;
    for (int d = 0; d < lattice->dims; d++)
        value = trv_hash_ints(value, &lattice->row[d][d], lattice->dims - d);
    return (value ^ value >> 15) % BUCKETS;
}

/* Finds the node of a lattice, or creates it. Returns -1 if out of memory. */
static int graph_find_node(builder_t *builder, const trv_lattice_t *lattice)
{
    trv_star_graph_t *graph = builder->graph;
    unsigned bucket = lattice_hash(lattice);
    for (int i = builder->bucket[bucket]; i >= 0; i = builder->next[i])
        if (compare_lattices(&graph->node[i].lattice, lattice) == 0)
            return i;
    if (graph->nodes == builder->node_capacity) {
        int capacity = 2 * builder->node_capacity;
        trv_star_node_t *node = realloc(graph->node, (size_t)capacity * sizeof *node);
        graph->node = node ? node : graph->node;
        int *next = node ? realloc(builder->next, (size_t)capacity * sizeof *next) : NULL;
        builder->next = next ? next : builder->next;
        if (!next)
            return -1;
        builder->node_capacity = capacity;
    }
    int ranks = graph->all.torus.ranks / trv_lattice_index(lattice);
    graph->node[graph->nodes] = (trv_star_node_t){*lattice, ranks, -1, 0, DBL_MAX};
    builder->next[graph->nodes] = builder->bucket[bucket];
    builder->bucket[bucket] = graph->nodes;
    return graph->nodes++;
}

/* Whether other edges lead from the node to the same target at no higher cost. */
static bool edge_is_no_better(const trv_star_graph_t *graph, const trv_star_node_t *from, const trv_star_edge_t *edge)
{
    for (int e = from->first_edge; e < graph->edges; e++) {
        const trv_star_edge_t *other = &graph->edge[e];
        int dominated = 0;
        if (other->to != edge->to)
            continue;
        for (int o = 0; o < edge->options; o++)
            for (int p = 0; p < other->options; p++)
                if (other->option[p].hops <= edge->option[o].hops && other->option[p].load <= edge->option[o].load) {
                    dominated++;
                    break;
                }
        if (dominated == edge->options)
            return true;
    }
    return false;
}

static int graph_add_edge(builder_t *builder, int from, const trv_star_edge_t *edge)
{
    trv_star_graph_t *graph = builder->graph;
    trv_star_node_t *node = &graph->node[from], *to = &graph->node[edge->to];
    double cost = node->cost + STEP_COST + edge->option[0].hops + LOAD_COST * edge->option[0].load;
    if (edge_is_no_better(graph, node, edge))
        return TRV_OK;
    to->cost = cost < to->cost ? cost : to->cost;
    if (trv_array_reserve(&graph->edge, &builder->edge_capacity, graph->edges, 1, sizeof *graph->edge))
        return TRV_ERR_MEMORY;
    graph->edge[graph->edges++] = *edge;
    node->edges++;
    return TRV_OK;
}

/* Adds the steps from one subgroup to those `factor` times smaller. If the limit of the work has been reached, it still
 * adds one. */
static int expand_by_factor(builder_t *builder, int from, int factor)
{
    trv_star_graph_t *graph = builder->graph;
    const trv_lattice_t whole = graph->node[from].lattice;
    int64_t parts = count_parts(whole.dims, 0, factor), stride = (parts + PARTS_MAX - 1) / PARTS_MAX;
    int rc = TRV_OK;
    bool found = false;
    for (int64_t number = 0; number < parts && !rc; number += stride) {
        trv_lattice_t part, smaller;
        trv_star_edge_t edge = {.factor = factor};
        if (found && builder->work.done >= builder->work.limit)
            break;
        make_part(&part, whole.dims, factor, number);
        builder->work.done += 10;
        if (!take_part(&graph->all.torus, &whole, &part, &smaller))
            continue;
        edge.options = trv_star_cosets(&graph->all, &builder->members, &part, edge.option, &builder->work);
        if (edge.options == 0)
            continue;
        builder->work.done += 10 * graph->symmetries;
        edge.symmetry = smallest_image(graph, &smaller);
        edge.to = graph_find_node(builder, &smaller);
        rc = edge.to < 0 ? trv_fail_memory() : graph_add_edge(builder, from, &edge);
        found = true;
    }
    return rc;
}

/* Sets the limit for the next part of the work: an equal share of the work that remains until `limit`, of which
 * `others` shares are left for later parts. */
static void share_work(trv_star_work_t *work, int64_t limit, int others)
{
    work->limit = limit > work->done ? work->done + (limit - work->done) / (others + 1) : work->done;
}

static int graph_expand(builder_t *builder, int from)
{
    trv_star_graph_t *graph = builder->graph;
    const int64_t limit = builder->work.limit;
    const int ranks = graph->node[from].ranks, max = trv_port_count(&graph->all.torus) + 1;
    int factors = 0, rc = TRV_OK;
    for (int factor = 2; factor <= max; factor++)
        factors += ranks % factor == 0;
    members_list(builder, &graph->node[from].lattice);
    graph->node[from].first_edge = graph->edges;
    for (int factor = 2; factor <= max && !rc; factor++)
        if (ranks % factor == 0) {
            share_work(&builder->work, limit, --factors);
            rc = expand_by_factor(builder, from, factor);
        }
    builder->work.limit = limit;
    return rc;
}

/* ---- The graph --------------------------------------------------------------------------------------------------- */

/* Expands the nodes of `ranks` ranks, the cheapest first, until the work is done; at least one. */
static int graph_expand_level(builder_t *builder, int ranks)
{
    trv_star_graph_t *graph = builder->graph;
    int nodes = graph->nodes, rc = TRV_OK; /* new nodes have fewer ranks */
    for (bool first = true; !rc && (first || builder->work.done < builder->work.limit); first = false) {
        int best = -1;
        for (int i = 0; i < nodes; i++)
            if (graph->node[i].ranks == ranks && graph->node[i].first_edge < 0 &&
                (best < 0 || graph->node[i].cost < graph->node[best].cost))
                best = i;
        if (best < 0)
            break;
        builder->work.done += nodes / NODES_PER_WORK;
        rc = trv_span_report(builder->part, (double)builder->work.done / (double)builder->all_work);
        if (!rc)
            rc = graph_expand(builder, best);
    }
    return rc;
}

static int graph_expand_all(builder_t *builder, const trv_torus_t *torus, int64_t work)
{
    int levels = 0, rc = TRV_OK;
    for (int ranks = 2; ranks <= torus->ranks; ranks++)
        levels += torus->ranks % ranks == 0;
    for (int ranks = torus->ranks; ranks > 1 && !rc; ranks--)
        if (torus->ranks % ranks == 0) {
            share_work(&builder->work, work, --levels);
            rc = graph_expand_level(builder, ranks);
        }
    return rc;
}

int trv_star_graph_create(trv_star_graph_t *graph, const trv_torus_t *torus, int64_t work, trv_span_t part)
{
    builder_t builder = {.graph = graph, .node_capacity = 64, .all_work = work, .part = part};
    static const int unit[TRV_DIMS_MAX][TRV_DIMS_MAX] = {{1},
                                                         {0, 1},
                                                         {0, 0, 1},
                                                         {0, 0, 0, 1},
                                                         {0, 0, 0, 0, 1},
                                                         {0, 0, 0, 0, 0, 1},
                                                         {0, 0, 0, 0, 0, 0, 1},
                                                         {0, 0, 0, 0, 0, 0, 0, 1}};
    trv_lattice_t whole;
    size_t ranks = (size_t)torus->ranks;
    memset(graph, 0, sizeof *graph);
    int rc = trv_star_displacements_create(&graph->all, torus);
    if (!rc)
        rc = find_symmetries(graph);
    graph->node = malloc((size_t)builder.node_capacity * sizeof *graph->node);
    builder.next = malloc((size_t)builder.node_capacity * sizeof *builder.next);
    builder.bucket = malloc(BUCKETS * sizeof *builder.bucket);
    builder.members.displacement = malloc(ranks * sizeof *builder.members.displacement);
    builder.members.multiple = malloc(ranks * sizeof *builder.members.multiple);
    if (!rc && (!graph->node || !builder.next || !builder.bucket || !builder.members.displacement ||
                !builder.members.multiple))
        rc = trv_fail_memory();
    if (!rc) {
        memset(builder.bucket, -1, BUCKETS * sizeof *builder.bucket);
        trv_lattice_init(&whole, torus);
        for (int d = 0; d < torus->dims; d++)
            trv_lattice_add(&whole, unit[d]);
        graph->node[graph_find_node(&builder, &whole)].cost = 0;
        rc = graph_expand_all(&builder, torus, work);
    }
    free(builder.next);
    free(builder.bucket);
    free(builder.members.displacement);
    free(builder.members.multiple);
    if (rc)
        trv_star_graph_clear(graph);
    return rc;
}

void trv_star_graph_clear(trv_star_graph_t *graph)
{
    trv_star_displacements_clear(&graph->all);
    free(graph->symmetry);
    free(graph->node);
    free(graph->edge);
    memset(graph, 0, sizeof *graph);
}
