/*
 * Writes log lines to stderr or a file, and decides which ranks and lines are logged.
 */
#include "mpi/reports/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

#include "base/hash.h"
#include "base/number.h"

#define LINE_MAX_BYTES 1400
#define LOGGED_MAX     4096 /* different lines; later lines cannot be compared and are not logged */

static _Atomic(const trv_settings_t *) settings; /* NULL until they are read */
static atomic_bool file_per_process;             /* valid when `settings` is set; unset if it cannot be written */
static atomic_bool strict;                       /* TRIVANCE_FALLBACK=error on any rank */
static FILE *out;
static bool (*alias_of)(const char *variable, char name[TRV_MPI_ALIAS_MAX]); /* NULL: none */
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `logged` */
static struct {
    int count;
    uint64_t hash[LOGGED_MAX];
} logged;

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* Replaces %h by the host, %p by the process id and %% by % in a name like "trivance.%h.%p". Truncates long names. */
static void expand(const char *pattern, char *name, size_t size)
{
    char host[256] = "";
    size_t used = 0;
    gethostname(host, sizeof host - 1);
    for (const char *at = pattern; *at && used + 1 < size; at++) {
        int length;
        if (at[0] == '%' && at[1] == 'h')
            length = snprintf(name + used, size - used, "%s", host);
        else if (at[0] == '%' && at[1] == 'p')
            length = snprintf(name + used, size - used, "%ld", (long)getpid());
        else
            length = snprintf(name + used, size - used, "%c", *at);
        at += *at == '%' && (at[1] == 'h' || at[1] == 'p' || at[1] == '%');
        used += (size_t)length < size - used ? (size_t)length : size - used - 1;
    }
    name[used] = '\0';
}

/* Whether this process is the first one of its host, as far as the launcher states it. */
static bool is_first_of_host(void)
{
    static const char *const variable[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
    const char *rank = NULL;
    for (size_t i = 0; i < sizeof variable / sizeof variable[0] && !rank; i++)
        rank = getenv(variable[i]);
    return !rank || strcmp(rank, "0") == 0;
}

/* Called for the first line, so that a process that logs nothing creates no file. If files cannot be written, only rank
 * 0 logs, and each host reports the reason once. */
static void open_output(void)
{
    char name[4096];
    const trv_settings_t *current = atomic_load(&settings);
    out = stderr;
    if (!current || !current->debug_file)
        return;
    expand(current->debug_file, name, sizeof name);
    FILE *file = fopen(name, "a");
    if (file) {
        out = file;
        return;
    }
    if (is_first_of_host())
        fprintf(stderr,
                "trivance: warning: TRIVANCE_DEBUG_FILE: the file '%.200s' cannot be written (%s); rank 0 logs to "
                "stderr\n",
                name, strerror(errno));
    atomic_store(&file_per_process, false);
}

void trv_mpi_log_set_alias(bool (*alias)(const char *variable, char name[TRV_MPI_ALIAS_MAX])) { alias_of = alias; }

void trv_mpi_log_begin(const trv_settings_t *new_settings)
{
    atomic_store(&file_per_process, new_settings->debug_file && strstr(new_settings->debug_file, "%p"));
    atomic_store(&settings, new_settings);
}

const trv_settings_t *trv_mpi_log_settings(void)
{
    static const trv_settings_t none = {.debug = TRV_DEBUG_WARN};
    const trv_settings_t *current = atomic_load_explicit(&settings, memory_order_acquire);
    return current ? current : &none;
}

int trv_mpi_log_rank(void)
{
    static const char *const variable[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    int running = 0, finalized = 0, rank = 0;
    PMPI_Initialized(&running);
    PMPI_Finalized(&finalized);
    if (running && !finalized) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank;
    }
    for (size_t i = 0; i < sizeof variable / sizeof variable[0]; i++)
        if (getenv(variable[i]))
            return (int)strtol(getenv(variable[i]), NULL, 10);
    return 0;
}

bool trv_mpi_log_enabled(trv_debug_t level, int rank)
{
    if (trv_mpi_log_settings()->debug < (int)level)
        return false;
    if (rank != 0 && atomic_load(&file_per_process))
        pthread_once(&opened, open_output);
    return rank == 0 || atomic_load(&file_per_process);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* Copies a line, in which variables have their other names. */
static void replace_variables(const char *text, char *line, size_t size)
{
    static const char prefix[] = "TRIVANCE_";
    size_t used = 0;
    while (*text && used + 1 < size) {
        char variable[TRV_MPI_ALIAS_MAX], name[TRV_MPI_ALIAS_MAX];
        const size_t length = strncmp(text, prefix, strlen(prefix)) ? 0 : strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
        snprintf(variable, sizeof variable, "%.*s", (int)length, text);
        if (length > 0 && alias_of(variable, name)) {
            used += (size_t)snprintf(line + used, size - used, "%s", name);
            text += length;
        } else {
            line[used++] = *text++;
        }
    }
    line[used < size ? used : size - 1] = '\0';
}

static void write_line(const char *text)
{
    char line[LINE_MAX_BYTES];
    if (alias_of) {
        replace_variables(text, line, sizeof line);
        text = line;
    }
    pthread_once(&opened, open_output);
    fprintf(out, "trivance: %s\n", text);
    fflush(out);
}

bool trv_mpi_log_is_new(const char *text)
{
    uint64_t hash = trv_hash(TRV_HASH_SEED, text, strlen(text));
    pthread_mutex_lock(&lock);
    bool is_new = logged.count < LOGGED_MAX;
    for (int i = 0; i < logged.count && is_new; i++)
        is_new = logged.hash[i] != hash;
    if (is_new)
        logged.hash[logged.count++] = hash;
    bool full = is_new && logged.count == LOGGED_MAX;
    pthread_mutex_unlock(&lock);
    if (full)
        trv_mpi_log_line("%d different lines were logged; new warnings and decisions are no longer logged", LOGGED_MAX);
    return is_new && !full;
}

void trv_mpi_log_line(const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    trv_vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    write_line(line);
}

void trv_mpi_log_text(void *context, const char *line)
{
    (void)context;
    write_line(line);
}

void trv_mpi_log_warning(const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    trv_vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (trv_mpi_log_enabled(TRV_DEBUG_WARN, trv_mpi_log_rank()) && trv_mpi_log_is_new(line))
        trv_mpi_log_line("warning: %s", line);
}

void trv_mpi_log_warn(void *context, const char *sentence)
{
    (void)context;
    trv_mpi_log_warning("%s", sentence);
}

void trv_mpi_log_failure(const char *line)
{
    if (trv_mpi_log_settings()->debug < TRV_DEBUG_WARN)
        return;
    trv_mpi_log_line("%s", line);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
}

void trv_mpi_log_strict(void) { atomic_store(&strict, true); }

void trv_mpi_log_stop(int rank, const char *line)
{
    int running = 0, finalized = 0;
    PMPI_Initialized(&running);
    PMPI_Finalized(&finalized);
    bool stops = trv_mpi_log_settings()->fallback == TRV_FALLBACK_ERROR || atomic_load(&strict);
    if (!stops || rank != 0 || !running || finalized)
        return;
    trv_mpi_log_line("%s; TRIVANCE_FALLBACK=error ends the program", line);
    sleep(1); /* launchers lose output that was written immediately before */
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

void trv_mpi_log_fallback(int rank, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    trv_vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (trv_mpi_log_enabled(TRV_DEBUG_WARN, rank) && trv_mpi_log_is_new(line))
        trv_mpi_log_line("warning: %s; calls fall back to the MPI library", line);
    trv_mpi_log_stop(rank, line);
}
