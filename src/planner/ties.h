/*
 * What the simulation with one queue per link cannot see: where streams meet in a dimension, as they do on tori whose
 * dimensions differ, packets of a router with two channels per link (TRV_DATELINE) wait longer for each other than in
 * one queue, and another schedule may be the fastest. Such a simulation needs every rank, so it is no part of a choice.
 * The table holds what it found on the tori of the paper's figures.
 */
#ifndef TRIVANCE_PLANNER_TIES_H
#define TRIVANCE_PLANNER_TIES_H

#include <trivance/simulate.h>

typedef struct trv_tie {
    const char *torus;
    uint64_t first, last; /* powers of two, at 800 Gb/s and alpha 1.5 us */
    const char *algorithm;
} trv_tie_t;

/* ties_table.c, generated; ends with a row of zeros. */
extern const trv_tie_t trv_ties[];

/* The algorithm that the table has for this AllReduce, or NULL. On other networks it is that of the size that takes as
 * long on the table's, in units of alpha. */
const char *trv_ties_find(const trv_torus_t *torus, const trv_simulate_options_t *network, uint64_t vector_bytes);

#endif
