/*
 * The exchange format: every algorithm's schedule is the same after a write and a read, files of other programs load,
 * and errors in a file are reported in one sentence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "exhaustive.h"
#include "formats/ranges.h"
#include "formats/schedule_file.h"
#include "schedule/collective.h"

static int warnings;
static char last_warning[1024];

static void count_warning(void *context, const char *sentence)
{
    (void)context;
    warnings++;
    snprintf(last_warning, sizeof last_warning, "%s", sentence);
}

static char *write_text(const trv_schedule_t *schedule, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    assert_non_null(out);
    int rc = trv_schedule_file_write(schedule, 1 << 20, out);
    fclose(out);
    if (rc)
        fail_msg("%s: %s", trv_schedule_name(schedule), trv_last_error());
    return text;
}

static void list_units(const trv_blocks_t *blocks, int64_t offset, int64_t *unit, int64_t *count)
{
    trv_blocks_list(blocks, unit + *count);
    for (int64_t i = 0; i < trv_blocks_count(blocks); i++)
        unit[*count + i] += offset;
    *count += trv_blocks_count(blocks);
}

/* Writes a message as a flat list: the registers of parts that are whole registers; the units, with their register,
 * of the other parts. */
static int64_t flatten(const trv_message_t *message, int64_t *flat)
{
    int64_t count = 0;
    for (int p = 0; p < message->parts; p++) {
        const trv_part_t *part = &message->part[p];
        int64_t before = count;
        list_units(&part->blocks, part->slots ? part->reg : 0, flat, &count);
        for (int64_t i = before; i < count; i++)
            flat[i] = part->slots ? -1 - flat[i] : flat[i] * 100000 + part->reg;
    }
    return count;
}

static void compare_messages(const trv_message_t *a, const trv_message_t *b)
{
    static int64_t flat_a[1 << 16], flat_b[1 << 16];
    assert_int_equal(a->peer, b->peer);
    assert_int_equal(a->port, b->port);
    assert_int_equal(a->nic, b->nic);
    int64_t count = flatten(a, flat_a);
    assert_int_equal(count, flatten(b, flat_b));
    assert_memory_equal(flat_a, flat_b, (size_t)count * sizeof *flat_a);
}

/* Receives from one peer keep their order; receives from different peers may be reordered. */
static void compare_receives(const trv_step_t *a, const trv_step_t *b)
{
    assert_int_equal(a->receives, b->receives);
    for (int i = 0; i < a->receives; i++) {
        int nth = 0, j = 0;
        for (int k = 0; k < i; k++)
            nth += a->receive[k].peer == a->receive[i].peer;
        for (; j < b->receives; j++)
            if (b->receive[j].peer == a->receive[i].peer && nth-- == 0)
                break;
        assert_true(j < b->receives);
        compare_messages(&a->receive[i], &b->receive[j]);
    }
}

static void compare_combines(const trv_step_t *a, const trv_step_t *b)
{
    static int64_t unit_a[1 << 16], unit_b[1 << 16];
    assert_int_equal(a->combines, b->combines);
    for (int i = 0; i < a->combines; i++) {
        const trv_combine_t *x = &a->combine[i], *y = &b->combine[i];
        int64_t count_a = 0, count_b = 0;
        assert_int_equal(x->dst, y->dst);
        assert_int_equal(x->sources, y->sources);
        for (int s = 0; s < x->sources; s++)
            assert_int_equal(x->source ? x->source[s] : x->first + s, y->source ? y->source[s] : y->first + s);
        list_units(&x->blocks, 0, unit_a, &count_a);
        list_units(&y->blocks, 0, unit_b, &count_b);
        assert_int_equal(count_a, count_b);
        assert_memory_equal(unit_a, unit_b, (size_t)count_a * sizeof *unit_a);
    }
}

static void compare_schedules(const trv_schedule_t *a, const trv_schedule_t *b)
{
    trv_step_t x = TRV_STEP_INIT, y = TRV_STEP_INIT;
    assert_string_equal(trv_schedule_name(a), trv_schedule_name(b));
    assert_int_equal(trv_schedule_collective(a), trv_schedule_collective(b));
    assert_int_equal(trv_schedule_root(a), trv_schedule_root(b));
    assert_int_equal(trv_schedule_streams(a), trv_schedule_streams(b));
    assert_int_equal(trv_schedule_steps(a), trv_schedule_steps(b));
    assert_int_equal(trv_schedule_registers(a), trv_schedule_registers(b));
    assert_int_equal(trv_schedule_units(a), trv_schedule_units(b));
    assert_int_equal(trv_schedule_symmetry(a), trv_schedule_symmetry(b));
    assert_int_equal(trv_schedule_exactness(a), trv_schedule_exactness(b));
    assert_int_equal(trv_schedule_consistent(a), trv_schedule_consistent(b));
    assert_int_equal(trv_schedule_messages_per_port(a), trv_schedule_messages_per_port(b));
    for (int64_t u = 0; u < trv_schedule_units(a) && trv_collective_has_owners(trv_schedule_collective(a)); u++)
        assert_int_equal(trv_schedule_owner(a, u), trv_schedule_owner(b, u));
    for (int s = 0; s < trv_schedule_streams(a); s++) {
        assert_int_equal(trv_schedule_mirrored(a, s), trv_schedule_mirrored(b, s));
        assert_int_equal(trv_schedule_weight(a, s), trv_schedule_weight(b, s));
        for (int64_t u = 0; u < trv_schedule_units(a); u++)
            assert_int_equal(trv_schedule_position(a, s, u), trv_schedule_position(b, s, u));
        for (int k = 0; k < trv_schedule_steps(a); k++)
            for (int rank = 0; rank < trv_schedule_torus(a)->ranks; rank++) {
                assert_int_equal(trv_schedule_step(a, rank, s, k, &x), 0);
                assert_int_equal(trv_schedule_step(b, rank, s, k, &y), 0);
                assert_int_equal(x.sends, y.sends);
                for (int i = 0; i < x.sends; i++)
                    compare_messages(&x.send[i], &y.send[i]);
                compare_receives(&x, &y);
                compare_combines(&x, &y);
            }
    }
    trv_step_clear(&x);
    trv_step_clear(&y);
}

static void round_trip(const trv_schedule_t *schedule)
{
    trv_schedule_file_t file;
    size_t length, again_length;
    char *text = write_text(schedule, &length);
    warnings = 0;
    if (trv_schedule_file_parse(text, length, "memory", &file, count_warning, NULL))
        fail_msg("%s: %s", trv_schedule_name(schedule), trv_last_error());
    if (warnings)
        fail_msg("%s", last_warning);
    assert_int_equal(file.vector_bytes, 1 << 20);
    assert_true(file.has_blocks || trv_schedule_steps(schedule) == 0);
    if (file.has_blocks)
        compare_schedules(schedule, file.schedule);
    char *again = write_text(file.schedule, &again_length);
    if (file.has_blocks)
        assert_string_equal(text, again);
    free(again);
    free(text);
    trv_schedule_destroy(file.schedule);
}

/* Writes and reads the schedule of every algorithm that supports the collective on the torus; returns their number. */
static int round_trips(const char *torus, trv_collective_t collective, int root)
{
    trv_network_t network = {TRV_NETWORK};
    int made = 0;
    assert_int_equal(trv_torus_parse(torus, &network.torus), 0);
    for (int i = 0; i < trv_algorithms_count(); i++) {
        trv_schedule_t *schedule;
        if (trv_schedule_create_on(&schedule, &network, trv_algorithm_name(trv_algorithm_at(i)), collective,
                                   root < network.torus.ranks ? root : 0))
            continue;
        round_trip(schedule);
        trv_schedule_destroy(schedule);
        made++;
    }
    return made;
}

static void test_round_trip(void **state)
{
    static const char *const tori[] = {"1",  "2",   "3",   "5",     "8",     "9",   "26",
                                       "27", "3x3", "4x2", "5x1x3", "2x2x3", "3mx4"};
    (void)state;
    for (int c = TRV_ALLREDUCE; c <= TRV_ALLTOALL; c++) {
        int made = 0;
        for (size_t t = 0; t < sizeof tori / sizeof tori[0]; t++) {
            if (!try_case((int)t + c, 3))
                continue;
            for (int root = 0; root < (trv_collective_has_root((trv_collective_t)c) ? 4 : 1); root += 3)
                made += round_trips(tori[t], (trv_collective_t)c, root);
        }
        assert_true(made > (exhaustive() ? 40 : 13));
    }
    trv_torus_t torus;
    trv_schedule_t *schedule;
    assert_int_equal(trv_torus_parse("2x4", &torus), 0);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "bucket:9/7", TRV_ALLREDUCE), 0);
    round_trip(schedule);
    trv_schedule_destroy(schedule);
}

static void test_ranges(void **state)
{
    static const struct {
        const char *text;
        int64_t count, number[12], limit;
    } good[] = {
        {"0-8,12,20-44/3", 19, {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 20, 23}, 50},
        {"3", 1, {3}, 4},
        {"1,4", 2, {1, 4}, 5},
        {"1-2", 2, {1, 2}, 5},
        {"0-6/2", 4, {0, 2, 4, 6}, 7},
        {"all", 3, {0, 1, 2}, 3},
        {"all", 1, {0}, 1},
        {"", 0, {0}, 9},
    };
    static const char *const bad[] = {"-",   "1-",    "-3",  "5-3",         "0-5/2", "1,1",
                                      "2,1", "0-3,3", "9",   "1,",          ",1",    "0-4/0",
                                      "x",   "all,1", "1 2", "99999999999", "1-2-3", "0-9999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        trv_numbers_t numbers = {0};
        assert_int_equal(trv_ranges_parse(good[i].text, good[i].limit, 100, &numbers), 0);
        assert_int_equal(numbers.count, good[i].count);
        for (int64_t j = 0; j < numbers.count && j < 12; j++)
            assert_int_equal(numbers.number[j], good[i].number[j]);
        char *text = trv_ranges_format(numbers.number, numbers.count, good[i].limit);
        assert_string_equal(text, good[i].text);
        free(text);
        free(numbers.number);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        trv_numbers_t numbers = {0};
        if (trv_ranges_parse(bad[i], 9, 100, &numbers) != TRV_ERR_ARGUMENT)
            fail_msg("'%s' was accepted", bad[i]);
        free(numbers.number);
    }
    trv_numbers_t numbers = {0};
    assert_int_equal(trv_ranges_parse("0-100", 200, 100, &numbers), TRV_ERR_ARGUMENT);
    free(numbers.number);
}

/* tests/data/8-TrivanceB-131072.json was written by the reference simulation of the paper. It has messages and
 * bytes, but no blocks. */
static void test_messages_only(void **state)
{
    trv_schedule_file_t file;
    trv_cost_t cost;
    (void)state;
    warnings = 0;
    assert_int_equal(trv_schedule_file_read(TRIVANCE_TEST_DATA "/8-TrivanceB-131072.json", &file, count_warning, NULL),
                     0);
    assert_int_equal(warnings, 0);
    assert_false(file.has_blocks);
    assert_int_equal(file.vector_bytes, 131072);
    assert_string_equal(trv_schedule_name(file.schedule), "TrivanceB");
    assert_int_equal(trv_schedule_steps(file.schedule), 4);
    trv_step_t step = TRV_STEP_INIT;
    assert_int_equal(trv_schedule_step(file.schedule, 0, 0, 0, &step), 0);
    assert_int_equal(step.sends, 2);
    assert_int_equal(trv_message_bytes(file.schedule, 0, &step.send[0], 131072), 49152);
    assert_int_equal(trv_message_bytes(file.schedule, 0, &step.send[1], 131072), 32768);
    assert_int_equal(step.send[0].nic, -1);
    assert_int_equal(trv_schedule_step(file.schedule, 0, 0, 2, &step), 0);
    assert_int_equal(step.send[0].port, trv_port(0, -1));
    assert_int_equal(step.send[0].nic, trv_port(0, +1));
    trv_step_clear(&step);
    assert_int_equal(trv_cost_measure(file.schedule, &cost), 0);
    assert_int_equal(cost.messages, 4 * 16);
    /* Step 0 sends 49152 of 131072 bytes over one link; step 1 sends three messages of 16384 bytes over distance 3. */
    assert_true(cost.step[0].link_fraction == 0.375);
    assert_true(cost.step[1].link_fraction == 0.375);
    trv_cost_clear(&cost);
    trv_schedule_destroy(file.schedule);
}

/* Files and copies keep the injecting port, and it is part of a schedule's symmetry. */
static void test_injecting_ports(void **state)
{
    static const int64_t unit = 0;
    trv_explicit_part_t part = {.to_reg = 1, .count = 1, .unit = &unit};
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1,
                                      .registers = 2,       .units = 1,   .symmetry = TRV_SYMMETRY_TRANSLATION};
    (void)state;
    for (int odd = 0; odd < 2; odd++) {
        trv_torus_t torus;
        trv_schedule_t *schedule, *copy;
        trv_schedule_file_t file;
        assert_int_equal(trv_torus_parse("4", &torus), 0);
        assert_int_equal(trv_explicit_create(&schedule, &torus, "nic", &options), 0);
        for (int rank = 0; rank < 4; rank++)
            assert_int_equal(trv_explicit_message(schedule, 0, 0, rank, (rank + 1) % 4, 0, odd && rank == 3 ? -1 : 1,
                                                  TRV_SEND | TRV_RECEIVE, 1, &part),
                             0);
        assert_int_equal(trv_explicit_copy(&copy, schedule), 0);
        compare_schedules(schedule, copy);
        if (odd) {
            size_t length;
            char *text = write_text(copy, &length);
            assert_int_equal(trv_schedule_file_parse(text, length, "odd", &file, NULL, NULL), TRV_ERR_INVALID);
            assert_non_null(strstr(trv_last_error(), "rank 3 does not send as rank 2"));
            free(text);
        } else {
            round_trip(copy);
        }
        trv_schedule_destroy(copy);
        trv_schedule_destroy(schedule);
    }
}

static void test_indivisible_bytes(void **state)
{
    static const char text[] =
        "{\"format\": \"trivance-schedule-1\", \"torus\": [3], \"vector_bytes\": 100000007, \"name\": \"x\","
        "\"streams\": [{\"steps\": [[[0, 1, \"+0\", 333], [1, 2, \"+0\", 200000014]]]}]}";
    trv_schedule_file_t file;
    trv_step_t step = TRV_STEP_INIT;
    (void)state;
    warnings = 0;
    assert_int_equal(trv_schedule_file_parse(text, sizeof text - 1, "text", &file, count_warning, NULL), 0);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "rounded"));
    assert_int_equal(trv_schedule_step(file.schedule, 0, 0, 0, &step), 0);
    assert_in_range(trv_message_bytes(file.schedule, 0, &step.send[0], 100000007), 1, 2000);
    assert_int_equal(trv_schedule_step(file.schedule, 1, 0, 0, &step), 0);
    assert_in_range(trv_message_bytes(file.schedule, 0, &step.send[0], 100000007), 200000014, 200000014);
    trv_step_clear(&step);
    trv_schedule_destroy(file.schedule);
}

#define HEAD                                                                                                           \
    "{\"format\": \"trivance-schedule-1\", \"torus\": [4], \"vector_bytes\": 64, \"registers\": 2, \"units\": 4, "
#define ONE(message) HEAD "\"streams\": [{\"steps\": [[" message "]]}]}"
#define COMBINE(combine)                                                                                               \
    HEAD "\"streams\": [{\"steps\": [[[0,1,\"+0\",64,{\"blocks\":\"all\"}]]], \"combines\": [[" combine "]]}]}"

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "the file is empty"},
        {"[1, 2", "not valid JSON"},
        {"<algo name=\"ring\"/>",
         "not a schedule but XML; MSCCL's XML was removed; MSCCL++ execution plans in JSON (mscclpp) replace it"},
        {"// ring\nnum_ranks 2\n", "not a schedule but a GOAL program, which only `trivance simulate --goal` reads"},
        {"{\"format\": 1, \"format\": 2}", "not valid JSON"},
        {"[]", "\"format\""},
        {"{}", "\"format\""},
        {"{\"format\": \"trivance-schedule-2\"}", "\"format\""},
        {"{\"format\": \"trivance-schedule-1\"}", "\"torus\""},
        {"{\"format\": \"trivance-schedule-1\", \"torus\": [0]}", "\"torus\""},
        {"{\"format\": \"trivance-schedule-1\", \"torus\": [1000000, 1000000]}", "2^30"},
        {"{\"format\": \"trivance-schedule-1\", \"torus\": [2,2,2,2,2,2,2,2,2]}", "\"torus\""},
        {"{\"format\": \"trivance-schedule-1\", \"torus\": [4]}", "\"vector_bytes\""},
        {"{\"format\": \"trivance-schedule-1\", \"torus\": [4], \"vector_bytes\": 0}", "\"vector_bytes\""},
        {"{\"format\": \"trivance-schedule-1\", \"torus\": [4], \"vector_bytes\": 1e6}", "\"vector_bytes\""},
        {HEAD "\"streams\": 3}", "\"streams\""},
        {HEAD "\"streams\": []}", "\"streams\""},
        {HEAD "\"streams\": [3]}", "steps"},
        {HEAD "\"exact\": 1, \"streams\": []}", "\"exact\""},
        {HEAD "\"collective\": \"barrier\", \"streams\": []}", "collective"},
        {HEAD "\"root\": 0, \"streams\": []}", "\"root\" is given, but allreduce has no root; remove it"},
        {HEAD "\"collective\": \"alltoall\", \"root\": 1, \"streams\": []}", "alltoall has no root"},
        {HEAD "\"collective\": \"reduce\", \"root\": 4, \"streams\": []}",
         "\"root\" must be a whole number from 0 to 3"},
        {HEAD "\"collective\": \"scatter\", \"root\": -1, \"streams\": []}", "\"root\""},
        {HEAD "\"collective\": \"gather\", \"root\": \"0\", \"streams\": []}", "\"root\""},
        {HEAD "\"symmetry\": true, \"streams\": []}", "symmetry"},
        {HEAD "\"streams\": [{\"steps\": [5]}]}", "step 0"},
        {HEAD "\"streams\": [{\"steps\": [], \"mirrored\": true}, {\"steps\": []}]}", "mirrored"},
        {HEAD "\"streams\": [{\"steps\": [[[0,1,\"+0\",64,{\"blocks\":\"all\"}]]], \"position\": [0,1,2]}]}",
         "position"},
        {HEAD "\"streams\": [{\"steps\": [[[0,1,\"+0\",64,{\"blocks\":\"all\"}]]], \"position\": [0,1,2,2]}]}",
         "position"},
        {HEAD "\"streams\": [{\"steps\": [[[0,1,\"+0\",64,{\"blocks\":\"all\"}]]], \"weight\": 0}]}", "\"weight\""},
        {HEAD "\"streams\": [{\"steps\": [[[0,1,\"+0\",64,{\"blocks\":\"all\"}]]], \"weight\": 1025}]}", "\"weight\""},
        {ONE("[0, 1, \"+0\"]"), "message 0"},
        {ONE("[0, 4, \"+0\", 64]"), "the receiver"},
        {ONE("[0, 0, \"+0\", 64]"), "itself"},
        {ONE("[0, 1, \"+1\", 64]"), "the port"},
        {ONE("[0, 1, 0, 64]"), "the port"},
        {ONE("[0, 1, \"+0\", -1]"), "bytes"},
        {ONE("[0, 1, \"+0\", 64, 3]"), "fifth"},
        {ONE("[0, 1, \"+0\", 999999]"), "slice"},
        {ONE("[0,1,\"+0\",64,{\"blocks\":\"0-9\"}]"), "out of range"},
        {ONE("[0,1,\"+0\",64,{\"blocks\":true}]"), "a list"},
        {ONE("[0,1,\"+0\",64,{\"blocks\":[2,1]}]"), "ascending"},
        {ONE("[0,1,\"+0\",64,{\"blocks\":4}]"), "ascending"},
        {ONE("[0,1,\"+0\",64,{\"blocks\":\"all\",\"slots\":\"0\"}]"), "either"},
        {ONE("[0,1,\"+0\",64,{\"reg\":2,\"blocks\":1}]"), "reg"},
        {ONE("[0,1,\"+0\",64,{\"into\":1,\"slots\":\"0-1\"}]"), "register 2"},
        {ONE("[0,1,\"+0\",64,{\"parts\":3}]"), "parts"},
        {ONE("[0,1,\"+0\",64,{\"parts\":[1]}]"), "a part"},
        {ONE("[0,1,\"+0\",64,{\"nic\":3}]"), "nic"},
        {ONE("[0,1,\"+0\",64,{\"blocks\":1}],[1,2,\"+0\",64]"), "1 of the 2"},
        {"{\"format\": \"trivance-schedule-1\", \"torus\": [4,4], \"vector_bytes\": 64, \"streams\": [{\"steps\": "
         "[[[0,5,\"+0\",64,{\"route\":[1,0]}]]]}]}",
         "route"},
        {COMBINE("3"), "a combine"},
        {COMBINE("[4, 0, [1], 0]"), "the rank"},
        {COMBINE("[0, 2, [1], 0]"), "the register"},
        {COMBINE("[0, 0, [2], 0]"), "a source"},
        {COMBINE("[0, 0, [], 0]"), "a combine"},
        {COMBINE("[0, 0, [1], 7]"), "ascending"},
        {HEAD "\"symmetry\": \"translation\", \"streams\": [{\"steps\": [[[0,1,\"+0\",64,{\"blocks\":\"all\"}]]]}]}",
         "text:1:97: \"symmetry\" is \"translation\", but in step 0 of stream 0 rank 1 does not send as rank 0 does"},
        {"{\"format\": \"trivance-schedule-1\", \"torus\": [1000000], \"vector_bytes\": 64, \"streams\": [{\"steps\": "
         "[[],[],[],[],[],"
         "[],[],[],[],[],[],[],[],[],[],[],[]]}]}",
         "too much for a file of 0 messages"},
        {"{\"format\": \"trivance-schedule-1\", \"torus\": [4], \"vector_bytes\": 64, \"units\": 16777216, "
         "\"streams\": [{\"steps\": "
         "[[[0,1,\"+0\",64,{\"blocks\":\"all\"}]]]}]}",
         "too many numbers to be read"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        trv_schedule_file_t file;
        if (trv_schedule_file_parse(bad[i].text, strlen(bad[i].text), "text", &file, NULL, NULL) != TRV_ERR_INVALID)
            fail_msg("accepted: %s", bad[i].text);
        if (!strstr(trv_last_error(), bad[i].words) || strncmp(trv_last_error(), "text", 4) != 0)
            fail_msg("%s\ngives: %s\nnot:   %s", bad[i].text, trv_last_error(), bad[i].words);
    }
    trv_schedule_file_t file;
    assert_int_equal(trv_schedule_file_read("/nonexistent/file.json", &file, NULL, NULL), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "/nonexistent/file.json"));
}

static void test_warnings(void **state)
{
    static const struct {
        const char *text, *words;
    } odd[] = {
        {HEAD "\"colour\": 1, \"streams\": [{\"steps\": []}]}", "colour"},
        {HEAD "\"streams\": [{\"steps\": [], \"note\": 1}]}", "stream 0: the key \"note\""},
        {ONE("[0, 1, \"+0\", 64, {\"delay\": 3}]"), "message 0: the key \"delay\""},
        {ONE("[0, 1, \"+0\", 60, {\"blocks\": \"all\"}]"), "the blocks are used"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        trv_schedule_file_t file;
        warnings = 0;
        assert_int_equal(trv_schedule_file_parse(odd[i].text, strlen(odd[i].text), "text", &file, count_warning, NULL),
                         0);
        assert_int_equal(warnings, 1);
        assert_non_null(strstr(last_warning, odd[i].words));
        trv_schedule_destroy(file.schedule);
    }
}

/* The format cannot express one-sided messages. */
static void test_one_sided_messages(void **state)
{
    static const int sides[] = {TRV_SEND, TRV_RECEIVE};
    (void)state;
    for (int i = 0; i < 2; i++) {
        trv_torus_t torus;
        trv_schedule_t *schedule;
        trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1, .registers = 1, .units = 1};
        trv_explicit_part_t part = {.count = 1, .unit = &(int64_t){0}};
        FILE *out = fopen("/dev/null", "w");
        assert_int_equal(trv_torus_parse("3", &torus), 0);
        assert_int_equal(trv_explicit_create(&schedule, &torus, "broken", &options), 0);
        assert_int_equal(trv_explicit_message(schedule, 0, 0, 0, 1, 0, -1, sides[i], 1, &part), 0);
        assert_int_equal(trv_schedule_file_write(schedule, 64, out), TRV_ERR_INVALID);
        fclose(out);
        trv_schedule_destroy(schedule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_messages_only),
        cmocka_unit_test(test_injecting_ports),
        cmocka_unit_test(test_indivisible_bytes),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_one_sided_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
