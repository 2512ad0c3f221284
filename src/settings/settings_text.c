/*
 * The variables on which all ranks must agree, as one text.
 *
 * The text has the values as they are in the environment, not as they were parsed, so that an error message can quote a
 * difference as the user set it. Two spellings of the same value, such as "1us" and "1000ns", count as different.
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
