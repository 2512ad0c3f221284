/*
 * Window plans: how the ranks of one ring add everything up by growing windows (docs/windows.md).
 *
 * A rank holds the sum over a *window* of its neighbours, displacements lo … hi around it. In a step it receives
 * *runs* of other ranks' windows, as sums, that lie next to its own, and so the window grows until it is the ring. A
 * sum cannot be split again: where a later step needs only a part of a window, the part must have been kept apart from
 * the start. Those places are *cuts*; windows.c works them out backwards in time, and from them what a rank keeps in
 * which register, which vectors a message carries and what is combined after each step.
 *
 *     window of length 5, growing by 2:2          -4 -3 [-2 -1  0  1  2] 3  4
 *     from rank + 2 comes its suffix of length 2                         ----
 *     from rank - 2 comes its prefix of length 2  -----
 *
 * Everything is the same for every rank (translation-invariant), so a plan speaks of displacements only. It knows no
 * torus: the ring may be a dimension of one, or every g-th rank of one. windows_torus.c puts plans together.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_WINDOWS_H
#define TRIVANCE_ALGORITHMS_BUILDERS_WINDOWS_H

#include "algorithms/builders/stage.h"

#define TRV_WINDOW_STEPS_MAX    19 /* ceil(log3 2^30) */
#define TRV_WINDOW_MESSAGES_MAX 2
#define TRV_WINDOW_VECTORS_MAX  2 /* in one message */

/* A message that every rank sends in a step, to rank - peer, and so receives from rank + peer. */
typedef struct trv_window_message {
    int peer;                            /* displacement; the result covers peer + lo … peer + hi of the receiver */
    int sign;                            /* direction of travel, +1 or -1 */
    int lo, hi;                          /* the run of the sender's window that it carries */
    int vectors;                         /* sums that make it up, from lo to hi */
    int send[TRV_WINDOW_VECTORS_MAX];    /* the sender's register of each */
    int receive[TRV_WINDOW_VECTORS_MAX]; /* the receiver's */
} trv_window_message_t;

#define TRV_WINDOW_SOURCES_MAX 3

/* register dst := source[0] + …, in the order of the ring. */
typedef struct trv_window_combine {
    int dst, sources, source[TRV_WINDOW_SOURCES_MAX];
} trv_window_combine_t;

typedef struct trv_window_step {
    int lo, hi; /* the window before the step */
    int messages;
    trv_window_message_t message[TRV_WINDOW_MESSAGES_MAX];
    int combines;
    trv_window_combine_t *combine;
} trv_window_step_t;

typedef struct trv_window_steps {
    int size, steps;
    int registers; /* register 0 has the own value before the first step and the result after the last */
    bool whole;    /* between steps only register 0 is held: steps of other dimensions may come in between */
    trv_window_step_t step[TRV_WINDOW_STEPS_MAX];
} trv_window_steps_t;

/* A plan for a ring of `size` >= 1 in ceil(log3 size) steps. NULL with trv_last_error() set when out of memory. */
typedef trv_window_steps_t *trv_window_maker_t(int size);
trv_window_maker_t trv_window_steps_trivance; /* grows both ways, by trv_window_growths */
trv_window_maker_t trv_window_steps_overlap;  /* the paper's distances, full windows, which overlap: idempotent only */
trv_window_maker_t trv_window_steps_bruck;    /* grows one way, from ranks - 3^k and - 2 * 3^k */
void trv_window_steps_destroy(trv_window_steps_t *plan);

/* ---- Growths (windows_search.c) ---------------------------------------------------------------------------------- */

/* By how much a window grows in one step: a suffix of the peer at + right, a prefix of the peer at - left. */
typedef struct trv_growth {
    int right, left;
} trv_growth_t;

/* Chooses the growths for Trivance on a ring of `size`; returns the number of steps, ceil(log3 size). `operations`, if
 * not NULL, is set to the work done, which is bounded (TRV_WINDOW_OPERATIONS_MAX) and the same on every rank. */
#define TRV_WINDOW_OPERATIONS_MAX 560000
int trv_window_growths(int size, trv_growth_t growth[TRV_WINDOW_STEPS_MAX], int *operations);

/* The paper's growths, 3^k and last what is missing, halved: at most two vectors per message, whatever the size. */
int trv_window_growths_paper(int size, trv_growth_t growth[TRV_WINDOW_STEPS_MAX]);

/* The plan that grows by these; their sum must be size - 1, each at most the window. NULL too where a message would
 * need more than TRV_WINDOW_VECTORS_MAX vectors. */
trv_window_steps_t *trv_window_steps_grow(int size, const trv_growth_t *growth);

/* ---- On a torus (windows_torus.c) -------------------------------------------------------------------------------- */

/* The stage in which every stream runs the plans of all dimensions of the lattice. Where all plans are `whole`, stream i
 * works on dimension (i + t) mod D in step t, and dimensions that are done are skipped; elsewhere it finishes dimension
 * i before it goes on to i + 1. `messages_per_port` as in a schedule. NULL when out of memory. */
trv_stage_t *trv_windows_stage(const trv_lattice_t *lattice, trv_window_maker_t *maker, int messages_per_port);

#endif
