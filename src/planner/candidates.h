/*
 * The planner's candidates: schedules of one network and collective, identified by name. A candidate's model is known
 * before its schedule is created. The schedule is created, read and simulated only when needed.
 */
#ifndef TRIVANCE_PLANNER_CANDIDATES_H
#define TRIVANCE_PLANNER_CANDIDATES_H

#include <trivance/planner.h>

#include "algorithms/collector.h"

/* The properties of a schedule on which constraints and the cost of its simulation depend. */
typedef struct trv_facts {
    int steps, registers, messages_per_port;
    int fold; /* number of ranks that differ, which is how many must be simulated */
    bool consistent, covers;
} trv_facts_t;

typedef struct trv_candidate {
    char name[TRV_ALGORITHM_NAME_MAX];
    trv_model_t model;
    bool always; /* considered whatever the model estimates: no plan may be slower than this candidate */
    bool guest;  /* added because a caller asked for its time; never becomes a plan */
    bool known;  /* facts is filled in */
    trv_facts_t facts;
    trv_simulator_t *simulator; /* NULL until it is needed */
} trv_candidate_t;

typedef struct trv_candidates {
    trv_network_t network; /* its array of links is borrowed */
    trv_collective_t collective;
    int count;
    int64_t capacity;
    trv_candidate_t *candidate;
} trv_candidates_t;

/* Adds a copy at the end of the list. */
int trv_candidates_add(trv_candidates_t *list, const trv_candidate_t *candidate);
void trv_candidates_clear(trv_candidates_t *list);

/* Adds the candidates of every algorithm of the table. `consistent`: inconsistent ones may be left out. */
int trv_candidates_collect(trv_candidates_t *list, bool consistent);
/* Adds every algorithm that is a single schedule, and the candidates of the algorithms that are made for lines, as they
 * offer them if the dimensions in the mask are lines. Candidates without symmetry are not left out. */
int trv_candidates_collect_lines(trv_candidates_t *list, unsigned lines, bool consistent);

/* Fills in candidate->facts, once. */
int trv_candidate_facts(const trv_candidates_t *list, trv_candidate_t *candidate);
/* Creates candidate->simulator, once; fills in the facts too. */
int trv_candidate_read(const trv_candidates_t *list, trv_candidate_t *candidate);

#endif
