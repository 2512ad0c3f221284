/*
 * The inside of a channel, which two files share: posting and cancelling (messages.c), arrivals (arrive.c).
 */
#ifndef TRIVANCE_TRANSPORT_MPI_INSIDE_H
#define TRIVANCE_TRANSPORT_MPI_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/mpi/channel.h"

#ifdef OPEN_MPI
enum { RETURNS_TRUNCATION = 1 };
#else
enum { RETURNS_TRUNCATION = 0 };
#endif

enum {
    SMALL_BYTES = 2048,    /* the longest message of the small kind, where there are two */
    FEW = 4,               /* requests that are tested one by one */
    PATIENCE = 64,         /* polls between two looks for a message of the other kind */
    SEND_POLLS_MAX = 1000, /* of all sends that are cancelled together */
    HEADER_BYTES = 8,      /* of a message in pieces: a uint64_t, its bytes */
    NONE = -1
};

typedef struct slot {
    char *data;        /* where a small message is copied to, or the next piece of a large one goes */
    size_t rest;       /* bytes of a large message that were not found yet; else 0 */
    size_t due;        /* bytes of the pending request … */
    int at;            /* … which is this one; NONE: no request is pending */
    bool cut;          /* it travels in pieces, behind a header */
    bool amid;         /* of such a message the header is received, and not all pieces are */
    uint64_t header;   /* of a send */
    int pieces, piece; /* of `more`, and the next of them */
    int capacity;      /* of `more` */
    MPI_Request *more; /* posted pieces of a send, kept for the next run */
    char *buffer;      /* of SMALL_BYTES, kept */
    int peer, tag;     /* in the communicator; without the kind */
    int lane;          /* the tag as the plan numbers it */
    int before, after; /* slots in the list of the lane's large receives that are not found yet */
    unsigned answered; /* from which look */
    unsigned vain;     /* polls */
    unsigned long order;
    bool sends, small;
    int outcome;   /* the error it has ended with */
    bool suspects; /* a receive: has seen a message of the other kind */
} trv_mpi_slot_t;

struct trv_mpi_channel {
    trv_transport_t transport;
    MPI_Comm comm;
    const int *member;
    size_t piece_bytes;
    int kinds; /* of messages: 2, or 1 where none is cut and truncation is returned */
    int first_tag, slots;
    bool open;
    trv_mpi_slot_t *slot;
    int first[TRV_MPI_LANE_TAGS], last[TRV_MPI_LANE_TAGS]; /* of every lane's list; NONE: empty */
    int amid;                                              /* slots that are */
    int active;                                            /* pending requests, at most one of each slot */
    MPI_Request *request;
    int *owner; /* their slots */
    int *complete;
    MPI_Status *status;
    unsigned looks;
    unsigned long posted;
    unsigned cancel_polls;     /* since the last post */
    bool lost;                 /* a send that was given up may still read a slot's header */
    struct trv_mpi_over *over; /* messages go over the fabric (over_fabric.c), not by the requests above */
    char reason[320];          /* the sentence of the latest error */
};

/* TRV_ERR_UNSUPPORTED where a plan needs more tags than a position has. */
int trv_mpi_channel_check_tags(int tags);
/* Posts the slot's pending request, for `due` of the `bytes` that the buffer holds. */
int trv_mpi_channel_post(trv_mpi_channel_t *channel, int at, int tag, void *data, size_t bytes, size_t due);
/* Moves the last request to the place of one that is complete or given up. */
void trv_mpi_channel_drop(trv_mpi_channel_t *channel, int at);
/* Whether a received message in pieces has begun and not ended. */
void trv_mpi_channel_hold(trv_mpi_channel_t *channel, trv_mpi_slot_t *slot, bool amid);
/* Gives up all that is pending of a slot; false: a send may still read its buffer. */
bool trv_mpi_channel_give_up(trv_mpi_channel_t *channel, int at);
/* Takes a slot out of its lane's list. */
void trv_mpi_channel_unlist(trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot);
/* `test` of the executor's interface. */
int trv_mpi_channel_test(void *context, int base, int at);

#endif
