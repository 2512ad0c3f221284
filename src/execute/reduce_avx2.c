/*
 * The reduction kernels for processors with AVX2 and F16C. kernels.cmake compiles this file for them; where it does not
 * (another architecture) the table is empty and never chosen.
 */
#ifdef TRIVANCE_KERNELS_X86
#include "execute/kernels.h"
#include "execute/stream.h"

const trv_kernels_t trv_kernels_avx2 = {"avx2", kernels, stream};
#else
#include "execute/reduce.h"

const trv_kernels_t trv_kernels_avx2 = {"avx2", NULL, NULL};
#endif
