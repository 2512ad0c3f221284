/*
 * Decisions: which schedule serves the calls of a signature, in the form in which rank 0 of a communicator sends it to the
 * other ranks.
 */
#ifndef TRIVANCE_COLLECTIVE_DECISION_H
#define TRIVANCE_COLLECTIVE_DECISION_H

#include <stdint.h>

#include "collective/choice.h"

/* Without padding between the members, since it is sent as it is. */
typedef struct trv_decision {
    uint64_t bytes_min, bytes_max;  /* of the vectors that it is for */
    int32_t code;                   /* TRV_OK, or why there is none; then `reason` is the sentence */
    int32_t left_to_library;        /* the user wants the MPI library to serve */
    int32_t on_nodes, order, lines; /* along a set of nodes, in that order, as a line rather than a ring */
    int32_t unused;
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* as users write it; "": none */
    char spelled[TRV_SPELLED_MAX];          /* as trv_schedule_create_on takes it on every rank */
    char reason[TRV_CHOICE_REASON_MAX];
} trv_decision_t;

/* On rank 0: `code` and `choice` are those of its search for a schedule on the network. A code below 0 comes with the
 * sentence in trv_last_error(). */
void trv_decision_make(trv_decision_t *decision, int code, const trv_choice_t *choice, const trv_network_t *network,
                       trv_collective_t collective);

#endif
