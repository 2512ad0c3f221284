/*
 * The log of decisions and calls: a line per new decision, and a table of all calls, which is printed at MPI_Finalize.
 */
#ifndef TRIVANCE_MPI_REPORTS_LOG_TABLE_H
#define TRIVANCE_MPI_REPORTS_LOG_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* A row of the table: the calls of one function that used one algorithm, or that fell back to the MPI library for one
 * reason. The table has 256 rows, and the last one counts all calls for which no row is left. Rows are never freed. */
typedef struct trv_mpi_tally trv_mpi_tally_t;

/* ---- Calls of the program ---------------------------------------------------------------------------------------- */

/* A call of an MPI function by the program, from its start to its end. It determines the function by which the call is
 * listed in the table, and its duration. A thread has one span at a time: a function that the MPI library calls for its
 * own purposes during the call is not counted. The program's next call replaces a span that was left without an end, by
 * an error handler that does not return (longjmp, an exception); therefore the span is stored in the thread, and the
 * caller has only its number. */
typedef struct trv_mpi_span {
    unsigned long number; /* 0: not observed */
    bool nested;          /* a call of the MPI library for its own purposes during the call of that number */
} trv_mpi_span_t;

/* Whether spans are needed: this rank prints the table, or TRIVANCE_FALLBACK is print or error. */
extern atomic_bool trv_mpi_observes;

/* Sets it. Called once the rank is known. */
void trv_mpi_log_observe(void);

/* trv_mpi_span_begin without the check of trv_mpi_observes. */
trv_mpi_span_t trv_mpi_span_start(const char *function);

/* Begins the span of a call of `function` ("MPI_Allreduce"; NULL: a call of the MPI library for its own purposes, which
 * is not counted). */
static inline trv_mpi_span_t trv_mpi_span_begin(const char *function)
{
    return atomic_load_explicit(&trv_mpi_observes, memory_order_relaxed) ? trv_mpi_span_start(function)
                                                                         : (trv_mpi_span_t){.number = 0};
}

/* Whether the call is counted but in no row yet: no decision was made for it. The caller then passes the reason to
 * trv_mpi_span_end. */
bool trv_mpi_span_is_open(trv_mpi_span_t span);

/* Ends a span: adds its duration to its row, which by default is the one of calls that were left to the MPI library for
 * `reason`. */
void trv_mpi_span_end(trv_mpi_span_t span, const char *reason);

/* trv_mpi_log_row for calls that are counted. */
trv_mpi_tally_t *trv_mpi_log_find_row(trv_mpi_tally_t *tally);
/* The row in which a call is counted for which a decision has the row `tally`: the same algorithm and reason, but the
 * function of this thread's span. Without a span it is `tally`; NULL: the call is not counted. */
static inline trv_mpi_tally_t *trv_mpi_log_row(trv_mpi_tally_t *tally)
{
    return tally ? trv_mpi_log_find_row(tally) : NULL;
}

/* ---- Decisions and rows ------------------------------------------------------------------------------------------ */

/* Logs a decision about vectors of `bytes` on the communicator named `label` ("comm 4 (64 ranks, 8x8)"), if the same
 * line was not logged before. `type`: the name of the elements' type and operation, or "". `algorithm`: NULL if calls
 * fall back to the MPI library; then `requested` is true if a setting requests that, and otherwise TRIVANCE_FALLBACK
 * applies. Returns the row for trv_mpi_log_call, or NULL if calls are not counted. */
trv_mpi_tally_t *trv_mpi_log_decision(int rank, const char *label, const char *collective, size_t bytes,
                                      const char *type, const char *algorithm, const char *reason, bool requested);

/* Counts a call with a vector of `bytes`. Does nothing if the row is NULL. */
void trv_mpi_log_call(trv_mpi_tally_t *tally, size_t bytes);

/* Counts a call of `function` that is left to the MPI library without a decision of its own, for example because its
 * form is not supported; logs it and applies TRIVANCE_FALLBACK as trv_mpi_log_decision does. */
void trv_mpi_log_call_fallback(int rank, const char *function, const char *reason, bool requested);

/* Prints the table, at MPI_Finalize. */
void trv_mpi_log_end(void);

#endif
