/*
 * The tree of one block: the step that covers each displacement.
 *
 * A displacement that is covered as soon as it can be reached often costs more than necessary, because a later step has
 * a smaller distance. For example, on a ring of 16 with distances 5 2 1:
 *
 *     at once    5: 5 11     2: 2 3 7 9 13 14     1: 1 4 6 8 10 12 15     5*2 + 2*6 + 1*7 = 29
 *     deferred   5: 5 11     2: 2 7 9 14          1: 1 3 4 6 8 10 …       5*2 + 2*4 + 1*9 = 27
 *
 * Displacements are therefore moved to later steps one by one, each together with its mirror image, if all
 * displacements that are reached from it have another parent or are covered later. The result depends on the order; two
 * orders are tried. (A test tries all trees of rings of up to 17 in three steps, and finds none that is better.)
 */
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "base/error.h"
#include "search/distances/distances.h"

static int wrap(int x, int size) { return x < 0 ? x + size : x >= size ? x - size : x; }

/* Covers every displacement as soon as it can be reached. Returns false if some displacement cannot be reached. */
static bool tree_reach(const trv_distances_t *distances, unsigned char *step)
{
    int size = distances->size, covered = 1;
    memset(step, UINT8_MAX, (size_t)size);
    step[0] = 0;
    for (int k = 1; k <= distances->steps; k++) {
        int d = distances->distance[k - 1];
        for (int x = 1; x < size; x++)
            if (step[x] == UINT8_MAX && (step[wrap(x - d, size)] < k || step[wrap(x + d, size)] < k)) {
                step[x] = (unsigned char)k;
                covered++;
            }
    }
    return covered == size;
}

/* Whether x is reached in `step_of_x` from a displacement other than `without` and its mirror image. */
static bool tree_has_parent(const trv_distances_t *distances, const unsigned char *step, int x, int step_of_x,
                            int without)
{
    int size = distances->size, d = distances->distance[step_of_x - 1];
    for (int side = -1; side <= 1; side += 2) {
        int parent = wrap(x + side * d, size);
        if (parent != without && parent != size - without && step[parent] < step_of_x)
            return true;
    }
    return false;
}

static bool tree_can_defer(const trv_distances_t *distances, const unsigned char *step, int x, int until)
{
    int size = distances->size;
    if (!tree_has_parent(distances, step, x, until, x))
        return false;
    for (int k = step[x] + 1; k <= until; k++)
        for (int side = -1; side <= 1; side += 2) {
            int child = wrap(x + side * distances->distance[k - 1], size);
            if (step[child] == k && child != x && child != size - x && !tree_has_parent(distances, step, child, k, x))
                return false;
        }
    return true;
}

static void tree_defer(const trv_distances_t *distances, unsigned char *step, bool early_first)
{
    int size = distances->size;
    for (int until = distances->steps; until > 1; until--)
        for (int pass = 1; pass < until; pass++) {
            int from = early_first ? pass : until - pass;
            for (int x = 1; 2 * x <= size; x++)
                if (step[x] == from && tree_can_defer(distances, step, x, until))
                    step[x] = step[size - x] = (unsigned char)until;
        }
}

static int64_t tree_hops(const trv_distances_t *distances, const unsigned char *step)
{
    int64_t hops = 0;
    for (int x = 1; x < distances->size; x++)
        hops += distances->distance[step[x] - 1];
    return hops;
}

int64_t trv_distances_tree(const trv_distances_t *distances, bool deferred, unsigned char *step)
{
    if (!tree_reach(distances, step))
        return 0;
    if (deferred && distances->size <= TRV_DISTANCES_SEARCH_MAX) {
        unsigned char *other = step + distances->size;
        memcpy(other, step, (size_t)distances->size);
        tree_defer(distances, step, false);
        tree_defer(distances, other, true);
        if (tree_hops(distances, other) < tree_hops(distances, step))
            memcpy(step, other, (size_t)distances->size);
    }
    return tree_hops(distances, step);
}

int trv_distances_evaluate(trv_distances_t *distances, bool deferred)
{
    unsigned char *step = malloc(2 * (size_t)distances->size);
    if (!step)
        return trv_fail_memory();
    int64_t hops = trv_distances_tree(distances, deferred, step);
    free(step);
    if (hops == 0)
        return trv_fail(TRV_ERR_ARGUMENT, "these %d distances do not reach every rank of a ring of %d",
                        distances->steps, distances->size);
    distances->hops = hops;
    return TRV_OK;
}
