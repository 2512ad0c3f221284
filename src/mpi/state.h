/*
 * What the library keeps per communicator: a communicator of its own, the torus, the algorithm, schedules, and the
 * plans behind the blocking calls. Hung on the user's communicator as an attribute; plans of the user hold a reference.
 */
#ifndef TRIVANCE_MPI_STATE_H
#define TRIVANCE_MPI_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/algorithms.h>
#include <trivance/plan.h>
#include <trivance/schedule.h>

#include "mpi/tags.h"

#define TRV_MPI_AUTO "auto"
#define TRV_MPI_WHY_MAX 640

struct trv_mpi_schedule;
struct trv_mpi_answer;
struct trv_mpi_entry;

/* Non-blocking requests take turns at so many positions (request.h). */
#define TRV_MPI_TURNS 16
typedef struct trv_mpi_turns {
    unsigned long posted;             /* requests, of all positions: the same on all ranks */
    atomic_ulong done[TRV_MPI_TURNS]; /* requests of each position that are complete here */
    int persistent;                   /* requests that were made: each has a position of its own, for good */
} trv_mpi_turns_t;

typedef struct trv_mpi_state {
    MPI_Comm user; /* whose attribute this is; MPI_COMM_NULL after it was freed */
    MPI_Comm comm; /* the library's own, errors are returned */
    int rank, ranks;
    int number; /* in the log: the how many-th of this process */
    int references;
    trv_mpi_tags_t tags;
    bool abandoned;  /* the drop-in leaves this communicator to the MPI library: its ranks could not agree */
    bool configured; /* the torus, all about it, and the algorithm are valid */
    trv_torus_t torus;
    bool serves;                 /* the torus is known, or is the API's default: a ring */
    char why[TRV_MPI_WHY_MAX];   /* where the torus comes from; where it is not known, the reason */
    unsigned one_way;            /* bit d: dimension d has no wrap-around */
    unsigned shared_port;        /* bit d: both directions of dimension d share one port */
    const int *member;           /* the rank at every place of the torus; NULL: place p has rank p */
    int place;                   /* this rank's place */
    struct trv_mpi_node *node;   /* several ranks share every place, which member[place] leads; NULL: one at each */
    struct trv_mpi_wiring *wiring; /* what the environment says of the torus, found at first need and kept */
    char algorithm[TRV_PLAN_NAME_MAX]; /* a name, a family, TRV_RULE_PLANNED or TRV_MPI_AUTO */
    bool named;                       /* TRV_Comm_set named it: no rule of the environment comes before it */
    struct trv_mpi_schedule *schedules; /* all that were made, of earlier tori too: plans read them */
    struct trv_mpi_answer *answers;     /* of the planner (planned.h) */
    struct trv_mpi_entry *cache;      /* plans behind the blocking calls, latest first */
    struct trv_mpi_entry *spare;      /* plans that requests gave back */
    unsigned settings;                /* how often torus and algorithm have changed */
    trv_mpi_turns_t turns;
    struct trv_mpi_recorder *recorder; /* NULL: nothing is recorded */
    struct trv_mpi_state *next;       /* all states of the process */
} trv_mpi_state_t;

/* The state of a communicator, made at the first call (collectively). *state = NULL for an intercommunicator.
 * MPI_SUCCESS, or an error class with a sentence in trv_last_error(). */
int trv_mpi_state_get(MPI_Comm comm, trv_mpi_state_t **state);

/* The state under the drop-in, made at the first call; *state = NULL for an intercommunicator and for one rank. What
 * keeps one rank from having it (memory, too many communicators, no MPI_COMM_WORLD) makes all ranks abandon it. Not
 * configured yet. MPI_SUCCESS, or an error class where not even that could be agreed on. */
int trv_mpi_state_adopt(MPI_Comm comm, trv_mpi_state_t **state);

void trv_mpi_state_hold(trv_mpi_state_t *state);
void trv_mpi_state_release(trv_mpi_state_t *state);

/* The state that an earlier call made; false if there is none, or it is not configured. Local. */
bool trv_mpi_state_known(MPI_Comm comm, trv_mpi_state_t **state);

/* Every state of the process that is enlisted; `visit` must not make or free any. */
void trv_mpi_state_each(void (*visit)(const trv_mpi_state_t *state));

/* TRV_Comm_set. */
int trv_mpi_state_set(trv_mpi_state_t *state, const char *torus, const char *algorithm);

/* The schedule of an algorithm's name, parameters included, for the state's present torus; made at first use, and as
 * long-lived as the state. As trv_schedule_create. */
int trv_mpi_state_schedule(trv_mpi_state_t *state, const char *algorithm, trv_collective_t collective,
                           const trv_schedule_t **schedule);

/* As trv_mpi_state_get, but perhaps not configured: TRV_Comm_set puts right what the environment has wrong. */
int trv_mpi_state_find(MPI_Comm comm, trv_mpi_state_t **state);

/* MPI's error class for a code of the core. */
int trv_mpi_class(int code);

#endif
