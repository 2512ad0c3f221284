/*
 * Exchanges and agreements of up to 30 ranks in one process: the data of a broadcast, maxima, and every result of a
 * vote, which must be the same on all ranks. Messages are matched by their lanes, like those of a transport; a rank
 * advances in random order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "collective/agreement.h"

enum { RANKS_MAX = 30, QUEUE = 64 };

typedef struct message {
    int from, to, lane;
    size_t bytes;
    unsigned char data[sizeof(trv_decision_t)];
    bool used;
} message_t;

typedef struct posted {
    bool sends;
    int peer, lane;
    void *data;
    size_t bytes;
} posted_t;

typedef struct member {
    trv_group_t group;
    posted_t slot[TRV_EXCHANGE_SLOTS];
} member_t;

static message_t wire[RANKS_MAX * QUEUE];
static int messages;
static member_t member[RANKS_MAX];

static int post(void *context, int slot, bool sends, int peer, int lane, void *data, size_t bytes)
{
    member_t *self = context;
    assert_in_range(slot, 0, TRV_EXCHANGE_SLOTS - 1);
    assert_in_range(peer, 0, self->group.ranks - 1);
    self->slot[slot] = (posted_t){sends, peer, lane, data, bytes};
    if (sends) {
        assert_true(messages < RANKS_MAX * QUEUE && bytes <= sizeof wire->data);
        message_t *message = &wire[messages++];
        *message = (message_t){self->group.rank, peer, lane, bytes, {0}, false};
        memcpy(message->data, data, bytes);
    }
    return TRV_OK;
}

static int test(void *context, int slot)
{
    member_t *self = context;
    const posted_t *posted = &self->slot[slot];
    for (int i = 0; !posted->sends && i < messages; i++) {
        message_t *message = &wire[i];
        if (message->used || message->to != self->group.rank || message->from != posted->peer ||
            message->lane != posted->lane)
            continue;
        assert_int_equal(message->bytes, posted->bytes);
        memcpy(posted->data, message->data, message->bytes);
        message->used = true;
        return 1;
    }
    return posted->sends;
}

static void members_init(int ranks)
{
    messages = 0;
    for (int r = 0; r < ranks; r++)
        member[r].group = (trv_group_t){r, ranks, post, test, &member[r]};
}

/* Advances exchanges of all ranks in random order, until all are complete. */
static void advance_all(trv_exchange_t *const exchange[], int ranks)
{
    bool complete[RANKS_MAX] = {false};
    for (int left = ranks; left > 0;) {
        const int r = rand() % ranks;
        if (complete[r])
            continue;
        const int rc = trv_exchange_advance(exchange[r]);
        assert_true(rc >= 0);
        if (rc == 0)
            assert_in_range(trv_exchange_awaited_rank(exchange[r]), 0, ranks - 1);
        complete[r] = rc > 0;
        left -= complete[r];
    }
    for (int i = 0; i < messages; i++)
        assert_true(wire[i].used);
}

static void test_exchanges(void **state)
{
    (void)state;
    trv_exchange_t memory[RANKS_MAX], *exchange[RANKS_MAX];
    int data[RANKS_MAX][3];
    int64_t word[RANKS_MAX][4];
    for (int ranks = 1; ranks <= RANKS_MAX; ranks++) {
        members_init(ranks);
        for (int r = 0; r < ranks; r++) {
            data[r][0] = data[r][1] = data[r][2] = r + 5;
            exchange[r] = &memory[r];
            trv_exchange_broadcast(exchange[r], &member[r].group, data[r], sizeof data[r]);
        }
        advance_all(exchange, ranks);
        for (int r = 0; r < ranks; r++)
            assert_true(data[r][0] == 5 && data[r][2] == 5);
        const int highest = rand() % ranks;
        members_init(ranks);
        for (int r = 0; r < ranks; r++) {
            word[r][0] = r == highest ? 100 : r;
            word[r][1] = ranks - r;
            trv_word_pair(&word[r][2], r == highest ? 7 : 8);
            trv_exchange_maximum(exchange[r], &member[r].group, word[r], 4);
        }
        advance_all(exchange, ranks);
        for (int r = 0; r < ranks; r++)
            assert_true(word[r][0] == 100 && word[r][1] == ranks && trv_word_agrees(&word[r][2]) == (ranks == 1));
    }
}

/* ---- Agreements -------------------------------------------------------------------------------------------------- */

typedef struct rank_call {
    trv_agreement_t agreement;
    trv_decision_t decision;
    trv_vote_call_t call;
    bool able;
    int prepared;
} rank_call_t;

static rank_call_t rank_call[RANKS_MAX];

static bool prepare(void *context, int64_t word[TRV_VOTE_WORDS])
{
    rank_call_t *self = context;
    assert_string_equal(self->decision.algorithm, "ring");
    word[TRV_VOTE_TOO_LARGE] = self == &rank_call[0];
    self->prepared++;
    return self->able;
}

static void calls_init(int ranks)
{
    members_init(ranks);
    for (int r = 0; r < ranks; r++)
        rank_call[r] = (rank_call_t){.call = {TRV_REDUCE, 2, 77, 10, 40, 4, 0}, .able = true};
    rank_call[0].decision = (trv_decision_t){.bytes_max = 100, .algorithm = "ring"};
}

/* All ranks must have the result. */
static void expect_result(int ranks, trv_vote_result_t expected, const char *part)
{
    trv_exchange_t *exchange[RANKS_MAX] = {NULL};
    for (int r = 0; r < ranks; r++) {
        rank_call_t *self = &rank_call[r];
        trv_agreement_begin(&self->agreement, &self->decision, sizeof self->decision, &self->call, prepare, self);
        self->agreement.exchange.group = &member[r].group;
        exchange[r] = &self->agreement.exchange;
    }
    advance_all(exchange, ranks);
    for (int r = 0; r < ranks; r++) {
        const rank_call_t *self = &rank_call[r];
        assert_int_equal(trv_agreement_result(&self->agreement, ranks), expected);
        assert_true(expected == TRV_DECIDED || strstr(trv_last_error(), part));
        assert_int_equal(self->prepared, self->decision.code == TRV_OK);
        assert_int_equal(self->agreement.word[TRV_VOTE_TOO_LARGE], self->decision.code == TRV_OK);
    }
}

static void test_votes(void **state)
{
    (void)state;
    for (int ranks = 2; ranks <= RANKS_MAX; ranks += 3) {
        const int one = rand() % ranks;
        rank_call_t *other = &rank_call[one];
        calls_init(ranks);
        expect_result(ranks, TRV_DECIDED, "");
        calls_init(ranks);
        other->able = false;
        expect_result(ranks, TRV_UNABLE, "a plan could not be created on every rank");
        calls_init(ranks);
        other->call.collective = TRV_BROADCAST;
        expect_result(ranks, TRV_DIFFER, "different collectives");
        calls_init(ranks);
        other->call.blocks = 9;
        expect_result(ranks, TRV_DIFFER, "the sizes of the blocks differ");
        calls_init(ranks);
        other->call.root = 1;
        expect_result(ranks, TRV_DIFFER, "the root differs between ranks: from 1 to 2");
        calls_init(ranks);
        other->call.signature++;
        expect_result(ranks, TRV_DIFFER, "the type or the operation differs");
        calls_init(ranks);
        other->call.count = 11;
        expect_result(ranks, TRV_DIFFER, "the count differs between ranks: from 10 elements of 4 bytes to 11");
        calls_init(ranks);
        other->call.bytes = 101; /* another class of sizes */
        expect_result(ranks, TRV_DIFFER, "the count differs");
        calls_init(ranks);
        rank_call[0].decision.code = TRV_ERR_ARGUMENT;
        strcpy(rank_call[0].decision.reason, "there is no such algorithm");
        expect_result(ranks, TRV_UNSATISFIABLE, "there is no such algorithm");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exchanges), cmocka_unit_test(test_votes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
