/*
 * Values that are one of several words. Lists of words are separated by blanks, as in cli_option_t.words.
 */
#ifndef TRIVANCE_CLI_SHARED_WORDS_H
#define TRIVANCE_CLI_SHARED_WORDS_H

#include <stddef.h>

/* Writes "table, json or csv" for "table json csv". Returns `text`. */
char *cli_words_list(const char *words, char *text, size_t size);

/* Returns the index of `word` among the words. If it is none of them, returns TRV_ERR_ARGUMENT, with the error message
 * "there is no format 'xml'<where>; expected table, json or csv, for example --format=csv" of the option `format`. */
int cli_words_find(const char *words, const char *word, const char *option, const char *where);

#endif
