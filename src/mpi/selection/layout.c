/*
 * Layout of a set of nodes: sorts the machine nodes of a communicator in the order of a plan, and finds the ranks on
 * them.
 */
#include "mpi/selection/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/communicator/places.h"

typedef struct location {
    int machine_node, place;
} seat_t;

static int by_site(const void *a, const void *b)
{
    return ((const seat_t *)a)->machine_node - ((const seat_t *)b)->machine_node;
}

/* `own` has the machine node at every coordinate of the communicator; `machine_node` has the same nodes in the plan's
 * order, and each is replaced by its coordinate in the communicator. `location`: scratch memory for `places`
 * entries. */
static void find_places(const int *own, int places, seat_t *location, int *machine_node)
{
    for (int p = 0; p < places; p++)
        location[p] = (seat_t){own[p], p};
    qsort(location, (size_t)places, sizeof *location, by_site);
    for (int i = 0; i < places; i++) {
        const seat_t key = {.machine_node = machine_node[i]};
        const seat_t *found = bsearch(&key, location, (size_t)places, sizeof key, by_site);
        machine_node[i] = found->place;
    }
}

int trv_mpi_layout_init(trv_mpi_layout_t *layout, const trv_mpi_state_t *state, trv_order_t order)
{
    const trv_mpi_world_t *world = trv_mpi_world();
    const int places = state->config.network.torus.ranks;
    *layout = (trv_mpi_layout_t){.place = -1};
    if (!state->config.machine_node ||
        !world) /* missing only if config.unable is set, and then no decision is prepared */
        return trv_fail(TRV_ERR_STATE, "the nodes of the communicator are not known");
    seat_t *location = malloc((size_t)places * sizeof *location);
    int *place = malloc((size_t)places * sizeof *place);
    layout->member = malloc((size_t)places * sizeof *layout->member);
    layout->name = malloc((size_t)places * sizeof *layout->name);
    int code = location && place && layout->member && layout->name ? TRV_OK : trv_fail_memory();
    if (code == TRV_OK) {
        memcpy(place, state->config.machine_node, (size_t)places * sizeof *place);
        code = trv_order_nodes(&world->network, order, places, place);
    }
    if (code == TRV_OK)
        find_places(state->config.machine_node, places, location, place);
    for (int i = 0; i < places && code == TRV_OK; i++) {
        layout->member[i] = state->config.member ? state->config.member[place[i]] : place[i];
        layout->name[i] = state->config.name ? state->config.name[place[i]] : place[i];
        if (place[i] == state->config.place)
            layout->place = i;
    }
    free(location);
    free(place);
    if (code < 0)
        trv_mpi_layout_clear(layout);
    return code;
}

void trv_mpi_layout_clear(trv_mpi_layout_t *layout)
{
    free(layout->member);
    free(layout->name);
    *layout = (trv_mpi_layout_t){.place = -1};
}
