/*
 * Values of parameters as text: one parser and one formatter for each kind.
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trivance/parameters.h>

#include "base/append.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text/parse.h"
#include "base/text/words.h"

#define PER_STREAM "/stream"

/* The value of any kind, before it is stored in its member. */
typedef struct value {
    double number; /* exact up to 2^53 */
    bool mark;
} value_t;

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

static int parse_bytes(const char *text, double *value)
{
    uint64_t bytes = 0;
    const int rc = trv_parse_bytes(text, &bytes);
    if (!rc)
        *value = (double)bytes; /* at most 2^50: exact */
    return rc;
}

int trv_quantity_parse(trv_kind_t kind, const char *text, double *value)
{
    switch (kind) {
    case TRV_KIND_RATE: return trv_parse_rate_bps(text, value);
    case TRV_KIND_TIME: return trv_parse_latency_ns(text, value);
    case TRV_KIND_BYTES: return parse_bytes(text, value);
    case TRV_KIND_SHARE: return trv_parse_percent(text, value);
    case TRV_KIND_FACTOR: return trv_parse_factor(text, value);
    default:
        return trv_fail(TRV_ERR_ARGUMENT, "kind %d is not one of a quantity; expected TRV_KIND_RATE to TRV_KIND_FACTOR",
                        (int)kind);
    }
}

int trv_sizes_parse(const char *text, uint64_t *bytes, int max, int *count)
{
    return trv_parse_bytes_list(text, bytes, max, count);
}

/* Copies word `index` of a list of words; false after the last. */
static bool copy_word(const char *words, int index, char word[TRV_PARAMETER_TEXT_MAX])
{
    for (; index > 0 && words; index--) {
        words = strchr(words, ' ');
        words = words ? words + 1 : NULL;
    }
    if (words)
        snprintf(word, TRV_PARAMETER_TEXT_MAX, "%.*s", (int)strcspn(words, " "), words);
    return words != NULL;
}

/* A word or flag has two values. */
static int parse_word(const trv_parameter_t *parameter, const char *text, double *value)
{
    const char *second = strchr(parameter->words, ' ') + 1;
    const int index = trv_words_index(parameter->words, text);
    *value = index;
    return index >= 0 ? TRV_OK
                      : trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is neither %.*s nor %s; for example %s", text,
                                 (int)(second - parameter->words) - 1, parameter->words, second, second);
}

static int parse_dimensions(const char *text, value_t *value)
{
    unsigned bits = 0;
    const char *p = text;
    value->mark = strcmp(text, "one") == 0;
    value->number = TRV_ALL_DIMENSIONS;
    if (value->mark || strcmp(text, "all") == 0)
        return TRV_OK;
    do {
        char digit[TRV_PARAMETER_TEXT_MAX];
        int d = 0;
        const size_t length = strcspn(p, ":");
        snprintf(digit, sizeof digit, "%.*s", length < sizeof digit ? (int)length : 0, p); /* "" is no dimension */
        if (trv_parse_int(digit, "a dimension", 0, TRV_DIMS_MAX - 1, &d))
            return trv_fail(
                TRV_ERR_ARGUMENT,
                "'%.40s' lists no dimensions; expected all, one, or dimensions separated by ':', for example 0:1",
                text);
        bits |= 1u << d;
        p += length;
    } while (*p++ == ':');
    value->number = bits;
    return TRV_OK;
}

/* A time, or one for each stream: "0.01ns/stream". */
static int parse_marked_time(const char *text, value_t *value)
{
    char time[TRV_PARAMETER_TEXT_MAX];
    const char *end = strstr(text, PER_STREAM);
    value->mark = end && end - text < TRV_PARAMETER_TEXT_MAX && strcmp(end, PER_STREAM) == 0;
    if (value->mark)
        snprintf(time, sizeof time, "%.*s", (int)(end - text), text);
    return trv_parse_latency_ns(value->mark ? time : text, &value->number);
}

static int parse_value(const trv_parameter_t *parameter, const char *text, value_t *value)
{
    int rc, number = 0;
    switch (parameter->kind) {
    case TRV_KIND_WORD:
    case TRV_KIND_FLAG: return parse_word(parameter, text, &value->number);
    case TRV_KIND_DIMENSIONS: return parse_dimensions(text, value);
    case TRV_KIND_WHOLE:
        if (parameter->words && strcmp(text, parameter->words) == 0)
            return TRV_OK; /* 0 */
        rc = trv_parse_int(text, "the value", (int)parameter->low, (int)parameter->high, &number);
        value->number = number;
        return rc ? trv_fail(rc, "%s%s%s; for example %s", trv_last_error(), parameter->words ? " or " : "",
                             parameter->words ? parameter->words : "", parameter->usual)
                  : TRV_OK;
    case TRV_KIND_LIST:
        return trv_fail(TRV_ERR_ARGUMENT, "%s lists ranks or links of one torus; it is no part of a profile",
                        parameter->name);
    case TRV_KIND_TIME:
        if (parameter->mark)
            return parse_marked_time(text, value);
        /* fallthrough */
    default: return trv_quantity_parse(parameter->kind, text, &value->number);
    }
}

static int check_range(const trv_parameter_t *parameter, const char *text, double number)
{
    char low[TRV_BYTES_TEXT_MAX], high[TRV_BYTES_TEXT_MAX];
    if ((number >= parameter->low && number <= parameter->high) || parameter->kind != TRV_KIND_BYTES)
        return TRV_OK; /* the parsers of other kinds check the range */
    return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is not from %s to %s, for example %s", text,
                    trv_format_bytes((uint64_t)parameter->low, low), trv_format_bytes((uint64_t)parameter->high, high),
                    *parameter->usual ? parameter->usual : "64K");
}

/* Stores a number in a member of the type of its kind. */
static void store(const trv_parameter_t *parameter, void *member, double number)
{
    switch (parameter->kind) {
    case TRV_KIND_BYTES:
    case TRV_KIND_WHOLE:
        if (parameter->bytes == sizeof(uint32_t))
            *(uint32_t *)member = (uint32_t)number;
        else
            *(uint64_t *)member = (uint64_t)number;
        return;
    case TRV_KIND_DIMENSIONS: *(unsigned *)member = (unsigned)number; return;
    case TRV_KIND_FLAG: *(bool *)member = number > 0; return;
    case TRV_KIND_WORD: *(int *)member = (int)number; return;
    default: *(double *)member = number;
    }
}

int trv_parameter_set(trv_simulate_options_t *options, const char *name, const char *text)
{
    value_t value = {0};
    const trv_parameter_t *parameter = trv_parameter_find(name);
    int rc = trv_check_size(options->size, sizeof *options, "TRV_SIMULATE_DEFAULTS");
    if (rc)
        return rc;
    if (!parameter)
        return trv_fail(TRV_ERR_ARGUMENT, "the network has no parameter '%.40s'; `trivance simulate --help` lists them",
                        name);
    if (!text && parameter->kind != TRV_KIND_FLAG)
        return trv_fail(TRV_ERR_ARGUMENT, "%s has no value; for example %s", name, parameter->usual);
    rc = parse_value(parameter, text ? text : "yes", &value);
    rc = rc ? rc : check_range(parameter, text, value.number);
    if (rc)
        return rc;
    store(parameter, (char *)options + parameter->offset, value.number);
    if (parameter->mark)
        *(bool *)((char *)options + parameter->mark_offset) = value.mark;
    return TRV_OK;
}

/* ---- Formatting -------------------------------------------------------------------------------------------------- */

static void format_dimensions(unsigned bits, bool one, char text[TRV_PARAMETER_TEXT_MAX])
{
    if (bits == TRV_ALL_DIMENSIONS || (bits && one)) {
        snprintf(text, TRV_PARAMETER_TEXT_MAX, "%s", one ? "one" : "all");
        return;
    }
    for (int d = 0; d < TRV_DIMS_MAX; d++)
        if (bits >> d & 1)
            trv_append(text, TRV_PARAMETER_TEXT_MAX, "%s%d", *text ? ":" : "", d);
}

static void format_whole(const trv_parameter_t *parameter, const void *member, char text[TRV_PARAMETER_TEXT_MAX])
{
    const unsigned long long number = parameter->bytes == sizeof(uint32_t) ? *(const uint32_t *)member
                                                                           : *(const uint64_t *)member;
    if (number == 0 && parameter->words)
        copy_word(parameter->words, 0, text);
    else
        snprintf(text, TRV_PARAMETER_TEXT_MAX, "%llu", number);
}

char *trv_parameter_format(const trv_simulate_options_t *options, const trv_parameter_t *parameter,
                           char text[TRV_PARAMETER_TEXT_MAX])
{
    const void *member = (const char *)options + parameter->offset;
    const bool mark = parameter->mark && *(const bool *)((const char *)options + parameter->mark_offset);
    const size_t size = TRV_PARAMETER_TEXT_MAX;
    text[0] = '\0';
    if (!*parameter->usual && trv_parameter_is_default(options, parameter))
        return text;
    switch (parameter->kind) {
    case TRV_KIND_RATE: trv_snprintf(text, size, "%.15gGb/s", *(const double *)member / 1e9); break;
    case TRV_KIND_TIME: trv_snprintf(text, size, "%.15gns%s", *(const double *)member, mark ? PER_STREAM : ""); break;
    case TRV_KIND_SHARE: trv_snprintf(text, size, "%.15g%%", 100 * *(const double *)member); break;
    case TRV_KIND_BYTES:
    case TRV_KIND_WHOLE: format_whole(parameter, member, text); break;
    case TRV_KIND_WORD: copy_word(parameter->words, *(const int *)member, text); break;
    case TRV_KIND_FLAG: copy_word(parameter->words, *(const bool *)member, text); break;
    case TRV_KIND_DIMENSIONS: format_dimensions(*(const unsigned *)member, mark, text); break;
    case TRV_KIND_FACTOR: /* of entries of lists */
    case TRV_KIND_LIST: break;
    }
    return text;
}
