/*
 * Reports the time that a rank waits, when the timeout expires.
 */
#include "mpi/reports/watch.h"

#include <string.h>
#include <unistd.h>

#include "mpi/reports/log.h"
#include "transport/mpi/waiting.h"

#define TEXT_MAX 1200

static double timeout_ms; /* 0: none */
static bool aborts;

void trv_mpi_watch_begin(const trv_settings_t *settings)
{
    timeout_ms = settings->timeout_ns / 1e6;
    aborts = settings->on_timeout == TRV_TIMEOUT_ABORT;
}

static void abort_if_set(void)
{
    if (!aborts)
        return;
    trv_mpi_log_line("TRIVANCE_ON_TIMEOUT=abort ends the program");
    sleep(1); /* time for the launcher to forward output, and for the other ranks to report */
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

void trv_mpi_watch_report(const trv_watch_t *watch, const char *what, trv_recorder_t *recorder)
{
    trv_mpi_log_line("rank %d of MPI_COMM_WORLD has waited %.1f s in %s", trv_mpi_log_rank(),
                     (double)watch->waited_ms / 1e3, what);
    trv_recorder_print(recorder);
    abort_if_set();
}

void trv_mpi_watch_check(trv_watch_t *watch, const trv_mpi_waiting_t *waiting)
{
    char what[TEXT_MAX] = "";
    trv_recorder_print_if_requested();
    if (!trv_watch_expires(watch, timeout_ms))
        return;
    waiting->describe(waiting->context, what, sizeof what);
    trv_mpi_watch_report(watch, what, waiting->recorder);
}

/* A separate function, so that calls that report nothing do not reserve stack space for the text. */
static void report_end(const trv_watch_t *watch, const trv_mpi_waiting_t *waiting)
{
    char what[TEXT_MAX] = "";
    waiting->describe(waiting->context, what, sizeof what);
    what[strcspn(what, ";")] = '\0';
    trv_mpi_log_line("rank %d of MPI_COMM_WORLD continues after %.1f s in %s", trv_mpi_log_rank(),
                     (double)watch->waited_ms / 1e3, what);
}

void trv_mpi_watch_end(const trv_watch_t *watch, const trv_mpi_waiting_t *waiting)
{
    if (watch->reported)
        report_end(watch, waiting);
}

void trv_mpi_cancel_all(int requests, MPI_Request *request)
{
    for (int i = 0; i < requests; i++)
        if (request[i] != MPI_REQUEST_NULL && PMPI_Cancel(&request[i]) == MPI_SUCCESS)
            PMPI_Wait(&request[i], MPI_STATUS_IGNORE);
}

int trv_mpi_watch_until(int ranks, int (*test)(void *context), void *context, const char *action)
{
    trv_watch_t watch = {0};
    int result;
    for (unsigned polls = 1; (result = test(context)) == 0; polls++) {
        if (trv_recording && polls % 64 == 0)
            trv_recorder_print_if_requested();
        if (trv_recording && polls % 64 == 0 && trv_watch_expires(&watch, timeout_ms)) {
            trv_mpi_log_line("rank %d of MPI_COMM_WORLD has waited %.1f s for all %d ranks of a communicator to %s",
                             trv_mpi_log_rank(), (double)watch.waited_ms / 1e3, ranks, action);
            abort_if_set();
        }
        trv_mpi_pause(polls);
    }
    if (watch.reported)
        trv_mpi_log_line("rank %d of MPI_COMM_WORLD continues after %.1f s", trv_mpi_log_rank(),
                         (double)watch.waited_ms / 1e3);
    return result;
}

typedef struct tested {
    MPI_Request *request;
    int code; /* MPI's */
} tested_t;

static int request_test(void *context)
{
    tested_t *tested = context;
    int complete = 0;
    tested->code = PMPI_Test(tested->request, &complete, MPI_STATUS_IGNORE);
    return tested->code == MPI_SUCCESS ? complete : -1;
}

int trv_mpi_watch_request(int ranks, MPI_Request *request, const char *action)
{
    tested_t tested = {request, MPI_SUCCESS};
    if (trv_mpi_watch_until(ranks, request_test, &tested, action) < 0)
        trv_mpi_cancel_all(1, request);
    return tested.code;
}
