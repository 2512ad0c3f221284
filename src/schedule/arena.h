/*
 * An arena: memory that is handed out piece by piece, released all at once and then reused without a call of malloc.
 */
#ifndef TRIVANCE_SCHEDULE_ARENA_H
#define TRIVANCE_SCHEDULE_ARENA_H

#include <stddef.h>

typedef struct trv_arena trv_arena_t;

trv_arena_t *trv_arena_create(void);
void trv_arena_destroy(trv_arena_t *arena);
void *trv_arena_alloc(trv_arena_t *arena, size_t bytes); /* aligned for anything; NULL when out of memory */
void trv_arena_empty(trv_arena_t *arena);

#endif
