/*
 * From a star chain to what the streams of a schedule do with it: the order of the steps, the turned and mirrored
 * copies, and the groups that the steps reach.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_STAR_STREAMS_H
#define TRIVANCE_ALGORITHMS_BUILDERS_STAR_STREAMS_H

#include "algorithms/builders/quotient.h"
#include "schedule/arena.h"
#include "schedule/schedule.h"
#include "search/stars/stars.h"

typedef enum trv_star_form { TRV_STAR_SUMS, TRV_STAR_OVERLAP, TRV_STAR_GATHERED } trv_star_form_t;

typedef struct trv_star {
    trv_star_form_t form;
    unsigned whole; /* bit k: step k of the chain sends whole vectors */
    int streams;    /* 1, 2, trv_star_streams_max(torus); or 0: those of the last that differ */
    trv_star_chain_t chain;
} trv_star_t;

/* One stream; step i of `steps` is the schedule's, the first `scatter` of them reduce-scatter, the others are L. */
typedef struct trv_star_stream {
    const trv_star_step_t *star; /* [steps]: what the stream receives from where */
    const trv_shifts_t *shift;   /* [scatter]: the blocks that -v, and 0, move to */
    trv_quotient_t blocks;       /* the torus modulo what the L steps reach: a block for each coset */
    trv_quotient_t *group;       /* [steps]: reduce-scatter: the blocks modulo what the later of these steps reach;
                                    L: the torus modulo what the earlier of these steps reach */
} trv_star_stream_t;

#define TRV_STAR_STREAMS_MAX (2 * TRV_DIMS_MAX)

/* As many streams as balance the links whatever the chain: two, one of them mirrored, for each of the dimensions of the
 * commonest size. */
int trv_star_streams_max(const trv_torus_t *torus);

/* How a schedule does a chain. */
typedef struct trv_star_layout {
    int step[TRV_STAR_STEPS_MAX]; /* the chain's steps in the order of the schedule: reduce-scatter, then L */
    int scatter;                  /* so many reduce-scatter */
    bool ordered;                 /* what the L steps have reached is a subgroup after each of them */
    bool contiguous;              /* so is what the reduce-scatter's steps, backwards, reach with the L steps */
    int streams, plain;           /* the first `plain` streams are not mirrored */
    int image[TRV_STAR_STREAMS_MAX][TRV_DIMS_MAX]; /* of each stream: where it takes every dimension */
} trv_star_layout_t;

void trv_star_lay_out(const trv_star_t *star, trv_star_layout_t *layout);

/* Messages of all streams on the busiest link in a step of the chain, when every rank sends one for every vector. */
int trv_star_link_messages(const trv_star_t *star, const trv_star_layout_t *layout, int step);

typedef struct trv_star_streams {
    trv_star_layout_t layout;
    int steps, vectors_max;
    trv_star_stream_t *stream;
} trv_star_streams_t;

/* Everything lies in the arena. TRV_ERR_MEMORY. */
int trv_star_streams_make(trv_star_streams_t *streams, const trv_star_t *star, trv_arena_t *arena);

/* The rank at `rank` + `vector`, or - vector if `back`. */
int trv_star_peer(const trv_torus_t *torus, int rank, const trv_star_vector_t *vector, bool back);

#endif
