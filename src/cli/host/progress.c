/*
 * The progress bar: every picture of it is one write, over the picture before, so it does not flicker. Where there is no
 * terminal it is a line now and then, each after twice the time of the one before.
 */
#include "cli/shared/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/shared/tool.h"

#define QUIET_S        2
#define PERIOD_NS      250000000L
#define LINES_S_MAX    600 /* between two lines where there is no terminal */
#define LONG_S         60  /* what takes longer is worth a word on what takes less */
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

/* The fraction that is done, and about how many seconds are left; below 0 where nothing says. */
static double look(const cli_progress_t *progress, double *left_s)
{
    double fraction = progress->total > 0 ? progress->done / progress->total : 0;
    fraction = fraction > 1 ? 1 : fraction;
    *left_s = fraction > 0 ? seconds_since(&progress->begun) * (1 - fraction) / fraction : -1;
    return fraction;
}

static void write_line(cli_progress_t *progress, const char *line, int length)
{
    if (length > 0 && length < LINE_MAX_BYTES && write(STDERR_FILENO, line, (size_t)length) > 0)
        progress->shown = true;
}

/* Once, where it will take long. */
static void tell_cheaper(cli_progress_t *progress, double left_s)
{
    char line[LINE_MAX_BYTES];
    if (!progress->cheaper || !(left_s > LONG_S))
        return;
    write_line(progress, line,
               snprintf(line, sizeof line, "%s%s takes longer than a minute; %s\n",
                        progress->terminal ? "\r\033[K" : "trivance: ", progress->what, progress->cheaper));
    progress->cheaper = NULL;
}

static void draw(cli_progress_t *progress)
{
    double left_s, fraction = look(progress, &left_s);
    char left[64], bar[4 * BAR_CELLS_MAX + 1] = "", line[LINE_MAX_BYTES];
    tell_cheaper(progress, left_s);
    format_left(left_s, left, sizeof left);
    int cells = terminal_columns() - (int)(strlen(progress->what) + strlen(left)) - 12;
    if (cells >= 4)
        format_bar(fraction, cells < BAR_CELLS_MAX ? cells : BAR_CELLS_MAX, bar, sizeof bar);
    write_line(progress, line,
               snprintf(line, sizeof line, "\r%s [%s] %3d %%%s\033[K", progress->what, bar, (int)(100 * fraction),
                        left));
}

static void tell(cli_progress_t *progress)
{
    double left_s, fraction = look(progress, &left_s);
    char left[64], line[LINE_MAX_BYTES];
    tell_cheaper(progress, left_s);
    format_left(left_s, left, sizeof left);
    write_line(progress, line,
               snprintf(line, sizeof line, "trivance: %s, %d %%%s\n", progress->what, (int)(100 * fraction), left));
}

static void add_ns(struct timespec *time, int64_t ns)
{
    ns += time->tv_nsec;
    time->tv_sec += (time_t)(ns / 1000000000);
    time->tv_nsec = (long)(ns % 1000000000);
}

static void *keep_drawing(void *context)
{
    cli_progress_t *progress = context;
    struct timespec next = progress->begun;
    int64_t wait_s = QUIET_S; /* between two lines */
    next.tv_sec += QUIET_S;
    pthread_mutex_lock(&progress->lock);
    while (!progress->stop) {
        if (pthread_cond_timedwait(&progress->wake, &progress->lock, &next) != ETIMEDOUT || progress->stop)
            continue;
        if (progress->terminal && !progress->paused)
            draw(progress);
        else if (!progress->terminal)
            tell(progress);
        add_ns(&next, progress->terminal ? PERIOD_NS : wait_s * 1000000000);
        wait_s = 2 * wait_s < LINES_S_MAX ? 2 * wait_s : LINES_S_MAX;
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

void cli_progress_begin(cli_progress_t *progress, const char *what, double total)
{
    pthread_condattr_t attribute;
    *progress = (cli_progress_t){.total = total};
    snprintf(progress->what, sizeof progress->what, "%s", what);
    progress->terminal = cli_stderr_is_terminal();
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

void cli_progress_begin_planning(cli_progress_t *progress, const trv_torus_t *torus, double total)
{
    char what[CLI_PROGRESS_NAME_MAX], text[TRV_TORUS_TEXT_MAX];
    snprintf(what, sizeof what, "planning %.64s", trv_torus_format(torus, text, sizeof text));
    cli_progress_begin(progress, what, total);
    cli_progress_cheaper(progress, "an algorithm that is named (--algorithm) needs no plan");
}

void cli_progress_step(cli_progress_t *progress, double work)
{
    if (!progress->running)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->done += work;
    pthread_mutex_unlock(&progress->lock);
}

void cli_progress_cheaper(cli_progress_t *progress, const char *cheaper)
{
    if (!progress->running)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->cheaper = cheaper;
    pthread_mutex_unlock(&progress->lock);
}

static void erase(cli_progress_t *progress)
{
    static const char line[] = "\r\033[K";
    if (progress->terminal && progress->shown && write(STDERR_FILENO, line, sizeof line - 1) > 0)
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
    if (progress->watched > 0)
        cli_progress_watch(progress, 0);
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
