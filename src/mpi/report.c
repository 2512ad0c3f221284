/*
 * Operations in the log.
 */
#include "mpi/report.h"

#include <stdio.h>

#include "mpi/reports/log.h"
#include "mpi/reports/recorder.h"
#include "mpi/reports/settings.h"

const char *trv_mpi_report_where(const trv_mpi_state_t *state, char text[TRV_MPI_WHERE_MAX])
{
    char torus[TRV_TORUS_TEXT_MAX];
    trv_torus_format(&state->torus, torus, sizeof torus);
    snprintf(text, TRV_MPI_WHERE_MAX, "comm %d (%d rank%s%s%s)", state->number, state->ranks,
             state->ranks == 1 ? "" : "s", state->serves ? ", " : "", state->serves ? torus : "");
    return text;
}

void trv_mpi_report_choice(trv_mpi_operation_t *operation, const trv_mpi_state_t *state, const trv_mpi_choice_t *choice)
{
    const trv_mpi_want_t *want = &operation->want;
    char type[64] = "", where[TRV_MPI_WHERE_MAX];
    if (want->elements.way == TRV_MPI_KERNEL && want->collective != TRV_ALLGATHER)
        snprintf(type, sizeof type, "%s %s", trv_type_name(want->elements.type), trv_op_name(want->elements.op));
    bool serves = trv_mpi_operation_serves(operation);
    operation->tally = trv_mpi_log_decision(state->rank, trv_mpi_report_where(state, where),
                                            trv_rules_collective_name(want->collective),
                                            trv_mpi_vector_bytes(state, want), type,
                                            serves ? operation->algorithm : NULL, choice->why, choice->meant);
}

void trv_mpi_report_call(trv_mpi_operation_t *operation, trv_mpi_state_t *state)
{
    char where[TRV_MPI_WHERE_MAX];
    if (state->recorder)
        operation->call = trv_mpi_record_begin(state->recorder, trv_rules_collective_name(operation->want.collective),
                                               trv_mpi_vector_bytes(state, &operation->want), operation->algorithm,
                                               !trv_mpi_operation_serves(operation));
    if (!operation->tally)
        return;
    size_t bytes = trv_mpi_vector_bytes(state, &operation->want);
    trv_mpi_log_call(operation->tally, bytes);
    if (trv_mpi_heard(TRV_DEBUG_TRACE, state->rank))
        trv_mpi_say("%s, %s of %zu bytes: %s", trv_mpi_report_where(state, where),
                    trv_rules_collective_name(operation->want.collective), bytes, operation->algorithm);
}

/* The call; returns where what it waits for goes. */
static size_t describe_call(const trv_mpi_operation_t *operation, char *text, size_t size)
{
    char where[TRV_MPI_WHERE_MAX];
    const trv_mpi_state_t *state = operation->state;
    int used = snprintf(text, size, "%s, call %lu: %s of %zu bytes, by %s; ", trv_mpi_report_where(state, where),
                        operation->call, trv_rules_collective_name(operation->want.collective),
                        trv_mpi_vector_bytes(state, &operation->want), operation->algorithm);
    return used > 0 && (size_t)used < size ? (size_t)used : size;
}

void trv_mpi_report_running(const void *operation, char *text, size_t size)
{
    size_t used = describe_call(operation, text, size);
    trv_mpi_operation_describe(operation, text + used, size - used);
}

void trv_mpi_report_queued(const void *operation, char *text, size_t size)
{
    size_t used = describe_call(operation, text, size);
    snprintf(text + used, size - used, "waits for earlier requests to be complete");
}
