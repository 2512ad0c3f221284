/*
 * Text with numbers, written and read independently of the program's locale: the decimal point is '.', also after
 * setlocale(LC_ALL, "") in a locale that has a comma. All code of this project that formats or reads floating-point
 * numbers uses these functions (tests/decimals.py). They behave like the functions of libc otherwise, and are
 * thread-safe.
 */
#ifndef TRIVANCE_BASE_NUMBER_H
#define TRIVANCE_BASE_NUMBER_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <trivance/common.h>

TRV_API int trv_vsnprintf(char *text, size_t size, const char *format, va_list arguments);
TRV_API int trv_snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
TRV_API int trv_fprintf(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Equal regardless of case; strcasecmp distinguishes i and I in a Turkish locale. */
TRV_API int trv_strcasecmp(const char *a, const char *b);

TRV_API double trv_strtod(const char *text, char **end);
TRV_API int trv_sscanf(const char *text, const char *format, ...) __attribute__((format(scanf, 2, 3)));

/* For calls of other libraries that format or read numbers: trv_locale_enter selects the C locale for this thread and
 * returns the previous one, which trv_locale_leave restores. */
TRV_API locale_t trv_locale_enter(void);
TRV_API void trv_locale_leave(locale_t before);

#endif
