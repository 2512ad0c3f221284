/*
 * The division of a line: see line.h.
 */
#include "algorithms/line.h"

#include "common/radix.h"

/* The remainder of one goes to the middle, that of two to the outer ones: mirror-symmetric. */
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

int trv_line_messages_per_port(int size)
{
    int most = 1;
    for (int level = 0; level < trv_log_ceil(3, size); level++)
        for (int place = 0; place < size; place++) {
            const trv_trio_t trio = trv_line_trio(size, level, place);
            int served[2], left = 0, right = 0;
            for (int i = 0; i < 3; i++)
                if (i != trio.own)
                    *(i < trio.own ? &left : &right) += trv_line_served(&trio, place, i, served);
            most = left > most ? left : most;
            most = right > most ? right : most;
        }
    return most;
}
