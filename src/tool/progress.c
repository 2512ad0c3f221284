/*
 * The progress bar: every picture of it is one write, over the picture before, so it does not flicker.
 */
#include "tool/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tool/tool.h"

#define QUIET_S        2
#define PERIOD_NS      250000000L
#define BAR_CELLS_MAX  40
#define LINE_MAX_BYTES 512

static double seconds_since(const struct timespec *begun)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begun->tv_sec) + 1e-9 * (double)(now.tv_nsec - begun->tv_nsec);
}

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* ", 2 h 05 min left"; nothing while there is nothing to judge by. */
static void format_left(double seconds, char *text, size_t size)
{
    long left = (long)(seconds + 0.5);
    if (!(seconds >= 0 && seconds < 1e8))
        text[0] = '\0';
    else if (left < 60)
        snprintf(text, size, ", %ld s left", left);
    else if (left < 3600)
        snprintf(text, size, ", %ld min %02ld s left", left / 60, left % 60);
    else
        snprintf(text, size, ", %ld h %02ld min left", left / 3600, left / 60 % 60);
}

/* `cells` characters, in UTF-8 filled to the eighth of one. */
static void format_bar(double fraction, int cells, char *text, size_t size)
{
    static const char *const eighth[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    bool utf8 = cli_utf8();
    int filled = (int)(fraction * cells * 8 + 0.5);
    size_t used = 0;
    for (int i = 0; i < cells; i++) {
        int level = filled - 8 * i;
        level = level < 0 ? 0 : level > 8 ? 8 : level;
        used += (size_t)snprintf(text + used, size - used, "%s", utf8 ? eighth[level] : level >= 4 ? "#" : ".");
    }
}

static void draw(cli_progress_t *progress)
{
    double fraction = progress->total > 0 ? progress->done / progress->total : 0;
    double elapsed = seconds_since(&progress->begun);
    char left[64], bar[4 * BAR_CELLS_MAX + 1] = "", line[LINE_MAX_BYTES];
    fraction = fraction > 1 ? 1 : fraction;
    format_left(fraction > 0 ? elapsed * (1 - fraction) / fraction : -1, left, sizeof left);
    int cells = terminal_columns() - (int)(strlen(progress->what) + strlen(left)) - 12;
    if (cells >= 4)
        format_bar(fraction, cells < BAR_CELLS_MAX ? cells : BAR_CELLS_MAX, bar, sizeof bar);
    int length = snprintf(line, sizeof line, "\r%s [%s] %3d %%%s\033[K", progress->what, bar, (int)(100 * fraction),
                          left);
    if (length > 0 && length < (int)sizeof line && write(STDERR_FILENO, line, (size_t)length) > 0)
        progress->shown = true;
}

static void *keep_drawing(void *context)
{
    cli_progress_t *progress = context;
    struct timespec next = progress->begun;
    next.tv_sec += QUIET_S;
    pthread_mutex_lock(&progress->lock);
    while (!progress->stop) {
        if (pthread_cond_timedwait(&progress->wake, &progress->lock, &next) != ETIMEDOUT || progress->stop)
            continue;
        if (!progress->paused)
            draw(progress);
        next.tv_nsec += PERIOD_NS;
        next.tv_sec += next.tv_nsec / 1000000000L;
        next.tv_nsec %= 1000000000L;
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

void cli_progress_begin(cli_progress_t *progress, const char *what, double total)
{
    pthread_condattr_t attribute;
    *progress = (cli_progress_t){.total = total};
    snprintf(progress->what, sizeof progress->what, "%s", what);
    if (!cli_stderr_is_terminal())
        return;
    clock_gettime(CLOCK_MONOTONIC, &progress->begun);
    pthread_mutex_init(&progress->lock, NULL);
    pthread_condattr_init(&attribute);
    pthread_condattr_setclock(&attribute, CLOCK_MONOTONIC);
    pthread_cond_init(&progress->wake, &attribute);
    pthread_condattr_destroy(&attribute);
    /* Without a thread there is no bar, and nothing else is missing. Signals are for the others. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    progress->running = pthread_create(&progress->thread, NULL, keep_drawing, progress) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cli_progress_step(cli_progress_t *progress, double work)
{
    if (!progress->running)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->done += work;
    pthread_mutex_unlock(&progress->lock);
}

static void erase(cli_progress_t *progress)
{
    static const char line[] = "\r\033[K";
    if (progress->shown && write(STDERR_FILENO, line, sizeof line - 1) > 0)
        progress->shown = false; /* a terminal that is gone has nothing to remove */
}

void cli_progress_pause(cli_progress_t *progress)
{
    if (!progress->running)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->paused = true;
    erase(progress);
    pthread_mutex_unlock(&progress->lock);
}

void cli_progress_name(cli_progress_t *progress, const char *what)
{
    if (!progress->running)
        return;
    pthread_mutex_lock(&progress->lock);
    snprintf(progress->what, sizeof progress->what, "%s", what);
    progress->paused = false;
    pthread_mutex_unlock(&progress->lock);
}

void cli_progress_end(cli_progress_t *progress)
{
    if (!progress->running)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->stop = true;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    erase(progress);
    pthread_cond_destroy(&progress->wake);
    pthread_mutex_destroy(&progress->lock);
    progress->running = false;
}
