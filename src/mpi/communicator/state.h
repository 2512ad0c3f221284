/*
 * What the library keeps per communicator: whom it consists of, its number in the tags, the torus, the algorithm. It hangs
 * on the program's communicator (attribute.h); plans of the user hold a reference.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_STATE_H
#define TRIVANCE_MPI_COMMUNICATOR_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/algorithms.h>

#include "collective/cache.h"
#include "mpi/communicator/exchange.h"
#include "mpi/communicator/members.h"
#include "mpi/communicator/wiring.h"
#include "mpi/reports/recorder.h"

/* A block of numbers that is taken in a domain, until nobody uses it any more. */
typedef struct trv_mpi_numbers {
    atomic_int references;
    trv_mpi_domain_t *domain;
    int block;
    atomic_bool burnt;               /* messages may be on their way that nobody receives: never given back */
    struct trv_mpi_state *duplicate; /* memory for the states of duplicates, by their index - 1; NULL: none */
} trv_mpi_numbers_t;

/* Of a number's positions the first is the blocking calls', at so many non-blocking requests take turns (request.h), and
 * the others are for persistent ones. */
#define TRV_MPI_TURNS 7
typedef struct trv_mpi_turns {
    unsigned long posted;             /* requests, of all positions: the same on all ranks */
    atomic_ulong done[TRV_MPI_TURNS]; /* requests of each position that are complete here */
} trv_mpi_turns_t;

/* The communicator's numbers: they keep its messages apart from those of others on the domain's communicator. */
typedef struct trv_mpi_ids {
    trv_mpi_numbers_t *numbers;     /* NULL: a duplicate that has none until it is used first */
    int index;                      /* of its number in the block; 0: the others are its to give to duplicates */
    int given;                      /* how many of them it has given */
    int persistent, persistent_max; /* the next position for a persistent request in the block, and where they end */
    trv_mpi_numbers_t *extra;       /* whose positions go to plans, one by one */
    int extra_given;
    trv_mpi_turns_t turns;
} trv_mpi_ids_t;

/* The torus and the algorithm. Duplicates inherit all of it. */
typedef struct trv_mpi_config {
    bool configured;           /* what follows is valid */
    trv_network_t network;     /* whose links are the wiring's: as rank 0 of the world has told them to all */
    bool serves;               /* the torus is known, or is the API's default: a ring */
    char why[TRV_MPI_WHY_MAX]; /* where the torus comes from; where it is not known, the reason */
    unsigned shared_port;      /* bit d: both directions of dimension d share one port */
    const int *member;         /* the rank in the domain at every place of the torus; NULL: the place's number */
    const int *name;           /* the rank in the communicator at every place; NULL: the place's number */
    const int *site;           /* the node of the world at every place, where they form no torus; NULL: they do */
    int place;                 /* this rank's place */
    struct trv_mpi_node *node; /* several ranks share every place, which member[place] leads; NULL: one at each */
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* a name, a family, planned or auto */
    bool named;  /* TRV_Comm_set or a hint named it: no rule of the environment comes before it */
    bool unable; /* this rank has no memory for the torus; the others hear of it (decide.h) */
    bool left;   /* a hint leaves the communicator to the MPI library */
} trv_mpi_config_t;

typedef struct trv_mpi_state {
    MPI_Comm user; /* whose attribute this is; MPI_COMM_NULL after it was freed */
    int rank, ranks;
    int number; /* in the log: counts the communicators of this process */
    atomic_int references;
    bool abandoned;             /* the drop-in leaves this communicator to the MPI library: its ranks agreed on that */
    atomic_bool broken;         /* a collective failed on this rank; never reset */
    trv_mpi_members_t *members; /* NULL where it is abandoned */
    trv_mpi_ids_t ids;
    trv_mpi_config_t config;
    trv_cache_t decisions;              /* trv_mpi_decision_t (selection/instances.h) */
    trv_mpi_recorder_t *recorder;       /* NULL: nothing is recorded */
    struct trv_mpi_state *next, **link; /* all states of the process */
} trv_mpi_state_t;

/* A state of zeros begins, held once. */
void trv_mpi_state_init(trv_mpi_state_t *state, int rank, int ranks);
/* The first of all of the process: at its end, when no other thread makes or frees any. */
trv_mpi_state_t *trv_mpi_states(void);
void trv_mpi_state_hold(trv_mpi_state_t *state);
void trv_mpi_state_release(trv_mpi_state_t *state);

/* The torus and the algorithm: of TRV_Comm_set, or (NULL) what the environment and MPI know. Local, the same on all
 * ranks where the arguments are; whether the algorithm can serve is not asked. MPI_SUCCESS or an error class with the
 * sentence. */
int trv_mpi_state_configure(trv_mpi_state_t *state, const char *torus, const char *algorithm);
/* A torus that is given as text; its number of ranks must be the communicator's. TRV_OK or TRV_ERR_ARGUMENT. */
int trv_mpi_state_torus(const trv_mpi_state_t *state, const char *text, trv_torus_t *torus);

/* 0 if `name` is auto, planned, an algorithm that serves AllReduce on the torus or a family with a member that does;
 * else TRV_ERR_ARGUMENT for what is no name, or TRV_ERR_UNSUPPORTED with the algorithm's own sentence. */
int trv_mpi_algorithm_serves(const trv_network_t *network, const char *name);

/* The network where no torus is set, for what `algorithm` (NULL: nothing) names. That a grid has no wrap-around is MPI's
 * word alone, and about the program rather than the machine: a name that its mesh does not serve gets a ring of the ranks.
 * TRV_ERR_MEMORY, perhaps on this rank alone. */
int trv_mpi_state_network(const trv_mpi_state_t *state, const char *algorithm, trv_network_t *network);

/* Whether it has as many ranks as MPI_COMM_WORLD: what the environment asks for must fit it. */
bool trv_mpi_state_spans_world(const trv_mpi_state_t *state);

/* A position of its own for a persistent request: its tags begin at *tag until `numbers` is released. Without a word to
 * the other ranks, which make them in the same order. False, on all ranks alike, where there is none left. */
bool trv_mpi_state_persistent(trv_mpi_state_t *state, trv_mpi_numbers_t **numbers, int *tag);
/* Whether a position is left for another persistent request. */
bool trv_mpi_state_has_persistent(const trv_mpi_state_t *state);
void trv_mpi_numbers_release(trv_mpi_numbers_t *numbers);
/* The first tag of a position of the block. */
static inline int trv_mpi_numbers_tag(const trv_mpi_numbers_t *numbers, int position)
{
    return (numbers->block * TRV_MPI_BLOCK * TRV_MPI_POSITIONS + position) * TRV_MPI_POSITION_TAGS;
}
/* Its number is that of `index` in the block, from now on. */
void trv_mpi_state_number(trv_mpi_state_t *state);
/* The first tag of a position of the state's own number: 0 for blocking calls, 1 … TRV_MPI_TURNS. */
static inline int trv_mpi_state_tag(const trv_mpi_state_t *state, int position)
{
    return trv_mpi_numbers_tag(state->ids.numbers, state->ids.index * TRV_MPI_POSITIONS + position);
}

/* Its ranks, for exchanges (exchange.h). */
trv_mpi_circle_t trv_mpi_state_circle(const trv_mpi_state_t *state);

/* Breaks the communicator on this rank, permanently. */
void trv_mpi_state_break(trv_mpi_state_t *state);
/* This rank has no memory for its part of a collective in which the other ranks take part: breaks the communicator, and
 * returns TRV_ERR_MEMORY. */
int trv_mpi_state_fail_memory(trv_mpi_state_t *state);
/* The error of later calls on it. */
int trv_mpi_state_broken(void);

/* "comm 4 (64 ranks, 8x8m)" */
#define TRV_MPI_WHERE_MAX (80 + TRV_TORUS_TEXT_MAX)
const char *trv_mpi_state_where(const trv_mpi_state_t *state, char text[TRV_MPI_WHERE_MAX]);

/* MPI's error class for a code of the core. */
int trv_mpi_class(int code);

#endif
