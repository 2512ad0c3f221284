/*
 * The steps of growing windows: AllReduce on one ring (docs/windows.md).
 *
 * A rank holds the sum over a *window* of its neighbours, displacements lo … hi around it. In a step it receives *runs*
 * of other ranks' windows, as sums, that are adjacent to its own window, so that the window grows until it covers the
 * ring. A sum cannot be split again: if a later step needs only a part of a window, this part must be kept separate
 * from the start. The boundaries of such parts are *cuts*. windows.c computes the cuts backwards in time, and from them
 * the contents of every register, the vectors of every message and the combines after each step.
 *
 *     window of length 5, growing by 2:2          -4 -3 [-2 -1  0  1  2] 3  4
 *     from rank + 2 comes its suffix of length 2                         ----
 *     from rank - 2 comes its prefix of length 2  -----
 *
 * Window steps are translation-invariant, that is, the same for every rank, so they contain displacements only. They do
 * not depend on a torus: the ring may be a dimension of a torus, or every g-th rank of one. windows_torus.c composes
 * the window steps of several rings.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_WINDOWS_H
#define TRIVANCE_ALGORITHMS_BUILDERS_WINDOWS_H

#include "algorithms/builders/stage.h"

#define TRV_WINDOW_STEPS_MAX    19 /* ceil(log3 2^30) */
#define TRV_WINDOW_REACH_MAX    8  /* messages from each side in a step */
#define TRV_WINDOW_MESSAGES_MAX (2 * TRV_WINDOW_REACH_MAX)
#define TRV_WINDOW_VECTORS_MAX  2 /* sums in one message */

/* A message that every rank sends in a step to rank - peer. Every rank therefore receives one from rank + peer. */
typedef struct trv_window_message {
    /* displacement of the sender; in the receiver's displacements the data covers peer + lo … peer + hi */
    int peer;
    int sign;                            /* direction of travel, +1 or -1 */
    int lo, hi;                          /* the run of the sender's window that the message carries */
    int vectors;                         /* number of sums that the run consists of, ordered from lo to hi */
    int send[TRV_WINDOW_VECTORS_MAX];    /* the sender's register of each sum */
    int receive[TRV_WINDOW_VECTORS_MAX]; /* the receiver's register of each sum */
} trv_window_message_t;

#define TRV_WINDOW_SOURCES_MAX (TRV_WINDOW_MESSAGES_MAX + 1)

/* register dst := source[0] + source[1] …, in the order of the ring */
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
    int registers; /* register 0 holds the rank's own value before the first step and the result after the last */
    bool whole;    /* only register 0 is held between steps, so steps of other dimensions may be in between */
    trv_window_step_t step[TRV_WINDOW_STEPS_MAX];
} trv_window_steps_t;

/* The window steps for a ring of `size` >= 1, ceil(log3 size) of them. `reach`: the maximum number of messages from
 * each side in a step; others than trv_window_steps_trivance ignore it. NULL with trv_last_error() set when out of
 * memory. */
typedef trv_window_steps_t *trv_window_maker_t(int size, int reach);
/* windows grow in both directions, by trv_window_growths; with a reach K > 1 by up to K windows on each side, in
 * ceil(log_(2K+1) size) steps */
trv_window_maker_t trv_window_steps_trivance;
/* the paper's distances with whole windows, which overlap: only for idempotent operations */
trv_window_maker_t trv_window_steps_overlap;
/* windows grow in one direction, by sums from ranks - 3^k and - 2 * 3^k */
trv_window_maker_t trv_window_steps_bruck;
void trv_window_steps_destroy(trv_window_steps_t *windows);

/* ---- Growths (windows_search.c) ---------------------------------------------------------------------------------- */

/* The growth of a window in one step: by a suffix of length `right` of the window of the rank at + right, and by a
 * prefix of length `left` of that of the rank at - left. */
typedef struct trv_growth {
    int right, left;
} trv_growth_t;

/* Chooses the growths for Trivance on a ring of `size`; returns the number of steps, ceil(log3 size). `operations`, if
 * not NULL, is set to the number of operations of the search, which is bounded (TRV_WINDOW_OPERATIONS_MAX) and the same
 * on every rank. */
#define TRV_WINDOW_OPERATIONS_MAX 560000
int trv_window_growths(int size, trv_growth_t growth[TRV_WINDOW_STEPS_MAX], int *operations);

/* The paper's growths: 3^k, and in the last step half of the missing values on each side. Messages have at most two
 * vectors, whatever the size. */
int trv_window_growths_paper(int size, trv_growth_t growth[TRV_WINDOW_STEPS_MAX]);

/* The window steps with these growths. The sum of the growths must be size - 1, and each must be at most `reach`
 * windows. NULL when out of memory, or if a message would need more than TRV_WINDOW_VECTORS_MAX vectors. */
trv_window_steps_t *trv_window_steps_grow(int size, int reach, const trv_growth_t *growth);

/* ---- On a torus (windows_torus.c) -------------------------------------------------------------------------------- */

/* The stage in which every stream executes the window steps of all dimensions of the lattice. If the windows of all
 * dimensions are `whole`, stream i works on dimension (i + t) mod D in step t, and completed dimensions are skipped;
 * otherwise it completes dimension i before it continues with i + 1. `share_port`: two messages of a rank may leave
 * through one port. NULL when out of memory. */
trv_stage_t *trv_windows_stage(const trv_stage_lattice_t *lattice, trv_window_maker_t *maker, int reach,
                               bool share_port);

#endif
