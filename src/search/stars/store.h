/*
 * Chains that are known already: a text (chains in the form of trv_star_parse, a line each) for a key, "8x8" or
 * "8x8-cover", with the sizes ascending.
 */
#ifndef TRIVANCE_SEARCH_STARS_STORE_H
#define TRIVANCE_SEARCH_STARS_STORE_H

#include <stddef.h>

#define TRV_STAR_KEY_MAX 112

/* stars_table.c, generated: ends with a key NULL. */
typedef struct trv_star_row {
    const char *key, *text;
} trv_star_row_t;
extern const trv_star_row_t trv_star_table[];

/* The text of a key, from the table or from what this process remembers; the caller frees it. 1; 0 where neither has
 * it; TRV_ERR_MEMORY. */
int trv_star_recall(const char *key, char **text);

/* Remembers a text in this process. 0 or TRV_ERR_MEMORY. */
int trv_star_keep(const char *key, const char *text);

/* Forgets what this process remembers, for tests. */
void trv_star_forget(void);

#endif
