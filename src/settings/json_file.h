/*
 * Small JSON files of the user's (rules, topologies): a complaint says where, as "rules.json:7:15: …".
 *
 * jansson keeps no positions; they are found again by walking text and values side by side when there is something to
 * complain of.
 */
#ifndef TRIVANCE_SETTINGS_JSON_FILE_H
#define TRIVANCE_SETTINGS_JSON_FILE_H

#include <stddef.h>

#include <jansson.h>

typedef struct trv_json_file {
    char *name;
    char *text;
    json_t *root;
} trv_json_file_t;

/* Reads the file at `path`. TRV_ERR_ARGUMENT where it cannot be read, TRV_ERR_INVALID with line, column and what was
 * expected where it is not JSON (an object or a list; a key stands once in an object). */
int trv_json_file_read(trv_json_file_t *file, const char *path);
/* The same for a text in memory, which is copied. */
int trv_json_file_parse(trv_json_file_t *file, const char *name, const char *text, size_t length);
/* Frees what it owns; a file of zeros is fine. */
void trv_json_file_close(trv_json_file_t *file);

/* "NAME:LINE:COLUMN: sentence" about the entry `key` of the object `value`, or, with key NULL, about `value` itself
 * (an object, list, text or number of the file). trv_json_file_fail leaves it as the last error: TRV_ERR_INVALID.
 * trv_json_file_tell writes it to `line`, which holds `size` bytes, and returns `line`. */
int trv_json_file_fail(const trv_json_file_t *file, const json_t *value, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
char *trv_json_file_tell(const trv_json_file_t *file, const json_t *value, const char *key, char *line, size_t size,
                         const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
