/*
 * The kernels of the joint reductions: for every operation and type one function that combines any number of sources in
 * one pass. This file is included as source, not as an interface: reduce_plain.c, reduce_avx2.c and reduce_avx512.c
 * include it, each compiled for its processor, and each obtains its own table `kernels` from it. The compiler
 * vectorizes the loops; for this it only has to know that the iterations are independent, which is true because the
 * destination either is a source (same address) or overlaps none.
 *
 * Two and three sources have their own loops. With more, a block of partial results stays in the first-level cache
 * while the other sources are combined with it, one after the other, so that every input is still read once and the
 * output written once. Sources are always combined from left to right, and the three versions give bitwise identical
 * results (no contraction, see kernels.cmake).
 *
 * C has no templates, hence the macros: KERNEL defines one function, the lists at the end instantiate it for all types.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __F16C__
#include <immintrin.h>
#endif

#include <trivance/reduce.h>

#include "execute/run/half.h"
#include "execute/run/reduce.h"

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

enum { BLOCK_BYTES = 4096 };

/* Elements may have any alignment and any declared type: MPI programs reduce data in packed structures. */
#define ANYWHERE __attribute__((aligned(1), may_alias))
typedef uint8_t u8 ANYWHERE;
typedef uint16_t u16 ANYWHERE;
typedef uint32_t u32 ANYWHERE;
typedef uint64_t u64 ANYWHERE;
typedef int8_t i8 ANYWHERE;
typedef int16_t i16 ANYWHERE;
typedef int32_t i32 ANYWHERE;
typedef int64_t i64 ANYWHERE;
typedef float f32 ANYWHERE;
typedef double f64 ANYWHERE;
typedef long double f80 ANYWHERE;
typedef struct ANYWHERE {
    f32 re, im;
} c32;
typedef struct ANYWHERE {
    f64 re, im;
} c64;
typedef struct ANYWHERE {
    f80 re, im;
} c80;

/* Combines more than three sources, block by block, with a kernel for two and three. */
static __attribute__((noinline)) void combine_blocks(trv_kernel_t kernel, size_t element_bytes, void *destination,
                                                     const void *const *source, int sources, size_t count)
{
    _Alignas(64) unsigned char partial[BLOCK_BYTES];
    const size_t block = BLOCK_BYTES / element_bytes;
    for (size_t at = 0; at < count; at += block) {
        const size_t n = count - at < block ? count - at : block, offset = at * element_bytes;
        const void *operand[3];
        for (int s = 0; s < 3; s++)
            operand[s] = (const unsigned char *)source[s] + offset;
        kernel(partial, operand, 3, n);
        operand[0] = partial;
        for (int s = 3; s < sources; s++) {
            operand[1] = (const unsigned char *)source[s] + offset;
            kernel(s < sources - 1 ? partial : (unsigned char *)destination + offset, operand, 2, n);
        }
    }
}

/* The function of one operation on one type. */
#define KERNEL(name, type, combine)                                                                                    \
    static void name(void *destination, const void *const *source, int sources, size_t count)                          \
    {                                                                                                                  \
        type *to = destination;                                                                                        \
        const type *a = source[0], *b = source[1], *c = source[sources > 2 ? 2 : 1];                                   \
        if (sources == 2) {                                                                                            \
            INDEPENDENT                                                                                                \
            for (size_t i = 0; i < count; i++)                                                                         \
                to[i] = combine(a[i], b[i]);                                                                           \
        } else if (sources == 3) {                                                                                     \
            INDEPENDENT                                                                                                \
            for (size_t i = 0; i < count; i++)                                                                         \
                to[i] = combine(combine(a[i], b[i]), c[i]);                                                            \
        } else {                                                                                                       \
            combine_blocks(name, sizeof(type), destination, source, sources, count);                                   \
        }                                                                                                              \
    }

/* The same for 16-bit floating point: blocks are widened to float, combined, and rounded once. */
#define SHORT_KERNEL(name, widen, narrow, combine)                                                                     \
    static void name(void *destination, const void *const *source, int sources, size_t count)                          \
    {                                                                                                                  \
        enum { block = BLOCK_BYTES / sizeof(float) };                                                                  \
        float partial[block], next[block];                                                                             \
        for (size_t at = 0; at < count; at += block) {                                                                 \
            size_t n = count - at < block ? count - at : block;                                                        \
            widen(partial, (const u16 *)source[0] + at, n);                                                            \
            for (int s = 1; s < sources; s++) {                                                                        \
                widen(next, (const u16 *)source[s] + at, n);                                                           \
                INDEPENDENT                                                                                            \
                for (size_t i = 0; i < n; i++)                                                                         \
                    partial[i] = combine(partial[i], next[i]);                                                         \
            }                                                                                                          \
            narrow((u16 *)destination + at, partial, n);                                                               \
        }                                                                                                              \
    }

static void widen_half(float *to, const u16 *from, size_t count)
{
    size_t i = 0;
#ifdef __AVX512F__
    for (; i + 16 <= count; i += 16)
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(from + i))));
#elif defined(__F16C__)
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + i))));
#endif
    for (; i < count; i++)
        to[i] = float_of_half(from[i]);
}

static void narrow_half(u16 *to, const float *from, size_t count)
{
    size_t i = 0;
#ifdef __AVX512F__
    for (; i + 16 <= count; i += 16)
        _mm256_storeu_si256((void *)(to + i), _mm512_cvtps_ph(_mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128((void *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < count; i++)
        to[i] = half_of_float(from[i]);
}

static void widen_bfloat(float *to, const u16 *from, size_t count)
{
    INDEPENDENT
    for (size_t i = 0; i < count; i++)
        to[i] = float_of_bfloat(from[i]);
}

static void narrow_bfloat(u16 *to, const float *from, size_t count)
{
    INDEPENDENT
    for (size_t i = 0; i < count; i++)
        to[i] = bfloat_of_float(from[i]);
}

/* Signed integers are added and multiplied as unsigned ones, so that overflow wraps around instead of being undefined;
 * the 1u keeps narrow operands from being promoted to int. */
#define OP_SUM(x, y)   ((x) + (y))
#define OP_PROD(x, y)  (1u * (x) * (y))
#define OP_TIMES(x, y) ((x) * (y))
#define OP_MIN(x, y)   ((y) < (x) ? (y) : (x))
#define OP_MAX(x, y)   ((y) > (x) ? (y) : (x))
#define OP_LAND(x, y)  (((x) != 0) & ((y) != 0))
#define OP_LOR(x, y)   (((x) != 0) | ((y) != 0))
#define OP_LXOR(x, y)  (((x) != 0) ^ ((y) != 0))
#define OP_BAND(x, y)  ((x) & (y))
#define OP_BOR(x, y)   ((x) | (y))
#define OP_BXOR(x, y)  ((x) ^ (y))

#define ORDER_KERNELS(type)                                                                                            \
    KERNEL(min_##type, type, OP_MIN)                                                                                   \
    KERNEL(max_##type, type, OP_MAX)
#define INTEGER_KERNELS(type)                                                                                          \
    KERNEL(sum_##type, type, OP_SUM)                                                                                   \
    KERNEL(prod_##type, type, OP_PROD)                                                                                 \
    KERNEL(land_##type, type, OP_LAND)                                                                                 \
    KERNEL(lor_##type, type, OP_LOR)                                                                                   \
    KERNEL(lxor_##type, type, OP_LXOR)                                                                                 \
    KERNEL(band_##type, type, OP_BAND)                                                                                 \
    KERNEL(bor_##type, type, OP_BOR)                                                                                   \
    KERNEL(bxor_##type, type, OP_BXOR)                                                                                 \
    ORDER_KERNELS(type)
#define FLOAT_KERNELS(type)                                                                                            \
    KERNEL(sum_##type, type, OP_SUM)                                                                                   \
    KERNEL(prod_##type, type, OP_TIMES)                                                                                \
    ORDER_KERNELS(type)
#define SHORT_KERNELS(type)                                                                                            \
    SHORT_KERNEL(sum_##type, widen_##type, narrow_##type, OP_SUM)                                                      \
    SHORT_KERNEL(prod_##type, widen_##type, narrow_##type, OP_TIMES)                                                   \
    SHORT_KERNEL(min_##type, widen_##type, narrow_##type, OP_MIN)                                                      \
    SHORT_KERNEL(max_##type, widen_##type, narrow_##type, OP_MAX)

INTEGER_KERNELS(u8)
INTEGER_KERNELS(u16)
INTEGER_KERNELS(u32)
INTEGER_KERNELS(u64)
ORDER_KERNELS(i8)
ORDER_KERNELS(i16)
ORDER_KERNELS(i32)
ORDER_KERNELS(i64)
FLOAT_KERNELS(f32)
FLOAT_KERNELS(f64)
FLOAT_KERNELS(f80)
SHORT_KERNELS(half)
SHORT_KERNELS(bfloat)

/* Computes -x by its sign bit. A plain minus in the complex product makes GCC 12.2 contract it into a
 * multiply-and-subtract for AVX-512 in spite of -ffp-contract (GCC bug 107647), and the bits would differ from those of
 * the other kernels. */
static inline float negative_f32(float x) { return float_of_bits(bits_of_float(x) ^ 0x80000000u); }

static inline double negative_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= 1ull << 63;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline long double negative_f80(long double x) { return -x; }

/* Complex products use the schoolbook formula, as in the MPI libraries (without the treatment of infinities in C's
 * Annex G). A complex sum is computed as a sum of twice as many reals. */
#define COMPLEX_KERNELS(type, real)                                                                                    \
    static inline type times_##type(type x, type y)                                                                    \
    {                                                                                                                  \
        return (type){x.re * y.re + negative_##real(x.im * y.im), x.re * y.im + x.im * y.re};                          \
    }                                                                                                                  \
    KERNEL(prod_##type, type, times_##type)                                                                            \
    static void sum_##type(void *destination, const void *const *source, int sources, size_t count)                    \
    {                                                                                                                  \
        sum_##real(destination, source, sources, 2 * count);                                                           \
    }

COMPLEX_KERNELS(c32, f32)
COMPLEX_KERNELS(c64, f64)
COMPLEX_KERNELS(c80, f80)

/* All operations except the order are the same for signed and unsigned integers. */
#define INTEGER_ROW(op)                                                                                                \
    [TRV_INT8] = op##_u8, [TRV_INT16] = op##_u16, [TRV_INT32] = op##_u32, [TRV_INT64] = op##_u64,                      \
    [TRV_UINT8] = op##_u8, [TRV_UINT16] = op##_u16, [TRV_UINT32] = op##_u32, [TRV_UINT64] = op##_u64
#define FLOAT_ROW(op)                                                                                                  \
    [TRV_FLOAT16] = op##_half, [TRV_BFLOAT16] = op##_bfloat, [TRV_FLOAT] = op##_f32, [TRV_DOUBLE] = op##_f64,          \
    [TRV_LONG_DOUBLE] = op##_f80
#define ORDER_ROW(op)                                                                                                  \
    [TRV_INT8] = op##_i8, [TRV_INT16] = op##_i16, [TRV_INT32] = op##_i32, [TRV_INT64] = op##_i64,                      \
    [TRV_UINT8] = op##_u8, [TRV_UINT16] = op##_u16, [TRV_UINT32] = op##_u32, [TRV_UINT64] = op##_u64, FLOAT_ROW(op)
#define COMPLEX_ROW(op)                                                                                                \
    [TRV_COMPLEX_FLOAT] = op##_c32, [TRV_COMPLEX_DOUBLE] = op##_c64, [TRV_COMPLEX_LONG_DOUBLE] = op##_c80

static const trv_kernel_t kernels[TRV_OPS][TRV_TYPES] = {
    [TRV_SUM] = {INTEGER_ROW(sum), FLOAT_ROW(sum), COMPLEX_ROW(sum)},
    [TRV_PROD] = {INTEGER_ROW(prod), FLOAT_ROW(prod), COMPLEX_ROW(prod)},
    [TRV_MIN] = {ORDER_ROW(min)},
    [TRV_MAX] = {ORDER_ROW(max)},
    [TRV_LAND] = {INTEGER_ROW(land), [TRV_BOOL] = land_u8},
    [TRV_LOR] = {INTEGER_ROW(lor), [TRV_BOOL] = lor_u8},
    [TRV_LXOR] = {INTEGER_ROW(lxor), [TRV_BOOL] = lxor_u8},
    [TRV_BAND] = {INTEGER_ROW(band), [TRV_BOOL] = band_u8},
    [TRV_BOR] = {INTEGER_ROW(bor), [TRV_BOOL] = bor_u8},
    [TRV_BXOR] = {INTEGER_ROW(bxor), [TRV_BOOL] = bxor_u8},
};
