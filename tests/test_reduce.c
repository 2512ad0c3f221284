/*
 * Compares the reduction kernels with trivial code: every operation, type and number of sources, odd counts, unaligned
 * addresses, in place on each source, and beyond the streaming threshold. The portable kernels and those selected for
 * this processor must give identical bits.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/reduce.h>

#include "execute/run/half.h"
#include "execute/run/reduce.h"

enum { SOURCES_MAX = 5, ELEMENT_MAX = 2 * sizeof(long double) };

static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 2685821657736338717u;
}

/* ---- Trivial code: one element, two operands --------------------------------------------------------------------- */

static uint64_t integer(trv_op_t op, uint64_t x, uint64_t y, bool less)
{
    switch (op) {
    case TRV_SUM: return x + y;
    case TRV_PROD: return x * y;
    case TRV_MIN: return less ? y : x;
    case TRV_MAX: return less || x == y ? x : y;
    case TRV_LAND: return x != 0 && y != 0;
    case TRV_LOR: return x != 0 || y != 0;
    case TRV_LXOR: return (x != 0) != (y != 0);
    case TRV_BAND: return x & y;
    case TRV_BOR: return x | y;
    default: return x ^ y;
    }
}

static long double real(trv_op_t op, long double x, long double y)
{
    switch (op) {
    case TRV_SUM: return x + y;
    case TRV_PROD: return x * y;
    case TRV_MIN: return y < x ? y : x;
    default: return y > x ? y : x;
    }
}

/* x := x op y; integers are in two's complement. */
#define INTEGER_CASE(label, type)                                                                                      \
    case label: {                                                                                                      \
        type a, b;                                                                                                     \
        memcpy(&a, x, sizeof a);                                                                                       \
        memcpy(&b, y, sizeof b);                                                                                       \
        a = (type)integer(op, (uint64_t)a, (uint64_t)b, b < a);                                                        \
        memcpy(x, &a, sizeof a);                                                                                       \
        break;                                                                                                         \
    }
/* Computing a sum or product of two floats in long double and rounding to float rounds twice, but gives the same
 * result: 64 bits are more than 2 * 24 + 2. For double it would not, so each type is computed in itself. */
#define REAL_CASE(label, type)                                                                                         \
    case label: {                                                                                                      \
        type a, b;                                                                                                     \
        memcpy(&a, x, sizeof a);                                                                                       \
        memcpy(&b, y, sizeof b);                                                                                       \
        a = op == TRV_SUM ? a + b : op == TRV_PROD ? a * b : (type)real(op, a, b);                                     \
        memcpy(x, &a, sizeof a);                                                                                       \
        break;                                                                                                         \
    }
#define COMPLEX_CASE(label, type)                                                                                      \
    case label: {                                                                                                      \
        type a[2], b[2];                                                                                               \
        memcpy(a, x, sizeof a);                                                                                        \
        memcpy(b, y, sizeof b);                                                                                        \
        type p = a[0] * b[0], q = a[1] * b[1], r = a[0] * b[1], s = a[1] * b[0];                                       \
        type c[2] = {op == TRV_SUM ? a[0] + b[0] : p - q, op == TRV_SUM ? a[1] + b[1] : r + s};                        \
        memcpy(x, c, sizeof c);                                                                                        \
        break;                                                                                                         \
    }

static void naive(trv_op_t op, trv_type_t type, void *x, const void *y)
{
    switch (type) {
        INTEGER_CASE(TRV_INT8, int8_t)
        INTEGER_CASE(TRV_INT16, int16_t)
        INTEGER_CASE(TRV_INT32, int32_t)
        INTEGER_CASE(TRV_INT64, int64_t)
        INTEGER_CASE(TRV_UINT8, uint8_t)
        INTEGER_CASE(TRV_UINT16, uint16_t)
        INTEGER_CASE(TRV_UINT32, uint32_t)
        INTEGER_CASE(TRV_UINT64, uint64_t)
        INTEGER_CASE(TRV_BOOL, uint8_t)
        REAL_CASE(TRV_FLOAT, float)
        REAL_CASE(TRV_DOUBLE, double)
        REAL_CASE(TRV_LONG_DOUBLE, long double)
        COMPLEX_CASE(TRV_COMPLEX_FLOAT, float)
        COMPLEX_CASE(TRV_COMPLEX_DOUBLE, double)
        COMPLEX_CASE(TRV_COMPLEX_LONG_DOUBLE, long double)
    default: fail();
    }
}

/* Decodes 16-bit formats by their definition: sign, `exponent_bits` of exponent, fraction. Finite numbers only. */
static double decode(uint16_t bits, int exponent_bits)
{
    int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1), fraction = bits & ((1 << fraction_bits) - 1);
    double value = exponent ? ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits)
                            : ldexp(fraction, 1 - bias - fraction_bits);
    return bits & 0x8000 ? -value : value;
}

static uint16_t encode(double value, int exponent_bits)
{
    int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1, exponent;
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    value = fabs(value);
    frexp(value, &exponent);
    exponent = value == 0 || exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    /* In units of the last place; nearbyint rounds to even. Overflow of the fraction carries over into the exponent. */
    long units = lrint(nearbyint(ldexp(value, fraction_bits - exponent)));
    long bits = units + ((long)(exponent + bias - 1) << fraction_bits);
    long infinity = (long)((1 << exponent_bits) - 1) << fraction_bits;
    return (uint16_t)(sign | (bits > infinity ? infinity : bits));
}

static void naive_short(trv_op_t op, trv_type_t type, uint16_t *result, const uint16_t *source, int sources)
{
    int exponent_bits = type == TRV_FLOAT16 ? 5 : 8;
    float value = (float)decode(source[0], exponent_bits);
    for (int s = 1; s < sources; s++) {
        float y = (float)decode(source[s], exponent_bits);
        value = op == TRV_SUM ? value + y : op == TRV_PROD ? value * y : (float)real(op, value, y);
    }
    *result = sources == 1 ? source[0] : encode(value, exponent_bits);
}

static void naive_element(trv_op_t op, trv_type_t type, void *result, const unsigned char *const *source, int sources,
                          size_t at)
{
    size_t size = trv_type_size(type);
    if (type == TRV_FLOAT16 || type == TRV_BFLOAT16) {
        uint16_t operand[SOURCES_MAX];
        for (int s = 0; s < sources; s++)
            memcpy(&operand[s], source[s] + at * size, size);
        naive_short(op, type, result, operand, sources);
        return;
    }
    memcpy(result, source[0] + at * size, size);
    for (int s = 1; s < sources; s++)
        naive(op, type, result, source[s] + at * size);
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static void fill(trv_type_t type, unsigned char *data, size_t count)
{
    size_t size = trv_type_size(type);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = random_bits();
        if (type <= TRV_UINT64) {
            bits = bits % 4 ? bits : 0; /* zeros, for the logical operations */
            memcpy(data + i * size, &bits, size);
        } else if (type == TRV_BOOL) {
            data[i] = bits & 1;
        } else if (type == TRV_FLOAT16 || type == TRV_BFLOAT16) {
            uint16_t value = encode(((int)(bits % 4001) - 2000) / 512.0 * (bits >> 40 & 7 ? 1 : 0x1p-13),
                                    type == TRV_FLOAT16 ? 5 : 8);
            memcpy(data + i * size, &value, size);
        } else {
            int parts = type >= TRV_COMPLEX_FLOAT ? 2 : 1;
            for (int p = 0; p < parts; p++) {
                long double value = ((long double)random_bits() - 0x1p63L) / 0x1p62L;
                unsigned char *at = data + i * size + (size_t)p * (size / (size_t)parts);
                float single = (float)value;
                double twice = (double)value;
                if (size / (size_t)parts == sizeof single)
                    memcpy(at, &single, sizeof single);
                else if (size / (size_t)parts == sizeof twice)
                    memcpy(at, &twice, sizeof twice);
                else
                    memcpy(at, &value, sizeof value);
            }
        }
    }
}

/* Compares the significant bytes of elements; x86 pads the 10 bytes of a long double to 16. */
static bool same(trv_type_t type, const unsigned char *a, const unsigned char *b)
{
    if (type != TRV_LONG_DOUBLE && type != TRV_COMPLEX_LONG_DOUBLE)
        return !memcmp(a, b, trv_type_size(type));
    long double x[2] = {0, 0}, y[2] = {0, 0};
    memcpy(x, a, trv_type_size(type));
    memcpy(y, b, trv_type_size(type));
    return x[0] == y[0] && x[1] == y[1];
}

typedef int reduce_t(trv_op_t, trv_type_t, void *, const void *const *, int, size_t);

/* Checks one reduction. The destination is source `in_place`, or separate if that is -1. All buffers are `skew` bytes
 * off alignment. */
static void check(reduce_t *reduce, trv_op_t op, trv_type_t type, int sources, int in_place, size_t count, size_t skew)
{
    size_t bytes = count * trv_type_size(type);
    unsigned char *memory[SOURCES_MAX + 1], *copy[SOURCES_MAX];
    const void *source[SOURCES_MAX];
    for (int s = 0; s <= sources; s++) {
        memory[s] = malloc(bytes + skew + 1);
        assert_non_null(memory[s]);
        memory[s][bytes + skew] = 0xa5;
    }
    for (int s = 0; s < sources; s++) {
        fill(type, memory[s] + skew, count);
        copy[s] = malloc(bytes + 1);
        assert_non_null(copy[s]);
        memcpy(copy[s], memory[s] + skew, bytes);
        source[s] = memory[s] + skew;
    }
    unsigned char *to = memory[in_place >= 0 ? in_place : sources] + skew;
    assert_int_equal(reduce(op, type, to, source, sources, count), 0);
    for (size_t i = 0; i < count; i++) {
        unsigned char expected[ELEMENT_MAX];
        naive_element(op, type, expected, (const unsigned char *const *)copy, sources, i);
        if (!same(type, expected, to + i * trv_type_size(type)))
            fail_msg("%s of %d sources of %s: element %zu of %zu is wrong (destination %d, skew %zu)", trv_op_name(op),
                     sources, trv_type_name(type), i, count, in_place, skew);
    }
    for (int s = 0; s < sources; s++)
        if (s != in_place)
            assert_memory_equal(copy[s], memory[s] + skew, bytes);
    for (int s = 0; s <= sources; s++) {
        assert_int_equal(memory[s][bytes + skew], 0xa5);
        free(memory[s]);
    }
    for (int s = 0; s < sources; s++)
        free(copy[s]);
}

/* Counts up to just above a block of the loops for many sources. */
static void every_case(trv_op_t op, trv_type_t type)
{
    const size_t size = trv_type_size(type) < 4 && type >= TRV_FLOAT16 && type != TRV_BOOL ? 4 : trv_type_size(type);
    const size_t counts[] = {0, 1, 7, 67, 4096 / size + 3};
    for (int sources = 1; sources <= SOURCES_MAX; sources++)
        for (int in_place = -1; in_place < sources; in_place++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                size_t skew = (c + (size_t)(in_place + 1)) % 2;
                check(trv_reduce, op, type, sources, in_place, counts[c], skew);
                check(trv_reduce_plain, op, type, sources, in_place, counts[c], !skew);
            }
}

static void test_every_operation_and_type(void **state)
{
    (void)state;
    for (int op = 0; op < TRV_OPS; op++)
        for (int type = 0; type < TRV_TYPES; type++)
            if (trv_op_supports((trv_op_t)op, (trv_type_t)type))
                every_case((trv_op_t)op, (trv_type_t)type);
}

/* Past the streaming threshold every PERIOD elements repeat, so that one period of the result is computed naively.
 * PERIOD is prime, so it does not divide the block of the streaming loop. */
enum { PERIOD = 4099, STREAMED_SOURCES = 4 };

static void repeat(unsigned char *data, size_t period, size_t bytes)
{
    for (size_t done = period; done < bytes; done += period)
        memcpy(data + done, data, bytes - done < period ? bytes - done : period);
}

static bool repeats(const unsigned char *data, const unsigned char *expected, size_t period, size_t bytes)
{
    bool same = true;
    for (size_t done = 0; same && done < bytes; done += period)
        same = memcmp(data + done, expected, bytes - done < period ? bytes - done : period) == 0;
    return same;
}

/* `memory` has STREAMED_SOURCES sources and the destination. */
static void check_streamed(unsigned char *const *memory, trv_type_t type, size_t skew)
{
    static unsigned char pattern[STREAMED_SOURCES][PERIOD * ELEMENT_MAX], expected[PERIOD * ELEMENT_MAX];
    const size_t size = trv_type_size(type), count = ((size_t)33 << 20) / size + 3, bytes = count * size;
    const unsigned char *naive_source[STREAMED_SOURCES];
    const void *source[STREAMED_SOURCES];
    unsigned char *to = memory[STREAMED_SOURCES] + skew;
    for (int s = 0; s < STREAMED_SOURCES; s++) {
        fill(type, pattern[s], PERIOD);
        memcpy(memory[s] + skew, pattern[s], PERIOD * size);
        repeat(memory[s] + skew, PERIOD * size, bytes);
        naive_source[s] = pattern[s];
        source[s] = memory[s] + skew;
    }
    for (int sources = 2; sources <= STREAMED_SOURCES; sources += 2) {
        for (size_t i = 0; i < PERIOD; i++)
            naive_element(TRV_SUM, type, expected + i * size, naive_source, sources, i);
        memset(to, 0xee, bytes);
        to[bytes] = 0xa5;
        assert_int_equal(trv_reduce(TRV_SUM, type, to, source, sources, count), 0);
        if (!repeats(to, expected, PERIOD * size, bytes))
            fail_msg("sum of %d sources of %s: wrong where it is streamed (skew %zu)", sources, trv_type_name(type),
                     skew);
        assert_int_equal(to[bytes], 0xa5);
        for (int s = 0; s < STREAMED_SOURCES; s++)
            assert_true(repeats(memory[s] + skew, pattern[s], PERIOD * size, bytes));
    }
}

static void test_streamed(void **state)
{
    (void)state;
    static const trv_type_t some[] = {TRV_BFLOAT16, TRV_DOUBLE, TRV_COMPLEX_DOUBLE};
    unsigned char *memory[STREAMED_SOURCES + 1];
    for (int s = 0; s <= STREAMED_SOURCES; s++)
        assert_non_null(memory[s] = malloc(((size_t)33 << 20) + 3 * ELEMENT_MAX + 5));
    for (size_t t = 0; t < sizeof some / sizeof *some; t++)
        for (size_t skew = 0; skew <= 4; skew += 4)
            check_streamed(memory, some[t], skew);
    for (int s = 0; s <= STREAMED_SOURCES; s++)
        free(memory[s]);
}

/* Converts every half, unchanged and as rounded from the floats around it. */
static void test_half_conversions(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t half = (uint16_t)bits;
        bool finite = (half & 0x7c00) != 0x7c00, nan = !finite && half & 0x3ff;
        float value = float_of_half(half);
        if (nan) {
            assert_true(isnan(value));
            assert_true(isnan(float_of_half(half_of_float(value))));
            continue;
        }
        assert_int_equal(half_of_float(value), half);
        if (!finite || half == 0x7bff || half == 0xfbff) {
            assert_true(finite || isinf(value));
            continue;
        }
        assert_true(value == (float)decode(half, 5));
        float between = (value + float_of_half((uint16_t)(half + 1))) / 2;
        assert_int_equal(half_of_float(between), half & 1 ? half + 1 : half);
        assert_int_equal(half_of_float(nextafterf(between, 0)), half);
        assert_int_equal(half_of_float(nextafterf(between, 2 * between)), half + 1);
    }
    assert_int_equal(half_of_float(65519.99f), 0x7bff);
    assert_int_equal(half_of_float(65520.0f), 0x7c00);
    assert_int_equal(half_of_float(-1e30f), 0xfc00);
    assert_int_equal(bfloat_of_float(3.4e38f), 0x7f80);
    assert_true(isnan(float_of_bfloat(bfloat_of_float(NAN))));
}

/* Every pattern of 16 bits, NaN and infinity included: conversions of the processor and of this library agree. */
static void test_same_bits(void **state)
{
    (void)state;
    enum { count = 0x10000 };
    static uint16_t a[count], b[count], plain[count], chosen[count];
    for (uint32_t i = 0; i < count; i++) {
        a[i] = (uint16_t)i;
        b[i] = (uint16_t)((i & 0x8000) | 0x3c00); /* of two NaNs, it is unspecified which one is the result */
    }
    const void *source[] = {a, b, b};
    for (int type = TRV_FLOAT16; type <= TRV_BFLOAT16; type++)
        for (int op = TRV_SUM; op <= TRV_MAX; op++)
            for (int sources = 2; sources <= 3; sources++) {
                assert_int_equal(trv_reduce((trv_op_t)op, (trv_type_t)type, chosen, source, sources, count), 0);
                assert_int_equal(trv_reduce_plain((trv_op_t)op, (trv_type_t)type, plain, source, sources, count), 0);
                assert_memory_equal(chosen, plain, sizeof plain);
            }
}

/* Halves: 2048 + 1 + 1 is 2050 if it is rounded once, and 2048 if it is rounded after every addition. */
static void test_rounds_once(void **state)
{
    (void)state;
    const uint16_t big = half_of_float(2048), one = half_of_float(1);
    uint16_t sum;
    const void *source[] = {&big, &one, &one};
    assert_int_equal(trv_reduce(TRV_SUM, TRV_FLOAT16, &sum, source, 3, 1), 0);
    assert_true(float_of_half(sum) == 2050);
}

static void test_tables_agree(void **state)
{
    (void)state;
    for (int op = 0; op < TRV_OPS; op++)
        for (int type = 0; type < TRV_TYPES; type++)
            assert_int_equal(trv_kernels_plain.kernel[op][type] != NULL,
                             trv_op_supports((trv_op_t)op, (trv_type_t)type));
}

static void test_refusals(void **state)
{
    (void)state;
    double value = 1;
    const void *source[] = {&value};
    assert_int_equal(trv_reduce(TRV_BAND, TRV_DOUBLE, &value, source, 1, 1), TRV_ERR_UNSUPPORTED);
    assert_string_equal(trv_last_error(), "the operation band is not defined on elements of type double");
    assert_int_equal(trv_reduce(TRV_MAX, TRV_COMPLEX_FLOAT, &value, source, 1, 1), TRV_ERR_UNSUPPORTED);
    assert_int_equal(trv_reduce(TRV_SUM, TRV_DOUBLE, &value, source, 0, 1), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_reduce(TRV_OPS, TRV_DOUBLE, &value, source, 1, 1), TRV_ERR_UNSUPPORTED);
    assert_int_equal(trv_reduce(TRV_SUM, TRV_TYPES, &value, source, 1, 1), TRV_ERR_UNSUPPORTED);
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < TRV_TYPES; i++) {
        trv_type_t type;
        assert_int_equal(trv_type_parse(trv_type_name((trv_type_t)i), &type), 0);
        assert_int_equal(type, i);
        assert_true(trv_type_size(type) > 0);
    }
    for (int i = 0; i < TRV_OPS; i++) {
        trv_op_t op;
        assert_int_equal(trv_op_parse(trv_op_name((trv_op_t)i), &op), 0);
        assert_int_equal(op, i);
    }
    trv_type_t type;
    trv_op_t op;
    assert_int_equal(trv_type_parse("DOUBLE", &type), 0);
    assert_int_equal(type, TRV_DOUBLE);
    assert_int_equal(trv_type_parse("quad", &type), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "'quad' does not exist; the types are int8, int16"));
    assert_int_equal(trv_op_parse("", &op), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "the operations are sum, prod"));
    assert_int_equal(trv_type_size(TRV_TYPES), 0);
    assert_non_null(strstr("plain avx2 avx512", trv_reduce_kernels()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation_and_type),
        cmocka_unit_test(test_streamed),
        cmocka_unit_test(test_half_conversions),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_rounds_once),
        cmocka_unit_test(test_tables_agree),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
