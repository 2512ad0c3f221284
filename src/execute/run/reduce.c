/*
 * Joint reductions: selects the kernel for the operation, the type and the processor.
 *
 * Results larger than the caches are computed block by block in the first-level cache and written to the destination
 * with streaming stores, which bypass the caches. This is not done if the destination is one of the sources: its lines
 * are then in the cache, and an ordinary store needs no additional read.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "execute/run/reduce.h"

/* Streaming makes the reduction itself about 10 % faster from 8 MiB on (bench/reduce, Xeon with AVX-512), but the next
 * reader of the result has to read it from memory. It is therefore used only for results that a shared cache would not
 * keep anyway. */
enum { STREAM_BYTES_MIN = 32 << 20, STREAM_BLOCK_BYTES = 8192, STREAM_SOURCES_MAX = 16 };

/* The best kernels for the processor, limited by TRIVANCE_KERNELS. */
static const trv_kernels_t *best_kernels(void)
{
#ifdef TRIVANCE_KERNELS_X86
    const char *setting = getenv("TRIVANCE_KERNELS");
    bool plain = setting && !trv_strcasecmp(setting, "plain"), avx2 = setting && !trv_strcasecmp(setting, "avx2");
    __builtin_cpu_init();
    /* clang 14 cannot test for F16C; every processor with AVX2 has it. */
    bool has_avx2 = __builtin_cpu_supports("avx2");
    bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    if (has_avx512 && !plain && !avx2)
        return &trv_kernels_avx512;
    if (has_avx2 && !plain)
        return &trv_kernels_avx2;
#endif
    return &trv_kernels_plain;
}

/* Selected at the first call; threads that race here select the same. */
static const trv_kernels_t *selected_kernels(void)
{
    static const trv_kernels_t *chosen;
    const trv_kernels_t *kernels = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
    if (!kernels) {
        kernels = best_kernels();
        __atomic_store_n(&chosen, kernels, __ATOMIC_RELEASE);
    }
    return kernels;
}

const char *trv_reduce_kernels(void) { return selected_kernels()->name; }

static bool is_source(const void *destination, const void *const *source, int sources)
{
    for (int s = 0; s < sources; s++)
        if (source[s] == destination)
            return true;
    return false;
}

/* Executes the kernel block by block into a small buffer, and streams the buffer to the destination. */
static void reduce_streamed(const trv_reduction_t *reduction, char *destination, const void *const *source, int sources,
                            size_t count)
{
    const trv_kernel_t kernel = reduction->kernel;
    const size_t size = reduction->element_size;
    _Alignas(64) char block[STREAM_BLOCK_BYTES];
    const void *at[STREAM_SOURCES_MAX];
    /* Elements before the first full line of the destination. If the line boundary is within an element, streaming is
     * not possible. */
    size_t head = -(uintptr_t)destination % 64;
    size_t done = head % size ? count : head / size;
    kernel(destination, source, sources, done);
    const size_t step = STREAM_BLOCK_BYTES / size;
    for (; count - done >= step; done += step) {
        for (int s = 0; s < sources; s++)
            at[s] = (const char *)source[s] + done * size;
        kernel(block, at, sources, step);
        reduction->kernels->stream(destination + done * size, block, STREAM_BLOCK_BYTES);
    }
    for (int s = 0; s < sources; s++)
        at[s] = (const char *)source[s] + done * size;
    kernel(destination + done * size, at, sources, count - done);
}

static trv_reduction_t reduction_by(const trv_kernels_t *kernels, trv_op_t op, trv_type_t type)
{
    const size_t size = trv_type_size(type);
    const bool streams = kernels->stream && STREAM_BLOCK_BYTES % size == 0;
    return (trv_reduction_t){.kernel = kernels->kernel[op][type],
                             .kernels = kernels,
                             .element_size = size,
                             .streamed_min = streams ? STREAM_BYTES_MIN / size : SIZE_MAX};
}

trv_reduction_t trv_reduction_of(trv_op_t op, trv_type_t type) { return reduction_by(selected_kernels(), op, type); }

void trv_reduction_run(const trv_reduction_t *reduction, void *destination, const void *const *source, int sources,
                       size_t count)
{
    if (count >= reduction->streamed_min && sources <= STREAM_SOURCES_MAX && !is_source(destination, source, sources))
        reduce_streamed(reduction, destination, source, sources, count);
    else
        reduction->kernel(destination, source, sources, count);
}

static int reduce_with(const trv_kernels_t *kernels, trv_op_t op, trv_type_t type, void *destination,
                       const void *const *source, int sources, size_t count)
{
    if (!trv_op_supports(op, type))
        return trv_fail(TRV_ERR_UNSUPPORTED, "the operation %s is not defined on elements of type %s", trv_op_name(op),
                        trv_type_name(type));
    if (sources < 1)
        return trv_fail(TRV_ERR_ARGUMENT, "a reduction of %d sources: expected at least 1", sources);
    if (count == 0)
        return 0;
    const trv_reduction_t reduction = reduction_by(kernels, op, type);
    if (sources > 1)
        trv_reduction_run(&reduction, destination, source, sources, count);
    else if (destination != source[0])
        memcpy(destination, source[0], count * reduction.element_size);
    return 0;
}

int trv_reduce(trv_op_t op, trv_type_t type, void *destination, const void *const *source, int sources, size_t count)
{
    return reduce_with(selected_kernels(), op, type, destination, source, sources, count);
}

int trv_reduce_plain(trv_op_t op, trv_type_t type, void *destination, const void *const *source, int sources,
                     size_t count)
{
    return reduce_with(&trv_kernels_plain, op, type, destination, source, sources, count);
}
