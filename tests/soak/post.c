/*
 * Posts calls. Arguments that MPI ignores on a rank have values that are not valid.
 */
#include "call.h"

#include <stdint.h>
#include <time.h>

#define NO_BUFFER ((void *)(uintptr_t)8)
#define NO_COUNT  (-77)

typedef struct side {
    void *buffer;
    int count; /* of a block */
    MPI_Datatype type;
} side_t;

static side_t side_of(const call_t *call, const layout_t *layout)
{
    if (!layout->memory)
        return (side_t){NO_BUFFER, NO_COUNT, MPI_DATATYPE_NULL};
    return (side_t){layout_start(layout), call->kind->reduces ? call->count : layout->count[0], layout->type};
}

static double seconds(void) /* the same clock for all ranks of a machine; MPI_Wtime may have an origin per process */
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int barrier(call_t *call)
{
    call->entered = seconds();
    int code = CALL(Barrier)(call->comm->comm);
    call->left = seconds();
    return code;
}

/* Calls Name, IName or Name_init, of which the latter two have other arguments. */
#define POST_AS(Name, name, ARGUMENTS, REQUEST_ARGUMENTS)                                                              \
    (call->form == BLOCKING      ? CALL(Name)(ARGUMENTS, on)                                                           \
     : call->form == NONBLOCKING ? CALL(I##name)(REQUEST_ARGUMENTS, on, request)                                       \
                                 : CALL(Name##_init)(REQUEST_ARGUMENTS, on, MPI_INFO_NULL, request))
#define LIST(...)             __VA_ARGS__
#define POST(Name, name, ...) POST_AS(Name, name, LIST(__VA_ARGS__), LIST(__VA_ARGS__))

int call_post(call_t *call)
{
    const element_t *e = &call->element;
    const MPI_Comm on = call->comm->comm;
    const int root = call->root, *displacements = call->receive.displacement;
    request_t *request = &call->request;
    if (call->collective == BARRIER)
        return call->form == BLOCKING      ? barrier(call)
               : call->form == NONBLOCKING ? CALL(Ibarrier)(on, request)
                                           : CALL(Barrier_init)(on, MPI_INFO_NULL, request);
    side_t send = side_of(call, &call->send), receive = side_of(call, &call->receive);
    if (call->in_place) {
        side_t *ignored = call->collective == SCATTER ? &receive : &send;
        ignored->buffer = MPI_IN_PLACE;
        ignored->count = 0; /* Open MPI 4.1 multiplies it by the size of the receive type, which may differ by rank */
    }
    void *const from = send.buffer, *const to = receive.buffer;
    switch (call->collective) {
    case ALLREDUCE: return POST(Allreduce, allreduce, from, to, call->count, e->type, e->op);
    case REDUCE: return POST(Reduce, reduce, from, to, call->count, e->type, e->op, root);
    case REDUCE_SCATTER_BLOCK:
        return POST(Reduce_scatter_block, reduce_scatter_block, from, to, call->count, e->type, e->op);
    case REDUCE_SCATTER:
        return POST_AS(Reduce_scatter, reduce_scatter, LIST(from, to, call->counts, e->type, e->op),
                       LIST(from, to, call->request_counts, e->type, e->op));
    case BROADCAST: return POST(Bcast, bcast, to, receive.count, receive.type, root);
    case ALLGATHER: return POST(Allgather, allgather, from, send.count, send.type, to, receive.count, receive.type);
    case ALLGATHERV:
        return POST_AS(Allgatherv, allgatherv,
                       LIST(from, send.count, send.type, to, call->counts, displacements, receive.type),
                       LIST(from, send.count, send.type, to, call->request_counts, call->request_displacements,
                            receive.type));
    case GATHER: return POST(Gather, gather, from, send.count, send.type, to, receive.count, receive.type, root);
    case SCATTER: return POST(Scatter, scatter, from, send.count, send.type, to, receive.count, receive.type, root);
    default: return POST(Alltoall, alltoall, from, send.count, send.type, to, receive.count, receive.type);
    }
}
