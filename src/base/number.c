/*
 * Each function selects the C locale for its thread, calls the function of libc, and restores the thread's locale.
 */
#include "base/number.h"

#include <stdlib.h>
#include <strings.h>

/* The C locale is a constant of libc, which newlocale returns without allocating memory. */
locale_t trv_locale_enter(void) { return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); }

void trv_locale_leave(locale_t before) { freelocale(uselocale(before)); }

int trv_vsnprintf(char *text, size_t size, const char *format, va_list arguments)
{
    const locale_t before = trv_locale_enter();
    const int length = vsnprintf(text, size, format, arguments);
    trv_locale_leave(before);
    return length;
}

int trv_snprintf(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = trv_vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return length;
}

int trv_fprintf(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const locale_t before = trv_locale_enter();
    const int length = vfprintf(out, format, arguments);
    trv_locale_leave(before);
    va_end(arguments);
    return length;
}

double trv_strtod(const char *text, char **end)
{
    const locale_t before = trv_locale_enter();
    const double value = strtod(text, end);
    trv_locale_leave(before);
    return value;
}

int trv_strcasecmp(const char *a, const char *b)
{
    const locale_t before = trv_locale_enter();
    const int order = strcasecmp(a, b);
    trv_locale_leave(before);
    return order;
}

int trv_sscanf(const char *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const locale_t before = trv_locale_enter();
    const int items = vsscanf(text, format, arguments);
    trv_locale_leave(before);
    va_end(arguments);
    return items;
}
