/*
 * Lists of words, see words.h.
 */
#include "base/text/words.h"

#include <string.h>

#include "base/append.h"

static size_t word_length(const char *word) { return strcspn(word, " |"); }

static const char *word_next(const char *word)
{
    word += word_length(word);
    return *word ? word + 1 : word;
}

int trv_words_index(const char *words, const char *word)
{
    const size_t length = strlen(word);
    int index = 0;
    for (const char *at = words; *at; at = word_next(at), index++)
        if (length == word_length(at) && strncmp(at, word, length) == 0)
            return index;
    return -1;
}

char *trv_words_list(const char *words, char *text, size_t size)
{
    text[0] = '\0';
    for (const char *word = words; *word; word = word_next(word))
        trv_append(text, size, "%s%.*s",
                   word == words      ? ""
                   : *word_next(word) ? ", "
                                      : " or ",
                   (int)word_length(word), word);
    return text;
}
