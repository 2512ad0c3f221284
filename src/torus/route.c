/*
 * Dimension-order routes, one link at a time. A message first travels along the dimension of its port, in the port's
 * direction, and then along the other dimensions in ascending order, each the shorter way around. Along a line there is
 * only one way.
 */
#include "torus/torus.h"

static int wrap(int value, int size) { return value < 0 ? value + size : value; }

/* The direction (1 or -1) along dimension `d` of a message whose target is `forward` coordinates up, modulo the
 * size. */
static int route_sign(const trv_route_t *route, int d, int forward, int port, int mirrored)
{
    const int size = route->torus->size[d];
    if (trv_torus_is_line(route->torus, d))
        return route->coordinates[d] + forward < size ? 1 : -1;
    if (d == trv_port_dimension(port))
        return trv_port_sign(port);
    if (2 * forward == size)
        return mirrored ? -1 : 1;
    return 2 * forward < size ? 1 : -1;
}

void trv_route_begin(trv_route_t *route, const trv_torus_t *torus, int from, int to, int port, int mirrored)
{
    int target[TRV_DIMS_MAX];
    int first = trv_port_dimension(port);
    route->torus = torus;
    route->leg = 0;
    route->next = from;
    trv_torus_coordinates(torus, from, route->coordinates);
    trv_torus_coordinates(torus, to, target);
    route->order[0] = first;
    for (int d = 0, at = 1; d < torus->dims; d++)
        if (d != first)
            route->order[at++] = d;
    for (int d = 0; d < torus->dims; d++) {
        int size = torus->size[d];
        int forward = wrap(target[d] - route->coordinates[d], size);
        int sign = route_sign(route, d, forward, port, mirrored);
        route->sign[d] = sign;
        route->hops[d] = sign > 0 ? forward : wrap(-forward, size);
    }
}

int trv_route_next(trv_route_t *route, int *node)
{
    const trv_torus_t *torus = route->torus;
    while (route->leg < torus->dims && route->hops[route->order[route->leg]] == 0)
        route->leg++;
    if (route->leg == torus->dims)
        return -1;
    int d = route->order[route->leg];
    *node = route->next;
    route->hops[d]--;
    route->coordinates[d] = (route->coordinates[d] + route->sign[d] + torus->size[d]) % torus->size[d];
    route->next = trv_torus_rank(torus, route->coordinates);
    return trv_port(d, route->sign[d]);
}

int trv_route_length(const trv_route_t *route)
{
    int hops = 0;
    for (int d = 0; d < route->torus->dims; d++)
        hops += route->hops[d];
    return hops;
}
