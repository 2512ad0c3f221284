/*
 * The variables on which all ranks must agree, as one text.
 *
 * It is what stands in the environment and not what was understood of it, so that a difference can be told in the words
 * of whoever has set it. A value that is spelt in another way differs, even where it means the same: "1us", "1000ns".
 */
#include "settings/settings.h"

#include <stdio.h>
#include <stdlib.h>

char *trv_settings_text(size_t *length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    if (!stream)
        return NULL;
    for (int i = 0; i < trv_settings_count(); i++) {
        const trv_setting_t *setting = trv_settings_at(i);
        if (!setting->shared)
            continue;
        fprintf(stream, "%s=", setting->name);
        for (const char *at = getenv(setting->name); at && *at; at++)
            fputs(*at == '\n' ? "\\n" : (const char[]){*at, '\0'}, stream);
        fputc('\n', stream);
    }
    bool good = !ferror(stream);
    good = fclose(stream) == 0 && good;
    if (good)
        return text;
    free(text);
    return NULL;
}
