/*
 * trivance figures: the files that it leaves and their contents, interruption, bad input. The quick tier makes figure 6
 * alone, and interrupts it; the exhaustive one makes figures 6, 14 and 17, interrupts the last two, and runs without
 * gnuplot. How claims are decided is in test_figures_rules.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "exhaustive.h"
#include "cli/figures/figures.h"
#include "tool.h"
#include "written.h"

#define KEYS "figure,torus,parameter,value,family,algorithm,bytes,time_ns,trivance_time_ns,relative_percent"

static char *read_result(const char *run, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s/%s", tool_folder(), run, name);
    return tool_read_file(path);
}

static tool_t make_figures(const char *options, const char *run, const char *const *setting)
{
    char line[512];
    snprintf(line, sizeof line, "figures %s --out %s/%s", options, tool_folder(), run);
    tool_t tool = tool_run_as(TRIVANCE_TOOL, line, NULL, setting);
    if (tool.code != 0)
        fail_msg("%s: exit code %d, %s", line, tool.code, tool.err);
    return tool;
}

/* The figures of the run that most tests look at (make_run). */
static int figures(void) { return exhaustive() ? 3 : 1; }

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static int entries(const char *run, const char *folder)
{
    char path[512];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s/%s", tool_folder(), run, folder);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

typedef struct row { /* of a figure's CSV */
    int figure;
    char torus[32], parameter[32], value[32], family[32], algorithm[32];
    double bytes, time_ns, trivance_time_ns, relative;
} row_t;

/* The cells of a CSV line, some of them empty. */
static row_t read_row(const char *line)
{
    row_t row = {0};
    char cell[10][32] = {""};
    for (int c = 0; c < 10; c++) {
        size_t length = strcspn(line, ",\n");
        assert_true(length < sizeof cell[c]);
        snprintf(cell[c], sizeof cell[c], "%.*s", (int)length, line);
        line += length + (line[length] == ',');
    }
    assert_true(*line == '\n');
    row.figure = atoi(cell[0]);
    strcpy(row.torus, cell[1]);
    strcpy(row.parameter, cell[2]);
    strcpy(row.value, cell[3]);
    strcpy(row.family, cell[4]);
    strcpy(row.algorithm, cell[5]);
    row.bytes = strtod(cell[6], NULL);
    row.time_ns = strtod(cell[7], NULL);
    row.trivance_time_ns = strtod(cell[8], NULL);
    row.relative = strtod(cell[9], NULL);
    return row;
}

#define ROWS_MAX 256

/* Reads a figure's CSV and checks what holds for every row. */
static int read_rows(const char *run, int figure, row_t *row)
{
    char name[64];
    int rows = 0;
    snprintf(name, sizeof name, "figures/figure-%02d.csv", figure);
    char *text = read_result(run, name);
    assert_true(strncmp(text, KEYS "\n", sizeof KEYS) == 0);
    for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        assert_true(rows < ROWS_MAX);
        row_t *r = &row[rows++];
        *r = read_row(line);
        assert_int_equal(r->figure, figure);
        assert_true(r->time_ns > 1500 && r->bytes >= 32 && r->bytes <= 134217728);
        assert_true(fabs(r->relative - (r->time_ns - r->trivance_time_ns) / r->time_ns * 100) < 1e-3);
        if (strcmp(r->family, "trivance") == 0)
            assert_true(r->relative == 0);
        if (strcmp(r->family, "best-baseline") != 0)
            assert_true(strncmp(r->family, r->algorithm, strlen(r->family)) == 0);
    }
    free(text);
    return rows;
}

static void test_csv(void **state)
{
    static row_t ring[ROWS_MAX], latency[ROWS_MAX], torus[ROWS_MAX];
    fig_algorithm_t baseline[FIG_BASELINES_MAX];
    const int all = (1 + fig_baselines(baseline)) * 12; /* Trivance and the baselines at 12 sizes */
    (void)state;
    assert_true(all >= 5 * 12);
    assert_int_equal(read_rows("run", 6, ring), all);
    /* Two steps and three, at little more than 2 us each (paper section 6.1: more than 20 %). */
    for (int i = 0; i < all; i++)
        if (strcmp(ring[i].family, "swing") == 0 && ring[i].bytes < 8192)
            assert_true(ring[i].relative > 25 && ring[i].relative < 34);
    if (!exhaustive())
        return;
    assert_int_equal(read_rows("run", 17, torus), all);
    int rows = read_rows("run", 14, latency);
    assert_int_equal(rows, 2 * 5 * 12);
    for (int i = 0; i < all; i++) {
        /* The fastest baseline of a figure over link latencies, at the usual 100 ns, is that of figure 17. */
        double least = INFINITY;
        for (int k = 0; k < all; k++)
            if (torus[k].bytes == torus[i].bytes && strcmp(torus[k].family, "trivance") != 0)
                least = fmin(least, torus[k].time_ns);
        int found = 0;
        for (int k = 0; k < rows; k++)
            if (latency[k].bytes == torus[i].bytes && strcmp(latency[k].value, "100ns") == 0 &&
                strcmp(latency[k].family, "best-baseline") == 0) {
                assert_true(latency[k].time_ns == least);
                found++;
            }
        assert_int_equal(found, 1);
    }
}

/* It opens without a network, and its data are what the other files say. */
static void test_page(void **state)
{
    static const char start[] = "<script type=\"application/json\" id=\"data\">";
    static const char *const outside[] = {" src=", "<link", "@import", "url(", "href=\"http", "fetch(", "https:"};
    (void)state;
    char *page = read_result("run", "index.html");
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
        if (strstr(page, outside[i]) && strcmp(outside[i], "url(") != 0)
            fail_msg("the page has %s", outside[i]);
    assert_int_equal(count_of(page, "url("), count_of(page, "url(#")); /* its own clip paths */
    assert_int_equal(count_of(page, "http:"), 1);                      /* the name of SVG */
    char *data = strstr(page, start);
    assert_non_null(data);
    data += sizeof start - 1;
    *strstr(data, "</script>") = '\0';
    json_t *root = json_loads(data, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    assert_int_equal(json_array_size(json_object_get(root, "sizes")), 12);
    assert_int_equal(json_array_size(json_object_get(root, "figures")), figures());
    assert_int_equal(json_array_size(json_object_get(root, "claims")), fig_claims);
    assert_true(json_array_size(json_object_get(root, "tables")) > 50);
    assert_int_equal(json_array_size(json_object_get(root, "studies")), FIG_STUDIES);
    json_t *curve = json_array_get(json_object_get(json_array_get(json_object_get(root, "figures"), 0), "curves"), 1);
    assert_string_equal(json_string_value(json_object_get(curve, "title")), "Swing");
    assert_int_equal(json_array_size(json_object_get(curve, "other")), 12);
    json_decref(root);
    free(page);
}

static void test_report(void **state)
{
    (void)state;
    char *report = read_result("run", "evaluation.md");
    assert_non_null(strstr(report, exhaustive() ? "`trivance figures --quick --only 6,14,17`"
                                                : "`trivance figures --quick --only 6`"));
    assert_true(strstr(report, "trivance figures") < strchr(report, '\n'));
    for (int c = 0; c < fig_claims; c++)
        if (!strstr(report, fig_claim[c].text))
            fail_msg("the report lacks: %s", fig_claim[c].text);
    /* Measured here, and of a figure that was not asked for. */
    char *line = strstr(report, "Ring of 8: more than 20 % faster than Swing");
    *strchr(line, '\n') = '\0';
    assert_non_null(strstr(line, "| agrees |"));
    char *other = strstr(line + strlen(line) + 1, "27x27: still more than 40 % at 32 MiB");
    const char *folded = strstr(line + strlen(line) + 1, "<details><summary>");
    assert_true(folded && folded < other);
    *strchr(other, '\n') = '\0';
    assert_non_null(strstr(other, "| not measured |"));
    free(report);
}

static void test_pictures(void **state)
{
    (void)state;
    assert_int_equal(entries("run", "."), 4);
    if (!fig_can_draw()) {
        assert_int_equal(entries("run", "figures"), 2 * figures());
        skip();
    }
    assert_int_equal(entries("run", "figures"), 4 * figures()); /* and no temporaries */
    char *svg = read_result("run", "figures/figure-06.svg"), *pdf = read_result("run", "figures/figure-06.pdf");
    assert_non_null(strstr(svg, "<svg"));
    assert_non_null(strstr(svg, "Figure 6: Ring of 8"));
    assert_string_equal(svg + strlen(svg) - 8, "</svg>\n\n");
    assert_true(strncmp(pdf, "%PDF", 4) == 0);
    free(svg);
    free(pdf);
}

static void test_without_gnuplot(void **state)
{
    static const char *const setting[] = {"PATH=/nonexistent", NULL};
    (void)state;
    if (!exhaustive())
        skip();
    tool_t tool = make_figures("--quick --only 6 --model=fifo --delivery=tail", "bare", setting);
    assert_non_null(strstr(tool.err, "there is no gnuplot"));
    assert_int_equal(count_of(tool.err, "\n"), 1);
    assert_int_equal(entries("bare", "figures"), 2);
    char *page = read_result("bare", "index.html"), *report = read_result("bare", "evaluation.md");
    assert_non_null(strstr(page, "\"drawn\":false"));
    assert_null(strstr(report, "![")); /* shows no picture that is not there */
    assert_non_null(strstr(report, "--quick --only 6 --model=fifo --delivery=tail"));
    free(page);
    free(report);
    tool_clear(&tool);
}

static void test_bad_input(void **state)
{
    static const struct {
        const char *line, *words;
    } bad[] = {
        {"figures --only 5", "from 6 to 33"},
        {"figures --only 34", "from 6 to 33"},
        {"figures --only 6,,7", "empty entry"},
        {"figures --only six", "from 6 to 33"},
        {"figures --model=ideal", "neither dateline nor fifo"},
        {"figures --delivery=late", "neither head nor tail"},
        {"figures --workers=0", "from 1 to"},
        {"figures 6", "--only=6,8"},
        {"figures --qick", "did you mean --quick?"},
        {"figures --out /dev/null/here", "'/dev/null/here' cannot be made"},
        {"figures --out /proc", "/proc/figures"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tool_t tool = tool_run(bad[i].line, NULL);
        if (tool.code != 2 || tool.out[0] || !strstr(tool.err, bad[i].words) || count_of(tool.err, "\n") != 1)
            fail_msg("trivance %s\nexit code %d, '%s' on stdout, on stderr\n%snot one line with: %s", bad[i].line,
                     tool.code, tool.out, tool.err, bad[i].words);
        tool_clear(&tool);
    }
}

/* ---- Interruption ------------------------------------------------------------------------------------------------ */

static bool is_there(const char *run, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s/%s", tool_folder(), run, name);
    return access(path, F_OK) == 0;
}

/* The options of the interrupted run, and a figure of it. */
static const char *interrupted(void) { return exhaustive() ? "--quick --only 14,17" : "--quick --only 6"; }
static const char *interrupted_csv(void) { return exhaustive() ? "figures/figure-14.csv" : "figures/figure-06.csv"; }

/* Ends a run with a signal once it has simulated a part of every figure; its exit code. */
static int interrupt(const char *run, FILE *err)
{
    char line[512], path[512];
    struct stat kept = {0};
    const long enough = exhaustive() ? 25000 : 4000;
    int status = 0;
    snprintf(line, sizeof line, "figures %s -j 1 --out %s/%s", interrupted(), tool_folder(), run);
    snprintf(path, sizeof path, "%s/%s/unfinished.jsonl", tool_folder(), run);
    pid_t pid = tool_start(line, err);
    while ((stat(path, &kept) != 0 || kept.st_size < enough) && waitpid(pid, &status, WNOHANG) == 0)
        nanosleep(&(struct timespec){0, 200000}, NULL);
    kill(pid, SIGINT);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* It says that it stopped, and where it goes on; the result is that of a run that nothing disturbed. */
static void test_interrupted(void **state)
{
    char text[512] = "", path[512];
    FILE *err = tmpfile();
    (void)state;
    assert_non_null(err);
    assert_int_equal(interrupt("stopped", err), 130);
    rewind(err);
    do /* "trivance: figure 14, 37 %" on a slow machine */
        assert_non_null(fgets(text, sizeof text, err));
    while (strncmp(text, "trivance: ", 10) == 0 && strstr(text, " %"));
    assert_non_null(strstr(text, "trivance figures: interrupted; what was simulated is kept in"));
    assert_null(fgets(text, sizeof text, err));
    fclose(err);
    assert_false(is_there("stopped", "index.html"));
    assert_int_equal(entries("stopped", "figures"), 0);
    /* A line that was torn is simulated again. */
    char *kept = read_result("stopped", "unfinished.jsonl");
    *strrchr(kept, '}') = '\0';
    snprintf(path, sizeof path, "%s/stopped/unfinished.jsonl", tool_folder());
    tool_write_file(path, kept, 0600);
    tool_t tool = make_figures(interrupted(), "stopped", NULL);
    tool_clear(&tool);
    assert_false(is_there("stopped", "unfinished.jsonl"));
    char *resumed = read_result("stopped", interrupted_csv()), *undisturbed = read_result("run", interrupted_csv());
    assert_string_equal(resumed, undisturbed);
    free(resumed);
    free(undisturbed);
    if (!exhaustive()) {
        free(kept);
        return;
    }
    /* The others are not: with other times in them the figures are others. */
    for (char *at = kept; (at = strstr(at, "\"time_ns\":")) != NULL; at++)
        at[strlen("\"time_ns\":")] = '9';
    tool_write_file(path, kept, 0600);
    tool = make_figures("--quick --only 14,17", "stopped", NULL);
    tool_clear(&tool);
    resumed = read_result("stopped", "figures/figure-14.csv");
    undisturbed = read_result("run", "figures/figure-14.csv");
    char *other = read_result("stopped", "figures/figure-17.csv"), *same = read_result("run", "figures/figure-17.csv");
    assert_true(strcmp(resumed, undisturbed) != 0 || strcmp(other, same) != 0);
    free(resumed);
    free(undisturbed);
    free(other);
    free(same);
    free(kept);
}

static int make_run(void **state)
{
    (void)state;
    tool_t tool = make_figures(exhaustive() ? "--quick --only 17,6,14" : "--quick --only 6", "run", NULL);
    assert_non_null(strstr(tool.out, exhaustive() ? "3 figures" : "1 figure"));
    tool_clear(&tool);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_without_gnuplot),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, make_run, tool_remove_folder);
}
