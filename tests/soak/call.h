/*
 * One call of a random program: drawn alike on all ranks of its communicator, posted, completed, done once more by the
 * PMPI_ functions, compared.
 */
#ifndef TRIVANCE_TESTS_SOAK_CALL_H
#define TRIVANCE_TESTS_SOAK_CALL_H

#include "comms.h"
#include "layout.h"

typedef enum collective { ALLREDUCE, REDUCE_SCATTER_BLOCK, REDUCE_SCATTER, ALLGATHER, BARRIER } collective_t;
typedef enum form { BLOCKING, NONBLOCKING, PERSISTENT } form_t;

typedef struct call {
    collective_t collective;
    form_t form;
    const comm_t *comm;
    bool inter;
    int ranks, rank, blocks, leader; /* blocks that an AllGather brings: from the other group of an intercommunicator */
    element_t element;
    int count, *counts; /* of a block; of all blocks where they differ */
    bool in_place, referenced;
    size_t in, out; /* elements */
    char *input;    /* one element behind the other */
    char *wanted;
    layout_t send, receive;
    MPI_Request request;
    int round;            /* of a persistent call */
    double entered, left; /* seconds, of a blocking barrier */
    uint64_t seed, hash;  /* hash: of all results that are the same on all ranks */
} call_t;

/* Whether references are made by functions of other names than those that are tested: a component of the MPI library
 * serves the PMPI_ functions, too. */
extern bool call_apart;

call_t call_draw(draw_t *draw, const comm_t *comm);
/* New values, which call_draw's call needs before it is posted or started. */
void call_fill(call_t *call);
/* A blocking call is complete then; a persistent one is made, and started by MPI_Start. */
void call_post(call_t *call);
/* Blocking, so in the same order on all ranks. */
void call_reference(call_t *call);
/* NULL where the complete call's result is right; else what is wrong, in `text`. */
const char *call_check(call_t *call, char *text, size_t size);
void call_free(call_t *call);

#endif
