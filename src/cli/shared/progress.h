/*
 * A progress bar with the time left, on stderr if that is a terminal, for work that takes longer than two seconds. From
 * the first report to a span until the end of the bar, SIGINT (Ctrl-C) cancels the work at its next report instead of
 * terminating the process immediately.
 */
#ifndef TRIVANCE_CLI_SHARED_PROGRESS_H
#define TRIVANCE_CLI_SHARED_PROGRESS_H

#include <stdbool.h>
#include <time.h>

#include "base/span.h"

#define CLI_PROGRESS_NAME_MAX 96

/* A bar that is all zeros was never started: cli_progress_step and cli_progress_end ignore it. */
typedef struct cli_progress {
    char what[CLI_PROGRESS_NAME_MAX];
    double total, done;
    struct timespec start;
    double drawn_s; /* when it was drawn last, in seconds since its beginning */
    bool running, terminal, paused, shown, catching;
} cli_progress_t;

/* Starts a bar. `what` is printed before it; `total` is the amount of work, in any unit. Returns a span of the whole
 * work, for functions that report their own progress; after other functions the caller calls cli_progress_step. */
trv_span_t cli_progress_begin(cli_progress_t *progress, const char *what, double total);
/* Adds `work` to the finished work. Any thread may call this and report to the span. */
void cli_progress_step(cli_progress_t *progress, double work);
/* Removes the bar, so that something else can be written; cli_progress_name brings it back. */
void cli_progress_pause(cli_progress_t *progress);
/* Changes the text before the bar. */
void cli_progress_name(cli_progress_t *progress, const char *what);
/* Removes the bar. May be called more than once. */
void cli_progress_end(cli_progress_t *progress);

/* Whether SIGINT has cancelled work of this process. */
bool cli_interrupted(void);

#endif
