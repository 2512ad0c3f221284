/*
 * Words of options, see words.h.
 */
#include "cli/shared/words.h"

#include <string.h>

#include "base/append.h"
#include "base/error.h"

static const char *word_next(const char *word)
{
    word += strcspn(word, " ");
    return *word ? word + 1 : word;
}

char *cli_words_list(const char *words, char *text, size_t size)
{
    text[0] = '\0';
    for (const char *word = words; *word; word = word_next(word))
        trv_append(text, size, "%s%.*s",
                   word == words      ? ""
                   : *word_next(word) ? ", "
                                      : " or ",
                   (int)strcspn(word, " "), word);
    return text;
}

int cli_words_find(const char *words, const char *word, const char *option, const char *where)
{
    const size_t length = strlen(word);
    const char *last = words;
    char list[256];
    int index = 0;
    for (const char *at = words; *at; at = word_next(at), index++) {
        if (length == strcspn(at, " ") && strncmp(at, word, length) == 0)
            return index;
        last = at;
    }
    return trv_fail(TRV_ERR_ARGUMENT, "there is no %s '%.40s'%s; expected %s, for example --%s=%s", option, word, where,
                    cli_words_list(words, list, sizeof list), option, last);
}
