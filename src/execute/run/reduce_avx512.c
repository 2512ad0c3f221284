/*
 * The reduction kernels for processors with AVX-512 (F, BW, VL, DQ). kernels.cmake compiles this file for them; on
 * other architectures the table is empty and never selected.
 */
#ifdef TRIVANCE_KERNELS_X86
#include "execute/run/kernels.h"
#include "execute/run/stream.h"

const trv_kernels_t trv_kernels_avx512 = {"avx512", kernels, stream};
#else
#include "execute/run/reduce.h"

const trv_kernels_t trv_kernels_avx512 = {"avx512", NULL, NULL};
#endif
