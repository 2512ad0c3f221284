/*
 * What planners are made of: candidates that get times, and the list of the best.
 */
#ifndef TRIVANCE_PLANNER_RANKING_H
#define TRIVANCE_PLANNER_RANKING_H

#include "base/span.h"
#include "planner/candidates.h"

struct trv_planner {
    trv_simulate_options_t network;
    bool dateline; /* asked for, of a network that `network` has one queue per link of */
    trv_planner_constraints_t constraints;
    trv_candidates_t list;
    double hops_max;       /* of packets in one simulation */
    trv_slow_link_t *link; /* those of the network */
    trv_planner_t *whole;  /* of a network with lines or links: for the torus without them; else NULL */
    trv_span_t part;       /* of the present call: what is being simulated now */
    trv_span_t caller;     /* the whole of each call … */
    double done;           /* … and the fraction of the present one that was reported, which never becomes less */
};

typedef struct trv_entry {
    int candidate; /* number in the list */
    bool always;
    double estimate_ns, time_ns;
    double hops;   /* that were simulated, until the time was found or was above what is of interest */
    bool modelled; /* the time is that of the model */
    int steps;
} trv_entry_t;

typedef struct trv_ranking {
    trv_planner_t *planner;
    uint64_t vector_bytes;
    int capacity;
    double enough_ns;   /* what takes longer is of no interest */
    trv_entry_t *entry; /* all candidates, in the order of examination */
    int kept;           /* so many were examined, which keep to the constraints; … */
    int timed;          /* … of these have a time … */
    trv_entry_t *best;  /* … and are here, the fastest first */
} trv_ranking_t;

/* Whether two names are of one algorithm, whatever its parameters. */
bool trv_planner_is_alike(const char *name, const char *other);

/* From here on the planner's calls report their progress to the callback of `network`. */
void trv_planner_report_to(trv_planner_t *planner, const trv_simulate_options_t *network);

/* By the candidate's model. */
double trv_planner_estimate(const trv_planner_t *planner, const trv_model_t *model, uint64_t vector_bytes);

/* The candidate's time on a network, INFINITY where it is more than `enough_ns`; its simulator is made. Fills the entry. */
int trv_candidate_simulate(const trv_candidate_t *candidate, const trv_simulate_options_t *network,
                           uint64_t vector_bytes, trv_span_t part, double enough_ns, trv_entry_t *entry);

/* The same on the planner's network, where a bound may say so first: fills the entry. */
int trv_planner_find_time(const trv_planner_t *planner, trv_candidate_t *candidate, uint64_t vector_bytes,
                          double enough_ns, trv_entry_t *entry);

/* Divides a plan's time into its parts: `alpha_ns` at most for the starts of steps, and with the hops `empty_ns`, what a
 * vector of a byte takes. */
void trv_planner_divide(trv_planned_t *plan, double time_ns, double alpha_ns, double empty_ns);

/* Makes a plan of a candidate whose time is known. */
int trv_planner_make_plan(const trv_planner_t *planner, trv_candidate_t *candidate, const trv_entry_t *entry,
                          trv_planned_t *plan);

/* trv_planner_time, with no more than a time of INFINITY where that is above `enough_ns`, which takes less work to know. */
int trv_planner_time_within(trv_planner_t *planner, uint64_t vector_bytes, const char *algorithm, double enough_ns,
                            trv_planned_t *plan);

/* trv_planner_rank of what takes no longer than `enough_ns`. */
int trv_planner_rank_within(trv_planner_t *planner, uint64_t vector_bytes, int capacity, double enough_ns,
                            trv_planned_t *plan);

/* The time from which on a candidate need not be timed to its end: that of the slowest plan of a full list, or the most
 * that is of interest. */
double trv_ranking_enough_ns(const trv_ranking_t *ranking);

/* Keeps an entry that has a time. */
void trv_ranking_insert(trv_ranking_t *ranking, const trv_entry_t *entry);

/* Times an entry and keeps it. What cannot be simulated, because its messages are too long or pass a cut link, is passed
 * over. */
int trv_ranking_examine(trv_ranking_t *ranking, trv_entry_t *entry, double enough_ns);

#endif
