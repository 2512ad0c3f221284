/*
 * The positions of a slice as a space of axes, products of sets of their indices, and the partition of the space into
 * *atoms*: products whose units share their history in every message and combine.
 *
 * Sets of a schedule are products of coordinates; along the axes of its positions (trv_schedule_axes) they are products
 * again. Where they are not, the space is flat: one axis of all positions.
 */
#ifndef TRIVANCE_EXECUTE_COMPILE_SPACE_H
#define TRIVANCE_EXECUTE_COMPILE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/schedule.h>

#include "execute/compile/sets.h"

enum { TRV_SPACE_AXES_MAX = TRV_AXES_MAX + 1 };

/* The axes and the pool of products: product p is the sets id[p * axes …]. */
typedef struct trv_space {
    int axes, size[TRV_SPACE_AXES_MAX];
    int64_t weight[TRV_SPACE_AXES_MAX]; /* positions that an index counts */
    int full[TRV_SPACE_AXES_MAX];       /* the sets of all indices */
    int64_t units;
    trv_sets_t sets;
    int *id;
    int products;
    int64_t product_capacity;
} trv_space_t;

/* Units of a product. */
int64_t trv_space_count(const trv_space_t *space, int product);
/* Whether `products` disjoint ones from `product` on are one run of positions, and which. */
bool trv_space_run(const trv_space_t *space, int product, int products, int64_t *first, int64_t *units);
int64_t trv_space_first(const trv_space_t *space, int product);
/* Appends a copy; its number or an error. */
int trv_space_add(trv_space_t *space, const int *id);
/* Joins products that differ in one axis, as far as that goes, among those from `product` to the end of the pool. */
int trv_space_join(trv_space_t *space, int product);
void trv_space_clear(trv_space_t *space);

/* ---- Atoms ------------------------------------------------------------------------------------------------------- */

/* A product; once it was split, its parts. */
typedef struct trv_node {
    int product;
    int child, children;
    int atom, atoms; /* the leaves under it, in the end */
} trv_node_t;

/* A set of the schedule: products, and the nodes that it consists of. */
typedef struct trv_cover {
    int product, products;
    int node, nodes; /* of partition.list */
    int next;        /* of those with the same hash */
} trv_cover_t;

typedef struct trv_partition {
    trv_space_t *space;
    const trv_schedule_t *schedule;
    int stream;
    bool flat;
    trv_axis_t axis[TRV_AXES_MAX];
    int schedule_axes;
    int64_t *position, *order; /* flat, where positions are no identity */
    trv_node_t *node;
    int nodes, atoms;
    int64_t node_capacity;
    int *list, listed;
    int64_t list_capacity;
    int *leaf;          /* [atom]: its node, in the end */
    int hot;            /* the node in which the next set is likely to lie */
    int *seen, buckets; /* covers by the hash of their first product */
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
/* The number of the cover of a set, or an error. *again: the sets are no products along the axes, so that a flat
 * partition is needed. */
int trv_partition_cover(trv_partition_t *partition, const trv_blocks_t *blocks, bool *again);
/* The same of the `units` positions from `first` on. */
int trv_partition_run(trv_partition_t *partition, int64_t first, int64_t units, bool *again);
/* Numbers the atoms. */
int trv_partition_end(trv_partition_t *partition);
/* The unit at a position. */
int64_t trv_partition_unit(const trv_partition_t *partition, int64_t position);
void trv_partition_clear(trv_partition_t *partition);

#endif
