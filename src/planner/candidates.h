/*
 * The planner's candidates: schedules of one network and collective, identified by name. A candidate's model is known
 * before its schedule is created. The schedule is created, read and simulated only when needed.
 */
#ifndef TRIVANCE_PLANNER_CANDIDATES_H
#define TRIVANCE_PLANNER_CANDIDATES_H

#include <trivance/planner.h>

#include "algorithms/collector.h"

/* The properties of a schedule on which constraints and the cost of its simulation depend. */
typedef struct trv_properties {
    int steps, registers;
    int distinct_ranks; /* number of ranks that differ by symmetry, which is how many must be simulated */
    bool consistent, covers;
    bool multi_hop; /* a message crosses several links; determined only if the network does not forward */
} trv_properties_t;

typedef struct trv_candidate {
    char name[TRV_ALGORITHM_NAME_MAX];
    trv_model_t model;
    bool always;         /* considered whatever the model estimates: no choice may be slower than this candidate */
    bool by_name;        /* added later, because its time was requested by name (trv_planner_time, NAME@F) */
    bool own;            /* a user's schedule (trv_planner_add), of which only the simulator exists */
    bool has_properties; /* properties is filled in */
    trv_properties_t properties;
    int per_port;               /* messages per port; 0: not counted yet */
    trv_simulator_t *simulator; /* NULL until it is needed */
} trv_candidate_t;

typedef struct trv_candidates {
    trv_network_t network; /* its array of links is borrowed */
    trv_collective_t collective;
    int root;
    bool has_message_overheads; /* messages or parts have overheads */
    int count;
    int64_t capacity;
    trv_candidate_t *candidate;
} trv_candidates_t;

/* The index of the candidate with this name; -1 if there is none. */
int trv_candidates_find(const trv_candidates_t *list, const char *name);
/* The same, and adds the candidate if there is none. Fails if the name is not that of an algorithm for the network. */
int trv_candidates_find_or_add(trv_candidates_t *list, const char *name);
/* Adds a copy at the end of the list. */
int trv_candidates_add(trv_candidates_t *list, const trv_candidate_t *candidate);
void trv_candidates_clear(trv_candidates_t *list);

/* Adds the candidates of every algorithm of the table. `consistent`: inconsistent ones may be left out. */
int trv_candidates_collect(trv_candidates_t *list, bool consistent);
/* Adds every algorithm that is a single schedule, and the candidates of the algorithms that are made for lines, as
 * if the dimensions in the mask were lines. Candidates without symmetry are not left out. */
int trv_candidates_collect_lines(trv_candidates_t *list, unsigned lines, bool consistent);

/* Adds every algorithm by its plain name, and the candidates of the algorithms for any network that offer some. */
int trv_candidates_collect_trees(trv_candidates_t *list);

/* On a network that does not forward: adds the candidates of all algorithms, and the algorithms by their plain names,
 * of which every message crosses one link. */
int trv_candidates_collect_one_hop(trv_candidates_t *list, bool consistent);

/* Fills in candidate->properties, once. */
int trv_candidate_properties(const trv_candidates_t *list, trv_candidate_t *candidate);
/* Fills in the properties, per_port and the simulator from a schedule. */
int trv_candidate_take(const trv_candidates_t *list, trv_candidate_t *candidate, const trv_schedule_t *schedule);
/* Whether a candidate sends more messages per port than the network allows: 1, 0, or an error. The first call reads
 * the whole schedule; if it does not exceed the limit, its simulator is kept. */
int trv_candidate_exceeds(const trv_candidates_t *list, trv_candidate_t *candidate);
/* Creates candidate->simulator, once; fills in the properties too. */
int trv_candidate_prepare(const trv_candidates_t *list, trv_candidate_t *candidate);

#endif
