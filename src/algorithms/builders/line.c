/*
 * The division of a line into intervals, see line.h.
 */
#include "algorithms/builders/line.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/radix.h"

/* A remainder of one is assigned to the middle part, a remainder of two to the outer ones, so that the division is
 * mirror-symmetric. */
static void divide(trv_interval_t whole, trv_interval_t part[3])
{
    const int third = whole.size / 3, rest = whole.size % 3;
    part[0] = (trv_interval_t){whole.first, third + (rest == 2)};
    part[1] = (trv_interval_t){part[0].first + part[0].size, third + (rest == 1)};
    part[2] = (trv_interval_t){part[1].first + part[1].size, third + (rest == 2)};
}

trv_trio_t trv_line_trio(int size, int level, int place)
{
    trv_trio_t trio;
    trv_interval_t whole = {0, size};
    for (int l = trv_log_ceil(3, size) - 1;; l--) {
        divide(whole, trio.interval);
        for (trio.own = 0; place >= trio.interval[trio.own].first + trio.interval[trio.own].size; trio.own++)
            ;
        if (l == level)
            return trio;
        whole = trio.interval[trio.own];
    }
}

int trv_line_partner(const trv_trio_t *trio, int place, int i)
{
    const int offset = place - trio->interval[trio->own].first, last = trio->interval[i].size - 1;
    return trio->interval[i].first + (offset < last ? offset : last);
}

int trv_line_served(const trv_trio_t *trio, int place, int i, int served[2])
{
    const trv_interval_t *own = &trio->interval[trio->own], *other = &trio->interval[i];
    const int offset = place - own->first;
    int count = 0;
    if (offset < other->size)
        served[count++] = other->first + offset;
    if (offset == own->size - 1 && own->size < other->size)
        served[count++] = other->first + offset + 1;
    return count;
}

static int count_served(const trv_trio_t *trio, int place, int first, int last)
{
    int count = 0, served[2];
    for (int i = first; i <= last; i++)
        count += trv_line_served(trio, place, i, served);
    return count;
}

/* Tries both sizes that intervals of a level can have (they differ by at most one), and of each interval the first and
 * the last place, which send the most messages. */
int trv_line_messages_per_port(int size)
{
    int most = 1;
    for (int least = size, largest = size; largest > 1; least /= 3, largest = (largest + 2) / 3)
        for (int whole = least; whole <= largest; whole++) {
            trv_trio_t trio;
            divide((trv_interval_t){0, whole}, trio.interval);
            for (trio.own = 0; trio.own < 3; trio.own++)
                for (int end = 0; end < 2 && trio.interval[trio.own].size > 0; end++) {
                    const trv_interval_t *own = &trio.interval[trio.own];
                    const int place = own->first + (end ? own->size - 1 : 0);
                    const int left = count_served(&trio, place, 0, trio.own - 1);
                    const int right = count_served(&trio, place, trio.own + 1, 2);
                    most = left > most ? left : most;
                    most = right > most ? right : most;
                }
        }
    return most;
}

/* ---- Costs ------------------------------------------------------------------------------------------------------- */

/* A traversal of the intervals, from the whole line down to single places. */
typedef struct walk {
    bool blocks;
    double *held;    /* per place: the size of a message to it, according to the level above */
    double *next;    /* the same for the present level */
    double *load[2]; /* per link, rightwards and leftwards: the change of the load from the previous link */
    trv_line_cost_t *cost;
} walk_t;

static void add_message(walk_t *walk, trv_line_cost_t *cost, int from, int to)
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

static void find_costs(walk_t *walk, trv_interval_t whole, int level)
{
    if (level < 0 || whole.size < 2)
        return;
    trv_line_cost_t *cost = &walk->cost[level];
    const int end = whole.first + whole.size;
    trv_trio_t trio;
    divide(whole, trio.interval);
    for (int place = whole.first; place < end; place++) {
        walk->load[0][place] = walk->load[1][place] = 0;
        walk->next[place] = walk->held[place];
    }
    for (trio.own = 0; trio.own < 3; trio.own++)
        for (int k = 0; k < trio.interval[trio.own].size; k++)
            for (int i = 0; i < 3; i++) {
                const int place = trio.interval[trio.own].first + k;
                int served[2], count = i == trio.own ? 0 : trv_line_served(&trio, place, i, served);
                for (int s = 0; s < count; s++)
                    add_message(walk, cost, place, served[s]);
            }
    for (int side = 0; side < 2; side++) {
        double load = 0;
        for (int place = whole.first; place < end; place++) {
            load += walk->load[side][place];
            cost->load = load > cost->load ? load : cost->load;
        }
    }
    for (int place = whole.first; place < end; place++)
        walk->held[place] = walk->next[place];
    for (int i = 0; i < 3; i++)
        find_costs(walk, trio.interval[i], level - 1);
}

int trv_line_costs(int size, bool blocks, trv_line_cost_t *cost)
{
    const size_t places = (size_t)size;
    double *memory = malloc(4 * places * sizeof *memory);
    if (!memory)
        return trv_fail_memory();
    walk_t walk = {blocks, memory, memory + places, {memory + 2 * places, memory + 3 * places}, cost};
    const int levels = trv_log_ceil(3, size);
    for (int place = 0; place < size; place++)
        walk.held[place] = 1;
    for (int level = 0; level < levels; level++)
        cost[level] = (trv_line_cost_t){0};
    find_costs(&walk, (trv_interval_t){0, size}, levels - 1);
    free(memory);
    return TRV_OK;
}
