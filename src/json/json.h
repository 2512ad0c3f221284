/*
 * Reading and writing of JSON. Error messages specify the position of an error: file, line and column and, if the
 * reader has set it, the position within the data:
 *
 *     schedule.json:7:15: stream 0, step 2, message 5: "reg" must be a whole number from 0 to 8
 *
 * jansson keeps no positions. They are determined by traversing text and values in parallel, and only when there is an
 * error to report, so that reading takes no more time than jansson needs.
 */
#ifndef TRIVANCE_JSON_JSON_H
#define TRIVANCE_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <trivance/torus.h>

#include "base/error.h"

/* Maximum number of levels of a position within the data: "stream 0, step 2, message 5" has three. */
#define TRV_JSON_LEVELS 3

/* A document. The caller sets `warn` and `context` before reading. */
typedef struct trv_json {
    json_t *root;
    const char *name;     /* of the file, for messages; not owned */
    const char *text;     /* not owned after trv_json_parse */
    char *own_text;       /* the same text after trv_json_read, owned by the document */
    trv_warn_t *warn;     /* called for warnings; may be NULL */
    void *context;        /* of `warn` */
    int warnings, levels; /* number of warnings so far; number of levels in `position` */
    struct {
        const char *noun;
        long long number;
    } position[TRV_JSON_LEVELS];
} trv_json_t;

/* Reads the file at `path` ("-" is stdin), or `length` bytes of a text, which must outlive the document. The root must
 * be an object or a list, and no object may have a key twice. Returns TRV_ERR_ARGUMENT if the file cannot be read,
 * TRV_ERR_INVALID if it is not JSON. After an error the document need not be closed. */
int trv_json_read(trv_json_t *json, const char *path);
int trv_json_parse(trv_json_t *json, const char *name, const char *text, size_t length);

/* Whether a text has only blanks, so that the reader of a format can name the command that writes such files. */
bool trv_json_is_blank(const char *text, size_t length);

void trv_json_close(trv_json_t *json);

/* Sets one level of the position within the data, and removes the levels below it. */
static inline void trv_json_at(trv_json_t *json, int level, const char *noun, long long number)
{
    json->position[level].noun = noun;
    json->position[level].number = number;
    json->levels = level + 1;
}

/* Returns TRV_ERR_INVALID and sets the last error to a message about the entry `key` of the object `value`, or about
 * `value` itself if key is NULL or the object lacks it. If value is NULL, the message is about the whole file and has
 * no line. It has no line either if `value` is true, false or null, since jansson represents all occurrences by one
 * value: specify these by object and key. */
int trv_json_fail(const trv_json_t *json, const json_t *value, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Does the same as a warning. Only a limited number of warnings per document is reported. */
void trv_json_warn(trv_json_t *json, const json_t *value, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* trv_json_is_known: true if a key is in the list `known`, which ends with NULL. trv_json_check_keys warns about the
 * keys of `object` that are not. */
bool trv_json_is_known(const char *key, const char *const *known);
void trv_json_check_keys(trv_json_t *json, json_t *object, const char *const *known);

/* Read the entry at `key`: an integer from min to max, a boolean, or one of `count` words, whose index *value becomes.
 * If the key is absent, *value is unchanged; for an integer that is `required` this is an error. */
int trv_json_integer(const trv_json_t *json, const json_t *object, const char *key, bool required, int64_t min,
                     int64_t max, int64_t *value);
int trv_json_boolean(const trv_json_t *json, const json_t *object, const char *key, bool *value);
int trv_json_word(const trv_json_t *json, const json_t *object, const char *key, const char *const *word, int count,
                  int *value);

/* Reads an entry of a list, an integer from min to max; `what` is its name in messages. */
int trv_json_entry(const trv_json_t *json, const json_t *list, size_t index, const char *what, int64_t min, int64_t max,
                   int64_t *value);

/* Reads a list of true or false for each dimension: *bits has a bit for each dimension whose value is `marked`, and
 * none if there is no list. */
int trv_json_flags(const trv_json_t *json, const json_t *object, const char *key, int dims, bool marked,
                   unsigned *bits);

/* Reads "torus": [2, 4] and the optional "wrap": [true, false]. */
int trv_json_torus(const trv_json_t *json, const json_t *object, trv_torus_t *torus);

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Writes a value with jansson's flags, and releases it. Returns TRV_ERR_MEMORY if it is NULL. The caller checks the
 * stream for errors (ferror). */
int trv_json_put(FILE *out, json_t *value, size_t flags);

/* Creates the list that trv_json_flags reads; NULL if memory is exhausted. */
json_t *trv_json_flags_list(int dims, bool marked, unsigned bits);

#endif
