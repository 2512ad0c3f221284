/*
 * What an algorithm tells of itself: one line of the table.
 */
#ifndef TRIVANCE_ALGORITHMS_ALGORITHM_H
#define TRIVANCE_ALGORITHMS_ALGORITHM_H

#include <trivance/algorithms.h>

#include "algorithms/collector.h"
#include "schedule/schedule.h"

struct trv_algorithm {
    const char *name, *family;
    const char *title; /* what the family is called, then a comma and what this one is */
    const char *use;   /* what it is for, in some words */
    const char *source, *sizes, *steps_formula, *bytes_formula;
    const char *parameters; /* how those in a name are written, "G[xG...]"; NULL: there are none */
    bool latency_optimal;
    bool lines; /* made for rows that are lines (schedule->rows), too; the messages of others are turned there */
    trv_symmetry_t symmetry;
    trv_exactness_t exactness;
    bool consistent;
    bool in_rank_order; /* all vectors are collected, and added in the order of the ranks */
    /* Of a family by its first line of the table: whether Trivance is compared with it, and the number of its colour and
     * marker in the figures, 1 … 8, in whose order the curves stand. 0: it has no curve there. Those with a curve are
     * the others that the paper's claims speak of. */
    bool baseline;
    int colour;
    /* 0, or TRV_ERR_UNSUPPORTED after trv_fail with the reason. NULL: every torus, AllReduce only if latency_optimal.
     */
    int (*supports)(const trv_torus_t *torus, trv_collective_t collective);
    /* Fills the schedule: streams, steps, registers, space, halves, step, tables … What is already there: name and its
     * parameters, torus, collective, symmetry, exactness, consistent and owned from the table's line, one stream, no
     * step, one register, a space of one block, halves = 1, messages_per_port = 1, no mirrored streams. */
    int (*create)(trv_schedule_t *schedule);
    /* The paper's closed forms (paper.h) on a torus of `dims` sides of this size, at least two; what the paper does not
     * give stays NAN. NULL: it gives none. */
    void (*paper_cost)(int side, int dims, trv_paper_cost_t *paper);
    /* Writes a name with its parameters (NULL: none are given) so that it says all, as trv_schedule_spell; returns its
     * length, which may be `size` or more, as snprintf does, or an error. NULL: there are no parameters. */
    int (*spell)(const char *parameters, const trv_torus_t *torus, trv_collective_t collective, char *text,
                 size_t size);
    /* Adds the names that the planner should look at, on tori that `supports` may refuse, too. NULL: the algorithm's
     * own name, where it is supported. */
    int (*candidates)(const trv_collector_t *collector);
};

#endif
