/*
 * Running commands of other programs, and batches of iproute2's.
 */
#ifndef TRIVANCE_TESTBED_COMMAND_H
#define TRIVANCE_TESTBED_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

/* Runs a command, without a shell, with `input` (may be NULL) as its standard input. TRV_ERR_STATE with the first line
 * of its output if it fails. */
int trv_testbed_command(const char *const *command, const char *input);

/* Lines for `ip -batch`, which the caller writes to `out`. */
typedef struct tb_batch {
    FILE *out;
    char *text;
    size_t size;
} tb_batch_t;

/* Returns false if memory is exhausted. */
bool trv_testbed_begin_batch(tb_batch_t *batch);
/* Runs the lines in the namespace `space`, or in the present one if it is NULL, and frees them. */
int trv_testbed_run_batch(tb_batch_t *batch, const char *space);

/* Truncates a text behind its first line; returns it. */
char *trv_testbed_first_line(char *text);

#endif
