/*
 * trivance run: MPI detection, the environment and arguments passed to the launcher, and refused input. Launchers are
 * scripts that print their version and their arguments; the libraries are empty files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tool.h"

static char tool[300], openmpi[300], mpich[300], other[300], folder[256];

static void write_launcher(char *path, size_t size, const char *name, const char *version)
{
    char text[512];
    snprintf(path, size, "%s/bin/%s", tool_folder(), name);
    snprintf(text, sizeof text,
             "#!/bin/sh\n[ \"$1\" = --version ] && { echo '%s'; exit 0; }\n"
             "printf '%%s\\n' \"$*\"\necho \"preload=$LD_PRELOAD torus=$TRIVANCE_TORUS cart=$TRIVANCE_CART\"\n"
             "echo \"subscribe=$OMPI_MCA_rmaps_base_oversubscribe policy=$PRTE_MCA_rmaps_default_mapping_policy\"\n"
             "exit 7\n",
             version);
    tool_write_file(path, text, 0755);
}

static int make_folder(void **state)
{
    char command[2048];
    (void)state;
    /* The tool prints the real path of a library. */
    char *real = realpath(tool_folder(), NULL);
    snprintf(folder, sizeof folder, "%s", real);
    free(real);
    snprintf(command, sizeof command,
             "mkdir -p '%s/bin' '%s/src/mpi/preload' && cp '%s' '%s/bin/trivance' && "
             "touch '%s/src/mpi/preload/libtrivance_pmpi_openmpi.so' '%s/src/mpi/preload/libtrivance_pmpi_mpich.so'",
             folder, folder, TRIVANCE_TOOL, folder, folder, folder);
    snprintf(tool, sizeof tool, "%s/bin/trivance", folder);
    int code = system(command);
    if (code == 0)
        write_launcher(openmpi, sizeof openmpi, "mpirun.one", "mpirun (Open MPI) 4.1.4");
    return code;
}

static tool_t run(const char *format, const char *launcher)
{
    char line[600];
    snprintf(line, sizeof line, format, launcher);
    return tool_run_as(tool, line, NULL, NULL);
}

static void expect(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("'%s' is not in: %s", words, text);
}

/* Open MPI's launcher receives the variables by -x, once for each program of the line; the launcher's own
 * environment has no preload. */
static void test_openmpi(void **state)
{
    char expected[1024];
    (void)state;
    tool_t result = run("run --torus 3x3 --cart %s -n 2 /bin/true : -n 7 /bin/true", openmpi);
    assert_int_equal(result.code, 7);
    snprintf(
        expected, sizeof expected,
        "-x LD_PRELOAD=%s/src/mpi/preload/libtrivance_pmpi_openmpi.so -x TRIVANCE_TORUS=3x3 -x TRIVANCE_CART=1 -n 2 "
        "/bin/true : -x LD_PRELOAD=%s/src/mpi/preload/libtrivance_pmpi_openmpi.so",
        folder, folder);
    expect(result.out, expected);
    expect(result.out, "preload= torus=3x3 cart=1\n");
    expect(result.err, "trivance run: Open MPI (by ");
    expect(result.err, "libtrivance_pmpi_openmpi.so, TRIVANCE_TORUS=3x3, TRIVANCE_CART=1");
    tool_clear(&result);
}

static void test_mpich(void **state)
{
    static const char *const before[] = {"LD_PRELOAD=libc.so.6", NULL};
    char line[600], expected[1024];
    (void)state;
    write_launcher(mpich, sizeof mpich, "mpiexec.two", "HYDRA build details:");
    snprintf(line, sizeof line, "run --debug=info -- %s -n 2 /bin/true", mpich);
    tool_t result = tool_run_as(tool, line, NULL, before);
    assert_int_equal(result.code, 7);
    snprintf(expected, sizeof expected,
             "-genv LD_PRELOAD %s/src/mpi/preload/libtrivance_pmpi_mpich.so:libc.so.6 -n 2 /bin/true\n", folder);
    expect(result.out, expected);
    expect(result.err, "MPICH (by ");
    expect(result.err, ", TRIVANCE_DEBUG=info\n");
    tool_clear(&result);
}

/* An unknown launcher is not queried, and passes its environment on. */
static void test_other_launcher(void **state)
{
    char expected[600];
    (void)state;
    write_launcher(other, sizeof other, "srun", "never asked");
    tool_t result = run("run --mpi=mpich --torus=9 %s -n 9 /bin/true", other);
    assert_int_equal(result.code, 7);
    expect(result.out, "-n 9 /bin/true\n");
    snprintf(expected, sizeof expected, "preload=%s/src/mpi/preload/libtrivance_pmpi_mpich.so torus=9", folder);
    expect(result.out, expected);
    tool_clear(&result);
}

static void expect_bad(const char *format, const char *launcher, const char *words)
{
    tool_t result = run(format, launcher);
    if (result.code != 2 || !strstr(result.err, words) || result.out[0] ||
        strncmp(result.err, "trivance run: ", 14) != 0)
        fail_msg("'%s': exit code %d, %s%s, without '%s'", format, result.code, result.out, result.err, words);
    tool_clear(&result);
}

static void test_bad_input(void **state)
{
    char path[600];
    (void)state;
    expect_bad("run", NULL, "the command to start is missing");
    expect_bad("run --torus=3x %s -n 3 a", openmpi, "'3x' is not a torus");
    expect_bad("run --debug=loud %s -n 3 a", openmpi, "for example --debug=info\n");
    expect_bad("run --timeout= %s -n 3 a", openmpi, "--timeout: the value is missing; for example --timeout=30s\n");
    expect_bad("run --algorithm=trivence %s -n 3 a", openmpi, "did you mean trivance?\n");
    expect_bad("run --on-timeout=abort %s -n 3 a", openmpi, "no effect without a timeout");
    expect_bad("run --ports=eth1 %s -n 3 a", openmpi, "add --transport=ofi");
    expect_bad("run --toros=3 %s -n 3 a", openmpi, "did you mean --torus?");
    expect_bad("run --torus", NULL, "needs a value");
    expect_bad("run --mpi=lam %s", openmpi, "is not an MPI; expected openmpi, mpich or abi");
    expect_bad("run --torus=3 /bin/true -n 3 /bin/true", NULL, "give --mpi=openmpi, --mpi=mpich or --mpi=abi");
    expect_bad("run --torus=3 srun.not.here -n 3 /bin/true", NULL, "there is no executable program 'srun.not.here'");
    expect_bad("run --mpi=mpich %s -n 3 /bin/true", openmpi, "is the launcher of Open MPI");
    expect_bad("run --topology-file=/nonexistent %s -n 3 /bin/true", openmpi,
               "--topology-file: the file '/nonexistent'");
    snprintf(path, sizeof path, "%s/src/mpi/preload/libtrivance_pmpi_openmpi.so", folder);
    assert_int_equal(remove(path), 0);
    expect_bad("run --torus=3 %s -n 3 /bin/true", openmpi, "libtrivance_pmpi_openmpi.so is not in ");
    tool_write_file(path, "", 0644);
}

/* Variables are checked as options are. */
static void test_bad_variable(void **state)
{
    static const char *const debug[] = {"TRIVANCE_DEBUG=inof", NULL};
    char line[600];
    (void)state;
    snprintf(line, sizeof line, "run %s -n 2 /bin/true", openmpi);
    tool_t result = tool_run_as(tool, line, NULL, debug);
    assert_int_equal(result.code, 2);
    expect(result.err, "trivance run: TRIVANCE_DEBUG: 'inof' is not one of ");
    expect(result.err, "; for example TRIVANCE_DEBUG=info\n");
    tool_clear(&result);
    snprintf(line, sizeof line, "run --debug=warn %s -n 2 /bin/true", openmpi);
    result = tool_run_as(tool, line, NULL, debug);
    assert_int_equal(result.code, 7); /* the option takes precedence */
    tool_clear(&result);
}

/* Open MPI's launcher is permitted to start more ranks than cores on this machine, and only then. */
static void test_oversubscription(void **state)
{
    static const char *const clean[] = {NULL}, *const set[] = {"OMPI_MCA_rmaps_base_oversubscribe=0", NULL},
                             *const batch[] = {"SLURM_JOB_ID=1", NULL};
    static const struct {
        const char *arguments;
        const char *const *setting;
        const char *words;
        bool reported;
    } cases[] = {{"-n 9999 /bin/true", clean, "subscribe=1 policy=:oversubscribe", true},
                 {"-np 1 /bin/true : -np 9999 /bin/true", clean, "subscribe=1 policy=:oversubscribe", true},
                 {"--map-by sh -n 9999 /bin/true", clean, "subscribe=1 policy=:oversubscribe", true},
                 {"--np=9999 /bin/true", clean, "subscribe=1 policy=:oversubscribe", true},
                 {"-n 1 /bin/true -n 9999", clean, "subscribe= policy=\n", false},
                 {"-n 1 /bin/true", clean, "subscribe= policy=\n", false},
                 {"--hostfile hosts -n 9999 /bin/true", clean, "subscribe= policy=\n", false},
                 {"-n 9999 /bin/true", batch, "subscribe= policy=\n", false},
                 {"-n 9999 /bin/true", set, "subscribe=0", false}};
    (void)state;
    unsetenv("PRTE_MCA_rmaps_default_mapping_policy");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[600];
        snprintf(line, sizeof line, "run %s %s", openmpi, cases[i].arguments);
        tool_t result = tool_run_as(tool, line, NULL, cases[i].setting);
        assert_int_equal(result.code, 7);
        expect(result.out, cases[i].words);
        if ((strstr(result.err, "; more ranks than cores, which OMPI_MCA_rmaps_base_oversubscribe=1 permits\n") !=
             NULL) != cases[i].reported)
            fail_msg("%s: %s", line, result.err);
        tool_clear(&result);
    }
}

/* A program that links an MPI (according to a script in place of ldd): without a launcher, and as one of several
 * programs of a job. */
static void test_no_launcher(void **state)
{
    char ldd[600], path[600];
    const char *const alone[] = {path, NULL}, *const started[] = {path, "PMI_RANK=0", NULL};
    (void)state;
    snprintf(ldd, sizeof ldd, "%s/bin/ldd", folder);
    snprintf(path, sizeof path, "PATH=%s/bin:/usr/bin:/bin", folder);
    tool_write_file(ldd, "#!/bin/sh\necho libmpich.so.12\n", 0755);
    write_launcher(mpich, sizeof mpich, "mpirun", "HYDRA build details:");
    tool_t result = tool_run_as(tool, "run --torus 2 /bin/true", NULL, alone);
    assert_int_equal(result.code, 2);
    expect(result.err,
           "/bin/true is a program of MPICH, and its launcher is missing; for example `trivance run --torus 2 -- "
           "mpirun -n 2 /bin/true`\n");
    tool_clear(&result);
    result = tool_run_as(tool, "run --torus 2 /bin/true", NULL, started);
    expect(result.err, "trivance run: MPICH (by /bin/true), preloading ");
    tool_clear(&result);
    result = tool_run_as(tool, "run /bin/true", NULL, alone);
    expect(result.err, "`trivance run --torus 3x3 -- mpirun -n 9 /bin/true`\n");
    tool_clear(&result);
    remove(ldd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_openmpi),        cmocka_unit_test(test_mpich),
        cmocka_unit_test(test_other_launcher), cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_bad_variable),   cmocka_unit_test(test_oversubscription),
        cmocka_unit_test(test_no_launcher),
    };
    return cmocka_run_group_tests(tests, make_folder, tool_remove_folder);
}
