/*
 * Scratch areas of a program: first fit by lifetime. Areas are asked for in the order of time; each lives to the end of
 * a tick, which may be moved back while it lives.
 */
#ifndef TRIVANCE_EXECUTE_SCRATCH_H
#define TRIVANCE_EXECUTE_SCRATCH_H

#include <stddef.h>

typedef struct trv_area {
    size_t offset, bytes;
    int end; /* last tick in which it is needed */
} trv_area_t;

typedef struct trv_scratch {
    trv_area_t *area;
    int *live; /* numbers of the areas in use, by offset */
    int areas, area_room, lives, live_room;
    size_t bytes; /* the highest end so far */
} trv_scratch_t;

/* An area of `bytes` from tick `begin` to tick `end`; its number, or negative when out of memory. `begin` never goes
 * back from call to call. */
int trv_scratch_take(trv_scratch_t *scratch, size_t bytes, int begin, int end);
/* Makes a living area live at least to `end`. */
void trv_scratch_extend(trv_scratch_t *scratch, int area, int end);
void trv_scratch_clear(trv_scratch_t *scratch);

#endif
