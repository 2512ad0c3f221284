/*
 * Promises of schedules besides exactness: sizes of messages, contiguity, numbers of steps, and how steps are read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/algorithms.h>
#include <trivance/schedule.h>

static trv_schedule_t *make(const char *torus_text, const char *algorithm, trv_collective_t collective)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    assert_int_equal(trv_torus_parse(torus_text, &torus), TRV_OK);
    if (trv_schedule_create(&schedule, &torus, algorithm, collective))
        fail_msg("%s on %s: %s", algorithm, torus_text, trv_last_error());
    return schedule;
}

static int log3_ceil(int size)
{
    int steps = 0;
    for (int power = 1; power < size; power *= 3)
        steps++;
    return steps;
}

static const char *const tori[] = {"2",   "3",   "8",   "9",     "25",    "27",   "2x3",
                                   "3x3", "4x4", "9x9", "3x9x2", "5x1x4", "3x3x3"};

#define TORI (sizeof tori / sizeof tori[0])

static int sum_of_log3(const trv_torus_t *torus)
{
    int steps = 0;
    for (int d = 0; d < torus->dims; d++)
        steps += log3_ceil(torus->size[d]);
    return steps;
}

static void trivance_takes_log3_steps(void **state)
{
    (void)state;
    for (int a = 0; a < trv_algorithms_count(); a++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(a);
        if (strncmp(trv_algorithm_name(algorithm), "trivance", 8) != 0 ||
            trv_algorithm_supports(algorithm, &(trv_torus_t){.dims = 1, .size = {3}, .ranks = 3}, TRV_ALLREDUCE))
            continue;
        for (size_t t = 0; t < TORI; t++) {
            trv_schedule_t *s = make(tori[t], trv_algorithm_name(algorithm), TRV_ALLREDUCE);
            int phase = sum_of_log3(trv_schedule_torus(s));
            assert_int_equal(trv_schedule_steps(s), trv_algorithm_latency_optimal(algorithm) ? phase : 2 * phase);
            trv_schedule_destroy(s);
        }
    }
}

/* Units that a rank sends in all steps of a stream. */
static int64_t units_sent(const trv_schedule_t *s, int rank, int stream)
{
    trv_step_t step = TRV_STEP_INIT;
    int64_t units = 0;
    for (int k = 0; k < trv_schedule_steps(s); k++) {
        assert_int_equal(trv_schedule_step(s, rank, stream, k, &step), TRV_OK);
        for (int i = 0; i < step.sends; i++)
            units += trv_message_units(s, &step.send[i]);
    }
    trv_step_clear(&step);
    return units;
}

/* Bandwidth-optimal without folding: every block crosses one edge per rank and phase, n - 1 blocks on any size. */
static void trees_move_every_block_once(void **state)
{
    (void)state;
    static const char *const names[] = {"trivance-b", "bruck-b", "bucket"};
    for (size_t a = 0; a < sizeof names / sizeof names[0]; a++)
        for (size_t t = 0; t < TORI; t++)
            for (int c = TRV_ALLREDUCE; c <= TRV_ALLGATHER; c++) {
                trv_schedule_t *s = make(tori[t], names[a], (trv_collective_t)c);
                int64_t phase = (int64_t)(trv_schedule_torus(s)->ranks - 1) * trv_schedule_halves(s);
                for (int stream = 0; stream < trv_schedule_streams(s); stream++)
                    assert_int_equal(units_sent(s, 0, stream), c == TRV_ALLREDUCE ? 2 * phase : phase);
                trv_schedule_destroy(s);
            }
}

/* The blocks that a rank sends to `peer` in step k of the reduce-scatter, by the closed form of the paper's section
 * 4.3: peer plus every sum of e_i * 3^i, i from k + 1 to the last step, e_i one of -1, 0 and 1. */
static int closed_form(int ranks, int peer, int k, bool *sent)
{
    int blocks = 1;
    memset(sent, 0, (size_t)ranks * sizeof *sent);
    sent[peer] = true;
    for (int distance = ranks / 3, i = log3_ceil(ranks) - 1; i > k; i--, distance /= 3) {
        bool *before = malloc((size_t)ranks * sizeof *before);
        memcpy(before, sent, (size_t)ranks * sizeof *before);
        for (int r = 0; r < ranks; r++)
            if (before[r])
                sent[(r + distance) % ranks] = sent[(r - distance + ranks) % ranks] = true;
        free(before);
        blocks *= 3;
    }
    return blocks;
}

static void check_closed_form(const trv_schedule_t *s, const trv_message_t *message, int k)
{
    bool sent[81];
    const int ranks = trv_schedule_torus(s)->ranks;
    assert_int_equal(message->parts, 1);
    const trv_blocks_t *blocks = &message->part[0].blocks;
    assert_int_equal(trv_blocks_count(blocks), closed_form(ranks, message->peer, k, sent));
    for (int b = 0; b < ranks; b++)
        if (trv_blocks_contains(blocks, b) != sent[b])
            fail_msg("ring of %d, step %d, to rank %d: block %d", ranks, k, message->peer, b);
}

static void trivance_b_sends_the_blocks_of_the_closed_form(void **state)
{
    (void)state;
    static const char *const rings[] = {"9", "27", "81"};
    int messages = 0;
    for (size_t t = 0; t < sizeof rings / sizeof rings[0]; t++) {
        trv_schedule_t *s = make(rings[t], "trivance-b", TRV_REDUCE_SCATTER);
        const int ranks = trv_schedule_torus(s)->ranks;
        trv_step_t step = TRV_STEP_INIT;
        assert_int_equal(trv_schedule_streams(s), 1);
        assert_int_equal(trv_schedule_units(s), ranks);
        for (int rank = 0; rank < ranks; rank++)
            for (int k = 0, distance = 1; k < trv_schedule_steps(s); k++, distance *= 3) {
                assert_int_equal(trv_schedule_step(s, rank, 0, k, &step), TRV_OK);
                assert_int_equal(step.sends, 2);
                const int left = (rank - distance + ranks) % ranks, right = (rank + distance) % ranks;
                const int first = step.send[0].peer, second = step.send[1].peer;
                assert_true((first == left && second == right) || (first == right && second == left));
                for (int i = 0; i < 2; i++, messages++)
                    check_closed_form(s, &step.send[i], k);
            }
        trv_step_clear(&step);
        trv_schedule_destroy(s);
    }
    assert_int_equal(messages, 846); /* 9 * 4 + 27 * 6 + 81 * 8 */
}

static bool contiguous(const trv_schedule_t *s, int stream, const trv_blocks_t *blocks)
{
    int64_t count = trv_blocks_count(blocks), least = INT64_MAX, most = -1;
    int64_t *unit = malloc((size_t)count * sizeof *unit);
    trv_blocks_list(blocks, unit);
    for (int64_t i = 0; i < count; i++) {
        int64_t position = trv_schedule_position(s, stream, unit[i]);
        least = position < least ? position : least;
        most = position > most ? position : most;
    }
    free(unit);
    return most - least + 1 == count; /* positions are distinct, so the units are contiguous */
}

/* If every dimension is 3^s, every message of Trivance B is one contiguous range of the vector. */
static void trivance_b_is_contiguous_on_powers_of_three(void **state)
{
    (void)state;
    static const char *const powers[] = {"3", "9", "27", "81", "3x3", "9x3", "9x9", "3x9x3", "3x3x3x3"};
    trv_step_t step = TRV_STEP_INIT;
    for (size_t t = 0; t < sizeof powers / sizeof powers[0]; t++) {
        trv_schedule_t *s = make(powers[t], "trivance-b", TRV_ALLREDUCE);
        for (int stream = 0; stream < trv_schedule_streams(s); stream++)
            for (int k = 0; k < trv_schedule_steps(s); k++)
                for (int rank = 0; rank < trv_schedule_torus(s)->ranks; rank++) {
                    assert_int_equal(trv_schedule_step(s, rank, stream, k, &step), TRV_OK);
                    for (int i = 0; i < step.sends; i++)
                        assert_true(contiguous(s, stream, &step.send[i].part[0].blocks));
                }
        trv_schedule_destroy(s);
    }
    trv_step_clear(&step);
}

static void positions_are_permutations(void **state)
{
    (void)state;
    for (int a = 0; a < trv_algorithms_count(); a++)
        for (size_t t = 0; t < TORI; t++) {
            trv_torus_t torus;
            trv_schedule_t *s;
            assert_int_equal(trv_torus_parse(tori[t], &torus), TRV_OK);
            if (trv_schedule_create(&s, &torus, trv_algorithm_name(trv_algorithm_at(a)), TRV_ALLREDUCE))
                continue;
            int64_t units = trv_schedule_units(s);
            for (int stream = 0; stream < trv_schedule_streams(s); stream++) {
                char *seen = calloc((size_t)units, 1);
                for (int64_t u = 0; u < units; u++) {
                    int64_t position = trv_schedule_position(s, stream, u);
                    assert_true(position >= 0 && position < units && !seen[position]);
                    seen[position] = 1;
                }
                free(seen);
            }
            trv_schedule_destroy(s);
        }
}

/* Message sizes are rounded up to bytes, at least one, without overflow. */
static void message_bytes(void **state)
{
    (void)state;
    trv_schedule_t *s = make("9", "trivance-b", TRV_ALLREDUCE);
    trv_step_t step = TRV_STEP_INIT;
    assert_int_equal(trv_schedule_step(s, 4, 0, 0, &step), TRV_OK);
    assert_int_equal(step.sends, 2);
    assert_int_equal(trv_message_units(s, &step.send[0]), 3);
    assert_int_equal(trv_message_bytes(s, 0, &step.send[0], 9000), 3000);
    assert_int_equal(trv_message_bytes(s, 0, &step.send[0], 9001), 3001);                  /* rounded up */
    assert_int_equal(trv_message_bytes(s, 0, &step.send[0], 0), 1);                        /* at least one byte */
    assert_true(trv_message_bytes(s, 0, &step.send[0], UINT64_MAX / 4) > UINT64_MAX / 13); /* no overflow */
    trv_step_clear(&step);
    trv_schedule_destroy(s);
}

static void even_rings_split_the_antipode(void **state)
{
    (void)state;
    trv_schedule_t *s = make("8", "trivance-b", TRV_ALLREDUCE);
    trv_step_t step = TRV_STEP_INIT;
    assert_int_equal(trv_schedule_halves(s), 2);
    for (int k = 0; k < trv_schedule_steps(s); k++) {
        assert_int_equal(trv_schedule_step(s, 0, 0, k, &step), TRV_OK);
        assert_int_equal(step.sends, 2);
        assert_int_equal(trv_message_units(s, &step.send[0]), trv_message_units(s, &step.send[1]));
    }
    trv_step_clear(&step);
    trv_schedule_destroy(s);
}

static void rejects_unsupported_requests(void **state)
{
    (void)state;
    trv_torus_t torus;
    trv_schedule_t *s;
    assert_int_equal(trv_torus_parse("3x3", &torus), TRV_OK);
    assert_int_equal(trv_schedule_create(&s, &torus, "ring", TRV_ALLREDUCE), TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "ring supports only rings"));
    assert_null(s);
    assert_int_equal(trv_schedule_create(&s, &torus, "recdoub-l", TRV_ALLGATHER), TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "supports only AllReduce"));
    assert_int_equal(trv_schedule_create(&s, &torus, "tribance", TRV_ALLREDUCE), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "trivance-b"));
    s = make("9", "trivance-b", TRV_ALLREDUCE);
    trv_step_t step = TRV_STEP_INIT;
    assert_int_equal(trv_schedule_step(s, 9, 0, 0, &step), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_schedule_step(s, 0, 1, 0, &step), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_schedule_step(s, 0, 0, 4, &step), TRV_ERR_ARGUMENT);
    trv_step_clear(&step);
    trv_schedule_destroy(s);
}

static void same_units(const trv_blocks_t *a, const trv_blocks_t *b)
{
    int64_t count = trv_blocks_count(a);
    assert_int_equal(count, trv_blocks_count(b));
    int64_t *x = malloc((size_t)count * sizeof *x + 1), *y = malloc((size_t)count * sizeof *y + 1);
    trv_blocks_list(a, x);
    trv_blocks_list(b, y);
    assert_memory_equal(x, y, (size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        assert_true(trv_blocks_contains(a, x[i]));
    free(x);
    free(y);
}

static void same_messages(int count, const trv_message_t *a, const trv_message_t *b)
{
    for (int i = 0; i < count; i++) {
        assert_int_equal(a[i].peer, b[i].peer);
        assert_int_equal(a[i].port, b[i].port);
        assert_int_equal(a[i].parts, b[i].parts);
        for (int p = 0; p < a[i].parts; p++) {
            assert_int_equal(a[i].part[p].reg, b[i].part[p].reg);
            same_units(&a[i].part[p].blocks, &b[i].part[p].blocks);
        }
    }
}

static void explicit_copies_are_equal(void **state)
{
    (void)state;
    for (int a = 0; a < trv_algorithms_count(); a++)
        for (size_t t = 0; t < TORI; t++) {
            trv_torus_t torus;
            trv_schedule_t *s, *copy;
            assert_int_equal(trv_torus_parse(tori[t], &torus), TRV_OK);
            if (trv_schedule_create(&s, &torus, trv_algorithm_name(trv_algorithm_at(a)), TRV_ALLREDUCE))
                continue;
            assert_int_equal(trv_explicit_copy(&copy, s), TRV_OK);
            trv_step_t one = TRV_STEP_INIT, two = TRV_STEP_INIT;
            for (int stream = 0; stream < trv_schedule_streams(s); stream++)
                for (int k = 0; k < trv_schedule_steps(s); k++) {
                    int rank = (k * 7 + stream) % torus.ranks;
                    assert_int_equal(trv_schedule_step(s, rank, stream, k, &one), TRV_OK);
                    assert_int_equal(trv_schedule_step(copy, rank, stream, k, &two), TRV_OK);
                    assert_int_equal(one.sends, two.sends);
                    assert_int_equal(one.receives, two.receives);
                    assert_int_equal(one.combines, two.combines);
                    same_messages(one.sends, one.send, two.send);
                    same_messages(one.receives, one.receive, two.receive);
                }
            trv_step_clear(&one);
            trv_step_clear(&two);
            trv_schedule_destroy(copy);
            trv_schedule_destroy(s);
        }
}

static void explicit_schedules_reject_invalid_arguments(void **state)
{
    (void)state;
    trv_torus_t torus;
    trv_schedule_t *s;
    assert_int_equal(trv_torus_parse("4", &torus), TRV_OK);
    assert_int_equal(trv_explicit_create(&s, &torus, "mine",
                                         &(trv_explicit_options_t){TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1}),
                     TRV_ERR_ARGUMENT);
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1, .registers = 2, .units = 4};
    assert_int_equal(trv_explicit_create(&s, &torus, "mine", &options), TRV_OK);
    trv_explicit_part_t part = {.count = 2, .unit = (int64_t[]){2, 1}};
    assert_int_equal(trv_explicit_message(s, 0, 0, 0, 1, 0, -1, TRV_SEND | TRV_RECEIVE, 1, &part), TRV_ERR_ARGUMENT);
    part.unit = (int64_t[]){1, 4};
    assert_int_equal(trv_explicit_message(s, 0, 0, 0, 1, 0, -1, TRV_SEND | TRV_RECEIVE, 1, &part), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_explicit_message(s, 0, 1, 0, 1, 0, -1, TRV_SEND, 1, &part), TRV_ERR_ARGUMENT);
    trv_schedule_destroy(s);
}

static int compare_messages(const trv_sent_message_t *sent, const trv_schedule_t *s, int stream, int step, int rank)
{
    trv_step_t out = TRV_STEP_INIT;
    assert_int_equal(trv_schedule_step(s, rank, stream, step, &out), TRV_OK);
    for (int i = 0; i < out.sends; i++, sent++) {
        const trv_message_t *message = &out.send[i];
        assert_true(sent->stream == stream && sent->step == step && sent->from == rank);
        assert_true(sent->to == message->peer && sent->port == message->port && sent->nic == message->nic);
        assert_int_equal(sent->units, trv_message_units(s, message));
        assert_int_equal(sent->bytes, trv_message_bytes(s, stream, message, 1000));
    }
    int sends = out.sends;
    trv_step_clear(&out);
    return sends;
}

static int count_calls(void *context, double fraction)
{
    assert_true(fraction >= 0 && fraction <= 1);
    return ++*(int *)context == 3;
}

static void all_messages_are_those_of_the_steps(void **state)
{
    (void)state;
    static const char *const names[] = {"trivance-l", "trivance-b", "swing-b", "bucket"};
    for (size_t a = 0; a < sizeof names / sizeof names[0]; a++)
        for (size_t t = 0; t < TORI; t++) {
            trv_schedule_t *s = make(tori[t], names[a], TRV_ALLREDUCE);
            trv_messages_t all;
            int64_t compared = 0;
            int calls = 0;
            assert_int_equal(trv_schedule_messages(s, 1000, &all, NULL, NULL), TRV_OK);
            for (int stream = 0; stream < trv_schedule_streams(s); stream++)
                for (int step = 0; step < trv_schedule_steps(s); step++)
                    for (int rank = 0; rank < trv_schedule_torus(s)->ranks; rank++)
                        compared += compare_messages(all.message + compared, s, stream, step, rank);
            assert_int_equal(compared, all.count);
            trv_messages_clear(&all);
            assert_true(!all.message && all.count == 0);
            if (trv_schedule_streams(s) * trv_schedule_steps(s) < 3)
                assert_int_equal(trv_schedule_messages(s, 1000, &all, count_calls, &calls), TRV_OK);
            else
                assert_int_equal(trv_schedule_messages(s, 1000, &all, count_calls, &calls), TRV_ERR_CANCELLED);
            trv_messages_clear(&all);
            trv_schedule_destroy(s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trivance_takes_log3_steps),
        cmocka_unit_test(trees_move_every_block_once),
        cmocka_unit_test(trivance_b_sends_the_blocks_of_the_closed_form),
        cmocka_unit_test(trivance_b_is_contiguous_on_powers_of_three),
        cmocka_unit_test(positions_are_permutations),
        cmocka_unit_test(all_messages_are_those_of_the_steps),
        cmocka_unit_test(message_bytes),
        cmocka_unit_test(even_rings_split_the_antipode),
        cmocka_unit_test(rejects_unsupported_requests),
        cmocka_unit_test(explicit_copies_are_equal),
        cmocka_unit_test(explicit_schedules_reject_invalid_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
