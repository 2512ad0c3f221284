/*
 * Known chains: those of the table, and a cache of those that this process has found.
 */
#include "search/stars/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/common.h>

#include "base/error.h"

typedef struct entry {
    struct entry *next;
    char *key, *text;
} entry_t;

static pthread_mutex_t cache_mutex = PTHREAD_MUTEX_INITIALIZER;
static entry_t *cache; /* kept until the process ends */

/* Copies a text for the caller. */
static int text_copy(const char *from, char **text)
{
    *text = strdup(from);
    return *text ? 1 : trv_fail_memory();
}

static int cache_find(const char *key, char **text)
{
    int found = 0;
    pthread_mutex_lock(&cache_mutex);
    for (const entry_t *entry = cache; entry && !found; entry = entry->next)
        if (strcmp(entry->key, key) == 0)
            found = text_copy(entry->text, text);
    pthread_mutex_unlock(&cache_mutex);
    return found;
}

int trv_star_cache_add(const char *key, const char *text)
{
    entry_t *entry = malloc(sizeof *entry);
    char *own_key = strdup(key), *own_text = strdup(text);
    if (!entry || !own_key || !own_text) {
        free(entry);
        free(own_key);
        free(own_text);
        return trv_fail_memory();
    }
    pthread_mutex_lock(&cache_mutex);
    *entry = (entry_t){cache, own_key, own_text};
    cache = entry;
    pthread_mutex_unlock(&cache_mutex);
    return TRV_OK;
}

void trv_star_cache_clear(void)
{
    pthread_mutex_lock(&cache_mutex);
    while (cache) {
        entry_t *first = cache;
        cache = first->next;
        free(first->key);
        free(first->text);
        free(first);
    }
    pthread_mutex_unlock(&cache_mutex);
}

int trv_star_lookup(const char *key, char **text)
{
    for (const trv_star_row_t *row = trv_star_table; row->key; row++)
        if (strcmp(row->key, key) == 0)
            return text_copy(row->text, text);
    return cache_find(key, text);
}
