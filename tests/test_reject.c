/*
 * Schedules with deliberate faults, and the message that the verifier reports for each: by counts and by random values
 * alike.
 *
 * Most start from a correct schedule that is copied message by message with one edit; the others are made by hand.
 */
#include "verify_expect.h"

enum { BOTH = TRV_SEND | TRV_RECEIVE };

/* ---- A copy with edits ----------------------------------------------------------------------------------------- */

/* An edit of one message of the schedule or, if from == to, of one rank's combines. */
typedef struct edit {
    int step, from, to;
    int drop, repeat;   /* sides to leave out; sides to list twice */
    int new_peer;       /* of the send, if > 0 */
    int new_port;       /* of both sides, + 1, if > 0 */
    int receive_port;   /* of the receive only, + 1, if > 0 */
    int receive_unit;   /* the first unit of the receive becomes this - 1, if > 0 */
    int new_register;   /* of the receive, or of the combine's last source, if > 0 */
    int repeat_combine; /* the rank's combines of the step are done twice */
} edit_t;

static int64_t list_of(const trv_blocks_t *blocks, int64_t *unit)
{
    trv_blocks_list(blocks, unit);
    return trv_blocks_count(blocks);
}

static void copy_side(trv_schedule_t *copy, int stream, int step, int rank, const trv_message_t *message, int side,
                      const edit_t *edit)
{
    int64_t unit[1024];
    trv_explicit_part_t part = {.slots = message->part[0].slots, .unit = unit};
    int peer = message->peer, port = message->port;
    assert_int_equal(message->parts, 1);
    part.count = list_of(&message->part[0].blocks, unit);
    part.from_reg = part.to_reg = message->part[0].reg;
    if (edit && edit->drop & side)
        return;
    if (edit && side == TRV_SEND && edit->new_peer > 0)
        peer = edit->new_peer;
    if (edit && edit->new_port > 0)
        port = edit->new_port - 1;
    if (edit && side == TRV_RECEIVE && edit->receive_port > 0)
        port = edit->receive_port - 1;
    if (edit && side == TRV_RECEIVE && edit->receive_unit > 0)
        unit[0] = edit->receive_unit - 1;
    if (edit && side == TRV_RECEIVE && edit->new_register > 0)
        part.to_reg = edit->new_register;
    for (int i = 0; i < (edit && edit->repeat & side ? 2 : 1); i++)
        assert_int_equal(trv_explicit_message(copy, stream, step, side == TRV_SEND ? rank : peer,
                                              side == TRV_SEND ? peer : rank, port, -1, side, 1, &part),
                         TRV_OK);
}

static const edit_t *edit_for(const edit_t *edit, int edits, int step, int from, int to)
{
    for (int i = 0; i < edits; i++)
        if (edit[i].step == step && edit[i].from == from && edit[i].to == to)
            return &edit[i];
    return NULL;
}

static void copy_combines(trv_schedule_t *copy, int stream, int step, int rank, const trv_step_t *from,
                          const edit_t *edit)
{
    int64_t unit[1024];
    int source[16];
    for (int pass = 0; pass < (edit && edit->repeat_combine ? 2 : 1); pass++)
        for (int c = 0; c < from->combines; c++) {
            const trv_combine_t *combine = &from->combine[c];
            int64_t count = list_of(&combine->blocks, unit);
            assert_true(combine->sources <= 16);
            for (int i = 0; i < combine->sources; i++)
                source[i] = combine->source ? combine->source[i] : combine->first + i;
            if (edit && edit->new_register > 0)
                source[combine->sources - 1] = edit->new_register;
            assert_int_equal(trv_explicit_combine(copy, stream, step, rank, combine->dst, combine->sources, source,
                                                  count, unit),
                             TRV_OK);
        }
}

/* A copy with one register and one permitted message per port more than the original, for the edits to use. */
static trv_schedule_t *broken(const char *algorithm, const char *torus_text, trv_collective_t collective, int edits,
                              const edit_t *edit)
{
    trv_torus_t torus;
    trv_schedule_t *from, *copy;
    trv_step_t step = TRV_STEP_INIT;
    assert_int_equal(trv_torus_parse(torus_text, &torus), TRV_OK);
    assert_int_equal(trv_schedule_create(&from, &torus, algorithm, collective), TRV_OK);
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS,
                                      .collective = collective,
                                      .streams = from->streams,
                                      .steps = from->steps,
                                      .registers = from->registers + 1,
                                      .units = trv_schedule_units(from)};
    assert_int_equal(trv_explicit_create(&copy, &torus, "broken", &options), TRV_OK);
    for (int stream = 0; stream < from->streams; stream++)
        for (int t = 0; t < from->steps; t++)
            for (int rank = 0; rank < torus.ranks; rank++) {
                assert_int_equal(trv_schedule_step(from, rank, stream, t, &step), TRV_OK);
                int e = stream == 0 ? edits : 0;
                for (int i = 0; i < step.sends; i++)
                    copy_side(copy, stream, t, rank, &step.send[i], TRV_SEND,
                              edit_for(edit, e, t, rank, step.send[i].peer));
                for (int i = 0; i < step.receives; i++)
                    copy_side(copy, stream, t, rank, &step.receive[i], TRV_RECEIVE,
                              edit_for(edit, e, t, step.receive[i].peer, rank));
                copy_combines(copy, stream, t, rank, &step, edit_for(edit, e, t, rank, rank));
            }
    trv_step_clear(&step);
    trv_schedule_destroy(from);
    return copy;
}

/* ---- Messages -------------------------------------------------------------------------------------------------- */

/* Trivance B on a ring of 9, AllReduce: step 0 over distance 1, step 1 over 3, step 2 over 3, step 3 over 1. */
static void expect_on_9(edit_t edit, expected_t expected)
{
    expect(broken("trivance-b", "9", TRV_ALLREDUCE, 1, &edit), expected);
}

static void test_unedited_copy(void **state)
{
    trv_verdict_t verdict = {TRV_VERDICT};
    (void)state;
    for (int method = TRV_VERIFY_AUTO; method <= TRV_VERIFY_RANDOM; method++) {
        trv_schedule_t *schedule = broken("trivance-b", "9", TRV_ALLREDUCE, 0, NULL);
        assert_int_equal(trv_verify(schedule, (trv_verify_method_t)method, &verdict, NULL, NULL), TRV_OK);
        assert_true(verdict.valid && verdict.consistent);
        assert_string_equal(verdict.fault, "");
        assert_int_equal(verdict.messages, 9 * 4 * 2);
        assert_int_equal(verdict.ranks, 9);
        assert_int_equal(verdict.fault_step, -1);
        trv_schedule_destroy(schedule);
    }
}

static void test_receive_without_send(void **state)
{
    (void)state;
    expect_on_9((edit_t){.step = 3, .from = 5, .to = 4, .drop = TRV_SEND},
                (expected_t){3,
                             4,
                             -1,
                             {"step 3 of stream 0", "rank 4 waits for a message from rank 5", "rank 5 never sends"}});
}

static void test_send_without_receive(void **state)
{
    (void)state;
    expect_on_9((edit_t){.step = 1, .from = 2, .to = 5, .drop = TRV_RECEIVE},
                (expected_t){1,
                             2,
                             -1,
                             {"step 1 of stream 0", "rank 2 sends rank 5 a message that rank 5 never receives"}});
}

static void test_wrong_peer(void **state)
{
    (void)state;
    expect_on_9((edit_t){.step = 0, .from = 3, .to = 4, .new_peer = 7},
                (expected_t){0,
                             3,
                             -1,
                             {"step 0 of stream 0", "rank 3 sends rank 7 a message that rank 7 never receives"}});
}

static void test_dropped_in_reduce_scatter(void **state)
{
    (void)state;
    /* The operand of rank 4 has not arrived. */
    expect_on_9((edit_t){.step = 0, .from = 3, .to = 4, .drop = BOTH},
                (expected_t){0, 4, 1, {"step 0 of stream 0", "rank 4 combines block 1 of register", "is empty"}});
}

static void test_dropped_in_allgather(void **state)
{
    (void)state;
    /* Rank 2 keeps its partial sum of block 8, and passes it on to ranks 1 and 3. */
    expect_on_9((edit_t){.step = 2, .from = 8, .to = 2, .drop = BOTH},
                (expected_t){-1,
                             2,
                             8,
                             {"after the last step", "rank 2 lacks the contribution of rank 0 in block 8",
                              "6 of 9 ranks end with it", "rank 2 receives no data of this block after step 0"}});
}

static void test_message_sent_twice(void **state)
{
    (void)state;
    edit_t edit = {.step = 0, .from = 3, .to = 4, .repeat = BOTH};
    trv_schedule_t *schedule = broken("trivance-b", "9", TRV_ALLREDUCE, 1, &edit);
    schedule->messages_per_port = 1;
    expect(schedule,
           (expected_t){0,
                        3,
                        -1,
                        {"step 0 of stream 0", "rank 3 sends 3 messages, more than 1 for each of its 2 ports"}});
    schedule = broken("trivance-b", "9", TRV_ALLREDUCE, 1, &edit);
    expect(schedule, (expected_t){0, 4, 1, {"step 0 of stream 0", "rank 4 receives block 1 of register", "twice"}});
}

static void test_missing_port(void **state)
{
    (void)state;
    expect_on_9((edit_t){.step = 1, .from = 2, .to = 5, .new_port = 4 + 1},
                (expected_t){1, 2, -1, {"rank 2 sends to rank 5 by port 4, which does not exist (ports are 0 to 1)"}});
    edit_t edit = {.step = 0, .from = 0, .to = 3, .new_port = 2 + 1};
    expect(broken("trivance-b", "3x3", TRV_ALLREDUCE, 1, &edit),
           (expected_t){0, 0, -1, {"step 0", "rank 0 sends to rank 3 by port +1", "do not differ"}});
    edit = (edit_t){.step = 0, .from = 0, .to = 1, .new_port = 0 + 1};
    expect(broken("trivance-b", "1x3", TRV_ALLREDUCE, 1, &edit),
           (expected_t){0, 0, -1, {"step 0", "rank 0 sends to rank 1 by port +0", "do not differ"}});
}

static void test_sides_that_differ(void **state)
{
    (void)state;
    expect_on_9((edit_t){.step = 1, .from = 2, .to = 5, .receive_port = 1 + 1},
                (expected_t){1,
                             5,
                             -1,
                             {"step 1", "rank 5 receives a message from rank 2 by port -0", "sends it by port +0"}});
    expect_on_9((edit_t){.step = 1, .from = 2, .to = 5, .receive_unit = 3 + 1},
                (expected_t){1,
                             5,
                             3,
                             {"step 1", "rank 5 receives a message from rank 2 with other units than are sent",
                              "block 3 is received only"}});
}

static void test_missing_rank(void **state)
{
    (void)state;
    expect_on_9((edit_t){.step = 2, .from = 2, .to = 5, .new_peer = 9},
                (expected_t){2, 2, -1, {"step 2", "rank 2 sends to rank 9, which does not exist (ranks are 0 to 8)"}});
    expect_on_9((edit_t){.step = 2, .from = 2, .to = 5, .new_peer = 2},
                (expected_t){2, 2, -1, {"step 2", "rank 2 sends to itself"}});
}

/* ---- Registers and sums ---------------------------------------------------------------------------------------- */

static void test_contribution_added_twice(void **state)
{
    (void)state;
    expect_on_9((edit_t){.step = 1, .from = 4, .to = 4, .repeat_combine = 1},
                (expected_t){1,
                             4,
                             4,
                             {"has the contribution of rank 0 twice in block 4",
                              "rank 4 adds it a second time in step 1", "both times from rank 1 in step 1"}});
}

static void test_wrong_register(void **state)
{
    (void)state;
    expect_on_9((edit_t){.step = 0, .from = 4, .to = 4, .new_register = 3},
                (expected_t){0, 4, 1, {"step 0", "rank 4 combines block 1 of register 3, which is empty"}});
    expect_on_9((edit_t){.step = 0, .from = 4, .to = 4, .new_register = 4},
                (expected_t){0, 4, -1, {"step 0", "rank 4 combines from register 4, but has registers 0 to 3 only"}});
    expect_on_9((edit_t){.step = 0, .from = 3, .to = 4, .new_register = 3},
                (expected_t){0, 4, 1, {"step 0", "rank 4 combines block 1 of register", "is empty"}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unedited_copy),
        cmocka_unit_test(test_receive_without_send),
        cmocka_unit_test(test_send_without_receive),
        cmocka_unit_test(test_wrong_peer),
        cmocka_unit_test(test_dropped_in_reduce_scatter),
        cmocka_unit_test(test_dropped_in_allgather),
        cmocka_unit_test(test_message_sent_twice),
        cmocka_unit_test(test_missing_port),
        cmocka_unit_test(test_sides_that_differ),
        cmocka_unit_test(test_missing_rank),
        cmocka_unit_test(test_contribution_added_twice),
        cmocka_unit_test(test_wrong_register),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
