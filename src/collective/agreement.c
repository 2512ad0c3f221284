/*
 * The vote after the broadcast of a decision; agreement.h describes it.
 */
#include "collective/agreement.h"

#include "base/error.h"

_Static_assert((int)TRV_VOTE_WORDS <= (int)TRV_EXCHANGE_WORDS_MAX,
               "an exchange has at most TRV_EXCHANGE_WORDS_MAX words");

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

void trv_vote_set_call(int64_t word[TRV_VOTE_WORDS], const trv_vote_call_t *call)
{
    trv_word_pair(&word[TRV_VOTE_COLLECTIVE], (uint64_t)call->collective);
    trv_word_pair(&word[TRV_VOTE_SIGNATURE], call->signature);
    trv_word_pair(&word[TRV_VOTE_COUNT], call->count);
    trv_word_pair(&word[TRV_VOTE_ROOT], (uint64_t)call->root & TRV_WORD_MAX);
    trv_word_pair(&word[TRV_VOTE_BLOCKS], call->blocks);
}

trv_difference_t trv_vote_compare(const int64_t word[TRV_VOTE_WORDS], size_t element_bytes)
{
    if (!trv_word_agrees(&word[TRV_VOTE_COLLECTIVE]))
        return trv_fail(TRV_ERR_INVALID, "the ranks call different collectives on this communicator"),
               TRV_OTHER_COLLECTIVE;
    if (!trv_word_agrees(&word[TRV_VOTE_BLOCKS]))
        return trv_fail(TRV_ERR_INVALID,
                        "the sizes of the blocks differ between ranks; all ranks must pass the same list of counts"),
               TRV_OTHER_BLOCKS;
    if (!trv_word_agrees(&word[TRV_VOTE_ROOT]))
        return trv_fail(TRV_ERR_INVALID,
                        "the root differs between ranks: from %llu to %llu; all ranks must pass the same",
                        (unsigned long long)(TRV_WORD_MAX - word[TRV_VOTE_ROOT + 1]),
                        (unsigned long long)word[TRV_VOTE_ROOT]),
               TRV_OTHER_ROOT;
    if (!trv_word_agrees(&word[TRV_VOTE_SIGNATURE]))
        return trv_fail(TRV_ERR_INVALID, "the type or the operation differs between ranks; all ranks must pass the "
                                         "same"),
               TRV_OTHER_SIGNATURE;
    if (!trv_word_agrees(&word[TRV_VOTE_COUNT]) || word[TRV_VOTE_OTHER_CALL])
        return trv_fail(TRV_ERR_INVALID,
                        "the count differs between ranks: from %llu elements of %zu bytes to %llu; "
                        "all ranks must pass the same",
                        (unsigned long long)(TRV_WORD_MAX - word[TRV_VOTE_COUNT + 1]), element_bytes,
                        (unsigned long long)word[TRV_VOTE_COUNT]),
               TRV_OTHER_COUNT;
    return TRV_NO_DIFFERENCE;
}

/* ---- Agreeing ---------------------------------------------------------------------------------------------------- */

/* The last round of the broadcast is followed by the rounds of the vote. */
static int agreement_round(trv_exchange_t *exchange)
{
    trv_agreement_t *agreement = (trv_agreement_t *)(void *)exchange;
    const int rc = agreement->broadcast_round(exchange);
    if (rc != 0)
        return rc;
    trv_decision_t *decision = agreement->decision;
    const uint64_t bytes = agreement->call.bytes;
    int64_t *word = agreement->word;
    decision->algorithm[sizeof decision->algorithm - 1] = decision->full_name[sizeof decision->full_name - 1] = '\0';
    decision->reason[sizeof decision->reason - 1] = '\0';
    agreement->able = decision->code == TRV_OK && agreement->prepare(agreement->context, word);
    word[TRV_VOTE_UNABLE] = !agreement->able;
    word[TRV_VOTE_OTHER_CALL] = decision->code == TRV_OK &&
                                (bytes < decision->bytes_min || bytes > decision->bytes_max);
    trv_vote_set_call(word, &agreement->call);
    trv_exchange_maximum(exchange, exchange->group, word, TRV_VOTE_WORDS);
    return exchange->next_round(exchange);
}

void trv_agreement_begin(trv_agreement_t *agreement, trv_decision_t *decision, size_t bytes,
                         const trv_vote_call_t *call, bool (*prepare)(void *context, int64_t word[TRV_VOTE_WORDS]),
                         void *context)
{
    *agreement = (trv_agreement_t){.decision = decision, .call = *call, .prepare = prepare, .context = context};
    trv_exchange_broadcast(&agreement->exchange, NULL, decision, bytes);
    agreement->broadcast_round = agreement->exchange.next_round;
    agreement->exchange.next_round = agreement_round;
}

trv_vote_result_t trv_agreement_result(const trv_agreement_t *agreement, int ranks)
{
    const trv_decision_t *decision = agreement->decision;
    if (trv_vote_compare(agreement->word, agreement->call.element_bytes) != TRV_NO_DIFFERENCE)
        return TRV_DIFFER;
    if (decision->code < 0 && decision->code != TRV_ERR_MEMORY) {
        trv_fail(decision->code, "%s", decision->reason);
        return TRV_UNSATISFIABLE;
    }
    if (agreement->word[TRV_VOTE_UNABLE] == 0)
        return TRV_DECIDED;
    trv_fail(TRV_ERR_MEMORY, "a plan could not be created on every rank of a communicator of %d ranks (%s)", ranks,
             agreement->able ? "another rank failed" : "this rank has no memory for it");
    return TRV_UNABLE;
}
