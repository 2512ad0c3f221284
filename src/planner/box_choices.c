/*
 * Choices for a set of nodes that forms a torus or mesh: those of the planner for that torus, whose links are all
 * equal.
 *
 * If the machine's routes between the nodes stay in the box, and no link of its nodes is slow or cut, the simulated
 * times are also those on the machine. Otherwise the caller simulates the choices there.
 */
#include "planner/box_choices.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "planner/ranking.h"
#include "torus/box.h"

/* Converts a mask of the machine's dimensions into a mask of the dimensions of the box. */
static unsigned box_dimensions(const trv_box_t *box, unsigned machine_bits)
{
    unsigned bits = 0;
    for (int d = 0; d < box->torus.dims; d++)
        bits |= (machine_bits >> box->dimension[d] & 1) << d;
    return bits;
}

static bool has_slow_link(const trv_simulate_options_t *network, int nodes, const int *node)
{
    for (int l = 0; l < network->slow_links; l++)
        for (int i = 0; i < nodes; i++)
            if (network->slow_link[l].rank == node[i])
                return true;
    return false;
}

int trv_position_of(const int *node, int nodes, int wanted)
{
    for (int i = 0; i < nodes; i++)
        if (node[i] == wanted)
            return i;
    return 0;
}

/* The rank of the root in the box. */
static int find_root(const trv_box_choices_t *choices, const trv_torus_t *machine, int nodes, const int *node,
                     int root_node, int *root)
{
    const trv_network_t network = {TRV_NETWORK, .torus = *machine};
    int *ordered = malloc((size_t)nodes * sizeof *ordered);
    if (!ordered)
        return trv_fail_memory();
    memcpy(ordered, node, (size_t)nodes * sizeof *ordered);
    const int rc = trv_order_nodes(&network, choices->order, nodes, ordered);
    *root = trv_position_of(ordered, nodes, root_node);
    free(ordered);
    return rc;
}

int trv_box_choices_find(trv_box_choices_t *choices, const trv_torus_t *machine, int nodes, const int *node,
                         trv_collective_t collective, int root_node, uint64_t vector_bytes,
                         const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints)
{
    trv_box_t box;
    *choices = (trv_box_choices_t){.planner = NULL};
    const int found = nodes > 1 ? trv_box_find(&box, machine, nodes, node) : 0;
    if (found <= 0)
        return found;
    trv_simulate_options_t box_network = *network;
    box_network.slow_links = 0;
    box_network.slow_link = NULL;
    box_network.shared_paths = box_dimensions(&box, network->shared_paths);
    choices->torus = box.torus;
    choices->order = TRV_ORDER_ROWS; /* in which messages keep their ports */
    choices->exact = box.enclosed && !network->shared_paths && !has_slow_link(network, nodes, node);
    int root = 0, rc = root_node < 0 ? TRV_OK : find_root(choices, machine, nodes, node, root_node, &root);
    if (!rc)
        rc = trv_planner_create(&choices->planner, &box.torus, collective, root, &box_network, constraints);
    if (!rc)
        rc = trv_planner_rank(choices->planner, vector_bytes, TRV_BOX_CHOICES_MAX, choices->choice);
    choices->count = rc > 0 ? rc : 0;
    return rc >= 0 || rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

void trv_box_choices_clear(trv_box_choices_t *choices)
{
    trv_planner_destroy(choices->planner);
    *choices = (trv_box_choices_t){.planner = NULL};
}
