/*
 * Making and laying out the memory of a node.
 *
 * It is a file without a name (memfd_create), which the leader makes and the others open through /proc: nothing stays
 * behind, whatever happens to a rank, pages that no run touches cost nothing, and giving it up needs no other rank.
 *
 *     leader -> each   ticket     the file's process and number, and a token that stands at its beginning
 *     each -> leader   answer     whether the file was there, and the token in it
 *     leader -> each   verdict    what all conclude
 *
 * No communicator is made, and nothing blocks in MPI: programs call it from inside a collective of theirs.
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

/* ---- What may go wrong ------------------------------------------------------------------------------------------- */

/* The same on all ranks of the node in the end: what happened, first of all to the rank with the lowest index. */
typedef enum what { SHARED, NO_MEMORY, NOT_MADE, NOT_MAPPED, NOT_OPENED, NOT_THERE, NOT_HEARD } what_t;

typedef struct outcome {
    int32_t what, error, rank; /* errno; the rank in the job */
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
    case NOT_HEARD: break;
    }
    return trv_fail(TRV_ERR_TRANSPORT, "the messages between ranks %d and %d of a node failed", leader, rank);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

/* `sends`: to the rank of index `index`; otherwise from it. Whether it went as it should. */
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

/* ---- Making it --------------------------------------------------------------------------------------------------- */

#define FILE_NAME "trivance"

/* What the leader tells the others: where its file is, and what stands at its beginning until all have found it. */
typedef struct ticket {
    int64_t process, file; /* -1: it has none */
    uint64_t token;
} ticket_t;

static void blame(outcome_t *outcome, const trv_mpi_node_t *node, what_t what, int error)
{
    if (outcome->what == SHARED)
        *outcome = (outcome_t){.what = (int32_t)what, .error = error, .rank = node->number};
}

static void map(trv_mpi_node_t *node, int file, outcome_t *outcome)
{
    void *memory = mmap(NULL, node->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        blame(outcome, node, NOT_MAPPED, errno);
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
        blame(outcome, node, NOT_MADE, errno);
    else
        map(node, (int)ticket->file, outcome);
    if (outcome->what == SHARED)
        memcpy(node->memory, &ticket->token, sizeof ticket->token);
}

/* Elsewhere, or in a container, the name may stand for any file of any process: nothing is opened that does not look
 * like ours, and nothing mapped that is shorter. */
static void open_file(trv_mpi_node_t *node, const ticket_t *ticket, outcome_t *outcome)
{
    static const char ours[] = "/memfd:" FILE_NAME;
    char path[64], target[sizeof ours] = "";
    struct stat about;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)ticket->process, (long long)ticket->file);
    ssize_t length = readlink(path, target, sizeof target - 1);
    int error = length < 0 ? errno : 0;
    if (error == EACCES || error == EPERM)
        blame(outcome, node, NOT_OPENED, error);
    else if (length < 0 || memcmp(target, ours, sizeof ours - 1) != 0)
        blame(outcome, node, NOT_THERE, 0);
    if (outcome->what != SHARED)
        return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        blame(outcome, node, NOT_OPENED, errno);
    else if (fstat(file, &about) < 0 || about.st_size != (off_t)node->bytes)
        blame(outcome, node, NOT_THERE, 0);
    else
        map(node, file, outcome);
    if (file >= 0)
        close(file);
    if (outcome->what == SHARED && memcmp(node->memory, &ticket->token, sizeof ticket->token) != 0)
        blame(outcome, node, NOT_THERE, 0);
}

/* The leader's part: everybody gets a ticket, whether there is a file or not, answers, and hears what came of it. */
static void lead(trv_mpi_node_t *node, const trv_mpi_node_place_t *where, outcome_t *outcome)
{
    ticket_t ticket = {.file = -1};
    make_file(node, &ticket, outcome);
    for (int r = 1; r < node->ranks; r++)
        if (!message(where, true, r, &ticket, sizeof ticket))
            blame(outcome, node, NOT_HEARD, 0);
    for (int r = 1; r < node->ranks; r++) {
        outcome_t answer;
        if (!message(where, false, r, &answer, sizeof answer))
            answer = (outcome_t){.what = NOT_HEARD, .rank = where->member[r]};
        if (outcome->what == SHARED)
            *outcome = answer;
    }
    if (outcome->what == SHARED) /* before anybody uses it */
        memset(node->memory, 0, sizeof ticket.token);
    for (int r = 1; r < node->ranks; r++)
        if (!message(where, true, r, outcome, sizeof *outcome))
            blame(outcome, node, NOT_HEARD, 0);
    if (ticket.file >= 0)
        close((int)ticket.file);
}

/* The others go through all of it too, whatever fails, because the leader waits. */
static void follow(trv_mpi_node_t *node, const trv_mpi_node_place_t *where, outcome_t *outcome)
{
    ticket_t ticket;
    outcome_t verdict;
    bool heard = message(where, false, 0, &ticket, sizeof ticket);
    if (heard && ticket.file >= 0 && outcome->what == SHARED)
        open_file(node, &ticket, outcome);
    heard = message(where, true, 0, outcome, sizeof *outcome) && heard;
    heard = message(where, false, 0, &verdict, sizeof verdict) && heard;
    *outcome = heard ? verdict : (outcome_t){.what = NOT_HEARD, .rank = node->number};
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
        blame(&outcome, &scratch, NO_MEMORY, 0);
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
