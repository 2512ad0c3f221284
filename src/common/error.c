/*
 * Thread-local text of the last error, and the version.
 */
#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[1024] = "no error so far";

int trv_fail(int code, const char *format, ...)
{
    /* The arguments may point into last_error itself (a caller that adds to the sentence): format aside first. */
    char text[sizeof last_error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(last_error, sizeof last_error, "%s", text);
    return code;
}

int trv_check_size(size_t given, size_t known, const char *initialiser)
{
    if (given == known)
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT,
                    "a struct has the size %zu, and this library's has %zu; begin with %s, and take the "
                    "headers of this version (%s)",
                    given, known, initialiser, TRV_VERSION);
}

int trv_fail_memory(void) { return trv_fail(TRV_ERR_MEMORY, "out of memory"); }

const char *trv_last_error(void) { return last_error; }

const char *trv_version(void) { return TRV_VERSION; }
