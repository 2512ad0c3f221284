/*
 * The positions of a slice as a space of axes, products of sets of their indices, and the partition of the space into
 * *equivalence classes*: units that have the same history in every message and combine. A class is a product.
 *
 * The sets of a schedule are products of coordinates; along the axes of its positions (trv_schedule_axes) they usually
 * are products, too. Otherwise the space is flat: one axis of all positions.
 */
#ifndef TRIVANCE_EXECUTE_COMPILE_SPACE_H
#define TRIVANCE_EXECUTE_COMPILE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/schedule.h>

#include "execute/compile/sets.h"

enum { TRV_SPACE_AXES_MAX = TRV_AXES_MAX + 1 };

/* The axes and the pool of products: product p consists of the sets id[p * axes …]. */
typedef struct trv_space {
    int axes, size[TRV_SPACE_AXES_MAX];
    int64_t weight[TRV_SPACE_AXES_MAX]; /* difference in position between two successive indices */
    int full[TRV_SPACE_AXES_MAX];       /* per axis: the set of all its indices */
    int64_t units;
    trv_sets_t sets;
    int *id;
    int products;
    int64_t product_capacity;
} trv_space_t;

/* The number of units of a product. */
int64_t trv_space_count(const trv_space_t *space, int product);
/* Whether `products` disjoint products from `product` on are one run of positions; if so, sets its first position and
 * its units. */
bool trv_space_run(const trv_space_t *space, int product, int products, int64_t *first, int64_t *units);
int64_t trv_space_first(const trv_space_t *space, int product);
/* Appends a copy. Returns its number or an error. */
int trv_space_add(trv_space_t *space, const int *id);
/* Joins products that differ in one axis, until none can be joined, among those from `product` to the end of the
 * pool. */
int trv_space_join(trv_space_t *space, int product);
void trv_space_clear(trv_space_t *space);

/* ---- Classes ----------------------------------------------------------------------------------------------------- */

/* A product and, after it was split, its parts. */
typedef struct trv_node {
    int product;
    int child, children;
    int eqclass, eqclasses; /* range of the leaves under it, set by trv_partition_end */
} trv_node_t;

/* A set of the schedule: its products, and the nodes whose union it is. */
typedef struct trv_cover {
    int product, products;
    int node, nodes; /* range of partition.list */
    int next;        /* the next cover with the same hash */
} trv_cover_t;

typedef struct trv_partition {
    trv_space_t *space;
    const trv_schedule_t *schedule;
    int stream;
    bool flat;
    trv_axis_t axis[TRV_AXES_MAX];
    int schedule_axes;
    int64_t *position, *order; /* in a flat space, if positions are not the identity */
    trv_node_t *node;
    int nodes, eqclasses;
    int64_t node_capacity;
    int *list, listed;
    int64_t list_capacity;
    int *leaf;            /* per class: its node, set by trv_partition_end */
    int last_rest;        /* the rest of the last split, which is likely to contain the next set */
    int *bucket, buckets; /* hash table of the covers */
    trv_cover_t *cover;
    int covers;
    int64_t cover_capacity;
    int64_t *unit;
    int64_t unit_capacity;
    int *bound;
    int64_t bound_capacity;
} trv_partition_t;

int trv_partition_begin(trv_partition_t *partition, trv_space_t *space, const trv_schedule_t *schedule, int stream,
                        bool flat);
/* The number of the cover of a set, or an error. *needs_flat is set if the set is not a product along the axes, so
 * that a flat partition is needed. */
int trv_partition_cover(trv_partition_t *partition, const trv_blocks_t *blocks, bool *needs_flat);
/* The same for the `units` positions from `first` on. */
int trv_partition_run(trv_partition_t *partition, int64_t first, int64_t units, bool *needs_flat);
/* Numbers the classes. */
int trv_partition_end(trv_partition_t *partition);
/* The unit at a position. */
int64_t trv_partition_unit(const trv_partition_t *partition, int64_t position);
void trv_partition_clear(trv_partition_t *partition);

#endif
