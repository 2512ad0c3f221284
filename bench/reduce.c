/*
 * Measures the speed of a joint reduction: one pass over three inputs, two passes over two, a copy, and the triad of
 * STREAM (a = b + s * c), in and out of cache, on one core.
 *
 *     reduce [MiB of the largest vector, default 256] [type, default float]
 *
 * With "in place" the destination is also the first source (the most frequent case in the executor); with "out of
 * place" it is a separate vector. GB/s count the vectors that must be transferred: 4 for the joint reduction, 6 for two
 * passes, 2 for a copy, 3 for the triad; a destination that is read before it is written is not counted, as in STREAM.
 * The triad is the better of one with ordinary and one with streaming stores. Medians.
 *
 * If three vectors exceed a cache and two do not, two passes can be faster: an effect of the repetition.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <trivance/reduce.h>

#include "measure.h"

enum { ROUNDS_MAX = 201, VECTORS = 4 };

typedef struct {
    trv_type_t type;
    size_t bytes;
    char *a, *b, *c, *d;
} vectors_t;

static void combine(const vectors_t *v, void *to, const void *x, const void *y, const void *z)
{
    const void *source[] = {x, y, z};
    if (trv_reduce(TRV_SUM, v->type, to, source, z ? 3 : 2, v->bytes / trv_type_size(v->type)))
        abort(); /* impossible: the type was checked before */
}

static void joint_in_place(const vectors_t *v) { combine(v, v->a, v->a, v->b, v->c); }

static void passes_in_place(const vectors_t *v)
{
    combine(v, v->a, v->a, v->b, NULL);
    combine(v, v->a, v->a, v->c, NULL);
}

static void joint_out_of_place(const vectors_t *v) { combine(v, v->d, v->a, v->b, v->c); }

static void passes_out_of_place(const vectors_t *v)
{
    combine(v, v->d, v->a, v->b, NULL);
    combine(v, v->d, v->d, v->c, NULL);
}

static void copy(const vectors_t *v) { memcpy(v->d, v->a, v->bytes); }

/* Compiled for the processor with the same options as the kernels. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#endif
static void
triad_ordinary(const vectors_t *v)
{
    double *restrict a = (double *)v->d;
    const double *restrict b = (const double *)v->a, *restrict c = (const double *)v->b;
    for (size_t i = 0; i < v->bytes / sizeof *a; i++)
        a[i] = b[i] + 3.0 * c[i];
}

#ifdef __SSE2__
static void triad_streaming(const vectors_t *v)
{
    double *a = (double *)v->d;
    const double *b = (const double *)v->a, *c = (const double *)v->b;
    const __m128d s = _mm_set1_pd(3.0);
    for (size_t i = 0; i < v->bytes / sizeof *a; i += 8)
        for (size_t j = i; j < i + 8; j += 2)
            _mm_stream_pd(a + j, _mm_add_pd(_mm_load_pd(b + j), _mm_mul_pd(s, _mm_load_pd(c + j))));
    _mm_sfence();
}
#endif

enum { JOINT, PASSES, JOINT_OUT_OF_PLACE, PASSES_OUT_OF_PLACE, COPY, TRIAD, TRIAD_STREAMING, WORKS };

static void (*const works[WORKS])(const vectors_t *) = {
    joint_in_place,  passes_in_place, joint_out_of_place, passes_out_of_place, copy, triad_ordinary,
#ifdef __SSE2__
    triad_streaming,
#else
    triad_ordinary,
#endif
};

static double once(void (*work)(const vectors_t *), const vectors_t *v, int batch)
{
    const double from_s = trv_now_s();
    for (int i = 0; i < batch; i++)
        work(v);
    return (trv_now_s() - from_s) / batch;
}

typedef struct work {
    const vectors_t *vectors;
    int batch;
} work_t;

static double reduce_sample(void *context, int side)
{
    const work_t *work = context;
    once(works[side], work->vectors, 1); /* replaces the data of the previous side in the caches */
    return once(works[side], work->vectors, work->batch);
}

/* Measures the median time of each kind of work in seconds; takes about 3 seconds. */
static void measure(const vectors_t *v, double median[WORKS])
{
    const double first_s = once(works[COPY], v, 1);
    work_t work = {v, first_s < 1e-3 ? (int)(1e-3 / (first_s + 1e-9)) + 1 : 1};
    measure_sides(reduce_sample, &work, WORKS, 0, ROUNDS_MAX, 3, median);
}

static void row(const vectors_t *v)
{
    double seconds[WORKS], gb = 1e-9 * (double)v->bytes;
    measure(v, seconds);
    double best = seconds[TRIAD] < seconds[TRIAD_STREAMING] ? seconds[TRIAD] : seconds[TRIAD_STREAMING];
    double triad = 3 * gb / best, in_place = 4 * gb / seconds[JOINT],
           out_of_place = 4 * gb / seconds[JOINT_OUT_OF_PLACE];
    char size[MEASURE_BYTES_TEXT_MAX];
    printf("%9s  %7.1f %7.1f %6.2fx %6.0f%%  %7.1f %7.1f %6.2fx %6.0f%%  %7.1f %7.1f\n", measure_bytes(v->bytes, size),
           in_place, 6 * gb / seconds[PASSES], seconds[PASSES] / seconds[JOINT], 100 * in_place / triad, out_of_place,
           6 * gb / seconds[PASSES_OUT_OF_PLACE], seconds[PASSES_OUT_OF_PLACE] / seconds[JOINT_OUT_OF_PLACE],
           100 * out_of_place / triad, 2 * gb / seconds[COPY], triad);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    vectors_t v = {.type = TRV_FLOAT};
    const int size_max_mib = argc > 1 ? measure_number(argv[1], 65536) : 256;
    if (size_max_mib == 0) {
        fprintf(stderr, "reduce: expected a largest vector of 1 to 65536 MiB, for example 256\n");
        return 2;
    }
    if (argc > 2 && (trv_type_parse(argv[2], &v.type) || !trv_op_supports(TRV_SUM, v.type))) {
        fprintf(stderr, "reduce: %s\n", trv_op_supports(TRV_SUM, v.type) ? trv_last_error() : "bool has no sum");
        return 2;
    }
    size_t bytes = (size_t)size_max_mib << 20;
    char **vector[VECTORS] = {&v.a, &v.b, &v.c, &v.d};
    for (int i = 0; i < VECTORS; i++) {
        *vector[i] = aligned_alloc(4096, bytes);
        if (!*vector[i]) {
            fprintf(stderr, "reduce: out of memory for four vectors of %d MiB\n", size_max_mib);
            return 1;
        }
        memset(*vector[i], 0, bytes);
    }
    printf("sum of three vectors of %s, %s kernels, one core; GB/s\n\n", trv_type_name(v.type), trv_reduce_kernels());
    printf("%9s  %-31s  %-31s\n", "", "in place (a = a + b + c)", "out of place (d = a + b + c)");
    printf("%9s  %7s %7s %7s %7s  %7s %7s %7s %7s  %7s %7s\n", "vector", "joint", "2 pass", "gain", "/triad", "joint",
           "2 pass", "gain", "/triad", "memcpy", "triad");
    for (v.bytes = 8 << 10; v.bytes < bytes; v.bytes *= 4)
        row(&v);
    v.bytes = bytes;
    row(&v);
    for (int i = 0; i < VECTORS; i++)
        free(*vector[i]);
    return 0;
}
