/*
 * Chains that are known already: a text (chains in the form of trv_star_parse, a line each) for a key, "8x8" or
 * "8x8-cover", with the sizes ascending.
 */
#ifndef TRIVANCE_STARS_STORE_H
#define TRIVANCE_STARS_STORE_H

#include <stddef.h>

#define TRV_STAR_KEY_MAX 112

/* stars_table.c, generated: ends with a key NULL. */
typedef struct trv_star_row {
    const char *key, *text;
} trv_star_row_t;
extern const trv_star_row_t trv_star_table[];

/* The text of a key, from the table, from what this process remembers, or from the user's cache folder; NULL where none
 * of them has it. The caller frees it. */
char *trv_star_recall(const char *key);

/* Remembers a text, in this process and in the user's cache folder ($XDG_CACHE_HOME/trivance, or ~/.cache/trivance).
 * What can not be written is not: nothing depends on it. */
void trv_star_remember(const char *key, const char *text);

#endif
