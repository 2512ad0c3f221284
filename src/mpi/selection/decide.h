/*
 * Decisions: how calls of a kind are served, spelled out by rank 0 of the communicator, known to all its ranks before
 * the first message, and carried out by all of them or none.
 *
 * A decision holds for a kind of calls (collective, type, operation) and a range of sizes. It owns what carries it out:
 * the schedule, its compiled program, and operations, of which each is used by one run at a time. Duplicates of a
 * communicator share the decisions that it had when they were made, operations included.
 */
#ifndef TRIVANCE_MPI_SELECTION_DECIDE_H
#define TRIVANCE_MPI_SELECTION_DECIDE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <trivance/algorithms.h>

#include "collective/pool.h"
#include "mpi/operations/operation.h"
#include "mpi/operations/request.h"
#include "mpi/selection/layout.h"

/* Its place in the list of a state. */
typedef struct trv_mpi_kept {
    struct trv_mpi_decision *decision;
    struct trv_mpi_kept *next;
} trv_mpi_kept_t;

typedef struct trv_mpi_decision {
    atomic_int references;
    trv_mpi_kept_t kept[TRV_MPI_BLOCK]; /* of the state with this index in the block: a duplicate needs no memory */
    trv_mpi_want_t kind;                /* the first call's; its count has no meaning */
    uint64_t bytes_min, bytes_max;      /* of the vectors that it is for */
    trv_mpi_recipe_t recipe;
    char algorithm[TRV_ALGORITHM_NAME_MAX];
    trv_schedule_t *schedule; /* NULL: the MPI library serves */
    trv_mpi_layout_t layout;  /* of a set of nodes */
    trv_plan_t *model;
    trv_mpi_tally_t *tally;
    trv_mpi_operation_t mpi; /* counts the calls that the MPI library serves */

    trv_pool_t pool; /* of operations that no run uses */
} trv_mpi_decision_t;

/* What this rank has to say to it. */
typedef struct trv_mpi_voice {
    bool on_device; /* its buffer is, or may be, on a GPU */
    bool crowded;   /* the state has decisions that it could do without */
} trv_mpi_voice_t;

typedef enum trv_mpi_verdict {
    TRV_MPI_DECIDED,
    TRV_MPI_CROWDED, /* decided; the state's other decisions are to go */
    TRV_MPI_DIFFER,  /* the ranks' calls differ: nothing is decided */
    TRV_MPI_UNABLE,  /* a rank has no memory: nothing is decided, and nothing will be */
    TRV_MPI_REFUSED  /* the settings ask for what cannot be: the sentence says what */
} trv_mpi_verdict_t;

/* Collective over the state's communicator: decides for the kind and the size of `want`. The verdict is the same on all
 * ranks, and where it is no decision so is the reason, in trv_last_error(). */
trv_mpi_verdict_t trv_mpi_decide(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_voice_t voice,
                                 trv_mpi_decision_t **decision);

void trv_mpi_decision_hold(trv_mpi_decision_t *decision);
void trv_mpi_decision_release(trv_mpi_decision_t *decision);

/* Whether the decision is for such a call. */
bool trv_mpi_decision_fits(const trv_mpi_decision_t *decision, const trv_mpi_want_t *want, int ranks);

/* An operation for a run on `state`, at the blocking calls' position, with the count and handles of `want`; it is given
 * back after the run. NULL with the sentence where there is no memory. */
trv_mpi_operation_t *trv_mpi_decision_take(trv_mpi_decision_t *decision, trv_mpi_state_t *state,
                                           const trv_mpi_want_t *want);
void trv_mpi_decision_give(trv_mpi_operation_t *operation);
/* The lender of requests. It holds the decision. */
trv_mpi_lender_t trv_mpi_decision_lend(trv_mpi_decision_t *decision);

/* Compares what all ranks are about to call (TRIVANCE_CHECK); `uneven`: a digest of counts that are not all equal, or 0;
 * `fault`: this rank's error class, or MPI_SUCCESS. The same answer on all ranks but for a rank's own fault: MPI_SUCCESS,
 * or an error class with the sentence. */
int trv_mpi_compare_calls(trv_mpi_state_t *state, const trv_mpi_want_t *want, uint64_t uneven, int fault);

#endif
