/*
 * The division of a line into intervals (line.h), and the costs of its levels.
 */
#include "algorithms/builders/line.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/radix.h"

/* A remainder of one is assigned to the middle part, a remainder of two to the outer ones, so that the division is
 * mirror-symmetric. */
static void interval_divide(trv_interval_t whole, trv_interval_t part[3])
{
    const int third = whole.size / 3, rest = whole.size % 3;
    part[0] = (trv_interval_t){whole.first, third + (rest == 2)};
    part[1] = (trv_interval_t){part[0].first + part[0].size, third + (rest == 1)};
    part[2] = (trv_interval_t){part[1].first + part[1].size, third + (rest == 2)};
}

trv_thirds_t trv_line_thirds(int size, int level, int position)
{
    trv_thirds_t thirds;
    trv_interval_t whole = {0, size};
    for (int l = trv_log_ceil(3, size) - 1;; l--) {
        interval_divide(whole, thirds.interval);
        for (thirds.own = 0; position >= thirds.interval[thirds.own].first + thirds.interval[thirds.own].size;
             thirds.own++)
            ;
        if (l == level)
            return thirds;
        whole = thirds.interval[thirds.own];
    }
}

int trv_line_partner(const trv_thirds_t *thirds, int position, int i)
{
    const int offset = position - thirds->interval[thirds->own].first, last = thirds->interval[i].size - 1;
    return thirds->interval[i].first + (offset < last ? offset : last);
}

int trv_line_receivers(const trv_thirds_t *thirds, int position, int i, int receiver[2])
{
    const trv_interval_t *own = &thirds->interval[thirds->own], *other = &thirds->interval[i];
    const int offset = position - own->first;
    int count = 0;
    if (offset < other->size)
        receiver[count++] = other->first + offset;
    if (offset == own->size - 1 && own->size < other->size)
        receiver[count++] = other->first + offset + 1;
    return count;
}

/* ---- Costs ------------------------------------------------------------------------------------------------------- */

/* A traversal of the intervals, from the whole line down to single positions. */
typedef struct walk {
    bool blocks;
    double *held;    /* per position: the size of a message to it, according to the level above */
    double *next;    /* the same for the present level */
    double *load[2]; /* per link, rightwards and leftwards: the change of the load from the previous link */
    trv_line_cost_t *cost;
} walk_t;

static void walk_add_message(walk_t *walk, trv_line_cost_t *cost, int from, int to)
{
    const double size = walk->blocks ? walk->held[to] : 1;
    const int low = from < to ? from : to, high = from < to ? to : from;
    double *load = walk->load[from > to];
    load[low] += size;
    load[high] -= size;
    cost->largest = size > cost->largest ? size : cost->largest;
    cost->hops = high - low > cost->hops ? high - low : cost->hops;
    cost->messages++;
    walk->next[from] += size;
}

static void walk_costs(walk_t *walk, trv_interval_t whole, int level)
{
    if (level < 0 || whole.size < 2)
        return;
    trv_line_cost_t *cost = &walk->cost[level];
    const int end = whole.first + whole.size;
    trv_thirds_t thirds;
    interval_divide(whole, thirds.interval);
    for (int position = whole.first; position < end; position++) {
        walk->load[0][position] = walk->load[1][position] = 0;
        walk->next[position] = walk->held[position];
    }
    for (thirds.own = 0; thirds.own < 3; thirds.own++)
        for (int k = 0; k < thirds.interval[thirds.own].size; k++)
            for (int i = 0; i < 3; i++) {
                const int position = thirds.interval[thirds.own].first + k;
                int receiver[2], count = i == thirds.own ? 0 : trv_line_receivers(&thirds, position, i, receiver);
                for (int s = 0; s < count; s++)
                    walk_add_message(walk, cost, position, receiver[s]);
            }
    for (int side = 0; side < 2; side++) {
        double load = 0;
        for (int position = whole.first; position < end; position++) {
            load += walk->load[side][position];
            cost->load = load > cost->load ? load : cost->load;
        }
    }
    for (int position = whole.first; position < end; position++)
        walk->held[position] = walk->next[position];
    for (int i = 0; i < 3; i++)
        walk_costs(walk, thirds.interval[i], level - 1);
}

int trv_line_costs(int size, bool blocks, trv_line_cost_t *cost)
{
    const size_t positions = (size_t)size;
    double *memory = malloc(4 * positions * sizeof *memory);
    if (!memory)
        return trv_fail_memory();
    walk_t walk = {blocks, memory, memory + positions, {memory + 2 * positions, memory + 3 * positions}, cost};
    const int levels = trv_log_ceil(3, size);
    for (int position = 0; position < size; position++)
        walk.held[position] = 1;
    for (int level = 0; level < levels; level++)
        cost[level] = (trv_line_cost_t){0};
    walk_costs(&walk, (trv_interval_t){0, size}, levels - 1);
    free(memory);
    return TRV_OK;
}
