/*
 * Layout of a set of nodes: sorts the machine nodes of a communicator in the order of a plan, and finds the ranks on
 * them.
 */
#include "mpi/selection/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/communicator/world.h"

typedef struct node_coordinate {
    int machine_node, coordinate;
} node_coordinate_t;

static int by_machine_node(const void *a, const void *b)
{
    return ((const node_coordinate_t *)a)->machine_node - ((const node_coordinate_t *)b)->machine_node;
}

/* `own` has the machine node at every coordinate of the communicator; `machine_node` has the same nodes in the plan's
 * order, and each is replaced by its coordinate in the communicator. `sorted`: scratch memory for `coordinates`
 * entries. */
static void find_coordinates(const int *own, int coordinates, node_coordinate_t *sorted, int *machine_node)
{
    for (int p = 0; p < coordinates; p++)
        sorted[p] = (node_coordinate_t){own[p], p};
    qsort(sorted, (size_t)coordinates, sizeof *sorted, by_machine_node);
    for (int i = 0; i < coordinates; i++) {
        const node_coordinate_t key = {.machine_node = machine_node[i]};
        const node_coordinate_t *found = bsearch(&key, sorted, (size_t)coordinates, sizeof key, by_machine_node);
        machine_node[i] = found->coordinate;
    }
}

int trv_mpi_layout_init(trv_mpi_layout_t *layout, const trv_mpi_state_t *state, trv_order_t order)
{
    const trv_mpi_world_t *world = trv_mpi_world();
    const int coordinates = state->config.network.torus.ranks;
    *layout = (trv_mpi_layout_t){.coordinate = -1};
    if (!state->config.machine_node ||
        !world) /* missing only if config.out_of_memory is set, and then no decision is prepared */
        return trv_fail(TRV_ERR_STATE, "the nodes of the communicator are not known");
    node_coordinate_t *sorted = malloc((size_t)coordinates * sizeof *sorted);
    int *coordinate = malloc((size_t)coordinates * sizeof *coordinate);
    layout->member = malloc((size_t)coordinates * sizeof *layout->member);
    layout->comm_rank = malloc((size_t)coordinates * sizeof *layout->comm_rank);
    int code = sorted && coordinate && layout->member && layout->comm_rank ? TRV_OK : trv_fail_memory();
    if (code == TRV_OK) {
        memcpy(coordinate, state->config.machine_node, (size_t)coordinates * sizeof *coordinate);
        code = trv_order_nodes(&world->network, order, coordinates, coordinate);
    }
    if (code == TRV_OK)
        find_coordinates(state->config.machine_node, coordinates, sorted, coordinate);
    for (int i = 0; i < coordinates && code == TRV_OK; i++) {
        layout->member[i] = state->config.member ? state->config.member[coordinate[i]] : coordinate[i];
        layout->comm_rank[i] = state->config.comm_rank ? state->config.comm_rank[coordinate[i]] : coordinate[i];
        if (coordinate[i] == state->config.coordinate)
            layout->coordinate = i;
    }
    free(sorted);
    free(coordinate);
    if (code < 0)
        trv_mpi_layout_clear(layout);
    return code;
}

void trv_mpi_layout_clear(trv_mpi_layout_t *layout)
{
    free(layout->member);
    free(layout->comm_rank);
    *layout = (trv_mpi_layout_t){.coordinate = -1};
}
