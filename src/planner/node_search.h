/*
 * The search for the fastest schedules for a set of nodes: nodes.c simulates what node_prospects.c finds.
 */
#ifndef TRIVANCE_PLANNER_NODE_SEARCH_H
#define TRIVANCE_PLANNER_NODE_SEARCH_H

#include "planner/box_choices.h"
#include "planner/ranking.h"

#define TRV_NODE_PROSPECTS_MAX 192
#define TRV_NODE_ENTRIES_MIN   8 /* entries that are kept, at least: the best are simulated again with exact packets */

/* The shape of the schedule: a ring or a line along the nodes, or the torus or mesh that they form. */
typedef enum trv_node_shape { TRV_NODE_RING, TRV_NODE_LINE, TRV_NODE_BOX } trv_node_shape_t;

typedef struct trv_node_prospect {
    char name[TRV_ALGORITHM_NAME_MAX];
    trv_node_shape_t shape;
    int priority; /* prospects are tried in ascending order of this number; each is different */
    bool listed;  /* an algorithm of the table; no choice should be slower than one of these */
} trv_node_prospect_t;

/* A prospect on the nodes in an order, and its time. */
typedef struct trv_node_entry {
    trv_node_prospect_t prospect;
    trv_order_t order;
    double time_ns;
    bool exact; /* simulated with the packets of trv_simulate */
    bool approximate;
    trv_planner_choice_t known; /* the choice of a box whose time on the machine is that of its planner; else 0 steps */
} trv_node_entry_t;

typedef struct trv_node_search {
    const trv_torus_t *machine;
    int nodes;
    const int *node;                  /* the set, in the order that is being tried */
    int *ordered[TRV_ORDER_ROWS + 1]; /* in every order */
    trv_collective_t collective;
    int root_node; /* of a rooted collective; -1: it has no root */
    uint64_t vector_bytes;
    trv_simulate_options_t network;
    trv_span_t progress;   /* part of the caller's progress */
    trv_planner_t *ring;   /* for a ring of this many ranks, without the machine */
    trv_box_choices_t box; /* for the torus or mesh that the nodes form, if they do */
    trv_candidates_t line; /* for a line of this many ranks; unused if there is only one node */
    double work;           /* remaining work */
    bool too_much;         /* some prospect exceeded the remaining work */
    char error[200];       /* error of the first prospect that cannot run on the machine; "": all can */
    int prospects;
    trv_node_prospect_t prospect[TRV_NODE_PROSPECTS_MAX];
    int capacity, kept, entries; /* choices that are asked for; maximum and present number of entries */
    trv_node_entry_t *entry;     /* fastest first */
} trv_node_search_t;

/* Finds the prospects, in the order in which they are tried. */
int trv_node_prospects_find(trv_node_search_t *search, const trv_planner_constraints_t *constraints);

/* Inserts an entry, unless the list contains it (a box of one dimension is also a line or a ring) or holds as many that
 * are faster. */
void trv_node_entry_insert(trv_node_search_t *search, const trv_node_entry_t *entry);

/* The candidates for a shape. */
const trv_candidates_t *trv_node_candidates(const trv_node_search_t *search, trv_node_shape_t shape);

#endif
