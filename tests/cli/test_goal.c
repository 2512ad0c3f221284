/*
 * GOAL programs: accepted and refused texts, and the times of programs on the packet simulator. An exported schedule
 * must take the same time as the schedule itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "exhaustive.h"
#include "formats/goal_file.h"
#include "simulate/goal_run.h"

static trv_goal_t parse(const char *text)
{
    trv_goal_t goal;
    if (trv_goal_file_parse(text, strlen(text), "text", &goal))
        fail_msg("%s\n%s", trv_last_error(), text);
    return goal;
}

static trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(text, &torus), 0);
    return torus;
}

static double time_of(const char *text, const char *torus_text, const trv_simulate_options_t *options)
{
    trv_torus_t torus = torus_of(torus_text);
    trv_simulation_t result;
    trv_goal_t goal = parse(text);
    if (trv_goal_simulate(&goal, &torus, options, &result))
        fail_msg("%s", trv_last_error());
    double time_ns = result.time_ns;
    trv_simulation_clear(&result);
    trv_goal_clear(&goal);
    return time_ns;
}

static trv_simulate_options_t without_alpha(void)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.alpha_ns = 0;
    return options;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void test_all_statements(void **state)
{
    (void)state;
    trv_goal_t goal = parse("// a program\nnum_ranks 2\n\n/* two\nranks */ rank 0 {\r\n"
                            "calc 5\n  L_1: calc 1500 cpu 3 // a comment\n\ta: send 10b to 1\n"
                            "b:send 4096 b to 1 tag 4294967295 cpu 255 nic 2\nb requires a\nb irequires L_1\n}\n"
                            "rank 1 { recv 10b from 0\nrecv 4096b from 0 tag 4294967295 nic 1\n}");
    static const trv_goal_op_t expected[] = {{TRV_GOAL_CALC, 0, 0, 0, 0, -1, 5, 6},
                                             {TRV_GOAL_CALC, 0, 0, 0, 3, -1, 1500, 7},
                                             {TRV_GOAL_SEND, 0, 1, 0, 0, -1, 10, 8},
                                             {TRV_GOAL_SEND, 0, 1, UINT32_MAX, 255, 2, 4096, 9},
                                             {TRV_GOAL_RECV, 1, 0, 0, 0, -1, 10, 13},
                                             {TRV_GOAL_RECV, 1, 0, UINT32_MAX, 0, 1, 4096, 14}};
    assert_int_equal(goal.ranks, 2);
    assert_int_equal(goal.ops, 6);
    for (uint32_t i = 0; i < goal.ops; i++) {
        assert_int_equal(goal.op[i].kind, expected[i].kind);
        assert_int_equal(goal.op[i].rank, expected[i].rank);
        assert_int_equal(goal.op[i].peer, expected[i].peer);
        assert_int_equal(goal.op[i].tag, expected[i].tag);
        assert_int_equal(goal.op[i].cpu, expected[i].cpu);
        assert_int_equal(goal.op[i].nic, expected[i].nic);
        assert_int_equal(goal.op[i].amount, expected[i].amount);
        assert_int_equal(goal.op[i].line, expected[i].line);
    }
    assert_int_equal(goal.dependencies, 2);
    assert_true(goal.dependency[0].op == 3 && goal.dependency[0].on == 2 && !goal.dependency[0].start);
    assert_true(goal.dependency[1].op == 3 && goal.dependency[1].on == 1 && goal.dependency[1].start);
    trv_goal_clear(&goal);
}

/* A label is local to its rank; lookup works with many labels. */
static void test_many_labels(void **state)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    (void)state;
    fputs("num_ranks 20\n", out);
    for (int rank = 0; rank < 20; rank++) {
        fprintf(out, "rank %d {\n", rank);
        for (int i = 0; i < 500; i++) {
            fprintf(out, "l%d: calc %d\n", i, rank * 1000 + i);
            if (i > 0)
                fprintf(out, "l%d requires l%d\n", i, i / 2);
        }
        fputs("}\n", out);
    }
    fclose(out);
    trv_goal_t goal = parse(text);
    assert_int_equal(goal.ops, 20 * 500);
    assert_int_equal(goal.dependencies, 20 * 499);
    for (uint32_t i = 0; i < goal.dependencies; i++) {
        uint64_t later = goal.op[goal.dependency[i].op].amount, earlier = goal.op[goal.dependency[i].on].amount;
        assert_int_equal(later / 1000, earlier / 1000);
        assert_int_equal(later % 1000 / 2, earlier % 1000);
    }
    trv_goal_clear(&goal);
    free(text);
}

#define RANK0(body) "num_ranks 2\nrank 0 {\n" body "}\nrank 1 {\n}\n"

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "line 1: 'num_ranks' and the number of ranks is missing at the end of the file"},
        {"rank 0 {\n}\n", "expected 'num_ranks' and the number of ranks, not 'rank'"},
        {"num_ranks\n", "the number of ranks is missing at the end of the line"},
        {"num_ranks -1\n", "not '-1'"},
        {"num_ranks 0\n", "must be at least 1"},
        {"num_ranks 99999999999999999999999\n", "at most 1073741824"},
        {"num_ranks 1000000000\nrank 0 {\n}\n", "line 4: rank 1 is missing"},
        {"num_ranks 2\nrank 1 {\n}\n", "line 2: expected rank 0, not rank 1"},
        {"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", "line 4: expected rank 1"},
        {"num_ranks 1\nrank 1 {\n}\n", "at most 0"},
        {"num_ranks 1\nrank 0\n", "'{' is missing"},
        {"num_ranks 1\nrank 0 {\n", "line 3: a label, send, recv, calc or '}' is missing at the end of the file"},
        {"num_ranks 1\nrank 0 {\n}\nrank 1 {\n}\n", "expected the end of the file, not 'rank'"},
        {RANK0("calc\n"), "line 3: a number of ns is missing"},
        {RANK0("calc x\n"), "expected a number of ns, not 'x'"},
        {RANK0("calc -5\n"), "not '-5'"},
        {RANK0("calc 1.5\n"), "expected the end of the line, not '.'"},
        {RANK0("calc 9999999999999\n"), "at most 3600000000000"},
        {RANK0("calc 5 nic 0\n"), "expected the end of the line, not 'nic'"},
        {RANK0("calc 5 cpu 256\n"), "at most 255"},
        {RANK0("send b to 1\n"), "expected a number of bytes, not 'b'"},
        {RANK0("send xb to 1\n"), "expected a number of bytes, not 'xb'"},
        {RANK0("send 10 to 1\n"), "expected 'b' after the number of bytes, not 'to'"},
        {RANK0("send 10b from 1\n"), "expected 'to', not 'from'"},
        {RANK0("recv 10b to 1\n"), "expected 'from', not 'to'"},
        {RANK0("send 10b to 2\n"), "the rank of the peer can be at most 1"},
        {RANK0("recv 10b from -2\n"), "expected the rank of the peer, not '-2'"},
        {RANK0("recv 10b from -1\n"), "receives from any source or with any tag are not supported, because"},
        {RANK0("recv 10b from 1 tag -1\n"), "receives from any source or with any tag are not supported, because"},
        {RANK0("send 10b to 1 tag 4294967296\n"), "at most 4294967295"},
        {RANK0("send 10b to 1 nic 0 tag 1\n"), "expected the end of the line, not 'tag'"},
        {RANK0("send 99999999999999999999b to 1\n"), "at most 1125899906842624"},
        {RANK0("jump 5\n"), "expected ':', requires or irequires, not '5'"},
        {RANK0("a: jump 5\n"), "expected send, recv or calc, not 'jump'"},
        {RANK0("a: calc 5\na: calc 6\n"), "line 4: the label 'a' is already defined in line 3"},
        {RANK0("a: calc 5\na requires b\n"), "line 4: the label 'b' is not defined before this line in rank 0"},
        {RANK0("a requires b\n"), "the label 'a' is not defined"},
        {RANK0("a: calc 5\na requires a\n"), "an operation cannot wait for itself"},
        {RANK0("a: calc 5\na requires 7\n"), "expected a label, not '7'"},
        {"num_ranks 2\nrank 0 {\na: calc 5\n}\nrank 1 {\nb: calc 5\nb requires a\n}\n", "'a' is not defined"},
        {RANK0("_a: calc 5\n"), "not '_'"},
        {RANK0("\x01\n"), "not '?'"},
        {"/* num_ranks 1", "is missing at the end of the file"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        trv_goal_t goal;
        if (trv_goal_file_parse(bad[i].text, strlen(bad[i].text), "text", &goal) != TRV_ERR_INVALID)
            fail_msg("accepted:\n%s", bad[i].text);
        if (!strstr(trv_last_error(), bad[i].words) || strncmp(trv_last_error(), "text, line ", 11) != 0)
            fail_msg("%s\nerror: %s\nwithout: %s", bad[i].text, trv_last_error(), bad[i].words);
    }
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

/* Compares two dependent steps of ranks 0 and 1, and a forwarded message, with the times of the same messages run
 * separately. */
static void test_dependencies(void **state)
{
    trv_simulate_options_t options = without_alpha();
    (void)state;
    double one = time_of("num_ranks 3\nrank 0 {\nsend 4096b to 1\n}\nrank 1 {\nrecv 4096b from 0\n}\nrank 2 {\n}\n",
                         "3", &options);
    assert_true(one > 300 && one < 1000);
    /* A chain of two sends with a calculation of 700 ns between them. */
    double chain = time_of("num_ranks 3\nrank 0 {\nsend 4096b to 1\n}\n"
                           "rank 1 {\nr: recv 4096b from 0\nc: calc 700\ns: send 4096b to 2\nc requires r\n"
                           "s requires c\n}\nrank 2 {\nrecv 4096b from 1\n}\n",
                           "3", &options);
    assert_true(fabs(chain - (2 * one + 700)) < 0.1);
    /* irequires: the send may start when the calculation has started. */
    double early = time_of("num_ranks 3\nrank 0 {\nc: calc 100\ns: send 4096b to 1\ns irequires c\n}\n"
                           "rank 1 {\nrecv 4096b from 0\n}\nrank 2 {\n}\n",
                           "3", &options);
    assert_true(fabs(early - one) < 1e-3);
    /* Independent calculations run concurrently; a receive that is posted after its message has arrived completes
     * immediately. */
    double late = time_of("num_ranks 3\nrank 0 {\nsend 4096b to 1\n}\n"
                          "rank 1 {\nc: calc 5000\nr: recv 4096b from 0\nr requires c\n}\n"
                          "rank 2 {\ncalc 4000\ncalc 4500\n}\n",
                          "3", &options);
    assert_true(fabs(late - 5000) < 1e-3);
    /* A message of a rank to itself takes no time. */
    double self = time_of("num_ranks 1\nrank 0 {\ns: send 4096b to 0\nr: recv 4096b from 0\nc: calc 10\nc requires r\n"
                          "c requires s\n}\n",
                          "1", &options);
    assert_true(fabs(self - 10) < 0.1);
}

/* The first send matches the first receive that was started, whatever their sizes; tags separate messages. */
static void test_matching(void **state)
{
    trv_simulate_options_t options = without_alpha();
    static const char in_order[] = "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 1\nb: send 1048576b to 1 tag %d\n"
                                   "b requires a\n}\n"
                                   "rank 1 {\nr: recv 8b from 0 tag 1\nq: recv 1048576b from 0 tag %d\n"
                                   "c: calc 100000\nc requires r\n}\n";
    char text[512];
    (void)state;
    snprintf(text, sizeof text, in_order, 1, 1);
    double same_tag = time_of(text, "2", &options);
    snprintf(text, sizeof text, in_order, 2, 2);
    double other_tag = time_of(text, "2", &options);
    assert_true(fabs(same_tag - other_tag) < 1e-3);
    assert_true(same_tag > 100000 && same_tag < 101000);
}

/* Routes use dimension 0 first and the shorter direction, and direction + if both are equally short; nic selects
 * only among shortest routes. */
static void test_routes(void **state)
{
    static const struct {
        int to, nic, port;
    } route[] = {
        {1, -1, 2}, {4, -1, 3}, {5, -1, 0}, {15, -1, 1}, {10, -1, 0}, {10, 1, 1}, {5, 1, 0},
        {6, -1, 0}, {6, 2, 2},  {6, 3, 0},  {6, 7, 0},   {2, -1, 2},  {3, 2, 3},
    };
    trv_simulate_options_t options = without_alpha();
    trv_torus_t torus = torus_of("4x5");
    options.link_loads = true;
    (void)state;
    for (size_t i = 0; i < sizeof route / sizeof route[0]; i++) {
        char *text = NULL;
        size_t length;
        trv_simulation_t result;
        FILE *out = open_memstream(&text, &length);
        fprintf(out, "num_ranks 20\n");
        for (int rank = 0; rank < 20; rank++) {
            fprintf(out, "rank %d {\n", rank);
            if (rank == 0)
                fprintf(out, route[i].nic < 0 ? "send 100b to %d\n" : "send 100b to %d nic %d\n", route[i].to,
                        route[i].nic);
            if (rank == route[i].to)
                fprintf(out, "recv 100b from 0\n");
            fprintf(out, "}\n");
        }
        fclose(out);
        trv_goal_t goal = parse(text);
        assert_int_equal(trv_goal_simulate(&goal, &torus, &options, &result), 0);
        for (int port = 0; port < 4; port++)
            if (result.link[port].packets != (port == route[i].port))
                fail_msg("to %d with nic %d: %d packets by port %d", route[i].to, route[i].nic,
                         (int)result.link[port].packets, port);
        trv_simulation_clear(&result);
        trv_goal_clear(&goal);
        free(text);
    }
}

/* Alpha is paid once for every set of operations that wait for the same operations, if the set contains messages. */
static void test_alpha(void **state)
{
    static const char text[] = "num_ranks 2\nrank 0 {\ns: send 8b to 1\nr: recv 8b from 1\nt: send 8b to 1 tag 1\n"
                               "t requires r\nt requires s\nc: calc 50\nc requires t\n}\n"
                               "rank 1 {\nq: recv 8b from 0\nsend 8b to 0\np: recv 8b from 0 tag 1\np requires q\n}\n";
    trv_simulate_options_t options = without_alpha();
    (void)state;
    double without = time_of(text, "2", &options);
    options.alpha_ns = 1000;
    assert_true(fabs(time_of(text, "2", &options) - without - 2000) < 1e-3);
    trv_slow_rank_t slow = {0, 3.0};
    options.slow_ranks = 1;
    options.slow_rank = &slow;
    double slowed = time_of(text, "2", &options);
    assert_true(slowed > 6000 && slowed < 6000 + without);
}

static void test_deadlocks(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"num_ranks 2\nrank 0 {\nsend 8b to 1 tag 3\n}\nrank 1 {\n}\n",
         "line 3: rank 0 has 1 send(s) to rank 1 with tag 3, but rank 1 has 0 matching receive(s)"},
        {"num_ranks 2\nrank 0 {\n}\nrank 1 {\nrecv 8b from 0\n}\n", "line 5: rank 1 has 1 receive(s) from rank 0"},
        {"num_ranks 2\nrank 0 {\na: calc 5\nb: calc 5\na requires b\nb requires a\n}\nrank 1 {\n}\n",
         "rank 0 in line 3 for the operation of rank 0 in line 4"},
        {"num_ranks 2\nrank 0 {\nr: recv 8b from 1\ns: send 8b to 1\ns requires r\n}\n"
         "rank 1 {\nr: recv 8b from 0\ns: send 8b to 0\ns requires r\n}\n",
         "wait for each other in a cycle"},
        {"num_ranks 2\nrank 0 {\nsend 9b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n",
         "line 6: rank 1 receives 8 bytes, but rank 0 sends 9 bytes in line 3"},
        {"num_ranks 2\nrank 0 {\nsend 7b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n",
         "line 6: rank 1 receives 8 bytes, but rank 0 sends 7 bytes in line 3"},
    };
    trv_simulate_options_t options = without_alpha();
    trv_torus_t torus = torus_of("2"), other = torus_of("3");
    trv_simulation_t result;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        trv_goal_t goal = parse(bad[i].text);
        assert_int_equal(trv_goal_simulate(&goal, &torus, &options, &result), TRV_ERR_INVALID);
        if (!strstr(trv_last_error(), bad[i].words))
            fail_msg("%s\nerror: %s", bad[i].text, trv_last_error());
        trv_goal_clear(&goal);
    }
    trv_goal_t goal = parse("num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n");
    assert_int_equal(trv_goal_simulate(&goal, &other, &options, &result), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_goal_simulate(&goal, &torus, &options, &result), 0);
    assert_true(result.time_ns == 0);
    trv_goal_clear(&goal);
}

/* ---- Exports of this library ------------------------------------------------------------------------------------- */

/* Returns the time of the schedule's export, with alpha written into it or added by the simulator. */
static double exported_time(const trv_schedule_t *schedule, trv_simulate_options_t options, uint64_t bytes,
                            bool written_alpha)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(trv_goal_file_write(schedule, bytes, written_alpha ? options.alpha_ns : 0, (trv_span_t){0}, out),
                     0);
    fclose(out);
    trv_goal_t goal;
    trv_simulation_t result;
    if (written_alpha)
        options.alpha_ns = 0;
    assert_int_equal(trv_goal_file_parse(text, length, "export", &goal), 0);
    if (trv_goal_simulate(&goal, trv_schedule_torus(schedule), &options, &result))
        fail_msg("%s", trv_last_error());
    double time_ns = result.time_ns;
    free(text);
    trv_goal_clear(&goal);
    trv_simulation_clear(&result);
    return time_ns;
}

/* Returns whether a message of a mirrored stream travels half way round a dimension other than its port's. It
 * travels in direction -, which GOAL cannot express, because it has no routes. */
static bool has_mirrored_ties(const trv_schedule_t *schedule)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    int own[TRV_DIMS_MAX], peer[TRV_DIMS_MAX];
    trv_step_t step = TRV_STEP_INIT;
    bool found = false;
    trv_torus_coordinates(torus, 0, own);
    for (int stream = 0; stream < trv_schedule_streams(schedule); stream++)
        for (int k = 0; k < trv_schedule_steps(schedule) && trv_schedule_mirrored(schedule, stream); k++) {
            assert_int_equal(trv_schedule_step(schedule, 0, stream, k, &step), 0);
            for (int i = 0; i < step.sends; i++) {
                trv_torus_coordinates(torus, step.send[i].peer, peer);
                for (int d = 0; d < torus->dims; d++)
                    found = found || (d != trv_port_dimension(step.send[i].port) && own[d] != peer[d] &&
                                      2 * abs(own[d] - peer[d]) == torus->size[d]);
            }
        }
    trv_step_clear(&step);
    return found;
}

static void test_time_of_exports(void **state)
{
    static const char *const tori[] = {"2", "5", "8", "9", "2x4", "3x3", "4x4", "2x2x3"};
    static const uint64_t sizes[] = {64, 300000};
    (void)state;
    int compared = 0;
    for (size_t t = 0; t < sizeof tori / sizeof tori[0]; t++)
        for (int i = 0; i < trv_algorithms_count(); i++)
            for (size_t b = 0; b < sizeof sizes / sizeof sizes[0]; b++) {
                if (!try_case((int)(t + b) + i, 3))
                    continue;
                trv_torus_t torus = torus_of(tori[t]);
                trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
                trv_schedule_t *schedule;
                trv_simulator_t *simulator;
                trv_simulation_t result;
                options.model = i % 2 ? TRV_FIFO : TRV_DATELINE;
                options.message_overhead_ns = (double)(i % 3 * 700); /* the streams of a rank share its processor */
                if (trv_schedule_create(&schedule, &torus, trv_algorithm_name(trv_algorithm_at(i)), TRV_ALLREDUCE))
                    continue;
                assert_int_equal(trv_simulator_create(&simulator, schedule), 0);
                assert_int_equal(trv_simulate(simulator, &options, sizes[b], &result), 0);
                for (int written = 0; written < 2 && !has_mirrored_ties(schedule); written++) {
                    double time_ns = exported_time(schedule, options, sizes[b], written);
                    if (fabs(time_ns - result.time_ns) > 1e-3)
                        fail_msg("%s on %s, %d bytes: %.3f ns, its export %.3f ns", trv_schedule_name(schedule),
                                 tori[t], (int)sizes[b], result.time_ns, time_ns);
                    compared++;
                }
                trv_simulation_clear(&result);
                trv_simulator_destroy(simulator);
                trv_schedule_destroy(schedule);
            }
    assert_true(compared > (exhaustive() ? 200 : 60));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_statements),  cmocka_unit_test(test_many_labels),
        cmocka_unit_test(test_bad_files),       cmocka_unit_test(test_dependencies),
        cmocka_unit_test(test_matching),        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_alpha),           cmocka_unit_test(test_deadlocks),
        cmocka_unit_test(test_time_of_exports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
