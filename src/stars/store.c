/*
 * The table, the memory of this process, and the files of the user's cache folder.
 *
 * A file says which search made it and ends with a checksum of all before, so that one that is damaged, or made by
 * another version, is passed over; what it holds is checked by whoever asked (find.c). It is written beside its place,
 * under a name that nobody else has, and moved there, so that nobody reads half of it, and readable for its user.
 *
 * Files of two users may differ: who decides for others tells them the chains themselves (trv_schedule_spell).
 */
#include "stars/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <trivance/common.h>

#include "common/error.h"
#include "common/hash.h"

/* Raised when the search finds other chains than before. */
#define SEARCH_VERSION 2
#define FILE_MAX       (1 << 20)
#define PATH_MAX_HERE  1024

typedef struct memory {
    struct memory *next;
    char *key, *text;
} memory_t;

static atomic_bool may_read = true, may_write = true;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static memory_t *memories; /* as long as the process lives */

/* ---- This process ------------------------------------------------------------------------------------------------ */

/* A copy, for the caller. */
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

/* ---- Files ------------------------------------------------------------------------------------------------------- */

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

/* The text between the head and the checksum, with a terminating 0; NULL where there is none. */
static char *unpack(char *file, size_t length, const char *key)
{
    char head[64 + TRV_STAR_KEY_MAX], foot[32];
    size_t first = (size_t)print_head(head, sizeof head, key);
    if (length < first + 17 || memcmp(file, head, first) != 0)
        return NULL;
    size_t last = length - 17;
    snprintf(foot, sizeof foot, "%016llx\n", (unsigned long long)trv_hash(TRV_HASH_SEED, file, last));
    if (memcmp(file + last, foot, 17) != 0)
        return NULL;
    file[last] = '\0';
    return file + first;
}

/* All of a file; 0 where it cannot be read or is none. */
static int read_all(int in, char **file, size_t *length)
{
    struct stat about;
    if (fstat(in, &about) || !S_ISREG(about.st_mode) || about.st_size < 1 || about.st_size > FILE_MAX)
        return 0;
    *file = malloc((size_t)about.st_size);
    if (!*file)
        return trv_fail_memory();
    ssize_t got = 1;
    for (*length = 0; got > 0 && *length<(size_t)about.st_size; *length += got> 0 ? (size_t)got : 0)
        got = read(in, *file + *length, (size_t)about.st_size - *length);
    return 1;
}

int trv_star_read(const char *key, char **text)
{
    char path[PATH_MAX_HERE], *file = NULL;
    size_t length = 0;
    if (!atomic_load(&may_read) || !folder(path))
        return 0;
    snprintf(path + strlen(path), sizeof path - strlen(path), "/%s.stars", key);
    int in = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe of that name is none of ours */
    int found = in >= 0 ? read_all(in, &file, &length) : 0;
    if (in >= 0)
        close(in);
    const char *held = found > 0 ? unpack(file, length, key) : NULL;
    if (found > 0)
        found = held ? copy(held, text) : 0;
    free(file);
    return found;
}

static bool write_all(int out, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t written = write(out, data, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        data += written;
        length -= (size_t)written;
    }
    return true;
}

void trv_star_write(const char *key, const char *text)
{
    char path[PATH_MAX_HERE], temporary[PATH_MAX_HERE + 16], head[64 + TRV_STAR_KEY_MAX], foot[32];
    if (!atomic_load(&may_write) || !folder(path))
        return;
    char *end = strrchr(path, '/');
    *end = '\0';
    mkdir(path, 0777); /* the user's ~/.cache; the folder above it is the user's affair */
    *end = '/';
    mkdir(path, 0777);
    snprintf(path + strlen(path), sizeof path - strlen(path), "/%s.stars", key);
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int out = mkstemp(temporary);
    if (out < 0)
        return;
    print_head(head, sizeof head, key);
    uint64_t sum = trv_hash(trv_hash(TRV_HASH_SEED, head, strlen(head)), text, strlen(text));
    snprintf(foot, sizeof foot, "%016llx\n", (unsigned long long)sum);
    bool good = write_all(out, head, strlen(head)) && write_all(out, text, strlen(text)) &&
                write_all(out, foot, strlen(foot));
    good = !close(out) && good;
    if (!good || rename(temporary, path))
        unlink(temporary);
}

/* ---- What others call -------------------------------------------------------------------------------------------- */

void trv_cache_policy(bool read, bool write)
{
    atomic_store(&may_read, read);
    atomic_store(&may_write, write);
}

int trv_star_recall(const char *key, char **text)
{
    for (const trv_star_row_t *row = trv_star_table; row->key; row++)
        if (strcmp(row->key, key) == 0)
            return copy(row->text, text);
    return recall_here(key, text);
}
