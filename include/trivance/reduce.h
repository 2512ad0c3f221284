/*
 * Element types, operations and the reduction kernels: joint reductions of any number of inputs in one pass.
 *
 * Stability: stable.
 */
#ifndef TRIVANCE_REDUCE_H
#define TRIVANCE_REDUCE_H

#include <stdbool.h>
#include <stddef.h>

#include <trivance/common.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum trv_type {
    TRV_INT8,
    TRV_INT16,
    TRV_INT32,
    TRV_INT64,
    TRV_UINT8,
    TRV_UINT16,
    TRV_UINT32,
    TRV_UINT64,
    TRV_FLOAT16,  /* IEEE half; a joint reduction accumulates in float and rounds once */
    TRV_BFLOAT16, /* likewise */
    TRV_FLOAT,
    TRV_DOUBLE,
    TRV_LONG_DOUBLE,
    TRV_COMPLEX_FLOAT,
    TRV_COMPLEX_DOUBLE,
    TRV_COMPLEX_LONG_DOUBLE,
    TRV_BOOL, /* C _Bool */
    TRV_TYPES
} trv_type_t;

typedef enum trv_op {
    TRV_SUM,
    TRV_PROD,
    TRV_MIN,
    TRV_MAX,
    TRV_LAND,
    TRV_LOR,
    TRV_LXOR,
    TRV_BAND,
    TRV_BOR,
    TRV_BXOR,
    TRV_OPS
} trv_op_t;

TRV_API size_t trv_type_size(trv_type_t type);      /* bytes; 0 for no type */
TRV_API const char *trv_type_name(trv_type_t type); /* "int32", "double", "bfloat16", … */
TRV_API const char *trv_op_name(trv_op_t op);       /* "sum", "band", … */
/* Finds a type or operation by name, case-insensitive. TRV_ERR_ARGUMENT, with a message that lists the names. */
TRV_API int trv_type_parse(const char *name, trv_type_t *type);
TRV_API int trv_op_parse(const char *name, trv_op_t *op);
/* Whether MPI defines the operation on the type (bitwise operations on integers and BOOL, no MIN/MAX on complex
 * types, …). */
TRV_API bool trv_op_supports(trv_op_t op, trv_type_t type);
/* Whether the result is independent of the order, bit by bit (integers; MIN and MAX on floating point count as not
 * exact, because of NaN). */
TRV_API bool trv_op_exact(trv_op_t op, trv_type_t type);
/* Whether x op x == x: MIN, MAX, LAND, LOR, BAND, BOR. */
TRV_API bool trv_op_idempotent(trv_op_t op);

/* destination[i] := source[0][i] op source[1][i] op … (left to right), i < count; sources >= 1; a single source is a
 * copy. The destination may be one of the sources; otherwise the buffers must not overlap. Reads every input once.
 * TRV_ERR_UNSUPPORTED if the operation is not defined on the type. The kernel is chosen at run time for the processor
 * (AVX-512, AVX2, or plain C). */
TRV_API int trv_reduce(trv_op_t op, trv_type_t type, void *destination, const void *const *source, int sources,
                       size_t count);
/* The same with the plain C kernels, for comparison. */
TRV_API int trv_reduce_plain(trv_op_t op, trv_type_t type, void *destination, const void *const *source, int sources,
                             size_t count);
/* The kernels that trv_reduce uses on this processor: "avx512", "avx2" or "plain". TRIVANCE_KERNELS=plain|avx2|avx512
 * limits it. */
TRV_API const char *trv_reduce_kernels(void);

#ifdef __cplusplus
}
#endif
#endif
