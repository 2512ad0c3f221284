/*
 * Reading JSON with sentences.
 */
#include "formats/json_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static void format_place(const json_place_t *place, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%.200s", place->file);
    if (place->stream >= 0)
        used += (size_t)snprintf(text + used, size - used, ", stream %d", place->stream);
    if (place->step >= 0)
        used += (size_t)snprintf(text + used, size - used, ", step %d", place->step);
    if (place->what)
        snprintf(text + used, size - used, ", %s %lld", place->what, place->number);
}

int trv_json_fail(const json_place_t *place, const char *format, ...)
{
    char where[320], sentence[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    format_place(place, where, sizeof where);
    return trv_fail(TRV_ERR_INVALID, "%s: %s", where, sentence);
}

void trv_json_warn(const json_place_t *place, const char *format, ...)
{
    char text[960];
    if (!place->warn)
        return;
    format_place(place, text, 320);
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, sizeof text - used, ": ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    place->warn(place->context, text);
}

void trv_json_check_keys(const json_place_t *place, json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        bool found = false;
        for (int i = 0; known[i] && !found; i++)
            found = strcmp(key, known[i]) == 0;
        if (!found)
            trv_json_warn(place, "the key \"%.40s\" is unknown and ignored", key);
    }
}

static int check_integer(const json_place_t *place, const json_t *value, const char *what, int64_t min, int64_t max,
                         int64_t *result)
{
    if (!json_is_integer(value) || json_integer_value(value) < min || json_integer_value(value) > max)
        return trv_json_fail(place, "%s must be a whole number from %" PRId64 " to %" PRId64, what, min, max);
    *result = json_integer_value(value);
    return TRV_OK;
}

int trv_json_integer(const json_place_t *place, json_t *object, const char *key, bool needed, int64_t min, int64_t max,
                     int64_t *value)
{
    char what[64];
    const json_t *entry = json_object_get(object, key);
    if (!entry && !needed)
        return TRV_OK;
    snprintf(what, sizeof what, "\"%s\"", key);
    return check_integer(place, entry, what, min, max, value);
}

int trv_json_entry(const json_place_t *place, json_t *array, size_t index, const char *what, int64_t min, int64_t max,
                   int64_t *value)
{
    return check_integer(place, json_array_get(array, index), what, min, max, value);
}

int trv_json_boolean(const json_place_t *place, json_t *object, const char *key, bool *value)
{
    const json_t *entry = json_object_get(object, key);
    if (entry && !json_is_boolean(entry))
        return trv_json_fail(place, "\"%s\" must be true or false", key);
    if (entry)
        *value = json_is_true(entry);
    return TRV_OK;
}

int trv_json_word(const json_place_t *place, json_t *object, const char *key, const char *const *word, int count,
                  int *value)
{
    const json_t *entry = json_object_get(object, key);
    char words[160] = "";
    if (!entry)
        return TRV_OK;
    for (int i = 0; i < count; i++) {
        if (json_is_string(entry) && strcmp(json_string_value(entry), word[i]) == 0) {
            *value = i;
            return TRV_OK;
        }
        size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s\"%s\"", i ? ", " : "", word[i]);
    }
    return trv_json_fail(place, "\"%s\" must be one of %s", key, words);
}
