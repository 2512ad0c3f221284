/*
 * The interface of the parts of `trivance testbed`.
 */
#ifndef TRIVANCE_TESTBED_COMMAND_COMMANDS_H
#define TRIVANCE_TESTBED_COMMAND_COMMANDS_H

#include <stdbool.h>

#include "testbed/testbed.h"
#include "cli/shared/command.h"

extern const cli_command_t cli_testbed_run_command, cli_testbed_check_command, cli_testbed_bench_command;
extern const cli_option_t cli_testbed_format_option[]; /* only --format */

int cli_testbed_run(int argc, char **argv);
int cli_testbed_check(int argc, char **argv);
int cli_testbed_bench(int argc, char **argv);

/* Finds a program that is built or installed with the tool. Its path in `path`, or CLI_BAD after a message. */
int cli_testbed_program(const char *command, const char *file, char *path, size_t size);

/* Checks that a link can have these values of --bandwidth and --hop-latency: CLI_BAD after a message. */
int cli_testbed_range(const char *command, double bandwidth_bps, double latency_ns);

/* ---- Verdict: is the testbed faithful? --------------------------------------------------------------------------- */

typedef struct cli_verdict {
    struct cli_table *table; /* the table that shows every test, or NULL */
    int tests, wrong;
    double worst;    /* measured / theory, of the test with the largest deviation */
    double limit_ns; /* maximum lateness */
    bool faithful;
    tb_status_t status; /* after the tests */
} cli_verdict_t;

/* Runs the tests. CLI_BAD after a message if they cannot be run. */
int cli_testbed_verdict(const char *command, cli_verdict_t *verdict);
/* Prints the verdict as one line. */
void cli_testbed_verdict_print(const cli_verdict_t *verdict, FILE *out);

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

#define TESTBED_NO_MPI "none"

typedef struct cli_job {
    const char *mpi; /* openmpi or mpich; or TESTBED_NO_MPI, for a program that uses libtrivance_net */
    int ranks;       /* on the first nodes, one each */
    bool rendezvous; /* as the MPI library decides; false: large messages are sent eagerly */
    bool drop_in;    /* with the preload library of `trivance run` */
    char **word;     /* the program and its arguments */
    int words;
    const char *output;           /* file for its output, or NULL; with a file, its input is /dev/null */
    const char *times;            /* file for the times of testbed/programs/clock.c, or NULL */
    void (*watch)(void *context); /* called twice a second while it runs, or NULL */
    void *context;
} cli_job_t;

/* Finds the MPI library that the program is linked with and sets job->mpi. CLI_BAD after a message if the program uses
 * none or, if job->mpi is set, another one. */
int cli_testbed_find_mpi(const char *command, cli_job_t *job);

/* Runs the job on the testbed that is up, waits for it, and ends the processes that it leaves. Returns the launcher's
 * exit code, or CLI_BAD after a message. *counts (may be NULL) has the emulator's counts during the job. */
int cli_testbed_job(const char *command, const cli_job_t *job, tb_status_t *counts);

#endif
