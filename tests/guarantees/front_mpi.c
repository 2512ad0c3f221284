/*
 * The front ends of MPI (front.h).
 */
#include "front.h"

#include <stdlib.h>

#if !defined FRONT_DROP_IN
#define SOAK_TRV
#endif
#include "../soak/functions.h"

#if defined FRONT_DROP_IN
#if defined OPEN_MPI
front_limits_t front_limits = {.can_restart = true};
#else
front_limits_t front_limits = {.can_restart = false};
#endif
const char *front_reason(void) { return ""; }
int front_set(front_comm_t *comm, const char *torus, const char *algorithm)
{
    (void)comm, (void)torus, (void)algorithm;
    return 0;
}
#else
front_limits_t front_limits = {.can_restart = true,
                               .checks_arguments = true,
                               .can_set_algorithm = true,
                               .compares_ranks = true};
const char *front_reason(void) { return trv_last_error(); }
#endif

struct front_comm {
    MPI_Comm comm;
};

struct front_task {
    MPI_Comm comm;
    call_t call;
    request_t request;
};

/* ---- Communicators ----------------------------------------------------------------------------------------------- */

void front_begin(int *argc, char ***argv)
{
    int provided;
    setenv("MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE", "0", 1); /* MPICH 4.0 crashes in a Reduce in place of some KiB */
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    front_limits.has_threads = provided == MPI_THREAD_MULTIPLE;
}

void front_end(void) { MPI_Finalize(); }

static front_comm_t *comm_wrap(MPI_Comm comm)
{
    front_comm_t *made = malloc(sizeof *made);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    made->comm = comm;
    return made;
}

front_comm_t *front_fresh(bool broken)
{
    MPI_Comm made;
    (void)broken;
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
    return comm_wrap(made);
}

front_comm_t *front_split(front_comm_t *comm, int color, int key)
{
    MPI_Comm made;
    MPI_Comm_split(comm->comm, color < 0 ? MPI_UNDEFINED : color, key, &made);
    return made == MPI_COMM_NULL ? NULL : comm_wrap(made);
}

front_comm_t *front_duplicate(front_comm_t *comm)
{
    MPI_Comm made;
    MPI_Comm_dup(comm->comm, &made);
    return comm_wrap(made);
}

void front_free(front_comm_t *comm)
{
    if (comm)
        MPI_Comm_free(&comm->comm);
    free(comm);
}

int front_rank(const front_comm_t *comm)
{
    int rank;
    MPI_Comm_rank(comm->comm, &rank);
    return rank;
}

int front_size(const front_comm_t *comm)
{
    int size;
    MPI_Comm_size(comm->comm, &size);
    return size;
}

#if !defined FRONT_DROP_IN
int front_set(front_comm_t *comm, const char *torus, const char *algorithm)
{
    return TRV_Comm_set(comm->comm, *torus ? torus : NULL, *algorithm ? algorithm : NULL);
}
#endif

int front_barrier(front_comm_t *comm) { return CALL(Barrier)(comm->comm); }

void front_send(front_comm_t *comm, int peer)
{
    int word = 0;
    MPI_Send(&word, 1, MPI_INT, peer, 0, comm->comm);
}

void front_receive(front_comm_t *comm, int peer)
{
    int word = 0;
    MPI_Recv(&word, 1, MPI_INT, peer, 0, comm->comm, MPI_STATUS_IGNORE);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Calls the function of the task's form. */
#define POST(Name, name, ...)                                                                                          \
    (call->form == BLOCKING      ? CALL(Name)(__VA_ARGS__, task->comm)                                                 \
     : call->form == NONBLOCKING ? CALL(I##name)(__VA_ARGS__, task->comm, &task->request)                              \
                                 : CALL(Name##_init)(__VA_ARGS__, task->comm, MPI_INFO_NULL, &task->request))

static MPI_Datatype type_of(trv_type_t type)
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
    default: return MPI_DOUBLE;
    }
}

static int task_post(front_task_t *task)
{
    const call_t *call = &task->call;
    const MPI_Datatype type = type_of(call->type);
    const MPI_Op op = call->op == TRV_SUM ? MPI_SUM : call->op == TRV_MAX ? MPI_MAX : MPI_BXOR;
    const bool in_place = call->send == call->receive && call->send;
    const void *send = in_place ? MPI_IN_PLACE : call->send;
    void *receive = call->receive;
    const int count = (int)call->count, root = call->root;
    int rank;
    MPI_Comm_rank(task->comm, &rank);
    switch (call->collective) {
    case TRV_ALLREDUCE: return POST(Allreduce, allreduce, send, receive, count, type, op);
    case TRV_REDUCE_SCATTER: return POST(Reduce_scatter_block, reduce_scatter_block, send, receive, count, type, op);
    case TRV_ALLGATHER: return POST(Allgather, allgather, send, count, type, receive, count, type);
    case TRV_BROADCAST: return POST(Bcast, bcast, receive, count, type, root);
    case TRV_REDUCE: return POST(Reduce, reduce, send, receive, count, type, op, root);
    case TRV_GATHER: return POST(Gather, gather, send, count, type, receive, count, type, root);
    case TRV_SCATTER:
        return POST(Scatter, scatter, call->send, count, type, in_place && rank == root ? MPI_IN_PLACE : receive, count,
                    type, root);
    case TRV_ALLTOALL: return POST(Alltoall, alltoall, send, count, type, receive, count, type);
    }
    abort();
}

int front_create(front_task_t **task, front_comm_t *comm, const call_t *call)
{
    *task = malloc(sizeof **task);
    **task = (front_task_t){.comm = comm->comm, .call = *call, .request = REQUEST_NULL};
    return call->form == REUSED ? task_post(*task) : 0;
}

int front_start(front_task_t *task)
{
    return task->call.form == REUSED ? CALL(Start)(&task->request) : task_post(task);
}

int front_test(front_task_t *task, bool *done)
{
    int flag = 1;
    const int code = task->call.form == BLOCKING ? 0 : request_test(&task->request, &flag);
    *done = flag;
    return code;
}

int front_wait(front_task_t *task) { return task->call.form == BLOCKING ? 0 : request_wait(&task->request); }

int front_destroy(front_task_t *task)
{
    const int code = task->call.form == REUSED ? CALL(Request_free)(&task->request) : 0;
    if (code == 0)
        free(task);
    return code;
}
