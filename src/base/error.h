/*
 * The last error of this thread. trv_fail formats the sentence and returns the code, so that a function ends with
 * `return trv_fail(TRV_ERR_ARGUMENT, "…")`.
 */
#ifndef TRIVANCE_BASE_ERROR_H
#define TRIVANCE_BASE_ERROR_H

#include <stddef.h>

#include <trivance/common.h>

/* Internal functions that are declared with TRV_API are exported for the other libraries alone, which share this thread's
 * error (version TRIVANCE_PRIVATE in trivance.map). */
TRV_API int trv_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts ? for what is no character in UTF-8, a part of one that was cut off for example, and for control characters: the
 * names of files and what is in them must neither break a line nor speak to a terminal. trv_fail does so. */
void trv_make_printable(char *text);

/* Whether a struct that a caller has filled is the one that this library knows; `initialiser` sets its size. */
TRV_API int trv_check_size(size_t given, size_t known, const char *initialiser);

/* Receives a sentence about what is odd but harmless, and is ignored. */
typedef void trv_warn_t(void *context, const char *sentence);

/* The sentence for TRV_ERR_MEMORY. */
TRV_API int trv_fail_memory(void);

#endif
