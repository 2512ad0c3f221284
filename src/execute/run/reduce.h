/*
 * The tables of reduction kernels, one per instruction set, and their selection. kernels.h is their source.
 */
#ifndef TRIVANCE_EXECUTE_RUN_REDUCE_H
#define TRIVANCE_EXECUTE_RUN_REDUCE_H

#include <stddef.h>

#include <trivance/reduce.h>

/* destination := source[0] op source[1] op …; at least two sources, any count, any alignment. */
typedef void (*trv_kernel_t)(void *destination, const void *const *source, int sources, size_t count);

/* NULL if the operation is not defined on the type. */
typedef struct trv_kernels {
    const char *name;
    const trv_kernel_t (*kernel)[TRV_TYPES]; /* by operation, then type */
    /* Copies `bytes` (a multiple of 64) to a destination aligned to 64, bypassing the caches. NULL: no such
     * instructions. */
    void (*stream)(void *destination, const void *source, size_t bytes);
} trv_kernels_t;

extern const trv_kernels_t trv_kernels_plain, trv_kernels_avx2, trv_kernels_avx512;

/* The reduction of one type by one operation, with a kernel of one of these tables. */
typedef struct trv_reduction {
    trv_kernel_t kernel;
    const trv_kernels_t *kernels;
    size_t element_size;
    size_t streamed_min; /* results of this many elements may be streamed; SIZE_MAX: none */
} trv_reduction_t;

/* The reduction for this processor. The operation must be defined on the type. */
trv_reduction_t trv_reduction_of(trv_op_t op, trv_type_t type);
/* Reduces at least one element of at least two sources. */
void trv_reduction_run(const trv_reduction_t *reduction, void *destination, const void *const *source, int sources,
                       size_t count);

#endif
