/*
 * Blocking calls of the API: TRV_Allreduce, TRV_Bcast and the other collectives, and their forms with large counts; and
 * TRV_Comm_set. A call for which no schedule runs uses the MPI library's collective.
 */
#include "mpi/front/api.h"

#include <stdatomic.h>

#include "base/error.h"
#include "mpi/communicator/attribute.h"
#include "mpi/front/comm_set.h"
#include "mpi/front/library.h"
#include "mpi/front/dispatch.h"
#include "mpi/reports/log.h"
#include "mpi/reports/log_table.h"
#include "schedule/collective.h"
#include "mpi/settings/job_settings.h"

/* Logs once per process that calls on intercommunicators use the MPI library. */
static void log_intercommunicator(MPI_Comm comm)
{
    static atomic_flag logged = ATOMIC_FLAG_INIT;
    int rank = 0, inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &rank);
    if (inter && trv_mpi_settings()->info && rank == 0 && !atomic_flag_test_and_set(&logged))
        trv_mpi_log_line("intercommunicators: mpi (schedules need one group of ranks)");
}

/* Whether a call has no elements, so that no data is moved. Only collectives in which this does not depend on the rank:
 * an empty call does not initialize the communicator. */
static bool is_empty(const trv_mpi_call_t *call)
{
    const trv_mpi_movement_t *movement = call->movement;
    if (trv_collective_has_root(trv_mpi_call_collective(call)) || trv_mpi_call_counts(call))
        return false;
    return movement ? movement->recvcount == 0 && (movement->sendcount == 0 || movement->sendbuf == MPI_IN_PLACE)
                    : call->reduction->count == 0;
}

int trv_mpi_api_run(const trv_mpi_call_t *call, MPI_Comm comm)
{
    int code;
    if (is_empty(call) && comm != MPI_COMM_NULL && !trv_mpi_settings()->check)
        return MPI_SUCCESS;
    const trv_mpi_span_t span = trv_mpi_span_begin(trv_mpi_call_name(call));
    if (!trv_mpi_dispatch(call, comm, &code)) {
        log_intercommunicator(comm);
        code = trv_mpi_library_call(call, comm);
    }
    trv_mpi_span_end(span, "no schedule was decided");
    return code;
}

int TRV_Comm_set(MPI_Comm comm, const char *torus, const char *algorithm)
{
    trv_mpi_state_t *state;
    int code = trv_mpi_state_find(comm, &state);
    if (code != MPI_SUCCESS)
        return code;
    if (!state)
        return trv_fail(TRV_ERR_UNSUPPORTED, "an intercommunicator has no torus; pass an intracommunicator"),
               MPI_ERR_COMM;
    if (state->abandoned)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "all calls on the communicator fall back to the MPI library; it has no torus"),
               MPI_ERR_COMM;
    return trv_mpi_comm_set(state, torus, algorithm, false);
}
