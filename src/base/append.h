/*
 * Text that is composed of several parts, in a buffer of fixed size.
 */
#ifndef TRIVANCE_BASE_APPEND_H
#define TRIVANCE_BASE_APPEND_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* Appends to the text in a buffer of `size` bytes, which is 1 or more; what exceeds it is cut off. */
static inline void trv_append_list(char *text, size_t size, const char *format, va_list arguments)
{
    const size_t used = strlen(text);
    trv_vsnprintf(text + used, size - used, format, arguments);
}

static inline void trv_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static inline void trv_append(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    trv_append_list(text, size, format, arguments);
    va_end(arguments);
}

#endif
