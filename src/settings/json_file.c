/*
 * JSON files and places in them.
 */
#include "settings/json_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int parse(trv_json_file_t *file, size_t length)
{
    json_error_t error;
    file->root = json_loadb(file->text, length, JSON_REJECT_DUPLICATES, &error);
    if (file->root)
        return TRV_OK;
    int code = trv_fail(TRV_ERR_INVALID, "%.200s:%d:%d: it is not JSON: %s", file->name, error.line, error.column,
                        error.text);
    trv_json_file_close(file);
    return code;
}

int trv_json_file_parse(trv_json_file_t *file, const char *name, const char *text, size_t length)
{
    *file = (trv_json_file_t){.name = strdup(name), .text = malloc(length + 1)};
    if (!file->name || !file->text) {
        trv_json_file_close(file);
        return trv_fail_memory();
    }
    memcpy(file->text, text, length);
    file->text[length] = '\0';
    return parse(file, length);
}

int trv_json_file_read(trv_json_file_t *file, const char *path)
{
    *file = (trv_json_file_t){.name = strdup(path)};
    errno = 0;
    FILE *in = fopen(path, "rb");
    size_t room = 0;
    ssize_t length = in ? getdelim(&file->text, &room, '\0', in) : -1; /* JSON has no such byte: the whole file */
    int fault = length < 0 ? errno : 0;
    if (in)
        fclose(in);
    if (file->name && fault == 0)
        return parse(file, length < 0 ? 0 : (size_t)length);
    trv_json_file_close(file);
    return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be read: %s", path, strerror(fault ? fault : ENOMEM));
}

void trv_json_file_close(trv_json_file_t *file)
{
    json_decref(file->root);
    free(file->text);
    free(file->name);
    *file = (trv_json_file_t){.name = NULL};
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* A walk over text that jansson has accepted, its values beside it; jansson keeps the order of an object's members. */
typedef struct walk {
    const char *at;
    const json_t *value; /* what is looked for, */
    const char *key;     /* or this entry of it */
    const char *found;
} walk_t;

static void skip(walk_t *walk, const char *characters) { walk->at += strspn(walk->at, characters); }

static void skip_string(walk_t *walk)
{
    for (walk->at++; *walk->at && *walk->at != '"'; walk->at++)
        if (*walk->at == '\\' && walk->at[1])
            walk->at++;
    walk->at += *walk->at == '"';
}

#define SPACE " \t\r\n"

static void walk_over(walk_t *walk, json_t *value)
{
    const char *key;
    json_t *entry;
    size_t i;
    skip(walk, SPACE);
    if (value == walk->value && !walk->key)
        walk->found = walk->at;
    if (json_is_object(value)) {
        walk->at++;
        json_object_foreach(value, key, entry)
        {
            skip(walk, SPACE ",");
            if (value == walk->value && walk->key && strcmp(key, walk->key) == 0)
                walk->found = walk->at;
            skip_string(walk);
            skip(walk, SPACE ":");
            walk_over(walk, entry);
        }
        skip(walk, SPACE);
        walk->at += *walk->at == '}';
    } else if (json_is_array(value)) {
        walk->at++;
        json_array_foreach(value, i, entry)
        {
            skip(walk, SPACE ",");
            walk_over(walk, entry);
        }
        skip(walk, SPACE);
        walk->at += *walk->at == ']';
    } else if (*walk->at == '"') {
        skip_string(walk);
    } else {
        walk->at += strcspn(walk->at, SPACE ",]}");
    }
}

static void find(const trv_json_file_t *file, const json_t *value, const char *key, int *line, int *column)
{
    walk_t walk = {.at = file->text, .value = value, .key = key, .found = NULL};
    walk_over(&walk, file->root);
    const char *place = walk.found ? walk.found : file->text;
    *line = *column = 1;
    for (const char *at = file->text; at < place; at++) {
        bool continues = ((unsigned char)*at & 0xc0) == 0x80; /* a later byte of a UTF-8 character */
        *column = *at == '\n' ? 1 : *column + !continues;
        *line += *at == '\n';
    }
}

static void tell(const trv_json_file_t *file, const json_t *value, const char *key, char *line, size_t size,
                 const char *format, va_list arguments)
{
    int row, column;
    find(file, value, key, &row, &column);
    int used = snprintf(line, size, "%.200s:%d:%d: ", file->name, row, column);
    if (used >= 0 && (size_t)used < size)
        vsnprintf(line + used, size - (size_t)used, format, arguments);
}

char *trv_json_file_tell(const trv_json_file_t *file, const json_t *value, const char *key, char *line, size_t size,
                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(file, value, key, line, size, format, arguments);
    va_end(arguments);
    return line;
}

int trv_json_file_fail(const trv_json_file_t *file, const json_t *value, const char *key, const char *format, ...)
{
    char line[800];
    va_list arguments;
    va_start(arguments, format);
    tell(file, value, key, line, sizeof line, format, arguments);
    va_end(arguments);
    return trv_fail(TRV_ERR_INVALID, "%s", line);
}
