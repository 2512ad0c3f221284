/*
 * Reads JSON (RFC 8259) from a text in memory, as jansson 2.14 does: the same tokens, so that the text and the position
 * of every error are jansson's. The nesting of values is limited, and duplicate keys are rejected.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "jansson.h"

#define DEPTH_MAX 2048 /* as in jansson */
#define SHOWN_MAX 20   /* an error shows the token if it has at most this many bytes */

enum { END = -1, UNDECODABLE = -2 }; /* instead of the next byte */

typedef enum token {
    TOKEN_END,
    TOKEN_INVALID,
    TOKEN_TEXT,
    TOKEN_INTEGER,
    TOKEN_REAL,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_NULL, /* others are the characters of the punctuation */
} token_t;

typedef struct reader {
    const char *text, *at, *end;
    const char *token_begin; /* the token ends at `at` */
    const char *checked_end; /* the bytes before are valid UTF-8 */
    bool undecodable;
    int token, depth;
    char *string; /* of TOKEN_TEXT */
    bool has_nul; /* the string contains \u0000 */
    json_int_t integer;
    double real;
    json_error_t *error;
} reader_t;

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static bool starts_character(char byte)
{
    const unsigned char c = (unsigned char)byte;
    return c < 0x80 || (c >= 0xc2 && c < 0xf5);
}

/* Stores an error, unless there is one: the first is reported. Returns NULL. */
static json_t *fail(const reader_t *reader, const char *format, ...)
{
    json_error_t *error = reader->error;
    char what[sizeof error->text];
    const char *token = reader->token_begin;
    const int length = (int)(reader->at - token);
    va_list arguments;
    if (error->text[0])
        return NULL;
    va_start(arguments, format);
    trv_vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (length && *token)
        snprintf(error->text, sizeof error->text - 1, length <= SHOWN_MAX ? "%s near '%.*s'" : "%s", what, length,
                 token);
    else
        snprintf(error->text, sizeof error->text - 1, reader->undecodable ? "%s" : "%s near end of file", what);
    error->line = 1;
    error->column = 0;
    for (const char *c = reader->text; c < reader->at; c++) {
        error->column = *c == '\n' ? 0 : error->column + starts_character(*c);
        error->line += *c == '\n';
    }
    return NULL;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

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

/* Takes the next byte. Characters are checked as they begin. */
static int take(reader_t *reader)
{
    if (reader->undecodable)
        return UNDECODABLE;
    if (reader->at == reader->end)
        return END;
    if (reader->at >= reader->checked_end) {
        const int length = utf8_length(reader->at, reader->end);
        if (!length) {
            reader->undecodable = true;
            fail(reader, "unable to decode byte 0x%x", (unsigned char)*reader->at);
            return UNDECODABLE;
        }
        reader->checked_end = reader->at + length;
    }
    return (unsigned char)*reader->at++;
}

/* Gives back the byte that was taken last. */
static void give_back(reader_t *reader, int c) { reader->at -= c >= 0; }

static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_hex(int c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/* ---- Strings ----------------------------------------------------------------------------------------------------- */

/* Takes the rest of an escape sequence after its backslash. */
static bool take_escape(reader_t *reader)
{
    int c = take(reader);
    if (c != 'u')
        return c > 0 && strchr("\"\\/bfnrt", c);
    for (int i = 0; i < 4; i++)
        if (!is_hex(take(reader)))
            return false;
    return true;
}

/* Takes a string up to its closing quote. */
static bool take_string(reader_t *reader)
{
    for (int c = take(reader); c != '"'; c = take(reader)) {
        if (c == UNDECODABLE)
            return false;
        if (c == END)
            return fail(reader, "premature end of input");
        if (c < 0x20) {
            give_back(reader, c);
            return c == '\n' ? fail(reader, "unexpected newline") : fail(reader, "control character 0x%x", c);
        }
        if (c == '\\' && !take_escape(reader))
            return fail(reader, "invalid escape");
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

/* The value of the four hexadecimal digits after "\u", which take_escape has checked. */
static unsigned hex_value(const char *escape)
{
    const char digits[] = {escape[2], escape[3], escape[4], escape[5], '\0'};
    return (unsigned)strtoul(digits, NULL, 16);
}

/* Decodes "\uXXXX", or two of them that are a surrogate pair; NULL if they are not. */
static char *decode_unicode(reader_t *reader, const char **at, char *out)
{
    unsigned code = hex_value(*at);
    *at += 6;
    if (code >= 0xdc00 && code < 0xe000)
        return (char *)fail(reader, "invalid Unicode '\\u%04X'", code);
    if (code >= 0xd800 && code < 0xdc00) {
        if ((*at)[0] != '\\' || (*at)[1] != 'u')
            return (char *)fail(reader, "invalid Unicode '\\u%04X'", code);
        const unsigned low = hex_value(*at);
        *at += 6;
        if (low < 0xdc00 || low >= 0xe000)
            return (char *)fail(reader, "invalid Unicode '\\u%04X\\u%04X'", code, low);
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    reader->has_nul |= code == 0;
    return put_utf8(out, code);
}

/* Decodes the string that is the token. */
static bool decode_string(reader_t *reader)
{
    static const char name[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    char *out = malloc((size_t)(reader->at - reader->token_begin));
    if (!out)
        return false;
    reader->string = out;
    reader->has_nul = false;
    for (const char *at = reader->token_begin + 1; at < reader->at - 1;) {
        if (*at != '\\') {
            *out++ = *at++;
        } else if (at[1] != 'u') {
            *out++ = meaning[strchr(name, at[1]) - name];
            at += 2;
        } else if (!(out = decode_unicode(reader, &at, out))) {
            return false;
        }
    }
    *out = '\0';
    return true;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* Takes digits; the byte after them is given back. At least one is required, unless `c` is one, which was taken. */
static bool take_digits(reader_t *reader, int c)
{
    const bool some = is_digit(c);
    while (is_digit(c))
        c = take(reader);
    give_back(reader, c);
    return some;
}

/* Takes a number of which the first byte was taken. */
static token_t take_number(reader_t *reader, int c)
{
    bool whole = true;
    c = c == '-' ? take(reader) : c;
    if (c == '0') {
        c = take(reader);
        give_back(reader, c);
        if (is_digit(c))
            return TOKEN_INVALID;
    } else if (!take_digits(reader, c)) {
        return TOKEN_INVALID;
    }
    c = take(reader);
    if (c == '.') {
        whole = false;
        if (!take_digits(reader, take(reader)))
            return TOKEN_INVALID;
        c = take(reader);
    }
    if (c == 'e' || c == 'E') {
        whole = false;
        c = take(reader);
        if (!take_digits(reader, c == '+' || c == '-' ? take(reader) : c))
            return TOKEN_INVALID;
    } else {
        give_back(reader, c);
    }
    errno = 0; /* the text is zero-terminated, and the conversions end where the token does */
    if (whole)
        reader->integer = strtoll(reader->token_begin, NULL, 10);
    else
        reader->real = trv_strtod(reader->token_begin, NULL);
    if (errno == ERANGE && (whole || reader->real > 1 || reader->real < -1)) { /* a real number may round to 0 */
        fail(reader, !whole                ? "real number overflow"
                     : reader->integer < 0 ? "too big negative integer"
                                           : "too big integer");
        return TOKEN_INVALID;
    }
    return whole ? TOKEN_INTEGER : TOKEN_REAL;
}

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

static token_t take_word(reader_t *reader)
{
    static const char *const word[] = {[TOKEN_TRUE] = "true", [TOKEN_FALSE] = "false", [TOKEN_NULL] = "null"};
    int c;
    do
        c = take(reader);
    while (is_letter(c));
    give_back(reader, c);
    const size_t length = (size_t)(reader->at - reader->token_begin);
    for (token_t token = TOKEN_TRUE; token <= TOKEN_NULL; token++)
        if (strlen(word[token]) == length && memcmp(word[token], reader->token_begin, length) == 0)
            return token;
    return TOKEN_INVALID;
}

static void next_token(reader_t *reader)
{
    int c;
    free(reader->string);
    reader->string = NULL;
    do {
        reader->token_begin = reader->at;
        c = take(reader);
    } while (c == ' ' || c == '\t' || c == '\n' || c == '\r');
    reader->token = TOKEN_INVALID;
    if (c == END)
        reader->token = TOKEN_END;
    else if (c > 0 && strchr("{}[]:,", c))
        reader->token = c;
    else if (c == '"')
        reader->token = take_string(reader) && decode_string(reader) ? TOKEN_TEXT : TOKEN_INVALID;
    else if (c == '-' || is_digit(c))
        reader->token = (int)take_number(reader, c);
    else if (is_letter(c))
        reader->token = (int)take_word(reader);
    else if (c >= 0)
        reader->at = reader->checked_end; /* all bytes of the character */
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static json_t *read_value(reader_t *reader);

/* Reads a key and the colon after it. The caller frees the key; NULL after an error. */
static char *read_key(reader_t *reader, const json_t *object)
{
    if (reader->token != TOKEN_TEXT)
        return (char *)fail(reader, "string or '}' expected");
    char *key = reader->string;
    reader->string = NULL;
    if (reader->has_nul) {
        fail(reader, "NUL byte in object key not supported");
    } else if (json_object_get(object, key)) {
        fail(reader, "duplicate object key");
    } else {
        next_token(reader);
        if (reader->token == ':') {
            next_token(reader);
            return key;
        }
        fail(reader, "':' expected");
    }
    free(key);
    return NULL;
}

/* Reads the members of an object or an array after its opening bracket, which is the token. */
static json_t *read_members(reader_t *reader, json_t *container)
{
    const bool keyed = json_is_object(container);
    const int close = keyed ? '}' : ']';
    char *key = NULL;
    next_token(reader);
    bool more = reader->token != close && (keyed || reader->token != TOKEN_END), good = true;
    while (more && good) {
        json_t *value = keyed && !(key = read_key(reader, container)) ? NULL : read_value(reader);
        good = value &&
               (keyed ? json_object_set_new(container, key, value) : json_array_append_new(container, value)) == 0;
        free(key);
        key = NULL;
        if (!good)
            break;
        next_token(reader);
        more = reader->token == ',';
        if (more)
            next_token(reader);
        more &= keyed || reader->token != TOKEN_END;
    }
    if (good && reader->token == close)
        return container;
    if (good)
        fail(reader, "'%c' expected", close);
    json_decref(container);
    return NULL;
}

/* Reads the value that begins with the token. */
static json_t *read_value(reader_t *reader)
{
    json_t *value = NULL;
    if (++reader->depth > DEPTH_MAX)
        return fail(reader, "maximum parsing depth reached");
    switch (reader->token) {
    case '{': value = read_members(reader, json_object()); break;
    case '[': value = read_members(reader, json_array()); break;
    case TOKEN_TEXT:
        value = reader->has_nul ? fail(reader, "\\u0000 is not allowed without JSON_ALLOW_NUL")
                                : json_string(reader->string);
        break;
    case TOKEN_INTEGER: value = json_integer(reader->integer); break;
    case TOKEN_REAL: value = json_real(reader->real); break;
    case TOKEN_TRUE: value = json_true(); break;
    case TOKEN_FALSE: value = json_false(); break;
    case TOKEN_NULL: value = json_null(); break;
    case TOKEN_INVALID: return fail(reader, "invalid token");
    default: return fail(reader, "unexpected token");
    }
    reader->depth--;
    return value;
}

json_t *json_loadb(const char *text, size_t length, size_t flags, json_error_t *error)
{
    (void)flags; /* duplicate keys are always rejected */
    json_error_t unseen;
    reader_t reader = {.text = text, .at = text, .end = text + length, .error = error ? error : &unseen};
    *reader.error = (json_error_t){0};
    next_token(&reader);
    json_t *root = reader.token == '{' || reader.token == '[' ? read_value(&reader)
                                                              : fail(&reader, "'[' or '{' expected");
    if (root)
        next_token(&reader);
    if (root && reader.token != TOKEN_END) {
        json_decref(root);
        root = fail(&reader, "end of file expected");
    }
    free(reader.string);
    if (!root)
        fail(&reader, "there is not enough memory");
    return root;
}
