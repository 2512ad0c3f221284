/*
 * The properties of a browser as an operating system: one core, no terminal, no temporary files. Included before every
 * file.
 */
#ifndef TRIVANCE_EXPLORE_WASM_BROWSER_H
#define TRIVANCE_EXPLORE_WASM_BROWSER_H

#include <stddef.h>

typedef struct trv_one_core {
    int count;
} cpu_set_t;

#define CPU_COUNT(set) ((set)->count)

static inline int sched_getaffinity(int process, size_t size, cpu_set_t *set)
{
    (void)process, (void)size;
    set->count = 1;
    return 0;
}

struct winsize {
    unsigned short ws_row, ws_col;
};

#define TIOCGWINSZ 0x5413 /* ioctl returns an error */

static inline int mkstemp(char *name)
{
    (void)name;
    return -1;
}

#endif
