/*
 * Exchanges of small data between the ranks of a communicator, before they send messages of a schedule: the broadcast
 * of a decision, and the maximum of words, by which ranks vote and compare values. They use messages of the
 * communicator's transport, never block, and allocate no memory.
 */
#ifndef TRIVANCE_COLLECTIVE_GROUP_H
#define TRIVANCE_COLLECTIVE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TRV_EXCHANGE_WORDS_MAX = 16,
    TRV_EXCHANGE_SLOTS = 32 /* at least 4, and one more than a rank has children in a binomial tree */
};

/* The ranks of a communicator, and the messages between them. */
typedef struct trv_group {
    int rank, ranks;
    /* Starts a message in a slot. Messages with another lane (0 … 63) are never confused; those with the same one
     * between the same ranks are matched in the order of their posts. TRV_OK or a negative code. */
    int (*post)(void *context, int slot, bool sends, int peer, int lane, void *data, size_t bytes);
    int (*test)(void *context, int slot); /* 1: the message is complete; 0: it is not; or a negative code */
    void *context;
} trv_group_t;

/* An exchange: rounds of messages. The messages of a round are posted together, in the slots from 0 on. */
typedef struct trv_exchange {
    const trv_group_t *group;
    int (*next_round)(struct trv_exchange *exchange); /* posts a round: 1; or 0 if there is none, or a negative code */
    int messages, complete;                           /* of the present round */
    int peer[TRV_EXCHANGE_SLOTS];                     /* of these messages */
    int round;
    void *data; /* of a broadcast */
    size_t bytes;
    int64_t *word; /* of a maximum */
    int words, distance;
    int64_t received[2][TRV_EXCHANGE_WORDS_MAX];
} trv_exchange_t;

/* Prepare an exchange; it begins when it is advanced. The group, the data and the words must remain valid until its
 * end. All ranks begin the exchanges of a group in the same order. */
void trv_exchange_broadcast(trv_exchange_t *exchange, const trv_group_t *group, void *data, size_t bytes);
/* Replaces each word, which is 0 … TRV_WORD_MAX, by its maximum over all ranks. Words are signed, because MPICH 4.0
 * compares unsigned words as signed ones. */
#define TRV_WORD_MAX INT64_MAX
void trv_exchange_maximum(trv_exchange_t *exchange, const trv_group_t *group, int64_t *word, int words);

/* Makes progress. Returns 1 when the exchange is complete on this rank, 0 before, or the negative code of a message. */
int trv_exchange_advance(trv_exchange_t *exchange);
/* The rank that an incomplete exchange waits for, or -1. */
int trv_exchange_awaited_rank(const trv_exchange_t *exchange);

/* Comparison of a value by a maximum: word[0] is the value and word[1] its complement. All ranks have the same value if
 * and only if the two maxima are complements again. */
void trv_word_pair(int64_t word[2], uint64_t value);
bool trv_word_agrees(const int64_t word[2]);

#endif
