/*
 * The state of a planner: its candidates, their times, and the list of the best.
 */
#ifndef TRIVANCE_PLANNER_RANKING_H
#define TRIVANCE_PLANNER_RANKING_H

#include "base/span.h"
#include "planner/candidates.h"

struct trv_planner {
    trv_simulate_options_t network;
    bool dateline; /* two channels per link were asked for; `network` has one queue per link */
    trv_planner_constraints_t constraints;
    trv_candidates_t list;
    double hops_max;        /* packet-hops beyond which packets are enlarged in the first simulation of a candidate */
    trv_slow_link_t *link;  /* the planner's copy of the network's links */
    bool trees;             /* the ranking is that of trees.h */
    trv_planner_t *parts;   /* trees.h: for the allgather or reduce-scatter of a broadcast or reduce, or NULL */
    trv_planner_t *uniform; /* for the uniform torus (prospects.h), if the network is not uniform; otherwise NULL */
    trv_span_t progress;    /* part of the present call's progress that is being simulated */
    trv_span_t caller;      /* progress of the present call as a whole */
    double done;            /* fraction of the present call that was reported; never decreases */
};

typedef struct trv_entry {
    int candidate; /* index in the list */
    bool always;
    double estimate_ns, time_ns;
    double hops;   /* packet-hops that were simulated, until the simulation ended or was stopped */
    bool enlarged; /* it was simulated with enlarged packets */
    bool exact;    /* it was simulated with the packets of trv_simulate */
    int steps;
} trv_entry_t;

typedef struct trv_ranking {
    trv_planner_t *planner;
    uint64_t vector_bytes;
    int capacity;
    double cutoff_ns;   /* candidates that take longer are left out */
    trv_entry_t *entry; /* all candidates, in the order of examination */
    int allowed;        /* number of examined candidates that satisfy the constraints */
    int timed;          /* number of entries in `best` */
    trv_entry_t *best;  /* entries that have a time, fastest first */
} trv_ranking_t;

/* Whether two names are of the same algorithm, possibly with different parameters. */
bool trv_planner_same_algorithm(const char *name, const char *other);

/* Makes later calls on the planner report their progress to the callback of `network`. */
void trv_planner_set_progress(trv_planner_t *planner, const trv_simulate_options_t *network);

/* Changes the network's bandwidths, latencies and overheads; the links stay those of the planner's creation. The
 * planner then makes the same choices as a new one, with less work, because it keeps its candidates and their
 * simulators. */
int trv_planner_set_network(trv_planner_t *planner, const trv_simulate_options_t *network);

/* The time that a model estimates. */
double trv_planner_estimate(const trv_planner_t *planner, const trv_model_t *model, uint64_t vector_bytes);

/* Simulates the candidate, whose simulator must exist, on a network and fills in the entry's time and hops. The time is
 * INFINITY if it exceeds `cutoff_ns`. */
int trv_candidate_simulate(const trv_candidate_t *candidate, const trv_simulate_options_t *network,
                           uint64_t vector_bytes, double hops_max, trv_span_t progress, double cutoff_ns,
                           trv_entry_t *entry);

/* The same on the planner's network, without a simulation if a lower bound shows that the time exceeds `cutoff_ns`.
 * Creates the simulator if it does not exist. */
int trv_planner_find_time(const trv_planner_t *planner, trv_candidate_t *candidate, uint64_t vector_bytes,
                          double cutoff_ns, trv_entry_t *entry);

/* Splits a choice's time into its parts: at most `alpha_ns` for the start of steps, `empty_ns` (the time of a vector of
 * one byte) for these and the hops together, and the rest for transmission. */
void trv_planner_split_time(trv_planner_choice_t *choice, double time_ns, double alpha_ns, double empty_ns);

/* Makes the choice of a candidate whose time is known. */
int trv_planner_make_choice(const trv_planner_t *planner, trv_candidate_t *candidate, const trv_entry_t *entry,
                            trv_planner_choice_t *choice);

/* The minimum time of a candidate whose model gives this estimate. */
double trv_planner_least_ns(const trv_planner_t *planner, double estimate_ns);

/* As trv_planner_time, but sets the time to INFINITY if it exceeds `cutoff_ns`, which takes less work. */
int trv_planner_time_within(trv_planner_t *planner, uint64_t vector_bytes, const char *algorithm, double cutoff_ns,
                            trv_planner_choice_t *choice);

/* The same of the fastest algorithm of a family, the first one of equal ones. The time is INFINITY if none is faster
 * than `cutoff_ns`. TRV_ERR_UNSUPPORTED, with the reason for
 * the last one, if none is suitable. */
TRV_API int trv_planner_time_family(trv_planner_t *planner, uint64_t vector_bytes, const char *family, double cutoff_ns,
                                    trv_planner_choice_t *choice);

/* The time of an algorithm without its parts; INFINITY if it exceeds `cutoff_ns`. */
int trv_planner_named_ns(trv_planner_t *planner, uint64_t vector_bytes, const char *algorithm, double cutoff_ns,
                         double *time_ns);

/* As trv_planner_rank, without choices that take longer than `cutoff_ns`. */
int trv_planner_rank_within(trv_planner_t *planner, uint64_t vector_bytes, int capacity, double cutoff_ns,
                            trv_planner_choice_t *choice);

/* The time beyond which a candidate need not be timed: that of the slowest choice if the list is full, otherwise
 * ranking->cutoff_ns. */
double trv_ranking_cutoff_ns(const trv_ranking_t *ranking);

/* Inserts an entry that has a time into `best`. */
void trv_ranking_insert(trv_ranking_t *ranking, const trv_entry_t *entry);

/* At the end of a call: destroys simulators that do not fit into the memory that is kept for the next one. Those of the
 * caller's schedules stay. */
void trv_ranking_drop_excess(trv_candidates_t *list);

/* Destroys large simulators, that of the candidate that was examined last included, unless they will be needed again:
 * for the best entry, or to time an entry with exact packets. Those of the caller's schedules stay. */
void trv_ranking_drop_large(const trv_ranking_t *ranking, int examined);

/* Times an entry with the packets of trv_simulate, if it was timed with larger ones and its time is finite. */
int trv_planner_confirm(const trv_planner_t *planner, trv_candidate_t *candidate, uint64_t vector_bytes,
                        trv_entry_t *entry);

/* The best entries are simulated as trv_simulate does, if they take at most this factor longer than the first. */
#define TRV_CONFIRMED_MAX  4
#define TRV_CONFIRMED_NEAR 1.02

/* The same for the best entries, which are inserted anew. */
int trv_ranking_confirm(trv_ranking_t *ranking);

/* Times an entry and inserts it. An entry that cannot be simulated, because its messages are too long or pass a cut
 * link, is left out without an error. */
int trv_ranking_examine(trv_ranking_t *ranking, trv_entry_t *entry, double cutoff_ns);

#endif
