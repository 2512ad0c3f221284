/*
 * Carrying out a decision (collective/decision.h) on the ranks of a communicator: the schedule, its compiled program,
 * and instances, each of which one run at a time uses.
 *
 * It serves the calls of a signature (collective, type, operation) and a range of sizes. Duplicates of a communicator
 * share what it had when they were made, instances included.
 */
#ifndef TRIVANCE_MPI_SELECTION_INSTANCES_H
#define TRIVANCE_MPI_SELECTION_INSTANCES_H

#include <stdbool.h>

#include <trivance/algorithms.h>

#include "collective/cache.h"
#include "collective/pool.h"
#include "mpi/operations/operation.h"
#include "mpi/operations/request.h"
#include "mpi/selection/layout.h"

typedef struct trv_mpi_decision {
    trv_cached_t cached;           /* first: the address of one is that of the other */
    trv_mpi_want_t kind;           /* the first call's; its count has no meaning */
    uint64_t bytes_min, bytes_max; /* of the vectors that it is for */
    trv_mpi_recipe_t recipe;
    char algorithm[TRV_ALGORITHM_NAME_MAX];
    trv_schedule_t *schedule; /* NULL: the MPI library serves */
    trv_mpi_layout_t layout;  /* of a set of nodes */
    trv_plan_t *model;
    trv_mpi_tally_t *tally;
    trv_mpi_operation_t mpi; /* counts the calls that the MPI library serves */
    trv_pool_t pool;         /* of instances that no run uses */
} trv_mpi_decision_t;

/* For calls like `want` of bytes_min … bytes_max, left to the MPI library until a recipe is made. NULL: no memory. */
trv_mpi_decision_t *trv_mpi_decision_create(const trv_mpi_want_t *want, uint64_t bytes_min, uint64_t bytes_max);
void trv_mpi_decision_hold(trv_mpi_decision_t *decision);
void trv_mpi_decision_release(trv_mpi_decision_t *decision);

/* Compiles the recipe, which the caller has filled in but for its model, and makes a first instance.
 * TRV_OK, or a code of the core. */
int trv_mpi_decision_prepare(trv_mpi_decision_t *decision, trv_mpi_state_t *state);
/* Frees the schedule and what runs it: the MPI library serves. */
void trv_mpi_decision_leave(trv_mpi_decision_t *decision);

/* The communicator's decision for a call; NULL: there is none yet. The first is for predefined types and operations, whose
 * handles alone determine the signature. */
trv_mpi_decision_t *trv_mpi_decision_find(trv_mpi_state_t *state, const trv_mpi_arguments_t *call);
trv_mpi_decision_t *trv_mpi_decision_look(trv_mpi_state_t *state, const trv_mpi_want_t *want);

/* An instance for a run on `state`, with the tags of blocking calls, for this count and these handles; it is given back after
 * the run. NULL with the sentence where there is no memory. */
trv_mpi_operation_t *trv_mpi_decision_take(trv_mpi_decision_t *decision, trv_mpi_state_t *state, size_t count,
                                           MPI_Datatype datatype, MPI_Op op);
void trv_mpi_decision_give(trv_mpi_operation_t *operation);
/* The lender of requests. It holds the decision. */
trv_mpi_lender_t trv_mpi_decision_lend(trv_mpi_decision_t *decision);

#endif
