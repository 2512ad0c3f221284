/*
 * Inputs with results that are exact in every type and in any order: small integers, also in floating-point types.
 *
 * value(rank, i) depends on both arguments, so that a missing, duplicated or misplaced contribution changes the result.
 * The reference is computed here with plain integers, apart from the kernels that are measured.
 */
#include <complex.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/mpi/bench.h"
#include "schedule/collective.h"

typedef struct value {
    int64_t re, im;
} value_t;

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static value_t product_value(int64_t rank, int64_t i)
{
    static const value_t unit[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}; /* the powers of the imaginary unit */
    return rank < 4 ? (value_t){1 + (i + rank) % 3, 0} : unit[(i + rank) % 4];
}

static value_t value(trv_op_t op, int64_t rank, int64_t ranks, int64_t i)
{
    bool chosen = rank == i % (2 * ranks); /* one rank at every other position, on average */
    switch (op) {
    case TRV_SUM: return (value_t){1 + (3 * rank + 7 * i) % 4, (rank + 2 * i) % 3};
    case TRV_PROD: return product_value(rank, i);
    case TRV_MIN:
    case TRV_MAX: return (value_t){(7 * i + 13 * rank) % 101, 0};
    case TRV_LAND: return (value_t){chosen ? 0 : 1 + (i + rank) % 3, 0};
    case TRV_LOR: return (value_t){chosen ? 1 + (i + rank) % 3 : 0, 0};
    case TRV_LXOR: return (value_t){(i + rank * rank + rank / 2) % 2, 0};
    case TRV_BAND: return (value_t){~(chosen ? (int64_t)1 << i % 7 : 0), 0};
    case TRV_BOR: return (value_t){chosen ? (int64_t)1 << i % 7 : 0, 0};
    default: return (value_t){(31 * i + 17 * rank) & 0x7f, 0};
    }
}

static value_t combine(trv_op_t op, value_t a, value_t b)
{
    switch (op) {
    case TRV_SUM: return (value_t){a.re + b.re, a.im + b.im};
    case TRV_PROD: return (value_t){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    case TRV_MIN: return a.re < b.re ? a : b;
    case TRV_MAX: return a.re > b.re ? a : b;
    case TRV_LAND: return (value_t){a.re && b.re, 0};
    case TRV_LOR: return (value_t){a.re || b.re, 0};
    case TRV_LXOR: return (value_t){!a.re != !b.re, 0};
    case TRV_BAND: return (value_t){a.re & b.re, 0};
    case TRV_BOR: return (value_t){a.re | b.re, 0};
    default: return (value_t){a.re ^ b.re, 0};
    }
}

static bool is_complex(trv_type_t type)
{
    return type == TRV_COMPLEX_FLOAT || type == TRV_COMPLEX_DOUBLE || type == TRV_COMPLEX_LONG_DOUBLE;
}

static bool is_float(trv_type_t type) { return type == TRV_FLOAT || type == TRV_DOUBLE || type == TRV_LONG_DOUBLE; }

/* For types without an imaginary part, powers of -1 replace the powers of i, so that products stay exact. */
static value_t value_of(trv_op_t op, trv_type_t type, int rank, int ranks, int64_t i)
{
    value_t v = value(op, rank, ranks, i);
    if (!is_complex(type))
        v = (value_t){op == TRV_PROD && v.re == 0 ? (v.im > 0 ? 1 : -1) : v.re, 0};
    if (type == TRV_BOOL && op >= TRV_LAND)
        v.re = v.re != 0;
    return v;
}

static void store(trv_type_t type, char *to, value_t v)
{
    float f[2] = {(float)v.re, (float)v.im};
    double d[2] = {(double)v.re, (double)v.im};
    long double l[2];
    memset(l, 0, sizeof l);
    l[0] = (long double)v.re;
    l[1] = (long double)v.im;
    bool b = v.re != 0;
    switch (type) {
    case TRV_BOOL: memcpy(to, &b, sizeof b); return;
    case TRV_FLOAT: memcpy(to, f, sizeof f[0]); return;
    case TRV_DOUBLE: memcpy(to, d, sizeof d[0]); return;
    case TRV_LONG_DOUBLE: memcpy(to, l, sizeof l[0]); return;
    case TRV_COMPLEX_FLOAT: memcpy(to, f, sizeof f); return;
    case TRV_COMPLEX_DOUBLE: memcpy(to, d, sizeof d); return;
    case TRV_COMPLEX_LONG_DOUBLE: memcpy(to, l, sizeof l); return;
    default: break;
    }
    int64_t wide = v.re; /* the low bytes are the narrower integer, modulo its range */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy(to, (char *)&wide + sizeof wide - trv_type_size(type), trv_type_size(type));
#else
    memcpy(to, &wide, trv_type_size(type));
#endif
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

/* Whether two elements have the same numeric value: -0 equals 0, and padding is ignored. */
static bool equal(trv_type_t type, const char *a, const char *b)
{
    size_t size = trv_type_size(type);
    if (!is_float(type) && !is_complex(type))
        return memcmp(a, b, size) == 0;
    size_t part = is_complex(type) ? size / 2 : size;
    bool same = true;
    for (size_t at = 0; at < size; at += part) {
        float f[2];
        double d[2];
        long double l[2];
        if (part == sizeof(float)) {
            memcpy(&f[0], a + at, part);
            memcpy(&f[1], b + at, part);
            same = same && f[0] == f[1];
        } else if (part == sizeof(double)) {
            memcpy(&d[0], a + at, part);
            memcpy(&d[1], b + at, part);
            same = same && d[0] == d[1];
        } else {
            memcpy(&l[0], a + at, part);
            memcpy(&l[1], b + at, part);
            same = same && l[0] == l[1];
        }
    }
    return same;
}

/* Counts the elements of `result` that differ from the periodic pattern. The first element is compared with index
 * `first` of the pattern. */
static uint64_t differing(trv_type_t type, const char *result, const char *pattern, uint64_t first, uint64_t count)
{
    size_t size = trv_type_size(type);
    uint64_t wrong = 0;
    for (uint64_t done = 0; done < count;) {
        uint64_t at = (first + done) % BENCH_PERIOD;
        uint64_t run = BENCH_PERIOD - at < count - done ? BENCH_PERIOD - at : count - done;
        const char *got = result + done * size, *reference = pattern + at * size;
        if (memcmp(got, reference, run * size) != 0)
            for (uint64_t i = 0; i < run; i++)
                wrong += !equal(type, got + i * size, reference + i * size);
        done += run;
    }
    return wrong;
}

static void fill_periodic(trv_type_t type, char *buffer, const char *pattern, uint64_t count)
{
    size_t size = trv_type_size(type);
    for (uint64_t done = 0; done < count; done += BENCH_PERIOD) {
        uint64_t run = count - done < BENCH_PERIOD ? count - done : BENCH_PERIOD;
        memcpy(buffer + done * size, pattern, run * size);
    }
}

static void contribution(const bench_data_t *data, int rank, char *pattern)
{
    for (int i = 0; i < BENCH_PERIOD; i++)
        store(data->type, pattern + (size_t)i * trv_type_size(data->type),
              value_of(data->op, data->type, rank, data->ranks, i));
}

int bench_data_init(bench_data_t *data, int rank, int ranks)
{
    const size_t size = trv_type_size(data->type);
    data->rank = rank;
    data->ranks = ranks;
    data->input = calloc(BENCH_PERIOD, size);
    data->expected = calloc(BENCH_PERIOD, size);
    if (!data->input || !data->expected)
        return trv_fail_memory();
    contribution(data, rank, data->input);
    for (int i = 0; i < BENCH_PERIOD; i++) {
        value_t sum = value_of(data->op, data->type, 0, ranks, i);
        if (data->op >= TRV_LAND && data->op <= TRV_LXOR && ranks > 1)
            sum.re = sum.re != 0;
        for (int r = 1; r < ranks; r++)
            sum = combine(data->op, sum, value_of(data->op, data->type, r, ranks, i));
        store(data->type, data->expected + (size_t)i * size, sum);
    }
    return TRV_OK;
}

void bench_data_clear(bench_data_t *data)
{
    free(data->input);
    free(data->expected);
}

uint64_t bench_data_blocks(const bench_data_t *data, trv_holders_t holders)
{
    return trv_blocks_held(data->collective, holders, data->ranks, data->rank == BENCH_ROOT);
}

void bench_data_fill(const bench_data_t *data, char *buffer, uint64_t count)
{
    const trv_holders_t before = trv_collective_shape(data->collective)->before;
    fill_periodic(data->type, buffer, data->input, bench_data_blocks(data, before) * count);
}

/* Counts the wrong elements of a result that consists of blocks from the ranks `first` to `last`. */
static uint64_t differing_blocks(const bench_data_t *data, const char *result, uint64_t count, int first, int last)
{
    const trv_collective_shape_t *shape = trv_collective_shape(data->collective);
    const bool divided = shape->exchanges || shape->after == TRV_OWNER; /* a source sends a block to each rank */
    const size_t size = trv_type_size(data->type);
    char *pattern = malloc(BENCH_PERIOD * size);
    uint64_t wrong = pattern ? 0 : count;
    for (int r = first; pattern && r <= last; r++) {
        contribution(data, r, pattern);
        wrong += differing(data->type, result + (uint64_t)(r - first) * count * size, pattern,
                           divided ? (uint64_t)data->rank * count : 0, count);
    }
    free(pattern);
    return wrong;
}

uint64_t bench_data_wrong(const bench_data_t *data, const char *result, uint64_t count)
{
    const trv_collective_shape_t *shape = trv_collective_shape(data->collective);
    if (bench_data_blocks(data, shape->after) == 0)
        return 0;
    if (shape->reduces)
        return differing(data->type, result, data->expected,
                         shape->after == TRV_OWNER ? (uint64_t)data->rank * count : 0, count);
    return shape->before == TRV_ROOT ? differing_blocks(data, result, count, BENCH_ROOT, BENCH_ROOT)
                                     : differing_blocks(data, result, count, 0, data->ranks - 1);
}

bool bench_data_identical(trv_collective_t collective)
{
    const trv_collective_shape_t *shape = trv_collective_shape(collective);
    return shape->after == TRV_EVERY_RANK && !shape->exchanges;
}

uint64_t bench_data_hash(const bench_data_t *data, const char *result, uint64_t count)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    uint64_t elements = count * bench_data_blocks(data, trv_collective_shape(data->collective)->after);
    size_t size = trv_type_size(data->type), part = size, significant = size;
    if (data->type == TRV_LONG_DOUBLE || data->type == TRV_COMPLEX_LONG_DOUBLE) {
        part = sizeof(long double);
        significant = LDBL_MANT_DIG == 64 ? 10 : part; /* x87 numbers are 10 bytes in a larger object */
    } else {
        part = significant = sizeof(uint64_t);
    }
    for (uint64_t at = 0, bytes = elements * size; at < bytes; at += part) {
        uint64_t left = bytes - at < significant ? bytes - at : significant;
        for (uint64_t i = 0; i < left; i += sizeof(uint64_t)) {
            uint64_t word = 0;
            memcpy(&word, result + at + i, left - i < sizeof word ? left - i : sizeof word);
            hash = (hash ^ word) * 0xff51afd7ed558ccdu;
            hash ^= hash >> 29;
        }
    }
    return hash;
}
