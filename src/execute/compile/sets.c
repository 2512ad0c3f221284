/*
 * Interned sets of ranges, see sets.h. The results of operations are cached in a table in which an entry is overwritten
 * by the next result with the same hash.
 */
#include "execute/compile/sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/array.h"

enum { CACHE_SIZE = 1024, BUCKETS_FIRST = 256 };

typedef enum op { INTERSECTION, DIFFERENCE, UNION } op_t;

struct trv_cached {
    int a, b, result;
    op_t op;
};

static unsigned hash_of(const int *bound, int bounds)
{
    const unsigned h = trv_hash_ints(TRV_HASH_INTS_SEED, bound, bounds);
    return h ^ h >> 15;
}

/* Doubles the number of buckets. */
static int grow_buckets(trv_sets_t *sets)
{
    const int buckets = sets->buckets ? 2 * sets->buckets : BUCKETS_FIRST;
    int *bucket = malloc((size_t)buckets * sizeof *bucket);
    if (!bucket)
        return trv_fail_memory();
    memset(bucket, 0xff, (size_t)buckets * sizeof *bucket);
    free(sets->bucket);
    sets->bucket = bucket;
    sets->buckets = buckets;
    for (int i = 0; i < sets->sets; i++) {
        trv_set_t *set = &sets->set[i];
        int *head = &bucket[hash_of(sets->bound + set->first, 2 * set->ranges) % (unsigned)buckets];
        set->next = *head;
        *head = i;
    }
    return 0;
}

int trv_sets_begin(trv_sets_t *sets)
{
    memset(sets, 0, sizeof *sets);
    sets->cached = malloc(CACHE_SIZE * sizeof *sets->cached);
    if (!sets->cached)
        return trv_fail_memory();
    memset(sets->cached, 0xff, CACHE_SIZE * sizeof *sets->cached);
    return trv_sets_add(sets, NULL, 0);
}

int trv_sets_add(trv_sets_t *sets, const int *bound, int ranges)
{
    if (sets->sets >= sets->buckets && grow_buckets(sets))
        return TRV_ERR_MEMORY;
    const size_t bytes = 2 * (size_t)ranges * sizeof *bound;
    int *head = &sets->bucket[hash_of(bound, 2 * ranges) % (unsigned)sets->buckets];
    for (int i = *head; i >= 0; i = sets->set[i].next)
        if (sets->set[i].ranges == ranges &&
            (ranges == 0 || memcmp(sets->bound + sets->set[i].first, bound, bytes) == 0))
            return i;
    if (trv_array_reserve(&sets->set, &sets->set_capacity, sets->sets, 1, sizeof *sets->set) ||
        trv_array_reserve(&sets->bound, &sets->bound_capacity, sets->bounds, 2 * ranges, sizeof *sets->bound))
        return TRV_ERR_MEMORY;
    trv_set_t set = {.first = sets->bounds, .ranges = ranges, .next = *head};
    if (ranges)
        memcpy(sets->bound + sets->bounds, bound, bytes);
    for (int i = 0; i < ranges; i++)
        set.members += bound[2 * i + 1] - bound[2 * i];
    sets->bounds += 2 * ranges;
    sets->set[sets->sets] = set;
    return *head = sets->sets++;
}

int trv_sets_range(trv_sets_t *sets, int begin, int end)
{
    return trv_sets_add(sets, (const int[]){begin, end}, begin < end);
}

int trv_sets_values(trv_sets_t *sets, const int *value, int count)
{
    if (trv_array_reserve(&sets->scratch, &sets->scratch_capacity, 0, 2 * count, sizeof *sets->scratch))
        return TRV_ERR_MEMORY;
    int ranges = 0, *scratch = sets->scratch;
    for (int i = 0; i < count; i++)
        if (ranges && scratch[2 * ranges - 1] == value[i]) {
            scratch[2 * ranges - 1]++;
        } else {
            scratch[2 * ranges] = value[i];
            scratch[2 * ranges++ + 1] = value[i] + 1;
        }
    return trv_sets_add(sets, scratch, ranges);
}

/* Visits the bounds of both sets in ascending order. Whether the range between two bounds is in the result depends
 * on the sets that contain it. */
static int compute(trv_sets_t *sets, op_t op, int a, int b)
{
    const trv_set_t x = sets->set[a], y = sets->set[b];
    if (trv_array_reserve(&sets->scratch, &sets->scratch_capacity, 0, 2 * (x.ranges + y.ranges), sizeof *sets->scratch))
        return TRV_ERR_MEMORY;
    const int *p = sets->bound + x.first, *q = sets->bound + y.first;
    int i = 0, j = 0, bounds = 0, *scratch = sets->scratch;
    while (i < 2 * x.ranges || j < 2 * y.ranges) {
        const int at = j == 2 * y.ranges || (i < 2 * x.ranges && p[i] < q[j]) ? p[i] : q[j];
        i += i < 2 * x.ranges && p[i] == at;
        j += j < 2 * y.ranges && q[j] == at;
        const bool in_x = i % 2, in_y = j % 2;
        const bool is_member = op == INTERSECTION ? in_x && in_y : op == DIFFERENCE ? in_x && !in_y : in_x || in_y;
        if (is_member != bounds % 2)
            scratch[bounds++] = at;
    }
    return trv_sets_add(sets, scratch, bounds / 2);
}

static int cached(trv_sets_t *sets, op_t op, int a, int b)
{
    trv_cached_t *k = &sets->cached[((unsigned)a * 31u + (unsigned)b * 7919u + (unsigned)op) % CACHE_SIZE];
    if (k->a != a || k->b != b || k->op != op) {
        int result = compute(sets, op, a, b);
        if (result < 0)
            return result;
        *k = (trv_cached_t){a, b, result, op};
    }
    return k->result;
}

int trv_sets_intersection(trv_sets_t *sets, int a, int b) { return a == b ? a : cached(sets, INTERSECTION, a, b); }
int trv_sets_difference(trv_sets_t *sets, int a, int b) { return a == b ? 0 : cached(sets, DIFFERENCE, a, b); }
int trv_sets_union(trv_sets_t *sets, int a, int b) { return a == b ? a : cached(sets, UNION, a, b); }

void trv_sets_end(trv_sets_t *sets)
{
    free(sets->bucket);
    free(sets->cached);
    free(sets->scratch);
    sets->bucket = sets->scratch = NULL;
    sets->cached = NULL;
    sets->buckets = sets->scratch_capacity = 0;
}

void trv_sets_clear(trv_sets_t *sets)
{
    trv_sets_end(sets);
    free(sets->set);
    free(sets->bound);
    memset(sets, 0, sizeof *sets);
}
