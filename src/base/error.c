/*
 * Thread-local text of the last error, and the version.
 */
#include "base/error.h"
#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[1024] = "no error so far";

/* The length of the UTF-8 character that begins here; 0 if it is invalid or not printable. */
static int character_bytes(const unsigned char *at)
{
    const int bytes = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (bytes == 1)
        return at[0] >= ' ' && at[0] != 0x7f;
    if (at[0] < 0xc2 || at[0] > 0xf4)
        return 0;
    for (int i = 1; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    switch (at[0]) {
    case 0xc2: /* control characters */
    case 0xe0: return at[1] < 0xa0 ? 0 : bytes;
    case 0xed: return at[1] < 0xa0 ? bytes : 0;
    case 0xf0: return at[1] < 0x90 ? 0 : bytes;
    case 0xf4: return at[1] < 0x90 ? bytes : 0;
    default: return bytes;
    }
}

void trv_make_printable(char *text)
{
    for (int bytes; *text; text += bytes) {
        bytes = character_bytes((const unsigned char *)text);
        if (bytes == 0) {
            *text = '?';
            bytes = 1;
        }
    }
}

int trv_fail(int code, const char *format, ...)
{
    /* Format into a separate buffer first: the arguments may point into last_error (a caller extends a sentence). */
    char text[sizeof last_error];
    va_list arguments;
    va_start(arguments, format);
    trv_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    trv_make_printable(text);
    snprintf(last_error, sizeof last_error, "%s", text);
    return code;
}

int trv_check_size(size_t given, size_t known, const char *initializer)
{
    if (given == known)
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT,
                    "a struct of %zu bytes was passed where this library expects %zu; initialize it with {%s} and "
                    "compile with the headers of version %s",
                    given, known, initializer, TRV_VERSION);
}

int trv_fail_memory(void) { return trv_fail(TRV_ERR_MEMORY, "out of memory"); }

const char *trv_last_error(void) { return last_error; }

const char *trv_version(void) { return TRV_VERSION; }
