/*
 * Lists of words in one text, separated by blanks or by |.
 */
#ifndef TRIVANCE_BASE_TEXT_WORDS_H
#define TRIVANCE_BASE_TEXT_WORDS_H

#include <stddef.h>

#include <trivance/common.h>

/* The index of a word in a list, or -1. */
TRV_API int trv_words_index(const char *words, const char *word);

/* Writes "table, json or csv" for "table json csv". Returns `text`. */
TRV_API char *trv_words_list(const char *words, char *text, size_t size);

#endif
