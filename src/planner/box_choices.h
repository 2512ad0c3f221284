/*
 * Choices for a set of nodes that forms a torus or mesh.
 */
#ifndef TRIVANCE_PLANNER_BOX_CHOICES_H
#define TRIVANCE_PLANNER_BOX_CHOICES_H

#include <stdbool.h>

#include <trivance/planner.h>

#define TRV_BOX_CHOICES_MAX 12

typedef struct trv_box_choices {
    trv_planner_t *planner; /* for the box without the machine; NULL if the nodes are not a box */
    trv_torus_t torus;
    trv_order_t order;
    bool exact; /* the times are those on the machine: no message leaves the box or passes a slow or cut link */
    int count;
    trv_planner_choice_t choice[TRV_BOX_CHOICES_MAX]; /* fastest first */
} trv_box_choices_t;

/* Finds the fastest choices for the box that the nodes form. Returns TRV_OK with a count of 0 if they do not form one,
 * or if no schedule is possible. `root_node` is the root of a rooted collective, or -1; `network` is a result of
 * trv_timing_network. */
int trv_box_choices_find(trv_box_choices_t *choices, const trv_torus_t *machine, int nodes, const int *node,
                         trv_collective_t collective, int root_node, uint64_t vector_bytes,
                         const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints);
void trv_box_choices_clear(trv_box_choices_t *choices);

/* The index of a node in a list; 0 if it is not there. */
int trv_position_of(const int *node, int nodes, int wanted);

#endif
