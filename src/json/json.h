/*
 * JSON texts: read once, with sentences that name the place of what is wrong, and written.
 *
 * A sentence begins with file, line and column and, where the document has them, the place in words:
 *
 *     schedule.json:7:15: stream 0, step 2, message 5: "reg" must be a whole number from 0 to 8
 *
 * jansson keeps no positions. They are found again by walking text and values side by side, and only when there is
 * something to report, so that reading costs no more than jansson does.
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

/* Levels of a place in words: "stream 0, step 2, message 5" has three. */
#define TRV_JSON_LEVELS 3

/* A document. The caller sets `warn` and `context` before reading. */
typedef struct trv_json {
    json_t *root;
    const char *name;     /* of the file, as sentences show it; borrowed */
    const char *text;     /* borrowed after trv_json_parse, … */
    char *own_text;       /* … and the document's own after trv_json_read */
    trv_warn_t *warn;     /* receives what is odd but harmless; NULL: nothing does */
    void *context;        /* of `warn` */
    int warnings, levels; /* so far; of the place */
    struct {
        const char *noun;
        long long number;
    } place[TRV_JSON_LEVELS];
} trv_json_t;

/* Reads the file at `path` ("-" is stdin), or `length` bytes of a text, which must outlive the document. The root is an
 * object or a list. TRV_ERR_ARGUMENT where the file cannot be read, TRV_ERR_INVALID where it is not JSON; a key occurs
 * only once in an object. After a failure there is nothing to close. */
int trv_json_read(trv_json_t *json, const char *path);
int trv_json_parse(trv_json_t *json, const char *name, const char *text, size_t length);
void trv_json_close(trv_json_t *json);

/* Sets one level of the place in words, and removes those below it. */
static inline void trv_json_at(trv_json_t *json, int level, const char *noun, long long number)
{
    json->place[level].noun = noun;
    json->place[level].number = number;
    json->levels = level + 1;
}

/* TRV_ERR_INVALID with a sentence about the entry `key` of the object `value`, or about `value` itself where key is
 * NULL or the object lacks it. With value NULL the sentence is about the whole file and has no line; nor has it where
 * `value` is true, false or null, which jansson has once for all of them: name them by their key. */
int trv_json_fail(const trv_json_t *json, const json_t *value, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same as a warning. Of many warnings only the first are passed on. */
void trv_json_warn(trv_json_t *json, const json_t *value, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Whether a key is among the `known` ones (ended by NULL). trv_json_check_keys warns of the others
 * of `object`. */
bool trv_json_is_known(const char *key, const char *const *known);
void trv_json_check_keys(trv_json_t *json, json_t *object, const char *const *known);

/* The entry at `key`: an integer from min to max, a boolean, or one of `count` words, of which *value becomes the
 * index. An absent key leaves *value as it is; an integer that is `needed` must be there. */
int trv_json_integer(const trv_json_t *json, const json_t *object, const char *key, bool needed, int64_t min,
                     int64_t max, int64_t *value);
int trv_json_boolean(const trv_json_t *json, const json_t *object, const char *key, bool *value);
int trv_json_word(const trv_json_t *json, const json_t *object, const char *key, const char *const *word, int count,
                  int *value);

/* An entry of a list, an integer from min to max; sentences call it `what`. */
int trv_json_entry(const trv_json_t *json, const json_t *list, size_t index, const char *what, int64_t min, int64_t max,
                   int64_t *value);

/* A list with true or false for each dimension: the bits of those that are `marked`. No bit where there is no list. */
int trv_json_flags(const trv_json_t *json, const json_t *object, const char *key, int dims, bool marked,
                   unsigned *bits);

/* "torus": [2, 4] and, if it is there, "wrap": [true, false]. */
int trv_json_torus(const trv_json_t *json, const json_t *object, trv_torus_t *torus);

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Writes a value with jansson's flags, and releases it. TRV_ERR_MEMORY where it is NULL; errors of the stream are left
 * to the caller (ferror). */
int trv_json_put(FILE *out, json_t *value, size_t flags);

/* The list that trv_json_flags reads. NULL: no memory. */
json_t *trv_json_flags_list(int dims, bool marked, unsigned bits);

#endif
