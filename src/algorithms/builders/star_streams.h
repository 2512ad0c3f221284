/*
 * The streams of a star schedule, derived from its chain: the order of the steps, the mirrored streams and those with
 * permuted dimensions, and the groups that the steps reach.
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
    int streams;    /* 1, 2, trv_star_streams_max(torus), or 0: the distinct ones of that maximum */
    trv_star_chain_t chain;
} trv_star_t;

/* One stream. The first `scatter` of its `steps` steps are a reduce-scatter, the others are L. */
typedef struct trv_star_stream {
    const trv_star_step_t *star; /* [steps]: the displacements from which the stream receives */
    const trv_shifts_t *shift;   /* [scatter]: the displacements of blocks: -v for every vector v of the step, and 0 */
    trv_quotient_t blocks;       /* the torus modulo what the L steps reach: there is one block per coset */
    /* [steps]: in the reduce-scatter the blocks modulo what the later of its steps reach; in L the torus modulo what
     * the earlier L steps reach */
    trv_quotient_t *group;
} trv_star_stream_t;

#define TRV_STAR_STREAMS_MAX (2 * TRV_DIMS_MAX)

/* A number of streams that balances the links for every chain: a stream and its mirror for each of the dimensions of
 * the most frequent size. */
int trv_star_streams_max(const trv_torus_t *torus);

/* The arrangement of a chain's steps and streams in a schedule. */
typedef struct trv_star_layout {
    int step[TRV_STAR_STEPS_MAX]; /* the chain's steps in the order of the schedule: reduce-scatter, then L */
    int scatter;                  /* number of reduce-scatter steps */
    bool ordered;                 /* the L steps executed so far reach a subgroup after each step */
    bool contiguous;              /* likewise the reduce-scatter's steps in reverse order, together with the L steps */
    int streams, plain;           /* the first `plain` of the streams are not mirrored */
    int image[TRV_STAR_STREAMS_MAX][TRV_DIMS_MAX]; /* per stream: the dimension to which it maps each dimension */
} trv_star_layout_t;

void trv_star_layout_make(const trv_star_t *star, trv_star_layout_t *layout);

/* The number of messages, of all streams, on the busiest link in a step of the chain, if every rank sends one message
 * per vector. */
int trv_star_link_messages(const trv_star_t *star, const trv_star_layout_t *layout, int step);

typedef struct trv_star_streams {
    trv_star_layout_t layout;
    int steps, vectors_max;
    trv_star_stream_t *stream;
} trv_star_streams_t;

/* Creates the streams; all memory is allocated from the arena. TRV_ERR_MEMORY. */
int trv_star_streams_make(trv_star_streams_t *streams, const trv_star_t *star, trv_arena_t *arena);

/* The rank at displacement `vector` from `rank`, or at -`vector` if `back` is set. */
int trv_star_peer(const trv_torus_t *torus, int rank, const trv_star_vector_t *vector, bool back);

#endif
