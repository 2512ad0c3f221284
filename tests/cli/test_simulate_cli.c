/*
 * trivance simulate as users run it: the effect of every option, the same times for schedules read back from files,
 * traces and link loads that add up, and faults.
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

#include "tool.h"

/* One message of 16 KiB over one hop. */
static const char one_message[] = "{\"format\": \"trivance-schedule-1\", \"torus\": [4], \"vector_bytes\": 16384, "
                                  "\"name\": \"one\", \"streams\": [{\"steps\": [[[0, 1, \"+0\", 16384]]]}]}";

static double real_at(const json_t *array, size_t index, const char *key)
{
    const json_t *value = json_object_get(json_array_get(array, index), key);
    if (!json_is_number(value))
        fail_msg("entry %zu has no number \"%s\"", index, key);
    return json_number_value(value);
}

static const char *text_at(const json_t *array, size_t index, const char *key)
{
    const char *text = json_string_value(json_object_get(json_array_get(array, index), key));
    return text ? text : "";
}

/* Runs simulate with these arguments and this standard input, which must succeed; returns its JSON output. */
static json_t *simulate(const char *test_arguments, const char *input)
{
    char line[512];
    snprintf(line, sizeof line, "simulate %s --format=json", test_arguments);
    tool_t tool = tool_run(line, input);
    json_t *array = json_loads(tool.out, JSON_REJECT_DUPLICATES, NULL);
    if (tool.code != 0 || !json_is_array(array))
        fail_msg("%s: exit code %d, %s", line, tool.code, tool.err);
    tool_clear(&tool);
    return array;
}

static double time_of(const char *test_arguments, const char *input)
{
    json_t *array = simulate(test_arguments, input);
    double time_ns = real_at(array, 0, "time_ns");
    assert_int_equal(json_array_size(array), 1);
    json_decref(array);
    return time_ns;
}

static void expect_time(const char *test_arguments, const char *input, double expected_ns)
{
    double time_ns = time_of(test_arguments, input);
    if (fabs(time_ns - expected_ns) > 0.0015)
        fail_msg("simulate %s: %.3f ns instead of %.3f ns", test_arguments, time_ns, expected_ns);
}

/* Without options: 1500 ns of alpha and the 585.04 ns that SST 11.1 with Merlin takes for 16 KiB over one hop
 * (measured): 100 to the router, 50 in, 50 out, 100 along the link, 50 in, 50 out, 100 to the node, 2.56 for a flit
 * of 256 bytes on the link, 0.56 of ticks, and 81.92 for the first packet. */
static void test_every_parameter(void **state)
{
    static const struct {
        const char *option;
        double more_ns;
    } change[] = {
        {"", 0},
        {"--model=fifo", 0},
        {"--alpha=2us", 500},
        {"--alpha=0ns", -1500},
        {"--link-latency=500ns", 400},
        {"--host-latency=200ns", 200},
        {"--router-in=60ns", 20},
        {"--router-out=60ns", 20},
        {"--delivery=tail", 81.92},
        {"--bandwidth=400Gb/s", 2.56 + 81.92},
        {"--bandwidth=50GB/s", 2.56 + 81.92},
        {"--packet=16K", -81.92},
        {"--bytes=24K", 81.92},
        {"--message-overhead=100ns", 100},
        {"--part-overhead=100ns", 0},
        {"--network=paper", 0},
        {"--injection=400Gb/s", 81.92},
        {"--slow-rank=0:2x", 1500},
        {"--slow-rank=3:2x", 0},
        {"--slow-rank=0:2x --slow-rank=3:4x", 1500},
        {"--slow-link=0:+0:2x", 2.56 + 81.92},
        {"--slow-link=1:-0:2x", 0},
        {"--slow-link=1:+0:down --slow-link=2:-0:down", 0},
        {"--cut=1:+0", 0},
        {"--cut=1:+0:one-way --slow-link=0:+0:2x", 2.56 + 81.92},
        {"--gamma=1us", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        char test_arguments[256];
        snprintf(test_arguments, sizeof test_arguments, "--schedule=- %s", change[i].option);
        expect_time(test_arguments, one_message, 1500 + 585.04 + change[i].more_ns);
    }
    /* Interfaces as slow as the link delay the second packet; a buffer of one packet makes it wait. */
    assert_true(time_of("--schedule=- --nic-bandwidth=800Gb/s", one_message) > 2085.04);
    assert_true(time_of("--schedule=- --buffer=8192 --model=dateline", one_message) > 2085.04);
    /* Jitter is at most the given value and depends on the seed only. */
    double jitter_ns = time_of("--schedule=- --jitter=10%", one_message);
    assert_true(jitter_ns > 2085.04 && jitter_ns <= 2085.04 + 150);
    expect_time("--schedule=- --jitter=10% --seed=1", one_message, jitter_ns);
    assert_true(fabs(time_of("--schedule=- --jitter=10% --seed=2", one_message) - jitter_ns) > 0.01);
    /* Rank 0 adds three vectors of 8000 bytes in one pass: 24000 bytes are read. */
    expect_time("3 -a trivance-l -b 8000 --gamma=0.01ns", NULL, time_of("3 -a trivance-l -b 8000", NULL) + 240);
    /* The reductions take 100 + 240 ns, or 0.005 ns per byte by one core. */
    expect_time("3 -a trivance-l -b 8000 --gamma=0.01ns --gamma-start=100ns", NULL,
                time_of("3 -a trivance-l -b 8000", NULL) + 340);
    expect_time("3 -a trivance-l -b 8000 --gamma=0.01ns --gamma-start=100ns --gamma-small=0.005ns", NULL,
                time_of("3 -a trivance-l -b 8000", NULL) + 120);
    /* An option replaces the profile's parameter on either side of it. */
    expect_time("8 -a ring -b 8 --network=tofu-d --alpha=9us", NULL,
                time_of("8 -a ring -b 8 --alpha=9us --network=tofu-d", NULL));
    assert_true(time_of("8 -a ring -b 8 --network=tofu-d --alpha=9us", NULL) > 9000);
    /* A rank of the ring meets one peer in the reduce-scatter and the other in the allgather. In the first step the
     * second stream waits for the overhead of the first one. */
    expect_time("3 -a ring -b 3000 --part-overhead=1us", NULL, time_of("3 -a ring -b 3000", NULL) + 3000);
}

/* The output of plan is simulated in exactly the same time, whether the schedule has blocks, slots or a family's
 * name. */
static void test_round_trip(void **state)
{
    static const struct {
        const char *torus, *algorithm, *bytes, *options;
    } trip[] = {
        {"9", "trivance-l", "1000", ""},
        {"8", "trivance-b", "1M", ""},
        {"25", "trivance-l", "64K", ""},
        {"3x4", "trivance", "100000", ""},
        {"8", "swing-b", "1M", "--model=fifo"},
        {"2x4", "swing-l", "12345", ""},
        {"4x4", "recdoub-b", "300000", ""},
        {"8", "recdoub-b-split", "64K", "--delivery=tail"},
        {"6", "recdoub-l", "64K", ""},
        {"5x2", "bucket", "4097", ""},
        {"7", "ring", "1", ""},
        {"10", "bruck-b", "1M", ""},
        {"3x3", "bruck-l", "1M", ""},
        {"6", "trivance-l-gathered", "5000", ""},
        {"9", "trivance-l-grouped", "5000", "--alpha=0ns --jitter=0%"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof trip / sizeof trip[0]; i++) {
        char line[256], direct[256], file[256];
        snprintf(line, sizeof line, "plan %s -a %s -b %s --format=json", trip[i].torus, trip[i].algorithm,
                 trip[i].bytes);
        snprintf(direct, sizeof direct, "%s -a %s -b %s %s", trip[i].torus, trip[i].algorithm, trip[i].bytes,
                 trip[i].options);
        snprintf(file, sizeof file, "--schedule=- %s", trip[i].options);
        tool_t plan = tool_run(line, NULL);
        assert_int_equal(plan.code, 0);
        json_t *a = simulate(direct, NULL), *b = simulate(file, plan.out);
        if (real_at(a, 0, "time_ns") != real_at(b, 0, "time_ns") || real_at(a, 0, "bytes") != real_at(b, 0, "bytes") ||
            real_at(a, 0, "packet_hops") != real_at(b, 0, "packet_hops"))
            fail_msg("simulate %s: %.3f ns, from the file %.3f ns", direct, real_at(a, 0, "time_ns"),
                     real_at(b, 0, "time_ns"));
        assert_string_equal(text_at(a, 0, "algorithm"), text_at(b, 0, "algorithm"));
        json_decref(a);
        json_decref(b);
        tool_clear(&plan);
    }
}

/* A family is as fast as its fastest member, and the relative time matches the formula. */
static void test_families(void **state)
{
    (void)state;
    json_t *array = simulate("8 -a trivance,trivance-l,trivance-b,ring -b 32,16M", NULL);
    assert_int_equal(json_array_size(array), 8);
    for (size_t size = 0; size < 2; size++) {
        size_t member = 2 + size + 2 * size;
        double trivance_ns = real_at(array, size, "time_ns"), ring_ns = real_at(array, 6 + size, "time_ns");
        assert_string_equal(text_at(array, size, "chosen_for"), "trivance");
        assert_string_equal(text_at(array, size, "algorithm"), text_at(array, member, "algorithm"));
        assert_true(trivance_ns == real_at(array, member, "time_ns"));
        assert_true(trivance_ns <= fmin(real_at(array, 2 + size, "time_ns"), real_at(array, 4 + size, "time_ns")));
        assert_true(fabs(real_at(array, 6 + size, "time_vs_trivance") - ring_ns / trivance_ns) < 1e-6);
        assert_true(json_is_true(json_object_get(json_array_get(array, size), "best")) == (trivance_ns <= ring_ns));
    }
    assert_string_equal(text_at(array, 0, "algorithm"), "trivance-l");
    assert_string_equal(text_at(array, 1, "algorithm"), "trivance-b");
    json_decref(array);
    array = simulate("8 -a swing -b 32", NULL);
    assert_true(json_is_null(json_object_get(json_array_get(array, 0), "time_vs_trivance")));
    json_decref(array);
}

static void expect_words(const char *line, const char *words, const char *no_words)
{
    tool_t tool = tool_run(line, NULL);
    if (tool.code != 0 || !strstr(tool.out, words) || (no_words && strstr(tool.out, no_words)))
        fail_msg("trivance %s: exit code %d\n%s%snot with: %s", line, tool.code, tool.out, tool.err, words);
    tool_clear(&tool);
}

static void test_tables(void **state)
{
    (void)state;
    /* 2.00312 us: alpha and 503.12 ns for one packet over one hop. */
    expect_words("simulate 3 -a trivance -b 32", "trivance  2.003 us l\n", "Trivance's");
    expect_words("simulate 3 -a trivance,ring -b 32",
                 "\nTime divided by Trivance's time; below 1x: faster than Trivance\n", NULL);
    expect_words("simulate 8x8 -a trivance,bucket -b 32", "\nbucket    6.36x\n", NULL); /* steps relative to L's */
    expect_words("simulate 3 -a swing,ring -b 32", "* fastest", "as long as Trivance");
    expect_words("simulate 3x3 -b 32", "bucket", "\nring");
    expect_words("simulate 3x3 -a trivance,ring -b 32", "ring cannot run: ring supports only rings", NULL);
    expect_words("simulate 3 3x3 -a ring,bucket -b 32 --model=fifo --delivery=tail --slow-link=2:-0:3x",
                 "fifo, delivery tail, 800 Gb/s, alpha 1.5 us, links 100 ns, hosts 100 ns, routers 50 + 50 ns, "
                 "packets of 8 KiB, link 2:-0 3x\n",
                 NULL);
    expect_words(
        "simulate 3 -a ring -b 32 --buffer=64K --model=dateline --jitter=5% --seed=7 --slow-rank=1:1.5x --gamma=0.01ns "
        "--message-overhead=20ns --nic-bandwidth=1Tb/s",
        "interfaces 1000 Gb/s, buffers of 64 KiB, reductions 0.01 ns/B, message overhead 20 ns, jitter 5 %, seed 7, "
        "rank 1 1.5x\n",
        NULL);
}

/* Parameters that the planner ignores are reported when a plan is simulated with them. */
static void test_parameters_ignored_by_planner(void **state)
{
    static const struct {
        const char *line, *warning;
    } with[] = {
        {"simulate 8 -a planned -b 8 --slow-link=0:+0:4x --cut=3:+0", ""},
        {"simulate 8 -b 8 -f json --slow-rank=0:2x --jitter=5% --buffer=64K --model=dateline",
         "trivance simulate: warning: the planner ignores buffer, jitter, slow-rank\n"},
        {"simulate 8 -a swing -b 8 --slow-link=0:+0:4x", ""},
        {"simulate 8 -a planned -b 8", ""},
        {"simulate --schedule=" TRIVANCE_TEST_DATA "/8-TrivanceB-131072.json --slow-link=0:+0:4x", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++) {
        tool_t tool = tool_run(with[i].line, NULL);
        assert_int_equal(tool.code, 0);
        assert_string_equal(tool.err, with[i].warning);
        tool_clear(&tool);
    }
}

/* The cost model's time equals that of `trivance cost` with a hop latency of link and router, 200 ns. */
static void test_compare(void **state)
{
    (void)state;
    json_t *array = simulate("8 -a trivance-b,swing-b -b 1M --compare", NULL);
    json_t *cost = tool_json("cost 8 -a trivance-b,swing-b -b 1M --hop=200ns --format=json");
    for (size_t i = 0; i < 2; i++) {
        double ratio = real_at(array, i, "time_ns") / real_at(cost, i, "time_ns");
        assert_true(real_at(array, i, "cost_ns") == real_at(cost, i, "time_ns"));
        assert_true(fabs(real_at(array, i, "cost_ratio") - ratio) < 1e-6);
        assert_true(ratio > 0.9 && ratio < 1.5);
    }
    json_decref(cost);
    json_decref(array);
    expect_words("simulate 8 -a trivance-b,swing-b -b 1M --compare", "and the ratio of the simulated time to it", NULL);
}

/* On four ranks all eight links are shown, so they account for every packet hop, and none is busy longer than the
 * run. */
static void test_links(void **state)
{
    (void)state;
    json_t *array = simulate("4 -a swing-b --links", NULL);
    json_t *links = json_object_get(json_array_get(array, 0), "links");
    double packets = 0, utilisation = 0;
    assert_true(real_at(array, 0, "bytes") == 1 << 20);
    assert_int_equal(json_array_size(links), 8);
    for (size_t i = 0; i < 8; i++) {
        packets += real_at(links, i, "packets");
        utilisation += real_at(links, i, "utilisation");
        assert_true(real_at(links, i, "utilisation") <= (i ? real_at(links, i - 1, "utilisation") : 1));
        assert_true(real_at(links, i, "bytes") > 0 && real_at(links, i, "queue_max") > 0);
        const char *port = text_at(links, i, "port");
        int step = port[0] == '+' ? 1 : 3, from = (int)real_at(links, i, "from");
        assert_int_equal((from + step) % 4, (int)real_at(links, i, "to"));
    }
    assert_true(packets == real_at(array, 0, "packet_hops"));
    assert_true(fabs(utilisation / 8 - real_at(array, 0, "utilisation_mean")) < 2e-6);
    assert_true(real_at(array, 0, "links_used") == 8);
    json_decref(array);
    array = simulate("3x4 -a bucket -b 64K --links", NULL);
    assert_int_equal(json_array_size(json_object_get(json_array_get(array, 0), "links")), 10);
    json_decref(array);
    expect_words("simulate 4x1 -a recdoub-l --links", "6 of 8 used", NULL);
}

/* ---- Traces ------------------------------------------------------------------------------------------------------ */

typedef struct observed {
    int steps, packets, names;
    double end_us;
    double port_end_us[16][32]; /* end time of the latest packet of a thread */
} observed_t;

static void observe(const json_t *event, observed_t *observed)
{
    int rank = (int)json_integer_value(json_object_get(event, "pid"));
    int thread = (int)json_integer_value(json_object_get(event, "tid"));
    const char *phase = json_string_value(json_object_get(event, "ph"));
    if (strcmp(phase, "M") == 0) {
        observed->names += strcmp(json_string_value(json_object_get(event, "name")), "thread_name") == 0;
        return;
    }
    double begin_us = json_number_value(json_object_get(event, "ts"));
    double end_us = begin_us + json_number_value(json_object_get(event, "dur"));
    assert_string_equal(phase, "X");
    assert_true(rank >= 0 && rank < 9 && thread >= 0 && thread < 6 && end_us > begin_us);
    if (strcmp(json_string_value(json_object_get(event, "cat")), "step") == 0) {
        observed->steps++;
        assert_true(thread < 2);
        observed->end_us = fmax(observed->end_us, end_us);
    } else {
        observed->packets++;
        assert_true(thread >= 2 && begin_us >= observed->port_end_us[rank][thread] - 1e-9);
        observed->port_end_us[rank][thread] = end_us;
    }
}

/* Two streams of four steps on nine ranks; a link carries one packet at a time; the last step ends with the
 * simulation. */
static void test_trace(void **state)
{
    char path[300], test_arguments[400];
    observed_t observed = {0};
    (void)state;
    snprintf(path, sizeof path, "%s/trace.json", tool_folder());
    snprintf(test_arguments, sizeof test_arguments, "3x3 -a trivance-b -b 64K --trace=%s", path);
    json_t *array = simulate(test_arguments, NULL), *event;
    json_t *trace = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    size_t i;
    assert_non_null(trace);
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event) observe(event, &observed);
    assert_int_equal(observed.names, 9 * (2 + 4));
    assert_int_equal(observed.steps, 9 * 2 * 4);
    assert_int_equal(observed.packets, (int)real_at(array, 0, "packet_hops"));
    assert_true(fabs(1e3 * observed.end_us - real_at(array, 0, "time_ns")) < 0.002);
    json_decref(trace);
    json_decref(array);
    remove(path);
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

/* The rows with a cut are lines, on which recdoub-l works; a star's messages turn corners, and some of them enter
 * the cut. */
static void test_faults(void **state)
{
    (void)state;
    json_t *array = simulate("4x4 -a star,recdoub-l -b 1K --slow-link=1:-0:down --links --compare", NULL);
    const json_t *cut = json_array_get(array, 0);
    assert_true(json_is_null(json_object_get(cut, "time_ns")) && json_is_null(json_object_get(cut, "links")));
    assert_non_null(strstr(text_at(array, 0, "error"), "needs the link 1:-0"));
    assert_string_equal(text_at(array, 0, "algorithm"), "star");
    assert_true(real_at(array, 1, "time_ns") > 0);
    assert_true(json_is_null(json_object_get(json_array_get(array, 1), "error")));
    json_decref(array);
    expect_words("simulate 4x4 -a star,recdoub-l -b 1K --slow-link=1:-0:down",
                 "8 KiB, link 1:-0 down\n\ntime          1 KiB\nrecdoub-l  8.418 us*\n* fastest\n", "\nstar  ");
    expect_words("simulate 4x4 -a star,recdoub-l -b 1K --slow-link=1:-0:down",
                 "\nstar cannot run: a message of rank 3 needs the link 1:-0, which is cut\n", NULL);
}

/* ---- GOAL -------------------------------------------------------------------------------------------------------- */

/* Rank 1 computes for 1000 ns, then sends 8 KiB to rank 0 over one hop: 503.12 ns on the reference simulator. */
static void test_goal(void **state)
{
    static const char program[] = "num_ranks 4\n"
                                  "rank 0 {\nl1: recv 8192b from 1 tag 5\n}\n"
                                  "rank 1 {\nl1: calc 1000\nl2: send 8192b to 0 tag 5\nl2 requires l1\n}\n"
                                  "rank 2 {\n}\nrank 3 {\n}\n";
    (void)state;
    expect_time("4 --goal=-", program, 1503.12);
    expect_time("4 --goal=- --link-latency=200ns", program, 1603.12);
    assert_true(time_of("4 --goal=- --alpha=1us", program) > 1503.12);
    json_t *array = simulate("4 --goal=- --links", program);
    json_t *links = json_object_get(json_array_get(array, 0), "links");
    assert_true(json_is_null(json_object_get(json_array_get(array, 0), "bytes")));
    assert_int_equal(json_array_size(links), 1);
    assert_true(real_at(links, 0, "from") == 1 && real_at(links, 0, "to") == 0);
    json_decref(array);
    tool_t tool = tool_run("simulate 4 --goal=-", program);
    assert_non_null(strstr(tool.out, "(4 ranks); alpha is paid in addition to its calculations\n"));
    tool_clear(&tool);
    tool = tool_run("simulate 5 --goal=-", program);
    assert_int_equal(tool.code, 2);
    assert_string_equal(tool.out, "");
    tool_clear(&tool);
}

/* The output of `export`, alpha included, takes as long as the original, to 1 ns per step. */
static void test_goal_round_trip(void **state)
{
    static const struct {
        const char *torus, *algorithm;
        int steps;
    } trip[] = {{"8", "trivance-b", 4},
                {"3x3", "trivance-l", 2},
                {"4x4", "swing-b", 8},
                {"5", "ring", 8},
                {"9 --cut=3:+0", "trivance-b",
                 4}, /* a GOAL program has no routes: its messages avoid cuts as those of schedules do */
                {"4x4 --cut=0:+0 --cut=5:+1", "trivance-l", 4}};
    (void)state;
    for (size_t i = 0; i < sizeof trip / sizeof trip[0]; i++) {
        char line[256];
        snprintf(line, sizeof line, "export %s -a %s -b 64K -f goal", trip[i].torus, trip[i].algorithm);
        tool_t program = tool_run(line, NULL);
        assert_int_equal(program.code, 0);
        snprintf(line, sizeof line, "%s --goal=-", trip[i].torus);
        double goal_ns = time_of(line, program.out);
        snprintf(line, sizeof line, "%s -a %s -b 64K", trip[i].torus, trip[i].algorithm);
        if (fabs(goal_ns - time_of(line, NULL)) > trip[i].steps)
            fail_msg("simulate %s: %.3f ns, as GOAL program %.3f ns", line, time_of(line, NULL), goal_ns);
        tool_clear(&program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_parameter),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_parameters_ignored_by_planner),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_goal),
        cmocka_unit_test(test_goal_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
