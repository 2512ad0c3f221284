/*
 * The buffers and types of collectives that move data: computes sizes, packs and unpacks.
 */
#include "mpi/operations/movement.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "mpi/operations/elements.h"
#include "schedule/collective.h"
#include "transport/mpi/mpi_error.h"

/* ---- Sides ------------------------------------------------------------------------------------------------------- */

/* One side of a call on one rank: the blocks that it sends, or those that it receives. */
typedef struct side {
    const void *buffer;
    MPI_Count count; /* of each block */
    MPI_Datatype type;
    int blocks; /* 0: the rank has no such side, or the other one includes it */
} side_t;

static bool is_root(const trv_mpi_movement_t *m, int rank)
{
    return trv_collective_has_root(m->collective) && rank == m->root;
}

static int blocks_held(const trv_mpi_movement_t *m, trv_holders_t holders, int rank, int ranks)
{
    return (int)trv_blocks_held(m->collective, holders, ranks, is_root(m, rank));
}

/* Whether the root of a Scatter keeps its block in the send buffer. */
static bool keeps_block(const trv_mpi_movement_t *m, int rank)
{
    return m->collective == TRV_SCATTER && is_root(m, rank) && m->recvbuf == MPI_IN_PLACE;
}

/* Both sides, without what is in place: the send side has no blocks if the send buffer is MPI_IN_PLACE, the receive side
 * none if the receive buffer is. Only the numbers of blocks depend on `ranks`. */
static void sides(const trv_mpi_movement_t *m, int rank, int ranks, side_t *send, side_t *receive)
{
    const trv_collective_shape_t *shape = trv_collective_shape(m->collective);
    *send = (side_t){m->sendbuf, m->sendcount, m->sendtype, blocks_held(m, shape->before, rank, ranks)};
    *receive = (side_t){m->recvbuf, m->recvcount, m->recvtype, blocks_held(m, shape->after, rank, ranks)};
    if (send->blocks > 0 && m->sendbuf == MPI_IN_PLACE)
        send->blocks = 0;
    if (keeps_block(m, rank))
        receive->blocks = 0;
}

void trv_mpi_movement_buffers(const trv_mpi_movement_t *m, int rank, const void **input, void **output)
{
    const trv_collective_shape_t *shape = trv_collective_shape(m->collective);
    const bool scatters_from = m->collective == TRV_SCATTER && is_root(m, rank);
    *input = blocks_held(m, shape->before, rank, 1) > 0 ? m->sendbuf : NULL;
    *output = blocks_held(m, shape->after, rank, 1) > 0 ? m->recvbuf : NULL;
    if (keeps_block(m, rank)) {
        *input = MPI_IN_PLACE;
        *output = (void *)m->sendbuf;
    } else if (scatters_from && m->sendbuf == MPI_IN_PLACE) {
        *output = MPI_IN_PLACE; /* an error, which the check of the output finds */
    }
}

MPI_Count trv_mpi_movement_count(const trv_mpi_movement_t *m, int rank)
{
    side_t send, receive;
    sides(m, rank, 1, &send, &receive);
    const MPI_Count sent = send.blocks > 0 ? send.count : 0, received = receive.blocks > 0 ? receive.count : 0;
    return sent > received ? sent : received;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

/* *bytes: the size of a block. *element: the size of an element, or 0 if it has gaps. MPI_SUCCESS or an error class. */
static int measure(const side_t *side, size_t *bytes, size_t *element)
{
    MPI_Count size = 0;
    int code = trv_mpi_count_bytes(side->count, 0, bytes);
    if (code == MPI_SUCCESS)
        code = trv_mpi_contiguous(side->type, element);
    if (code != MPI_SUCCESS)
        return code;
    PMPI_Type_size_x(side->type, &size);
    return trv_mpi_count_bytes(side->count, (size_t)size, bytes);
}

int trv_mpi_movement_measure(const trv_mpi_movement_t *m, int rank, size_t *bytes, bool *contiguous)
{
    side_t send, receive;
    size_t send_element = 1, receive_element = 1, sent = 0, received = 0;
    int code = MPI_SUCCESS;
    sides(m, rank, 1, &send, &receive);
    if (receive.blocks > 0)
        code = measure(&receive, &received, &receive_element);
    if (code == MPI_SUCCESS && send.blocks > 0)
        code = measure(&send, &sent, &send_element);
    *bytes = receive.blocks > 0 ? received : sent;
    *contiguous = receive_element > 0 && send_element > 0;
    if (code == MPI_SUCCESS && send.blocks > 0 && receive.blocks > 0 && sent != received)
        return trv_fail(TRV_ERR_ARGUMENT, "%zu bytes are sent and %zu are received in a block; they must be the same",
                        sent, received),
               MPI_ERR_COUNT;
    return code;
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

/* Arguments of MPI_Pack and MPI_Unpack for elements in memory. MPICH's functions reject MPI_BOTTOM, so a type with
 * absolute addresses is replaced by one that is relative to the first address. */
typedef struct view {
    void *buffer;
    int count;
    MPI_Datatype type;
    bool own_type;
} view_t;

static int view_init(view_t *view, const void *buffer, MPI_Count count, MPI_Datatype type)
{
    *view = (view_t){(void *)buffer, (int)count, type, false};
    if (buffer != MPI_BOTTOM)
        return MPI_SUCCESS;
    MPI_Aint first = 0, back = 0, extent = 0;
    int code = PMPI_Type_get_true_extent(type, &first, &extent);
    back = -first;
    if (code == MPI_SUCCESS)
        code = PMPI_Type_create_hindexed(1, &view->count, &back, type, &view->type);
    if (code != MPI_SUCCESS)
        return code;
    *view = (view_t){(void *)((uintptr_t)MPI_BOTTOM + (uintptr_t)first), 1, view->type, true};
    return PMPI_Type_commit(&view->type);
}

static void view_clear(view_t *view)
{
    if (view->own_type)
        PMPI_Type_free(&view->type);
}

/* The address of a block. MPI_BOTTOM is NULL, so that the sum is computed with integers. */
static void *block_of(const side_t *side, int block)
{
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_get_extent(side->type, &lower, &extent);
    return (void *)((uintptr_t)side->buffer + (uintptr_t)(block * side->count * extent));
}

/* Packs or unpacks a block, at `at` in the packed buffer. */
static int convert_block(const trv_mpi_state_t *state, const side_t *side, int block, size_t bytes, void *at,
                         bool packs)
{
    int position = 0; /* MPI_Pack counts in ints */
    view_t view;
    MPI_Comm comm = state->members->domain->comm;
    int code = view_init(&view, block_of(side, block), side->count, side->type);
    if (code == MPI_SUCCESS)
        code = packs ? PMPI_Pack(view.buffer, view.count, view.type, at, (int)bytes, &position, comm)
                     : PMPI_Unpack(at, (int)bytes, &position, view.buffer, view.count, view.type, comm);
    view_clear(&view);
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error(packs ? "MPI_Pack" : "MPI_Unpack", code);
}

/* Packs or unpacks the `count` blocks from `first` on, each to or from its place in the packed buffer; if that holds
 * only one block, `place` is 0. */
static int convert(const trv_mpi_state_t *state, const side_t *side, int first, int place, int count, size_t bytes,
                   void *packed, bool packs)
{
    int code = TRV_OK;
    for (int i = 0; i < count && code == TRV_OK; i++)
        code = convert_block(state, side, first + i, bytes, (char *)packed + (size_t)(place + i) * bytes, packs);
    return code;
}

/* The numbers of blocks that a rank sends and receives, whether in place or not, and of those that are packed. */
typedef struct blocks {
    int sent, received, packed;
} blocks_t;

static blocks_t count_blocks(const trv_mpi_state_t *state, const trv_mpi_movement_t *m)
{
    const trv_collective_shape_t *shape = trv_collective_shape(m->collective);
    blocks_t blocks = {.sent = blocks_held(m, shape->before, state->rank, state->ranks),
                       .received = blocks_held(m, shape->after, state->rank, state->ranks)};
    blocks.packed = blocks.sent > blocks.received ? blocks.sent : blocks.received;
    return blocks;
}

/* In place, a rank's only block is at its own place among those of all ranks. */
static int place_of(const trv_mpi_state_t *state, const blocks_t *blocks, int count)
{
    return count < blocks->packed ? state->rank : 0;
}

int trv_mpi_movement_pack(const trv_mpi_state_t *state, const trv_mpi_movement_t *m, size_t bytes, void **packed)
{
    side_t send, receive;
    const blocks_t blocks = count_blocks(state, m);
    const int place = place_of(state, &blocks, blocks.sent);
    *packed = NULL;
    sides(m, state->rank, state->ranks, &send, &receive);
    const bool in_place = send.blocks == 0; /* then the blocks are in the receive buffer */
    if (bytes > INT32_MAX || (send.blocks > 0 && send.count > INT32_MAX) ||
        (receive.blocks > 0 && receive.count > INT32_MAX))
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "blocks of a type with gaps are limited to 2 GiB; pass a type without gaps");
    *packed = malloc(bytes * (size_t)blocks.packed);
    if (!*packed)
        return trv_fail_memory();
    const int code = convert(state, in_place ? &receive : &send, in_place ? place : 0, place, blocks.sent, bytes,
                             *packed, true);
    if (code < 0) {
        free(*packed);
        *packed = NULL;
    }
    return code;
}

int trv_mpi_movement_unpack(const trv_mpi_state_t *state, const trv_mpi_movement_t *m, size_t bytes, const void *packed)
{
    side_t send, receive;
    const blocks_t blocks = count_blocks(state, m);
    sides(m, state->rank, state->ranks, &send, &receive);
    if (m->collective == TRV_BROADCAST && is_root(m, state->rank))
        return TRV_OK; /* the data is in the buffer already */
    return convert(state, &receive, 0, place_of(state, &blocks, receive.blocks), receive.blocks, bytes, (void *)packed,
                   false);
}
