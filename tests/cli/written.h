/*
 * What the writer of a figure writes of a result, as a text that the caller frees. After cmocka.h.
 */
#ifndef TRIVANCE_TESTS_WRITTEN_H
#define TRIVANCE_TESTS_WRITTEN_H

#include <stdio.h>

#include "cli/figures/figures.h"

/* How often a word occurs in a text. */
static inline int count_of(const char *text, const char *word)
{
    int count = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        count++;
    return count;
}

/* The file that `write` makes of the first figure. */
static inline char *written(fig_write_t *write, const fig_result_t *result)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(write(result, &result->figure[0], stream), 0);
    fclose(stream);
    return text;
}

#endif
