/*
 * Writing work: copies and reductions of many atoms become few pieces, as far as they have the same operands.
 */
#ifndef TRIVANCE_EXECUTE_GROUP_H
#define TRIVANCE_EXECUTE_GROUP_H

#include "execute/program.h"

typedef struct trv_tuple {
    trv_place_t to;
    int source, sources; /* of program->source */
} trv_tuple_t;

typedef struct trv_group {
    trv_program_t *program;
    trv_tuple_t *tuple;
    struct trv_entry {
        int product, tuple;
    } *entry;
    int tuples, tuple_room, entries, entry_room;
    int work_room, piece_room, source_room, walk_room;
} trv_group_t;

enum { TRV_WALK_PRODUCTS_MAX = 128, TRV_PIECE_PRODUCTS_MAX = 64, TRV_CONTAINER_PRODUCTS_MAX = 16 };

/* Begins one; adds to := source[0] op source[1] … on a product; ends it by appending works to the program. `products`
 * products from `product` on, if that is > 0, are known to be all that was added. */
void trv_group_begin(trv_group_t *group);
int trv_group_add(trv_group_t *group, int product, trv_place_t to, const trv_place_t *source, int sources);
int trv_group_end(trv_group_t *group, int product, int products);
void trv_group_clear(trv_group_t *group);

#endif
