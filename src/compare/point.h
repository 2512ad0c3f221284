/*
 * The points of a comparison: compare.c stores them, fastest.c finds the row of one, compare_run.c runs all.
 */
#ifndef TRIVANCE_COMPARE_POINT_H
#define TRIVANCE_COMPARE_POINT_H

#include <pthread.h>
#include <stdatomic.h>

#include <trivance/compare.h>

#include "compare/simulators.h"

/* The name of a candidate. */
typedef struct trv_candidate_name {
    char text[TRV_ALGORITHM_NAME_MAX];
} trv_candidate_name_t;

/* A point that has copies of all that it refers to, except for the schedule. */
typedef struct trv_point {
    trv_compare_point_t asked; /* its pointers to the network and the names are the caller's */
    trv_simulate_options_t options;
    trv_network_t network; /* with the links of `options` */
    trv_slow_link_t *link;
    trv_slow_rank_t *slow;
    char *algorithms;           /* "" for a schedule alone */
    trv_candidate_name_t *name; /* its algorithms, with the members of families; none if the point is planned */
    int64_t names;
    char *reason; /* that of the row */
    bool planned;
} trv_point_t;

struct trv_compare {
    int64_t points, point_capacity, row_capacity;
    trv_point_t *point;
    trv_compare_row_t *row;
};

/* Points with the same candidates on networks with the same schedules. */
typedef struct trv_point_group {
    const trv_point_t *first;
    trv_shared_simulator_t **member; /* the simulators that the group holds: in the order of the candidates; if the
                                        points are planned, those of the plans so far */
    int64_t members, member_capacity;
    double work_max;       /* work of the most expensive point */
    atomic_size_t pending; /* points without a row */
    pthread_mutex_t lock;  /* protects `member` if the points are planned */
} trv_point_group_t;

/* Progress within a point: every candidate reports the fraction of its work. */
typedef struct trv_advance {
    int (*report)(void *context, double share); /* adds to the finished share of the run; nonzero: cancel */
    void *context;
    bool reports;     /* report must be called during a simulation */
    double left;      /* of the point's share */
    double part;      /* of the present candidate … */
    double part_done; /* … and the fraction of it that was reported */
} trv_advance_t;

/* Creates a group for a point without candidates from the point; the caller destroys it in any case. */
int trv_point_group_create(trv_point_group_t **group, const trv_point_t *point, trv_simulators_t *simulators);
void trv_point_group_destroy(trv_point_group_t *group);
bool trv_point_group_matches(const trv_point_group_t *group, const trv_point_t *point);
/* Destroys the simulators that no other group holds, after the last point. */
void trv_point_group_release(trv_point_group_t *group);

/* Estimated packet-hops of a point. */
double trv_point_group_estimate(const trv_point_group_t *group, const trv_point_t *point);

/* Finds the row of a point. A point that no candidate supports is not an error; its row has the reason. */
int trv_point_find(trv_point_t *point, trv_point_group_t *group, trv_simulators_t *simulators, trv_advance_t *advance,
                   trv_compare_row_t *row);

#endif
