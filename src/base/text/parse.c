/*
 * Parsing and formatting of byte counts, times, rates, whole numbers and lists.
 */
#include "base/text/parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/network_limits.h"
#include "base/number.h"

#define BYTES_MAX     (UINT64_C(1) << 50)
#define SIZE_TEXT_MAX 48
#define EXAMPLE       4 /* of a whole number, where it is allowed */

typedef struct unit {
    const char *name;
    double factor;
} unit_t;

int trv_parse_bytes(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *name;
        int shift;
    } suffix[] = {
        {"", 0},     {"B", 0},  {"k", 10}, {"K", 10},   {"KiB", 10}, {"m", 20}, {"M", 20},
        {"MiB", 20}, {"g", 30}, {"G", 30}, {"GiB", 30}, {"t", 40},   {"T", 40}, {"TiB", 40},
    };
    uint64_t value = 0;
    const char *p = text;
    for (; isdigit((unsigned char)*p) && value <= BYTES_MAX; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    for (size_t i = 0; p > text && i < sizeof suffix / sizeof suffix[0]; i++)
        if (strcmp(p, suffix[i].name) == 0 && value <= BYTES_MAX >> suffix[i].shift) {
            *bytes = value << suffix[i].shift;
            return TRV_OK;
        }
    return trv_fail(TRV_ERR_ARGUMENT,
                    "'%.40s' is not a byte count: expected a whole number up to 2^50, alone or with B, K, M, G, T, "
                    "KiB, MiB, GiB or TiB (powers of 1024), for example 64KiB",
                    text);
}

int trv_parse_vector(const char *text, uint64_t *bytes)
{
    uint64_t value = 0;
    int rc = trv_parse_bytes(text, &value);
    if (!rc && value == 0)
        rc = trv_fail(TRV_ERR_ARGUMENT, "a vector has at least 1 byte, for example 64K");
    if (!rc)
        *bytes = value;
    return rc;
}

/* Reads a decimal number without sign, such as 12, 1.5 or 2e3, at the start of `text`. Returns the text after the
 * number; NULL if there is none. */
static const char *read_number(const char *text, double *value)
{
    if (!isdigit((unsigned char)text[0]) || text[strspn(text, "0")] == 'x' || text[strspn(text, "0")] == 'X')
        return NULL;
    char *end;
    *value = trv_strtod(text, &end);
    return isfinite(*value) ? end : NULL;
}

typedef struct sizes {
    uint64_t *bytes;
    int max, count;
} sizes_t;

static int add_size(sizes_t *sizes, uint64_t bytes)
{
    if (sizes->count == sizes->max)
        return trv_fail(TRV_ERR_ARGUMENT, "the list of byte counts has more than %d entries", sizes->max);
    sizes->bytes[sizes->count++] = bytes;
    return TRV_OK;
}

/* Parses a factor "x4" or "4", or a step "+1K"; the other result is 0. */
static bool parse_stride(const char *text, double *factor, uint64_t *step)
{
    *factor = 0;
    *step = 0;
    if (text[0] == '+')
        return trv_parse_vector(text + 1, step) == TRV_OK;
    const char *end = read_number(text + (text[0] == 'x'), factor);
    return end && *end == '\0' && *factor > 1 && *factor <= 1e6;
}

static int add_range(sizes_t *sizes, const char *item)
{
    char part[3][SIZE_TEXT_MAX] = {"", "", "x2"};
    uint64_t min_bytes, max_bytes, step;
    double factor;
    char rest;
    int parts = sscanf(item, "%47[^:]:%47[^:]:%47[^:]%c", part[0], part[1], part[2], &rest), rc = TRV_OK;
    if (parts < 2 || parts > 3 || item[strlen(item) - 1] == ':' || trv_parse_vector(part[0], &min_bytes) ||
        trv_parse_vector(part[1], &max_bytes) || !parse_stride(part[2], &factor, &step))
        return trv_fail(TRV_ERR_ARGUMENT,
                        "'%.60s' is not a range of sizes: expected MIN:MAX (doubling), MIN:MAX:xFACTOR or "
                        "MIN:MAX:+STEP, for example 1K:64M:x4",
                        item);
    if (min_bytes > max_bytes)
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "the range '%.60s' ends before it begins: expected MIN:MAX with MIN at most MAX, for example 1K:64M", item);
    for (double size = (double)min_bytes; size < (double)max_bytes && !rc;
         size = step ? size + (double)step : size * factor)
        rc = add_size(sizes, (uint64_t)size);
    return rc ? rc : add_size(sizes, max_bytes);
}

int trv_parse_bytes_list(const char *text, uint64_t *bytes, int max, int *count)
{
    char item[3 * SIZE_TEXT_MAX];
    const char *rest = text;
    sizes_t sizes = {bytes, max, 0};
    uint64_t size = 0;
    int more;
    while ((more = trv_next_item(&rest, "byte counts", item, sizeof item)) > 0) {
        const bool range = strchr(item, ':') != NULL;
        int rc = range ? add_range(&sizes, item) : trv_parse_vector(item, &size);
        if (!rc && !range)
            rc = add_size(&sizes, size);
        if (rc)
            return rc;
    }
    if (more == 0)
        *count = sizes.count;
    return more;
}

static int read_quantity(const char *text, const unit_t *unit, int units, double *value)
{
    double number;
    const char *rest = read_number(text, &number);
    for (int i = 0; rest && i < units; i++)
        if (strcmp(rest, unit[i].name) == 0) {
            *value = number * unit[i].factor;
            return 1;
        }
    return 0;
}

static int read_time(const char *text, double max_ns, const char *max_text, double *time_ns)
{
    static const unit_t unit[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    double value;
    if (!read_quantity(text, unit, sizeof unit / sizeof unit[0], &value) || value > max_ns)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "'%.40s' is not a time: expected a number >= 0 with the unit ns, us, ms or s, at most %s, for "
                        "example 1.5us",
                        text, max_text);
    *time_ns = value;
    return TRV_OK;
}

int trv_parse_time_ns(const char *text, double *time_ns) { return read_time(text, 1e15, "10^6 s", time_ns); }

int trv_parse_latency_ns(const char *text, double *latency_ns)
{
    return read_time(text, TRV_TIME_MAX_NS, "3600s", latency_ns);
}

int trv_parse_rate_bps(const char *text, double *rate_bps)
{
    static const unit_t unit[] = {
        {"b/s", 1}, {"kb/s", 1e3}, {"Kb/s", 1e3}, {"Mb/s", 1e6}, {"Gb/s", 1e9}, {"Tb/s", 1e12},
        {"B/s", 8}, {"kB/s", 8e3}, {"KB/s", 8e3}, {"MB/s", 8e6}, {"GB/s", 8e9}, {"TB/s", 8e12},
    };
    double value;
    if (!read_quantity(text, unit, sizeof unit / sizeof unit[0], &value) || value < TRV_RATE_MIN_BPS ||
        value > TRV_RATE_MAX_BPS)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "'%.40s' is not a rate: expected a number with the unit Kb/s, Mb/s, Gb/s or Tb/s (a capital B "
                        "is bytes), from 1Kb/s to 10000Tb/s, for example 800Gb/s",
                        text);
    *rate_bps = value;
    return TRV_OK;
}

int trv_parse_percent(const char *text, double *fraction)
{
    static const unit_t unit[] = {{"%", 0.01}};
    double value;
    if (!read_quantity(text, unit, 1, &value) || value > 1)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "'%.40s' is not a share: expected a number from 0%% to 100%%, for example 10%%", text);
    *fraction = value;
    return TRV_OK;
}

int trv_parse_factor(const char *text, double *factor)
{
    static const unit_t unit[] = {{"x", 1}};
    double value;
    if (!read_quantity(text, unit, 1, &value) || value < 1 || value > 1e6)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "'%.40s' is not a factor: expected a number from 1x to 1000000x, for example 2x or 1.5x", text);
    *factor = value;
    return TRV_OK;
}

int trv_parse_int(const char *text, const char *what, int min, int max, int *value)
{
    const char *p = text + (*text == '-');
    long long number = 0;
    int digits = 0;
    for (; isdigit((unsigned char)p[digits]) && number <= max; digits++)
        number = number * 10 + (p[digits] - '0');
    if (*text == '-')
        number = -number;
    if (digits == 0 || p[digits] != '\0' || number < min || number > max) {
        char example[64] = "";
        if (*what == '-')
            snprintf(example, sizeof example, "; for example %s%c%d", what, what[1] == '-' ? '=' : ' ',
                     EXAMPLE < min   ? min
                     : EXAMPLE > max ? max
                                     : EXAMPLE);
        return trv_fail(TRV_ERR_ARGUMENT, "%s%s '%.40s' is not a whole number from %d to %d%s", what,
                        *what == '-' ? ":" : "", text, min, max, example);
    }
    *value = (int)number;
    return TRV_OK;
}

int trv_next_item(const char **rest, const char *what, char *item, size_t item_size)
{
    const char *start = *rest;
    if (!start)
        return 0;
    size_t length = strcspn(start, ",");
    if (length == 0)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "%s%s has an empty entry: expected entries separated by single commas, for example a,b,c",
                        *what == '-' ? "" : "the list of ", what);
    if (length >= item_size)
        return trv_fail(TRV_ERR_ARGUMENT, "'%.40s…' is too long an entry for the list of %s", start, what);
    memcpy(item, start, length);
    item[length] = '\0';
    *rest = start[length] ? start + length + 1 : NULL;
    return 1;
}

char *trv_format_bytes(uint64_t bytes, char text[TRV_BYTES_TEXT_MAX])
{
    static const char *const name[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int i = 0;
    for (; i < 4 && bytes > 0 && bytes % 1024 == 0; i++)
        bytes /= 1024;
    snprintf(text, TRV_BYTES_TEXT_MAX, "%" PRIu64 " %s", bytes, name[i]);
    return text;
}

static const trv_time_unit_t time_unit[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};

const trv_time_unit_t *trv_time_unit(double time_ns)
{
    for (int i = 0; i < 3; i++)
        if (time_ns >= time_unit[i].ns)
            return &time_unit[i];
    return &time_unit[3];
}

char *trv_format_time(double time_ns, const trv_time_unit_t *unit, char text[TRV_TIME_TEXT_MAX])
{
    double value = time_ns / unit->ns;
    if (value >= 1e6)
        unit = trv_time_unit(time_ns), value = time_ns / unit->ns;
    trv_snprintf(text, TRV_TIME_TEXT_MAX, "%.*f %s",
                 value < 10     ? 3
                 : value < 100  ? 2
                 : value < 1000 ? 1
                                : 0,
                 value, unit->name);
    return text;
}
