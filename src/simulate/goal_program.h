/*
 * A GOAL program prepared for a run: which operations wait for which, and which sends and receives may match.
 *
 * Operations of a rank that wait for the same operations form a *group*, which begins when the last of these has
 * started or is complete. Sends and receives with the same sender, receiver and tag form a *channel*, in which the k-th
 * send matches the k-th receive.
 */
#ifndef TRIVANCE_SIMULATE_GOAL_PROGRAM_H
#define TRIVANCE_SIMULATE_GOAL_PROGRAM_H

#include "simulate/goal/goal.h"

#define TRV_GOAL_NONE UINT32_MAX

typedef struct goal_edge { /* from an operation to a group that waits for it */
    uint32_t group;
    bool start; /* the group waits until the operation starts; otherwise until it is complete */
} goal_edge_t;

typedef struct goal_group {
    uint32_t first;      /* first operation; the others follow by next_in_group, ascending */
    uint32_t missing;    /* number of edges that it still waits for */
    bool messages;       /* there is a send or a receive among its operations … */
    bool after_messages; /* … or among those that must be complete before it */
} goal_group_t;

typedef struct goal_channel {
    uint32_t first;           /* its first slot; it has as many slots as sends */
    uint32_t sends, receives; /* number that have begun so far */
} goal_channel_t;

typedef struct goal_program {
    const trv_goal_t *goal;
    uint32_t groups, channels;
    goal_group_t *group;
    uint32_t *next_in_group; /* per operation */
    uint32_t *first_edge;    /* per operation, and one more: index of its first edge */
    goal_edge_t *edge;
    goal_channel_t *channel;
    uint32_t *channel_of; /* per operation; calculations have none */
} goal_program_t;

/* TRV_ERR_INVALID if the numbers of sends and receives of a channel differ. */
int trv_goal_program_create(goal_program_t *program, const trv_goal_t *goal);
void trv_goal_program_clear(goal_program_t *program);

#endif
