/*
 * A progress bar with the time left, on stderr, for what takes longer than two seconds. Nothing is shown where stderr
 * is no terminal.
 */
#ifndef TRIVANCE_TOOL_PROGRESS_H
#define TRIVANCE_TOOL_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* All zeros is a bar that was never begun: step and end do nothing to it. */
#define CLI_PROGRESS_NAME_MAX 96

typedef struct cli_progress {
    char what[CLI_PROGRESS_NAME_MAX];
    double total, done;
    struct timespec begun;
    bool running, paused, stop, shown;
    pthread_t thread; /* draws four times a second, so that the time left goes on during long work */
    pthread_mutex_t lock;
    pthread_cond_t wake;
} cli_progress_t;

/* `what` stands before the bar; `total` is the work ahead, in any unit. */
void cli_progress_begin(cli_progress_t *progress, const char *what, double total);
/* So much of the work is done. Any thread may call it. */
void cli_progress_step(cli_progress_t *progress, double work);
/* Takes the bar away while other things are printed; cli_progress_name brings it back, with what is done now. */
void cli_progress_pause(cli_progress_t *progress);
void cli_progress_name(cli_progress_t *progress, const char *what);
/* Removes the bar. Before anything else is printed to the terminal, and before a message on stderr. */
void cli_progress_end(cli_progress_t *progress);

#endif
