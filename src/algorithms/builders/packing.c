/*
 * Packing of spanning trees, see packing.h. Trees grow in turn, by the links of their ranks in the order in which these
 * were reached, so that all of them stay flat.
 */
#include "algorithms/builders/packing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/builders/links.h"
#include "algorithms/builders/tree_cache.h"
#include "base/error.h"
#include "torus/rows.h"
#include "torus/torus.h"

/* How a path continues from a rank that the search has visited. */
typedef enum via { VIA_NONE, VIA_LINK, VIA_CANCEL, VIA_TREE, VIA_END } via_t;

typedef struct candidate {
    int rank, port;
} candidate_t;

typedef struct tree {
    trv_tree_edge_t *edge;  /* per rank */
    bool *has;              /* per rank: it belongs to the tree */
    candidate_t *candidate; /* links that leave ranks of the tree, a circular queue */
    int first, count;       /* of the queue */
    int rejected;           /* candidates that were rejected since the last link was added */
    int ranks;
} tree_t;

typedef struct packing {
    trv_links_t links;
    int ports, ranks, trees;
    bool *used; /* per link: it belongs to a tree, or is avoided */
    tree_t tree[TRV_PORTS_MAX];
    /* Paths to one rank: */
    bool *path;                    /* per link: it belongs to a path */
    int *touched, touches;         /* links in `path` */
    int start[TRV_PORTS_MAX];      /* the rank at which path i begins; -1: there is none yet */
    via_t *via;                    /* per rank, during one search */
    int *via_link;                 /* the link, or the tree */
    int after_tree[TRV_PORTS_MAX]; /* where the path of tree i would begin instead */
    bool tree_visited[TRV_PORTS_MAX];
    int *queue;
} packing_t;

/* ---- The network ------------------------------------------------------------------------------------------------- */

static int link_from(const packing_t *p, int rank, int port) { return trv_link_of(&p->links, rank, port); }

static int link_into(const packing_t *p, int rank, int port)
{
    const int out = link_from(p, rank, port);
    return p->links.neighbour[out] < 0 ? -1 : trv_link_reverse(&p->links, out);
}

/* Marks links that are slow by a factor of `avoid` or more, in one of the directions, as used, and no others. */
static void reset_links(packing_t *p, int directions, double avoid)
{
    const trv_links_t *links = &p->links;
    for (int link = 0; link < p->ranks * p->ports; link++)
        p->used[link] = links->neighbour[link] >= 0 &&
                        ((directions & TRV_FROM_ROOT && links->slowness[link] >= avoid) ||
                         (directions & TRV_TO_ROOT && links->slowness[trv_link_reverse(links, link)] >= avoid));
}

/* ---- Paths to one rank ------------------------------------------------------------------------------------------- */

static void visit(packing_t *p, int rank, via_t via, int link, int *last)
{
    if (p->via[rank] != VIA_NONE)
        return;
    p->via[rank] = via;
    p->via_link[rank] = link;
    p->queue[(*last)++] = rank;
}

static void set_path(packing_t *p, int link, bool belongs)
{
    p->path[link] = belongs;
    if (belongs)
        p->touched[p->touches++] = link;
}

/* Adds the path that the search has found, which begins at `rank` as that of tree `t`; it may replace parts of
 * others. */
static void add_path(packing_t *p, int rank, int t)
{
    p->start[t] = rank;
    for (;;) {
        const int link = p->via_link[rank];
        switch (p->via[rank]) {
        case VIA_LINK:
            set_path(p, link, true);
            rank = p->links.neighbour[link];
            break;
        case VIA_CANCEL:
            set_path(p, link, false);
            rank = link / p->ports;
            break;
        case VIA_TREE: rank = p->start[link] = p->after_tree[link]; break;
        default: return;
        }
    }
}

/* Looks for one more path, backwards from `to`. Returns whether there is one. */
static bool find_path(packing_t *p, int to)
{
    int first = 0, last = 0;
    bool found = false;
    memset(p->tree_visited, 0, sizeof p->tree_visited);
    visit(p, to, VIA_END, -1, &last);
    while (first < last && !found) {
        const int rank = p->queue[first++];
        for (int t = 0; t < p->trees && !found; t++) {
            if (rank == to || !p->tree[t].has[rank] || p->tree_visited[t])
                continue;
            if (p->start[t] < 0 && !p->tree[t].has[to]) {
                add_path(p, rank, t);
                found = true;
            } else if (p->start[t] >= 0) {
                p->tree_visited[t] = true;
                p->after_tree[t] = rank;
                visit(p, p->start[t], VIA_TREE, t, &last);
            }
        }
        for (int port = 0; port < p->ports && !found; port++) {
            const int in = link_into(p, rank, port), out = link_from(p, rank, port);
            if (in >= 0 && !p->used[in] && !p->path[in])
                visit(p, in / p->ports, VIA_LINK, in, &last);
            if (p->links.neighbour[out] >= 0 && p->path[out])
                visit(p, p->links.neighbour[out], VIA_CANCEL, out, &last);
        }
    }
    for (int i = 0; i < last; i++)
        p->via[p->queue[i]] = VIA_NONE;
    return found;
}

/* Whether every tree without rank `to` has a path to it, and no two of these share a link. */
static bool has_paths(packing_t *p, int to)
{
    bool all = true;
    for (int t = 0; t < p->trees; t++)
        p->start[t] = -1;
    for (int t = 0; t < p->trees && all; t++)
        all = p->tree[t].has[to] || find_path(p, to);
    for (int i = 0; i < p->touches; i++)
        p->path[p->touched[i]] = false;
    p->touches = 0;
    return all;
}

/* ---- Growth ------------------------------------------------------------------------------------------------------ */

static void add_candidates(packing_t *p, tree_t *tree, int rank)
{
    const int capacity = p->ranks * p->ports;
    for (int port = 0; port < p->ports; port++)
        if (p->links.neighbour[link_from(p, rank, port)] >= 0)
            tree->candidate[(tree->first + tree->count++) % capacity] = (candidate_t){rank, port};
}

/* Tries the tree's next candidate. Rejected ones return to the end of the queue if they may be possible later. Returns
 * whether the tree has grown. */
static bool try_candidate(packing_t *p, tree_t *tree)
{
    const int capacity = p->ranks * p->ports;
    const candidate_t next = tree->candidate[tree->first];
    const int link = link_from(p, next.rank, next.port), to = p->links.neighbour[link];
    tree->first = (tree->first + 1) % capacity;
    tree->count--;
    if (p->used[link] || tree->has[to])
        return false;
    p->used[link] = tree->has[to] = true;
    if (!has_paths(p, to)) {
        p->used[link] = tree->has[to] = false;
        tree->candidate[(tree->first + tree->count++) % capacity] = next;
        tree->rejected++;
        return false;
    }
    const trv_tree_edge_t *above = &tree->edge[next.rank];
    tree->edge[to] = (trv_tree_edge_t){next.rank, above->parent < 0 ? 0 : above->step + 1, next.port};
    tree->ranks++;
    add_candidates(p, tree, to);
    return true;
}

/* Whether the trees were completed. */
static bool grow(packing_t *p)
{
    for (bool grown = true; grown;) {
        grown = false;
        for (int t = 0; t < p->trees; t++) {
            tree_t *tree = &p->tree[t];
            for (tree->rejected = 0; tree->ranks < p->ranks && tree->rejected < tree->count;)
                if (try_candidate(p, tree)) {
                    grown = true;
                    break;
                }
        }
    }
    for (int t = 0; t < p->trees; t++)
        if (p->tree[t].ranks < p->ranks)
            return false;
    return true;
}

static void begin_trees(packing_t *p, int root, trv_tree_edge_t *edge)
{
    for (int t = 0; t < p->trees; t++) {
        tree_t *tree = &p->tree[t];
        tree->edge = edge + (size_t)t * (size_t)p->ranks;
        tree->first = tree->count = 0;
        tree->ranks = 1;
        memset(tree->has, 0, (size_t)p->ranks * sizeof *tree->has);
        for (int rank = 0; rank < p->ranks; rank++)
            tree->edge[rank].parent = -1;
        tree->has[root] = true;
        add_candidates(p, tree, root);
    }
}

/* Whether there are as many paths from the root to every rank as trees. Paths may also begin at ranks that have been
 * examined, because fewer links than trees cannot separate these from the root; so most searches are short. */
static bool all_have_paths(packing_t *p)
{
    for (int rank = 0; rank < p->ranks; rank++) {
        if (!has_paths(p, rank))
            return false;
        for (int t = 0; t < p->trees; t++)
            p->tree[t].has[rank] = true;
    }
    return true;
}

/* The maximum number of trees: the minimum over all ranks of the number of paths from the root. */
static void count_trees(packing_t *p, int root, trv_tree_edge_t *edge)
{
    bool all = false;
    for (p->trees = p->ports; p->trees > 0 && !all; p->trees -= !all) {
        begin_trees(p, root, edge);
        all = all_have_paths(p);
    }
    begin_trees(p, root, edge);
}

static int packing_allocate(packing_t *p, const trv_network_t *network, trv_tree_edge_t **edge)
{
    const size_t ranks = (size_t)p->ranks, links = ranks * (size_t)p->ports;
    bool complete = true;
    *edge = malloc(links * sizeof **edge);
    p->used = calloc(links, sizeof *p->used);
    p->path = calloc(links, sizeof *p->path);
    p->touched = malloc(links * (size_t)p->ports * sizeof *p->touched);
    p->via = calloc(ranks, sizeof *p->via);
    p->via_link = malloc(ranks * sizeof *p->via_link);
    p->queue = malloc(ranks * sizeof *p->queue);
    for (int t = 0; t < p->ports; t++) {
        p->tree[t].has = malloc(ranks * sizeof *p->tree[t].has);
        p->tree[t].candidate = malloc(links * sizeof *p->tree[t].candidate);
        complete = complete && p->tree[t].has && p->tree[t].candidate;
    }
    complete = complete && *edge && p->used && p->path && p->touched && p->via && p->via_link && p->queue;
    return complete ? trv_links_create(&p->links, network) : trv_fail_memory();
}

static void packing_clear(packing_t *p)
{
    trv_links_clear(&p->links);
    free(p->used);
    free(p->path);
    free(p->touched);
    free(p->via);
    free(p->via_link);
    free(p->queue);
    for (int t = 0; t < p->ports; t++) {
        free(p->tree[t].has);
        free(p->tree[t].candidate);
    }
}

/* The largest factor below `avoid` of a slow link, or 1. */
static double slowest_below(const trv_network_t *network, double avoid)
{
    double slowest = 1;
    for (int i = 0; i < network->slow_links; i++)
        if (network->slow_link[i].factor < avoid)
            slowest = fmax(slowest, network->slow_link[i].factor);
    return slowest;
}

/* Counts the trees, without those slow links that cost more time than the trees through them save. */
static void choose_links(packing_t *p, const trv_network_t *network, int root, int directions, trv_tree_edge_t *edge)
{
    double best = INFINITY, chosen = INFINITY, avoid = INFINITY;
    for (; avoid > 1; avoid = slowest_below(network, avoid)) {
        reset_links(p, directions, avoid);
        count_trees(p, root, edge);
        const double time = p->trees > 0 ? slowest_below(network, avoid) / p->trees : INFINITY;
        if (time < best) {
            best = time;
            chosen = avoid;
        }
    }
    reset_links(p, directions, chosen);
    count_trees(p, root, edge);
}

/* Grows the trees. Returns their number, or an error. */
static int find_trees(const trv_network_t *network, int root, int directions, trv_tree_edge_t **edge)
{
    packing_t packing = {.ports = trv_port_count(&network->torus), .ranks = network->torus.ranks};
    int rc = packing_allocate(&packing, network, edge);
    if (!rc) {
        choose_links(&packing, network, root, directions, *edge);
        rc = packing.trees;
    }
    if (rc == 0 || (rc > 0 && !grow(&packing)))
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "not every rank can be reached from rank %d over links that are not cut",
                      root);
    packing_clear(&packing);
    if (rc < 0) {
        free(*edge);
        *edge = NULL;
    }
    return rc;
}

/* ---- Large tori -------------------------------------------------------------------------------------------------- */

#define GROWN_MAX 1024 /* ranks of a torus whose trees are grown */

/* Whether the trees of the torus are written down: they are deeper than grown ones, but take no time. */
static bool has_pattern(const trv_network_t *network)
{
    bool large = network->torus.ranks > GROWN_MAX && trv_network_is_uniform(network);
    for (int d = 0; d < network->torus.dims; d++)
        large = large && network->torus.size[d] >= 3;
    return large;
}

/* The edge of displacement `rank` in the tree that begins in dimension `first` and direction +. Displacements with a
 * coordinate in that dimension are reached over it, then over the next dimensions, one after another; the others over
 * the last link around dimension `first`. A link of dimension d that does not close a ring belongs to the tree of the
 * first dimension after d in which its row has a coordinate, and to that of d if it has none, so that trees share no
 * link. */
static trv_tree_edge_t pattern_edge(const trv_torus_t *torus, int first, int rank)
{
    int depth = 0, last = first;
    for (int i = 0; i < torus->dims; i++) {
        const int d = (first + i) % torus->dims, x = trv_torus_coordinate(torus, rank, d);
        depth += x;
        last = x > 0 ? d : last;
    }
    if (trv_torus_coordinate(torus, rank, first) == 0) {
        last = first;
        depth += torus->size[first];
    }
    return (trv_tree_edge_t){trv_torus_shift(torus, rank, last, -1), depth - 1, trv_port(last, 1)};
}

/* Fills in the 2D trees with root 0: one for each dimension, and its mirror image. */
static int fill_pattern(const trv_torus_t *torus, trv_tree_edge_t **edge)
{
    const size_t ranks = (size_t)torus->ranks;
    *edge = malloc(2 * (size_t)torus->dims * ranks * sizeof **edge);
    if (!*edge)
        return trv_fail_memory();
    for (int t = 0; t < trv_port_count(torus); t++)
        for (int rank = 0; rank < torus->ranks; rank++) {
            trv_tree_edge_t *to = &(*edge)[(size_t)t * ranks + (size_t)rank];
            const bool mirrored = t % 2;
            *to = (trv_tree_edge_t){.parent = -1};
            if (rank == 0)
                continue;
            *to = pattern_edge(torus, t / 2, mirrored ? trv_torus_displace(torus, 0, rank, -1) : rank);
            if (mirrored) {
                to->parent = trv_torus_displace(torus, 0, to->parent, -1);
                to->port ^= 1;
            }
        }
    return trv_port_count(torus);
}

/* ---- Any root ---------------------------------------------------------------------------------------------------- */

/* Moves the trees of rank 0 to `root`. */
static int move_trees(const trv_torus_t *torus, int root, int trees, trv_tree_edge_t **edge)
{
    const size_t ranks = (size_t)torus->ranks;
    trv_tree_edge_t *moved = root == 0 ? NULL : malloc((size_t)trees * ranks * sizeof *moved);
    if (root == 0)
        return trees;
    for (int t = 0; moved && t < trees; t++)
        for (int rank = 0; rank < torus->ranks; rank++) {
            const trv_tree_edge_t *from = &(*edge)[(size_t)t * ranks + (size_t)rank];
            trv_tree_edge_t *to = &moved[(size_t)t * ranks + (size_t)trv_torus_displace(torus, rank, root, 1)];
            *to = *from;
            if (from->parent >= 0)
                to->parent = trv_torus_displace(torus, from->parent, root, 1);
        }
    free(*edge);
    *edge = moved;
    return moved ? trees : trv_fail_memory();
}

static int search_trees(const trv_tree_search_t *search, trv_tree_edge_t **edge)
{
    return find_trees(search->network, search->key[0], search->key[1], edge);
}

int trv_packing_find(const trv_network_t *network, int root, int directions, trv_tree_edge_t **edge)
{
    const bool moves = trv_network_is_uniform(network);
    const trv_tree_search_t search = {network, {moves ? 0 : root, directions}, search_trees};
    /* The pattern is not cached: it is filled in quickly, and large. */
    const int trees = has_pattern(network) ? fill_pattern(&network->torus, edge) : trv_tree_cache_find(&search, edge);
    return trees > 0 && moves ? move_trees(&network->torus, root, trees, edge) : trees;
}

double trv_packing_slowness(const trv_network_t *network, int directions, int trees, const trv_tree_edge_t *edge)
{
    const size_t ranks = (size_t)network->torus.ranks;
    double slowest = 1;
    for (int i = 0; i < network->slow_links; i++) {
        const trv_slow_link_t *slow = &network->slow_link[i];
        const int other = trv_torus_neighbour(&network->torus, slow->rank, slow->port);
        for (int t = 0; t < trees; t++) {
            const trv_tree_edge_t *to = &edge[(size_t)t * ranks + (size_t)other];
            const trv_tree_edge_t *from = &edge[(size_t)t * ranks + (size_t)slow->rank];
            if ((directions & TRV_FROM_ROOT && to->parent == slow->rank && to->port == slow->port) ||
                (directions & TRV_TO_ROOT && from->parent == other && from->port == trv_port_opposite(slow->port)))
                slowest = fmax(slowest, slow->factor);
        }
    }
    return slowest;
}
