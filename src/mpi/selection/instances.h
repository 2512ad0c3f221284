/*
 * A decision (collective/decision.h) prepared on a rank of a communicator: the schedule, its compiled program, and
 * instances, each of which is used by one run at a time.
 *
 * A decision applies to the calls of an operation signature (collective, type, operation) in a range of sizes. On a
 * torus without lines and slow links it applies to calls with every root, otherwise only to those with the root of the
 * first call. Its schedule and instances are those of one root; roots.h prepares it for others. A duplicate of a
 * communicator shares the decisions that the communicator had when the duplicate was created, and their instances.
 */
#ifndef TRIVANCE_MPI_SELECTION_INSTANCES_H
#define TRIVANCE_MPI_SELECTION_INSTANCES_H

#include <stdbool.h>

#include <trivance/algorithms.h>

#include "collective/cache.h"
#include "collective/choice.h"
#include "collective/pool.h"
#include "mpi/operations/operation.h"
#include "mpi/operations/request.h"
#include "mpi/selection/layout.h"

typedef struct trv_mpi_decision {
    trv_cached_t cached;           /* must be first: the cache's pointers are cast to trv_mpi_decision_t */
    trv_mpi_arguments_t signature; /* the signature and the root, from the first call; its count has no meaning */
    bool any_root;                 /* applies to calls with other roots, too */
    uint64_t bytes_min, bytes_max; /* the sizes of vectors that the decision applies to */
    trv_mpi_plan_spec_t spec;
    char algorithm[TRV_ALGORITHM_NAME_MAX];
    char full_name[TRV_FULL_NAME_MAX]; /* for trv_schedule_create_on */
    struct trv_mpi_decision *origin;   /* prepared for another root: the decision that all ranks made, with a reference;
                                          else NULL */
    trv_schedule_t *schedule;          /* NULL: calls fall back to the MPI library */
    char reason[TRV_CHOICE_REASON_MAX]; /* why the algorithm was chosen, or why calls fall back */
    bool requested;                     /* a setting requests that calls fall back */
    trv_mpi_layout_t layout;            /* for a communicator whose nodes form no torus */
    trv_plan_t *model;
    trv_mpi_tally_t *tally;
    trv_mpi_operation_t mpi; /* counts the calls that fall back to the MPI library */
    trv_pool_t pool;         /* of instances that no run uses */
} trv_mpi_decision_t;

/* Creates a decision for calls with the signature of `arguments` and vectors of bytes_min to bytes_max bytes. They fall
 * back to the MPI library until a plan specification is filled in. NULL: no memory. */
trv_mpi_decision_t *trv_mpi_decision_create(const trv_mpi_arguments_t *arguments, uint64_t bytes_min,
                                            uint64_t bytes_max);
void trv_mpi_decision_hold(trv_mpi_decision_t *decision);
void trv_mpi_decision_release(trv_mpi_decision_t *decision);

/* Compiles the plan specification and creates a first instance. The caller has filled it in, except for its model.
 * TRV_OK, or a code of the core. */
int trv_mpi_decision_prepare(trv_mpi_decision_t *decision, trv_mpi_state_t *state);
/* Frees the schedule, its program and its instances: calls fall back to the MPI library. */
void trv_mpi_decision_leave_to_library(trv_mpi_decision_t *decision);

/* The communicator's decision for a call; NULL: there is none yet. It may be prepared for another root (roots.h). The
 * first function finds only decisions for predefined types and operations; it is fast, because their handles determine
 * the signature. */
trv_mpi_decision_t *trv_mpi_decision_find_by_handles(trv_mpi_state_t *state, const trv_mpi_reduction_t *call);
trv_mpi_decision_t *trv_mpi_decision_find(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments);
/* As trv_mpi_decision_find, for reports: the order of the cache, which all ranks share, remains. */
const trv_mpi_decision_t *trv_mpi_decision_peek(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments);

/* Takes an instance for a run on `state`, with the tags of blocking calls, this count, these block sizes (NULL: equal
 * blocks) and these handles. After the run the caller returns it by trv_mpi_decision_give. NULL, with the message in
 * trv_last_error(), if there is no memory. */
trv_mpi_operation_t *trv_mpi_decision_take(trv_mpi_decision_t *decision, trv_mpi_state_t *state, size_t count,
                                           trv_mpi_blocks_t *blocks, MPI_Datatype datatype, MPI_Op op);
void trv_mpi_decision_give(trv_mpi_operation_t *operation);
/* The decision's instances as a pool for requests (request.h). It holds a reference to the decision. */
trv_mpi_instances_t trv_mpi_decision_instances(trv_mpi_decision_t *decision);

#endif
