/*
 * Reads JSON (RFC 8259) from a text in memory. The nesting of values is limited, and duplicate keys are rejected.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "jansson.h"

#define DEPTH_MAX 2048 /* as in jansson */

typedef struct reader {
    const char *text, *at, *end;
    json_error_t *error;
} reader_t;

static json_t *fail(const reader_t *reader, const char *format, ...)
{
    va_list arguments;
    json_error_t *error = reader->error;
    if (error->text[0])
        return NULL; /* only the first error is reported */
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error->line = 1;
    error->column = 0;
    for (const char *c = reader->text; c < reader->at; c++) {
        error->column = *c == '\n' ? 0 : error->column + 1;
        error->line += *c == '\n';
    }
    return NULL;
}

static void skip_blanks(reader_t *reader)
{
    while (reader->at < reader->end && *reader->at && strchr(" \t\r\n", *reader->at))
        reader->at++;
}

static bool take(reader_t *reader, char c)
{
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

static json_t *fail_expected(const reader_t *reader, const char *what)
{
    if (reader->at == reader->end)
        return fail(reader, "%s expected near end of file", what);
    return fail(reader, "%s expected near '%.1s'", what, reader->at);
}

/* ---- Strings ----------------------------------------------------------------------------------------------------- */

static bool read_hex(reader_t *reader, unsigned *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, reader->at++) {
        const char *digits = "0123456789abcdef", *digit;
        if (reader->at == reader->end || !(digit = strchr(digits, *reader->at | 0x20)) || !*digit)
            return false;
        *code = 16 * *code + (unsigned)(digit - digits);
    }
    return true;
}

static char *put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *out++ = (char)((0xf00 >> (more + 1) & 0xff) | code >> 6 * more);
    for (int i = more - 1; i >= 0; i--)
        *out++ = (char)(0x80 | (code >> 6 * i & 0x3f));
    return out;
}

/* Reads the escape sequence after a backslash; NULL if it is invalid. */
static char *read_escape(reader_t *reader, char *out)
{
    static const char name[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    const char *found = reader->at < reader->end ? strchr(name, *reader->at) : NULL;
    unsigned code, low;
    if (found && *found) {
        reader->at++;
        *out++ = meaning[found - name];
        return out;
    }
    if (reader->at == reader->end || *reader->at++ != 'u' || !read_hex(reader, &code) || code == 0)
        return NULL;
    if (code >= 0xd800 && code < 0xe000) { /* a surrogate pair */
        if (code >= 0xdc00 || reader->end - reader->at < 6 || reader->at[0] != '\\' || reader->at[1] != 'u')
            return NULL;
        reader->at += 2;
        if (!read_hex(reader, &low) || low < 0xdc00 || low >= 0xe000)
            return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return put_utf8(out, code);
}

/* The number of bytes of the character that begins here; 0 if it is not valid UTF-8. */
static int utf8_length(const char *at, const char *end)
{
    const unsigned char *c = (const unsigned char *)at;
    const int length = c[0] < 0x80                   ? 1
                       : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                       : (c[0] & 0xf0) == 0xe0       ? 3
                       : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                     : 0;
    if (length > end - at)
        return 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    const bool bad = length == 3 ? (c[0] == 0xe0 && c[1] < 0xa0) ||
                                       (c[0] == 0xed && c[1] >= 0xa0) /* overlong, or a surrogate */
                                 : length == 4 && ((c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90));
    return bad ? 0 : length;
}

/* Reads a string after its opening quote. The caller frees it; NULL after an error. */
static char *read_text(reader_t *reader)
{
    size_t length = 0;
    for (const char *c = reader->at; c < reader->end && *c != '"'; c += *c == '\\' ? 2 : 1)
        length += 2;
    char *text = malloc(length + 4), *out = text;
    if (!text)
        return (char *)fail(reader, "there is not enough memory");
    while (reader->at < reader->end && *reader->at != '"') {
        const int bytes = utf8_length(reader->at, reader->end);
        const char c = *reader->at;
        if (bytes != 1) {
            if (!bytes) {
                free(text);
                return (char *)fail(reader, "unable to decode byte 0x%x", (unsigned char)c);
            }
            memcpy(out, reader->at, (size_t)bytes);
            out += bytes;
            reader->at += bytes;
            continue;
        }
        reader->at++;
        if ((unsigned char)c < 0x20) {
            free(text);
            return (char *)fail(reader, "control character 0x%x in a string", c);
        }
        if (c != '\\') {
            *out++ = c;
        } else if (!(out = read_escape(reader, out))) {
            free(text);
            return (char *)fail(reader, "invalid escape in a string");
        }
    }
    if (!take(reader, '"')) {
        free(text);
        return (char *)fail(reader, "premature end of a string");
    }
    *out = '\0';
    return text;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static json_t *read_value(reader_t *reader, int depth);

static json_t *read_number(reader_t *reader)
{
    char copy[64], *end;
    const size_t length = strspn(reader->at, "+-.0123456789eE"); /* the text is zero-terminated */
    const char *digits = reader->at + (*reader->at == '-');
    if (length == 0 || length >= sizeof copy || *digits < '0' || *digits > '9' ||
        (*digits == '0' && digits[1] >= '0' && digits[1] <= '9'))
        return fail(reader, "invalid token near '%.1s'", reader->at);
    memcpy(copy, reader->at, length);
    copy[length] = '\0';
    errno = 0;
    const bool whole = !strpbrk(copy, ".eE");
    json_t *value = whole ? json_integer(strtoll(copy, &end, 10)) : json_real(strtod(copy, &end));
    if (*end || errno == ERANGE) {
        json_decref(value);
        return fail(reader, *end ? "invalid token near '%s'" : "the number %s is too large", copy);
    }
    reader->at += length;
    return value;
}

static json_t *read_members(reader_t *reader, json_t *container, int depth)
{
    const bool keyed = json_is_object(container);
    const char close = keyed ? '}' : ']';
    bool good = take(reader, close);
    while (!good) {
        char *key = NULL;
        if (keyed && (!take(reader, '"') ? !fail_expected(reader, "string or '}'") : !(key = read_text(reader))))
            break;
        if (keyed && (json_object_get(container, key) ? !fail(reader, "duplicate object key \"%.40s\"", key)
                                                      : !take(reader, ':') && !fail_expected(reader, "':'"))) {
            free(key);
            break;
        }
        json_t *value = read_value(reader, depth + 1);
        const int rc = !value  ? -1
                       : keyed ? json_object_set_new(container, key, value)
                               : json_array_append_new(container, value);
        free(key);
        if (rc) {
            fail(reader, "there is not enough memory");
            break;
        }
        good = take(reader, close);
        if (!good && !take(reader, ',')) {
            fail_expected(reader, keyed ? "'}'" : "']'");
            break;
        }
    }
    if (good)
        return container;
    json_decref(container);
    return NULL;
}

static json_t *read_word(reader_t *reader, const char *word, json_t *(*make)(void))
{
    const size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
        return fail(reader, "invalid token near '%.1s'", reader->at);
    reader->at += length;
    return make();
}

static json_t *read_value(reader_t *reader, int depth)
{
    if (depth > DEPTH_MAX)
        return fail(reader, "maximum parsing depth reached");
    if (take(reader, '{'))
        return read_members(reader, json_object(), depth);
    if (take(reader, '['))
        return read_members(reader, json_array(), depth);
    if (take(reader, '"')) {
        char *text = read_text(reader);
        json_t *value = json_string(text);
        free(text);
        return value;
    }
    switch (reader->at < reader->end ? *reader->at : '\0') {
    case '\0': return fail(reader, "unexpected end of file");
    case 't': return read_word(reader, "true", json_true);
    case 'f': return read_word(reader, "false", json_false);
    case 'n': return read_word(reader, "null", json_null);
    default: return read_number(reader);
    }
}

json_t *json_loadb(const char *text, size_t length, size_t flags, json_error_t *error)
{
    (void)flags; /* duplicate keys are always rejected */
    json_error_t unseen;
    reader_t reader = {text, text, text + length, error ? error : &unseen};
    *reader.error = (json_error_t){0};
    skip_blanks(&reader);
    if (reader.at == reader.end || (*reader.at != '{' && *reader.at != '['))
        return fail_expected(&reader, "'[' or '{'");
    json_t *root = read_value(&reader, 0);
    skip_blanks(&reader);
    if (root && reader.at < reader.end) {
        json_decref(root);
        return fail_expected(&reader, "end of file");
    }
    return root;
}
