/*
 * The communicators of one thread of a random program: created from one another in all of MPI's ways, and freed. Every
 * rank of MPI_COMM_WORLD takes part in the drawing; a rank that is not a member has MPI_COMM_NULL.
 */
#ifndef TRIVANCE_TESTS_SOAK_COMMS_H
#define TRIVANCE_TESTS_SOAK_COMMS_H

#include "values.h"

#define SLOTS 8

typedef struct comm {
    MPI_Comm comm;
    bool inter;
    int leader;       /* world rank of the first rank, or of the local group's first */
    int giver_leader; /* the same of the group that contributes to the results: of the remote group, if there is one */
} comm_t;

typedef struct comms {
    MPI_Comm home; /* the thread's own duplicate of MPI_COMM_WORLD */
    comm_t slot[SLOTS];
    long made;
    bool plain; /* no hints */
    bool whole; /* only duplicates of `home`, and none while other threads run */
} comms_t;

/* Must not be called by several threads at once. */
void comms_begin(comms_t *comms);
void comms_end(comms_t *comms);

/* Fills the slot, which must be empty, with a communicator created from another slot or from `home`. */
void comms_make(comms_t *comms, int slot, draw_t *draw);
void comms_drop(comms_t *comms, int slot);

#endif
