/*
 * Balanced paths, see flow_paths.h. Between two neighbours there is flow in at most one direction of a link.
 */
#include "algorithms/builders/flow_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/builders/links.h"
#include "base/error.h"
#include "torus/rows.h"
#include "torus/torus.h"

#define SPACING_MAX 64 /* maximum number of steps between two blocks on a slow link */

typedef struct flow {
    int ports, ranks, root;
    trv_links_t links; /* also cut ones, because the search may return a unit over the opposite direction */
    int *units;        /* per link: flow by the port less that from the other side; negative: that is larger */
    double load;
    bool *served; /* per rank: it receives a unit */
    int unserved;
    int *level, *next,
        *queue; /* per rank: distance from the root, next port to try, and ranks in the order of levels */
} flow_t;

static int link_of(const flow_t *f, int rank, int port) { return trv_link_of(&f->links, rank, port); }

static int opposite(const flow_t *f, int rank, int port) { return trv_link_reverse(&f->links, link_of(f, rank, port)); }

/* ---- The network ------------------------------------------------------------------------------------------------- */

/* Gives every link the slowness of the opposite direction. */
static void reverse_links(trv_links_t *links)
{
    for (int link = 0; link < links->ranks * links->ports; link += 2)
        if (links->neighbour[link] >= 0) {
            const int reverse = trv_link_reverse(links, link);
            const double slowness = links->slowness[link];
            links->slowness[link] = links->slowness[reverse];
            links->slowness[reverse] = slowness;
        }
}

static double capacity(const flow_t *f, int link)
{
    return isinf(f->links.slowness[link]) ? 0 : floor(f->load / f->links.slowness[link] + 1e-9);
}

static bool has_capacity(const flow_t *f, int rank, int port)
{
    const int link = link_of(f, rank, port);
    return f->links.neighbour[link] >= 0 && f->units[link] < (f->units[link] < 0 ? 0 : capacity(f, link));
}

/* ---- The flow ---------------------------------------------------------------------------------------------------- */

/* Finds the levels of the ranks that more units can reach. Returns whether one of them is not served. */
static bool find_levels(flow_t *f)
{
    int queued = 0;
    bool found = false;
    for (int rank = 0; rank < f->ranks; rank++) {
        f->level[rank] = -1;
        f->next[rank] = 0;
    }
    f->level[f->root] = 0;
    f->queue[queued++] = f->root;
    for (int i = 0; i < queued; i++)
        for (int port = 0; port < f->ports; port++) {
            const int rank = f->queue[i], to = f->links.neighbour[link_of(f, rank, port)];
            if (to < 0 || f->level[to] >= 0 || !has_capacity(f, rank, port))
                continue;
            f->level[to] = f->level[rank] + 1;
            f->queue[queued++] = to;
            found = found || !f->served[to];
        }
    return found;
}

/* Sends one more unit along ascending levels to a rank that is not served; `queue` holds the path. */
static bool send_unit(flow_t *f)
{
    int depth = 0;
    f->queue[0] = f->root;
    while (f->served[f->queue[depth]]) {
        const int rank = f->queue[depth];
        int *port = &f->next[rank];
        while (*port < f->ports && !(has_capacity(f, rank, *port) &&
                                     f->level[f->links.neighbour[link_of(f, rank, *port)]] == f->level[rank] + 1))
            ++*port;
        if (*port < f->ports)
            f->queue[++depth] = f->links.neighbour[link_of(f, rank, *port)];
        else if (depth == 0)
            return false;
        else
            f->next[f->queue[--depth]]++;
    }
    f->served[f->queue[depth]] = true;
    f->unserved--;
    while (--depth >= 0) {
        const int rank = f->queue[depth], port = f->next[rank];
        f->units[link_of(f, rank, port)]++;
        f->units[opposite(f, rank, port)]--;
    }
    return true;
}

/* The capacity of the links that leave the ranks with a level. */
static double leaving_capacity(const flow_t *f)
{
    double all = 0;
    for (int rank = 0; rank < f->ranks; rank++)
        for (int port = 0; port < f->ports && f->level[rank] >= 0; port++) {
            const int link = link_of(f, rank, port);
            if (f->links.neighbour[link] >= 0 && f->level[f->links.neighbour[link]] < 0)
                all += capacity(f, link);
        }
    return all;
}

/* Raises the load to the smallest with which all ranks without a level can be reached. */
static int raise_load(flow_t *f)
{
    int outside = 0;
    double low = f->load, high = fmax(1, low);
    for (int rank = 0; rank < f->ranks; rank++)
        outside += f->level[rank] < 0;
    f->load = INFINITY;
    if (leaving_capacity(f) == 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, "not every rank can be reached from rank %d over links that are not cut",
                        f->root);
    do {
        high *= 2;
        f->load = high;
    } while (leaving_capacity(f) < outside);
    while (high - low > 1) {
        f->load = floor((low + high) / 2);
        if (leaving_capacity(f) >= outside)
            high = f->load;
        else
            low = f->load;
    }
    f->load = high;
    return TRV_OK;
}

static int find_flow(flow_t *f)
{
    int rc = TRV_OK;
    f->served[f->root] = true;
    f->unserved = f->ranks - 1;
    while (f->unserved > 0 && !rc)
        if (find_levels(f))
            while (send_unit(f)) {
            }
        else
            rc = raise_load(f);
    return rc;
}

/* ---- The paths --------------------------------------------------------------------------------------------------- */

/* Takes one unit of the flow to `block` backwards, without cycles: writes its links, the last one first. Returns their
 * number. `mark`: per rank, the links that were written when the path passed it, or -1. */
static int take_path(flow_t *f, int block, int *mark, int *link)
{
    int length = 0, rank = block;
    mark[block] = 0;
    while (rank != f->root) {
        int port = 0;
        while (f->links.neighbour[link_of(f, rank, port)] < 0 || f->units[link_of(f, rank, port)] >= 0)
            port++;
        const int in = opposite(f, rank, port);
        f->units[in]--;
        f->units[link_of(f, rank, port)]++;
        link[length++] = in;
        rank = in / f->ports;
        if (mark[rank] >= 0) /* a cycle */
            for (; length > mark[rank]; length--)
                if (link[length - 1] / f->ports != rank)
                    mark[link[length - 1] / f->ports] = -1;
        mark[rank] = length;
    }
    for (int i = 0; i < length; i++)
        mark[link[i] / f->ports] = -1;
    mark[block] = -1;
    return length;
}

static int compare_hops(const void *a, const void *b)
{
    const trv_hop_t *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : x->port - y->port;
}

typedef struct path {
    int block;
    int length;  /* links that the block has not passed */
    int *link;   /* the last one first */
    int arrived; /* the first step in which the block can pass the next link */
} path_t;

static int compare_paths(const void *a, const void *b)
{
    const path_t *x = a, *y = b;
    return x->length != y->length ? (x->length > y->length ? -1 : 1) : x->block - y->block;
}

/* Fills in the hops. In every step, over every link that is free, the block with the longest path is sent that waits
 * for it. `path` is sorted by length; `free_step`: per link, the first step in which it is free. */
static void fill_hops(const flow_t *f, path_t *path, int *free_step, trv_paths_t *paths)
{
    for (int step = 0, waiting = f->ranks - 1, left; waiting > 0; step++, waiting = left) {
        left = 0;
        for (int i = 0; i < waiting; i++) {
            path_t *next = &path[i];
            const int link = next->link[next->length - 1];
            if (next->arrived <= step && free_step[link] <= step) {
                paths->hop[paths->hops++] = (trv_hop_t){step, link / f->ports, f->links.neighbour[link],
                                                        link % f->ports, next->block};
                free_step[link] = step + (int)fmin(SPACING_MAX, ceil(f->links.slowness[link] - 1e-9));
                next->arrived = step + 1;
                next->length--;
            }
            if (next->length > 0)
                path[left++] = *next;
        }
        paths->steps = step + 1;
    }
}

static int find_hops(flow_t *f, trv_paths_t *paths)
{
    size_t hops = 0;
    for (int link = 0; link < f->ranks * f->ports; link++)
        hops += f->units[link] > 0 ? (size_t)f->units[link] : 0;
    path_t *path = malloc((size_t)f->ranks * sizeof *path);
    int *link = malloc((hops + 1) * sizeof *link), *mark = f->level, taken = 0, count = 0;
    int *free_step = calloc((size_t)f->ranks * (size_t)f->ports, sizeof *free_step);
    paths->hop = malloc((hops + 1) * sizeof *paths->hop);
    const bool complete = path && link && free_step && paths->hop;
    for (int rank = 0; rank < f->ranks; rank++)
        mark[rank] = -1;
    for (int rank = 0; rank < f->ranks && complete; rank++)
        if (rank != f->root) {
            path[count] = (path_t){rank, take_path(f, rank, mark, link + taken), link + taken, 0};
            taken += path[count++].length;
        }
    if (complete) {
        qsort(path, (size_t)count, sizeof *path, compare_paths);
        fill_hops(f, path, free_step, paths);
    }
    free(path);
    free(link);
    free(free_step);
    return complete ? TRV_OK : trv_fail_memory();
}

static void reverse_hops(trv_paths_t *paths)
{
    for (int i = 0; i < paths->hops; i++) {
        const trv_hop_t hop = paths->hop[i];
        paths->hop[i] = (trv_hop_t){paths->steps - 1 - hop.step, hop.to, hop.from, trv_port_opposite(hop.port),
                                    hop.block};
    }
}

/* Moves the paths of rank 0 to `root`. */
static void move_hops(const trv_torus_t *torus, int root, trv_paths_t *paths)
{
    for (int i = 0; i < paths->hops; i++) {
        trv_hop_t *hop = &paths->hop[i];
        hop->from = trv_torus_displace(torus, hop->from, root, 1);
        hop->to = trv_torus_displace(torus, hop->to, root, 1);
        hop->block = trv_torus_displace(torus, hop->block, root, 1);
    }
}

int trv_flow_paths_find(const trv_network_t *network, int root, bool to_root, trv_paths_t *paths)
{
    const size_t ranks = (size_t)network->torus.ranks;
    const bool translated = trv_network_is_uniform(network);
    const int searched_root = translated ? 0 : root;
    flow_t f = {.ports = trv_port_count(&network->torus),
                .ranks = network->torus.ranks,
                .root = searched_root,
                .units = calloc(ranks * 2 * (size_t)network->torus.dims, sizeof *f.units),
                .served = calloc(ranks, sizeof *f.served),
                .level = calloc(ranks, sizeof *f.level),
                .next = calloc(ranks, sizeof *f.next),
                .queue = calloc(ranks, sizeof *f.queue)};
    *paths = (trv_paths_t){.hops = 0};
    int rc = trv_links_create(&f.links, network);
    if (!rc && !(f.units && f.served && f.level && f.next && f.queue))
        rc = trv_fail_memory();
    if (!rc) {
        if (to_root)
            reverse_links(&f.links);
        for (int rank = 0; rank < f.ranks; rank++)
            f.level[rank] = rank == searched_root ? 0 : -1;
        rc = f.ranks > 1 ? raise_load(&f) : TRV_OK;
    }
    if (!rc)
        rc = find_flow(&f);
    if (!rc)
        rc = find_hops(&f, paths);
    paths->load = f.load;
    if (!rc && to_root)
        reverse_hops(paths);
    if (!rc && translated)
        move_hops(&network->torus, root, paths);
    if (!rc)
        qsort(paths->hop, (size_t)paths->hops, sizeof *paths->hop, compare_hops);
    trv_links_clear(&f.links);
    free(f.units);
    free(f.served);
    free(f.level);
    free(f.next);
    free(f.queue);
    if (rc) {
        free(paths->hop);
        paths->hop = NULL;
    }
    return rc;
}
