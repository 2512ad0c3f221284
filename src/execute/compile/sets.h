/*
 * Sets of the indices of an axis, as lists of ranges. Equal sets have equal numbers, so that they are compared in
 * constant time and the results of operations can be cached.
 */
#ifndef TRIVANCE_EXECUTE_COMPILE_SETS_H
#define TRIVANCE_EXECUTE_COMPILE_SETS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct trv_set {
    int first, ranges; /* bound[first], bound[first + 1]: begin and end of the first range, and so on, ascending */
    int members;
    int next; /* the next set with the same hash */
} trv_set_t;

typedef struct trv_cached trv_cached_t;

typedef struct trv_sets {
    trv_set_t *set; /* set 0 is the empty set */
    int *bound;
    int sets, bounds;
    int64_t set_capacity, bound_capacity;
    int *bucket, buckets; /* by hash; exists during compilation only */
    trv_cached_t *cached; /* cached results of operations; exist during compilation only */
    int *scratch;         /* the set under construction */
    int64_t scratch_capacity;
} trv_sets_t;

/* These functions return a set's number, or a negative TRV_ERR_*. */
int trv_sets_begin(trv_sets_t *sets);
/* The set of `ranges` ranges, which must not touch each other. */
int trv_sets_add(trv_sets_t *sets, const int *bound, int ranges);
int trv_sets_range(trv_sets_t *sets, int begin, int end);
int trv_sets_values(trv_sets_t *sets, const int *value, int count);
int trv_sets_intersection(trv_sets_t *sets, int a, int b);
int trv_sets_difference(trv_sets_t *sets, int a, int b);
int trv_sets_union(trv_sets_t *sets, int a, int b);
/* Frees the memory that is needed only to create sets. */
void trv_sets_end(trv_sets_t *sets);
void trv_sets_clear(trv_sets_t *sets);

#endif
