/*
 * The internal data of a channel, for posting and cancelling (messages.c), arrivals (arrivals.c) and libfabric
 * (fabric_channel.c).
 */
#ifndef TRIVANCE_TRANSPORT_MPI_INSIDE_H
#define TRIVANCE_TRANSPORT_MPI_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/mpi/channel.h"
#include "transport/mpi/mpi_library.h"

/* Whether MPI is known to return an error for a receive that is too short, as the standard requires, rather than to end
 * the job. */
static inline bool returns_truncation(void) { return trv_mpi_library() == TRV_OPEN_MPI; }

enum {
    SMALL_BYTES = 2048,    /* the maximum size of a small message, if there are two kinds */
    TESTED_ALONE_MAX = 4,  /* the maximum number of requests that are tested separately */
    PROBE_INTERVAL = 64,   /* polls between two looks for a message of the other kind */
    SEND_POLLS_MAX = 1000, /* polls before sends are abandoned, in total for the sends cancelled together */
    HEADER_BYTES = 8,      /* the header of a message in fragments: its length, a uint64_t */
    NONE = -1
};

/* One send or receive of the plan. */
typedef struct trv_mpi_slot {
    char *data;              /* the destination of a small message, or of the next fragment of a large one */
    size_t remaining;        /* bytes of a large message for which no receive was posted yet; else 0 */
    size_t expected;         /* expected bytes of the pending request */
    int at;                  /* index of the pending request in the channel's array; NONE: no request is pending */
    bool is_fragmented;      /* the message is sent as a header and fragments */
    bool partial;            /* a receive of such a message: the header was received, but not all fragments */
    uint64_t header;         /* of a send */
    int fragments, fragment; /* entries of `fragment_request`, and the index of the next one to be tested */
    int capacity;            /* of `fragment_request` */
    MPI_Request *fragment_request; /* requests of a send's fragments; the memory is kept for later runs */
    char *buffer;                  /* SMALL_BYTES for a small message; the memory is kept for later runs */
    int peer, tag;                 /* the rank in the communicator, and the tag for small messages */
    int lane;                      /* the plan's number of the tag */
    int previous, next;    /* neighbours in the list of large receives with the same tag that are not posted yet */
    unsigned tested_round; /* value of `test_rounds` when the slot was last tested */
    unsigned failed_polls; /* number of unsuccessful polls */
    unsigned long order;   /* sequence number in the order of posting */
    bool sends, small;
    int outcome;           /* TRV_OK, or the error with which the slot ended */
    bool other_kind_found; /* a receive: the previous look found a message of the other kind */
} trv_mpi_slot_t;

struct trv_mpi_channel {
    trv_transport_t transport;
    MPI_Comm comm;
    const int *member;
    size_t fragment_bytes;
    int kinds; /* number of kinds of messages: 1 if MPI returns truncation and no message has fragments, else 2 */
    int first_tag, slots;
    bool open;
    trv_mpi_slot_t *slot;
    int first[TRV_MPI_LANE_TAGS], last[TRV_MPI_LANE_TAGS]; /* ends of each tag's list of slots; NONE: empty */
    int partial;                                           /* number of slots for which `partial` is set */
    int active;                                            /* number of pending requests, at most one per slot */
    MPI_Request *request;
    int *owner; /* the slot of each request */
    int *complete;
    MPI_Status *status;
    unsigned test_rounds;                          /* number of tests of all requests together */
    unsigned long posted;                          /* number of posted messages */
    unsigned cancel_polls;                         /* polls for cancelled sends since the last post */
    bool send_abandoned;                           /* an abandoned send may still read a slot's header */
    struct trv_mpi_fabric_channel *fabric_channel; /* if not NULL, libfabric sends the messages, not MPI */
    char reason[320];                              /* the message of the latest error */
};

/* TRV_OK, or TRV_ERR_UNSUPPORTED if a plan needs more tags than a position has. */
int trv_mpi_channel_check_tags(int tags);
/* Posts a request with a buffer of `bytes`, which becomes the slot's pending request; `expected` bytes are expected.
 * TRV_OK or an error. */
int trv_mpi_channel_post(trv_mpi_channel_t *channel, int at, int tag, void *data, size_t bytes, size_t expected);
/* Removes request `at`, which is complete or abandoned, from the array: the last request replaces it. */
void trv_mpi_channel_drop_request(trv_mpi_channel_t *channel, int at);
/* Sets slot->partial, and updates the number of such slots. */
void trv_mpi_channel_set_partial(trv_mpi_channel_t *channel, trv_mpi_slot_t *slot, bool partial);
/* Cancels or abandons all pending requests of a slot. False: a send may still read its buffer. */
bool trv_mpi_channel_cancel_slot(trv_mpi_channel_t *channel, int at);
/* Removes a slot from the list of large receives with its tag. */
void trv_mpi_channel_unlist(trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot);
/* The function `test` of trv_transport_t. */
int trv_mpi_channel_test(void *context, int base, int at);

#endif
