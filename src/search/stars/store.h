/*
 * Known chains, of the table and of a cache of this process: a text (chains in the form of trv_star_parse, one per
 * line) for a key, "8x8" or "8x8-cover", with the sizes ascending.
 */
#ifndef TRIVANCE_SEARCH_STARS_STORE_H
#define TRIVANCE_SEARCH_STARS_STORE_H

#include <stddef.h>

#define TRV_STAR_KEY_MAX 112

/* stars_table.c, generated. The last row has the key NULL. */
typedef struct trv_star_row {
    const char *key, *text;
} trv_star_row_t;
extern const trv_star_row_t trv_star_table[];

/* Looks up the text of a key in the table and in the cache of this process; the caller frees it. Returns 1, 0 if
 * neither contains the key, or TRV_ERR_MEMORY. */
int trv_star_lookup(const char *key, char **text);

/* Adds a text to the cache of this process. Returns 0 or TRV_ERR_MEMORY. */
int trv_star_cache_add(const char *key, const char *text);

/* Empties the cache of this process, for tests. */
void trv_star_cache_clear(void);

#endif
