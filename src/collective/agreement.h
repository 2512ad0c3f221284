/*
 * Agreement of the ranks of a communicator on how calls with an operation signature are executed. Rank 0 broadcasts its
 * decision, all ranks prepare it, and then vote whether they can execute it. So all ranks have the decision before the
 * first message of its schedule, and either all ranks execute it or none does. Memory is allocated before the vote,
 * because allocation can fail on a single rank.
 */
#ifndef TRIVANCE_COLLECTIVE_AGREEMENT_H
#define TRIVANCE_COLLECTIVE_AGREEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/decision.h"
#include "collective/group.h"

typedef enum trv_vote_result {
    TRV_DECIDED,
    TRV_DIFFER,       /* no decision: the ranks' calls differ */
    TRV_UNABLE,       /* no decision: a rank has no memory, or an exchange failed */
    TRV_UNSATISFIABLE /* no decision: the settings cannot be satisfied */
} trv_vote_result_t;

/* The first argument that differs between the ranks' calls. */
typedef enum trv_difference {
    TRV_NO_DIFFERENCE,
    TRV_OTHER_COLLECTIVE,
    TRV_OTHER_BLOCKS,
    TRV_OTHER_ROOT,
    TRV_OTHER_SIGNATURE,
    TRV_OTHER_COUNT
} trv_difference_t;

/* The arguments that all ranks must pass alike. */
typedef struct trv_vote_call {
    trv_collective_t collective;
    int root;              /* 0 if the collective has none */
    uint64_t signature;    /* a hash of type and operation, the same on all ranks */
    uint64_t count, bytes; /* elements; bytes of the whole vector */
    size_t element_bytes;
    uint64_t blocks; /* a hash of the sizes of blocks, at most TRV_WORD_MAX; 0: they are equal */
} trv_vote_call_t;

/* The words of a vote. All ranks receive the maximum of each. */
enum {
    TRV_VOTE_UNABLE,     /* this rank cannot execute the decision */
    TRV_VOTE_ON_DEVICE,  /* its buffer is, or may be, on a GPU */
    TRV_VOTE_OTHER_CALL, /* its vector is not in the decision's range of sizes */
    TRV_VOTE_OVER_LIMIT, /* its plans exceed TRIVANCE_MEMORY */
    TRV_VOTE_FULL,       /* they exceeded it before this decision's plan was created */
    TRV_VOTE_TOO_LARGE,  /* the plan of this decision alone exceeds it */
    TRV_VOTE_COLLECTIVE, /* pairs from here on */
    TRV_VOTE_SIGNATURE = TRV_VOTE_COLLECTIVE + 2,
    TRV_VOTE_COUNT = TRV_VOTE_SIGNATURE + 2,
    TRV_VOTE_ROOT = TRV_VOTE_COUNT + 2,
    TRV_VOTE_BLOCKS = TRV_VOTE_ROOT + 2,
    TRV_VOTE_WORDS = TRV_VOTE_BLOCKS + 2
};

/* Fills in the words that compare a call; and compares the calls by the result of a vote, with a message in
 * trv_last_error() if they differ. */
void trv_vote_set_call(int64_t word[TRV_VOTE_WORDS], const trv_vote_call_t *call);
trv_difference_t trv_vote_compare(const int64_t word[TRV_VOTE_WORDS], size_t element_bytes);

typedef struct trv_agreement {
    trv_exchange_t exchange; /* must be first: its pointer is cast */
    int (*broadcast_round)(trv_exchange_t *exchange);
    trv_decision_t *decision; /* the message of rank 0 begins with it */
    trv_vote_call_t call;
    bool (*prepare)(void *context, int64_t word[TRV_VOTE_WORDS]);
    void *context;
    bool able; /* prepare has succeeded on this rank */
    int64_t word[TRV_VOTE_WORDS];
} trv_agreement_t;

/* Prepares the agreement. The broadcast has `bytes` from `decision` on, which rank 0 has filled in; they must remain
 * valid until the end. `prepare` is called once, between the broadcast and the vote, if the decision is not an error.
 * It allocates everything that this rank needs for the decision, and may set words that do not compare the calls.
 * False: this rank cannot execute the decision. The caller sets exchange.group;
 * trv_exchange_advance(&agreement->exchange) makes progress. */
void trv_agreement_begin(trv_agreement_t *agreement, trv_decision_t *decision, size_t bytes,
                         const trv_vote_call_t *call, bool (*prepare)(void *context, int64_t word[TRV_VOTE_WORDS]),
                         void *context);
/* The result of a complete agreement, the same on all ranks. If it is not TRV_DECIDED, trv_last_error() has the
 * reason. */
trv_vote_result_t trv_agreement_result(const trv_agreement_t *agreement, int ranks);

#endif
