/*
 * A cache of sets of spanning trees, see tree_cache.h.
 */
#include "algorithms/builders/tree_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "torus/torus.h"

enum { CACHED = 4 };

typedef struct entry {
    trv_tree_search_t search; /* without the network, which may no longer exist */
    trv_torus_t torus;
    int links, trees;
    trv_slow_link_t *link;
    trv_tree_edge_t *edge;
} entry_t;

static struct {
    pthread_mutex_t mutex;
    int next;
    entry_t entry[CACHED];
} cache = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool same_links(const trv_slow_link_t *a, const trv_slow_link_t *b, int links)
{
    for (int i = 0; i < links; i++)
        if (a[i].rank != b[i].rank || a[i].port != b[i].port || a[i].factor != b[i].factor)
            return false;
    return true;
}

static trv_tree_edge_t *copy_edges(const trv_tree_edge_t *edge, int trees, int ranks)
{
    const size_t bytes = (size_t)trees * (size_t)ranks * sizeof *edge;
    trv_tree_edge_t *copy = malloc(bytes);
    return copy ? memcpy(copy, edge, bytes) : NULL;
}

static const entry_t *cache_lookup(const trv_tree_search_t *search)
{
    for (int i = 0; i < CACHED; i++) {
        const entry_t *entry = &cache.entry[i];
        if (entry->edge && entry->search.find == search->find &&
            memcmp(entry->search.key, search->key, sizeof search->key) == 0 &&
            trv_torus_equal(&entry->torus, &search->network->torus) && entry->links == search->network->slow_links &&
            same_links(entry->link, search->network->slow_link, entry->links))
            return entry;
    }
    return NULL;
}

/* Adds a copy of a result in place of the oldest. If memory is short, nothing is cached. */
static void cache_add(const trv_tree_search_t *search, int trees, const trv_tree_edge_t *edge)
{
    const trv_network_t *network = search->network;
    const size_t links = (size_t)network->slow_links;
    trv_tree_edge_t *copy = copy_edges(edge, trees, network->torus.ranks);
    trv_slow_link_t *link = malloc((links + 1) * sizeof *link);
    if (!copy || !link) {
        free(copy);
        free(link);
        return;
    }
    if (links > 0)
        memcpy(link, network->slow_link, links * sizeof *link);
    entry_t *entry = &cache.entry[cache.next++ % CACHED];
    free(entry->edge);
    free(entry->link);
    *entry = (entry_t){*search, network->torus, network->slow_links, trees, link, copy};
    entry->search.network = NULL;
}

__attribute__((destructor)) static void cache_clear(void)
{
    for (int i = 0; i < CACHED; i++) {
        free(cache.entry[i].edge);
        free(cache.entry[i].link);
    }
}

int trv_tree_cache_find(const trv_tree_search_t *search, trv_tree_edge_t **edge)
{
    *edge = NULL;
    pthread_mutex_lock(&cache.mutex);
    const entry_t *entry = cache_lookup(search);
    int trees = entry ? entry->trees : search->find(search, edge);
    if (entry) {
        *edge = copy_edges(entry->edge, trees, entry->torus.ranks);
        trees = *edge ? trees : trv_fail_memory();
    } else if (trees > 0)
        cache_add(search, trees, *edge);
    pthread_mutex_unlock(&cache.mutex);
    return trees;
}
