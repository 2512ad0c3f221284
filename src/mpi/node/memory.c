/*
 * Creation and layout of the shared memory of a node.
 *
 * The memory is an anonymous file (memfd_create), which the leader creates and the other ranks open through /proc. It
 * therefore disappears with its ranks, however they end; pages that no run uses cost nothing; and a rank can release it
 * without the others. The ranks create it with these messages:
 *
 *     leader -> each   ticket     the leader's process id, the file descriptor, and a token at the start of the file
 *     each -> leader   answer     whether the rank could open the file and found the token
 *     leader -> each   verdict    the result, the same for all ranks
 *
 * No communicator is created, and no call blocks in MPI, because this happens within a collective call of the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "mpi/node/memory.h"
#include "transport/mpi/waiting.h"

/* ---- Layout ------------------------------------------------------------------------------------------------------ */

static size_t head_bytes(int ranks)
{
    return (sizeof(node_head_t) + (size_t)ranks * sizeof(node_rank_t) + 4095) / 4096 * 4096;
}

node_head_t *trv_mpi_node_head(const trv_mpi_node_t *node, int slot)
{
    return (node_head_t *)(void *)(node->memory + (size_t)slot * node->slot_bytes);
}

static char *buffer(const trv_mpi_node_t *node, int slot, int number, uint64_t chunk)
{
    size_t at = (size_t)number * NODE_CHUNKS + (size_t)(chunk % NODE_CHUNKS);
    return (char *)node->memory + (size_t)slot * node->slot_bytes + head_bytes(node->ranks) +
           at * TRV_MPI_NODE_CHUNK_BYTES;
}

char *trv_mpi_node_input(const trv_mpi_node_t *node, int slot, int rank, uint64_t chunk)
{
    return buffer(node, slot, rank, chunk);
}

char *trv_mpi_node_sum(const trv_mpi_node_t *node, int slot, uint64_t chunk)
{
    return buffer(node, slot, node->ranks, chunk);
}

char *trv_mpi_node_result(const trv_mpi_node_t *node, int slot, uint64_t chunk)
{
    return buffer(node, slot, node->ranks + 1, chunk);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* The result of the creation: SHARED, or the failure of the failed rank with the lowest index. In the end it is the
 * same on all ranks of the node. */
typedef enum result {
    SHARED,
    NO_MEMORY,
    FILE_NOT_CREATED,
    FILE_NOT_MAPPED,
    FILE_NOT_OPENED,
    FILE_NOT_FOUND,
    MESSAGE_FAILED
} result_t;

typedef struct creation {
    int32_t result, error, rank; /* a result_t; errno or 0; the failed rank, in the node's communicator */
} creation_t;

static int creation_error(const creation_t *creation, int leader)
{
    const char *error = strerror(creation->error);
    int rank = creation->rank;
    switch ((result_t)creation->result) {
    case SHARED: return TRV_OK;
    case NO_MEMORY: return trv_fail(TRV_ERR_MEMORY, "rank %d has no memory for the state of its node", rank);
    case FILE_NOT_CREATED:
        return trv_fail(TRV_ERR_MEMORY, "rank %d cannot create the shared memory of its node: %s", rank, error);
    case FILE_NOT_MAPPED:
        return trv_fail(TRV_ERR_MEMORY, "rank %d cannot map the shared memory of its node: %s", rank, error);
    case FILE_NOT_OPENED:
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "rank %d cannot open the shared memory of rank %d, which has the same coordinate, through /proc: %s", rank,
            leader, error);
    case FILE_NOT_FOUND:
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "ranks %d and %d have the same coordinate, but are not on the same machine, or cannot access "
                        "each other's processes",
                        leader, rank);
    case MESSAGE_FAILED: break;
    }
    return trv_fail(TRV_ERR_TRANSPORT, "the messages between ranks %d and %d of a node failed", leader, rank);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

/* Sends to the rank with index `index`, if `sends` is set, or receives from it. False if that failed or the message had
 * another size. */
static bool exchange_message(const trv_mpi_node_group_t *group, bool sends, int index, void *data, int bytes)
{
    MPI_Request request;
    MPI_Status status;
    int peer = group->member[index], done = 0, arrived = bytes;
    int code = sends ? PMPI_Isend(data, bytes, MPI_BYTE, peer, group->tag, group->comm, &request)
                     : PMPI_Irecv(data, bytes, MPI_BYTE, peer, group->tag, group->comm, &request);
    for (unsigned polls = 1; code == MPI_SUCCESS && !done; polls++) {
        code = PMPI_Test(&request, &done, &status);
        if (!done)
            trv_mpi_pause(polls);
    }
    if (code == MPI_SUCCESS && !sends)
        code = PMPI_Get_count(&status, MPI_BYTE, &arrived);
    return code == MPI_SUCCESS && arrived == bytes;
}

/* ---- Creating ---------------------------------------------------------------------------------------------------- */

#define FILE_NAME "trivance"

/* The leader's message to the other ranks: where its file is, and the token that is at its start until the ranks have
 * answered. */
typedef struct ticket {
    int64_t process, file; /* process id and file descriptor; file -1: the leader could not create it */
    uint64_t token;
} ticket_t;

static void creation_fail(creation_t *creation, const trv_mpi_node_t *node, result_t result, int error)
{
    if (creation->result == SHARED)
        *creation = (creation_t){.result = (int32_t)result, .error = error, .rank = node->number};
}

static void map_file(trv_mpi_node_t *node, int file, creation_t *creation)
{
    void *memory = mmap(NULL, node->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        creation_fail(creation, node, FILE_NOT_MAPPED, errno);
    else
        node->memory = memory;
}

static void create_file(trv_mpi_node_t *node, ticket_t *ticket, creation_t *creation)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ticket->process = getpid();
    ticket->token = ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) * 0x9e3779b97f4a7c15u | 1;
    ticket->file = memfd_create(FILE_NAME, MFD_CLOEXEC);
    if (ticket->file < 0 || ftruncate((int)ticket->file, (off_t)node->bytes) < 0)
        creation_fail(creation, node, FILE_NOT_CREATED, errno);
    else
        map_file(node, (int)ticket->file, creation);
    if (creation->result == SHARED)
        memcpy(node->memory, &ticket->token, sizeof ticket->token);
}

/* Opens the leader's file. On another machine or in another container the path may name any file of any process, so
 * only a file with the right name is opened, only one of the right size is mapped, and the token must be right. */
static void open_file(trv_mpi_node_t *node, const ticket_t *ticket, creation_t *creation)
{
    static const char ours[] = "/memfd:" FILE_NAME;
    char path[64], target[sizeof ours] = "";
    struct stat about;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)ticket->process, (long long)ticket->file);
    ssize_t length = readlink(path, target, sizeof target - 1);
    int error = length < 0 ? errno : 0;
    if (error == EACCES || error == EPERM)
        creation_fail(creation, node, FILE_NOT_OPENED, error);
    else if (length < 0 || memcmp(target, ours, sizeof ours - 1) != 0)
        creation_fail(creation, node, FILE_NOT_FOUND, 0);
    if (creation->result != SHARED)
        return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        creation_fail(creation, node, FILE_NOT_OPENED, errno);
    else if (fstat(file, &about) < 0 || about.st_size != (off_t)node->bytes)
        creation_fail(creation, node, FILE_NOT_FOUND, 0);
    else
        map_file(node, file, creation);
    if (file >= 0)
        close(file);
    if (creation->result == SHARED && memcmp(node->memory, &ticket->token, sizeof ticket->token) != 0)
        creation_fail(creation, node, FILE_NOT_FOUND, 0);
}

/* The leader's part. It sends all three kinds of messages even after a failure, because the other ranks wait for
 * them. */
static void create_as_leader(trv_mpi_node_t *node, const trv_mpi_node_group_t *group, creation_t *creation)
{
    ticket_t ticket = {.file = -1};
    create_file(node, &ticket, creation);
    for (int r = 1; r < node->ranks; r++)
        if (!exchange_message(group, true, r, &ticket, sizeof ticket))
            creation_fail(creation, node, MESSAGE_FAILED, 0);
    for (int r = 1; r < node->ranks; r++) {
        creation_t answer;
        if (!exchange_message(group, false, r, &answer, sizeof answer))
            answer = (creation_t){.result = MESSAGE_FAILED, .rank = group->member[r]};
        if (creation->result == SHARED)
            *creation = answer;
    }
    if (creation->result == SHARED) /* erase the token before the memory is used */
        memset(node->memory, 0, sizeof ticket.token);
    for (int r = 1; r < node->ranks; r++)
        if (!exchange_message(group, true, r, creation, sizeof *creation))
            creation_fail(creation, node, MESSAGE_FAILED, 0);
    if (ticket.file >= 0)
        close((int)ticket.file);
}

/* The part of the other ranks. They also exchange all messages after a failure, because the leader waits for them. */
static void create_as_follower(trv_mpi_node_t *node, const trv_mpi_node_group_t *group, creation_t *creation)
{
    ticket_t ticket;
    creation_t verdict;
    bool received = exchange_message(group, false, 0, &ticket, sizeof ticket);
    if (received && ticket.file >= 0 && creation->result == SHARED)
        open_file(node, &ticket, creation);
    received = exchange_message(group, true, 0, creation, sizeof *creation) && received;
    received = exchange_message(group, false, 0, &verdict, sizeof verdict) && received;
    *creation = received ? verdict : (creation_t){.result = MESSAGE_FAILED, .rank = node->number};
}

int trv_mpi_node_create(trv_mpi_node_t **created, const trv_mpi_node_group_t *group)
{
    trv_mpi_node_t scratch = {.comm = group->comm,
                              .rank = group->rank,
                              .ranks = group->ranks,
                              .number = group->member[group->rank],
                              .nodes = 1};
    trv_mpi_node_t *node = calloc(1, sizeof *node);
    creation_t creation = {.result = SHARED};
    if (!node)
        creation_fail(&creation, &scratch, NO_MEMORY, 0);
    scratch.slot_bytes = head_bytes(scratch.ranks) +
                         (size_t)(scratch.ranks + 2) * NODE_CHUNKS * TRV_MPI_NODE_CHUNK_BYTES;
    scratch.bytes = NODE_SLOTS * scratch.slot_bytes;
    if (scratch.rank == 0)
        create_as_leader(&scratch, group, &creation);
    else
        create_as_follower(&scratch, group, &creation);
    if (node)
        *node = scratch;
    else if (scratch.memory)
        munmap(scratch.memory, scratch.bytes);
    int code = creation_error(&creation, group->member[0]);
    if (code < 0) {
        trv_mpi_node_destroy(node);
        node = NULL;
    }
    *created = node;
    return code;
}

void trv_mpi_node_destroy(trv_mpi_node_t *node)
{
    if (node && node->memory)
        munmap(node->memory, node->bytes);
    free(node);
}

void trv_mpi_node_set_layout(trv_mpi_node_t *node, int coordinate, int nodes, const int *rank_at)
{
    bool in_order = true;
    for (int p = 0; in_order && p < nodes * node->ranks; p++)
        in_order = rank_at[p] == p;
    node->coordinate = coordinate;
    node->nodes = nodes;
    node->rank_at = in_order ? NULL : rank_at;
}

static int position_of(const trv_mpi_node_t *node, int rank)
{
    int at = node->rank_at ? 0 : rank;
    while (node->rank_at && node->rank_at[at] != rank)
        at++;
    return at;
}

int trv_mpi_node_coordinate_of(const trv_mpi_node_t *node, int rank) { return position_of(node, rank) / node->ranks; }

int trv_mpi_node_index_of(const trv_mpi_node_t *node, int rank) { return position_of(node, rank) % node->ranks; }

int trv_mpi_node_rank_of(const trv_mpi_node_t *node, int coordinate, int index)
{
    const int position = coordinate * node->ranks + index;
    return node->rank_at ? node->rank_at[position] : position;
}

bool trv_mpi_node_leads(const trv_mpi_node_t *node) { return node->rank == 0; }
