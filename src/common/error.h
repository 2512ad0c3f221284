/*
 * The last error of this thread. trv_fail formats the sentence and returns the code, so that a function ends with
 * `return trv_fail(TRV_ERR_ARGUMENT, "…")`.
 */
#ifndef TRIVANCE_COMMON_ERROR_H
#define TRIVANCE_COMMON_ERROR_H

#include <trivance/common.h>

/* Exported for libtrivance_mpi_* alone, which shares this thread's error (version TRIVANCE_PRIVATE in trivance.map). */
TRV_API int trv_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The sentence for TRV_ERR_MEMORY. */
TRV_API int trv_fail_memory(void);

#endif
