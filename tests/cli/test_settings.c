/*
 * The environment and the rules: accepted values, refused values and their messages, and which rule applies; and the
 * agreement of docs/environment.md with `trivance info`.
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

#include <jansson.h>

#include "collective/algorithm_names.h"
#include "settings/settings.h"
#include "tool.h"

/* ---- The environment --------------------------------------------------------------------------------------------- */

typedef struct warnings {
    int count;
    char last[1024];
} warnings_t;

static void store_warning(void *context, const char *sentence)
{
    warnings_t *warnings = context;
    warnings->count++;
    snprintf(warnings->last, sizeof warnings->last, "%s", sentence);
}

static const trv_rules_reader_t silent = {.check_algorithm = trv_algorithm_check};

/* Reads the environment with one variable set; the caller clears the settings. */
static void read_with(const char *name, const char *value, trv_settings_t *settings, warnings_t *warnings)
{
    *warnings = (warnings_t){0};
    setenv(name, value, 1);
    const trv_rules_reader_t how = {trv_algorithm_check, store_warning, warnings};
    trv_settings_read(settings, &how);
    trv_settings_read_rules(settings, &how);
    unsetenv(name);
}

static void test_defaults(void **state)
{
    const trv_simulate_options_t paper = TRV_SIMULATE_DEFAULTS; /* the defaults of `trivance plan`, too */
    trv_settings_t settings;
    warnings_t warnings = {0};
    (void)state;
    trv_settings_read(&settings, &(trv_rules_reader_t){trv_algorithm_check, store_warning, &warnings});
    assert_int_equal(warnings.count, 0);
    assert_null(settings.fault);
    assert_true(settings.alpha_ns == paper.alpha_ns && settings.bandwidth_bps == paper.bandwidth_bps &&
                settings.hop_ns == paper.router_out_ns + paper.link_latency_ns + paper.router_in_ns &&
                settings.overhead_ns == paper.message_overhead_ns);
    assert_int_equal(settings.debug, TRV_DEBUG_WARN);
    assert_int_equal(settings.fallback, TRV_FALLBACK_SILENT);
    assert_int_equal(settings.memory_bytes, 256 << 20);
    assert_false(settings.info || settings.cart || settings.check || settings.allow_inconsistent);
    assert_false(trv_settings_may_dispatch(&settings));
    trv_settings_clear(&settings);
}

/* Every example of the table is a valid value and differs from the default. */
static void test_examples(void **state)
{
    (void)state;
    for (int i = 0; i < trv_settings_count(); i++) {
        const trv_setting_t *setting = trv_settings_at(i);
        bool path = strstr(setting->example, ".json") != NULL;
        int code = trv_settings_check(setting, setting->name, setting->example, trv_algorithm_check);
        if (code < 0 && !path)
            fail_msg("%s=%s: %s", setting->name, setting->example, trv_last_error());
        if (setting->kind != TRV_SETTING_TEXT)
            assert_int_equal(trv_settings_check(setting, setting->name, setting->default_value, trv_algorithm_check),
                             0);
        assert_true(strlen(setting->meaning) > 10 && setting->meaning[strlen(setting->meaning) - 1] == '.');
    }
}

static void test_may_dispatch(void **state)
{
    static const struct {
        const char *name, *value;
        bool may;
    } cases[] = {{"TRIVANCE_TORUS", "8x8", true},
                 {"TRIVANCE_TORUS", "", false},
                 {"TRIVANCE_TORUS", "8x", false},
                 {"TRIVANCE_ALGORITHM", "auto", false},
                 {"TRIVANCE_ALGORITHM", "trivance", true},
                 {"TRIVANCE_CART", "1", true},
                 {"TRIVANCE_CART", "0", false},
                 {"TRIVANCE_TUNE", "allreduce:@mpi", true},
                 {"TRIVANCE_ALPHA", "1us", false},
                 {"TRIVANCE_TOPOLOGY_FILE", "/nonexistent", true},
                 /* The contents of a file may differ between ranks, so the file name is not compared. */
                 {"TRIVANCE_RULES_FILE", "/nonexistent", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trv_settings_t settings;
        warnings_t warnings;
        read_with(cases[i].name, cases[i].value, &settings, &warnings);
        if (trv_settings_may_dispatch(&settings) != cases[i].may)
            fail_msg("%s=%s", cases[i].name, cases[i].value);
        trv_settings_clear(&settings);
    }
}

static void test_invalid_values(void **state)
{
    static const struct {
        const char *name, *value, *words;
        bool selects;
    } cases[] = {{"TRIVANCE_TORUS", "3x", "TRIVANCE_TORUS: '3x' is not a torus", true},
                 {"TRIVANCE_TORUS", "9,,3x3", "empty entry", true},
                 {"TRIVANCE_ALGORITHM", "trivanse", "there is no algorithm 'trivanse'; did you mean trivance?", true},
                 {"TRIVANCE_ALGORITHM", "xyzzy", "there is no algorithm 'xyzzy'; there are trivance-l,", true},
                 {"TRIVANCE_ALPHA", "5", "'5' is not a time", true},
                 {"TRIVANCE_ALPHA", "7200s", "'7200s' is not a time", true}, /* the limits of the planner's network */
                 {"TRIVANCE_HOP_LATENCY", "7200s", "at most 3600s", true},
                 {"TRIVANCE_BANDWIDTH", "0.000001Mb/s", "from 1Kb/s to 10000Tb/s", true},
                 {"TRIVANCE_BANDWIDTH", "800", "for example TRIVANCE_BANDWIDTH=100Gb/s", true},
                 {"TRIVANCE_MESSAGE_OVERHEAD", "-1us", "'-1us' is not a time", true},
                 {"TRIVANCE_CART", "maybe", "'maybe' is neither 0 nor 1; for example TRIVANCE_CART=1", true},
                 {"TRIVANCE_TUNE", "allreduce:0-64q:@auto", "column 1", true},
                 {"TRIVANCE_TUNE", "allreduce:0-64k:trivance-l",
                  "'@' is missing before the algorithm; did you mean allreduce:0-64k:@trivance-l?", true},
                 {"TRIVANCE_TUNE", "allreduce:hybrid:9", "did you mean allreduce:@hybrid:9?", true},
                 {"TRIVANCE_TUNE", "allreduce:0-64k:@trivence-l", "did you mean trivance-l?", true},
                 {"TRIVANCE_RULES_FILE", "/nonexistent", "'/nonexistent' cannot be read: No such file", true},
                 {"TRIVANCE_DEBUG", "loud",
                  "'loud' is not one of off|warn|info|trace; for example TRIVANCE_DEBUG=info; using the default: warn",
                  false},
                 {"TRIVANCE_FALLBACK", "shout", "using the default: silent", false},
                 {"TRIVANCE_TIMEOUT", "30", "for example TRIVANCE_TIMEOUT=30s; using the default: 0s", false},
                 {"TRIVANCE_ON_TIMEOUT", "abort", "no effect without a timeout; for example TRIVANCE_TIMEOUT=30s",
                  false},
                 {"TRIVANCE_KERNELS", "sse", "not one of plain, avx2 and avx512", false},
                 {"TRIVANCE_TORSU", "3x3", "did you mean TRIVANCE_TORUS?", false},
                 {"TRIVANCE_XYZZY", "1", "`trivance info` lists the variables", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trv_settings_t settings;
        warnings_t warnings;
        read_with(cases[i].name, cases[i].value, &settings, &warnings);
        const char *message = cases[i].selects ? settings.fault : warnings.last;
        if (!message || !strstr(message, cases[i].words) || !strstr(message, cases[i].name) ||
            (settings.fault != NULL) != cases[i].selects || warnings.count != !cases[i].selects)
            fail_msg("%s=%s: fault '%s', %d warnings, '%s'; not: %s", cases[i].name, cases[i].value,
                     settings.fault ? settings.fault : "", warnings.count, warnings.last, cases[i].words);
        trv_settings_clear(&settings);
    }
}

static void test_synonyms(void **state)
{
    static const struct {
        const char *value;
        int debug;
    } cases[] = {{"0", TRV_DEBUG_OFF},  {"no", TRV_DEBUG_OFF},    {"off", TRV_DEBUG_OFF},    {"warn", TRV_DEBUG_WARN},
                 {"1", TRV_DEBUG_INFO}, {"info", TRV_DEBUG_INFO}, {"trace", TRV_DEBUG_TRACE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trv_settings_t settings;
        warnings_t warnings;
        read_with("TRIVANCE_DEBUG", cases[i].value, &settings, &warnings);
        assert_int_equal(settings.debug, cases[i].debug);
        assert_int_equal(settings.info, cases[i].debug >= TRV_DEBUG_INFO);
        trv_settings_clear(&settings);
    }
}

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

static const char *match(const trv_rules_t *rules, trv_collective_t collective, const char *torus, uint64_t bytes)
{
    trv_torus_t parsed;
    assert_int_equal(trv_torus_parse(torus, &parsed), 0);
    const trv_rule_t *rule = trv_rules_match(rules, collective, &parsed, parsed.ranks, bytes);
    return rule ? rule->algorithm : "none";
}

static void test_line(void **state)
{
    trv_rules_t rules;
    (void)state;
    assert_int_equal(trv_rules_parse_line(&rules,
                                          "allreduce:0-64k:[8-64]:@trivance-l;allreduce:64k-inf:@auto;"
                                          "allgather:@mpi;reduce_scatter_block:8-8:@ring;"
                                          "allgather:9-9:@hybrid:4x8/3:grouped;",
                                          trv_algorithm_check),
                     0);
    assert_int_equal(rules.count, 5);
    assert_string_equal(rules.rule[4].algorithm, "hybrid:4x8/3:grouped");
    assert_string_equal(match(&rules, TRV_ALLREDUCE, "8", 65536), "trivance-l"); /* both match: the first applies */
    assert_string_equal(match(&rules, TRV_ALLREDUCE, "8x8", 0), "trivance-l");
    assert_string_equal(match(&rules, TRV_ALLREDUCE, "8", 65537), "auto");
    assert_string_equal(match(&rules, TRV_ALLREDUCE, "7", 65535), "none");
    assert_string_equal(match(&rules, TRV_ALLREDUCE, "65", 65536), "auto");
    assert_string_equal(match(&rules, TRV_ALLREDUCE, "65", UINT64_C(1) << 60), "auto");
    assert_string_equal(match(&rules, TRV_ALLGATHER, "2", 1), "mpi");
    assert_string_equal(match(&rules, TRV_REDUCE_SCATTER, "2", 8), "ring");
    assert_string_equal(match(&rules, TRV_REDUCE_SCATTER, "2", 9), "none");
    trv_rules_clear(&rules);
}

static void test_invalid_lines(void **state)
{
    static const struct {
        const char *line, *words;
    } cases[] = {{"", "contains no rule"},
                 {";", "a field is empty"},
                 {"allreduce", "@ALGORITHM is missing"},
                 {"allreduce:", "a field is empty"},
                 {"allreduce:@", "the name of the algorithm is missing"},
                 {"scan:@mpi", "'scan' is not one of the collectives allreduce, reduce-scatter, allgather, broadcast"},
                 {"allreduce:@mpi:1-2", "there is no algorithm 'mpi:1-2'"},
                 {"allreduce:[1-2:@mpi", "']' is missing"},
                 {"allreduce:9-8:@mpi", "is greater than its maximum"},
                 {"allreduce:64k:@mpi", "is not a range of sizes"},
                 {"allreduce:[4]:@mpi", "is not a range of ranks"},
                 {"allreduce:inf-inf:@mpi", "not a byte count"},
                 {"allreduce:@mpi;allreduce:@x", "(column 16): there is no algorithm 'x'"},
                 {"allreduce:1-2:[3-4]:5-6:@mpi", "too many"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trv_rules_t rules;
        if (trv_rules_parse_line(&rules, cases[i].line, trv_algorithm_check) == 0 ||
            !strstr(trv_last_error(), cases[i].words))
            fail_msg("'%s': '%s', not: %s", cases[i].line, trv_last_error(), cases[i].words);
        assert_int_equal(rules.count, 0);
    }
}

static const char valid_file[] =
    "{\"rule_file_version\": 1,\n"
    " \"network\": {\"alpha\": \"2us\", \"hop_latency\": \"300ns\", \"message_overhead\": \"40ns\"},\n"
    " \"collectives\": {\"allreduce\": [\n"
    "   {\"comm_size_min\": 64, \"comm_size_max\": 128, \"torus\": \"8x8\",\n"
    "    \"rules\": [{\"msg_size_max\": \"64KiB\", \"alg\": \"trivance-l\"}]},\n"
    "   {\"comm_size_max\": 64, \"colour\": 1, \"rules\": [{\"alg\": \"swing\"}]}],\n"
    "  \"scan\": []}}\n";

static void test_file(void **state)
{
    trv_rules_t rules;
    warnings_t warnings = {0};
    (void)state;
    assert_int_equal(trv_rules_parse_file(&rules, "r.json", valid_file, strlen(valid_file),
                                          &(trv_rules_reader_t){trv_algorithm_check, store_warning, &warnings}),
                     0);
    assert_string_equal(match(&rules, TRV_ALLREDUCE, "8x8", 65536), "trivance-l");
    assert_string_equal(match(&rules, TRV_ALLREDUCE, "64", 65536), "swing"); /* another torus */
    assert_string_equal(match(&rules, TRV_ALLREDUCE, "8x8", 65537), "swing");
    assert_string_equal(match(&rules, TRV_ALLREDUCE, "65", 8), "none");
    assert_true(rules.alpha_ns == 2000 && rules.hop_ns == 300 && rules.overhead_ns == 40 && rules.bandwidth_bps < 0);
    assert_int_equal(warnings.count, 2);
    assert_non_null(strstr(warnings.last, "r.json:7:3: \"scan\" is ignored, because it is not a collective"));
    trv_rules_clear(&rules);
}

/* The first error is reported by line and column. */
static void test_invalid_files(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] =
        {{"", "r.json:1:"},
         {"{", "r.json:1:1: not valid JSON: string or '}' expected"},
         {"{\"a\": 1,\n \"a\": 2}", "r.json:2:4: not valid JSON: duplicate object key"},
         {"[]", "r.json:1:1: expected an object with rules"},
         {"{\"rule_file_version\": 2}", "r.json:1:2: \"rule_file_version\" must"},
         {"{\"rule_file_version\": 1}", "r.json:1:1: \"collectives\" must be an object"},
         {"{\"rule_file_version\": 1, \"collectives\":\n {\"allreduce\": {}}}",
          "r.json:2:3: \"allreduce\" must be a list"},
         {"{\"rule_file_version\": 1, \"collectives\": {\"allreduce\":\n [1]}}", "r.json:2:2: entry 0"},
         {"{\"rule_file_version\": 1, \"collectives\": {\"allreduce\":\n [{\"rules\": [{}]}]}}",
          "r.json:2:14: a rule needs \"alg\""},
         {"{\"rule_file_version\": 1, \"collectives\": {\"allreduce\":\n [{\"rules\": [{\"alg\": \"x\"}]}]}}",
          "r.json:2:15: there is no algorithm 'x'"},
         {"{\"rule_file_version\": 1, \"collectives\": {\"allreduce\":\n [{\"comm_size_min\": -1, \"rules\": []}]}}",
          "r.json:2:4: \"comm_size_min\" must be a whole number >= 0"},
         {"{\"rule_file_version\": 1, \"collectives\": {\"allreduce\":\n [{\"torus\": \"3x\", \"rules\": []}]}}",
          "r.json:2:4: '3x' is not a torus"},
         {"{\"rule_file_version\": 1, \"collectives\": {\"allreduce\":\n [{\"rules\": [{\"msg_size_min\": 9, "
          "\"msg_size_max\": 8, \"alg\": \"mpi\"}]}]}}",
          "\"msg_size_max\" must not be less than \"msg_size_min\""},
         {"{\"rule_file_version\": 1, \"network\": {\"é\": 1,\n\"alpha\": 5}}",
          "r.json:2:1: \"alpha\" must be a string"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trv_rules_t rules;
        if (trv_rules_parse_file(&rules, "r.json", cases[i].text, strlen(cases[i].text), &silent) == 0 ||
            !strstr(trv_last_error(), cases[i].words))
            fail_msg("'%s': '%s', not: %s", cases[i].text, trv_last_error(), cases[i].words);
        assert_int_equal(rules.count, 0);
    }
}

/* The network of a rules file applies unless a variable overrides it. */
static void test_network_of_file(void **state)
{
    char path[300];
    trv_settings_t settings;
    (void)state;
    snprintf(path, sizeof path, "%s/rules.json", tool_folder());
    tool_write_file(path, valid_file, 0644);
    setenv("TRIVANCE_RULES_FILE", path, 1);
    setenv("TRIVANCE_HOP_LATENCY", "7ns", 1);
    trv_settings_read(&settings, &silent);
    assert_true(settings.alpha_ns == 1500 && settings.hop_ns == 7 && settings.file_rules.count == 0);
    assert_int_equal(trv_settings_read_rules(&settings, &silent), 0);
    assert_null(settings.fault);
    assert_true(settings.alpha_ns == 2000 && settings.hop_ns == 7 && settings.bandwidth_bps == 800e9 &&
                settings.overhead_ns == 40 && settings.file_rules.count == 2);
    trv_settings_clear(&settings);
    /* The result is the same from settings received from another rank, without a file here. */
    setenv("TRIVANCE_RULES_FILE", "/nonexistent", 1);
    trv_settings_read(&settings, &silent);
    assert_null(settings.fault);
    assert_int_equal(trv_settings_parse_rules(&settings, valid_file, strlen(valid_file), &silent), 0);
    assert_true(settings.alpha_ns == 2000 && settings.hop_ns == 7 && settings.bandwidth_bps == 800e9 &&
                settings.overhead_ns == 40 && settings.file_rules.count == 2);
    assert_true(trv_settings_parse_rules(&settings, "[]", 2, &silent) < 0);
    assert_true(settings.file_fault &&
                strstr(settings.fault, "TRIVANCE_RULES_FILE: /nonexistent:1:1: expected an object"));
    assert_int_equal(settings.file_rules.count, 0);
    trv_settings_clear(&settings);
    unsetenv("TRIVANCE_RULES_FILE");
    unsetenv("TRIVANCE_HOP_LATENCY");
}

/* ---- Settings that must agree on all ranks ----------------------------------------------------------------------- */

static void test_shared(void **state)
{
    static const char *const others[] = {"TRIVANCE_CHECK", "TRIVANCE_FALLBACK"};
    int more = 0;
    (void)state;
    for (int i = 0; i < trv_settings_count(); i++) {
        const trv_setting_t *setting = trv_settings_at(i);
        bool other = strcmp(setting->name, others[0]) == 0 || strcmp(setting->name, others[1]) == 0;
        if (setting->selects || other)
            assert_true(setting->shared);
        more += other;
    }
    assert_int_equal(more, 2);
}

static void test_text(void **state)
{
    size_t length, lines = 0, shared = 0;
    (void)state;
    setenv("TRIVANCE_TORUS", "3x", 1); /* an invalid value is passed on unchanged */
    setenv("TRIVANCE_TUNE", "a\nb", 1);
    setenv("TRIVANCE_DEBUG", "info", 1); /* local to each rank */
    setenv("TRIVANCE_RULES_FILE", "/nonexistent", 1);
    char *text = trv_settings_text(&length);
    unsetenv("TRIVANCE_TORUS");
    unsetenv("TRIVANCE_TUNE");
    unsetenv("TRIVANCE_DEBUG");
    unsetenv("TRIVANCE_RULES_FILE");
    assert_non_null(text);
    assert_int_equal(length, strlen(text));
    assert_true(strncmp(text, "TRIVANCE_TORUS=3x\n", 18) == 0);
    assert_non_null(strstr(text, "\nTRIVANCE_TUNE=a\\nb\n"));
    assert_non_null(strstr(text, "\nTRIVANCE_ALGORITHM=\n"));
    assert_non_null(strstr(text, "\nTRIVANCE_RULES_FILE=/nonexistent\n"));
    assert_non_null(strstr(text, "\nTRIVANCE_CHECK=\n"));
    assert_null(strstr(text, "TRIVANCE_DEBUG"));
    assert_null(strstr(text, "TRIVANCE_MEMORY"));
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    for (int i = 0; i < trv_settings_count(); i++)
        shared += trv_settings_at(i)->shared;
    assert_int_equal(lines, shared);
    free(text);
}

/* The action at a timeout needs a timeout, in MPI programs. An invalid one has a warning of its own. */
static void test_on_timeout(void **state)
{
    static const char *const timeout[] = {"", "30s", "30"};
    static const int expected[] = {1, 0, 1};
    (void)state;
    setenv("TRIVANCE_ON_TIMEOUT", "abort", 1);
    for (int i = 0; i < 3; i++) {
        trv_settings_t settings;
        warnings_t warnings;
        read_with("TRIVANCE_TIMEOUT", timeout[i], &settings, &warnings);
        assert_int_equal(warnings.count, expected[i]);
        assert_true(expected[i] == 0 || (strstr(warnings.last, "using the default") != NULL) == (i == 2));
        trv_settings_clear(&settings);
        warnings = (warnings_t){0};
        setenv("TRIVANCE_TIMEOUT", timeout[i], 1);
        trv_settings_read_net(&settings, &(trv_rules_reader_t){trv_algorithm_check, store_warning, &warnings});
        unsetenv("TRIVANCE_TIMEOUT");
        assert_int_equal(warnings.count, 0); /* an invalid one is a fault */
        trv_settings_clear(&settings);
    }
    unsetenv("TRIVANCE_ON_TIMEOUT");
}

/* A variable of version 0.2. */
static void test_removed(void **state)
{
    trv_settings_t settings;
    warnings_t warnings = {0};
    (void)state;
    read_with("TRIVANCE_CACHE", "0", &settings, &warnings);
    assert_int_equal(warnings.count, 1);
    assert_string_equal(warnings.last,
                        "TRIVANCE_CACHE has no effect: Trivance does not write star chains to files; unset it");
    trv_settings_clear(&settings);
}

/* ---- Output of trivance info ------------------------------------------------------------------------------------- */

static void test_info(void **state)
{
    static const char *const wrong[] = {"TRIVANCE_TORUS=3x", "TRIVANCE_TOPOLOGIE_FILE=t.json", NULL};
    (void)state;
    json_t *array = tool_json("info --format=json"), *row;
    size_t i;
    int variables = 0;
    json_array_foreach(array, i, row)
    {
        bool variable = strcmp(json_string_value(json_object_get(row, "kind")), "variable") == 0;
        if (variable)
            assert_string_equal(json_string_value(json_object_get(row, "name")), trv_settings_at(variables++)->name);
        assert_true(json_is_null(json_object_get(row, "fault")));
    }
    assert_int_equal(variables, trv_settings_count());
    json_decref(array);
    tool_t tool = tool_run_as(TRIVANCE_TOOL, "info", NULL, wrong);
    assert_int_equal(tool.code, 2);
    assert_non_null(strstr(tool.out, "TRIVANCE_TORUS=3x\n    WRONG: TRIVANCE_TORUS: '3x' is not a torus"));
    assert_string_equal(tool.err, "trivance info: warning: unknown variable TRIVANCE_TOPOLOGIE_FILE; did you "
                                  "mean TRIVANCE_TOPOLOGY_FILE?\n");
    tool_clear(&tool);
}

/* Values that are not UTF-8 or contain control characters yield one line of text, valid JSON and a complete row of
 * CSV. */
static void test_info_of_any_bytes(void **state)
{
    static const char *const set[] = {"TRIVANCE_DEBUG_FILE=\xff", "TRIVANCE_TORUS=9\n9\033[1m", NULL};
    (void)state;
    tool_t text = tool_run_as(TRIVANCE_TOOL, "info", NULL, set);
    assert_non_null(strstr(text.out, "\nTRIVANCE_DEBUG_FILE=?\n"));
    assert_non_null(strstr(text.out, "\nTRIVANCE_TORUS=9?9?[1m\n"));
    tool_clear(&text);
    tool_t csv = tool_run_as(TRIVANCE_TOOL, "info --format=csv", NULL, set);
    assert_string_equal(csv.err, "");
    assert_non_null(strstr(csv.out, "\nvariable,TRIVANCE_DEBUG_FILE,?,stderr,"));
    assert_non_null(strstr(csv.out, "\nvariable,TRIVANCE_TORUS,9?9?[1m,none,"));
    tool_clear(&csv);
    tool_t tool = tool_run_as(TRIVANCE_TOOL, "info --format=json", NULL, set);
    assert_string_equal(tool.err, "");
    json_t *array = json_loads(tool.out, 0, NULL), *row;
    size_t i;
    assert_non_null(array);
    json_array_foreach(array, i, row) assert_non_null(json_object_get(row, "value"));
    json_decref(array);
    tool_clear(&tool);
}

/* Topology files and interfaces, which jobs read later, are also checked. */
static void test_info_of_files(void **state)
{
    static const struct {
        const char *setting, *words;
    } cases[] = {{"TRIVANCE_TOPOLOGY_FILE=/nonexistent",
                  "TRIVANCE_TOPOLOGY_FILE: the file '/nonexistent' cannot be read"},
                 {"TRIVANCE_TOPOLOGY_FILE=/", "cannot be read: Is a directory"},
                 {"TRIVANCE_PORTS=,,,", "TRIVANCE_PORTS: ',,,': an entry is not an interface"},
                 {"TRIVANCE_PORTS=+9=eth1", "'+9=eth1': an entry does not begin with a port (+0, -0 … +7, -7)"},
                 {"TRIVANCE_PORTS=+0=eth1,+0=eth2", "a port has two interfaces"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const set[] = {cases[i].setting, NULL};
        tool_t tool = tool_run_as(TRIVANCE_TOOL, "info", NULL, set);
        if (tool.code != 2 || !strstr(tool.out, cases[i].words))
            fail_msg("%s: exit code %d, without '%s'", cases[i].setting, tool.code, cases[i].words);
        tool_clear(&tool);
    }
    static const char *const good[] = {"TRIVANCE_PORTS=+0=eth1,-7=10.0.0.1", NULL};
    tool_t tool = tool_run_as(TRIVANCE_TOOL, "info", NULL, good);
    assert_int_equal(tool.code, 0);
    tool_clear(&tool);
}

/* Escapes | in `text` as Markdown requires within a table. */
static void escape(const char *text, char *escaped)
{
    for (; *text; text++) {
        if (*text == '|')
            *escaped++ = '\\';
        *escaped++ = *text;
    }
    *escaped = '\0';
}

static void test_document(void **state)
{
    char *document = tool_read_file(TRIVANCE_DOCS "/environment.md");
    int rows = 0;
    (void)state;
    for (int i = 0; i < trv_settings_count(); i++) {
        const trv_setting_t *setting = trv_settings_at(i);
        char allowed[256], row[1024];
        escape(setting->allowed, allowed);
        snprintf(row, sizeof row, "| `%s` | %s; `%s` | %s | %s |\n", setting->name, allowed, setting->example,
                 setting->default_value, setting->meaning);
        if (!strstr(document, row))
            fail_msg("docs/environment.md lacks this row: %s", row);
    }
    for (const char *at = document; (at = strstr(at, "\n| `TRIVANCE_")) != NULL; at++)
        rows++;
    assert_int_equal(rows, trv_settings_count());
    free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),      cmocka_unit_test(test_examples),
        cmocka_unit_test(test_may_dispatch),  cmocka_unit_test(test_invalid_values),
        cmocka_unit_test(test_synonyms),      cmocka_unit_test(test_line),
        cmocka_unit_test(test_invalid_lines), cmocka_unit_test(test_file),
        cmocka_unit_test(test_invalid_files), cmocka_unit_test(test_network_of_file),
        cmocka_unit_test(test_shared),        cmocka_unit_test(test_text),
        cmocka_unit_test(test_on_timeout),    cmocka_unit_test(test_removed),
        cmocka_unit_test(test_info),          cmocka_unit_test(test_info_of_any_bytes),
        cmocka_unit_test(test_info_of_files), cmocka_unit_test(test_document),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
