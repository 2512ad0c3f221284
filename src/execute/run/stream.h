/*
 * Stores that bypass the caches, for results that are too large for them: this avoids reading every destination line
 * before it is overwritten. Included as source, like kernels.h; both AVX versions use it.
 */
#include <immintrin.h>
#include <stddef.h>

static void stream(void *destination, const void *source, size_t bytes)
{
    char *to = destination;
    const char *from = source;
    for (size_t i = 0; i < bytes; i += 64) {
#ifdef __AVX512F__
        _mm512_stream_si512((void *)(to + i), _mm512_loadu_si512((const void *)(from + i)));
#else
        _mm256_stream_si256((void *)(to + i), _mm256_loadu_si256((const void *)(from + i)));
        _mm256_stream_si256((void *)(to + i + 32), _mm256_loadu_si256((const void *)(from + i + 32)));
#endif
    }
    _mm_sfence();
}
