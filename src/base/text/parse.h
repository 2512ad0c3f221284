/*
 * Values in options, the environment and files: parsing of byte counts, times, rates, whole numbers and comma-separated
 * lists, and formatting of byte counts and times.
 *
 * Every parsing function returns 0, or TRV_ERR_ARGUMENT; the last error then describes the values that are allowed. The
 * result is written only on success. The functions do not depend on the locale.
 */
#ifndef TRIVANCE_BASE_TEXT_PARSE_H
#define TRIVANCE_BASE_TEXT_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include <trivance/common.h>

/* Byte counts: "4096", "64K", "64KiB", "4m", "1GiB", "8B". k, K and KiB are 1024, and M, G and T accordingly. The
 * result is a whole number up to 2^50. */
TRV_API int trv_parse_bytes(const char *text, uint64_t *bytes);

/* The size of a vector, at least 1 byte. */
TRV_API int trv_parse_vector(const char *text, uint64_t *bytes);

/* Comma-separated sizes of vectors and ranges of them, MIN:MAX (doubling), MIN:MAX:xFACTOR or MIN:MAX:+STEP, whose last
 * size is MAX; at most `max` sizes. */
TRV_API int trv_parse_bytes_list(const char *text, uint64_t *bytes, int max, int *count);

/* "100ns", "1.5us", "2ms", "1s" -> nanoseconds, >= 0. The unit is required. */
TRV_API int trv_parse_time_ns(const char *text, double *time_ns);

/* The same for a time of a network, which is at most an hour. */
TRV_API int trv_parse_latency_ns(const char *text, double *latency_ns);

/* "800Gb/s", "100GB/s", "3.2Tb/s" -> bits per second, from 1 Kb/s to 10000 Tb/s. A small b stands for bits, a capital B
 * for bytes; K, M, G and T are powers of 1000. */
TRV_API int trv_parse_rate_bps(const char *text, double *rate_bps);

/* "10%" -> 0.1, from 0% to 100%. */
TRV_API int trv_parse_percent(const char *text, double *fraction);

/* "2x", "1.5x": a factor by which something takes longer, from 1x to 1000000x. */
TRV_API int trv_parse_factor(const char *text, double *factor);

/* A whole number from `min` to `max`; `what` is its name in error messages, which have an example if it is an option
 * ("--rank", "-n"). */
TRV_API int trv_parse_int(const char *text, const char *what, int min, int max, int *value);

/* Copies the next item of a comma-separated list to `item` and advances *rest, which initially is the list. Returns 1
 * for an item, 0 at the end of the list, TRV_ERR_ARGUMENT for an empty item or one that does not fit. */
TRV_API int trv_next_item(const char **rest, const char *what, char *item, size_t item_size);

#define TRV_BYTES_TEXT_MAX 32

/* Formats a byte count as "64 KiB" or "1000 B": the exact count in the largest unit that divides it. Returns `text`. */
TRV_API char *trv_format_bytes(uint64_t bytes, char text[TRV_BYTES_TEXT_MAX]);

typedef struct trv_time_unit {
    const char *name;
    double ns;
} trv_time_unit_t;

/* The largest unit in which the time is 1 or more: s, ms, us or ns. */
TRV_API const trv_time_unit_t *trv_time_unit(double time_ns);

#define TRV_TIME_TEXT_MAX 32

/* Formats a time as "12.34us": about four digits in the given unit, or in a larger unit if more than six digits would
 * precede the point. Returns `text`. */
TRV_API char *trv_format_time(double time_ns, const trv_time_unit_t *unit, char text[TRV_TIME_TEXT_MAX]);

#endif
