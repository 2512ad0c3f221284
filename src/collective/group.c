/*
 * The rounds of the exchanges.
 *
 * A broadcast uses a binomial tree: the parent of rank r is r without its lowest set bit. The maximum uses the
 * communication pattern of Trivance: in round k a rank exchanges with the ranks 3^k before and after it, so that
 * after ceil(log3 n) rounds the maximum has reached every rank. The maximum does not change if a contribution is
 * included twice, so any number of ranks is possible.
 */
#include "collective/group.h"

static int exchange_post(trv_exchange_t *exchange, bool sends, int peer, int lane, void *data, size_t bytes)
{
    const trv_group_t *group = exchange->group;
    const int slot = exchange->messages;
    const int rc = group->post(group->context, slot, sends, peer, lane, data, bytes);
    if (rc < 0)
        return rc;
    exchange->peer[slot] = peer;
    exchange->messages++;
    return 1;
}

/* ---- Broadcast --------------------------------------------------------------------------------------------------- */

/* Round 0 receives from the parent. Round 1 sends to the children, first to the farthest, which has the largest
 * subtree. */
static int broadcast_round(trv_exchange_t *exchange)
{
    const trv_group_t *group = exchange->group;
    const int rank = group->rank, round = exchange->round++;
    int bit = 1, rc = round < 2;
    if (round == 0 && rank > 0)
        return exchange_post(exchange, false, rank & (rank - 1), 0, exchange->data, exchange->bytes);
    while (bit < group->ranks && !(rank & bit))
        bit *= 2;
    for (bit /= 2; round == 1 && rc > 0 && bit > 0; bit /= 2)
        if (rank + bit < group->ranks)
            rc = exchange_post(exchange, true, rank + bit, 0, exchange->data, exchange->bytes);
    return rc;
}

void trv_exchange_broadcast(trv_exchange_t *exchange, const trv_group_t *group, void *data, size_t bytes)
{
    *exchange = (trv_exchange_t){.group = group, .next_round = broadcast_round, .data = data, .bytes = bytes};
}

/* ---- Maximum ----------------------------------------------------------------------------------------------------- */

/* Combines the words that the previous round has received, and posts the next round. */
static int maximum_round(trv_exchange_t *exchange)
{
    const trv_group_t *group = exchange->group;
    const size_t bytes = (size_t)exchange->words * sizeof *exchange->word;
    for (int i = 0; exchange->round > 0 && i < 2 * exchange->words; i++) {
        const int64_t other = exchange->received[i / exchange->words][i % exchange->words];
        int64_t *word = &exchange->word[i % exchange->words];
        *word = other > *word ? other : *word;
    }
    exchange->distance = exchange->round == 0 ? 1 : 3 * exchange->distance;
    if (exchange->distance >= group->ranks)
        return 0;
    const int distance = exchange->distance, lane = 1 + 2 * exchange->round++;
    int rc = 1;
    for (int i = 0; rc > 0 && i < 4; i++) {
        const bool sends = i >= 2, up = i % 2; /* up: the message goes to the rank after its sender */
        const int side = sends == up ? distance : group->ranks - distance;
        rc = exchange_post(exchange, sends, (group->rank + side) % group->ranks, lane + up,
                           sends ? exchange->word : exchange->received[up], bytes);
    }
    return rc;
}

void trv_exchange_maximum(trv_exchange_t *exchange, const trv_group_t *group, int64_t *word, int words)
{
    *exchange = (trv_exchange_t){.group = group, .next_round = maximum_round, .word = word, .words = words};
}

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

int trv_exchange_advance(trv_exchange_t *exchange)
{
    const trv_group_t *group = exchange->group;
    for (;;) {
        while (exchange->complete < exchange->messages) {
            const int rc = group->test(group->context, exchange->complete);
            if (rc <= 0)
                return rc;
            exchange->complete++;
        }
        exchange->messages = exchange->complete = 0;
        const int rc = exchange->next_round(exchange);
        if (rc <= 0)
            return rc < 0 ? rc : 1;
    }
}

int trv_exchange_awaited_rank(const trv_exchange_t *exchange)
{
    return exchange->complete < exchange->messages ? exchange->peer[exchange->complete] : -1;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

void trv_word_pair(int64_t word[2], uint64_t value)
{
    word[0] = (int64_t)(value & TRV_WORD_MAX);
    word[1] = TRV_WORD_MAX - word[0];
}

bool trv_word_agrees(const int64_t word[2]) { return word[0] == TRV_WORD_MAX - word[1]; }
