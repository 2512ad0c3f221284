/*
 * The parts of `trivance testbed`.
 */
#ifndef TRIVANCE_TESTBED_COMMAND_COMMANDS_H
#define TRIVANCE_TESTBED_COMMAND_COMMANDS_H

#include <stdbool.h>

#include "testbed/testbed.h"
#include "cli/shared/command.h"

extern const cli_command_t cli_testbed_run_command, cli_testbed_check_command, cli_testbed_bench_command;
extern const cli_option_t cli_testbed_format_option[]; /* --format alone */

int cli_testbed_run(int argc, char **argv);
int cli_testbed_check(int argc, char **argv);
int cli_testbed_bench(int argc, char **argv);

/* A program that is built or installed with the tool: its path into `path`; else a sentence, and CLI_BAD. */
int cli_testbed_program(const char *command, const char *file, char *path, size_t size);

/* What a link can have: CLI_BAD after a sentence. */
int cli_testbed_range(const char *command, double bandwidth_bps, double latency_ns);

/* ---- Whether the testbed is faithful ----------------------------------------------------------------------------- */

typedef struct cli_verdict {
    struct cli_table *table; /* or NULL: where every test is shown */
    int tests, wrong;
    double worst;    /* measured / theory, of the test that is off most */
    double limit_ns; /* of the lateness */
    bool faithful;
    tb_status_t status; /* after the tests */
} cli_verdict_t;

/* Runs the tests. CLI_BAD after a sentence where they cannot be run. */
int cli_testbed_verdict(const char *command, cli_verdict_t *verdict);
/* As one line. */
void cli_testbed_verdict_print(const cli_verdict_t *verdict, FILE *out);

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

#define TESTBED_NO_MPI "none"

typedef struct cli_job {
    const char *mpi; /* openmpi or mpich, or TESTBED_NO_MPI: it uses libtrivance_net */
    int ranks;       /* on the first so many nodes */
    bool rendezvous; /* as the MPI library does it; false: large messages are sent without asking */
    bool drop_in;    /* under the preload library of `trivance run` */
    char **word;     /* the program and its arguments */
    int words;
    const char *output;           /* or NULL: the file that gets what it says; it then reads nothing */
    const char *times;            /* or NULL: the file that gets what testbed/programs/clock.c writes */
    void (*watch)(void *context); /* or NULL: called twice a second as it runs */
    void *context;
} cli_job_t;

/* Finds which MPI the program is linked with, where job->mpi is NULL. CLI_BAD where it is none, or not that. */
int cli_testbed_find_mpi(const char *command, cli_job_t *job);

/* Runs it on the testbed that is up, waits, and ends what it left. The exit code of the launcher, or CLI_BAD after a
 * sentence. *counts (may be NULL) is what the emulator has counted during the job. */
int cli_testbed_job(const char *command, const cli_job_t *job, tb_status_t *counts);

#endif
