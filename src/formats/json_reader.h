/*
 * Reading JSON with sentences: where in the file something is, what it is, and what was expected.
 */
#ifndef TRIVANCE_FORMATS_JSON_READER_H
#define TRIVANCE_FORMATS_JSON_READER_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "formats/schedule_file.h"

/* Where the reader is: shown as "FILE: stream 0, step 2, message 5". Numbers below 0 are left out. */
typedef struct json_place {
    const char *file;
    int stream, step;
    const char *what; /* "message", "combine"; NULL for none */
    long long number;
    trv_warn_t *warn;
    void *context;
} json_place_t;

/* TRV_ERR_INVALID with the place before the sentence. */
int trv_json_fail(const json_place_t *place, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trv_json_warn(const json_place_t *place, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Warns of every key of `object` that is not among the `known` ones (ended by NULL). */
void trv_json_check_keys(const json_place_t *place, json_t *object, const char *const *known);

/* The value at `key`, which must be an integer from min to max; an absent key leaves *value alone, or fails if
 * `needed`. */
int trv_json_integer(const json_place_t *place, json_t *object, const char *key, bool needed, int64_t min, int64_t max,
                     int64_t *value);
/* The same for an entry of an array, called `what`. */
int trv_json_entry(const json_place_t *place, json_t *array, size_t index, const char *what, int64_t min, int64_t max,
                   int64_t *value);
int trv_json_boolean(const json_place_t *place, json_t *object, const char *key, bool *value);
/* One of `count` words; *value becomes its index. */
int trv_json_word(const json_place_t *place, json_t *object, const char *key, const char *const *word, int count,
                  int *value);

#endif
