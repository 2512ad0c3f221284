/*
 * The planner's candidates: schedules of one network and collective, by name. Each has a model, which is known before the
 * schedule is made, and reads the schedule, and simulates it, only when somebody asks.
 */
#ifndef TRIVANCE_PLANNER_CANDIDATES_H
#define TRIVANCE_PLANNER_CANDIDATES_H

#include <trivance/planner.h>

#include "algorithms/collector.h"

/* What constraints ask for. */
typedef struct trv_facts {
    int steps, registers, messages_per_port;
    int fold; /* ranks that differ, which is how many must be simulated */
    bool consistent, covers;
} trv_facts_t;

typedef struct trv_candidate {
    char name[TRV_ALGORITHM_NAME_MAX];
    trv_model_t model;
    bool always; /* considered whatever the model says: what a plan must not be slower than */
    bool guest;  /* never considered: somebody asked for its time */
    bool known;  /* its facts are */
    trv_facts_t facts;
    trv_simulator_t *simulator; /* NULL until it is needed */
} trv_candidate_t;

typedef struct trv_candidates {
    trv_network_t network; /* its links are borrowed */
    trv_collective_t collective;
    int count;
    int64_t capacity;
    trv_candidate_t *candidate;
} trv_candidates_t;

/* Adds one at the end. */
int trv_candidates_add(trv_candidates_t *list, const trv_candidate_t *candidate);
void trv_candidates_clear(trv_candidates_t *list);

/* Adds those of every algorithm of the table. `consistent`: others will not be taken. */
int trv_candidates_collect(trv_candidates_t *list, bool consistent);
/* Adds every algorithm that is a single schedule, without regard to the ranks that differ, and what those made for
 * lines offer where the dimensions of the mask are lines. */
int trv_candidates_collect_lines(trv_candidates_t *list, unsigned lines, bool consistent);

/* Makes the facts known. */
int trv_candidate_facts(const trv_candidates_t *list, trv_candidate_t *candidate);
/* Makes the simulator. */
int trv_candidate_read(const trv_candidates_t *list, trv_candidate_t *candidate);

#endif
