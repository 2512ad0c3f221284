/*
 * Output of the tool: files that are either complete or absent, a full disk, and the MPI programs that bench starts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static int count_files(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void test_output_files(void **state)
{
    char line[512], path[300];
    (void)state;
    snprintf(path, sizeof path, "%s/plan.svg", tool_folder());
    snprintf(line, sizeof line, "plan 9 -f svg -o %s", path);
    tool_t tool = tool_run(line, NULL), direct = tool_run("plan 9 -f svg", NULL);
    assert_int_equal(tool.code, 0);
    assert_string_equal(tool.out, "");
    char *text = tool_read_file(path);
    assert_string_equal(text, direct.out);
    free(text);
    tool_clear(&direct);
    tool_clear(&tool);
    assert_int_equal(count_files(tool_folder()), 1);
    /* A refused command leaves the old file unchanged and creates no new one. */
    snprintf(line, sizeof line, "plan 82 -f svg -o %s", path);
    tool = tool_run(line, NULL);
    assert_int_equal(tool.code, 2);
    tool_clear(&tool);
    assert_int_equal(count_files(tool_folder()), 1);
    text = tool_read_file(path);
    assert_non_null(strstr(text, "a ring of 9"));
    free(text);
    remove(path);
}

static void test_full_disk(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    fclose(full);
    static const char *const lines[] = {"list",   "plan 9",     "plan 9 -f json", "verify 9",
                                        "cost 9", "simulate 9", "--help"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char script[300], text[1024];
        snprintf(script, sizeof script, "%s/full.sh", tool_folder());
        snprintf(text, sizeof text, "#!/bin/sh\nexec '%s' %s >/dev/full\n", TRIVANCE_TOOL, lines[i]);
        tool_write_file(script, text, 0755);
        tool_t tool = tool_run_as(script, "", NULL, NULL);
        if (tool.code != 2 || !strstr(tool.err, "could not be written"))
            fail_msg("trivance %s: exit code %d, %s", lines[i], tool.code, tool.err);
        tool_clear(&tool);
        remove(script);
    }
}

/* bench executes the program built for the MPI whose launcher's variables are set; it looks for that program beside
 * itself and in ../libexec/trivance. */
static void test_bench_executes_mpi_program(void **state)
{
    static const char *const openmpi[] = {"OMPI_COMM_WORLD_SIZE=9", "PMI_RANK=0", NULL}, *const mpich[] = {"PMI_RANK=0",
                                                                                                           NULL};
    char copy[300], program[320], command[1024];
    (void)state;
    snprintf(command, sizeof command, "mkdir -p '%s/bin' '%s/libexec/trivance' && cp '%s' '%s/bin/trivance'",
             tool_folder(), tool_folder(), TRIVANCE_TOOL, tool_folder());
    assert_int_equal(system(command), 0);
    snprintf(copy, sizeof copy, "%s/bin/trivance", tool_folder());
    snprintf(program, sizeof program, "%s/bin/trivance-mpi.openmpi", tool_folder());
    tool_write_file(program, "#!/bin/sh\necho openmpi \"$@\"\nexit 3\n", 0755);
    snprintf(program, sizeof program, "%s/libexec/trivance/trivance-mpi.mpich", tool_folder());
    tool_write_file(program, "#!/bin/sh\necho mpich \"$@\"\nexit 4\n", 0755);
    tool_t tool = tool_run_as(copy, "bench --torus 3x3 -x 2", NULL, openmpi);
    assert_int_equal(tool.code, 3);
    assert_string_equal(tool.out, "openmpi bench --torus 3x3 -x 2\n");
    tool_clear(&tool);
    tool = tool_run_as(copy, "bench --help", NULL, mpich);
    assert_int_equal(tool.code, 4);
    assert_string_equal(tool.out, "mpich bench --help\n");
    tool_clear(&tool);
    remove(program);
    static const char *const nowhere[] = {"PMI_SIZE=2", "PATH=/nonexistent", NULL};
    tool = tool_run_as(copy, "bench", NULL, nowhere);
    assert_int_equal(tool.code, 2);
    assert_non_null(strstr(tool.err, "trivance-mpi.mpich"));
    tool_clear(&tool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_files),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_bench_executes_mpi_program),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
