/*
 * The library's state of a communicator: its ranks, its context id, the torus, the algorithm and the decisions. It is
 * an attribute of the program's communicator (attribute.h); plans of the user hold a reference.
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
#include "collective/recorder.h"

/* A block of context ids of a domain, reserved while it has references. */
typedef struct trv_mpi_context_ids {
    atomic_int references;
    trv_mpi_domain_t *domain;
    int block;
    atomic_bool poisoned;            /* messages may be in flight that no rank receives: the block is never reused */
    struct trv_mpi_state *duplicate; /* memory for the states of duplicates, at ids.index - 1; NULL: none */
} trv_mpi_context_ids_t;

/* A context id has TRV_MPI_POSITIONS positions, which are ranges of tags. Position 0 is for blocking calls; the next
 * TRV_MPI_REQUEST_POSITIONS are for non-blocking requests, which use them in rotation (request.h); the others are for
 * persistent requests. */
#define TRV_MPI_REQUEST_POSITIONS 7
typedef struct trv_mpi_request_counts {
    unsigned long posted;                         /* number of requests at all positions; the same on all ranks */
    atomic_ulong done[TRV_MPI_REQUEST_POSITIONS]; /* number of completed requests of this rank, by position */
} trv_mpi_request_counts_t;

/* The communicator's context ids. They separate its messages from those of other communicators in the domain. */
typedef struct trv_mpi_ids {
    trv_mpi_context_ids_t *context_ids; /* NULL: a duplicate that gets a context id at its first use */
    int index;                          /* of its context id in the block; 0: this communicator allocates the others */
    int allocated;                      /* the number of context ids that it has allocated from the block */
    int persistent, persistent_max;     /* the next position for a persistent request in the block, and the limit */
    trv_mpi_context_ids_t *extra;       /* a block for plans, which get one position each */
    int extra_allocated;                /* the number of these positions that are allocated */
    trv_mpi_request_counts_t requests;
} trv_mpi_ids_t;

/* The torus and the algorithm. Duplicates inherit all of it. */
typedef struct trv_mpi_config {
    bool configured;                 /* the other members are valid */
    trv_network_t network;           /* its slow links are owned by the wiring (members->wiring) */
    bool torus_known;                /* the torus is known, or is the API's default: a ring */
    char reason[TRV_MPI_REASON_MAX]; /* the source of the torus, or the reason why it is not known */
    unsigned shared_port;            /* bit d: both directions of dimension d share one port */
    const int *member;               /* the rank in the domain at every torus coordinate; NULL: the same number */
    const int *comm_rank;            /* the rank in the communicator at every coordinate; NULL: the same number */
    const int *machine_node;         /* if the nodes form no torus: the machine node at every coordinate; else NULL */
    int coordinate;                  /* the coordinate of this rank */
    struct trv_mpi_node *node;       /* the ranks at this coordinate, led by member[coordinate]; NULL: one rank */
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* a name, a family, planned or auto */
    bool algorithm_named;                   /* TRV_Comm_set or a hint set `algorithm`: it takes precedence over rules */
    bool out_of_memory;   /* this rank has no memory for the torus; it reports that in the next decision (decide.h) */
    bool left_to_library; /* a hint leaves the communicator to the MPI library */
} trv_mpi_config_t;

typedef struct trv_mpi_state {
    MPI_Comm user; /* the program's communicator, not owned; MPI_COMM_NULL after it was freed */
    int rank, ranks;
    int number; /* for the log: a sequence number within this process */
    atomic_int references;
    bool abandoned;             /* under the drop-in all calls fall back to the MPI library, on all ranks */
    atomic_bool broken;         /* a collective failed on this rank; never reset */
    trv_mpi_members_t *members; /* may be NULL if `abandoned` is set */
    trv_mpi_ids_t ids;
    trv_mpi_config_t config;
    trv_cache_t decisions;              /* trv_mpi_decision_t (selection/instances.h) */
    trv_cache_t roots;                  /* decisions that are prepared for further roots (selection/roots.h) */
    trv_recorder_t *recorder;           /* NULL: calls are not recorded */
    struct trv_mpi_state *next, **link; /* the list of all states of the process */
} trv_mpi_state_t;

/* Initializes a state whose bytes are all 0, and gives it one reference. */
void trv_mpi_state_init(trv_mpi_state_t *state, int rank, int ranks);
/* The head of the list of all states. Only for MPI_Finalize, when no other thread creates or frees states. */
trv_mpi_state_t *trv_mpi_states(void);
void trv_mpi_state_hold(trv_mpi_state_t *state);
void trv_mpi_state_release(trv_mpi_state_t *state);

/* Sets the torus and the algorithm: the arguments of TRV_Comm_set or, for NULL, those of the environment and MPI.
 * Local; all ranks must pass the same arguments, and then get the same result. The algorithm is not checked.
 * MPI_SUCCESS, or an error class with the message in trv_last_error(). */
int trv_mpi_state_configure(trv_mpi_state_t *state, const char *torus, const char *algorithm);
/* Parses a torus, which must have as many ranks as the communicator. TRV_OK or TRV_ERR_ARGUMENT. */
int trv_mpi_state_torus(const trv_mpi_state_t *state, const char *text, trv_torus_t *torus);

/* Checks the name of an algorithm. TRV_OK if it is auto, planned, an algorithm that supports a collective on the
 * network, or a family with such an algorithm. TRV_ERR_ARGUMENT if it is no name; TRV_ERR_UNSUPPORTED with the
 * algorithm's message in trv_last_error(); TRV_ERR_MEMORY. */
int trv_mpi_algorithm_fits(const trv_network_t *network, const char *name);

/* The network of a communicator for which TRV_Comm_set set no torus, for the algorithm that `algorithm` names (NULL:
 * none). A mesh from a Cartesian communicator describes the program, not the machine, so it is not binding: if it does
 * not support the algorithm, the result is a ring of the ranks. TRV_OK, or TRV_ERR_MEMORY, which may occur on one rank
 * only. */
int trv_mpi_state_network(const trv_mpi_state_t *state, const char *algorithm, trv_network_t *network);

/* Whether the communicator has as many ranks as MPI_COMM_WORLD; then the torus and the algorithm of the environment
 * must fit it. */
bool trv_mpi_state_spans_world(const trv_mpi_state_t *state);

/* Allocates a position for a persistent request: the tags from *tag on belong to it until `context_ids` is released.
 * Needs no communication, because all ranks create persistent requests in the same order. False, on all ranks, if none
 * is left. */
bool trv_mpi_state_allocate_persistent(trv_mpi_state_t *state, trv_mpi_context_ids_t **context_ids, int *tag);
/* Whether a position is left for another persistent request. */
bool trv_mpi_state_has_persistent(const trv_mpi_state_t *state);
void trv_mpi_context_ids_release(trv_mpi_context_ids_t *context_ids);
/* The first tag of a position, counted from the start of the block. */
static inline int trv_mpi_context_ids_tag(const trv_mpi_context_ids_t *context_ids, int position)
{
    return (context_ids->block * TRV_MPI_BLOCK_IDS * TRV_MPI_POSITIONS + position) * TRV_MPI_POSITION_TAGS;
}
/* Initializes the positions for persistent requests, after ids.context_ids and ids.index were set. */
void trv_mpi_state_init_positions(trv_mpi_state_t *state);
/* The first tag of a position of the state's context id: 0 for blocking calls, 1 … TRV_MPI_REQUEST_POSITIONS for
 * requests. */
static inline int trv_mpi_state_tag(const trv_mpi_state_t *state, int position)
{
    return trv_mpi_context_ids_tag(state->ids.context_ids, state->ids.index * TRV_MPI_POSITIONS + position);
}

/* The communicator's ranks as an out-of-band group (exchange.h). */
trv_mpi_oob_t trv_mpi_state_oob(const trv_mpi_state_t *state);

/* Breaks the communicator on this rank, permanently. */
void trv_mpi_state_break(trv_mpi_state_t *state);
/* For a rank that has no memory for its part of a collective in which other ranks take part: breaks the communicator
 * and returns TRV_ERR_MEMORY. */
int trv_mpi_state_fail_memory(trv_mpi_state_t *state);
/* Sets and returns the error of later calls on a broken communicator. */
int trv_mpi_state_broken(void);

/* The communicator as it is named in the log, for example "comm 1 (64 ranks, 8x8m)" if it has the ranks of
 * MPI_COMM_WORLD, otherwise "comm 4 'rows' of ranks 0,8,16,… (8 ranks, 8)". The number counts the communicators of the
 * process, so ranks may have different numbers for the same communicator. */
#define TRV_MPI_LABEL_MAX (190 + TRV_TORUS_TEXT_MAX)
const char *trv_mpi_state_label(const trv_mpi_state_t *state, char text[TRV_MPI_LABEL_MAX]);

/* MPI's error class for an error code of the core. */
int trv_mpi_class(int code);

#endif
