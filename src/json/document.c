/*
 * Reading of documents, positions in them, and messages about them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "json/json.h"
#include "base/text/whole_file.h"

#define SENTENCE_MAX 960
#define WARNINGS_MAX 32
#define SPACE        " \t\r\n"

/* ---- Documents --------------------------------------------------------------------------------------------------- */

bool trv_json_is_blank(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && text[i] && strchr(SPACE, text[i]))
        i++;
    return i == length;
}

int trv_json_parse(trv_json_t *json, const char *name, const char *text, size_t length)
{
    json_error_t error;
    json->name = name;
    json->text = text;
    const locale_t before = trv_locale_enter(); /* jansson ends the program where a decimal point has several bytes */
    json->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    trv_locale_leave(before);
    if (json->root)
        return TRV_OK;
    if (trv_json_is_blank(text, length))
        return trv_fail(TRV_ERR_INVALID, "%.200s:1:1: the file is empty; expected an object in JSON", name);
    return trv_fail(TRV_ERR_INVALID, "%.200s:%d:%d: not valid JSON: %s", name, error.line, error.column, error.text);
}

int trv_json_read(trv_json_t *json, const char *path)
{
    size_t length;
    int rc = trv_whole_file_read(path, &json->name, &json->own_text, &length);
    if (!rc)
        rc = trv_json_parse(json, json->name, json->own_text, length);
    if (rc)
        trv_json_close(json);
    return rc;
}

void trv_json_close(trv_json_t *json)
{
    json_decref(json->root);
    free(json->own_text);
    json->root = NULL;
    json->own_text = NULL;
}

/* ---- Positions --------------------------------------------------------------------------------------------------- */

/* A traversal of text that jansson has accepted, in parallel with its values. It relies on jansson keeping the order of
 * the members of an object. */
typedef struct walk {
    const char *at;
    const json_t *value; /* the value to find … */
    const char *key;     /* … or, if not NULL, the entry of it to find */
    const char *found;
} walk_t;

static void walk_skip(walk_t *walk, const char *characters) { walk->at += strspn(walk->at, characters); }

static void walk_skip_string(walk_t *walk)
{
    for (walk->at++; *walk->at != '"'; walk->at++)
        walk->at += *walk->at == '\\';
    walk->at++;
}

static void walk_value(walk_t *walk, json_t *value)
{
    const char *key;
    json_t *entry;
    size_t i;
    walk_skip(walk, SPACE);
    if (value == walk->value && !walk->key)
        walk->found = walk->at;
    if (json_is_object(value)) {
        walk->at++;
        json_object_foreach(value, key, entry)
        {
            walk_skip(walk, SPACE ",");
            if (value == walk->value && walk->key && strcmp(key, walk->key) == 0)
                walk->found = walk->at;
            walk_skip_string(walk);
            walk_skip(walk, SPACE ":");
            walk_value(walk, entry);
        }
    } else if (json_is_array(value)) {
        walk->at++;
        json_array_foreach(value, i, entry)
        {
            walk_skip(walk, SPACE ",");
            walk_value(walk, entry);
        }
    }
    if (json_is_object(value) || json_is_array(value)) {
        walk_skip(walk, SPACE);
        walk->at++; /* the closing bracket or brace */
    } else if (json_is_string(value)) {
        walk_skip_string(walk);
    } else {
        walk->at += strcspn(walk->at, SPACE ",]}");
    }
}

static void find_position(const trv_json_t *json, const json_t *value, const char *key, int *line, int *column)
{
    walk_t walk = {.at = json->text, .value = value, .key = key && json_object_get(value, key) ? key : NULL};
    walk_value(&walk, json->root);
    *line = *column = 1;
    for (const char *at = json->text; at < walk.found; at++) {
        const bool continues = ((unsigned char)*at & 0xc0) == 0x80; /* a later byte of a UTF-8 character */
        *column = *at == '\n' ? 1 : *column + !continues;
        *line += *at == '\n';
    }
}

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

static void format_sentence(const trv_json_t *json, const json_t *value, const char *key, char text[SENTENCE_MAX],
                            const char *format, va_list arguments)
{
    size_t used = (size_t)snprintf(text, SENTENCE_MAX, "%.200s", json->name);
    if (value && value->type < JSON_TRUE) {
        int line, column;
        find_position(json, value, key, &line, &column);
        used += (size_t)snprintf(text + used, SENTENCE_MAX - used, ":%d:%d", line, column);
    }
    for (int i = 0; i < json->levels; i++)
        used += (size_t)snprintf(text + used, SENTENCE_MAX - used, "%s%s %lld", i ? ", " : ": ", json->position[i].noun,
                                 json->position[i].number);
    used += (size_t)snprintf(text + used, SENTENCE_MAX - used, ": ");
    trv_vsnprintf(text + used, SENTENCE_MAX - used, format, arguments);
}

int trv_json_fail(const trv_json_t *json, const json_t *value, const char *key, const char *format, ...)
{
    char text[SENTENCE_MAX];
    va_list arguments;
    va_start(arguments, format);
    format_sentence(json, value, key, text, format, arguments);
    va_end(arguments);
    return trv_fail(TRV_ERR_INVALID, "%s", text);
}

/* The number of warnings is limited, because each one traverses the whole text: a large file may have an unknown key in
 * every entry. */
void trv_json_warn(trv_json_t *json, const json_t *value, const char *key, const char *format, ...)
{
    char text[SENTENCE_MAX];
    va_list arguments;
    if (!json->warn || json->warnings > WARNINGS_MAX)
        return;
    va_start(arguments, format);
    format_sentence(json, value, key, text, format, arguments);
    va_end(arguments);
    if (json->warnings++ == WARNINGS_MAX)
        snprintf(text, sizeof text, "%.200s: further warnings are not shown", json->name);
    json->warn(json->context, text);
}
