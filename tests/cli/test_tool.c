/*
 * The tool as users run it: output of each subcommand, exit codes, keys of JSON and CSV. Refused input is in
 * test_bad_input.c.
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
#include <unistd.h>

#include <trivance/trivance.h>

#include "exhaustive.h"
#include "tool.h"

/* Reports the first line that differs, which is more useful than two long texts. */
static void expect_same(const char *what, const char *result, const char *expected)
{
    int line = 1;
    const char *start_got = result, *start_wanted = expected;
    for (; *result && *result == *expected; result++, expected++)
        if (*result == '\n') {
            line++;
            start_got = result + 1;
            start_wanted = expected + 1;
        }
    if (*result != *expected)
        fail_msg("%s: line %d is\n%.*s\nnot\n%.*s", what, line, (int)strcspn(start_got, "\n"), start_got,
                 (int)strcspn(start_wanted, "\n"), start_wanted);
}

/* The keys of the first object are these, in this order, and are documented in the man page; CSV has them as its
 * header. */
static void expect_keys(const char *line, const char *keys, const char *page)
{
    char path[512], csv[256], header[1024] = "";
    json_t *array = tool_json(line);
    const char *key;
    json_t *value;
    snprintf(path, sizeof path, "%s/%s", TRIVANCE_MAN, page);
    char *manual = tool_read_file(path);
    assert_true(json_array_size(array) > 0);
    json_object_foreach(json_array_get(array, 0), key, value)
    {
        size_t used = strlen(header);
        snprintf(header + used, sizeof header - used, "%s%s", used ? "," : "", key);
        if (!strstr(manual, strncmp(key, "gain_", 5) == 0 ? "gain_NAME" : key)) /* one for every algorithm */
            fail_msg("the key %s is not in %s", key, page);
    }
    assert_string_equal(header, keys);
    snprintf(csv, sizeof csv, "%.*scsv", (int)(strstr(line, "json") - line), line);
    tool_t tool = tool_run(csv, NULL);
    assert_int_equal(tool.code, 0);
    assert_int_equal(strcspn(tool.out, "\n"), strlen(keys));
    assert_true(strncmp(tool.out, keys, strlen(keys)) == 0);
    size_t lines = 0;
    for (const char *p = tool.out; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, json_array_size(array) + 1);
    tool_clear(&tool);
    free(manual);
    json_decref(array);
}

/* One gain for every algorithm of the table. */
static void expect_range_keys(void)
{
    char keys[1024] = "torus,collective,from_bytes,to_bytes,algorithm,steps,consistent,bytes,time_ns";
    for (int i = 0; i < trv_algorithms_count(); i++) {
        size_t used = strlen(keys);
        snprintf(keys + used, sizeof keys - used, ",gain_%s", trv_algorithm_name(trv_algorithm_at(i)));
        for (char *p = keys + used; *p; p++)
            *p = *p == '-' ? '_' : *p;
    }
    expect_keys("plan 2x2 --all-sizes --format=json", keys, "trivance-plan.1");
}

static void test_keys(void **state)
{
    (void)state;
    expect_keys("list --format=json",
                "name,parameters,family,title,variant,steps,bytes,exact,consistent,symmetry,sizes,source,use,baseline,"
                "colour,collectives",
                "trivance-list.1");
    expect_keys("list --collectives --format=json", "name,title,before,after,reduces", "trivance-list.1");
    expect_keys("verify 9 3x3 -c all --format=json",
                "torus,algorithm,chosen_for,collective,verdict,consistent,ranks,blocks,messages,method,seconds,"
                "fault_rank,fault_stream,fault_step,fault_block,reason",
                "trivance-verify.1");
    expect_keys("search 7-9 --format=json", "ring,steps,distances,transmission,paper_transmission,bound,complete",
                "trivance-search.1");
    expect_keys("search 4x4,7x7 --format=json",
                "torus,steps,factors,hops,diameter,step_hops,step_loads,subgroups,chain", "trivance-search.1");
    expect_keys(
        "plan 3x3 --why --format=json",
        "torus,collective,bytes,algorithm,steps,consistent,chosen,time_ns,approximate,alpha_part_ns,hops_part_ns,"
        "transmission_part_ns,wins_alpha,alpha_ns,wins_bandwidth,bandwidth_bps,wins_link_latency,"
        "link_latency_ns",
        "trivance-plan.1");
    expect_range_keys();
    expect_keys("info --format=json", "kind,name,value,default,allowed,example,meaning,fault", "trivance-info.1");
    expect_keys("cost 9 3x3 --format=json",
                "torus,collective,algorithm,chosen_for,steps,messages,lambda,delta,theta,paper_lambda,paper_delta,"
                "paper_theta,paper_theta_limit,bytes,time_ns,best",
                "trivance-cost.1");
    expect_keys("cost 9 -b 8 --limit --format=json",
                "torus,collective,algorithm,chosen_for,steps,messages,lambda,delta,theta,paper_lambda,paper_delta,"
                "paper_theta,paper_theta_limit,bytes,time_ns,best,limit_ns,limit_from,limit_ratio,reference_ns",
                "trivance-cost.1");
    expect_keys(
        "plan 3x3 --why --limit --format=json",
        "torus,collective,bytes,algorithm,steps,consistent,chosen,time_ns,approximate,alpha_part_ns,hops_part_ns,"
        "transmission_part_ns,wins_alpha,alpha_ns,wins_bandwidth,bandwidth_bps,wins_link_latency,"
        "link_latency_ns,limit_ns,limit_from,limit_ratio,reference_ns",
        "trivance-plan.1");
    expect_keys("simulate 9 3x3 -b 8 --compare --format=json",
                "torus,collective,algorithm,chosen_for,model,delivery,bandwidth_bps,nic_bandwidth_bps,alpha_ns,"
                "link_latency_ns,host_latency_ns,router_in_ns,router_out_ns,packet,bytes,time_ns,"
                "time_vs_trivance,best,packet_hops,simulated_hops,messages_per_port,wall_s,error,cost_ns,cost_ratio",
                "trivance-simulate.1");
}

static void test_list(void **state)
{
    (void)state;
    json_t *array = tool_json("list --format=json"), *entry;
    size_t i;
    assert_int_equal(json_array_size(array), trv_algorithms_count());
    json_array_foreach(array, i, entry)
    {
        const trv_algorithm_t *algorithm = trv_algorithm_at((int)i);
        assert_string_equal(json_string_value(json_object_get(entry, "name")), trv_algorithm_name(algorithm));
        assert_int_equal(json_is_true(json_object_get(entry, "consistent")), trv_algorithm_consistent(algorithm));
    }
    json_decref(array);
    array = tool_json("list --collective=alltoall --format=json");
    assert_in_range(json_array_size(array), 5, trv_algorithms_count() / 2);
    json_array_foreach(array, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        assert_true(trv_algorithm_has_collective(trv_algorithm_find(name), TRV_ALLTOALL));
        const json_t *last = json_object_get(entry, "collectives");
        assert_string_equal(json_string_value(json_array_get(last, json_array_size(last) - 1)), "alltoall");
    }
    json_decref(array);
    array = tool_json("list --collectives --format=json");
    assert_int_equal(json_array_size(array), TRV_ALLTOALL + 1);
    json_array_foreach(array, i, entry)
    {
        assert_string_equal(json_string_value(json_object_get(entry, "name")),
                            trv_collective_name((trv_collective_t)i));
        assert_string_equal(json_string_value(json_object_get(entry, "title")),
                            trv_collective_title((trv_collective_t)i));
    }
    json_decref(array);
    tool_t tool = tool_run("list", NULL);
    for (int k = 0; k < trv_algorithms_count(); k++)
        assert_non_null(strstr(tool.out, trv_algorithm_name(trv_algorithm_at(k))));
    assert_non_null(strstr(tool.out, "trivance = the fastest of trivance-l, trivance-b"));
    assert_null(strchr(tool.out, '\033'));
    tool_clear(&tool);
}

static void test_verify(void **state)
{
    (void)state;
    json_t *array = tool_json("verify 9 3x3 8 --collective=all --format=json"), *entry;
    size_t i, skipped = 0, exact = 0, rows = 0;
    for (int c = TRV_ALLREDUCE; c <= TRV_ALLTOALL; c++) {
        rows++; /* planned */
        for (int a = 0; a < trv_algorithms_count(); a++)
            rows += trv_algorithm_has_collective(trv_algorithm_at(a), (trv_collective_t)c);
    }
    assert_int_equal(json_array_size(array), 3 * rows);
    json_array_foreach(array, i, entry)
    {
        const char *verdict = json_string_value(json_object_get(entry, "verdict"));
        skipped += strcmp(verdict, "skipped") == 0;
        exact += strcmp(verdict, "exact") == 0;
        assert_string_not_equal(verdict, "WRONG");
        assert_int_equal(json_is_null(json_object_get(entry, "reason")), strcmp(verdict, "skipped") != 0);
        assert_true(strcmp(verdict, "skipped") == 0 || json_integer_value(json_object_get(entry, "messages")) > 0);
    }
    assert_true(skipped > 0 && exact > skipped);
    json_decref(array);
    /* `-c all` selects the collectives that an algorithm supports, also for one algorithm by name. */
    tool_t one = tool_run("verify 9 -a trivance-l -c all --format=csv", NULL);
    assert_int_equal(one.code, 0);
    assert_non_null(strstr(one.out, "\n9,trivance-l,trivance-l,allreduce,exact,"));
    assert_non_null(strstr(one.out, "\n9,trivance-l,trivance-l,allgather,skipped,"));
    tool_clear(&one);
    tool_t tool = tool_run("verify 9 3x3 --method=random -a trivance", NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "random"));
    tool_clear(&tool);
}

/* A wrong schedule file is refused with exit code 1 and the verifier's sentence before anything is printed or
 * written; with --unchecked it is accepted. */
static void expect_refused(const char *file, const char *fault)
{
    static const char *const reader[] = {"plan",
                                         "plan --format=json",
                                         "cost",
                                         "cost --format=csv",
                                         "simulate",
                                         "simulate --trace=%s/wrong",
                                         "export --format=goal -o %s/wrong",
                                         "export --format=mscclpp"};
    char command[128], line[192], path[128];
    snprintf(path, sizeof path, "%s/wrong", tool_folder());
    for (size_t i = 0; i < sizeof reader / sizeof reader[0]; i++) {
        snprintf(command, sizeof command, reader[i], tool_folder());
        snprintf(line, sizeof line, "%s --schedule=-", command);
        tool_t tool = tool_run(line, file);
        char *sentence = strstr(tool.err, ": stdin violates its claims: ");
        if (tool.code != 1 || tool.out[0] || !sentence || !strstr(sentence, fault) || access(path, F_OK) == 0)
            fail_msg("%s: exit code %d, '%s' on stdout, on stderr\n%snot: %s", line, tool.code, tool.out, tool.err,
                     fault);
        tool_clear(&tool);
        snprintf(line, sizeof line, "%s --schedule=- --unchecked", command);
        tool = tool_run(line, file);
        if (tool.code != 0)
            fail_msg("%s: %s", line, tool.err);
        tool_clear(&tool);
        remove(path);
    }
}

/* A reduction that leaves one source out is found and named, with exit code 1. */
static void test_verify_fault(void **state)
{
    (void)state;
    tool_t plan = tool_run("plan 9 -a trivance-l -f json", NULL);
    assert_int_equal(plan.code, 0);
    tool_t good = tool_run("verify --schedule=- --format=json", plan.out);
    assert_int_equal(good.code, 0);
    char *find_values = strstr(plan.out, "[4,0,[1,0,2],");
    assert_non_null(find_values);
    memcpy(find_values, "[4,0,[1,0]  ,", strlen("[4,0,[1,0]  ,"));
    tool_t error = tool_run("verify --schedule=-", plan.out);
    assert_int_equal(error.code, 1);
    assert_non_null(strstr(error.out, "WRONG"));
    tool_t json = tool_run("verify --schedule=- --format=json", plan.out);
    assert_int_equal(json.code, 1);
    json_t *array = json_loads(json.out, 0, NULL), *entry = json_array_get(array, 0);
    assert_string_equal(json_string_value(json_object_get(entry, "verdict")), "WRONG");
    assert_true(json_string_length(json_object_get(entry, "reason")) > 20);
    assert_true(json_is_null(json_object_get(entry, "messages"))); /* those after the fault were not examined */
    expect_refused(plan.out, json_string_value(json_object_get(entry, "reason")));
    json_decref(array);
    tool_clear(&json);
    tool_clear(&error);
    tool_clear(&good);
    tool_clear(&plan);
}

static void test_cost(void **state)
{
    (void)state;
    json_t *array = tool_json("cost 9 --algorithm=trivance,trivance-l,trivance-b --bytes=8,64M --format=json");
    assert_int_equal(json_array_size(array), 6);
    /* The family selects trivance-l for 8 bytes and trivance-b for 64 MiB, and takes the same time. */
    static const char *const chosen[] = {"trivance-l", "trivance-b"};
    for (size_t i = 0; i < 2; i++) {
        json_t *family = json_array_get(array, i), *member = json_array_get(array, 2 + 2 * i + i);
        assert_string_equal(json_string_value(json_object_get(family, "algorithm")), chosen[i]);
        assert_string_equal(json_string_value(json_object_get(family, "chosen_for")), "trivance");
        assert_true(json_real_value(json_object_get(family, "time_ns")) ==
                    json_real_value(json_object_get(member, "time_ns")));
        assert_true(json_is_true(json_object_get(family, "best")));
    }
    json_decref(array);
    /* Two steps of 1.5 us, then 8 bytes over a link once and three times at 800 Gb/s: 3000 + 0.08 + 0.24 ns. */
    tool_t tool = tool_run("cost 9 -a trivance-l -b 8 --format=csv", NULL);
    assert_non_null(strstr(tool.out, ",3000.320,true\n"));
    tool_clear(&tool);
    tool = tool_run("cost 9 -a trivance-l -b 8 --format=csv --alpha=1us --bandwidth=1Gb/s --hop=100ns", NULL);
    assert_non_null(strstr(tool.out, ",2656.000,true\n"));
    tool_clear(&tool);
    tool = tool_run("cost 3x3 -a all -b 8", NULL);
    assert_int_equal(tool.code, 0);
    assert_null(strstr(tool.out, "\nring "));
    tool_clear(&tool);
}

static void test_cost_paper(void **state)
{
    (void)state;
    if (!exhaustive())
        skip();
    json_t *array = tool_json("cost --paper --format=json"), *entry;
    size_t i, trivance = 0;
    json_array_foreach(array, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "algorithm"));
        double lambda = json_real_value(json_object_get(entry, "lambda"));
        assert_true(fabs(lambda - json_real_value(json_object_get(entry, "paper_lambda"))) < 1e-3);
        if (strncmp(name, "trivance", 8) == 0) {
            assert_true(json_is_true(json_object_get(entry, "agrees")));
            trivance++;
        }
    }
    assert_true(trivance >= 12);
    json_decref(array);
}

/* tests/cli/plan-9.txt is the output of `LC_ALL=C trivance plan 9`. Every line was checked by hand against the
 * paper's section 4.3 and figure 3; the time is that of `simulate 9 -a trivance-l -b 64K`. */
static void test_plan_text(void **state)
{
    (void)state;
    tool_t tool = tool_run("plan 9 -a trivance", NULL);
    char *golden = tool_read_file(TRIVANCE_CLI_TESTS "/plan-9.txt");
    assert_int_equal(tool.code, 0);
    expect_same("plan 9 -a trivance", tool.out, golden);
    free(golden);
    tool_clear(&tool);
    static const char *const utf8[] = {"LC_ALL=C.UTF-8", NULL};
    tool = tool_run_as(TRIVANCE_TOOL, "plan 9 -a trivance", NULL, utf8);
    assert_non_null(strstr(tool.out, "▶"));
    tool_clear(&tool);
    tool = tool_run("plan 8 -a swing-b --rank=3 --stream=1", NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "program of rank 3"));
    assert_null(strstr(tool.out, "stream 0 step"));
    tool_clear(&tool);
    tool = tool_run("plan 100x100x100 -a trivance-b -b 1G", NULL);
    assert_int_equal(tool.code, 0);
    tool_clear(&tool);
}

/* One rank of a large torus: nothing is simulated, and long lists of blocks are abbreviated to their number. */
static void test_plan_of_one_rank(void **state)
{
    (void)state;
    tool_t tool = tool_run("plan 100x100x100 -a trivance-b -b 1M --rank 123456", NULL);
    assert_int_equal(tool.code, 0);
    assert_null(strstr(tool.out, "simulated"));
    assert_non_null(strstr(tool.out, "113456  -0       1     33205  190000 of 2000000"));
    assert_non_null(strstr(tool.out, "send    to   123457  by own port +2  register 0 blocks 190000 of 2000000\n"));
    tool_clear(&tool);
}

static void test_plan_json(void **state)
{
    static const char *const lines[] = {"plan 9 -a trivance-b", "plan 4x3 -a bucket", "plan 8 -a recdoub-l",
                                        "plan 7 -a trivance-l"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char line[256];
        tool_t text = tool_run(lines[i], NULL);
        snprintf(line, sizeof line, "%s -f json", lines[i]);
        tool_t json = tool_run(line, NULL);
        assert_int_equal(json.code, 0);
        tool_t again = tool_run("plan --schedule=- -f json", json.out);
        expect_same(line, again.out, json.out);
        tool_t cost = tool_run("cost --schedule=-", json.out);
        assert_int_equal(cost.code, 0);
        tool_t shown = tool_run("plan --schedule=-", json.out);
        assert_int_equal(shown.code, 0);
        assert_string_equal(shown.err, "");
        /* The file does not contain the dimension of a step, so the tables differ in that column; the titles do not. */
        assert_int_equal(strcspn(shown.out, "\n"), strcspn(text.out, "\n"));
        tool_clear(&shown);
        tool_clear(&cost);
        tool_clear(&again);
        tool_clear(&json);
        tool_clear(&text);
    }
    tool_t tool = tool_run("plan --schedule=" TRIVANCE_TEST_DATA "/8-TrivanceB-131072.json", NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "TrivanceB on a ring of 8: AllReduce of 128 KiB"));
    tool_clear(&tool);
    tool = tool_run("verify --schedule=" TRIVANCE_TEST_DATA "/8-TrivanceB-131072.json", NULL);
    assert_int_equal(tool.code, 2);
    assert_non_null(strstr(tool.err, "no blocks"));
    tool_clear(&tool);
}

static void test_warnings_on_stderr(void **state)
{
    (void)state;
    tool_t tool = tool_run("cost --schedule=-",
                           "{\"format\": \"trivance-schedule-1\", \"torus\": [2], \"vector_bytes\": 8, \"colour\": 1, "
                           "\"streams\": [{\"steps\": [[[0, 1, \"+0\", 8], [1, 0, \"+0\", 8]]]}]}");
    assert_int_equal(tool.code, 0);
    assert_string_equal(tool.err, "trivance cost: warning: stdin:1:68: the key \"colour\" is unknown and ignored\n");
    tool_clear(&tool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),      cmocka_unit_test(test_list),
        cmocka_unit_test(test_verify),    cmocka_unit_test(test_verify_fault),
        cmocka_unit_test(test_cost),      cmocka_unit_test(test_cost_paper),
        cmocka_unit_test(test_plan_text), cmocka_unit_test(test_plan_of_one_rank),
        cmocka_unit_test(test_plan_json), cmocka_unit_test(test_warnings_on_stderr),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
