/*
 * The reduction kernels for processors with AVX2 and F16C. kernels.cmake compiles this file for them; on other
 * architectures the table is empty and never selected.
 */
#ifdef TRIVANCE_KERNELS_X86
#include "execute/run/kernels.h"
#include "execute/run/stream.h"

const trv_kernels_t trv_kernels_avx2 = {"avx2", kernels, stream};
#else
#include "execute/run/reduce.h"

const trv_kernels_t trv_kernels_avx2 = {"avx2", NULL, NULL};
#endif
