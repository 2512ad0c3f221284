/*
 * Words of options, see option_words.h.
 */
#include "cli/shared/option_words.h"

#include <string.h>

#include "base/error.h"
#include "base/text/words.h"

int cli_words_find(const char *words, const char *word, const char *option, const char *where)
{
    const char *last = strrchr(words, ' ') + 1;
    const int index = trv_words_index(words, word);
    char list[256];
    return index >= 0 ? index
                      : trv_fail(TRV_ERR_ARGUMENT, "there is no %s '%.40s'%s; expected %s, for example --%s=%s", option,
                                 word, where, trv_words_list(words, list, sizeof list), option, last);
}
