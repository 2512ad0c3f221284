/*
 * Profiles of networks: reads files, and those that are compiled into the library.
 */
#include "formats/front/profile.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <trivance/formats.h>

#include "base/append.h"
#include "base/error.h"
#include "json/json.h"

#define FORMAT "trivance-network-1"

static int fail_unknown(const char *name)
{
    char names[256] = "";
    for (const trv_profile_t *profile = trv_profiles; profile->name; profile++)
        trv_append(names, sizeof names, "%s%s", names[0] ? ", " : "", profile->name);
    return trv_fail(TRV_ERR_ARGUMENT,
                    "there is no network '%.60s'; expected one of %s, or the path of a file, for example ./mine.json",
                    name, names);
}

static const trv_profile_t *profile_at(int index)
{
    for (int i = 0; i <= index; i++)
        if (!trv_profiles[i].name)
            return NULL;
    return index < 0 ? NULL : &trv_profiles[index];
}

const char *trv_profile_name(int index) { return profile_at(index) ? profile_at(index)->name : NULL; }
const char *trv_profile_title(int index) { return profile_at(index) ? profile_at(index)->title : NULL; }

static int open_profile(const char *name, trv_json_t *file)
{
    if (strpbrk(name, "/."))
        return trv_json_read(file, name);
    for (const trv_profile_t *profile = trv_profiles; profile->name; profile++)
        if (strcmp(profile->name, name) == 0)
            return trv_json_parse(file, profile->name, profile->text, strlen(profile->text));
    return fail_unknown(name);
}

static int check_keys(const trv_json_t *file, json_t *object, const char *const *known, const char *expected)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (!trv_json_is_known(key, known))
            return trv_json_fail(file, object, key, "there is no key \"%.40s\"; expected %s", key, expected);
    }
    return TRV_OK;
}

static int set_parameter(const trv_json_t *file, const json_t *parameters, const char *key, json_t *entry,
                         trv_profile_set_t *set, void *context)
{
    const char *value = json_string_value(json_object_get(entry, "value"));
    const char *source = json_string_value(json_object_get(entry, "source"));
    if (!value || !source)
        return trv_json_fail(file, parameters, key,
                             "\"%.40s\": expected an object with two strings, for example {\"value\": \"1.5us\", "
                             "\"source\": \"measured\"}",
                             key);
    static const char *const known[] = {"value", "source", NULL};
    char reason[512];
    int rc = check_keys(file, entry, known, "\"value\" and \"source\"");
    if (rc)
        return rc;
    rc = set(context, key, value, source);
    if (!rc)
        return TRV_OK;
    snprintf(reason, sizeof reason, "%s", trv_last_error());
    return trv_json_fail(file, entry, "value", "%s", reason);
}

int trv_profile_read(const char *name, trv_profile_set_t *set, void *context)
{
    static const char *const known[] = {"format", "title", "parameters", NULL};
    trv_json_t file = {.root = NULL};
    int rc = open_profile(name, &file);
    if (rc)
        return rc;
    const char *format = json_string_value(json_object_get(file.root, "format")), *key;
    json_t *parameters = json_object_get(file.root, "parameters"), *entry;
    if (!format || strcmp(format, FORMAT) != 0)
        rc = trv_json_fail(&file, file.root, "format", "expected \"format\": \"" FORMAT "\"");
    else if (!json_is_object(parameters))
        rc = trv_json_fail(&file, file.root, "parameters",
                           "expected \"parameters\": {…}, with the names of the options of "
                           "`trivance simulate --help`");
    else
        rc = check_keys(&file, file.root, known, "\"format\", \"title\" and \"parameters\"");
    json_object_foreach(parameters, key, entry)
    {
        rc = rc ? rc : set_parameter(&file, parameters, key, entry, set, context);
    }
    trv_json_close(&file);
    return rc;
}
