/*
 * One call of a random program. It is drawn identically on all ranks of its communicator, posted, completed, repeated
 * with the PMPI_ functions, and compared.
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
    int ranks, rank, blocks, leader; /* blocks: received by an AllGather, those of the other group */
    element_t element;
    int count, *counts; /* of a block; of all blocks if they differ */
    bool in_place, referenced;
    size_t in, out; /* elements */
    char *input;    /* contiguous elements */
    char *wanted;
    layout_t send, receive;
    MPI_Request request;
    int round;            /* of a persistent call */
    double entered, left; /* seconds, of a blocking barrier */
    uint64_t seed, hash;  /* hash of all results that must be the same on all ranks */
} call_t;

/* Whether references are computed by other collectives than the tested ones, because a component of the MPI library
 * also executes the PMPI_ functions. */
extern bool call_apart;

call_t call_draw(draw_t *draw, const comm_t *comm);
/* Draws new values. It must be called after call_draw and before the call is posted or started. */
void call_fill(call_t *call);
/* Posts the call. A blocking call is then complete; a persistent one is created, and is started by MPI_Start. */
void call_post(call_t *call);
/* Computes the reference result. It is blocking, so all ranks must call it in the same order. */
void call_reference(call_t *call);
/* Returns NULL if the result of the completed call is right; otherwise `text`, with a description of the error. */
const char *call_check(call_t *call, char *text, size_t size);
void call_free(call_t *call);

#endif
