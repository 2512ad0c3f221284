/*
 * Known chains: those of the table, and a cache of those that this process has found.
 */
#include "search/stars/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/common.h>

#include "base/error.h"

typedef struct memory {
    struct memory *next;
    char *key, *text;
} memory_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static memory_t *memories; /* kept until the process ends */

/* Copies a text for the caller. */
static int copy(const char *from, char **text)
{
    *text = strdup(from);
    return *text ? 1 : trv_fail_memory();
}

static int recall_here(const char *key, char **text)
{
    int found = 0;
    pthread_mutex_lock(&lock);
    for (const memory_t *memory = memories; memory && !found; memory = memory->next)
        if (strcmp(memory->key, key) == 0)
            found = copy(memory->text, text);
    pthread_mutex_unlock(&lock);
    return found;
}

int trv_star_keep(const char *key, const char *text)
{
    memory_t *memory = malloc(sizeof *memory);
    char *own_key = strdup(key), *own_text = strdup(text);
    if (!memory || !own_key || !own_text) {
        free(memory);
        free(own_key);
        free(own_text);
        return trv_fail_memory();
    }
    pthread_mutex_lock(&lock);
    *memory = (memory_t){memories, own_key, own_text};
    memories = memory;
    pthread_mutex_unlock(&lock);
    return TRV_OK;
}

void trv_star_forget(void)
{
    pthread_mutex_lock(&lock);
    while (memories) {
        memory_t *gone = memories;
        memories = gone->next;
        free(gone->key);
        free(gone->text);
        free(gone);
    }
    pthread_mutex_unlock(&lock);
}

int trv_star_recall(const char *key, char **text)
{
    for (const trv_star_row_t *row = trv_star_table; row->key; row++)
        if (strcmp(row->key, key) == 0)
            return copy(row->text, text);
    return recall_here(key, text);
}
