/*
 * The table, the memory of this process, and the files of the user's cache folder.
 *
 * A file says which search made it and ends with a checksum of all before, so that one that is damaged, or made by
 * another version, is passed over. It is written beside its place and moved there, so that nobody reads half of it.
 * A text from a file is what the search would find: ranks that have the file and ranks that have not agree.
 */
#include "stars/store.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <trivance/common.h>

/* Raised when the search finds other chains than before. */
#define SEARCH_VERSION 2
#define FILE_MAX (1 << 20)
#define PATH_MAX_HERE 1024

typedef struct memory {
    struct memory *next;
    char *key, *text;
} memory_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static memory_t *memories; /* as long as the process lives */

/* ---- This process ------------------------------------------------------------------------------------------------ */

static char *recall_here(const char *key)
{
    char *text = NULL;
    pthread_mutex_lock(&lock);
    for (const memory_t *memory = memories; memory && !text; memory = memory->next)
        if (strcmp(memory->key, key) == 0)
            text = strdup(memory->text);
    pthread_mutex_unlock(&lock);
    return text;
}

static void remember_here(const char *key, const char *text)
{
    memory_t *memory = malloc(sizeof *memory);
    char *own_key = strdup(key), *own_text = strdup(text);
    if (!memory || !own_key || !own_text) {
        free(memory);
        free(own_key);
        free(own_text);
        return;
    }
    pthread_mutex_lock(&lock);
    *memory = (memory_t){memories, own_key, own_text};
    memories = memory;
    pthread_mutex_unlock(&lock);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* FNV-1a, of what comes after that which has the checksum `sum`. */
#define SEED UINT64_C(14695981039346656037)
static uint64_t checksum(uint64_t sum, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return sum;
}

/* The folder, or false where the user has none. */
static bool folder(char path[PATH_MAX_HERE])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int used = -1;
    if (cache && cache[0] == '/')
        used = snprintf(path, PATH_MAX_HERE, "%s/trivance", cache);
    else if (home && home[0] == '/')
        used = snprintf(path, PATH_MAX_HERE, "%s/.cache/trivance", home);
    return used > 0 && used < PATH_MAX_HERE - 2 * TRV_STAR_KEY_MAX;
}

static int print_head(char *head, size_t size, const char *key)
{
    return snprintf(head, size, "Trivance %s, star chains %d, %s\n", TRV_VERSION, SEARCH_VERSION, key);
}

/* The text between the head and the checksum. */
static char *unpack(char *file, size_t length, const char *key)
{
    char head[64 + TRV_STAR_KEY_MAX], foot[32];
    size_t first = (size_t)print_head(head, sizeof head, key);
    if (length < first + 17 || memcmp(file, head, first) != 0)
        return NULL;
    size_t last = length - 17;
    snprintf(foot, sizeof foot, "%016llx\n", (unsigned long long)checksum(SEED, file, last));
    if (memcmp(file + last, foot, 17) != 0)
        return NULL;
    return strndup(file + first, last - first);
}

static char *recall_file(const char *key)
{
    char path[PATH_MAX_HERE];
    if (!folder(path))
        return NULL;
    snprintf(path + strlen(path), sizeof path - strlen(path), "/%s.stars", key);
    FILE *in = fopen(path, "rb");
    char *file = in ? malloc(FILE_MAX) : NULL;
    char *text = file ? unpack(file, fread(file, 1, FILE_MAX, in), key) : NULL;
    free(file);
    if (in)
        fclose(in);
    return text;
}

static void remember_file(const char *key, const char *text)
{
    char path[PATH_MAX_HERE], temporary[PATH_MAX_HERE + 16], head[64 + TRV_STAR_KEY_MAX];
    if (!folder(path))
        return;
    char *end = strrchr(path, '/');
    *end = '\0';
    mkdir(path, 0777); /* the user's ~/.cache; the folder above it is the user's affair */
    *end = '/';
    mkdir(path, 0777);
    snprintf(path + strlen(path), sizeof path - strlen(path), "/%s.stars", key);
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *out = fopen(temporary, "wb");
    if (!out)
        return;
    print_head(head, sizeof head, key);
    uint64_t sum = checksum(checksum(SEED, head, strlen(head)), text, strlen(text));
    int printed = fprintf(out, "%s%s%016llx\n", head, text, (unsigned long long)sum);
    if (fclose(out) || printed < 0 || rename(temporary, path))
        unlink(temporary);
}

/* ---- What others call -------------------------------------------------------------------------------------------- */

char *trv_star_recall(const char *key)
{
    for (const trv_star_row_t *row = trv_star_table; row->key; row++)
        if (strcmp(row->key, key) == 0)
            return strdup(row->text);
    char *text = recall_here(key);
    if (text)
        return text;
    text = recall_file(key);
    if (text)
        remember_here(key, text);
    return text;
}

void trv_star_remember(const char *key, const char *text)
{
    remember_here(key, text);
    remember_file(key, text);
}
