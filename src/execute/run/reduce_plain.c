/*
 * The reduction kernels for every processor, compiled from plain C without additional instruction sets.
 */
#include "execute/run/kernels.h"

const trv_kernels_t trv_kernels_plain = {"plain", kernels, NULL};
