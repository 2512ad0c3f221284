/*
 * The result file of trivance sweep: it is valid and can be resumed after kills, torn lines and full disks; a file that
 * is not a sweep's result is left unchanged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <trivance/algorithms.h>

#include "exhaustive.h"
#include "sweep_tool.h"

static int compare(const void *left, const void *right) { return strcmp(*(char *const *)left, *(char *const *)right); }

/* Returns the lines of a CSV file, sorted, without the column wall_s, which is the sixteenth here. */
static char *sorted_rows(const char *file)
{
    char *text = tool_read_file(file), *rest = text, *row, *line[4096];
    size_t lines = 0, used = 0;
    char *sorted = calloc(strlen(text) + 1, 1);
    while ((row = strtok_r(rest, "\n", &rest)) != NULL && lines < 4096) {
        char *cell = row;
        for (int i = 0; i < 15; i++) {
            cell = strchr(cell, ',');
            if (!cell)
                fail_msg("%s has the line '%s'", file, row);
            cell++;
        }
        char *behind = strchr(cell, ',');
        assert_non_null(behind);
        memmove(cell, behind, strlen(behind) + 1);
        line[lines++] = row;
    }
    qsort(line, lines, sizeof line[0], compare);
    for (size_t i = 0; i < lines; i++)
        used += (size_t)sprintf(sorted + used, "%s\n", line[i]);
    free(text);
    return sorted;
}

static void expect_same_rows(const char *file, const char *other)
{
    char *a = sorted_rows(file), *b = sorted_rows(other);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static size_t size_of(const char *file)
{
    struct stat status;
    return stat(file, &status) == 0 ? (size_t)status.st_size : 0;
}

/* Points that each take some tenths of a second. */
#define GRID "--torus=8x8,3x5 -a all -b 32:128K:x2 --alpha=1us -j 1"

/* 13 sizes with planned and all algorithms that support an AllReduce on the torus. */
static int points_on(const char *text)
{
    trv_torus_t torus;
    int algorithms = 1;
    assert_int_equal(trv_torus_parse(text, &torus), TRV_OK);
    for (int i = 0; i < trv_algorithms_count(); i++)
        algorithms += trv_algorithm_supports(trv_algorithm_at(i), &torus, TRV_ALLREDUCE) == TRV_OK;
    return 13 * algorithms;
}
#define POINTS           (points_on("8x8") + points_on("3x5"))
#define POINTS_OF_A_RING points_on("9")

/* Returns whether the text contains `format`, its number being `points`. */
static bool has_count(const char *text, const char *format, int points)
{
    char words[128];
    snprintf(words, sizeof words, format, points);
    return strstr(text, words) != NULL;
}

static char whole[512]; /* the file of an uninterrupted sweep of GRID */

static int write_whole_sweep(void **state)
{
    (void)state;
    snprintf(whole, sizeof whole, "%s", in_folder("whole.csv"));
    tool_t tool = sweep(GRID " -o %s", whole);
    int code = tool.code;
    tool_clear(&tool);
    return code;
}

/* Starts a sweep into `file`, sends it a signal after it has written something, and returns its exit status. */
static int interrupt(const char *file, int with, FILE *err)
{
    char line[1024];
    int status = 0;
    snprintf(line, sizeof line, "sweep " GRID " -o %s", file);
    pid_t pid = tool_start(line, err);
    while (size_of(file) < 1000)
        nanosleep(&(struct timespec){0, 200000}, NULL);
    kill(pid, with);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(size_of(file) < size_of(whole));
    return status;
}

static void test_killed(void **state)
{
    char file[512];
    (void)state;
    snprintf(file, sizeof file, "%s", in_folder("killed.csv"));
    int status = interrupt(file, SIGKILL, stderr);
    assert_true(WIFSIGNALED(status));
    tool_t tool = sweep(GRID " -o %s", file);
    assert_true(has_count(tool.out, "has all %d points", POINTS));
    assert_false(has_count(tool.out, "%d new", POINTS));
    expect_code(tool, 0, NULL);
    expect_same_rows(file, whole);
    tool = sweep(GRID " -o %s", file);
    assert_true(has_count(tool.out, "has all %d points, 0 new", POINTS));
    expect_code(tool, 0, NULL);
    /* A parameter that is given with its default value does not make another sweep. */
    tool = sweep(GRID " --bandwidth=800Gb/s --collective=allreduce --slow-link=none -o %s", file);
    assert_true(has_count(tool.out, "has all %d points, 0 new", POINTS));
    expect_code(tool, 0, NULL);
    /* An extended grid keeps the existing rows. */
    tool = sweep(GRID " --torus=2 -o %s", file);
    assert_true(has_count(tool.out, "has all %d points, ", POINTS + POINTS_OF_A_RING));
    assert_true(has_count(tool.out, ", %d new", POINTS_OF_A_RING));
    expect_code(tool, 0, NULL);
    expect_code(sweep(GRID " --restart -o %s", file), 0, NULL);
    expect_same_rows(file, whole);
}

static void test_interrupted(void **state)
{
    char file[512], text[512] = "";
    FILE *err = tmpfile();
    (void)state;
    assert_non_null(err);
    snprintf(file, sizeof file, "%s", in_folder("interrupted.csv"));
    int status = interrupt(file, SIGINT, err);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    rewind(err);
    assert_non_null(fgets(text, sizeof text, err));
    assert_true(has_count(text, "of %d points; the same command continues after the last row of", POINTS));
    assert_null(fgets(text, sizeof text, err));
    fclose(err);
    char *rows = tool_read_file(file);
    assert_int_equal(rows[strlen(rows) - 1], '\n');
    free(rows);
    expect_code(sweep(GRID " -o %s", file), 0, NULL);
    expect_same_rows(file, whole);
}

/* A file that is truncated anywhere is completed: in the header, between rows (the header has 75 bytes) or in a row.
 * The quick tier tests one cut of each kind. */
static void test_truncated_file(void **state)
{
    static const size_t cut[] = {5, 75, 1000, 0, 60, 100};
    const size_t cuts = exhaustive() ? sizeof cut / sizeof cut[0] : 2;
    char file[512], *text = tool_read_file(whole);
    (void)state;
    snprintf(file, sizeof file, "%s", in_folder("torn.csv"));
    for (size_t i = 0; i < cuts; i++) {
        tool_write_file(file, text, 0600);
        assert_int_equal(truncate(file, (off_t)cut[i]), 0);
        expect_code(sweep(GRID " -o %s", file), 0, NULL);
        expect_same_rows(file, whole);
    }
    free(text);
    snprintf(file, sizeof file, "%s", in_folder("torn.jsonl"));
    expect_code(sweep("--torus=8 --jitter=0%%:1%%:+0.1%% -a ring -b 64,1K -o %s", file), 0, NULL);
    assert_int_equal(truncate(file, (off_t)size_of(file) - 20), 0);
    tool_t tool = sweep("--torus=8 --jitter=0%%:1%%:+0.1%% -a ring -b 64,1K -o %s", file);
    assert_non_null(strstr(tool.out, "has all 22 points, 1 new"));
    expect_code(tool, 0, NULL);
}

#define NETWORK "fifo,head,800000000000,12800000000000,1000,100,100,50,50,8192"

/* A file that a sweep would not have written is refused and left unchanged. */
static void test_other_files(void **state)
{
    static const char header[] = "torus,algorithm,bytes,model,delivery,bandwidth_bps,nic_bandwidth_bps,alpha_ns,"
                                 "link_latency_ns,host_latency_ns,router_in_ns,router_out_ns,packet,time_ns,"
                                 "packet_hops,wall_s,chosen_for,error\n";
    static const struct {
        const char *name, *text, *words;
    } other[] = {
        {"notes.csv", "my notes", "line 1 is not the beginning of a sweep"},
        {"notes.csv", "my notes\n", "line 1 does not list the columns"},
        {"less.csv", "torus,algorithm,bytes,time_ns,packet_hops,wall_s,chosen_for,error\n",
         "does not list the columns"},
        {"grid.csv", "*8x8,ring,32," NETWORK ",1.000,1,1.0,ring,\n9x9,ring,32," NETWORK ",1.000,1,1.0,ring,\n",
         "line 3 has torus 9x9"},
        {"bytes.csv", "*8x8,ring,33," NETWORK ",1.000,1,1.0,ring,\n", "has bytes 33"},
        {"family.csv", "*8x8,ring,32," NETWORK ",1.000,1,1.0,trivance,\n", "has chosen_for trivance"},
        {"short.csv", "*8x8,ring,32\n", "is not a row of this sweep"},
        {"quote.csv", "*8x8,ring,32," NETWORK ",1.000,1,1.0,ring,\"\n", "is not a row of this sweep"},
        {"lines.jsonl", "{\"torus\": \"8x8\"}\n", "is not a row of this sweep"},
        {"lines.jsonl", "{\"my\": \"notes\"", "not the beginning"},
        {"lines.jsonl", "[1]\n", "is not a row of this sweep"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        char text[1024];
        bool headed = other[i].text[0] == '*';
        snprintf(text, sizeof text, "%s%s", headed ? header : "", other[i].text + headed);
        tool_write_file(in_folder(other[i].name), text, 0600);
        expect_code(sweep(GRID " -o %s", path), 2, other[i].words);
        char *after = tool_read_file(path);
        assert_string_equal(after, text);
        free(after);
    }
    /* A sweep with another bandwidth must not reuse rows of the default one. */
    char *before = tool_read_file(whole);
    expect_code(sweep(GRID " --bandwidth=400Gb/s -o %s", whole), 2, "has bandwidth_bps 800000000000");
    char *after = tool_read_file(whole);
    assert_string_equal(after, before);
    free(before);
    free(after);
    assert_int_equal(mkdir(in_folder("locked"), 0700), 0);
    expect_code(sweep(GRID " -o %s/locked/locked.csv/out.csv", tool_folder()), 2, "cannot be written");
    expect_code(sweep(GRID " -o %s", tool_folder()), 2, "must end in .csv or .jsonl");
}

/* A full disk, simulated by a limit on the file size and by /dev/full. */
static void test_disk_full(void **state)
{
    char file[512];
    struct rlimit limit, small;
    (void)state;
    snprintf(file, sizeof file, "%s", in_folder("full.csv"));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 3000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    tool_t tool = sweep(GRID " -o %s", file);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    expect_code(tool, 2, "could not be written: File too large; the same command continues after its last row");
    char *rows = tool_read_file(file);
    assert_true(strlen(rows) > 2000 && rows[strlen(rows) - 1] == '\n');
    free(rows);
    tool = sweep(GRID " -o %s", file);
    assert_null(strstr(tool.out, "416 new"));
    expect_code(tool, 0, NULL);
    expect_same_rows(file, whole);
    assert_int_equal(symlink("/dev/full", in_folder("device.csv")), 0);
    expect_code(sweep(GRID " -o %s", path), 2, "No space left on device");
}

static void expect_new(const char *points, tool_t tool)
{
    assert_non_null(strstr(tool.out, points));
    expect_code(tool, 0, NULL);
}

/* Rows of a network's file are kept until its parameters change, and those of the other networks with them. */
static void test_network_file(void **state)
{
    static const char grid[] = "--torus=8 -a ring -b 32 --network=%s,paper -o %s";
    static const char profile[] = "{\"format\": \"trivance-network-1\", \"title\": \"%s\", \"parameters\": "
                                  "{\"alpha\": {\"value\": \"%s\", \"source\": \"x\"}}}";
    char network[512], text[512];
    (void)state;
    snprintf(network, sizeof network, "%s", in_folder("own.json"));
    snprintf(text, sizeof text, profile, "own", "1us");
    tool_write_file(network, text, 0600);
    expect_new("2 new", sweep(grid, network, in_folder("networks.csv")));
    snprintf(text, sizeof text, profile, "another title", "1us");
    tool_write_file(network, text, 0600);
    expect_new("0 new", sweep(grid, network, path));
    snprintf(text, sizeof text, profile, "own", "2us");
    tool_write_file(network, text, 0600);
    expect_code(sweep(grid, network, path), 2, "of a file whose parameters have changed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),      cmocka_unit_test(test_interrupted), cmocka_unit_test(test_truncated_file),
        cmocka_unit_test(test_other_files), cmocka_unit_test(test_disk_full),   cmocka_unit_test(test_network_file),
    };
    return cmocka_run_group_tests(tests, write_whole_sweep, tool_remove_folder);
}
