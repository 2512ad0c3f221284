/*
 * The log of decisions and the table of calls. A lock is taken to find a row by its names. Calls are counted in their
 * row by atomic additions, without a lock.
 */
#include "mpi/reports/log_table.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <trivance/algorithms.h>

#include "base/text/parse.h"
#include "base/size_class.h"
#include "mpi/reports/log.h"

#define ROWS_MAX   128
#define REASON_MAX 160

struct trv_mpi_tally {
    char collective[24], algorithm[TRV_ALGORITHM_NAME_MAX], reason[REASON_MAX];
    atomic_ullong calls, bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `rows` and the texts in the rows */
static trv_mpi_tally_t row[ROWS_MAX];
static int rows;

/* Finds or adds the row of a collective, an algorithm and a reason. When the table is full, the last row counts all
 * other calls. */
static trv_mpi_tally_t *find_row(const char *collective, const char *algorithm, const char *reason)
{
    char cut[REASON_MAX];
    snprintf(cut, sizeof cut, "%s", reason);
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < rows && (strcmp(row[i].collective, collective) != 0 || strcmp(row[i].algorithm, algorithm) != 0 ||
                        strcmp(row[i].reason, cut) != 0))
        i++;
    if (i == rows && rows < ROWS_MAX) {
        bool last = ++rows == ROWS_MAX;
        snprintf(row[i].collective, sizeof row[i].collective, "%s", last ? "others" : collective);
        snprintf(row[i].algorithm, sizeof row[i].algorithm, "%s", last ? "" : algorithm);
        snprintf(row[i].reason, sizeof row[i].reason, "%s", last ? "" : cut);
    }
    pthread_mutex_unlock(&lock);
    return &row[i < ROWS_MAX ? i : ROWS_MAX - 1];
}

trv_mpi_tally_t *trv_mpi_log_decision(int rank, const char *label, const char *collective, size_t bytes,
                                      const char *type, const char *algorithm, const char *reason, bool requested)
{
    const trv_settings_t *settings = trv_mpi_log_settings();
    bool falls_back = !algorithm && !requested;
    char line[1200], size[TRV_BYTES_TEXT_MAX];
    uint64_t class = trv_size_class(bytes);
    if (!settings->info && !(falls_back && settings->fallback != TRV_FALLBACK_SILENT))
        return NULL;
    snprintf(line, sizeof line, "%s, %s%s%s%s%s: %s (%s)", label, collective,
             !bytes           ? ""
             : bytes <= class ? " up to "
                              : " about ",
             bytes ? trv_format_bytes(class, size) : "", *type ? ", " : "", type, algorithm ? algorithm : "mpi",
             reason);
    if (falls_back)
        trv_mpi_log_stop(rank, line);
    if (settings->info ? trv_mpi_log_enabled(TRV_DEBUG_INFO, rank) : rank == 0) {
        /* Without TRIVANCE_DEBUG=info one line is logged per reason. */
        if (trv_mpi_log_is_new(settings->info ? line : reason))
            trv_mpi_log_line("%s", line);
    }
    return settings->info ? find_row(collective, algorithm ? algorithm : "mpi", algorithm ? "" : reason) : NULL;
}

void trv_mpi_log_call(trv_mpi_tally_t *tally, size_t bytes)
{
    if (!tally)
        return;
    atomic_fetch_add_explicit(&tally->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&tally->bytes, bytes, memory_order_relaxed);
}

void trv_mpi_log_call_fallback(int rank, const char *collective, size_t bytes, const char *reason)
{
    trv_mpi_log_call(trv_mpi_log_decision(rank, "fallback", collective, bytes, "", NULL, reason, false), bytes);
}

void trv_mpi_log_end(void)
{
    pthread_mutex_lock(&lock);
    int count = rows; /* texts in existing rows do not change, so the lock is not needed below */
    pthread_mutex_unlock(&lock);
    if (count == 0 || !trv_mpi_log_enabled(TRV_DEBUG_INFO, trv_mpi_log_rank()))
        return;
    trv_mpi_log_line("calls of rank %d", trv_mpi_log_rank());
    trv_mpi_log_line("  %-22s %-20s %10s %14s", "collective", "algorithm", "calls", "bytes");
    for (int i = 0; i < count; i++)
        if (atomic_load(&row[i].calls) > 0)
            trv_mpi_log_line("  %-22s %-20s %10llu %14llu%s%s", row[i].collective, row[i].algorithm,
                             (unsigned long long)atomic_load(&row[i].calls),
                             (unsigned long long)atomic_load(&row[i].bytes), row[i].reason[0] ? "  " : "",
                             row[i].reason);
}
