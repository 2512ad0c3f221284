/*
 * Lists and ranges of values. Quantities are converted to their base unit, so that ranges can be computed and equal
 * values are recognized however they were typed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text/parse.h"
#include "cli/sweep/sweep.h"
#include "base/error.h"

static int parse_bytes(const char *text, double *value)
{
    uint64_t bytes;
    int rc = trv_parse_bytes(text, &bytes);
    if (!rc)
        *value = (double)bytes; /* at most 2^50: exact */
    return rc;
}

static int parse_percent(const char *text, double *value)
{
    int rc = trv_parse_percent(text, value);
    *value *= rc ? 1 : 100;
    return rc;
}

/* Kinds of quantities: byte counts and other whole numbers, times, rates, fractions. */
static const struct kind {
    int (*parse)(const char *text, double *value);
    const char *unit, *suffix;
} kinds[] = {
    {parse_bytes, "", ""},
    {trv_parse_latency_ns, "ns", "_ns"},
    {trv_parse_rate_bps, "b/s", "_bps"},
    {parse_percent, "%", "_percent"},
};

typedef struct quantity {
    const struct kind *kind; /* NULL: a word */
    double value;
} quantity_t;

static quantity_t parse_quantity(const char *text)
{
    quantity_t quantity = {NULL, 0};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !quantity.kind; i++)
        if (kinds[i].parse(text, &quantity.value) == TRV_OK)
            quantity.kind = &kinds[i];
    return quantity;
}

int cli_values_add(cli_values_t *values, const char *what, const char *text)
{
    for (int i = 0; i < values->count; i++)
        if (strcmp(values->text[i], text) == 0)
            return TRV_OK;
    if (values->count == CLI_VALUES_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "%s has more than %d values", what, CLI_VALUES_MAX);
    if (!values->text && !(values->text = calloc(CLI_VALUES_MAX, sizeof *values->text)))
        return trv_fail_memory();
    values->text[values->count] = strdup(text);
    return values->text[values->count++] ? TRV_OK : trv_fail_memory();
}

static int add_quantity(cli_values_t *values, const char *what, const struct kind *kind, double value)
{
    char text[CLI_VALUE_MAX];
    bool whole = fabs(value - rint(value)) < 1e-9 * value || value <= 0;
    if (whole && value < 9e15)
        snprintf(text, sizeof text, "%.0f%s", value, kind->unit);
    else
        trv_snprintf(text, sizeof text, "%.12g%s", value, kind->unit);
    values->unit = kind->unit;
    values->suffix = kind->suffix;
    return cli_values_add(values, what, text);
}

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

typedef struct range {
    quantity_t min, max;
    double factor, step; /* one of them is 0 */
} range_t;

/* "x4" or "4" to a factor, "+1K" to a step. */
static bool parse_stride(const char *text, range_t *range)
{
    if (text[0] == '+') {
        quantity_t step = parse_quantity(text + 1);
        range->step = step.value;
        range->factor = 0;
        return step.kind == range->min.kind && step.value > 0;
    }
    char *end;
    const char *number = text + (text[0] == 'x');
    range->factor = trv_strtod(number, &end);
    return number[0] >= '0' && number[0] <= '9' && *end == '\0' && range->factor > 1 && range->factor <= 1e6;
}

static bool parse_range(char *text, range_t *range)
{
    char *max = strchr(text, ':'), *stride;
    *max++ = '\0';
    stride = strchr(max, ':');
    if (stride)
        *stride++ = '\0';
    *range = (range_t){parse_quantity(text), parse_quantity(max), 2, 0};
    return range->min.kind && range->min.kind == range->max.kind && (!stride || parse_stride(stride, range));
}

static int add_range(cli_values_t *values, const char *what, const char *item)
{
    char copy[CLI_VALUE_MAX];
    range_t range;
    snprintf(copy, sizeof copy, "%s", item);
    if (!parse_range(copy, &range))
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "%s: '%.60s' is not a range; expected MIN:MAX (doubling), MIN:MAX:xFACTOR or MIN:MAX:+STEP, for "
            "example 1K:64M:x4 or 1us:5us:+500ns",
            what, item);
    if (range.min.value > range.max.value)
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "%s: the range '%.60s' begins above its end; give the smaller value first, for example 1K:64M:x4", what,
            item);
    if (range.step <= 0 && range.min.value <= 0)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "%s: the range '%.60s' begins at 0, of which every multiple is 0; give a step, for example "
                        "0us:5us:+500ns",
                        what, item);
    const struct kind *kind = range.min.kind;
    double value = range.min.value, max = range.max.value;
    int rc = TRV_OK;
    for (double i = 1; value < max * (1 - 1e-9) && !rc; i++) {
        rc = add_quantity(values, what, kind, kind->parse == parse_bytes ? floor(value) : value);
        value = range.step > 0 ? range.min.value + i * range.step : value * range.factor;
    }
    return rc ? rc : add_quantity(values, what, kind, max);
}

int cli_values_read(cli_values_t *values, const char *what, const char *list, bool ranges)
{
    char item[CLI_VALUE_MAX], option[48];
    int more, rc = TRV_OK;
    snprintf(option, sizeof option, "--%s", what);
    while (!rc && (more = trv_next_item(&list, option, item, sizeof item)) != 0) {
        if (more < 0)
            return more;
        quantity_t quantity = parse_quantity(item);
        if (ranges && strchr(item, ':'))
            rc = add_range(values, what, item);
        else if (quantity.kind)
            rc = add_quantity(values, what, quantity.kind, quantity.value);
        else
            rc = cli_values_add(values, what, item);
    }
    return rc;
}

void cli_values_clear(cli_values_t *values)
{
    for (int i = 0; i < values->count; i++)
        free(values->text[i]);
    free(values->text);
    *values = (cli_values_t){0};
}
