/*
 * Reading of values with checks of their type and range, and writing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "json/json.h"
#include "torus/torus.h"

bool trv_json_is_known(const char *key, const char *const *known)
{
    while (*known && strcmp(*known, key) != 0)
        known++;
    return *known;
}

void trv_json_check_keys(trv_json_t *json, json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (!trv_json_is_known(key, known))
            trv_json_warn(json, object, key, "the key \"%.40s\" is unknown and ignored", key);
    }
}

static bool is_within(const json_t *value, int64_t min, int64_t max)
{
    return json_is_integer(value) && json_integer_value(value) >= min && json_integer_value(value) <= max;
}

int trv_json_integer(const trv_json_t *json, const json_t *object, const char *key, bool required, int64_t min,
                     int64_t max, int64_t *value)
{
    const json_t *entry = json_object_get(object, key);
    if (!entry && !required)
        return TRV_OK;
    if (!is_within(entry, min, max))
        return trv_json_fail(json, object, key, "\"%s\" must be a whole number from %" PRId64 " to %" PRId64, key, min,
                             max);
    *value = json_integer_value(entry);
    return TRV_OK;
}

int trv_json_entry(const trv_json_t *json, const json_t *list, size_t index, const char *what, int64_t min, int64_t max,
                   int64_t *value)
{
    const json_t *entry = json_array_get(list, index);
    if (!is_within(entry, min, max))
        return trv_json_fail(json, entry && entry->type < JSON_TRUE ? entry : list, NULL,
                             "%s must be a whole number from %" PRId64 " to %" PRId64, what, min, max);
    *value = json_integer_value(entry);
    return TRV_OK;
}

int trv_json_boolean(const trv_json_t *json, const json_t *object, const char *key, bool *value)
{
    const json_t *entry = json_object_get(object, key);
    if (entry && !json_is_boolean(entry))
        return trv_json_fail(json, object, key, "\"%s\" must be true or false", key);
    if (entry)
        *value = json_is_true(entry);
    return TRV_OK;
}

int trv_json_word(const trv_json_t *json, const json_t *object, const char *key, const char *const *word, int count,
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
        const size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s\"%s\"", i ? ", " : "", word[i]);
    }
    return trv_json_fail(json, object, key, "\"%s\" must be one of %s", key, words);
}

int trv_json_flags(const trv_json_t *json, const json_t *object, const char *key, int dims, bool marked, unsigned *bits)
{
    const json_t *list = json_object_get(object, key), *entry;
    char example[8 * TRV_DIMS_MAX] = "";
    size_t i;
    *bits = 0;
    if (!list)
        return TRV_OK;
    bool right = json_is_array(list) && json_array_size(list) == (size_t)dims;
    json_array_foreach(list, i, entry)
    {
        right = right && json_is_boolean(entry);
        if (right && json_is_true(entry) == marked)
            *bits |= 1u << i;
    }
    for (int d = 0; d < dims; d++)
        strcat(example, d ? ", true" : "true");
    return right ? TRV_OK
                 : trv_json_fail(json, object, key,
                                 "\"%s\" must be a list of true and false, one for each dimension, of which there %s "
                                 "%d: [%s] for example",
                                 key, dims == 1 ? "is" : "are", dims, example);
}

int trv_json_torus(const trv_json_t *json, const json_t *object, trv_torus_t *torus)
{
    const json_t *list = json_object_get(object, "torus");
    const size_t dims = json_is_array(list) ? json_array_size(list) : 0;
    int size[TRV_DIMS_MAX], rc = TRV_OK;
    unsigned lines;
    if (dims < 1 || dims > TRV_DIMS_MAX)
        return trv_json_fail(json, object, "torus", "\"torus\" must be a list of 1 to %d sizes, [8, 8] for example",
                             TRV_DIMS_MAX);
    for (size_t d = 0; d < dims && !rc; d++) {
        int64_t value = 0;
        char what[48];
        snprintf(what, sizeof what, "the size of dimension %zu in \"torus\"", d);
        rc = trv_json_entry(json, list, d, what, 1, 1 << 30, &value);
        size[d] = (int)value;
    }
    if (!rc && trv_torus_init(torus, (int)dims, size))
        rc = trv_json_fail(json, list, NULL, "%s", trv_last_error());
    if (!rc)
        rc = trv_json_flags(json, object, "wrap", torus->dims, false, &lines);
    for (int d = 0; !rc && d < torus->dims; d++) /* a dimension of one coordinate has no links in either case */
        lines &= ~((unsigned)(size[d] == 1) << d);
    return rc ? rc : trv_torus_set_lines(torus, lines);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

int trv_json_put(FILE *out, json_t *value, size_t flags)
{
    if (!value)
        return trv_fail_memory();
    const locale_t before = trv_locale_enter();
    json_dumpf(value, out, flags);
    trv_locale_leave(before);
    json_decref(value);
    return TRV_OK;
}

json_t *trv_json_flags_list(int dims, bool marked, unsigned bits)
{
    json_t *list = json_array();
    for (int d = 0; d < dims; d++)
        json_array_append_new(list, json_boolean((bits >> d & 1) == (unsigned)marked));
    return list;
}
