/*
 * Dimension-order routes, one link at a time: the dimension of the message's port first and in its direction, then the
 * others in ascending order, the shorter way.
 */
#include <trivance/torus.h>

static int wrap(int value, int size) { return value < 0 ? value + size : value; }

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
        int sign;
        if (d == first)
            sign = trv_port_sign(port);
        else if (2 * forward == size)
            sign = mirrored ? -1 : 1;
        else
            sign = 2 * forward < size ? 1 : -1;
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
