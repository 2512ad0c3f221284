/*
 * The part of jansson's interface that the tool uses, for WebAssembly, for which Debian has no jansson: values with
 * reference counts, a reader, and a writer that prints numbers exactly as jansson 2.14 does. tests/explorer/same.mjs
 * compares the browser's answers with the tool's.
 *
 * Limits: objects are searched linearly, because they have few keys here; strings are not checked to be UTF-8, because
 * a browser passes nothing else.
 */
#ifndef TRIVANCE_EXPLORE_WASM_JANSSON_H
#define TRIVANCE_EXPLORE_WASM_JANSSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef long long json_int_t;
typedef enum {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_INTEGER,
    JSON_REAL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
} json_type;

typedef struct json_t {
    json_type type;
    size_t refcount, count, capacity; /* count, capacity: of an array's or an object's members */
    struct json_t **value;            /* members of an array or an object */
    char **key;                       /* keys of an object */
    char *text;
    json_int_t integer;
    double real;
} json_t;

typedef struct json_error_t {
    int line, column;
    char text[160];
} json_error_t;

#define JSON_COMPACT           0x20
#define JSON_INDENT(n)         (n)
#define JSON_PRESERVE_ORDER    0x100
#define JSON_ENCODE_ANY        0x200
#define JSON_EMBED             0x10000
#define JSON_REAL_PRECISION(n) (((n)&0x1F) << 11)
#define JSON_REJECT_DUPLICATES 0x1

json_t *json_object(void);
json_t *json_array(void);
json_t *json_string(const char *text);
json_t *json_integer(json_int_t value);
json_t *json_real(double value);
json_t *json_true(void);
json_t *json_false(void);
json_t *json_null(void);
#define json_boolean(value) ((value) ? json_true() : json_false())

json_t *json_incref(json_t *value);
void json_decref(json_t *value);

static inline int json_is_(const json_t *value, json_type type) { return value && value->type == type; }
#define json_is_object(value)  json_is_(value, JSON_OBJECT)
#define json_is_array(value)   json_is_(value, JSON_ARRAY)
#define json_is_string(value)  json_is_(value, JSON_STRING)
#define json_is_integer(value) json_is_(value, JSON_INTEGER)
#define json_is_true(value)    json_is_(value, JSON_TRUE)
#define json_is_false(value)   json_is_(value, JSON_FALSE)
#define json_is_boolean(value) (json_is_true(value) || json_is_false(value))
#define json_is_number(value)  (json_is_integer(value) || json_is_(value, JSON_REAL))

const char *json_string_value(const json_t *value);
json_int_t json_integer_value(const json_t *value);
double json_number_value(const json_t *value);

size_t json_array_size(const json_t *array);
json_t *json_array_get(const json_t *array, size_t index);
int json_array_append_new(json_t *array, json_t *value);
#define json_array_foreach(array, index, value)                                                                        \
    for ((index) = 0; (index) < json_array_size(array) && ((value) = json_array_get(array, index)); (index)++)

json_t *json_object_get(const json_t *object, const char *key);
int json_object_set_new(json_t *object, const char *key, json_t *value);
#define json_object_foreach(object, k, v)                                                                              \
    for (size_t k##_at = 0;                                                                                            \
         (object) && k##_at < (object)->count && ((k) = (object)->key[k##_at], (v) = (object)->value[k##_at], 1);      \
         k##_at++)

/* Format characters: s string, i int, I json_int_t, f double, b boolean, o a value of which ownership is taken, O one
 * that stays with the caller, {} and []. s% also takes the length. */
json_t *json_pack(const char *format, ...);

json_t *json_loadb(const char *text, size_t length, size_t flags, json_error_t *error);
int json_dumpf(const json_t *value, FILE *out, size_t flags);

#endif
