/*
 * Plans, created by name or from a schedule, and calls of the MPI library, with a common function that runs them.
 */
#include "cli/mpi/call.h"

#include <stdio.h>
#include <string.h>

#include "mpi/front/library.h"
#include "mpi/front/plan.h"

/* Describes the created call. On failure of its creation the error message is already set. */
static int call_describe(call_t *call, int code)
{
    TRV_Plan_info info = {TRV_PLAN_INFO};
    if (code == MPI_SUCCESS)
        code = TRV_Plan_query(call->plan, &info);
    if (code != MPI_SUCCESS)
        return TRV_ERR_ARGUMENT;
    snprintf(call->algorithm, sizeof call->algorithm, "%s", info.algorithm);
    call->steps = info.steps;
    call->bytes_sent = info.bytes_sent;
    return TRV_OK;
}

int call_create_schedule(call_t *call, const trv_schedule_t *schedule)
{
    return call_describe(call, TRV_Plan_create(schedule, (MPI_Count)call->count, call_mpi_type(call->type),
                                               call_mpi_op(call->op), call->comm, &call->plan));
}

static trv_mpi_reduction_t call_arguments(const call_t *call)
{
    return (trv_mpi_reduction_t){call->collective,
                                 call->send,
                                 call->receive,
                                 (MPI_Count)call->count,
                                 call_mpi_type(call->type),
                                 call_mpi_op(call->op),
                                 call->root};
}

int call_create(call_t *call, const char *torus, const char *algorithm)
{
    call->plan = TRV_PLAN_NULL;
    snprintf(call->algorithm, sizeof call->algorithm, "%s", algorithm);
    if (strcmp(algorithm, CALL_LIBRARY) == 0)
        return TRV_OK;
    const trv_mpi_reduction_t arguments = call_arguments(call);
    int code = TRV_Comm_set(call->comm, torus, algorithm);
    return call_describe(call, code == MPI_SUCCESS ? trv_mpi_plan_create(&arguments, call->comm, &call->plan) : code);
}

void call_free(call_t *call)
{
    if (call->plan != TRV_PLAN_NULL)
        TRV_Plan_free(&call->plan);
}

int call_run(const call_t *call)
{
    int code;
    if (call->plan == TRV_PLAN_NULL) {
        const trv_mpi_reduction_t arguments = call_arguments(call);
        call_library_choose(call->collective, call->setting);
        code = trv_mpi_library_run(&arguments, call->comm);
    } else if (call->receive == MPI_IN_PLACE) { /* the root of a Scatter keeps its block in the send buffer */
        code = TRV_Plan_run(call->plan, MPI_IN_PLACE, call->send);
    } else {
        code = TRV_Plan_run(call->plan, call->send, call->receive);
    }
    return code == MPI_SUCCESS ? TRV_OK : TRV_ERR_TRANSPORT; /* the error message is already set */
}

MPI_Datatype call_mpi_type(trv_type_t type)
{
    switch (type) {
    case TRV_INT8: return MPI_INT8_T;
    case TRV_INT16: return MPI_INT16_T;
    case TRV_INT32: return MPI_INT32_T;
    case TRV_INT64: return MPI_INT64_T;
    case TRV_UINT8: return MPI_UINT8_T;
    case TRV_UINT16: return MPI_UINT16_T;
    case TRV_UINT32: return MPI_UINT32_T;
    case TRV_UINT64: return MPI_UINT64_T;
    case TRV_FLOAT: return MPI_FLOAT;
    case TRV_DOUBLE: return MPI_DOUBLE;
    case TRV_LONG_DOUBLE: return MPI_LONG_DOUBLE;
    case TRV_COMPLEX_FLOAT: return MPI_C_FLOAT_COMPLEX;
    case TRV_COMPLEX_DOUBLE: return MPI_C_DOUBLE_COMPLEX;
    case TRV_COMPLEX_LONG_DOUBLE: return MPI_C_LONG_DOUBLE_COMPLEX;
    case TRV_BOOL: return MPI_C_BOOL;
    default: return MPI_DATATYPE_NULL;
    }
}

MPI_Op call_mpi_op(trv_op_t op)
{
    switch (op) {
    case TRV_SUM: return MPI_SUM;
    case TRV_PROD: return MPI_PROD;
    case TRV_MIN: return MPI_MIN;
    case TRV_MAX: return MPI_MAX;
    case TRV_LAND: return MPI_LAND;
    case TRV_LOR: return MPI_LOR;
    case TRV_LXOR: return MPI_LXOR;
    case TRV_BAND: return MPI_BAND;
    case TRV_BOR: return MPI_BOR;
    case TRV_BXOR: return MPI_BXOR;
    default: return MPI_OP_NULL;
    }
}
