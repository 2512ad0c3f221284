/*
 * A decision prepared on a rank (collective/prepared.h) for calls of MPI, and its instances.
 *
 * A decision applies to the calls of an operation signature (collective, type, operation) in a range of sizes. A
 * duplicate of a communicator shares the decisions that the communicator had when the duplicate was created, and their
 * instances.
 */
#ifndef TRIVANCE_MPI_SELECTION_INSTANCES_H
#define TRIVANCE_MPI_SELECTION_INSTANCES_H

#include <stdbool.h>

#include "collective/prepared.h"
#include "mpi/operations/operation.h"
#include "mpi/selection/layout.h"

typedef struct trv_mpi_decision {
    trv_prepared_t base;           /* must be first: pointers to it are cast. No schedule: calls fall back to the MPI
                                      library */
    trv_mpi_arguments_t signature; /* of the calls, from the first one; its count has no meaning */
    trv_mpi_places_t places;
    bool requested;          /* a setting requests that calls fall back */
    trv_mpi_layout_t layout; /* for a communicator whose nodes form no torus */
    trv_mpi_tally_t *tally;
    trv_mpi_operation_t mpi; /* counts the calls that fall back to the MPI library */
} trv_mpi_decision_t;

/* Creates a decision for calls with the signature of `arguments` and this root. They fall back to the MPI library until
 * a schedule is created. NULL, with the message in trv_last_error(): no memory. */
trv_mpi_decision_t *trv_mpi_decision_create(const trv_mpi_arguments_t *arguments, int root);
void trv_mpi_decision_hold(trv_mpi_decision_t *decision);
void trv_mpi_decision_release(trv_mpi_decision_t *decision);

/* Compiles the schedule, which the caller has created, and creates a first instance. TRV_OK, or a code of the core. */
int trv_mpi_decision_prepare(trv_mpi_decision_t *decision, trv_mpi_state_t *state);
/* Frees the schedule, its program and its instances: calls fall back to the MPI library. */
void trv_mpi_decision_leave_to_library(trv_mpi_decision_t *decision);

/* The communicator's decision for a call; NULL: there is none yet. It may be prepared for another root (roots.h). The
 * first function finds only decisions for predefined types and operations; it is fast, because their handles determine
 * the signature. */
trv_mpi_decision_t *trv_mpi_decision_find_by_handles(trv_mpi_state_t *state, const trv_mpi_reduction_t *call);
trv_mpi_decision_t *trv_mpi_decision_find(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments);
/* As trv_mpi_decision_find, for reports: the order of the cache, which all ranks share, remains. */
const trv_mpi_decision_t *trv_mpi_decision_peek(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments);

/* Takes an instance for a run on `state`, with the tags of blocking calls, this count, these block sizes (NULL: equal
 * blocks) and these handles. After the run the caller returns it by trv_mpi_decision_give. NULL, with the message in
 * trv_last_error(), if there is no memory. */
trv_mpi_operation_t *trv_mpi_decision_take(trv_mpi_decision_t *decision, trv_mpi_state_t *state, size_t count,
                                           trv_mpi_blocks_t *blocks, MPI_Datatype datatype, MPI_Op op);
void trv_mpi_decision_give(trv_mpi_operation_t *operation);

#endif
