/*
 * A library for LD_PRELOAD: every program begins like one that has called setlocale for a locale in which a comma
 * separates decimal places (scripts/check.sh, stage `comma`). Messages remain those of the C locale.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void select_comma(void)
{
    char text[8] = "";
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8"))
        snprintf(text, sizeof text, "%.1f", 0.5);
    if (strcmp(text, "0,5") != 0) {
        fputs("comma: the locale de_DE.UTF-8 is missing, or has no comma\n", stderr);
        _Exit(1);
    }
}
