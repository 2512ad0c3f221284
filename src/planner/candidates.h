/*
 * The planner's candidates: schedules of one torus and collective, by name. Each has a model, which is known before the
 * schedule is made, and reads the schedule, and simulates it, only when somebody asks.
 */
#ifndef TRIVANCE_PLANNER_CANDIDATES_H
#define TRIVANCE_PLANNER_CANDIDATES_H

#include <trivance/plan.h>

/* The model: time = steps * (alpha + what a message of no bytes takes) + hops * time of a hop + load * vector /
 * bandwidth + waits * overhead of a message, or messages * overhead where that is more. Hops are those of the longest
 * message of each step, added up, load what the busiest link carries in each step as a fraction of the vector, added
 * up. A stream waits for the overheads of its own messages and, until the others are out of step with it, of theirs. */
typedef struct trv_model {
    double steps, hops, load;
    double messages, waits; /* all that a rank sends; for how many of their overheads a stream waits */
} trv_model_t;

/* Sets the last two, where a stream of each rank sends so many messages in all. The steps are set. */
void trv_model_messages(trv_model_t *model, double of_stream, int streams);

/* What constraints ask for. */
typedef struct trv_facts {
    int steps, registers, messages_per_port;
    int fold; /* ranks that differ, which is how many must be simulated */
    bool consistent, covers;
    bool ways_known;
    unsigned both_ways; /* bit d: some rank sends both ways in dimension d in one step; once ways_known */
} trv_facts_t;

typedef struct trv_candidate {
    char name[TRV_PLAN_NAME_MAX];
    trv_model_t model;
    bool always; /* considered whatever the model says: what a plan must not be slower than */
    bool guest;  /* never considered: somebody asked for its time */
    bool known;  /* its facts are */
    trv_facts_t facts;
    trv_simulator_t *simulator; /* NULL until it is needed */
} trv_candidate_t;

typedef struct trv_candidates {
    trv_torus_t torus;
    trv_collective_t collective;
    int count, room;
    trv_candidate_t *candidate;
} trv_candidates_t;

/* Adds one at the end. */
int trv_candidates_add(trv_candidates_t *list, const trv_candidate_t *candidate);
void trv_candidates_clear(trv_candidates_t *list);

/* Sources: each adds the candidates it knows. */
int trv_candidates_named(trv_candidates_t *list); /* every algorithm of the table without parameters */
int trv_candidates_stars(trv_candidates_t *list);
int trv_candidates_hybrids(trv_candidates_t *list, bool consistent);

/* Makes the facts known, `both_ways` only where `ways` says so. */
int trv_candidate_facts(const trv_candidates_t *list, trv_candidate_t *candidate, bool ways);
/* Makes the simulator. */
int trv_candidate_read(const trv_candidates_t *list, trv_candidate_t *candidate);

#endif
