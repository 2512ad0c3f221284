/*
 * Decisions: the schedule for calls with an operation signature, in the form in which rank 0 of a communicator
 * broadcasts it to the others.
 */
#ifndef TRIVANCE_COLLECTIVE_DECISION_H
#define TRIVANCE_COLLECTIVE_DECISION_H

#include <stdint.h>

#include "collective/choice.h"

/* The struct is sent as it is, so there is no padding between its members. */
typedef struct trv_decision {
    uint64_t bytes_min, bytes_max; /* sizes of vectors to which the decision applies */
    int32_t code;                  /* TRV_OK, or the error of the choice; `reason` is then the error message */
    int32_t left_to_library;       /* the user has selected the MPI library for these calls */
    int32_t on_nodes, order;       /* the schedule is for a set of machine nodes, in this order (trv_order_t) */
    int32_t in_box, lines;         /* for the torus or mesh that these nodes form; for a line; if both are 0: a ring */
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* name for users; "": none */
    char full_name[TRV_FULL_NAME_MAX];      /* name for trv_schedule_create_on on every rank */
    char reason[TRV_CHOICE_REASON_MAX];
} trv_decision_t;

/* Creates the decision on rank 0 from the result of a choice: its code and, if the code is negative, the last error. */
void trv_decision_make(trv_decision_t *decision, int code, const trv_choice_t *choice, const trv_network_t *network,
                       trv_collective_t collective, int root);

#endif
