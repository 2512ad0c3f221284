/*
 * Recognizes the torus that some coordinates of a larger torus form. Coordinates are compared by their row-major index:
 * the smaller torus has the same row-major order as the larger one.
 */
#include "mpi/communicator/fit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <trivance/torus.h>

#include "base/ascending.h"
#include "base/error.h"
#include "torus/box.h"

typedef struct location {
    int coordinate, rank;
    int machine_node; /* the coordinate in the larger torus, before dimensions are rotated */
} location_t;

static int by_coordinate(const void *a, const void *b)
{
    const location_t *x = a, *y = b;
    return x->coordinate != y->coordinate ? (x->coordinate > y->coordinate) - (x->coordinate < y->coordinate)
                                          : x->rank - y->rank;
}

/* Reduces `location` to one entry per coordinate, ascending, with its lowest rank. Returns their number, or a negative
 * code if coordinates have different numbers of ranks. */
static int merge_coordinates(location_t *location, int ranks, int *ranks_per_coordinate)
{
    qsort(location, (size_t)ranks, sizeof *location, by_coordinate);
    int coordinates = 0, first = 0;
    for (int i = 1; i <= ranks; i++) {
        if (i < ranks && location[i].coordinate == location[first].coordinate)
            continue;
        if (coordinates == 0)
            *ranks_per_coordinate = i - first;
        if (i - first != *ranks_per_coordinate)
            return trv_fail(
                TRV_ERR_UNSUPPORTED,
                "%d of its ranks are at one coordinate and %d at another; all coordinates must have the same number",
                *ranks_per_coordinate, i - first);
        location[coordinates++] = location[first];
        first = i;
    }
    return coordinates;
}

/* Rotates a coordinate back by rotation[d] along each dimension d. */
static int rotate_back(const trv_torus_t *base, const int rotation[TRV_DIMS_MAX], int coordinate)
{
    int at[TRV_DIMS_MAX];
    trv_torus_coordinates(base, coordinate, at);
    for (int d = 0; d < base->dims; d++)
        at[d] = (at[d] + base->size[d] - rotation[d]) % base->size[d];
    return trv_torus_rank(base, at);
}

/* Finds the torus that the coordinates form. dimension[d] is its dimension that corresponds to dimension d of `base`,
 * or -1 if none does. `node`: scratch memory for one int per coordinate. A dimension of `base` that is a ring but of
 * which the coordinates form a line is rotated by rotation[d], so that the line begins at 0. */
static int find_torus(trv_mpi_fit_t *fit, const trv_torus_t *base, unsigned shared_port, location_t *location,
                      int coordinates, int *node, int dimension[TRV_DIMS_MAX], int rotation[TRV_DIMS_MAX])
{
    trv_box_t box;
    for (int i = 0; i < coordinates; i++)
        node[i] = location[i].machine_node;
    int found = trv_box_find(&box, base, coordinates, node);
    if (found <= 0)
        return found < 0 ? found : trv_fail(TRV_ERR_UNSUPPORTED, "its ranks do not form a torus, a plane or a row");
    const bool whole = coordinates == base->ranks; /* with the dimensions of size 1 */
    fit->network.torus = whole ? *base : box.torus;
    for (int d = 0; d < base->dims; d++) {
        dimension[d] = whole ? d : -1;
        rotation[d] = 0;
    }
    for (int d = 0; !whole && coordinates > 1 && d < box.torus.dims; d++) {
        dimension[box.dimension[d]] = d;
        rotation[box.dimension[d]] = box.first[d];
    }
    for (int d = 0; d < base->dims; d++)
        if (dimension[d] >= 0)
            fit->shared_port |= ((shared_port >> d) & 1) << dimension[d];
    for (int i = 0; i < coordinates; i++)
        location[i].coordinate = rotate_back(base, rotation, location[i].machine_node);
    qsort(location, (size_t)coordinates, sizeof *location, by_coordinate);
    return TRV_OK;
}

/* Fails if the coordinates are in several of the tori that dimension 0 numbers. */
static int check_same_torus(const trv_torus_t *base, const location_t *location, int coordinates)
{
    const int each = base->ranks / base->size[0];
    for (int i = 1; i < coordinates; i++)
        if (location[i].machine_node / each != location[0].machine_node / each)
            return trv_fail(TRV_ERR_UNSUPPORTED, "its ranks are in several tori, between which no links are known");
    return TRV_OK;
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static int by_coordinate_only(const void *a, const void *b)
{
    return ((const location_t *)a)->coordinate - ((const location_t *)b)->coordinate;
}

/* The index in `location` of the coordinate whose hop to its neighbour uses the link: the last one before the link. -1:
 * no coordinate is in the link's row. */
static int find_origin(const trv_torus_t *base, const location_t *location, int coordinates,
                       const int rotation[TRV_DIMS_MAX], const trv_slow_link_t *link)
{
    const int d = trv_port_dimension(link->port), size = base->size[d];
    int at[TRV_DIMS_MAX];
    trv_torus_coordinates(base, rotate_back(base, rotation, link->rank), at);
    for (int i = 0; i < size; i++) {
        const location_t key = {.coordinate = trv_torus_rank(base, at)};
        const location_t *found = bsearch(&key, location, (size_t)coordinates, sizeof key, by_coordinate_only);
        if (found)
            return (int)(found - location);
        at[d] = (at[d] - trv_port_sign(link->port) + size) % size;
    }
    return -1;
}

/* Whether the hop leaves the end of a line; no message uses such a hop. */
static bool leaves_line(const trv_torus_t *torus, int coordinate, int dimension, int sign)
{
    int at[TRV_DIMS_MAX];
    trv_torus_coordinates(torus, coordinate, at);
    return (torus->lines >> dimension) & 1 && at[dimension] == (sign > 0 ? torus->size[dimension] - 1 : 0);
}

static int by_factor(const void *a, const void *b)
{
    const trv_slow_link_t *x = a, *y = b;
    const int order = (x->factor > y->factor) - (x->factor < y->factor);
    return order ? order : x->rank - y->rank;
}

/* Finds the links of the torus that are slow because of a slow link of `base`. They are sorted by their factor, because
 * only the last entry of a link counts, and this must be the slowest one. */
static int find_links(trv_mpi_fit_t *fit, const trv_network_t *base, const location_t *location, int coordinates,
                      const int dimension[TRV_DIMS_MAX], const int rotation[TRV_DIMS_MAX])
{
    fit->slow_link = malloc(((size_t)base->slow_links + 1) * sizeof *fit->slow_link);
    if (!fit->slow_link)
        return trv_fail_memory();
    int links = 0;
    for (int i = 0; i < base->slow_links; i++) {
        const trv_slow_link_t *link = &base->slow_link[i];
        const int d = dimension[trv_port_dimension(link->port)], sign = trv_port_sign(link->port);
        const int from = d < 0 ? -1 : find_origin(&base->torus, location, coordinates, rotation, link);
        if (from >= 0 && !leaves_line(&fit->network.torus, from, d, sign))
            fit->slow_link[links++] = (trv_slow_link_t){from, trv_port(d, sign), link->factor};
    }
    qsort(fit->slow_link, (size_t)links, sizeof *fit->slow_link, by_factor);
    fit->network.slow_links = links;
    fit->network.slow_link = fit->slow_link;
    fit->network.no_forwarding = base->no_forwarding;
    int code = trv_network_check(&fit->network);
    return code == TRV_ERR_ARGUMENT ? trv_fail(TRV_ERR_UNSUPPORTED, "%s", trv_last_error()) : code;
}

/* ---- Sets of nodes ----------------------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
    return trv_compare_int(&((const location_t *)a)->rank, &((const location_t *)b)->rank);
}

/* Makes the result a set of nodes: a ring in the order of the ranks. Its two directions share a port if the two
 * directions of any dimension do. The message in trv_last_error() becomes fit->reason. */
static int set_nodes(trv_mpi_fit_t *fit, unsigned shared_port, location_t *location, int coordinates)
{
    snprintf(fit->reason, sizeof fit->reason, "%s", trv_last_error());
    free(fit->slow_link);
    fit->slow_link = NULL;
    fit->network = (trv_network_t){TRV_NETWORK};
    fit->shared_port = shared_port != 0;
    fit->machine_node = malloc((size_t)coordinates * sizeof *fit->machine_node);
    if (!fit->machine_node)
        return trv_fail_memory();
    qsort(location, (size_t)coordinates, sizeof *location, by_rank);
    for (int p = 0; p < coordinates; p++)
        fit->machine_node[p] = location[p].machine_node;
    return trv_torus_init(&fit->network.torus, 1, &coordinates);
}

/* Fills fit->rank_at. `location`: the entry of every coordinate, in the order of fit->member. `sorted`: scratch memory
 * for as many. */
static int list_ranks(trv_mpi_fit_t *fit, const int *coordinate, int ranks, const location_t *location,
                      location_t *sorted)
{
    const int each = fit->ranks_per_coordinate, coordinates = ranks / each;
    int *found = calloc((size_t)coordinates, sizeof *found);
    fit->rank_at = malloc((size_t)ranks * sizeof *fit->rank_at);
    if (!found || !fit->rank_at) {
        free(found);
        return trv_fail_memory();
    }
    for (int p = 0; p < coordinates; p++)
        sorted[p] = (location_t){.coordinate = location[p].machine_node, .rank = p};
    qsort(sorted, (size_t)coordinates, sizeof *sorted, by_coordinate_only);
    for (int r = 0; r < ranks; r++) {
        const location_t key = {.coordinate = coordinate[r]};
        const location_t *at = bsearch(&key, sorted, (size_t)coordinates, sizeof key, by_coordinate_only);
        fit->rank_at[at->rank * each + found[at->rank]++] = r;
    }
    free(found);
    return TRV_OK;
}

/* ---- The result -------------------------------------------------------------------------------------------------- */

int trv_mpi_fit_init(trv_mpi_fit_t *fit, const trv_network_t *base, unsigned shared_port, bool separate,
                     const int *coordinate, int ranks)
{
    *fit = (trv_mpi_fit_t){.network = {TRV_NETWORK}, .ranks_per_coordinate = 1};
    int dimension[TRV_DIMS_MAX], rotation[TRV_DIMS_MAX];
    location_t *location = malloc((size_t)ranks * sizeof *location);
    int *value = malloc((size_t)ranks * sizeof *value);
    int code = location && value ? TRV_OK : trv_fail_memory();
    for (int r = 0; code == TRV_OK && r < ranks; r++)
        location[r] = (location_t){coordinate[r], r, coordinate[r]};
    int coordinates = code == TRV_OK ? merge_coordinates(location, ranks, &fit->ranks_per_coordinate) : code;
    code = coordinates < 0 ? coordinates : separate ? check_same_torus(&base->torus, location, coordinates) : TRV_OK;
    if (code == TRV_OK)
        code = find_torus(fit, &base->torus, shared_port, location, coordinates, value, dimension, rotation);
    if (code == TRV_OK)
        code = find_links(fit, base, location, coordinates, dimension, rotation);
    if (code == TRV_ERR_UNSUPPORTED && coordinates > 0)
        code = set_nodes(fit, shared_port, location, coordinates);
    for (int p = 0; code == TRV_OK && p < coordinates; p++)
        value[p] = location[p].rank;
    if (code == TRV_OK && fit->ranks_per_coordinate > 1) /* at least half of `location` is not used */
        code = list_ranks(fit, coordinate, ranks, location, location + coordinates);
    free(location);
    if (code == TRV_OK)
        fit->member = value;
    else {
        free(value);
        trv_mpi_fit_clear(fit);
    }
    return code;
}

void trv_mpi_fit_clear(trv_mpi_fit_t *fit)
{
    free(fit->member);
    free(fit->slow_link);
    free(fit->machine_node);
    free(fit->rank_at);
    *fit = (trv_mpi_fit_t){.network = {TRV_NETWORK}};
}
