/*
 * The search for distances (docs/distances.md): descent first, then branch and bound over sequences that never
 * increase.
 *
 * (Sequences in another order are not better: tests try all orders.) A node is a set C of displacements with `left`
 * remaining steps. It is abandoned if even its best continuation is not sufficient or not better:
 *
 *   - a step at most triples C, so |C| * 3^left must be at least `size`;
 *   - the middle of the longest gap of uncovered displacements has some distance from C, and the remaining distances
 *     add up to at least this; so the next one, which is the largest of them, is at least its share;
 *   - every missing displacement costs at least one hop, and those that the next step must cover, for the steps after
 *     it to be sufficient, cost the distance of that step.
 *
 * With these bounds the search is complete within milliseconds up to rings of 256, and stops at its limit on larger
 * ones. Up to the largest size of the table it also examines distances that are slightly worse, because deferring
 * (block_tree.c) may make one of them the best.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "search/distances/distances.h"

#define REPORTS 1024 /* number of progress reports */

typedef struct search {
    int size, steps, words;
    int64_t work, limit;
    int64_t report_at; /* the work at which progress is reported next */
    trv_span_t part;
    int rc;                                /* TRV_ERR_CANCELLED: the work is set to its limit */
    int distance[TRV_DISTANCES_STEPS_MAX]; /* the distances of the present node */
    trv_distances_t best;                  /* hops is INT64_MAX while no distances are found */
    uint64_t *set;                         /* the set of displacements after k steps is at set + k * words */
    /* also search for the best deferred tree, among distances that are slightly worse */
    bool deferring;
    trv_distances_t deferred; /* the best deferred distances */
    unsigned char *step;      /* scratch buffer for their tree */
} search_t;

static void search_end(search_t *search)
{
    free(search->set);
    free(search->step);
}

static int search_begin(search_t *search, int size, int steps)
{
    size_t words = ((size_t)size + 63) / 64;
    *search = (search_t){.size = size, .steps = steps, .words = (int)words};
    search->best = (trv_distances_t){.size = size, .steps = steps, .hops = INT64_MAX};
    search->deferred = search->best;
    search->deferring = size <= TRV_DISTANCES_TABLE_MAX;
    search->set = calloc(((size_t)steps + 1) * words, sizeof *search->set);
    search->step = malloc(2 * (size_t)size);
    if (!search->set || !search->step) {
        search_end(search);
        return trv_fail_memory();
    }
    search->set[0] = 1;
    return TRV_OK;
}

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

static void add_shifted_up(uint64_t *to, const uint64_t *from, int by, int words)
{
    int skip = by / 64, bits = by % 64;
    for (int w = words - 1; w >= skip; w--) {
        uint64_t carry = bits && w > skip ? from[w - skip - 1] >> (64 - bits) : 0;
        to[w] |= from[w - skip] << bits | carry;
    }
}

static void add_shifted_down(uint64_t *to, const uint64_t *from, int by, int words)
{
    int skip = by / 64, bits = by % 64;
    for (int w = 0; w + skip < words; w++) {
        uint64_t carry = bits && w + skip + 1 < words ? from[w + skip + 1] << (64 - bits) : 0;
        to[w] |= from[w + skip] >> bits | carry;
    }
}

/* Computes the set after `step` from the one before it. Returns the number of its displacements. */
static int search_extend(search_t *search, int step, int distance)
{
    int size = search->size, words = search->words, count = 0;
    const uint64_t *from = search->set + (size_t)step * (size_t)words;
    uint64_t *to = search->set + (size_t)(step + 1) * (size_t)words;
    memcpy(to, from, (size_t)words * sizeof *to);
    add_shifted_up(to, from, distance, words);
    add_shifted_down(to, from, size - distance, words);
    add_shifted_up(to, from, size - distance, words);
    add_shifted_down(to, from, distance, words);
    if (size % 64)
        to[words - 1] &= (UINT64_C(1) << size % 64) - 1;
    for (int w = 0; w < words; w++)
        count += __builtin_popcountll(to[w]);
    search->work += words;
    if (search->work >= search->report_at && !search->rc) {
        search->rc = trv_span_report(search->part, (double)search->work / (double)search->limit);
        search->report_at += search->limit / REPORTS;
        search->limit = search->rc ? search->work : search->limit;
    }
    return count;
}

/* The distance from the set before `step` to the displacement that is farthest from it. */
static int search_depth(const search_t *search, int step)
{
    const uint64_t *set = search->set + (size_t)step * (size_t)search->words;
    int last = 0, gap = 0;
    for (int w = 0; w < search->words; w++)
        for (uint64_t bits = set[w]; bits; bits &= bits - 1) {
            int x = 64 * w + __builtin_ctzll(bits);
            gap = x - last > gap ? x - last : gap;
            last = x;
        }
    gap = search->size - last > gap ? search->size - last : gap; /* the gap that ends at displacement 0 */
    return gap / 2;
}

/* ---- Descent ----------------------------------------------------------------------------------------------------- */

static void search_keep(search_t *search, int64_t hops)
{
    if (hops >= search->best.hops)
        return;
    search->best.hops = hops;
    memcpy(search->best.distance, search->distance, sizeof search->distance);
}

static void search_keep_deferred(search_t *search, const int *distance)
{
    trv_distances_t tree = {.size = search->size, .steps = search->steps};
    memcpy(tree.distance, distance, sizeof tree.distance);
    tree.hops = trv_distances_tree(&tree, true, search->step);
    if (tree.hops < search->deferred.hops)
        search->deferred = tree;
}

/* The hops at which the search abandons a node: those of the best distances, or 1.5 times as many if deferring may save
 * that much. */
static int64_t search_bound(const search_t *search)
{
    return search->best.hops + (search->deferring ? search->best.hops / 2 : 0);
}

/* Evaluates the distances of the present node. */
static void search_try(search_t *search)
{
    int64_t hops = 0;
    int count = 1;
    for (int k = 0; k < search->steps; k++) {
        int grown = search_extend(search, k, search->distance[k]);
        hops += (int64_t)(grown - count) * search->distance[k];
        count = grown;
    }
    if (count == search->size)
        search_keep(search, hops);
}

/* Sets distance[which] to `value` and moves it to its position, the largest first. */
static void distances_replace(int *distance, int steps, int which, int value)
{
    for (; which > 0 && distance[which - 1] < value; which--)
        distance[which] = distance[which - 1];
    for (; which + 1 < steps && distance[which + 1] > value; which++)
        distance[which] = distance[which + 1];
    distance[which] = value;
}

/* Replaces one of the best distances by each other value, until no replacement is better. */
static void search_descend(search_t *search)
{
    int64_t before;
    do {
        before = search->best.hops;
        for (int k = 0; k < search->steps; k++) {
            const trv_distances_t start = search->best;
            for (int d = 1; d <= search->size / 2 && search->work < search->limit; d++) {
                memcpy(search->distance, start.distance, sizeof search->distance);
                distances_replace(search->distance, search->steps, k, d);
                search_try(search);
            }
        }
    } while (search->best.hops < before && search->work < search->limit);
}

/* ---- Branch and bound -------------------------------------------------------------------------------------------- */

/* The number of displacements that must be covered for `left` more steps to be sufficient. */
static int search_coverage_min(const search_t *search, int left)
{
    int64_t power = 1;
    while (left-- > 0 && power < search->size)
        power *= 3;
    return (int)((search->size + power - 1) / power);
}

/* Searches from a node: `count` displacements are covered before `step`, at a cost of `hops`. */
static void search_branch(search_t *search, int step, int count, int64_t hops)
{
    int left = search->steps - step;
    if (count == search->size) { /* remaining steps cover nothing */
        for (int k = step; k < search->steps; k++)
            search->distance[k] = 1;
        search_keep(search, hops);
        if (search->deferring)
            search_keep_deferred(search, search->distance);
    }
    if (left == 0 || count == search->size)
        return;
    int largest = step ? search->distance[step - 1] : search->size / 2;
    int min = (search_depth(search, step) + left - 1) / left;
    int threshold = search_coverage_min(search, left - 1);
    int new_min = threshold - count > 1 ? threshold - count : 1;
    for (int d = min; d <= largest && search->work < search->limit; d++) {
        if (hops + (search->size - count) + (int64_t)new_min * (d - 1) >= search_bound(search))
            return; /* as do all larger distances */
        search->distance[step] = d;
        int grown = search_extend(search, step, d);
        int64_t after = hops + (int64_t)(grown - count) * d;
        if (grown >= threshold && grown > count && after + (search->size - grown) < search_bound(search))
            search_branch(search, step + 1, grown, after);
    }
}

/* ---- Interface --------------------------------------------------------------------------------------------------- */

/* The start of the descent: the paper's distances, padded with 1, or composed ones. */
static void search_start(search_t *search, const trv_distances_t *paper)
{
    for (int k = 0; k < search->steps; k++)
        search->distance[k] = 1;
    for (int k = 0; k < paper->steps; k++)
        distances_replace(search->distance, search->steps, search->steps - 1, paper->distance[k]);
    search_try(search);
    if (search->size <= TRV_DISTANCES_TABLE_MAX)
        return; /* these sizes are found at once, and the program that generates the table must not read it */
    trv_distances_t composed[TRV_DISTANCES_STEPS_MAX + 1];
    trv_distances_compose(search->size, search->steps, composed);
    if (composed[search->steps].hops == 0)
        return;
    memcpy(search->distance, composed[search->steps].distance, sizeof search->distance);
    search_try(search);
    search_keep_deferred(search, search->distance);
}

int trv_distances_search(int size, int steps, int64_t limit, trv_span_t part, trv_distances_t *found,
                         trv_distances_t *undeferred)
{
    if (size < 2 || size > TRV_DISTANCES_SEARCH_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "distances are searched for rings of 2 to %d, not %d",
                        TRV_DISTANCES_SEARCH_MAX, size);
    int min = trv_distances_steps_min(size), max = trv_distances_steps_max(size);
    if (steps < min || steps > max)
        return trv_fail(TRV_ERR_ARGUMENT, "a phase on a ring of %d takes at least %d step%s and at most %d, not %d",
                        size, min, min == 1 ? "" : "s", max, steps);
    trv_distances_t paper;
    search_t search;
    int rc = trv_distances_paper(size, &paper);
    if (!rc)
        rc = search_begin(&search, size, steps);
    if (rc)
        return rc;
    search.limit = limit;
    search.part = part;
    search_start(&search, &paper);
    search_descend(&search);
    search_branch(&search, 0, 1, 0);
    search_keep_deferred(&search, search.best.distance);
    search_end(&search);
    if (search.rc)
        return search.rc;
    search.best.exact = search.deferred.exact = search.work < limit;
    *found = search.deferred.hops < search.best.hops ? search.deferred : search.best;
    if (undeferred)
        *undeferred = search.best;
    return TRV_OK;
}
