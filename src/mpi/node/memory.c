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
typedef enum what { SHARED, NO_MEMORY, NOT_MADE, NOT_MAPPED, NOT_OPENED, NOT_THERE, NO_MESSAGE } what_t;

typedef struct outcome {
    int32_t what, error, rank; /* a what_t; errno or 0; the failed rank, in the node's communicator */
} outcome_t;

static int conclude(const outcome_t *outcome, int leader)
{
    const char *error = strerror(outcome->error);
    int rank = outcome->rank;
    switch ((what_t)outcome->what) {
    case SHARED: return TRV_OK;
    case NO_MEMORY: return trv_fail(TRV_ERR_MEMORY, "rank %d has no memory for what the ranks of its node share", rank);
    case NOT_MADE:
        return trv_fail(TRV_ERR_MEMORY, "rank %d cannot make the memory that the ranks of its node share: %s", rank,
                        error);
    case NOT_MAPPED:
        return trv_fail(TRV_ERR_MEMORY, "rank %d cannot map the memory that the ranks of its node share: %s", rank,
                        error);
    case NOT_OPENED:
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "rank %d may not open the memory of rank %d, which has the same "
                        "coordinate, through /proc: %s",
                        rank, leader, error);
    case NOT_THERE:
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "ranks %d and %d have the same coordinate, but are not on the same machine"
                        ", or do not see each other's processes",
                        leader, rank);
    case NO_MESSAGE: break;
    }
    return trv_fail(TRV_ERR_TRANSPORT, "the messages between ranks %d and %d of a node failed", leader, rank);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

/* Sends to the rank with index `index`, if `sends` is set, or receives from it. False if that failed or the message had
 * another size. */
static bool message(const trv_mpi_node_place_t *where, bool sends, int index, void *data, int bytes)
{
    MPI_Request request;
    MPI_Status status;
    int peer = where->member[index], done = 0, arrived = bytes;
    int code = sends ? PMPI_Isend(data, bytes, MPI_BYTE, peer, where->tag, where->comm, &request)
                     : PMPI_Irecv(data, bytes, MPI_BYTE, peer, where->tag, where->comm, &request);
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

static void set_failure(outcome_t *outcome, const trv_mpi_node_t *node, what_t what, int error)
{
    if (outcome->what == SHARED)
        *outcome = (outcome_t){.what = (int32_t)what, .error = error, .rank = node->number};
}

static void map(trv_mpi_node_t *node, int file, outcome_t *outcome)
{
    void *memory = mmap(NULL, node->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        set_failure(outcome, node, NOT_MAPPED, errno);
    else
        node->memory = memory;
}

static void make_file(trv_mpi_node_t *node, ticket_t *ticket, outcome_t *outcome)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ticket->process = getpid();
    ticket->token = ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) * 0x9e3779b97f4a7c15u | 1;
    ticket->file = memfd_create(FILE_NAME, MFD_CLOEXEC);
    if (ticket->file < 0 || ftruncate((int)ticket->file, (off_t)node->bytes) < 0)
        set_failure(outcome, node, NOT_MADE, errno);
    else
        map(node, (int)ticket->file, outcome);
    if (outcome->what == SHARED)
        memcpy(node->memory, &ticket->token, sizeof ticket->token);
}

/* Opens the leader's file. On another machine or in another container the path may name any file of any process, so
 * only a file with the right name is opened, only one of the right size is mapped, and the token must be right. */
static void open_file(trv_mpi_node_t *node, const ticket_t *ticket, outcome_t *outcome)
{
    static const char ours[] = "/memfd:" FILE_NAME;
    char path[64], target[sizeof ours] = "";
    struct stat about;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)ticket->process, (long long)ticket->file);
    ssize_t length = readlink(path, target, sizeof target - 1);
    int error = length < 0 ? errno : 0;
    if (error == EACCES || error == EPERM)
        set_failure(outcome, node, NOT_OPENED, error);
    else if (length < 0 || memcmp(target, ours, sizeof ours - 1) != 0)
        set_failure(outcome, node, NOT_THERE, 0);
    if (outcome->what != SHARED)
        return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        set_failure(outcome, node, NOT_OPENED, errno);
    else if (fstat(file, &about) < 0 || about.st_size != (off_t)node->bytes)
        set_failure(outcome, node, NOT_THERE, 0);
    else
        map(node, file, outcome);
    if (file >= 0)
        close(file);
    if (outcome->what == SHARED && memcmp(node->memory, &ticket->token, sizeof ticket->token) != 0)
        set_failure(outcome, node, NOT_THERE, 0);
}

/* The leader's part. It sends all three kinds of messages even after a failure, because the other ranks wait for
 * them. */
static void lead(trv_mpi_node_t *node, const trv_mpi_node_place_t *where, outcome_t *outcome)
{
    ticket_t ticket = {.file = -1};
    make_file(node, &ticket, outcome);
    for (int r = 1; r < node->ranks; r++)
        if (!message(where, true, r, &ticket, sizeof ticket))
            set_failure(outcome, node, NO_MESSAGE, 0);
    for (int r = 1; r < node->ranks; r++) {
        outcome_t answer;
        if (!message(where, false, r, &answer, sizeof answer))
            answer = (outcome_t){.what = NO_MESSAGE, .rank = where->member[r]};
        if (outcome->what == SHARED)
            *outcome = answer;
    }
    if (outcome->what == SHARED) /* erase the token before the memory is used */
        memset(node->memory, 0, sizeof ticket.token);
    for (int r = 1; r < node->ranks; r++)
        if (!message(where, true, r, outcome, sizeof *outcome))
            set_failure(outcome, node, NO_MESSAGE, 0);
    if (ticket.file >= 0)
        close((int)ticket.file);
}

/* The part of the other ranks. They also exchange all messages after a failure, because the leader waits for them. */
static void follow(trv_mpi_node_t *node, const trv_mpi_node_place_t *where, outcome_t *outcome)
{
    ticket_t ticket;
    outcome_t verdict;
    bool received = message(where, false, 0, &ticket, sizeof ticket);
    if (received && ticket.file >= 0 && outcome->what == SHARED)
        open_file(node, &ticket, outcome);
    received = message(where, true, 0, outcome, sizeof *outcome) && received;
    received = message(where, false, 0, &verdict, sizeof verdict) && received;
    *outcome = received ? verdict : (outcome_t){.what = NO_MESSAGE, .rank = node->number};
}

int trv_mpi_node_create(trv_mpi_node_t **created, const trv_mpi_node_place_t *where)
{
    trv_mpi_node_t scratch = {.comm = where->comm,
                              .rank = where->rank,
                              .ranks = where->ranks,
                              .number = where->member[where->rank]};
    trv_mpi_node_t *node = calloc(1, sizeof *node);
    outcome_t outcome = {.what = SHARED};
    if (!node)
        set_failure(&outcome, &scratch, NO_MEMORY, 0);
    scratch.slot_bytes = head_bytes(scratch.ranks) +
                         (size_t)(scratch.ranks + 2) * NODE_CHUNKS * TRV_MPI_NODE_CHUNK_BYTES;
    scratch.bytes = NODE_SLOTS * scratch.slot_bytes;
    if (scratch.rank == 0)
        lead(&scratch, where, &outcome);
    else
        follow(&scratch, where, &outcome);
    if (node)
        *node = scratch;
    else if (scratch.memory)
        munmap(scratch.memory, scratch.bytes);
    int code = conclude(&outcome, where->member[0]);
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

bool trv_mpi_node_leads(const trv_mpi_node_t *node) { return node->rank == 0; }
