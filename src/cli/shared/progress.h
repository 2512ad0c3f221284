/*
 * A progress bar with the time left, on stderr where that is a terminal, for work that takes longer than two seconds.
 * From the first report to a span until the end, SIGINT (Ctrl-C) cancels the work at its next report instead of ending
 * the process at once.
 */
#ifndef TRIVANCE_CLI_SHARED_PROGRESS_H
#define TRIVANCE_CLI_SHARED_PROGRESS_H

#include <stdbool.h>
#include <time.h>

#include "base/span.h"

#define CLI_PROGRESS_NAME_MAX 96

/* All zeros is a bar that never began: step and end do nothing to it. */
typedef struct cli_progress {
    char what[CLI_PROGRESS_NAME_MAX];
    double total, done;
    struct timespec begun;
    double drawn_s; /* when it was drawn last, in seconds since its beginning */
    bool running, terminal, paused, shown, catching;
} cli_progress_t;

/* `what` is printed before the bar; `total` is the work ahead, in any unit. Returns all of it as a span, which functions
 * with progress of their own report to; others are followed by cli_progress_step. */
trv_span_t cli_progress_begin(cli_progress_t *progress, const char *what, double total);
/* So much more of the work is done. Any thread may call it, and report to the span. */
void cli_progress_step(cli_progress_t *progress, double work);
/* Removes the bar, so that something else can be written; cli_progress_name brings it back. */
void cli_progress_pause(cli_progress_t *progress);
/* Says what is being done now. */
void cli_progress_name(cli_progress_t *progress, const char *what);
/* Removes the bar. It may have ended before. */
void cli_progress_end(cli_progress_t *progress);

/* Whether SIGINT has cancelled work of this process. */
bool cli_interrupted(void);

#endif
