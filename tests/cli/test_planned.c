/*
 * Plans in the tool: `planned` and names with parameters are accepted for every option that takes algorithms; the
 * crossover table, the reasons for a plan, and refused input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "exhaustive.h"
#include "tool.h"

/* `planned` means the same in all subcommands, and each reports the schedule that was selected. */
static void test_planned_in_subcommands(void **state)
{
    char plan[64], line[256];
    (void)state;
    tool_plan("16x16 -b 256K", plan);
    json_t *rows = tool_json("simulate 16x16 -b 256K -a planned,trivance --model=fifo -f json");
    json_t *planned = tool_row(rows, "chosen_for", "planned");
    assert_string_equal(tool_text(planned, "algorithm"), plan);
    double planned_ns = tool_number(planned, "time_ns");
    assert_true(planned_ns < 0.9 * tool_number(tool_row(rows, "chosen_for", "trivance"), "time_ns"));
    json_decref(rows);
    /* The plan's name alone yields the same schedule. */
    snprintf(line, sizeof line, "simulate 16x16 -b 256K -a %s --model=fifo -f json", plan);
    rows = tool_json(line);
    assert_true(fabs(tool_number(tool_row(rows, "algorithm", plan), "time_ns") - planned_ns) < 1e-3);
    json_decref(rows);
    rows = tool_json("verify 16x16 -b 256K -a planned -f json");
    assert_string_equal(tool_text(tool_row(rows, "chosen_for", "planned"), "algorithm"), plan);
    assert_string_equal(tool_text(json_array_get(rows, 0), "verdict"), "exact");
    json_decref(rows);
    rows = tool_json("cost 16x16 -b 256K -a planned,ring,swing -f json");
    assert_int_equal(json_array_size(rows), 2); /* no ring on a torus */
    assert_string_equal(tool_text(tool_row(rows, "chosen_for", "planned"), "algorithm"), plan);
    json_decref(rows);
}

/* `cost` plans for the network in its options, as `plan` does: a hop is a link and both sides of a router. */
static void test_planned_by_cost(void **state)
{
    static const struct {
        const char *cost, *plan;
    } like[] = {
        {"32x32 -b 256K", "32x32 -b 256K"},
        {"32x32 -b 256K --alpha=10us --bandwidth=100Gb/s", "32x32 -b 256K --alpha=10us --bandwidth=100Gb/s"},
        {"32x32 -b 256K --hop=20us", "32x32 -b 256K --link-latency=10us --router-in=5us --router-out=5us"},
        {"27x27 -b 1M", "27x27 -b 1M"},
    };
    char plan[64], line[256], plans[4][64];
    (void)state;
    for (size_t i = 0; i < sizeof like / sizeof like[0]; i++) {
        tool_plan(like[i].plan, plan);
        snprintf(line, sizeof line, "cost %s -a planned -f json", like[i].cost);
        json_t *rows = tool_json(line);
        assert_string_equal(tool_text(json_array_get(rows, 0), "algorithm"), plan);
        strcpy(plans[i], plan);
        json_decref(rows);
    }
    assert_string_not_equal(plans[0], plans[2]); /* the network changes the plan */
    tool_t tool = tool_run("cost 9 -b 1K -a planned", NULL);
    assert_non_null(strstr(tool.out, "\nby the Hockney model; * fastest\nplanned is "));
    assert_non_null(strstr(tool.out, "\nplanned by simulation, as by `trivance plan`\n"));
    tool_clear(&tool);
}

/* A plan has one time, the simulated one: in the headline, in the output of --why, and from `simulate`. The quick
 * tier leaves out the first three, whose plans take longest. */
static void test_equal_times(void **state)
{
    static const char *const options[] = {"32x32 -b 256K",
                                          "32x32 -b 256K --link-latency=10us",
                                          "5x7 -b 1M --bandwidth=100Gb/s",
                                          "9 -b 64K -a trivance",
                                          "8x8 -b 2M -a swing --link-latency=10us",
                                          "4x4 -b 64K"};
    char line[256], headline[32], value[16], unit[16], word[40], name[64];
    (void)state;
    for (size_t i = exhaustive() ? 0 : 3; i < sizeof options / sizeof options[0]; i++) {
        const bool planned = !strstr(options[i], "-a ");
        snprintf(line, sizeof line, "plan %s", options[i]);
        tool_t tool = tool_run(line, NULL);
        char *simulated = strstr(tool.out, " simulated (fifo) at ");
        assert_non_null(simulated);
        *simulated = '\0';
        snprintf(headline, sizeof headline, "%s", strrchr(tool.out, ';') + 2); /* "22.83 us" */
        snprintf(name, sizeof name, "%.*s", (int)strcspn(tool.out, " "), tool.out);
        tool_clear(&tool);
        if (planned) {
            snprintf(line, sizeof line, "plan %s --why", options[i]);
            tool = tool_run(line, NULL);
            assert_int_equal(sscanf(strstr(tool.out, "slower\n"), "%*s %*s %*d %15s %15s", value, unit), 2);
            snprintf(word, sizeof word, "%s %s", value, unit);
            assert_string_equal(word, headline);
            tool_clear(&tool);
        }
        snprintf(line, sizeof line, "simulate %s%s", options[i], planned ? " -a planned" : "");
        tool = tool_run(line, NULL);
        assert_int_equal(sscanf(strchr(strstr(tool.out, "\ntime ") + 1, '\n'), " %*s %15s %15s", value, unit), 2);
        snprintf(word, sizeof word, "%s %s", value, unit);
        if (strcmp(word, headline) != 0)
            fail_msg("%s: %s, but %s by plan", line, word, headline);
        tool_clear(&tool);
        snprintf(line, sizeof line, "simulate %s%s -f json", options[i], planned ? " -a planned" : "");
        json_t *rows = tool_json(line);
        assert_string_equal(tool_text(json_array_get(rows, 0), "algorithm"), name); /* the same member of the family */
        json_decref(rows);
    }
}

/* Each size and network has a plan of its own. */
static void test_planned_by_size(void **state)
{
    char small[64], large[64], quick[64], line[256];
    (void)state;
    assert_int_equal(tool_plan("27x27 -b 1K", small), 6);
    assert_true(tool_plan("27x27 -b 256K", large) > 6);
    assert_int_equal(tool_plan("27x27 -b 256K --alpha=100us", quick), 6); /* steps are expensive */
    tool_t tool = tool_run("simulate 27x27 -b 1K,2K,256K -a planned --model=fifo", NULL);
    snprintf(line, sizeof line, "planned is %s at 1 KiB, 2 KiB; %s at 256 KiB\n", small, large);
    assert_non_null(strstr(tool.out, line));
    tool_clear(&tool);
    tool = tool_run("cost 27x27 -b 1K,2K -a planned", NULL);
    assert_non_null(strstr(tool.out, "planned is "));
    tool_clear(&tool);
    tool = tool_run("export 3x3 -b 1K --format=goal", NULL);
    tool_plan("3x3 -b 1K", small);
    snprintf(line, sizeof line, "export 3x3 -b 1K --format=goal -a %s", small);
    tool_t named = tool_run(line, NULL);
    assert_int_equal(tool.code, 0);
    assert_string_equal(tool.out, named.out);
    tool_clear(&named);
    tool_clear(&tool);
    tool = tool_run("plan 5x7 -b 64K --consistent", NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "; the same bits on every rank;"));
    tool_clear(&tool);
}

/* The ranges are contiguous, each plan differs from the next, no named alternative is faster, and `plan` for the
 * size at which a range begins returns the range's plan. */
static void check_ranges(const char *question, size_t min)
{
    char line[256], plan[64];
    const char *key, *before = "";
    double from = 32;
    size_t i;
    snprintf(line, sizeof line, "plan %s --all-sizes -f json", question);
    json_t *rows = tool_json(line), *row, *gain;
    assert_true(json_array_size(rows) >= min);
    json_array_foreach(rows, i, row)
    {
        int gains = 0;
        assert_true(tool_number(row, "from_bytes") == from);
        from = tool_number(row, "to_bytes");
        assert_true(tool_number(row, "bytes") >= tool_number(row, "from_bytes") && tool_number(row, "bytes") <= from);
        assert_string_not_equal(tool_text(row, "algorithm"), before);
        before = tool_text(row, "algorithm");
        json_object_foreach(row, key, gain) if (strncmp(key, "gain_", 5) == 0 && json_is_number(gain))
        {
            gains++;
            if (json_number_value(gain) < 0.9999)
                fail_msg("%s, %s: %s is %g", line, before, key, json_number_value(gain));
        }
        assert_true(gains >= 5);
        snprintf(line, sizeof line, "%s -b %.0f", question, tool_number(row, "from_bytes"));
        tool_plan(line, plan);
        assert_string_equal(plan, before);
    }
    assert_true(from == 1 << 30);
    json_decref(rows);
}

static void test_all_sizes(void **state)
{
    (void)state;
    check_ranges("4x4 --messages-per-port=unlimited", 3);
    check_ranges("8 -c allgather", 1);
    if (exhaustive()) {
        check_ranges("9 --messages-per-port=2", 3);
        check_ranges("2x6 --messages-per-port=unlimited --consistent --bandwidth=200Gb/s", 3);
    }
    tool_t tool = tool_run("plan 4x4 --all-sizes", NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "AllReduce on the torus 4x4 (16 ranks)\nfifo, "));
    assert_non_null(strstr(tool.out, "1.00x"));
    assert_null(strstr(tool.out, "  ring")); /* not defined on tori */
    tool_clear(&tool);
}

/* A row that states on which other network its schedule wins is right: the planner chooses this schedule if only that
 * parameter is changed. */
static int check_win(const char *question, json_t *row, const char *part, const char *option, const char *value)
{
    char key[64], options[128], plan[64];
    double number = tool_number(row, value);
    snprintf(key, sizeof key, "wins_%s", part);
    assert_int_equal(isnan(number), tool_text(row, key)[0] == '\0');
    if (isnan(number))
        return 0;
    const bool rate = strcmp(part, "bandwidth") == 0;
    snprintf(options, sizeof options, "%s --%s=%.9g%s", question, option, rate ? number / 1e9 : number,
             rate ? "Gb/s" : "ns");
    tool_plan(options, plan);
    assert_string_equal(plan, tool_text(row, "algorithm"));
    return 1;
}

static int check_wins(const char *question, json_t *row)
{
    return check_win(question, row, "alpha", "alpha", "alpha_ns") +
           check_win(question, row, "bandwidth", "bandwidth", "bandwidth_bps") +
           check_win(question, row, "link_latency", "link-latency", "link_latency_ns");
}

/* Where ranks differ, the planner is asked only where the order of the rows changes. */
static void test_why_where_ranks_differ(void **state)
{
    static const char *const questions[] = {"4x4 --collective=broadcast -b 64K", "3x3m -b 256K",
                                            "9 --collective=gather --root=2 -b 4K", "3x3 --no-forwarding -b 64K"};
    (void)state;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        char line[128];
        json_t *row;
        size_t at;
        int wins = 0;
        snprintf(line, sizeof line, "plan %s --why -f json", questions[i]);
        json_t *rows = tool_json(line);
        json_array_foreach(rows, at, row) wins += check_wins(questions[i], row);
        assert_true(wins > 0);
        json_decref(rows);
    }
}

/* The row that --why marks as chosen is the plan, also where messages have overheads. */
static void test_why_shows_the_plan(void **state)
{
    static const char *const questions[] = {"24 --cut=0:+0 -b 1M --network=tofu-d", "27m -b 256K --network=tofu-d",
                                            "16 --cut=0:+0 -b 1M --network=tofu-d", "5x5 --collective=reduce -b 64K",
                                            "4x4 --no-forwarding -b 1M"};
    (void)state;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        char line[128], plan[64];
        snprintf(line, sizeof line, "plan %s --why -f json", questions[i]);
        json_t *rows = tool_json(line);
        tool_plan(questions[i], plan);
        assert_string_equal(tool_text(json_array_get(rows, 0), "algorithm"), plan);
        json_decref(rows);
    }
}

static void test_why(void **state)
{
    const char *question = exhaustive() ? "27x27 -b 128K" : "9x9 -b 128K";
    char plan[64], line[64];
    snprintf(line, sizeof line, "plan %s --why -f json", question);
    json_t *rows = tool_json(line), *row;
    int wins = 0;
    double before = 0;
    size_t i;
    (void)state;
    tool_plan(question, plan);
    assert_string_equal(tool_text(json_array_get(rows, 0), "algorithm"), plan);
    json_array_foreach(rows, i, row)
    {
        double parts = tool_number(row, "alpha_part_ns") + tool_number(row, "hops_part_ns") +
                       tool_number(row, "transmission_part_ns");
        assert_true(fabs(parts - tool_number(row, "time_ns")) < 0.01);
        /* Less if ranks are idle in some steps. */
        assert_true(tool_number(row, "alpha_part_ns") <= 1500 * tool_number(row, "steps"));
        assert_true(tool_number(row, "alpha_part_ns") > 0 && tool_number(row, "hops_part_ns") > 0);
        assert_true(tool_number(row, "time_ns") >= before);
        assert_int_equal(json_is_true(json_object_get(row, "chosen")), i == 0);
        before = tool_number(row, "time_ns");
        wins += check_wins(question, row);
        /* Costlier steps make a plan with fewer steps win. */
        if (strcmp(tool_text(row, "wins_alpha"), "above") == 0)
            assert_true(tool_number(row, "steps") < tool_number(json_array_get(rows, 0), "steps"));
    }
    assert_true(wins >= 2);
    tool_row(rows, "algorithm", "bucket");
    json_decref(rows);
    if (!exhaustive())
        return;
    tool_t tool = tool_run("plan 27x27 -b 128K --why", NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "AllReduce of 128 KiB on the torus 27x27 (729 ranks)\n"));
    assert_non_null(strstr(tool.out, " would win with "));
    assert_non_null(strstr(tool.out, " Gb/s (now 800 Gb/s)"));
    assert_non_null(strstr(tool.out, "\nwould win on none of these networks: "));
    assert_non_null(strstr(tool.out,
                           "\ntried: alpha, bandwidth and link latency, one at a time, at 32 values from 1/100 "
                           "to 100 times the given one\n"));
    tool_clear(&tool);
}

/* A win far from the given parameters is found, and the reported value is the limit to two digits: beyond it the
 * plan is not chosen. */
static void test_why_distant_networks(void **state)
{
    static const double gbps[] = {8, 1300};
    char options[128], plan[64];
    (void)state;
    if (!exhaustive())
        skip();
    json_t *rows = tool_json("plan 32x32 -b 256K --why -f json");
    for (size_t i = 0; i < sizeof gbps / sizeof gbps[0]; i++) {
        snprintf(options, sizeof options, "32x32 -b 256K --bandwidth=%gGb/s", gbps[i]);
        tool_plan(options, plan);
        assert_true(tool_text(tool_row(rows, "algorithm", plan), "wins_bandwidth")[0]);
    }
    json_t *row = tool_row(rows, "algorithm", "swing-b");
    assert_string_equal(tool_text(row, "wins_bandwidth"), "below");
    const double bandwidth = tool_number(row, "bandwidth_bps") / 1e9;
    snprintf(options, sizeof options, "32x32 -b 256K --bandwidth=%gGb/s", bandwidth);
    tool_plan(options, plan);
    assert_string_equal(plan, "swing-b");
    snprintf(options, sizeof options, "32x32 -b 256K --bandwidth=%gGb/s", 1.1 * bandwidth);
    tool_plan(options, plan);
    assert_string_not_equal(plan, "swing-b");
    json_decref(rows);
    json_decref(tool_json("plan 8 --why --bandwidth=1Kb/s -f json")); /* no network is slower */
}

/* Several messages per port and step are faster if the overhead of a message is small. */
static void test_direct_all_to_all(void **state)
{
    static const struct {
        const char *options, *plan;
    } network[] = {{" --message-overhead=36us", "trivance-tree"},
                   {" --message-overhead=36us --messages-per-port=2", "linear:2"},
                   {" --message-overhead=36us --messages-per-port=unlimited", "linear:4"},
                   {" --message-overhead=5ms --messages-per-port=unlimited", "trivance-tree"}};
    char line[200], plan[64];
    (void)state;
    for (size_t i = 0; i < sizeof network / sizeof network[0]; i++) {
        snprintf(line, sizeof line, "9 -c alltoall -b 64K --bandwidth=50Mb/s --link-latency=2ms --alpha=300us%s",
                 network[i].options);
        tool_plan(line, plan);
        assert_string_equal(plan, network[i].plan);
    }
}

static void test_bad_input(void **state)
{
    static const struct {
        const char *line, *words;
    } bad[] = {
        {"plan 8x8 -a hybrid:5", "5"},
        {"simulate 8x8 -a hybrid:5", "5"},
        {"verify 8x8 -a hybrid:5", "5"},
        {"cost 8x8 -a hybrid:5", "5"},
        {"plan 8x8 -a hybrid:4x", "hybrid"},
        {"simulate 9 -c broadcast -a balanced-paths:8", "does not support Broadcast"},
        {"verify 9 -c alltoall -a linear:0", "'0' is not a number of messages per port and step from 1 to 1024"},
        {"plan 9 -c alltoall -a linear:1025", "from 1 to 1024; for example linear:8"},
        {"plan 8x8 -a hybrid:4:blue", "blue"},
        {"plan 4x4 -a hybrid:2:own2", "'own2' is not own followed by a number of dimensions"},
        {"plan 4x4 -a hybrid:2:folded:folded", "'folded' repeats or contradicts another parameter"},
        {"plan 4x4 -a hybrid:2:windows:grouped", "'grouped' repeats or contradicts another parameter"},
        {"plan 4x4m -a spanning-trees:4:", "'' is not a number of trees from 1 to 64"},
        {"plan 8x8 -a planned:4", "planned takes no parameters"},
        {"plan 8x8 -a plannd", "did you mean planned?"},
        {"plan 8x8 -a trivance-b:4", "takes no parameters"},
        {"plan 8x8 --memory=1", "scratch memory of at most 1 byte excludes trivance-l, "},
        {"plan 5x7 --memory=64 --consistent --why", "consistency excludes trivance-l, "},
        {"plan 8x8 --all-sizes --why", "the plans for all sizes"},
        {"plan 8x8 --all-sizes -b 1K", "the plans for all sizes"},
        {"plan 8x8 --all-sizes -a swing", "--all-sizes selects the plans"},
        {"plan 8x8 --why -r 3", "leave out --rank"},
        {"plan 8x8 --why -f svg", "--format: there is no format 'svg' for this table; expected table, json or csv"},
        {"plan 8x8 9 --why", "more than one torus"},
        {"plan 99999999", "a dimension of 99999999 ranks is too long for the planner"},
        {"plan --why", "--why requires a torus, for example `trivance plan 8x8 --why"},
        {"plan --schedule=x.json --consistent", "a schedule file specifies its own torus and messages"},
        {"plan 8x8 --consistent -a swing", "constrain the planner; leave them out for a named algorithm"},
        {"plan 8x8 --messages-per-port=-1", "for example 1"},
        {"plan 8x8 --memory=0", "at least 1"},
        {"plan 8x8 --memory=lots", "byte count"},
        {"plan 8x8 --bandwidth=0Gb/s", "is not a rate"},
        {"plan 8x8 --bandwidth=800", "for example 800Gb/s"},
        {"plan 8x8 --alpha=-1us", "is not a time"},
        {"plan 8x8 --alpha=1.5", "for example"},
        {"plan 8x8 --link-latency=100", "link-latency: '100' is not a time"},
        {"plan 8x8 --slow-rank=0:4x", "equally fast ranks, links with one queue and messages with one route; `trivance "
                                      "simulate 8x8 --algorithm=planned "
                                      "--slow-rank=R:Fx` times a plan with it"},
        {"plan 8x8 --jitter 10%", "--jitter: plans are made for equally fast ranks"},
        {"plan 8x8 --why --model=dateline", "--model: plans are made for "},
        {"plan 8x8 --why -o /nonexistent/why.txt", "/nonexistent/why.txt"},
        {"verify 9 -b 0", "at least 1 byte"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        tool_expect_error(bad[i].line, bad[i].words);
}

/* Of a schedule with hundreds of steps only the first are shown, with a hint how to show the rest. */
static void test_long_schedule(void **state)
{
    (void)state;
    tool_t tool = tool_run("plan 512 -a ring", NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "\n  49       0    0         1  +0"));
    assert_null(strstr(tool.out, "\n  50       0    0         1  +0"));
    assert_non_null(strstr(tool.out, "\nand 972 more steps; --rank=0 shows all of them, --format=json those of all"));
    tool_clear(&tool);
    tool = tool_run("plan 512 -a ring --rank=0", NULL);
    assert_non_null(strstr(tool.out, "\n1021       0    0       511  -0"));
    assert_null(strstr(tool.out, "more steps;"));
    tool_clear(&tool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planned_in_subcommands),
        cmocka_unit_test(test_planned_by_cost),
        cmocka_unit_test(test_equal_times),
        cmocka_unit_test(test_planned_by_size),
        cmocka_unit_test(test_all_sizes),
        cmocka_unit_test(test_why),
        cmocka_unit_test(test_why_where_ranks_differ),
        cmocka_unit_test(test_why_shows_the_plan),
        cmocka_unit_test(test_why_distant_networks),
        cmocka_unit_test(test_direct_all_to_all),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_long_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
