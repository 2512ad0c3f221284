/*
 * The description of an algorithm: its entry in the table of algorithms.
 */
#ifndef TRIVANCE_ALGORITHMS_ALGORITHM_H
#define TRIVANCE_ALGORITHMS_ALGORITHM_H

#include <trivance/algorithms.h>

#include "algorithms/collector.h"
#include "algorithms/field.h"
#include "schedule/schedule.h"

#define TRV_TREE_COLLECTIVES                                                                                           \
    (1U << TRV_BROADCAST | 1U << TRV_REDUCE | 1U << TRV_SCATTER | 1U << TRV_GATHER | 1U << TRV_ALLTOALL)

struct trv_algorithm {
    const char *name, *family;
    const char *title; /* the name of the family, then a comma and the name of this member */
    const char *use;   /* recommended use, in a few words */
    const char *source, *sizes, *steps_formula, *bytes_formula;
    const char *parameters; /* syntax of the parameters in a name, "G[xG...]"; NULL: the algorithm has none */
    const char *example;    /* a name with parameters */
    trv_field_t field[TRV_FIELDS_MAX]; /* the parameters, in the order of the name */
    bool latency_optimal;
    /* Bit c: supports collective c. TRV_TREE_COLLECTIVES: those of every set of spanning trees. 0: AllReduce, and
     * Reduce-Scatter and AllGather unless `latency_optimal`. */
    unsigned collectives;
    /* Every message crosses one link, which the algorithm chooses itself: any connected network is supported. During
     * `create`, schedule->network is the network. */
    bool any_network;
    /* The messages that the first parameter limits, if it is a number of messages in a step: those by each port, or
     * those from each side of the step's dimension. Candidates have as many as the network allows. */
    enum { TRV_NO_MESSAGES, TRV_MESSAGES_PER_PORT, TRV_MESSAGES_PER_SIDE } messages;
    /* Ranks pass on messages of others. The planner considers the algorithm only on networks that do not forward. */
    bool relays;
    /* also designed for rows that are lines (schedule->rows); messages of other algorithms are rerouted there */
    bool lines;
    trv_symmetry_t symmetry;
    trv_exactness_t exactness;
    bool consistent;
    bool in_rank_order; /* all vectors are collected and combined in the order of the ranks */
    /* Figures use these two of the family's first entry in the table. `baseline`: Trivance is compared with the family.
     * `colour`: the number of its colour and marker, 1 … 8, which is also the order of the curves; 0: the family has no
     * curve. The families with a curve are Trivance and those that the paper's claims refer to. */
    bool baseline;
    int colour;
    /* Returns 0, or TRV_ERR_UNSUPPORTED after trv_fail with the reason. NULL: every torus is supported, and AllReduce
     * only if `latency_optimal`. */
    int (*supports)(const trv_torus_t *torus, trv_collective_t collective);
    /* Fills the schedule: streams, steps, registers, space, halves, step, tables … These are set before the call: the
     * name and its parameters, torus and collective; symmetry, exactness, consistent and owned according to this entry;
     * one stream, no steps, one register, a space of one block, halves = 1, messages_per_port = 0 (it is counted), no
     * mirrored streams. */
    int (*create)(trv_schedule_t *schedule);
    /* The paper's closed forms (paper.h) on a torus of `dims` dimensions of size `side` >= 2. Values that the paper
     * does not give stay NAN. NULL: the paper has no closed forms for the algorithm. */
    void (*paper_cost)(int side, int dims, trv_paper_cost_t *paper);
    /* Completes the parameters for a full name (trv_schedule_full_name): replaces choices that depend on a search, a
     * table or the torus by what they select. NULL: there are none. */
    int (*complete)(trv_parameters_t *parameters, const trv_torus_t *torus, trv_collective_t collective);
    /* Adds the names that the planner should consider; it is also called for tori that `supports` rejects. NULL: the
     * algorithm's own name is the only candidate, where it is supported. */
    int (*candidates)(const trv_collector_t *collector);
};

#endif
