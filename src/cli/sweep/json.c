/*
 * The grid in a file: one JSON object. Its keys are the names of the axes; its values are strings or numbers as on the
 * command line, or arrays of these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/sweep/sweep.h"
#include "base/error.h"
#include "base/text/nearest.h"

int cli_sweep_append(char **list, const char *text)
{
    size_t used = *list ? strlen(*list) + 1 : 0;
    char *longer = realloc(*list, used + strlen(text) + 1);
    if (!longer)
        return trv_fail_memory();
    if (used > 0)
        longer[used - 1] = ',';
    strcpy(longer + used, text);
    *list = longer;
    return TRV_OK;
}

/* Appends a value of the key, or of its list. */
static int append_value(const trv_json_t *json, char **list, const json_t *value, const char *key)
{
    char number[64];
    const char *text = number;
    if (json_is_string(value))
        text = json_string_value(value);
    else if (json_is_integer(value))
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        trv_snprintf(number, sizeof number, "%.15g", json_real_value(value));
    else
        return trv_json_fail(json, json->root, key,
                             "the key %s takes a string, a number or a list of these, for example [\"8\", \"8x8\"]",
                             key);
    if (cli_sweep_check_list(cli_axis_find(key), text))
        return trv_json_fail(json, value, NULL, "%s", trv_last_error());
    return cli_sweep_append(list, text);
}

static int unknown_key(const trv_json_t *json, const char *key)
{
    const char *name[CLI_AXES];
    for (int i = 0; i < CLI_AXES; i++)
        name[i] = cli_axis_name(i);
    const char *now = cli_option_renamed(key);
    if (now)
        return trv_json_fail(json, json->root, key, "the key %.40s is now called %s", key, now);
    const char *nearest = trv_nearest(key, name, CLI_AXES);
    if (nearest)
        return trv_json_fail(json, json->root, key, "there is no key '%.40s'; did you mean %s?", key, nearest);
    return trv_json_fail(json, json->root, key,
                         "there is no key '%.40s'; the keys are the long options of `trivance sweep --help` that take "
                         "lists, for example torus",
                         key);
}

int cli_sweep_grid_load(cli_sweep_grid_t *grid, const trv_json_t *json)
{
    const char *key;
    json_t *value, *entry;
    size_t i;
    int rc = TRV_OK;
    if (!json_is_object(json->root))
        return trv_json_fail(json, json->root, NULL,
                             "it is not a JSON object, for example {\"torus\": [\"8\", \"8x8\"]}");
    json_object_foreach(json->root, key, value)
    {
        int axis = cli_axis_find(key);
        char *list = NULL;
        if (axis < 0)
            return unknown_key(json, key);
        if (!json_is_array(value))
            rc = append_value(json, &list, value, key);
        json_array_foreach(value, i, entry) rc = rc ? rc : append_value(json, &list, entry, key);
        if (!rc && !list)
            rc = trv_json_fail(json, json->root, key, "the list of the key %s is empty", key);
        if (!rc && !grid->list[axis])
            grid->list[axis] = list;
        else
            free(list);
        if (rc)
            return rc;
    }
    return TRV_OK;
}

char *cli_sweep_grid_dump(const cli_sweep_grid_t *grid)
{
    json_t *object = json_object();
    for (int i = 0; i < CLI_AXES; i++)
        if (grid->list[i])
            json_object_set_new(object, cli_axis_name(i), json_string(grid->list[i]));
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}
