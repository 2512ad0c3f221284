/*
 * Balanced spanning trees, see balanced_trees.h. All ranks of a job compute the same trees: lengths result from
 * operations that IEEE 754 rounds in the same way on every machine, and the order of insertion decides between equal
 * lengths.
 */
#include "algorithms/builders/balanced_trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/builders/links.h"
#include "algorithms/builders/tree_cache.h"
#include "base/error.h"

#define ROUNDS_MIN   4
#define ROUNDS_MAX   (2 * FLATNESS)
#define WORK         1.5e6 /* links of all trees in all rounds, beyond ROUNDS_MIN */
#define LENGTH_MAX   500   /* exponent */
#define FLATNESS     8     /* a level of a tree is as long as a link of average load, times 2^-FLATNESS … 1/2 */
#define DEPTH_WEIGHT 100   /* trees are compared as if the vector had twice this number of chunks */

typedef struct frontier {
    double length;
    int order; /* of insertion, which decides between equal lengths */
    int rank;
    trv_tree_edge_t edge;
} frontier_edge_t;

typedef struct balance {
    int trees, ranks, ports;
    trv_links_t links; /* without those that are cut in a direction; with the slowness of the slower one */
    int *load;         /* per link in direction +: trees on it */
    trv_tree_edge_t *edge, *best;
    double level; /* added to a link's length for each level of the tree above it; differs between rounds */
    /* of one tree: */
    bool *reached;
    double *length;            /* of the shortest frontier edge to the rank */
    frontier_edge_t *frontier; /* a binary heap */
    int frontier_edges, inserted;
    int *queue;
    trv_tree_edge_t *rerooted;
} balance_t;

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static int link_of(const balance_t *b, int rank, int port) { return trv_link_of(&b->links, rank, port); }

/* The number under which both directions of a link are counted. */
static int link_behind(const balance_t *b, int rank, int port)
{
    const int link = link_of(b, rank, port);
    return trv_port_sign(port) > 0 ? link : trv_link_reverse(&b->links, link);
}

/* Gives both directions of a link the larger slowness, and removes links that are cut in either. */
static void join_directions(trv_links_t *links)
{
    for (int link = 0; link < links->ranks * links->ports; link += 2) {
        if (links->neighbour[link] < 0)
            continue;
        const int reverse = trv_link_reverse(links, link);
        const double slowest = fmax(links->slowness[link], links->slowness[reverse]);
        links->slowness[link] = links->slowness[reverse] = slowest;
        if (isinf(slowest))
            links->neighbour[link] = links->neighbour[reverse] = -1;
    }
}

static double links_capacity(const balance_t *b)
{
    double capacity = 0;
    for (int rank = 0; rank < b->ranks; rank++)
        for (int port = 0; port < b->ports; port += 2)
            if (b->links.neighbour[link_of(b, rank, port)] >= 0)
                capacity += 1 / b->links.slowness[link_of(b, rank, port)];
    return capacity;
}

static void add_load(balance_t *b, const trv_tree_edge_t *tree, int trees)
{
    for (int rank = 0; rank < b->ranks; rank++)
        if (tree[rank].parent >= 0)
            b->load[link_behind(b, tree[rank].parent, tree[rank].port)] += trees;
}

static double busiest_link(const balance_t *b)
{
    double busiest = 0;
    for (int rank = 0; rank < b->ranks; rank++)
        for (int port = 0; port < b->ports; port += 2)
            if (b->links.neighbour[link_of(b, rank, port)] >= 0) {
                const int link = link_of(b, rank, port);
                busiest = fmax(busiest, b->load[link] * b->links.slowness[link]);
            }
    return busiest / b->trees;
}

/* ---- One tree ---------------------------------------------------------------------------------------------------- */

static bool edge_less(const frontier_edge_t *a, const frontier_edge_t *b)
{
    return a->length != b->length ? a->length < b->length : a->order < b->order;
}

static void frontier_push(balance_t *b, frontier_edge_t added)
{
    int at = b->frontier_edges++;
    for (; at > 0 && edge_less(&added, &b->frontier[(at - 1) / 2]); at = (at - 1) / 2)
        b->frontier[at] = b->frontier[(at - 1) / 2];
    b->frontier[at] = added;
}

static frontier_edge_t frontier_pop(balance_t *b)
{
    const frontier_edge_t first = b->frontier[0], last = b->frontier[--b->frontier_edges];
    int at = 0;
    for (int child; (child = 2 * at + 1) < b->frontier_edges; at = child) {
        if (child + 1 < b->frontier_edges && edge_less(&b->frontier[child + 1], &b->frontier[child]))
            child++;
        if (!edge_less(&b->frontier[child], &last))
            break;
        b->frontier[at] = b->frontier[child];
    }
    b->frontier[at] = last;
    return first;
}

/* Adds the links of a rank that has joined the tree. One more tree on a link doubles its length. */
static void tree_add_links(balance_t *b, int rank, int depth)
{
    for (int port = 0; port < b->ports; port++) {
        const int to = b->links.neighbour[link_of(b, rank, port)];
        if (to < 0 || b->reached[to])
            continue;
        const int link = link_behind(b, rank, port);
        const double exponent = fmin(LENGTH_MAX, round((b->load[link] + 1) * b->links.slowness[link]));
        const double length = ldexp(1, (int)exponent) + b->level * (depth + 1);
        if (length >= b->length[to])
            continue;
        b->length[to] = length;
        frontier_push(b, (frontier_edge_t){length, b->inserted++, to, {rank, depth, port}});
    }
}

/* Grows a tree of minimum length from a root. Returns the number of ranks that it reaches. */
static int tree_grow(balance_t *b, int root, trv_tree_edge_t *tree)
{
    int ranks = 1;
    for (int rank = 0; rank < b->ranks; rank++) {
        b->reached[rank] = rank == root;
        b->length[rank] = INFINITY;
    }
    b->frontier_edges = b->inserted = 0;
    tree[root] = (trv_tree_edge_t){.parent = -1};
    tree_add_links(b, root, 0);
    while (b->frontier_edges > 0) {
        const frontier_edge_t next = frontier_pop(b);
        if (b->reached[next.rank])
            continue;
        b->reached[next.rank] = true;
        tree[next.rank] = next.edge;
        ranks++;
        tree_add_links(b, next.rank, next.edge.step + 1);
    }
    return ranks;
}

/* Whether the tree has the link behind a port of `rank`. */
static bool tree_has(const balance_t *b, const trv_tree_edge_t *tree, int rank, int port)
{
    const int other = b->links.neighbour[link_of(b, rank, port)];
    return other >= 0 && ((tree[other].parent == rank && tree[other].port == port) ||
                          (tree[rank].parent == other && tree[rank].port == trv_port_opposite(port)));
}

/* Makes `root` the root of the tree. Returns the rank that is farthest from it. */
static int tree_reroot(balance_t *b, int root, trv_tree_edge_t *tree)
{
    int queued = 0;
    for (int rank = 0; rank < b->ranks; rank++)
        b->reached[rank] = rank == root;
    b->rerooted[root] = (trv_tree_edge_t){.parent = -1, .step = -1};
    b->queue[queued++] = root;
    for (int i = 0; i < queued; i++)
        for (int port = 0; port < b->ports; port++) {
            const int rank = b->queue[i], to = b->links.neighbour[link_of(b, rank, port)];
            if (!tree_has(b, tree, rank, port) || b->reached[to])
                continue;
            b->reached[to] = true;
            b->rerooted[to] = (trv_tree_edge_t){rank, b->rerooted[rank].step + 1, port};
            b->queue[queued++] = to;
        }
    memcpy(tree, b->rerooted, (size_t)b->ranks * sizeof *tree);
    tree[root].step = 0;
    return b->queue[queued - 1];
}

/* Makes the middle of the longest path the root. Returns it. */
static int tree_centre(balance_t *b, int root, trv_tree_edge_t *tree)
{
    const int begin = tree_reroot(b, root, tree);
    int middle = tree_reroot(b, begin, tree);
    for (int up = (tree[middle].step + 1) / 2; up > 0; up--)
        middle = tree[middle].parent;
    (void)tree_reroot(b, middle, tree);
    return middle;
}

/* ---- All trees --------------------------------------------------------------------------------------------------- */

/* Replaces every tree once by one of minimum length. */
static int replace_trees(balance_t *b, bool first)
{
    for (int t = 0; t < b->trees; t++) {
        trv_tree_edge_t *tree = b->edge + (size_t)t * (size_t)b->ranks;
        int root = (int)((int64_t)t * b->ranks / b->trees);
        if (!first) {
            add_load(b, tree, -1);
            for (root = 0; tree[root].parent >= 0;)
                root++;
        }
        if (tree_grow(b, root, tree) < b->ranks)
            return trv_fail(TRV_ERR_UNSUPPORTED,
                            "spanning trees consist of links that are whole in both directions, and these do not "
                            "connect rank %d with all ranks",
                            root);
        (void)tree_centre(b, root, tree);
        add_load(b, tree, 1);
    }
    return TRV_OK;
}

/* Keeps the best trees of all rounds: those with the shortest time, which grows with the load of the busiest link and
 * with the depth of the deepest tree. */
static int balance_trees(balance_t *b)
{
    const double links = (double)b->ranks * b->ports / 2 * b->trees;
    const int rounds = (int)fmin(ROUNDS_MAX, ROUNDS_MIN + WORK / links);
    const double average = b->trees * (b->ranks - 1.0) / fmax(1, links_capacity(b));
    double best = INFINITY;
    int rc = TRV_OK;
    for (int round = 0; round < rounds && !rc; round++) {
        b->level = ldexp(1, (int)fmin(LENGTH_MAX, average) - 1 - FLATNESS + round % FLATNESS);
        rc = replace_trees(b, round == 0);
        const int depth = rc ? 0 : trv_spanning_depth(b->ranks, b->trees, b->edge);
        const double time = rc ? INFINITY : busiest_link(b) * (depth + DEPTH_WEIGHT);
        if (time < best) {
            best = time;
            memcpy(b->best, b->edge, (size_t)b->trees * (size_t)b->ranks * sizeof *b->edge);
        }
    }
    return rc;
}

static int balance_create(balance_t *b, const trv_network_t *network, int trees)
{
    const size_t ranks = (size_t)network->torus.ranks, ports = (size_t)trv_port_count(&network->torus);
    *b = (balance_t){.trees = trees, .ranks = network->torus.ranks, .ports = (int)ports};
    b->load = calloc(ranks * ports, sizeof *b->load);
    b->edge = malloc((size_t)trees * ranks * sizeof *b->edge);
    b->best = malloc((size_t)trees * ranks * sizeof *b->best);
    b->reached = malloc(ranks * sizeof *b->reached);
    b->length = malloc(ranks * sizeof *b->length);
    b->frontier = malloc(ranks * ports * sizeof *b->frontier);
    b->queue = malloc(ranks * sizeof *b->queue);
    b->rerooted = malloc(ranks * sizeof *b->rerooted);
    const bool complete = b->load && b->edge && b->best && b->reached && b->length && b->frontier && b->queue &&
                          b->rerooted;
    const int rc = complete ? trv_links_create(&b->links, network) : trv_fail_memory();
    if (!rc)
        join_directions(&b->links);
    return rc;
}

static void balance_destroy(balance_t *b)
{
    trv_links_clear(&b->links);
    free(b->load);
    free(b->edge);
    free(b->best);
    free(b->reached);
    free(b->length);
    free(b->frontier);
    free(b->queue);
    free(b->rerooted);
}

static int search_trees(const trv_tree_search_t *search, trv_tree_edge_t **edge)
{
    balance_t balance;
    int rc = balance_create(&balance, search->network, search->key[0]);
    if (!rc)
        rc = balance_trees(&balance);
    if (!rc) {
        *edge = balance.best;
        balance.best = NULL;
    }
    balance_destroy(&balance);
    return rc ? rc : search->key[0];
}

int trv_balanced_trees_find(const trv_network_t *network, int trees, trv_tree_edge_t **edge)
{
    const trv_tree_search_t search = {network, {trees, 0}, search_trees};
    const int found = trv_tree_cache_find(&search, edge);
    return found < 0 ? found : TRV_OK;
}

int trv_balanced_trees_load(const trv_network_t *network, int trees, const trv_tree_edge_t *edge, double *load)
{
    balance_t balance;
    int rc = balance_create(&balance, network, trees);
    if (!rc) {
        for (int t = 0; t < trees; t++)
            add_load(&balance, edge + (size_t)t * (size_t)balance.ranks, 1);
        *load = busiest_link(&balance);
    }
    balance_destroy(&balance);
    return rc;
}
