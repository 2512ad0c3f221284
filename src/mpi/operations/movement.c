/*
 * The buffers and types of collectives that move data: computes sizes, packs and unpacks.
 */
#include "mpi/operations/movement.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "execute/run/arguments.h"
#include "mpi/operations/contiguous.h"
#include "mpi/operations/device.h"
#include "mpi/operations/elements.h"
#include "schedule/collective.h"
#include "transport/mpi/mpi_error.h"
#include "transport/mpi/mpi_library.h"

/* ---- Sides ------------------------------------------------------------------------------------------------------- */

/* One side of a call on one rank: the blocks that it sends, or those that it receives. */
typedef struct side {
    const void *buffer;
    MPI_Count count; /* of each block */
    MPI_Datatype type;
    int blocks;                     /* 0: the rank has no such side, or the other one includes it */
    const trv_mpi_counts_t *counts; /* instead of `count` a count and a displacement per block; else NULL */
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

/* Both sides, without what is in place: the send side has no blocks if the send buffer is MPI_IN_PLACE, the receive
 * side none if the receive buffer is. Only the numbers of blocks depend on `ranks`. */
static void sides(const trv_mpi_movement_t *m, int rank, int ranks, side_t *send, side_t *receive)
{
    const trv_collective_shape_t *shape = trv_collective_shape(m->collective);
    *send = (side_t){m->sendbuf, m->sendcount, m->sendtype, blocks_held(m, shape->before, rank, ranks), NULL};
    *receive = (side_t){m->recvbuf, m->recvcount, m->recvtype, blocks_held(m, shape->after, rank, ranks), m->counts};
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

static int fail_sizes(size_t sent, size_t received)
{
    trv_fail(TRV_ERR_ARGUMENT, "%zu bytes are sent and %zu are received in a block; they must be the same", sent,
             received);
    return MPI_ERR_COUNT;
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
        return fail_sizes(sent, received);
    return code;
}

int trv_mpi_movement_measure_blocks(const trv_mpi_movement_t *m, int rank, int ranks, trv_mpi_blocks_t **blocks,
                                    bool *contiguous)
{
    const bool in_place = m->sendbuf == MPI_IN_PLACE;
    const side_t send = {m->sendbuf, m->sendcount, m->sendtype, 1, NULL};
    size_t sent = 0, send_element = 1, element = 0;
    MPI_Count size = 0;
    MPI_Aint lower = 0, extent = 0;
    *blocks = NULL;
    int code = trv_mpi_contiguous(m->recvtype, &element);
    if (code == MPI_SUCCESS && !in_place)
        code = measure(&send, &sent, &send_element);
    if (code != MPI_SUCCESS)
        return code;
    PMPI_Type_size_x(m->recvtype, &size);
    PMPI_Type_get_extent(m->recvtype, &lower, &extent);
    code = trv_mpi_blocks_create(blocks, m->counts, ranks, (size_t)size, extent, 1);
    if (code != MPI_SUCCESS)
        return code;
    const trv_mpi_blocks_t *made = *blocks;
    const size_t end = made->apart && ranks > 0 ? made->displacement[ranks - 1] + made->count[ranks - 1] : 0;
    *contiguous = element > 0 && send_element > 0 && made->apart &&
                  (in_place || !trv_memory_overlaps(m->sendbuf, sent, m->recvbuf, end));
    return in_place || sent == made->count[rank] ? MPI_SUCCESS : fail_sizes(sent, made->count[rank]);
}

bool trv_mpi_movement_is_committed(const trv_mpi_movement_t *m, int rank)
{
    side_t send, receive;
    sides(m, rank, 1, &send, &receive);
    if (trv_mpi_library() == TRV_OPEN_MPI) { /* it does not check these types */
        send.blocks = m->collective == TRV_SCATTER ? 0 : send.blocks;
        receive.blocks = m->collective == TRV_ALLTOALL || m->collective == TRV_BROADCAST ? receive.blocks : 0;
    }
    return (send.blocks == 0 || trv_mpi_is_committed(send.type)) &&
           (receive.blocks == 0 || trv_mpi_is_committed(receive.type));
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

/* Arguments of MPI_Pack and MPI_Unpack for elements in memory. MPICH's functions reject MPI_BOTTOM, so a type with
 * absolute addresses is replaced by one that is relative to the first address; and a type that is not committed by one
 * that is. */
typedef struct view {
    void *buffer;
    int count;
    MPI_Datatype type;
    bool own_type;
} view_t;

static int view_init(view_t *view, const void *buffer, MPI_Count count, MPI_Datatype type)
{
    *view = (view_t){(void *)buffer, (int)count, type, false};
    if (buffer != MPI_BOTTOM && trv_mpi_is_committed(type))
        return MPI_SUCCESS;
    MPI_Aint first = 0, back = 0, extent = 0;
    int code = PMPI_Type_get_true_extent(type, &first, &extent);
    back = -first;
    if (code == MPI_SUCCESS)
        code = PMPI_Type_create_hindexed(1, &view->count, &back, type, &view->type);
    if (code != MPI_SUCCESS)
        return code;
    *view = (view_t){(void *)((uintptr_t)buffer + (uintptr_t)first), 1, view->type, true};
    return PMPI_Type_commit(&view->type);
}

static void view_clear(view_t *view)
{
    if (view->own_type)
        PMPI_Type_free(&view->type);
}

static MPI_Count count_of(const side_t *side, int block)
{
    return side->counts ? trv_mpi_count_at(side->counts, block) : side->count;
}

/* The address of a block. MPI_BOTTOM is NULL, so that the sum is computed with integers. */
static void *block_of(const side_t *side, int block)
{
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_get_extent(side->type, &lower, &extent);
    const MPI_Aint at = side->counts ? trv_mpi_displacement_at(side->counts, block) : block * side->count;
    return (void *)((uintptr_t)side->buffer + (uintptr_t)(at * extent));
}

/* The bytes of a block: `bytes`, except for blocks with counts. */
static size_t bytes_of(const side_t *side, int block, size_t bytes)
{
    MPI_Count size = 0;
    if (!side->counts)
        return bytes;
    PMPI_Type_size_x(side->type, &size);
    return (size_t)(count_of(side, block) * size);
}

/* The place of a block in a packed buffer of all blocks. */
static size_t place_of_block(const side_t *side, int block, size_t bytes)
{
    size_t at = 0;
    for (int b = 0; side->counts && b < block; b++)
        at += bytes_of(side, b, bytes);
    return side->counts ? at : (size_t)block * bytes;
}

/* Packs or unpacks a block, at `at` in the packed buffer. */
static int convert_block(const trv_mpi_state_t *state, const side_t *side, int block, size_t bytes, void *at,
                         bool packs)
{
    int position = 0; /* MPI_Pack counts in ints */
    const MPI_Count count = count_of(side, block);
    size_t element = 0;
    void *buffer = block_of(side, block);
    view_t view;
    MPI_Comm comm = state->members->domain->comm;
    if (bytes == 0)
        return TRV_OK;
    if (side->counts && trv_mpi_contiguous(side->type, &element) == MPI_SUCCESS && element > 0)
        return packs ? trv_device_copy(at, buffer, bytes) : trv_device_copy(buffer, at, bytes);
    if (bytes > INT32_MAX || count > INT32_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "blocks of a type with gaps are limited to 2 GiB; pass a type without gaps");
    int code = view_init(&view, buffer, count, side->type);
    if (code == MPI_SUCCESS)
        code = packs ? PMPI_Pack(view.buffer, view.count, view.type, at, (int)bytes, &position, comm)
                     : PMPI_Unpack(at, (int)bytes, &position, view.buffer, view.count, view.type, comm);
    view_clear(&view);
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error(packs ? "MPI_Pack" : "MPI_Unpack", code);
}

/* Packs or unpacks the `count` blocks from `first` on, one after the other from `at` in the packed buffer. */
static int convert(const trv_mpi_state_t *state, const side_t *side, int first, int count, size_t bytes, char *at,
                   bool packs)
{
    int code = TRV_OK;
    for (int block = first; block < first + count && code == TRV_OK; block++) {
        const size_t block_bytes = bytes_of(side, block, bytes);
        code = convert_block(state, side, block, block_bytes, at, packs);
        at += block_bytes;
    }
    return code;
}

bool trv_mpi_movement_is_same(const trv_mpi_movement_t *m, int rank, int ranks)
{
    side_t send, receive;
    sides(m, rank, ranks, &send, &receive);
    if (send.blocks == 0 || receive.blocks == 0 || send.buffer == MPI_BOTTOM || m->sendtype != m->recvtype)
        return false;
    return (send.blocks > receive.blocks ? block_of(&send, rank) : send.buffer) ==
           (receive.blocks > send.blocks ? block_of(&receive, rank) : receive.buffer);
}

/* The numbers of blocks that a rank sends and receives, whether in place or not, and of those that are packed. */
typedef struct block_numbers {
    int sent, received, packed;
} block_numbers_t;

static block_numbers_t count_blocks(const trv_mpi_state_t *state, const trv_mpi_movement_t *m)
{
    const trv_collective_shape_t *shape = trv_collective_shape(m->collective);
    block_numbers_t blocks = {.sent = blocks_held(m, shape->before, state->rank, state->ranks),
                              .received = blocks_held(m, shape->after, state->rank, state->ranks)};
    blocks.packed = blocks.sent > blocks.received ? blocks.sent : blocks.received;
    return blocks;
}

/* In place, a rank's only block is at its own place among those of all ranks. */
static int place_of(const trv_mpi_state_t *state, const block_numbers_t *blocks, int count)
{
    return count < blocks->packed ? state->rank : 0;
}

int trv_mpi_movement_pack(const trv_mpi_state_t *state, const trv_mpi_movement_t *m, size_t bytes, void **packed)
{
    side_t send, receive;
    const block_numbers_t blocks = count_blocks(state, m);
    const int place = place_of(state, &blocks, blocks.sent);
    sides(m, state->rank, state->ranks, &send, &receive);
    const bool in_place = send.blocks == 0; /* then the blocks are in the receive buffer */
    const size_t own = bytes_of(&receive, state->rank, bytes);
    *packed = malloc(place_of_block(&receive, blocks.packed, bytes) + 1);
    if (!*packed)
        return trv_fail_memory();
    const int code = convert(state, in_place ? &receive : &send, in_place ? place : 0, blocks.sent, own,
                             (char *)*packed + place_of_block(&receive, place, bytes), true);
    if (code < 0) {
        free(*packed);
        *packed = NULL;
    }
    return code;
}

int trv_mpi_movement_unpack(const trv_mpi_state_t *state, const trv_mpi_movement_t *m, size_t bytes, const void *packed)
{
    side_t send, receive;
    const block_numbers_t blocks = count_blocks(state, m);
    sides(m, state->rank, state->ranks, &send, &receive);
    if (m->collective == TRV_BROADCAST && is_root(m, state->rank))
        return TRV_OK; /* the data is in the buffer already */
    const int place = place_of(state, &blocks, receive.blocks);
    return convert(state, &receive, 0, receive.blocks, bytes, (char *)packed + place_of_block(&receive, place, bytes),
                   false);
}
