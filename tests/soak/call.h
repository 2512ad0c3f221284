/*
 * One call of a random program. It is drawn identically on all ranks of its communicator, posted, completed, and
 * compared with the expected result, which each rank computes from the contributions of all ranks.
 */
#ifndef TRIVANCE_TESTS_SOAK_CALL_H
#define TRIVANCE_TESTS_SOAK_CALL_H

#include "comms.h"
#include "functions.h"
#include "layout.h"

typedef enum collective {
    ALLREDUCE,
    REDUCE,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    BROADCAST,
    ALLGATHER,
    ALLGATHERV,
    GATHER,
    SCATTER,
    ALLTOALL,
    BARRIER,
    COLLECTIVES
} collective_t;

typedef enum form { BLOCKING, NONBLOCKING, PERSISTENT } form_t;

/* The data of a rank before or after a collective: one block, or one block per rank; on every rank or on the root. */
typedef enum data { NO_DATA, BLOCK, ALL_BLOCKS, ROOT_BLOCK, ROOT_ALL_BLOCKS } data_t;

typedef struct kind {
    const char *name;
    data_t input, output;
    int weight; /* relative frequency */
    bool reduces;
    bool same;  /* all ranks have the same output */
    bool inter; /* is also drawn for intercommunicators; their groups may differ in size */
    bool counts, displaced;
    layout_rule_t layout;
} kind_t;

typedef struct call {
    collective_t collective;
    const kind_t *kind;
    form_t form;
    const comm_t *comm;
    bool inter;
    int ranks, rank, leader;       /* of the local group */
    int giver_ranks, giver_leader; /* of the group that contributes to the result: the remote one, or the local one */
    int root;                      /* 0 if the collective has none */
    element_t element;
    int count, *counts; /* counts: of the block of each contributing rank */
    size_t offset;      /* elements of the blocks before that of this rank */
    bool in_place;
    size_t in, out; /* elements of input and output; 0 on a rank that has none */
    layout_t send, receive;
    request_t request;
    request_count_t *request_counts; /* copies for non-blocking and persistent calls */
    request_displacement_t *request_displacements;
    int round;            /* of a persistent call */
    double entered, left; /* seconds, of a blocking barrier */
    uint64_t seed, hash;  /* hash of all results that must be the same on all ranks */
} call_t;

call_t call_draw(draw_t *draw, const comm_t *comm);
/* Draws new values. It must be called after call_draw and before the call is posted or started. */
void call_fill(call_t *call);
/* Posts the call. A blocking call is then complete; a persistent one is created, and is started by the function Start.
 * Returns the return value of the function. */
int call_post(call_t *call);
/* Writes elements `first` to `first` + `count` - 1 of the input of rank `giver` of the contributing group. */
void call_input(const call_t *call, int giver, size_t first, size_t count, void *to);
/* Writes the expected output: `out` elements. Local. */
void call_expect(const call_t *call, void *output);
/* Returns NULL if the result of the completed call is right; otherwise `text`, with a description of the error. */
const char *call_check(call_t *call, char *text, size_t size);
void call_describe(const call_t *call, char *text, size_t size, const char *wrong);
void call_free(call_t *call);

#endif
