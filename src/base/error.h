/*
 * The last error of this thread. trv_fail formats the sentence and returns the code, so that a function ends with
 * `return trv_fail(TRV_ERR_ARGUMENT, "…")`.
 */
#ifndef TRIVANCE_BASE_ERROR_H
#define TRIVANCE_BASE_ERROR_H

#include <stddef.h>

#include <trivance/common.h>

/* Exported only for the other libraries of this project, which use the same last error; as all internal functions with
 * TRV_API it has the version TRIVANCE_PRIVATE in trivance.map. */
TRV_API int trv_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replaces control characters and bytes that are not valid UTF-8 (such as parts of a truncated character) by '?'. Names
 * and contents of files must neither break lines nor send control sequences to a terminal. trv_fail calls it. */
void trv_make_printable(char *text);

/* Checks that the size of a struct filled by the caller is that of this library; `initializer` is the macro that sets
 * it. Returns TRV_OK or TRV_ERR_ARGUMENT. */
TRV_API int trv_check_size(size_t given, size_t known, const char *initializer);

/* Callback for warnings: receives a sentence about unusual input that is ignored. */
typedef void trv_warn_t(void *context, const char *sentence);

/* Sets the last error for TRV_ERR_MEMORY, and returns that code. */
TRV_API int trv_fail_memory(void);

#endif
