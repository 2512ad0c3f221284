/*
 * Reads and writes the parameters in names, see name.h.
 */
#include "algorithms/name.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/algorithm.h"
#include "base/append.h"
#include "base/error.h"
#include "torus/torus.h"

int trv_name_ports_max(const trv_torus_t *torus)
{
    int dimension[TRV_DIMS_MAX];
    const int active = trv_torus_active(torus, dimension);
    return active > 0 ? 2 * active : 1;
}

static const trv_field_t *field_at(const trv_algorithm_t *algorithm, int index)
{
    return index < TRV_FIELDS_MAX && algorithm->field[index].kind ? &algorithm->field[index] : NULL;
}

void trv_name_defaults(const trv_algorithm_t *algorithm, trv_parameters_t *parameters)
{
    const trv_field_t *field;
    parameters->given = false;
    for (int i = 0; (field = field_at(algorithm, i)); i++)
        parameters->value[i] = (trv_value_t){.number = field->value, .text = field->text ? field->text : ""};
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* The number from 1 to `max` that is the whole text; 0 if there is none. */
static int read_number(const char *text, size_t length, int max)
{
    long long number = 0;
    for (size_t i = 0; i < length; i++) {
        number = text[i] >= '0' && text[i] <= '9' ? 10 * number + text[i] - '0' : LLONG_MAX / 16;
        if (number > max)
            return 0;
    }
    return (int)number;
}

/* Reads up to `most` numbers with `separator` between them, and returns how many there are; 0 for any other text. */
static int read_numbers(const char *text, size_t length, char separator, int max, int most, int *number)
{
    for (int i = 0; i < most; i++) {
        const char *end = memchr(text, separator, length);
        const size_t own = end ? (size_t)(end - text) : length;
        number[i] = read_number(text, own, max);
        if (!number[i])
            return 0;
        if (!end)
            return i + 1;
        text += own + 1;
        length -= own + 1;
    }
    return 0;
}

static int read_factors(const char *text, trv_value_t *value)
{
    for (int i = 0; i < TRV_DIMS_MAX; i++) {
        const size_t length = strcspn(text, "x");
        if (!read_numbers(text, length, '/', INT_MAX, TRV_FACTOR_PARTS, value->list + TRV_FACTOR_PARTS * i))
            return 0;
        if (!text[length])
            return i + 1;
        text += length + 1;
    }
    return 0;
}

static int check_weights(const trv_algorithm_t *algorithm, const trv_torus_t *torus, int count)
{
    int dimension[TRV_DIMS_MAX];
    const int active = trv_torus_active(torus, dimension);
    if (count == active)
        return TRV_OK;
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    "%d weight%s needed, one per dimension larger than 1; %d %s given; for example %s", active,
                    active == 1 ? " is" : "s are", count, count == 1 ? "was" : "were", algorithm->example);
}

/* Writes the range of a field's numbers for a message: " from 1 to 4 on 4x4". */
static void describe_range(const trv_field_t *field, const trv_torus_t *torus, int max, char *text, size_t size)
{
    char name[TRV_TORUS_TEXT_MAX];
    text[0] = '\0';
    if (max > 0)
        trv_append(text, size, " from 1 to %d", max);
    if (field->limit)
        trv_append(text, size, " on %s", trv_torus_format(torus, name, sizeof name));
}

static int read_value(const trv_algorithm_t *algorithm, const trv_field_t *field, const char *own,
                      const trv_torus_t *torus, trv_value_t *value)
{
    const char *text = own + (field->word ? strlen(field->word) : 0);
    const int max = field->limit ? field->limit(torus) : field->max;
    char range[TRV_TORUS_TEXT_MAX + 40];
    bool valid = true;
    switch (field->kind) {
    case TRV_FIELD_NUMBER:
        value->number = *text || !field->alone ? read_number(text, strlen(text), max) : field->alone;
        valid = value->number > 0;
        break;
    case TRV_FIELD_WEIGHTS:
        value->count = read_numbers(text, strlen(text), '/', max, TRV_DIMS_MAX, value->list);
        valid = value->count > 0;
        break;
    case TRV_FIELD_FACTORS: valid = (value->count = read_factors(text, value)) > 0; break;
    case TRV_FIELD_WORD: value->number = 1; break;
    default: value->text = text; valid = *text || field->kind == TRV_FIELD_TEXT;
    }
    if (valid)
        return field->kind == TRV_FIELD_WEIGHTS ? check_weights(algorithm, torus, value->count) : TRV_OK;
    describe_range(field, torus, max, range, sizeof range);
    return trv_fail(TRV_ERR_ARGUMENT, "%s: '%.40s' is not %s%s%s%s; for example %s", algorithm->name, own,
                    field->word ? field->word : "", field->word ? " followed by " : "", field->what, range,
                    algorithm->example);
}

/* The index of the field from `next` on to which a parameter belongs, or -1. */
static int find_field(const trv_algorithm_t *algorithm, int next, const char *text)
{
    const trv_field_t *field;
    for (int i = next; (field = field_at(algorithm, i)); i++)
        if (field->kind == TRV_FIELD_WORD ? strcmp(text, field->word) == 0
            : field->word                 ? strncmp(text, field->word, strlen(field->word)) == 0
                                          : !field->never || !strpbrk(text, field->never))
            return i;
    return -1;
}

/* The index of the field whose absence the parameter states, or -1. */
static int find_absent(const trv_algorithm_t *algorithm, const char *text)
{
    const trv_field_t *field;
    for (int i = 0; (field = field_at(algorithm, i)); i++)
        if (field->absent && strcmp(text, field->absent) == 0)
            return i;
    return -1;
}

int trv_name_parse(const trv_algorithm_t *algorithm, const char *text, const trv_torus_t *torus,
                   trv_parameters_t *parameters)
{
    const trv_field_t *field;
    trv_name_defaults(algorithm, parameters);
    parameters->given = text != NULL;
    if (text && !*text)
        return trv_fail(TRV_ERR_ARGUMENT, "'%s:' has a colon but no parameters: expected %s:%s, for example %s",
                        algorithm->name, algorithm->name, algorithm->parameters, algorithm->example);
    snprintf(parameters->text, sizeof parameters->text, "%s", text ? text : "");
    int rc = TRV_OK, next = 0;
    bool given[TRV_FIELDS_MAX] = {false};
    for (char *rest = text ? parameters->text : NULL, *own = rest; rest && !rc; own = rest) {
        field = field_at(algorithm, next);
        if (field && field->until && !strchr(own, field->until))
            field = field_at(algorithm, ++next);
        const char separator = field && field->kind == TRV_FIELD_REST ? field->until : ':';
        rest = separator ? strchr(own, separator) : NULL;
        if (rest)
            *rest++ = '\0';
        const int present = find_field(algorithm, next, own);
        const int i = present < 0 ? find_absent(algorithm, own) : present;
        if (i >= 0 && given[i])
            return trv_fail(TRV_ERR_ARGUMENT, "%s: '%.40s' repeats or contradicts another parameter; for example %s",
                            algorithm->name, own, algorithm->example);
        if (i < 0)
            return trv_fail(TRV_ERR_ARGUMENT, "%s: '%.40s' is not a parameter: expected %s:%s, for example %s",
                            algorithm->name, own, algorithm->name, algorithm->parameters, algorithm->example);
        given[i] = true;
        if (present < 0)
            continue;
        field = &algorithm->field[i];
        const bool is_default = rest && !*own && field->kind == TRV_FIELD_NUMBER; /* NAME::N */
        rc = is_default ? TRV_OK : read_value(algorithm, field, own, torus, &parameters->value[i]);
        next = field->in_any_order ? next : i + 1;
    }
    return rc;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Whether a name without the field has the same value. */
static bool is_omitted(const trv_field_t *field, const trv_value_t *value)
{
    switch (field->kind) {
    case TRV_FIELD_NUMBER:
    case TRV_FIELD_WORD: return value->number == field->value && (field->hidden || field->word);
    case TRV_FIELD_WEIGHTS:
    case TRV_FIELD_FACTORS: return value->count == 0;
    default: return !*value->text;
    }
}

static void write_list(const trv_value_t *value, bool factors, char *text, size_t size)
{
    const int parts = factors ? TRV_FACTOR_PARTS : 1;
    for (int i = 0; i < value->count; i++)
        for (int k = 0; k < parts && value->list[parts * i + k]; k++)
            trv_append(text, size, "%s%d", k || (i && !factors) ? "/" : i ? "x" : "", value->list[parts * i + k]);
}

static void write_field(const trv_field_t *field, const trv_value_t *value, bool full, char *text, size_t size)
{
    trv_append(text, size, "%s%s", field->word ? field->word : "", value->text);
    if (field->kind == TRV_FIELD_NUMBER && (full || value->number != field->alone))
        trv_append(text, size, "%d", value->number);
    write_list(value, field->kind == TRV_FIELD_FACTORS, text, size);
}

int trv_name_print(const trv_algorithm_t *algorithm, const trv_parameters_t *parameters, bool full, char *text,
                   size_t size)
{
    char name[2 * TRV_FULL_NAME_MAX] = "";
    const trv_field_t *field;
    char separator = ':';
    int fields = 0; /* up to the last one that is written; texts before it are written even if they are empty */
    for (int i = 0; (field = field_at(algorithm, i)); i++)
        if (!is_omitted(field, &parameters->value[i]))
            fields = i + 1;
    trv_append(name, sizeof name, "%s", algorithm->name);
    for (int i = 0; (field = field_at(algorithm, i)); i++)
        if (!is_omitted(field, &parameters->value[i]) || (field->kind == TRV_FIELD_TEXT && i < fields)) {
            trv_append(name, sizeof name, "%c", separator);
            write_field(field, &parameters->value[i], full, name, sizeof name);
            separator = field->until ? field->until : ':';
        } else if (full && field->absent)
            trv_append(name, sizeof name, ":%s", field->absent);
    return snprintf(text, size, "%s", name);
}

void trv_name_of_numbers(const trv_algorithm_t *algorithm, const int *number, char name[TRV_ALGORITHM_NAME_MAX])
{
    trv_parameters_t parameters;
    trv_name_defaults(algorithm, &parameters);
    for (int i = 0; field_at(algorithm, i); i++)
        parameters.value[i].number = number[i];
    trv_name_print(algorithm, &parameters, true, name, TRV_ALGORITHM_NAME_MAX);
}
