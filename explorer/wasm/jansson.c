/*
 * JSON values, and writing them. The reader is in jansson_read.c.
 */
#include "base/number.h"
#include "jansson.h"

#include <math.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static json_t *make(json_type type)
{
    json_t *value = calloc(1, sizeof *value);
    if (value) {
        value->type = type;
        value->refcount = 1;
    }
    return value;
}

json_t *json_object(void) { return make(JSON_OBJECT); }
json_t *json_array(void) { return make(JSON_ARRAY); }
json_t *json_true(void) { return make(JSON_TRUE); }
json_t *json_false(void) { return make(JSON_FALSE); }
json_t *json_null(void) { return make(JSON_NULL); }

static json_t *make_text(const char *text, size_t length)
{
    json_t *value = make(JSON_STRING);
    char *copy = malloc(length + 1);
    if (!value || !copy) {
        free(value);
        free(copy);
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    value->text = copy;
    return value;
}

json_t *json_string(const char *text) { return text ? make_text(text, strlen(text)) : NULL; }

json_t *json_integer(json_int_t number)
{
    json_t *value = make(JSON_INTEGER);
    if (value)
        value->integer = number;
    return value;
}

json_t *json_real(double number)
{
    json_t *value = isfinite(number) ? make(JSON_REAL) : NULL;
    if (value)
        value->real = number;
    return value;
}

json_t *json_incref(json_t *value)
{
    if (value)
        value->refcount++;
    return value;
}

void json_decref(json_t *value)
{
    if (!value || --value->refcount)
        return;
    for (size_t i = 0; i < value->count; i++) {
        json_decref(value->value[i]);
        if (value->key)
            free(value->key[i]);
    }
    free(value->value);
    free(value->key);
    free(value->text);
    free(value);
}

const char *json_string_value(const json_t *value) { return json_is_string(value) ? value->text : NULL; }
json_int_t json_integer_value(const json_t *value) { return json_is_integer(value) ? value->integer : 0; }

double json_number_value(const json_t *value)
{
    return json_is_integer(value) ? (double)value->integer : json_is_number(value) ? value->real : 0;
}

/* ---- Arrays and objects ------------------------------------------------------------------------------------------ */

/* Takes ownership of key and value, also on failure. */
static int append(json_t *container, char *key, json_t *value)
{
    if (container && value && container->count == container->capacity) {
        size_t capacity = container->capacity ? 2 * container->capacity : 4;
        json_t **grown = realloc(container->value, capacity * sizeof(json_t *));
        if (grown)
            container->value = grown;
        char **keys = container->type == JSON_OBJECT ? realloc(container->key, capacity * sizeof(char *)) : NULL;
        if (keys)
            container->key = keys;
        if (grown && (keys || container->type != JSON_OBJECT))
            container->capacity = capacity;
    }
    if (!container || !value || container->count == container->capacity) {
        json_decref(value);
        free(key);
        return -1;
    }
    if (container->type == JSON_OBJECT)
        container->key[container->count] = key;
    container->value[container->count++] = value;
    return 0;
}

size_t json_array_size(const json_t *array) { return json_is_array(array) ? array->count : 0; }

json_t *json_array_get(const json_t *array, size_t index)
{
    return index < json_array_size(array) ? array->value[index] : NULL;
}

int json_array_append_new(json_t *array, json_t *value) { return append(array, NULL, value); }

json_t *json_object_get(const json_t *object, const char *key)
{
    for (size_t i = 0; json_is_object(object) && i < object->count; i++)
        if (strcmp(object->key[i], key) == 0)
            return object->value[i];
    return NULL;
}

int json_object_set_new(json_t *object, const char *key, json_t *value)
{
    for (size_t i = 0; value && json_is_object(object) && i < object->count; i++)
        if (strcmp(object->key[i], key) == 0) {
            json_decref(object->value[i]);
            object->value[i] = value;
            return 0;
        }
    char *copy = strdup(key);
    if (!copy) {
        json_decref(value);
        return -1;
    }
    return append(object, copy, value);
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

static const char *skip(const char *format) { return format + strspn(format, " ,:"); }

static json_t *pack(const char **format, va_list *arguments);

static const char *take_text(const char **format, va_list *arguments, size_t *length)
{
    const char *text = va_arg(*arguments, const char *); /* with "s%" its length is the next argument */
    *length = **format == '%' ? va_arg(*arguments, size_t) : strlen(text);
    *format += **format == '%';
    return text;
}

static json_t *pack_members(const char **format, va_list *arguments, bool keyed)
{
    json_t *container = make(keyed ? JSON_OBJECT : JSON_ARRAY);
    int rc = 0;
    for (*format = skip(*format); **format != (keyed ? '}' : ']'); *format = skip(*format)) {
        size_t length;
        const char *key = NULL;
        if (keyed) {
            ++*format;
            key = take_text(format, arguments, &length);
            *format = skip(*format);
        }
        json_t *value = pack(format, arguments);
        rc |= keyed ? json_object_set_new(container, key, value) : json_array_append_new(container, value);
    }
    ++*format;
    if (rc) {
        json_decref(container);
        return NULL;
    }
    return container;
}

static json_t *pack(const char **format, va_list *arguments)
{
    size_t length;
    const char *text;
    switch (*(*format)++) {
    case '{': return pack_members(format, arguments, true);
    case '[': return pack_members(format, arguments, false);
    case 's': text = take_text(format, arguments, &length); return make_text(text, length);
    case 'i': return json_integer(va_arg(*arguments, int));
    case 'I': return json_integer(va_arg(*arguments, json_int_t));
    case 'f': return json_real(va_arg(*arguments, double));
    case 'b': return json_boolean(va_arg(*arguments, int));
    case 'o': return va_arg(*arguments, json_t *);
    case 'O': return json_incref(va_arg(*arguments, json_t *));
    default: return NULL;
    }
}

json_t *json_pack(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    json_t *value = pack(&format, &arguments);
    va_end(arguments);
    return value;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void write_text(const char *text, FILE *out)
{
    static const char short_form[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    fputc('"', out);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < sizeof short_form && short_form[c])
            fprintf(out, "\\%c", short_form[c]);
        else if (c < 0x20)
            fprintf(out, "\\u%04X", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

/* Writes a real like jansson: always with a point or an exponent; the exponent without a plus and without leading
 * zeros. */
static void write_real(double real, int precision, FILE *out)
{
    char text[64];
    trv_snprintf(text, sizeof text, "%.*g", precision ? precision : 17, real);
    char *exponent = strchr(text, 'e');
    if (!exponent) {
        fprintf(out, "%s%s", text, strchr(text, '.') ? "" : ".0");
        return;
    }
    const char *digits = exponent + 1 + (exponent[1] == '-' || exponent[1] == '+');
    digits += strspn(digits, "0");
    fprintf(out, "%.*s%s%s", (int)(exponent + 1 - text), text, exponent[1] == '-' ? "-" : "", digits);
}

static void write_value(const json_t *value, FILE *out, size_t flags)
{
    const bool compact = (flags & JSON_COMPACT) != 0, keyed = value->type == JSON_OBJECT;
    switch (value->type) {
    case JSON_TRUE: fputs("true", out); return;
    case JSON_FALSE: fputs("false", out); return;
    case JSON_NULL: fputs("null", out); return;
    case JSON_STRING: write_text(value->text, out); return;
    case JSON_INTEGER: fprintf(out, "%lld", value->integer); return;
    case JSON_REAL: write_real(value->real, (int)(flags >> 11 & 0x1F), out); return;
    default: break;
    }
    const bool bare = flags & JSON_EMBED;
    if (!bare)
        fputc(keyed ? '{' : '[', out);
    for (size_t i = 0; i < value->count; i++) {
        if (i)
            fputs(compact ? "," : ", ", out);
        if (keyed) {
            write_text(value->key[i], out);
            fputs(compact ? ":" : ": ", out);
        }
        write_value(value->value[i], out, flags & ~(size_t)JSON_EMBED);
    }
    if (!bare)
        fputc(keyed ? '}' : ']', out);
}

int json_dumpf(const json_t *value, FILE *out, size_t flags)
{
    if (!value)
        return -1;
    write_value(value, out, flags);
    return ferror(out) ? -1 : 0;
}
