/*
 * Distances that need no search: the paper's, those of the table, and those composed of smaller rings' distances. A
 * ring of size = g * h uses the distances of a ring of g, multiplied by h, and then those of a ring of h; the
 * transmissions, as fractions of the vector, add up.
 */
#include "search/distances/distances.h"

#include <pthread.h>
#include <string.h>

#include "base/radix.h"
#include "base/error.h"

/* Work of one search at run time. It takes tens of milliseconds and is complete up to rings of about 256. */
#define FRONT_WORK (INT64_C(1) << 20)

double trv_distances_transmission(const trv_distances_t *distances)
{
    return (double)distances->hops / (2.0 * distances->size);
}

double trv_distances_bound(int size) { return (size - 1) / (2.0 * size); }

int trv_distances_steps_min(int size) { return trv_log_ceil(3, size); }

int trv_distances_steps_max(int size)
{
    return size / 2 < TRV_DISTANCES_STEPS_MAX ? size / 2 : TRV_DISTANCES_STEPS_MAX;
}

void trv_distances_front_steps(int size, int *first, int *last)
{
    int steps = trv_log_ceil(2, size) + 1, max = trv_distances_steps_max(size);
    *first = trv_distances_steps_min(size);
    *last = steps < max ? steps : max;
}

/* The last distance of the reduce-scatter, ceil((size - 3^(s-1)) / 2), may be less than the previous one. The distances
 * are not sorted, so that the transmission is also the paper's. */
int trv_distances_paper(int size, trv_distances_t *paper)
{
    int steps = trv_distances_steps_min(size);
    *paper = (trv_distances_t){.size = size, .steps = steps};
    for (int k = 0; k < steps; k++) {
        int power = trv_power(3, k);
        paper->distance[steps - 1 - k] = k < steps - 1 ? power : (size - power + 1) / 2;
    }
    return trv_distances_evaluate(paper, false);
}

/* ---- Fronts ------------------------------------------------------------------------------------------------------ */

/* The front in the table or, with `undeferred`, the front of trees that defer nothing. */
static int front_from_table(int size, bool undeferred, trv_distances_t *front)
{
    const unsigned short *entry = trv_distances_table;
    for (int n = 2;; n++) {
        int rows = *entry++, count = 0;
        for (int r = 0; r < rows; r++) {
            trv_distances_t row = {.size = n, .steps = entry[0], .hops = entry[1], .exact = true};
            for (int k = 0; k < row.steps; k++)
                row.distance[k] = entry[2 + k];
            entry += 2 + row.steps;
            bool again = count > 0 && front[count - 1].steps == row.steps;
            if (undeferred)
                front[again ? count - 1 : count++] = row;
            else if (count == 0 || row.hops < front[count - 1].hops)
                front[count++] = row;
        }
        if (n == size)
            return count;
    }
}

/* Composes the distances of a ring of g * h. Returns false if they have too many steps. */
static bool distances_compose(const trv_distances_t *g, const trv_distances_t *h, trv_distances_t *both)
{
    if (g->steps + h->steps > TRV_DISTANCES_STEPS_MAX)
        return false;
    *both = (trv_distances_t){.size = g->size * h->size,
                              .steps = g->steps + h->steps,
                              .hops = g->hops * h->size + h->hops * g->size};
    for (int k = 0; k < g->steps; k++)
        both->distance[k] = g->distance[k] * h->size;
    memcpy(both->distance + g->steps, h->distance, (size_t)h->steps * sizeof(int));
    return true;
}

/* Splits off the factors of `rest` one by one. The factors do not increase, because their order does not matter; those
 * in `done` end with `largest`. Two factors whose product is in the table need not be tried. */
static void distances_compose_all(const trv_distances_t *done, int rest, int largest, trv_distances_t *best,
                                  int steps_max)
{
    for (int h = 2; h <= largest && h <= rest; h++) {
        trv_distances_t row[TRV_DISTANCES_FRONT_MAX], both;
        if (rest % h != 0 || (done && (int64_t)h * largest <= TRV_DISTANCES_TABLE_MAX))
            continue;
        int rows = front_from_table(h, true, row);
        for (int r = 0; r < rows; r++) {
            both = row[r];
            if (done && !distances_compose(done, &row[r], &both))
                continue;
            if (both.steps > steps_max)
                continue;
            if (rest > h)
                distances_compose_all(&both, rest / h, h, best, steps_max);
            else if (best[both.steps].hops == 0 || both.hops < best[both.steps].hops)
                best[both.steps] = both;
        }
    }
}

void trv_distances_compose(int size, int steps_max, trv_distances_t *best)
{
    memset(best, 0, ((size_t)steps_max + 1) * sizeof *best);
    distances_compose_all(NULL, size, TRV_DISTANCES_TABLE_MAX, best, steps_max);
}

static int front_find(int size, trv_distances_t *front)
{
    int min, max, rows = 0, rc = TRV_OK;
    trv_distances_front_steps(size, &min, &max);
    trv_distances_t best[TRV_DISTANCES_STEPS_MAX + 1];
    trv_distances_compose(size, max, best);
    if (best[min].hops == 0)
        rc = trv_distances_paper(size, &best[min]);
    for (int k = min; k <= max && !rc; k++) {
        if (size <= TRV_DISTANCES_SEARCH_MAX)
            rc = trv_distances_search(size, k, FRONT_WORK, (trv_span_t){0}, &best[k], NULL);
        if (!rc && best[k].hops && (rows == 0 || best[k].hops < front[rows - 1].hops))
            front[rows++] = best[k];
    }
    return rc ? rc : rows;
}

/* A cache of the latest fronts that needed a search (tens of milliseconds), because the hybrids of a ring request the
 * same few fronts. */
#define CACHE_MAX 16

static struct {
    pthread_mutex_t mutex;
    int next;
    struct {
        int size, rows;
        trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
    } entry[CACHE_MAX];
} cache = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int front_cached(int size, trv_distances_t *front)
{
    pthread_mutex_lock(&cache.mutex);
    int i = 0, rows;
    while (i < CACHE_MAX && cache.entry[i].size != size)
        i++;
    if (i < CACHE_MAX) {
        rows = cache.entry[i].rows;
        memcpy(front, cache.entry[i].front, (size_t)rows * sizeof *front);
    } else if ((rows = front_find(size, front)) > 0) {
        i = cache.next;
        cache.next = (cache.next + 1) % CACHE_MAX;
        cache.entry[i].size = size;
        cache.entry[i].rows = rows;
        memcpy(cache.entry[i].front, front, (size_t)rows * sizeof *front);
    }
    pthread_mutex_unlock(&cache.mutex);
    return rows;
}

int trv_distances_front(int size, trv_distances_t front[TRV_DISTANCES_FRONT_MAX])
{
    if (size < 2)
        return trv_fail(TRV_ERR_ARGUMENT, "a ring has at least 2 ranks, not %d", size);
    return size <= TRV_DISTANCES_TABLE_MAX ? front_from_table(size, false, front) : front_cached(size, front);
}
