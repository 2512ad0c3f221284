/*
 * The flight recorder. A communicator's collectives are called one after the other, so its ring has one writer at a
 * time; ends are written by whoever makes progress, into a record that is still the same one. Nothing is locked: who
 * prints while another thread writes may see a record half changed.
 */
#include "mpi/recorder.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/log.h"
#include "mpi/report.h"

typedef struct record {
    atomic_ulong number; /* from 1 on; 0: none yet */
    trv_collective_t collective;
    char algorithm[TRV_PLAN_NAME_MAX];
    size_t bytes;
    long long began_ms;
    _Atomic long long ended_ms; /* 0: not yet */
    int code;
    bool passed; /* to the MPI library, whose end we do not see */
} record_t;

struct trv_mpi_recorder {
    unsigned long calls;
    record_t record[TRV_MPI_RECORDS];
};

bool trv_mpi_recording;
static atomic_bool asked; /* SIGUSR1 has come */
static struct sigaction previous;

/* ---- The signal -------------------------------------------------------------------------------------------------- */

static void on_signal(int signal, siginfo_t *info, void *context)
{
    atomic_store(&asked, true);
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(signal, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(signal);
}

void trv_mpi_recorder_begin(const trv_settings_t *settings)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    trv_mpi_recording = settings->recorder || settings->timeout_ns > 0;
    if (!trv_mpi_recording)
        return;
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, NULL, &previous);
    sigaction(SIGUSR1, &action, NULL);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

long long trv_mpi_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void trv_mpi_record_call(trv_mpi_operation_t *operation, trv_mpi_state_t *state)
{
    if (!trv_mpi_recording)
        return;
    trv_mpi_recorder_answer();
    if (!state->recorder && !(state->recorder = calloc(1, sizeof *state->recorder)))
        return;
    struct trv_mpi_recorder *recorder = state->recorder;
    unsigned long number = ++recorder->calls;
    record_t *record = &recorder->record[number % TRV_MPI_RECORDS];
    atomic_store(&record->number, 0);
    record->collective = operation->want.collective;
    snprintf(record->algorithm, sizeof record->algorithm, "%s", operation->algorithm);
    record->bytes = trv_mpi_vector_bytes(state, &operation->want);
    record->began_ms = trv_mpi_now_ms();
    atomic_store(&record->ended_ms, 0);
    record->code = TRV_OK;
    record->passed = !trv_mpi_operation_serves(operation);
    atomic_store(&record->number, number);
    operation->call = number;
}

static record_t *record_of(const trv_mpi_operation_t *operation)
{
    if (!operation->call || !operation->state || !operation->state->recorder)
        return NULL;
    record_t *record = &operation->state->recorder->record[operation->call % TRV_MPI_RECORDS];
    return atomic_load(&record->number) == operation->call ? record : NULL;
}

void trv_mpi_record_end(trv_mpi_operation_t *operation, int code)
{
    record_t *record = trv_mpi_recording ? record_of(operation) : NULL;
    if (!record)
        return;
    record->code = code;
    atomic_store(&record->ended_ms, trv_mpi_now_ms());
}

unsigned long trv_mpi_record_number(const trv_mpi_operation_t *operation)
{
    return operation->call;
}

void trv_mpi_recorder_destroy(struct trv_mpi_recorder *recorder)
{
    free(recorder);
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void print_record(const record_t *record, long long now)
{
    char end[80];
    long long ended = atomic_load(&record->ended_ms);
    if (record->passed)
        snprintf(end, sizeof end, "given to the MPI library");
    else if (!ended)
        snprintf(end, sizeof end, "not complete");
    else
        snprintf(end, sizeof end, "%s after %.3f s", record->code < 0 ? "failed" : "complete",
                 (double)(ended - record->began_ms) / 1e3);
    trv_mpi_say("  call %lu: %s of %zu bytes, %s: began %.3f s ago, %s", atomic_load(&record->number),
                trv_rules_collective_name(record->collective), record->bytes, record->algorithm,
                (double)(now - record->began_ms) / 1e3, end);
}

void trv_mpi_recorder_print(const trv_mpi_state_t *state)
{
    char where[TRV_MPI_WHERE_MAX];
    const struct trv_mpi_recorder *recorder = state->recorder;
    if (!recorder)
        return;
    unsigned long last = recorder->calls, first = last < TRV_MPI_RECORDS ? 1 : last - TRV_MPI_RECORDS + 1;
    long long now = trv_mpi_now_ms();
    trv_mpi_say("the latest collectives of rank %d of %s:", state->rank, trv_mpi_report_where(state, where));
    for (unsigned long number = first; number <= last; number++) {
        const record_t *record = &recorder->record[number % TRV_MPI_RECORDS];
        if (atomic_load(&record->number) == number)
            print_record(record, now);
    }
}

void trv_mpi_recorder_answer(void)
{
    if (atomic_load_explicit(&asked, memory_order_relaxed) && atomic_exchange(&asked, false))
        trv_mpi_state_each(trv_mpi_recorder_print);
}
