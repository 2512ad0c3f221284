/*
 * Code that the readers of exported formats share: values, memory and error sentences.
 */
#include "formats.h"

#include <stdarg.h>
#include <string.h>

const char *format_error(const char *format, ...)
{
    static char text[512];
    va_list test_arguments;
    va_start(test_arguments, format);
    vsnprintf(text, sizeof text, format, test_arguments);
    va_end(test_arguments);
    return text;
}

unsigned format_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u; /* Numerical Recipes */
    return *seed >> 16;
}

bool format_collective(const char *text, format_collective_t *collective)
{
    static const char *const name[] = {"allreduce", "reducescatter", "allgather"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, name[i]) == 0) {
            *collective = (format_collective_t)i;
            return true;
        }
    return false;
}

/* In an in-place collective, the shorter of input and output is the rank's part of the longer one. */
value_t *format_at(const memory_t *m, const char *buffer, int index)
{
    int limit = *buffer == 's' ? m->scratch : *buffer == 'i' ? m->input : m->output;
    if (!strchr("ios", *buffer) || buffer[1] || index < 0 || index >= limit)
        return NULL;
    if (*buffer == 's')
        return &m->value[m->chunks + index];
    return &m->value[(limit < m->chunks ? m->rank * limit : 0) + index];
}

void format_begin(memory_t *m, int launch)
{
    for (int c = 0; c < m->chunks; c++) {
        bool own = m->collective != FORMAT_ALLGATHER || c / m->input == m->rank;
        m->value[c] = (value_t){.chunk = own ? c : -1, .launch = launch};
        m->value[c].count[m->rank] = own;
    }
}

bool format_complete(const memory_t *m, int launch)
{
    for (int c = 0; c < m->chunks; c++) {
        if (m->collective == FORMAT_REDUCESCATTER && c / m->output != m->rank)
            continue;
        if (m->value[c].chunk != c || m->value[c].launch != launch)
            return false;
        for (int r = 0; r < m->ranks; r++)
            if (m->value[c].count[r] != (m->collective != FORMAT_ALLGATHER || c / m->input == r))
                return false;
    }
    return true;
}

bool format_add(value_t *a, const value_t *b)
{
    if (a->chunk < 0 || a->chunk != b->chunk || a->launch != b->launch)
        return false;
    for (int r = 0; r < FORMAT_RANKS_MAX; r++) {
        a->count[r] = (uint8_t)(a->count[r] + b->count[r]);
        if (a->count[r] > 1)
            return false;
    }
    return true;
}
