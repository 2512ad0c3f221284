/*
 * The progress bar. Each update is a single write that overwrites the previous bar, so that it does not flicker.
 */
#include "cli/shared/progress.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/shared/tool.h"

#define QUIET_S        2
#define PERIOD_S       0.25
#define BAR_CELLS_MAX  40
#define LINE_MAX_BYTES 512

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all bars */

/* ---- Interruption ------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t interrupted;
static int bars; /* number in use: the first installs the signal handler, the last restores the previous one */
static struct sigaction previous;

/* The first signal cancels the work. A second signal means that the work has not reported since, and invokes the
 * previous handler. */
static void on_interrupt(int number)
{
    if (interrupted) {
        sigaction(number, &previous, NULL);
        raise(number);
    }
    interrupted = 1;
}

/* A signal that the process ignores stays ignored. */
static void catch_interrupt(cli_progress_t *progress)
{
    if (progress->catching || !progress->running)
        return;
    progress->catching = true;
    const struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    if (bars++ == 0 && sigaction(SIGINT, NULL, &previous) == 0 && previous.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
}

static void release_interrupt(cli_progress_t *progress)
{
    if (progress->catching && --bars == 0)
        sigaction(SIGINT, &previous, NULL);
    progress->catching = false;
}

bool cli_interrupted(void) { return interrupted; }

/* ---- The bar ----------------------------------------------------------------------------------------------------- */

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Writes ", 2 h 05 min left", or nothing while there is no basis for an estimate. */
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

/* Writes a bar of `cells` characters; with UTF-8 its resolution is an eighth of a character. */
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

static void bar_draw(cli_progress_t *progress, double elapsed_s)
{
    const double fraction = progress->total > 0 ? fmin(progress->done / progress->total, 1) : 0;
    char left[64], bar[4 * BAR_CELLS_MAX + 1] = "", line[LINE_MAX_BYTES];
    format_left(fraction > 0 ? elapsed_s * (1 - fraction) / fraction : -1, left, sizeof left);
    int cells = terminal_columns() - (int)(strlen(progress->what) + strlen(left)) - 12;
    if (cells >= 4)
        format_bar(fraction, cells < BAR_CELLS_MAX ? cells : BAR_CELLS_MAX, bar, sizeof bar);
    const int length = snprintf(line, sizeof line, "\r%s [%s] %3d %%%s\033[K", progress->what, bar,
                                (int)(100 * fraction), left);
    if (length < LINE_MAX_BYTES && write(STDERR_FILENO, line, (size_t)length) > 0)
        progress->shown = true;
    progress->drawn_s = elapsed_s;
}

static void bar_erase(cli_progress_t *progress)
{
    static const char line[] = "\r\033[K";
    if (progress->shown && write(STDERR_FILENO, line, sizeof line - 1) > 0)
        progress->shown = false; /* the terminal has been closed: there is nothing to remove */
}

static void bar_update(cli_progress_t *progress, double done)
{
    progress->done = done > progress->done ? done : progress->done;
    if (!progress->running || !progress->terminal || progress->paused)
        return;
    const double elapsed_s = seconds_since(&progress->start);
    if (elapsed_s >= QUIET_S && elapsed_s - progress->drawn_s >= PERIOD_S)
        bar_draw(progress, elapsed_s);
}

static int bar_report(void *context, double fraction)
{
    cli_progress_t *progress = context;
    pthread_mutex_lock(&lock);
    catch_interrupt(progress);
    bar_update(progress, fraction * progress->total);
    pthread_mutex_unlock(&lock);
    return interrupted;
}

trv_span_t cli_progress_begin(cli_progress_t *progress, const char *what, double total)
{
    *progress = (cli_progress_t){.total = total, .running = true, .terminal = cli_stderr_is_terminal()};
    snprintf(progress->what, sizeof progress->what, "%s", what);
    clock_gettime(CLOCK_MONOTONIC, &progress->start);
    return (trv_span_t){bar_report, progress, 0, 1};
}

void cli_progress_step(cli_progress_t *progress, double work)
{
    pthread_mutex_lock(&lock);
    bar_update(progress, progress->done + work);
    pthread_mutex_unlock(&lock);
}

void cli_progress_pause(cli_progress_t *progress)
{
    pthread_mutex_lock(&lock);
    progress->paused = true;
    bar_erase(progress);
    pthread_mutex_unlock(&lock);
}

void cli_progress_name(cli_progress_t *progress, const char *what)
{
    pthread_mutex_lock(&lock);
    snprintf(progress->what, sizeof progress->what, "%s", what);
    progress->paused = false;
    pthread_mutex_unlock(&lock);
}

void cli_progress_end(cli_progress_t *progress)
{
    pthread_mutex_lock(&lock);
    release_interrupt(progress);
    progress->running = false;
    bar_erase(progress);
    pthread_mutex_unlock(&lock);
}
