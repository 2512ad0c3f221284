/*
 * A GOAL program prepared for a run: who waits for whom, and which sends and receives may match.
 *
 * Operations of a rank that wait for the same operations form a *group*, which begins when the last of these has
 * started or is complete. Sends and receives of the same sender, receiver and tag form a *channel*, in which the k-th
 * send matches the k-th receive.
 */
#ifndef TRIVANCE_SIMULATE_GOAL_PROGRAM_H
#define TRIVANCE_SIMULATE_GOAL_PROGRAM_H

#include "simulate/goal/goal.h"

#define TRV_GOAL_NONE UINT32_MAX

typedef struct goal_edge { /* of an operation: a group that waits for it */
    uint32_t group;
    bool start; /* for its start; otherwise until it is complete */
} goal_edge_t;

typedef struct goal_group {
    uint32_t first;      /* operation; the others by next_in_group, ascending */
    uint32_t missing;    /* operations it still waits for */
    bool messages;       /* there is a send or a receive among its operations … */
    bool after_messages; /* … or among those that must be complete before it */
} goal_group_t;

typedef struct goal_channel {
    uint32_t first;           /* of its slots: as many as it has sends */
    uint32_t sends, receives; /* begun so far */
} goal_channel_t;

typedef struct goal_program {
    const trv_goal_t *goal;
    uint32_t groups, channels;
    goal_group_t *group;
    uint32_t *next_in_group; /* per operation */
    uint32_t *first_edge;    /* per operation, and one more: where its edges begin */
    goal_edge_t *edge;
    goal_channel_t *channel;
    uint32_t *channel_of; /* per operation; calculations have none */
} goal_program_t;

/* TRV_ERR_INVALID where the sends and receives of a channel are not equally many. */
int trv_goal_program_create(goal_program_t *program, const trv_goal_t *goal);
void trv_goal_program_clear(goal_program_t *program);

#endif
