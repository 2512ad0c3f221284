/*
 * Groups work: copies and reductions of many classes become few pieces, one for all classes with the same operands.
 */
#ifndef TRIVANCE_EXECUTE_COMPILE_GROUP_H
#define TRIVANCE_EXECUTE_COMPILE_GROUP_H

#include "execute/compile/program.h"

typedef struct trv_tuple {
    trv_location_t to;
    int source, sources; /* range of program->source */
} trv_tuple_t;

typedef struct trv_group {
    trv_program_t *program;
    const trv_partition_t *partition;
    trv_tuple_t *tuple;
    int *tuple_of; /* per class: its tuple, or -1 */
    int *eqclass;  /* the classes that have a tuple */
    struct trv_entry {
        int product, tuple;
    } * entry;
    int tuples, eqclasses, entries;
    int64_t tuple_capacity, entry_capacity, work_capacity, piece_capacity, source_capacity, walk_capacity;
} trv_group_t;

enum { TRV_WALK_PRODUCTS_MAX = 128, TRV_PIECE_PRODUCTS_MAX = 64, TRV_CONTAINER_PRODUCTS_MAX = 16 };

int trv_group_create(trv_group_t *group, trv_program_t *program, const trv_partition_t *partition);
/* Adds to := source[0] op source[1] … on a class. */
int trv_group_add(trv_group_t *group, int eqclass, trv_location_t to, const trv_location_t *source, int sources);
/* Appends works to the program for all classes added since the last flush, which must be within the cover. */
int trv_group_flush(trv_group_t *group, const trv_cover_t *cover);
/* Appends to the pool the products of the classes added since the last flush, as few products as possible. Returns
 * their number, and discards these classes without creating works. */
int trv_group_products(trv_group_t *group, const trv_cover_t *cover);
void trv_group_clear(trv_group_t *group);

#endif
