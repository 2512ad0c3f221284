/*
 * Single vectors: their text form, and the ports through which their messages may leave.
 */
#include "search/stars/vector.h"

#include <stdio.h>

const char *trv_star_vector_text(const trv_torus_t *torus, const int *at, char text[VECTOR_TEXT_MAX])
{
    int used = 0;
    for (int d = 0; d < torus->dims; d++)
        used += snprintf(text + used, (size_t)(VECTOR_TEXT_MAX - used), d ? ".%d" : "%d", at[d]);
    return text;
}

unsigned trv_star_vector_ports(const trv_torus_t *torus, const int *at)
{
    unsigned ports = 0;
    for (int d = 0; d < torus->dims; d++) {
        if (at[d])
            ports |= 1u << trv_port(d, at[d] > 0 ? -1 : 1);
        if (at[d] && 2 * at[d] == torus->size[d])
            ports |= 1u << trv_port(d, 1);
    }
    return ports;
}

/* Finds an augmenting path in the assignment of ports to vectors; `tried` is the set of ports tried so far. */
static bool vector_assign_port(const unsigned *ports, int *owner, int i, unsigned *tried)
{
    for (unsigned left = ports[i]; (left &= ~*tried) != 0;) {
        const int p = __builtin_ctz(left);
        *tried |= 1u << p;
        if (owner[p] < 0 || vector_assign_port(ports, owner, owner[p], tried)) {
            owner[p] = i;
            return true;
        }
    }
    return false;
}

/* Whether a free port can be reached by reassigning ports of other vectors. A fast check, because the answer is usually
 * no. */
static bool assignment_exists(const unsigned *ports, const int *owner, int i)
{
    unsigned reached = ports[i], seen = 0;
    while (reached & ~seen) {
        const int p = __builtin_ctz(reached & ~seen);
        if (owner[p] < 0)
            return true;
        seen |= 1u << p;
        reached |= ports[owner[p]];
    }
    return false;
}

bool trv_star_vector_assign(const unsigned *ports, int owner[TRV_PORTS_MAX], int i)
{
    unsigned tried = 0;
    return assignment_exists(ports, owner, i) && vector_assign_port(ports, owner, i, &tried);
}
