/*
 * The reduction kernels for every processor: what the compiler makes of plain C.
 */
#include "execute/run/kernels.h"

const trv_kernels_t trv_kernels_plain = {"plain", kernels, NULL};
