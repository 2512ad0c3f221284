/*
 * The log of decisions and the table of calls. A lock is taken to find a row by its names. Calls and their times are
 * added to the row by atomic additions, without a lock.
 */
#include "mpi/reports/log_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <trivance/algorithms.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/text/parse.h"
#include "base/size_class.h"
#include "mpi/reports/log.h"

#define ROWS_MAX     256
#define FUNCTION_MAX 40
#define REASON_MAX   160

struct trv_mpi_tally {
    char function[FUNCTION_MAX], algorithm[TRV_ALGORITHM_NAME_MAX], reason[REASON_MAX];
    atomic_ullong calls, bytes, time_ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `rows` and the texts in the rows */
static trv_mpi_tally_t row[ROWS_MAX];
static int rows;

atomic_bool trv_mpi_observes;
static atomic_bool counts; /* this rank prints the table */

/* The span of this thread. */
static _Thread_local struct {
    bool active;
    unsigned long number;
    const char *function; /* NULL: a call of the MPI library for its own purposes */
    int nested;           /* calls of the MPI library for its own purposes that are active during this call */
    double began_ns;      /* 0: the call is not timed */
    trv_mpi_tally_t *row; /* the row of the call; NULL: none yet */
} current;

/* Finds or adds the row of a function, an algorithm and a reason. When the table is full, the last row counts all
 * other calls. */
static trv_mpi_tally_t *find_row(const char *function, const char *algorithm, const char *reason)
{
    char cut[REASON_MAX];
    snprintf(cut, sizeof cut, "%s", reason);
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < rows && (strcmp(row[i].function, function) != 0 || strcmp(row[i].algorithm, algorithm) != 0 ||
                        strcmp(row[i].reason, cut) != 0))
        i++;
    if (i == rows && rows < ROWS_MAX) {
        bool last = ++rows == ROWS_MAX;
        snprintf(row[i].function, sizeof row[i].function, "%s", last ? "others" : function);
        snprintf(row[i].algorithm, sizeof row[i].algorithm, "%s", last ? "" : algorithm);
        snprintf(row[i].reason, sizeof row[i].reason, "%s", last ? "" : cut);
    }
    pthread_mutex_unlock(&lock);
    return &row[i < ROWS_MAX ? i : ROWS_MAX - 1];
}

/* ---- Calls of the program ---------------------------------------------------------------------------------------- */

void trv_mpi_log_observe(void)
{
    atomic_store(&counts, trv_mpi_log_enabled(TRV_DEBUG_INFO, trv_mpi_log_rank()));
    atomic_store(&trv_mpi_observes, counts || trv_mpi_log_settings()->fallback != TRV_FALLBACK_SILENT);
}

trv_mpi_span_t trv_mpi_span_start(const char *function)
{
    if (current.active && !function) {
        current.nested++;
        return (trv_mpi_span_t){.number = current.number, .nested = true};
    }
    current.active = true;
    current.number++;
    current.function = function;
    current.nested = 0;
    current.row = NULL;
    current.began_ns = function && atomic_load_explicit(&counts, memory_order_relaxed) ? trv_now_ns() : 0;
    return (trv_mpi_span_t){.number = current.number};
}

/* Whether this is the thread's span. False if it was not observed, or if a later one has replaced it. */
static bool span_is_current(trv_mpi_span_t span)
{
    return span.number > 0 && current.active && span.number == current.number;
}

bool trv_mpi_span_is_open(trv_mpi_span_t span)
{
    return span_is_current(span) && !span.nested && current.began_ns > 0 && !current.row;
}

void trv_mpi_span_end(trv_mpi_span_t span, const char *reason)
{
    if (!span_is_current(span))
        return;
    if (span.nested) {
        current.nested--;
        return;
    }
    current.active = false;
    if (current.began_ns == 0)
        return;
    if (!current.row) {
        current.row = find_row(current.function, "mpi", reason);
        trv_mpi_log_call(current.row, 0);
    }
    const double time_ns = trv_now_ns() - current.began_ns;
    atomic_fetch_add_explicit(&current.row->time_ns, (unsigned long long)time_ns, memory_order_relaxed);
}

/* Whether this thread executes a call of the MPI library for its own purposes. */
static bool is_internal(void) { return current.active && (!current.function || current.nested > 0); }

trv_mpi_tally_t *trv_mpi_log_find_row(trv_mpi_tally_t *tally)
{
    if (!current.active)
        return tally;
    if (is_internal())
        return NULL;
    current.row = find_row(current.function, tally->algorithm, tally->reason);
    return current.row;
}

/* ---- Decisions --------------------------------------------------------------------------------------------------- */

/* Whether lines about calls left to the MPI library are logged, which otherwise requires the level info. */
static bool prints_fallbacks(void) { return trv_mpi_log_settings()->fallback != TRV_FALLBACK_SILENT && !is_internal(); }

/* Logs the line on a decision for calls. `reason`: only one line per reason is logged below the level info. */
static void log_line(int rank, const char *line, const char *reason)
{
    const bool info = trv_mpi_log_settings()->info;
    if ((info ? trv_mpi_log_enabled(TRV_DEBUG_INFO, rank) : rank == 0) && trv_mpi_log_is_new(info ? line : reason))
        trv_mpi_log_line("%s", line);
}

trv_mpi_tally_t *trv_mpi_log_decision(int rank, const char *label, const char *collective, size_t bytes,
                                      const char *type, const char *algorithm, const char *reason, bool requested)
{
    const bool info = trv_mpi_log_settings()->info, falls_back = !algorithm && !requested && prints_fallbacks();
    char line[1200], size[TRV_BYTES_TEXT_MAX];
    uint64_t class = trv_size_class(bytes);
    if (!info && !falls_back)
        return NULL;
    snprintf(line, sizeof line, "%s, %s%s%s%s%s: %s (%s)", label, collective,
             !bytes           ? ""
             : bytes <= class ? " up to "
                              : " about ",
             bytes ? trv_format_bytes(class, size) : "", *type ? ", " : "", type, algorithm ? algorithm : "mpi",
             reason);
    if (falls_back)
        trv_mpi_log_stop(rank, line);
    log_line(rank, line, reason);
    return info ? find_row(collective, algorithm ? algorithm : "mpi", algorithm ? "" : reason) : NULL;
}

void trv_mpi_log_call(trv_mpi_tally_t *tally, size_t bytes)
{
    if (!tally)
        return;
    atomic_fetch_add_explicit(&tally->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&tally->bytes, bytes, memory_order_relaxed);
}

void trv_mpi_log_call_fallback(int rank, const char *function, const char *reason, bool requested)
{
    const bool info = trv_mpi_log_settings()->info, falls_back = !requested && prints_fallbacks();
    char line[400];
    if (is_internal() || (!info && !falls_back))
        return;
    snprintf(line, sizeof line, "%s: left to the MPI library (%s)", function, reason);
    if (falls_back)
        trv_mpi_log_stop(rank, line);
    log_line(rank, line, line);
    if (!info)
        return;
    trv_mpi_tally_t *row = find_row(function, "mpi", reason);
    trv_mpi_log_call(row, 0);
    if (current.active)
        current.row = row;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static void print_row(trv_mpi_tally_t *tally)
{
    const double time_ns = (double)atomic_load(&tally->time_ns);
    const trv_time_unit_t *unit = trv_time_unit(time_ns);
    char time[TRV_TIME_TEXT_MAX] = "-", bytes[24] = "-";
    if (time_ns > 0)
        trv_snprintf(time, sizeof time, "%.4g %s", time_ns / unit->ns, unit->name);
    if (atomic_load(&tally->bytes) > 0)
        snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)atomic_load(&tally->bytes));
    trv_mpi_log_line("  %-26s %-20s %10llu %14s %10s%s%s", tally->function, tally->algorithm,
                     (unsigned long long)atomic_load(&tally->calls), bytes, time, tally->reason[0] ? "  " : "",
                     tally->reason);
}

void trv_mpi_log_end(void)
{
    pthread_mutex_lock(&lock);
    int count = rows; /* texts in existing rows do not change, so the lock is not needed below */
    pthread_mutex_unlock(&lock);
    if (count == 0 || !trv_mpi_log_enabled(TRV_DEBUG_INFO, trv_mpi_log_rank()))
        return;
    trv_mpi_log_line("collectives of rank %d on all communicators, and the time in these calls:", trv_mpi_log_rank());
    trv_mpi_log_line("  %-26s %-20s %10s %14s %10s", "function", "algorithm", "calls", "bytes", "time");
    for (int i = 0; i < count; i++)
        if (atomic_load(&row[i].calls) > 0)
            print_row(&row[i]);
}
