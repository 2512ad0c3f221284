/*
 * Values of options that are one of several words.
 */
#ifndef TRIVANCE_CLI_SHARED_OPTION_WORDS_H
#define TRIVANCE_CLI_SHARED_OPTION_WORDS_H

/* Returns the index of `word` among the words, which are separated by blanks. If it is none of them, returns
 * TRV_ERR_ARGUMENT, with the error message "there is no format 'xml'<where>; expected table, json or csv, for example
 * --format=csv" of the option `format`. */
int cli_words_find(const char *words, const char *word, const char *option, const char *where);

#endif
