/*
 * A progress bar with the time left, on stderr, for what takes longer than two seconds. Where stderr is no terminal, the
 * same as a line: after two seconds, then ever less often.
 */
#ifndef TRIVANCE_CLI_SHARED_PROGRESS_H
#define TRIVANCE_CLI_SHARED_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include <trivance/torus.h>

/* All zeros is a bar that was never begun: step and end do nothing to it. */
#define CLI_PROGRESS_NAME_MAX 96

typedef struct cli_progress {
    char what[CLI_PROGRESS_NAME_MAX];
    double total, done;
    struct timespec begun;
    const char *cheaper;
    double watched, advanced; /* work of the calling thread, and which fraction of it is done */
    bool running, terminal, paused, stop, shown;
    pthread_t thread; /* draws four times a second, so that the time left goes on during long work */
    pthread_mutex_t lock;
    pthread_cond_t wake;
} cli_progress_t;

/* `what` stands before the bar; `total` is the work ahead, in any unit. */
void cli_progress_begin(cli_progress_t *progress, const char *what, double total);
/* "planning 64x64m", with the word on what is cheaper. */
void cli_progress_begin_planning(cli_progress_t *progress, const trv_torus_t *torus, double total);
/* So much of the work is done. Any thread may call it. */
void cli_progress_step(cli_progress_t *progress, double work);
/* What may be said, once, if more than a minute is left: a way to have it sooner. */
void cli_progress_cheaper(cli_progress_t *progress, const char *cheaper);
/* What the calling thread does from here on, until the next call or the end, is `work` of the total, of which it says
 * itself how far it is (base/advance.h). */
void cli_progress_watch(cli_progress_t *progress, double work);
/* Takes the bar away while other things are printed; cli_progress_name brings it back, with what is done now. */
void cli_progress_pause(cli_progress_t *progress);
void cli_progress_name(cli_progress_t *progress, const char *what);
/* Removes the bar. Before anything else is printed to the terminal, and before a message on stderr. */
void cli_progress_end(cli_progress_t *progress);

#endif
