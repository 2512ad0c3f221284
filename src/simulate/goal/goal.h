/*
 * GOAL programs (Group Operation Assembly Language; LogGOPSim, Hoefler, Schneider, Lumsdaine, 2010): every rank sends,
 * receives and computes as its dependencies allow.
 */
#ifndef TRIVANCE_SIMULATE_GOAL_GOAL_H
#define TRIVANCE_SIMULATE_GOAL_GOAL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum trv_goal_kind { TRV_GOAL_SEND, TRV_GOAL_RECV, TRV_GOAL_CALC } trv_goal_kind_t;

typedef struct trv_goal_op {
    trv_goal_kind_t kind;
    int rank;        /* the rank that executes it */
    int peer;        /* send or receive: the other rank */
    uint32_t tag;    /* send or receive */
    int cpu, nic;    /* as in the text; 0 and -1 if absent */
    uint64_t amount; /* bytes of a send or receive, ns of a calculation */
    uint32_t line;   /* line number in the text, from 1 */
} trv_goal_op_t;

/* Operation `op` waits until `on` is complete or, with `start` (irequires), has started. Both are of the same rank. */
typedef struct trv_goal_dependency {
    uint32_t op, on;
    bool start;
} trv_goal_dependency_t;

/* A program. Operations are in the order of the text, rank after rank. */
typedef struct trv_goal {
    int ranks;
    uint32_t ops;
    trv_goal_op_t *op;
    uint32_t dependencies;
    trv_goal_dependency_t *dependency;
    char *name; /* file name, for messages */
} trv_goal_t;

/* Frees the program's arrays and name. */
void trv_goal_clear(trv_goal_t *goal);

#endif
